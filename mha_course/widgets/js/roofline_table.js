// The stages in a table: what each costs, and what limits it.
//
// rooflineTable(onRow) -> { element, draw(rows), light(stage) }: onRow(stage | null) when the pointer enters or leaves a row.
// Parts: tr[data-stage], td[data-cell="parameters" | "flops" | "bytes" | "intensity" | "bound" | "seconds"].

const ROOF_COLUMNS = [
  ["parameters", "para\u00ADmeters"], ["flops", "FLOPs"], ["bytes", "bytes"], ["intensity", "FLOP/\u200Bbyte"], ["bound", "bound by"], ["seconds", "least time"],
];

function rooflineTable(onRow) {
  const body = node("tbody", {});
  const table = node("table", { class: "mha-cost-table" },
    node("caption", { class: "mha-sr" }, "What each stage costs"),
    node("thead", {}, node("tr", {}, ...[["stage", "stage"], ...ROOF_COLUMNS].map(([key, text]) => node("th", { scope: "col", "data-cell": key }, text)))), body);
  const element = node("div", { class: "mha-cost-scroll" }, table);

  function draw(rows) {
    body.replaceChildren(...rows.map((row) => {
      const cells = ROOF_COLUMNS.map(([key]) => {
        const cell = node("td", { "data-cell": key, title: row.exact[key] || null });
        if (key === "bound" && row.bound) cell.append(node("span", { class: `mha-roof-mark is-${row.bound}`, "aria-hidden": "true" }), row.bound);
        else cell.append(key === "bound" ? "" : row.texts[key] || "–");
        return cell;
      });
      const line = node("tr", { "data-stage": row.stage }, node("th", { scope: "row" }, row.name), ...cells);
      line.addEventListener("pointerenter", () => onRow(row.stage));
      line.addEventListener("pointerleave", () => onRow(null));
      return line;
    }));
  }

  return { element, draw };
}
