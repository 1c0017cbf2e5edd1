// Who sits in a batch: seats as rows, one way of serving below the other, on one axis of seconds.
//
// drawBatching(svg, found, width, shades, tip): found is the widget's answer: end, ticks [[seconds, text]], seats,
// ways [{ way, name, done, runs [[seat, request, start, stop, doing]], tips [text] }]; shades { reading, writing } as hex.
// Parts: g.mha-batch-run[data-request][data-doing], inside .mha-batch-way[data-way]; a finger on one lights its request.

const BATCH_ROW = 20;
const BATCH_NAME = 26;
const BATCH_GAP = 14;

function drawBatching(svg, { end, ticks, seats, ways }, width, shades, tip) {
  const [left, right, below] = [48, 14, 42];
  const band = BATCH_NAME + BATCH_ROW * seats + BATCH_GAP;
  const floor = band * ways.length - BATCH_GAP;
  const height = floor + below;
  svg.setAttribute("viewBox", `0 0 ${width} ${height}`);
  svg.style.height = `${height}px`;
  svg.replaceChildren();
  const x = (seconds) => left + (seconds / end) * (width - left - right);
  const line = (x1, y1, x2, y2, name) => svg.append(svgNode("line", { x1, y1, x2, y2, class: name }));
  let clear = -Infinity;
  for (const [value, text] of ticks) {
    ways.forEach((_, i) => line(x(value), band * i + BATCH_NAME, x(value), band * (i + 1) - BATCH_GAP, "mha-batch-grid"));
    const half = 3.3 * text.length;
    if (x(value) - half < clear) continue; // no room beside the one before
    clear = x(value) + half + 8;
    svgText(svg, x(value), floor + 16, text, "mha-batch-tick");
  }
  svgText(svg, (left + width - right) / 2, height - 6, "seconds", "mha-batch-tick");
  line(left, floor, width - right, floor, "mha-batch-axis");

  ways.forEach(({ way, name, runs, tips }, i) => {
    const top = band * i;
    const group = svgNode("g", { class: "mha-batch-way", "data-way": way });
    svgText(group, 0, top + 15, name, "mha-batch-name", "start");
    for (let seat = 0; seat < seats; seat += 1) {
      svgText(group, left - 7, top + BATCH_NAME + BATCH_ROW * (seat + 0.5) + 4, `seat ${seat + 1}`, "mha-batch-tick", "end");
    }
    runs.forEach(([seat, request, start, stop, doing], at) => {
      const box = { x: x(start), y: top + BATCH_NAME + BATCH_ROW * seat + 2, width: Math.max(0.5, x(stop) - x(start) - 1), height: BATCH_ROW - 4 };
      const run = svgNode("g", { class: `mha-batch-run is-${doing}`, "data-request": request, "data-doing": doing });
      if (doing === "kept") run.append(hatched(box));
      const cell = svgNode("rect", { ...box, class: "mha-batch-box" });
      if (doing !== "kept") cell.style.fill = shades[doing];
      run.append(cell);
      tip(cell, tips[at]);
      const number = String(request + 1);
      if (doing === "writing" && box.width >= 7 * number.length + 5) {
        const label = svgText(run, box.x + box.width / 2, box.y + 12, number, "mha-batch-number");
        label.style.fill = textOn(shades.writing);
      }
      const light = (on) => svg.querySelectorAll(`[data-request="${request}"]`).forEach((part) => part.classList.toggle("is-lit", on));
      run.addEventListener("pointerenter", () => light(true));
      run.addEventListener("pointerleave", () => light(false));
      group.append(run);
    });
    svg.append(group);
  });
}
