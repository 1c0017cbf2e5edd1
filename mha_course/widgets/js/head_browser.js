// The HeadBrowser: all heads of all layers at once, and one of them enlarged beside them.
//
// Traits: kind, layer, head, zoom; answer.kinds and the payload hold everything else, so the view works without a kernel.
// Parts: .mha-browse-all (the picture, takes the focus), .mha-browse-word[data-word], .mha-browse-zoom,
// [data-control="kind" | "layer" | "head" | "range" | "all"]. Once the first picture is on screen the root carries
// data-painted (the answer's serial) and data-paint-ms (from the start of render to the frame after).

const BROWSE_SIDE_BY_SIDE = 660; // px from which all heads and the enlarged one stand beside each other
const MOST_SEGMENTS = 16;
const LOW = 260; // px of a picture of all heads that leaves room for the enlarged one below it

function render({ model, el }) {
  const started = performance.now();
  const root = node("div", { class: "mha-widget mha-browse", role: "group", "aria-label": "All heads" });
  el.append(root);
  keepKeys(root);
  const say = liveRegion(root);
  const tip = tooltip(root);
  let theme = "light";
  let family = "";
  let frames = new Map(); // kind -> frame, opened when first shown
  let kinds = [];
  let frame = null;
  let zoom = null; // built when a head is first enlarged
  let hover = null; // { layer, head, q, k } under the pointer
  let lit = { q: 0, k: -1, by: "pointer" }; // in the enlarged head
  let pinned = -1;
  let wordAt = -1;
  let range = "0-1";
  let painted = false;
  let queued = 0;
  let placed = "";

  const heading = node("h3", { class: "mha-heading" });
  const sub = node("p", { class: "mha-sub" });
  const bar = node("div", { class: "mha-browse-bar", role: "img" });
  const most = node("span", { class: "mha-sub" }, "1");
  const ranges = segmented({
    label: "Colour scale", hideLabel: true, name: "range", value: range,
    options: [
      { value: "0-1", label: "0–1", title: "the darkest shade is a weight of 1" },
      { value: "0-max", label: "0–max", title: "the darkest shade is the largest weight of all heads: small weights become visible" },
    ],
    onChange: (value) => { range = value; draw(); },
  });
  const choices = node("div", { class: "mha-row mha-browse-choices" });
  const words = browserWords({
    onHover: (q) => { wordAt = q; light(); },
    onPin: (q) => {
      pinned = q === pinned ? -1 : q;
      if (pinned >= 0) lit = { q: pinned, k: -1, by: "pointer" };
      light();
    },
  });
  const all = browserOverview({ onPoint: point, onLeave: leave, onPick: pick, onKey: walkHeads });
  const zoomed = node("div", { class: "mha-browse-beside" });
  const note = node("p", { class: "mha-note mha-browse-note" });
  root.append(
    node("div", { class: "mha-browse-legend" }, node("div", {}, heading, sub),
      node("div", { class: "mha-browse-scale" }, node("span", { class: "mha-sub" }, "0"), bar, most), ranges.element),
    choices, words.element,
    node("div", { class: "mha-browse-pictures" }, node("div", { class: "mha-browse-left" }, all.element), zoomed),
    note,
  );

  const chosen = () => ({ layer: Math.min(frame.layers, Math.max(1, model.get("layer"))) - 1, head: Math.min(frame.heads, Math.max(1, model.get("head"))) - 1 });
  const top = () => (range === "0-max" ? Math.max(frame.header.max, 0.01) : 1);

  function set(changes) {
    for (const [name, value] of Object.entries(changes)) model.set(name, value);
    model.save_changes();
  }

  function open(kind) {
    const header = kinds.find((each) => each.kind === kind) || kinds[0];
    if (!header) return;
    if (!frames.has(header.kind)) frames.set(header.kind, browserFrame(header, model.get("payload")));
    const next = frames.get(header.kind);
    if (next === frame) return;
    frame = next;
    hover = null;
    pinned = wordAt = -1;
    lit = { q: 0, k: -1, by: "pointer" };
    words.draw(frame.queries);
    choose();
  }

  // The controls for kind, layer and head, as they fit the maps on show.
  let controls = {};
  function choose() {
    const one = (name, count) => {
      const numbers = Array.from({ length: count }, (_, i) => i + 1);
      const value = chosen()[name] + 1;
      const onChange = (next) => set({ [name]: next });
      if (count > MOST_SEGMENTS) return slider({ label: name, name, stops: numbers, value, onInput: onChange, describe: (next) => `${name} ${next} of ${count}` });
      return segmented({ label: name, name, value, onChange, options: numbers.map((i) => ({ value: i, label: String(i), title: `${name} ${i}` })) });
    };
    controls = { layer: one("layer", frame.layers), head: one("head", frame.heads) };
    if (kinds.length > 1) {
      controls.kind = segmented({ label: "attention", name: "kind", value: frame.header.kind, onChange: (kind) => set({ kind }), options: kinds.map(({ kind, label }) => ({ value: kind, label: kind, title: label })) });
    }
    choices.replaceChildren(...["kind", "layer", "head"].filter((name) => controls[name]).map((name) => controls[name].element));
  }

  function layout() {
    if (!frame) return;
    family = getComputedStyle(root).fontFamily;
    const width = Math.floor(widthOf(root, 838) - 40);
    const open = model.get("zoom");
    // A low picture of all heads stays as it is above the enlarged one; a tall one steps aside.
    const low = browserLayout({ width, layers: frame.layers, heads: frame.heads, nQ: frame.nQ, nK: frame.nK, least: 30 }).height <= LOW;
    const small = open && width >= BROWSE_SIDE_BY_SIDE && !low;
    const beside = small && frame.nK <= 30;
    root.classList.toggle("is-beside", beside);
    root.classList.toggle("is-small", small && !beside);
    all.place(frame, small ? Math.min(330, Math.max(220, Math.round(width * 0.38))) : width, open ? 13 : 30, theme);
    show(zoomed, open);
    if (zoom) show(zoom.list, open && small);
    if (!open) return;
    if (!zoom) {
      zoom = browserZoom({ theme: () => theme, onCell: pointLarge, onLeave: leaveLarge, onPick: () => {}, onKey: walkCells, onQuery: (q) => { lit = { q, k: -1, by: "pointer" }; light(); }, onClose: back });
      zoomed.append(zoom.element);
      all.element.after(zoom.list);
      show(zoom.list, small);
    }
    zoom.place(frame, beside ? width - all.element.offsetWidth - 32 : width, theme, family);
  }

  function draw() {
    if (!frame) return;
    all.draw(frame, top(), theme);
    const stops = Array.from({ length: 17 }, (_, i) => weightColour(i / 16, theme));
    bar.style.background = `linear-gradient(to right, ${stops.join(", ")})`;
    setText(most, top() === 1 ? "1" : top().toFixed(2));
    bar.setAttribute("aria-label", `Colour scale from 0 to ${most.textContent}`);
    const { layers, heads, nQ, nK, header } = frame;
    setText(heading, `${kinds.length > 1 ? `${header.label[0].toUpperCase()}${header.label.slice(1)}: ` : ""}${layers} ${layers === 1 ? "layer" : "layers"} × ${heads} ${heads === 1 ? "head" : "heads"}`);
    sub.replaceChildren(node("b", {}, "query"), " ↓  ", node("b", {}, "key"), ` →  ${frame.square ? `${nQ} ${nQ === 1 ? "token" : "tokens"}` : `${nQ} queries, ${nK} keys`}`);
    all.describe(model.get("alt"), "All heads: arrow keys choose a head, Enter enlarges it, Escape goes back");
    const rounding = header.bits === 8 ? "Weights here are rounded to 1/255." : "";
    const shrunk = all.element.offsetWidth && frame.nK > (all.element.offsetWidth / frame.heads) * (window.devicePixelRatio || 1) ? "A pixel of the small maps shows the largest weight that it covers." : "";
    const hatched = header.masked ? "Hatched: not allowed." : "";
    setText(note, [hatched, rounding, shrunk, header.note].filter(Boolean).join(" "));
    show(note, note.textContent !== "");
    if (model.get("zoom") && zoom) zoom.draw(frame, ...Object.values(chosen()), top(), theme);
    light();
  }

  // What is lit: the word under the pointer, else the cell, else the enlarged head's row, else the word that was pinned.
  function litNow() {
    if (wordAt >= 0) return { q: wordAt, k: -1 };
    if (hover) return { q: hover.q, k: hover.k };
    if (model.get("zoom")) return { q: lit.q, k: lit.k };
    return pinned >= 0 ? { q: pinned, k: -1 } : null;
  }

  function light() {
    cancelAnimationFrame(queued);
    queued = requestAnimationFrame(() => {
      if (!frame) return;
      const now = litNow();
      all.light(now, hover, chosen(), theme);
      words.mark(now ? now.q : -1, pinned);
      if (model.get("zoom") && zoom) zoom.words(frame, ...Object.values(chosen()), { ...(now || lit), by: lit.by }, theme, family);
    });
  }

  function point(found) {
    hover = found;
    const { layer, head, q, k } = found;
    tip.show(all.rect(layer, head, q, k), ...weightLine(frame.queries[q], frame.keys[k], frame.inWords(layer, head, q, k), frame.name(layer, head), frame.told));
    light();
  }

  function leave() {
    if (!hover) return;
    hover = null;
    tip.hide();
    light();
  }

  function pick(found) {
    lit = { q: found.q, k: found.k, by: "pointer" };
    const reveal = !model.get("zoom");
    set({ layer: found.layer + 1, head: found.head + 1, zoom: true });
    if (reveal) Promise.resolve().then(() => zoom && inView(zoom.element));
  }

  // What was asked for comes into sight where it would stand below the window.
  function inView(element) {
    if (element.getBoundingClientRect().top > window.innerHeight - 160) element.scrollIntoView({ block: "nearest", behavior: reducedMotion() ? "auto" : "smooth" });
  }

  function pointLarge(q, k, by) {
    lit = { q, k, by };
    const { layer, head } = chosen();
    const parts = weightLine(frame.queries[q], frame.keys[k], frame.inWords(layer, head, q, k), frame.name(layer, head), frame.told);
    if (by !== "list") tip.show(zoom.map.cellRect(q, k), ...parts);
    if (by === "keyboard") say(parts.map((part) => part.textContent || part).join(""));
    light();
  }

  function leaveLarge() {
    tip.hide();
    lit = { ...lit, by: "pointer" };
    light();
  }

  function back() {
    tip.hide();
    set({ zoom: false });
    all.frame.focus();
  }

  const moves = { ArrowUp: [-1, 0], ArrowDown: [1, 0], ArrowLeft: [0, -1], ArrowRight: [0, 1] };
  const within = (value, count) => Math.min(count - 1, Math.max(0, value));

  function walkHeads(event) {
    if (!frame || event.altKey || event.ctrlKey || event.metaKey) return;
    const { layer, head } = chosen();
    if (event.key === "Enter" || event.key === " ") {
      set({ zoom: true });
      moved();
      zoom.map.frame.focus();
    } else if (event.key === "Escape") {
      set({ zoom: false });
    } else if (event.key in moves) {
      const [down, right] = moves[event.key];
      to(layer + down, head + right);
    } else if (!otherHead(event, layer, head)) return;
    event.preventDefault();
  }

  // Keys that mean the same in both pictures: numbers choose the head, Page Up and Page Down the layer.
  function otherHead(event, layer, head) {
    if (/^[1-9]$/.test(event.key)) to(layer, Number(event.key) - 1);
    else if (event.key === "PageUp" || event.key === "PageDown") to(layer + (event.key === "PageDown" ? 1 : -1), head);
    else if (event.key === "Home" || event.key === "End") to(layer, event.key === "Home" ? 0 : frame.heads - 1);
    else return false;
    return true;
  }

  function to(layer, head) {
    if (head >= frame.heads && frame.heads < 9) return;
    set({ layer: within(layer, frame.layers) + 1, head: within(head, frame.heads) + 1 });
    const now = chosen();
    say(`${frame.name(now.layer, now.head)}, ${frame.numbers(now.layer, now.head)}`);
  }

  function walkCells(event) {
    if (!frame || event.altKey || event.ctrlKey || event.metaKey) return;
    const { layer, head } = chosen();
    if (event.key === "Escape") back();
    else if (event.key in moves) {
      const [down, right] = moves[event.key];
      const k = lit.k >= 0 ? lit.k : frame.strongest(layer, head, lit.q)[0] || 0;
      pointLarge(within(lit.q + down, frame.nQ), within(k + right, frame.nK), "keyboard");
    } else if (!otherHead(event, layer, head)) return;
    event.preventDefault();
  }

  function onAnswer(header) {
    kinds = header.kinds;
    frames = new Map();
    frame = null;
    open(model.get("kind"));
    layout();
    draw();
    if (!painted) {
      painted = true;
      // The frame after the next one begins when the picture is on screen.
      requestAnimationFrame(() => requestAnimationFrame(() => {
        root.dataset.painted = String(header.serial);
        root.dataset.paintMs = (performance.now() - started).toFixed(1);
      }));
    }
    return true;
  }

  const answers = connect(model, root, [], onAnswer);
  const moved = () => {
    if (!frame) return;
    open(model.get("kind"));
    for (const name of ["layer", "head"]) controls[name].set(chosen()[name] + 1);
    if (controls.kind) controls.kind.set(frame.header.kind);
    layout();
    draw();
  };
  // Layer, head and zoom often move together: one picture for all of them.
  let waiting = null;
  const soon = () => {
    if (waiting === null) waiting = Promise.resolve().then(() => { waiting = null; moved(); });
  };
  for (const name of ["kind", "layer", "head", "zoom"]) model.on(`change:${name}`, soon);
  const stopTheme = watchTheme(root, (now) => {
    theme = now;
    layout();
    draw();
  });
  const resized = new ResizeObserver(() => {
    const size = `${root.clientWidth} ${window.devicePixelRatio}`;
    if (size === placed) return;
    placed = size;
    layout();
    draw();
  });
  answers.draw();
  placed = `${root.clientWidth} ${window.devicePixelRatio}`;
  resized.observe(root);
  return () => {
    answers.stop();
    cancelAnimationFrame(queued);
    for (const name of ["kind", "layer", "head", "zoom"]) model.off(`change:${name}`, soon);
    stopTheme();
    resized.disconnect();
  };
}
