// The probes to choose from, and the evidence that they have brought: one foldable entry each, the newest first.
//
// probeList(groups, onRun) -> { element, draw(ran) }; ran: keys that were run on the suspect.
// evidenceList({ tips, does }) -> { element, draw(answer, theme) }; does: key -> what the probe does.
// Parts: button[data-probe] (.is-done), details[data-evidence] with [data-apart="true" | "false"].

function probeList(groups, onRun) {
  const buttons = new Map();
  const parts = groups.map((group) => {
    const label = node("h4", { class: "mha-label", id: freshId("group") }, group.name);
    const list = group.probes.map((probe) => {
      const mark = node("span", { class: "mha-hunt-done" });
      const button = node("button", { class: "mha-button mha-hunt-probe", type: "button", "data-probe": probe.key, title: probe.does, onclick: () => onRun(probe.key) }, node("span", {}, probe.title), mark);
      buttons.set(probe.key, { button, mark });
      return button;
    });
    return node("div", { class: "mha-hunt-group", role: "group", "aria-labelledby": label.id }, label, ...list);
  });
  return {
    element: node("div", { class: "mha-hunt-probes" }, ...parts),
    draw(ran) {
      for (const [key, { button, mark }] of buttons) {
        const done = ran.includes(key);
        button.classList.toggle("is-done", done);
        if (done !== Boolean(mark.firstChild)) mark.replaceChildren(...(done ? [node("span", { "aria-hidden": "true" }, "✓"), node("span", { class: "mha-sr" }, ", done")] : []));
      }
    },
  };
}

function evidenceList({ tips, does }) {
  const element = node("div", { class: "mha-hunt-evidence" });
  const entries = new Map(); // "suspect key" -> details: what someone has folded stays folded
  let drawn = "";

  // The measures beside each other; where they are not the same ones, both in words.
  function measures(one, who) {
    if (!one.rows) return [node("p", { class: "mha-hunt-sentence" }, node("strong", {}, "The sound layer: "), one.sound.sentence)];
    const lines = one.rows.map(([name, mine, sound, apart]) =>
      node("tr", { class: apart ? "is-apart" : null }, node("th", { scope: "row" }, name), node("td", {}, mine), node("td", {}, sound)));
    const head = ["measure", who, "sound"].map((name) => node("th", { scope: "col" }, name));
    return [node("table", { class: "mha-hunt-table" }, node("thead", {}, node("tr", {}, ...head)), node("tbody", {}, ...lines))];
  }

  function maps(one, who, theme) {
    const tables = [[who, one.suspect.table], ["sound", one.sound.table]].filter(([, table]) => table);
    if (!tables.length) return [];
    const numbers = tables.flatMap(([, table]) => table.values.flat()).filter((value) => value !== null);
    const isMap = tables[0][1].rows.startsWith("query");
    const max = isMap ? Math.max(1, ...numbers) : Math.max(1e-9, ...numbers);
    const blocked = tables.some(([, table]) => table.blocked.length);
    return [
      node("p", { class: "mha-sub" }, `${tables[0][1].title}:`),
      node("div", { class: "mha-hunt-maps" }, ...tables.map(([name, table]) => huntMap(table, name, max, theme, tips))),
      node("div", { class: "mha-hunt-legend" }, matrixScale(max, "weights", theme), blocked ? node("span", { class: "mha-note" }, "hatched: blocked by the mask") : null),
    ];
  }

  function entry(one, number, theme) {
    const { apart } = one;
    const id = `${number} ${one.key}`;
    const known = entries.get(id);
    const details = node(
      "details",
      { class: "mha-hunt-entry", "data-evidence": one.key, "data-apart": String(apart), open: known ? known.open : true },
      node("summary", {}, node("span", { class: "mha-hunt-name" }, one.title), node("span", { class: apart ? "mha-hunt-tag is-apart" : "mha-hunt-tag" }, apart ? "≠ differs" : "= like the sound layer")),
      node("p", { class: "mha-note" }, does.get(one.key)),
      node("p", { class: "mha-hunt-sentence" }, one.suspect.sentence),
      ...measures(one, `suspect ${number}`),
      ...maps(one, `suspect ${number}`, theme),
    );
    entries.set(id, details);
    return details;
  }

  return {
    element,
    draw(answer, theme) {
      const list = [...answer.evidence].reverse();
      const state = `${theme} ${answer.number} ${list.map((one) => one.key).join()}`;
      if (state === drawn) return;
      const newest = list[0];
      // A new finding is open, and the ones before it make room.
      if (newest && !entries.has(`${answer.number} ${newest.key}`)) {
        for (const [id, details] of entries) if (id.startsWith(`${answer.number} `)) details.open = false;
      }
      drawn = state;
      tips.clear();
      element.replaceChildren(
        ...(list.length
          ? list.map((one) => entry(one, answer.number, theme))
          : [box("empty", "No evidence yet", `Suspect ${answer.number} waits. Each probe measures it and, beside it, the sound layer with the same weights. A probe that finds nothing rules some names out, too.`)]),
      );
    },
  };
}
