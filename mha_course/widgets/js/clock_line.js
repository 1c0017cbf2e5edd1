// The time as a line: what has passed of it, where each function was passed, and the best run below for comparison.
//
// clockLine() -> { element, draw({ width, minutes, elapsed, passed: [[number, seconds]], best: same or null, bestName, words }) }
// Parts: svg.mha-clock-line[role=img]; .mha-clock-mark[data-stage], .mha-clock-mark.is-best

const CLOCK_EDGE = 12; // half a mark, and a little

function clockLine() {
  const element = svgNode("svg", { class: "mha-clock-line", role: "img" });

  function marks(points, x, y, best) {
    // Functions passed at nearly the same time stand side by side.
    let free = -Infinity;
    for (const [number, at] of points) {
      const middle = Math.max(x(at), free);
      free = middle + 20;
      const mark = svgNode("g", { class: "mha-clock-mark" + (best ? " is-best" : ""), "data-stage": number });
      mark.append(svgNode("rect", { x: middle - 9, y: y - 9, width: 18, height: 18, rx: 4 }));
      svgText(mark, middle, y + 4, String(number), "mha-clock-number");
      element.append(mark);
    }
  }

  function ticks(end, minutes, x) {
    const step = [1, 2, 5, 10, 15, 30, 60, 120, 240, 480, 1440].find((one) => (60 * one * 8) >= end) || 10080;
    for (let at = 0; 60 * at <= end; at += step) {
      // No number so near to the end of the time that both would run into each other.
      if (at !== minutes && Math.abs(x(60 * at) - x(60 * minutes)) > 34) svgText(element, x(60 * at), 60, String(at), "mha-clock-tick");
    }
    element.append(svgNode("line", { x1: x(60 * minutes), x2: x(60 * minutes), y1: 12, y2: 48, class: "mha-clock-end" }));
    svgText(element, x(60 * minutes), 60, `${minutes} min`, "mha-clock-tick is-end");
  }

  function draw({ width, minutes, elapsed, passed, best, bestName, words }) {
    const end = Math.max(60 * minutes, elapsed, ...(best || []).map(([, at]) => at));
    const height = best ? 92 : 66;
    // Room for the last label, which is the widest.
    const left = best ? 64 : CLOCK_EDGE;
    const span = width - left - 26;
    const x = (seconds) => left + (span * Math.min(seconds, end)) / end;
    element.replaceChildren();
    element.setAttribute("viewBox", `0 0 ${width} ${height}`);
    element.setAttribute("width", width);
    element.setAttribute("height", height);
    element.setAttribute("aria-label", words);
    element.append(
      svgNode("rect", { x: left, y: 28, width: span, height: 4, rx: 2, class: "mha-clock-track" }),
      svgNode("rect", { x: left, y: 28, width: x(elapsed) - left, height: 4, rx: 2, class: "mha-clock-gone" }),
    );
    ticks(end, minutes, x);
    marks(passed, x, 30, false);
    if (best) {
      element.append(svgNode("line", { x1: left, x2: left + span, y1: 80, y2: 80, class: "mha-clock-hair" }));
      marks(best, x, 80, true);
      svgText(element, 0, 34, "this run", "mha-clock-tick", "start");
      svgText(element, 0, 84, bestName, "mha-clock-tick", "start");
    }
  }

  return { element, draw };
}
