// Right answers by part, as four bars: without the heads that are off, with all heads (tick), without random ones (diamond).
//
// glossMeters({ against }) -> { element, draw({ whole, left, random, off, sentences }) }. Shares from 0 to 1; losses in
// percentage points; against: whether there is a column for random heads.

const GLOSS_PARTS = ["stem", "ending", "mutation", "liaison"];

function glossMeters({ against = true } = {}) {
  const rows = {};
  const body = node("tbody", {});
  const element = node("table", { class: "mha-gloss-meters" },
    node("thead", {}, node("tr", {}, ...["part", "right answers", "", "change", ...(against ? ["change without random heads"] : [])].map((text) => node("th", { scope: "col" }, text)))), body);
  for (const part of GLOSS_PARTS) {
    const fill = node("div", { class: "mha-gloss-fill" });
    const tick = node("div", { class: "mha-gloss-tick" });
    const diamond = node("div", { class: "mha-gloss-diamond" });
    const cells = ["share", "lost", ...(against ? ["random"] : [])].map((name) => node("td", { "data-cell": name }));
    body.append(node("tr", { "data-part": part }, node("th", { scope: "row" }, part),
      node("td", {}, node("div", { class: "mha-gloss-track" }, fill, tick, diamond)), ...cells));
    rows[part] = { fill, tick, diamond, cells };
  }
  const points = (lost) => (Math.abs(lost) < 0.0005 ? "0" : `${lost > 0 ? "−" : "+"}${(100 * Math.abs(lost)).toFixed(1)}`);
  const percent = (share) => `${100 * share >= 99.95 ? 100 : (Math.floor(1000 * share) / 10).toFixed(1)} %`;

  return {
    element,
    draw({ whole, left, random, off }) {
      for (const part of GLOSS_PARTS) {
        const { fill, tick, diamond, cells: [share, lost, other] } = rows[part];
        fill.style.width = `${100 * left[part]}%`;
        tick.style.left = `${100 * whole[part]}%`;
        show(diamond, Boolean(random));
        if (random) diamond.style.left = `${100 * random.mean[part]}%`;
        setText(share, percent(left[part]));
        setText(lost, off.length ? points(whole[part] - left[part]) : "");
        if (other) setText(other, random ? `${points(whole[part] - random.mean[part])}, most ${points(whole[part] - random.least[part])}` : "");
      }
    },
  };
}
