// The AttentionExplorer: controls, facts, the maps of all heads, and one head enlarged.
//
// For tests and benchmarks, these stay as they are:
//   .mha-explorer                       the root; [data-drawn-stamp] is the stamp of the picture on screen,
//                                       [data-theme] light or dark; event "mha-drawn" after each drawing
//   [data-control="sentence"]           the text field
//   [data-control="d_model"], ="h"      the sliders (role=slider, aria-valuenow; .mha-slider-number: the stops)
//   [data-control="mask"], ="weights"   radio groups; [role=radio][data-value="causal"] ...
//   [data-control="scale"]              the switch (aria-checked); [data-control="new-seed"] the button
//   [data-control="layer"]              radio group, for sources of several layers
//   [data-control="range"]              radio group "0-1", "0-max"; [data-control="unpin"] the button
//   [data-fact="d_k"] ="parameters" ="flops" ="scale"     numbers of the facts row
//   figure.mha-head[data-head="3"]      head 3 (from 1); in it canvas.mha-cells, n_k × n_q pixels, one a
//                                       weight; .mha-hatch; .mha-frame takes the focus; .mha-keys, .mha-queries labels
//   .mha-tooltip, [role=status]         what stands under the pointer or the focus, seen and read out
//   .mha-detail                         the enlarged head: .mha-enlarged (map), svg.mha-arcs, rect[data-bar="0"]
//   .mha-notices .mha-box               what was moved, cut or left out

function render({ model, el }) {
  const root = node("div", { class: "mha-widget mha-explorer", role: "group", "aria-label": "Attention explorer" });
  el.append(root);
  keepKeys(root);
  const say = liveRegion(root);
  const tip = tooltip(root);
  let theme = currentTheme();
  let frame = null;
  let range = "0-1";
  let lit = { head: -1, q: -1, k: -1, by: null };
  let tabStop = 0;
  let width = 0; // unknown until the root stands on the page

  const settings = ["sentence", "d_model", "h", "mask", "scale", "weights", "layer", "seed", "first"];
  const family = () => getComputedStyle(root).fontFamily;
  const pinned = () => Math.min(model.get("head"), frame ? frame.h : 0) - 1;
  const darkest = () => (range === "0-max" && frame.header.max > 0 ? frame.header.max : 1);
  const ask = (changes) => link.ask(changes);

  const controls = explorerControls(model, ask);
  const facts = explorerFacts();
  const notices = explorerNotices(ask);
  const legend = explorerLegend((value) => {
    range = value;
    redraw();
  });
  const grid = explorerGrid({
    theme: () => theme,
    onCell: stand, onLeave: leave,
    onPick: (i) => pin(model.get("head") === i + 1 ? -1 : i),
    onKey: keys,
    onFocus: (i) => { tabStop = i; },
  });
  const detail = explorerDetail({
    theme: () => theme,
    onCell: (q, k, by) => stand(pinned(), q, k, by, true),
    onLeave: leave,
    onKey: keys,
    onQuery: (q) => stand(pinned(), q, -1, "pinned"),
    onClose: () => pin(-1),
  });
  const hint = node("p", { class: "mha-note mha-hint" });
  const note = node("p", { class: "mha-note mha-maps-note" });
  const maps = node("div", { class: "mha-section mha-maps" }, legend.element, grid.element, hint);
  root.append(controls.element, facts.element, notices.element, maps, detail.element, note);

  function onAnswer(header, payload) {
    controls.settle(header);
    facts.draw(header);
    notices.draw(header, model.get("example"));
    const empty = header.tokens.length === 0;
    show(note, !empty);
    // While a slider passes a setting without weights, the page keeps its height.
    show(maps, !empty || Boolean(header.missing));
    maps.classList.toggle("mha-no-maps", Boolean(header.missing));
    if (empty) {
      frame = null;
      show(detail.element, false);
      tip.hide();
      return true;
    }
    frame = explorerFrame(header, payload);
    if (lit.q >= frame.n || lit.k >= frame.n || lit.head >= frame.h) lit = { head: -1, q: -1, k: -1, by: null };
    tabStop = Math.min(tabStop, frame.h - 1);
    tip.hide();
    return redraw();
  }

  // Needs a place on the page: labels are measured in the reader's own font.
  function redraw() {
    if (!frame || width === 0) return false;
    grid.place(frame, width, theme, family());
    grid.draw(frame, darkest(), theme);
    legend.draw(frame, darkest(), range, theme);
    setText(note, frame.header.note);
    show(hint, pinned() < 0);
    setText(hint, frame.h > 1
      ? `Click a map to enlarge it. With the keyboard: Tab to the maps, arrow keys move, 1–${Math.min(9, frame.h)} choose a head.`
      : "Click the map to enlarge it. With the keyboard: Tab to the map, arrow keys move, Enter enlarges.");
    drawDetail();
    light();
    return true;
  }

  function drawDetail() {
    const i = pinned();
    show(detail.element, i >= 0);
    if (i < 0) return;
    detail.place(frame, width, theme, family());
    detail.draw(frame, i, darkest(), theme);
  }

  // Light a row in all maps and a cell in one; in the enlarged head too.
  function light() {
    const inDetail = pinned() >= 0;
    const row = inDetail && lit.q < 0 ? { ...lit, q: Math.floor(frame.n / 2) } : lit;
    grid.light(frame, row, pinned(), tabStop);
    if (inDetail) detail.words(frame, pinned(), row, theme, family());
  }

  function stand(head, q, k, by, inDetail = false) {
    if (!frame || width === 0) return;
    if (lit.head === head && lit.q === q && lit.k === k && lit.by === by) return;
    lit = { head, q, k, by };
    light();
    if (k < 0) return;
    const weight = frame.inWords(head, q, k);
    const map = inDetail ? detail.map : grid.map(head);
    tip.show(map.cellRect(q, k), ...weightLine(q, k, weight, frame.title(head).replace(/^H/, "h"), frame.word));
    say(`${frame.word(q)} to ${frame.word(k)}, ${weight}, ${frame.longName(head)}`);
  }

  function leave(by) {
    if (lit.by !== by && !(by === "pointer" && lit.by === "pinned")) return;
    tip.hide();
    // With a head enlarged its query stays lit.
    lit = pinned() >= 0 ? { ...lit, head: -1, k: -1, by: null } : { head: -1, q: -1, k: -1, by: null };
    if (frame && width > 0) light();
  }

  function pin(i) {
    model.set("head", i + 1);
    model.save_changes();
  }

  function onPinned() {
    if (!frame || width === 0) return;
    const i = pinned();
    redraw();
    // The cell under the focus belongs to the new head now.
    if (i >= 0 && lit.k >= 0 && root.contains(document.activeElement) && document.activeElement === detail.map.frame) {
      stand(i, lit.q, lit.k, "keyboard", true);
      return;
    }
    tip.hide();
    say(i >= 0 ? `${frame.longName(i)} enlarged` : "no head enlarged");
  }

  function keys(event) {
    if (!frame || event.ctrlKey || event.metaKey || event.altKey) return;
    const inDetail = event.currentTarget === detail.map.frame;
    const head = inDetail ? pinned() : Number(event.currentTarget.dataset.head) - 1;
    const [q, k] = [Math.max(0, lit.q), Math.max(0, lit.k)];
    const clamp = (value) => Math.min(frame.n - 1, Math.max(0, value));
    const steps = { ArrowUp: [-1, 0], ArrowDown: [1, 0], ArrowLeft: [0, -1], ArrowRight: [0, 1] };
    const digit = Number(event.key);
    if (event.key in steps) {
      const fresh = lit.q < 0 || lit.k < 0;
      const [down, right] = fresh ? [0, 0] : steps[event.key];
      stand(head, clamp(q + down), clamp(k + right), "keyboard", inDetail);
    } else if (event.key === "Home" || event.key === "End") {
      stand(head, q, event.key === "Home" ? 0 : frame.n - 1, "keyboard", inDetail);
    } else if (event.key === "PageDown" || event.key === "PageUp") {
      visit(Math.min(frame.h - 1, Math.max(0, head + (event.key === "PageDown" ? 1 : -1))), inDetail);
    } else if (digit >= 1 && digit <= Math.min(9, frame.h)) {
      pin(digit - 1);
      if (!inDetail) visit(digit - 1, false);
    } else if (event.key === "Enter" || event.key === " ") {
      if (!inDetail) pin(model.get("head") === head + 1 ? -1 : head);
    } else if (event.key === "Escape") {
      tip.hide();
      const back = inDetail ? pinned() : head;
      pin(-1);
      grid.map(Math.max(0, back)).frame.focus();
    } else return;
    event.preventDefault();
  }

  // Go to another head: in the grid the focus moves, in the enlarged view the head changes.
  function visit(i, inDetail) {
    if (inDetail) {
      pin(i);
      return;
    }
    tabStop = i;
    const { q, k } = lit;
    grid.map(i).frame.focus();
    if (q >= 0 && k >= 0) stand(i, q, k, "keyboard");
    else light();
  }

  const link = connect(model, root, settings, onAnswer, controls.follow);
  model.on("change:head", onPinned);
  const stopTheme = watchTheme(root, (now) => {
    theme = now;
    redraw();
  });
  const watcher = new ResizeObserver(() => {
    const style = getComputedStyle(root);
    const inner = Math.floor(root.clientWidth - parseFloat(style.paddingLeft) - parseFloat(style.paddingRight));
    if (inner <= 0 || inner === width) return;
    const first = width === 0;
    width = inner;
    if (redraw() && first) markDrawn(root, frame.header);
  });
  watcher.observe(root);
  link.draw();
  return () => {
    link.stop();
    model.off("change:head", onPinned);
    stopTheme();
    watcher.disconnect();
  };
}
