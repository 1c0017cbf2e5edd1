// A Parsons problem. Lines go from the bank into the function and back, by button, by key and by dragging.
//
// Parts: button[data-open]; [data-list="function"] and [data-list="bank"] with .mha-line; button[data-check],
// button[data-again]; .mha-parsons-said (role status) with [data-verdict="ok" | "warn"]; a live region.
// Traits: name, header, lines, chosen (indices, in the order of the function), solved.

const PUZZLE_KEYS = "Drag the lines, press their buttons, or use keys: ↑ ↓ go from line to line, Alt + ↑ ↓ move a line, Space takes it in or out.";

function render({ model, el }) {
  const root = node("div", { class: "mha-widget mha-parsons-box" });
  el.append(root);
  keepKeys(root);
  const stopTheme = watchTheme(root);
  const say = liveRegion(root);
  const texts = model.get("lines");
  const lines = texts.map((text, i) => puzzleLine(i, text, act));
  let chosen = [];
  let current = 0;
  let marks = [];
  let before = ""; // the order that the verdict in sight is about

  const body = node("div", { class: "mha-parsons-body", id: freshId("lines") });
  const open = node("button", { class: "mha-button", type: "button", "data-open": true, "aria-controls": body.id, onclick: () => unfold(body.hidden) });
  const done = node("span", { class: "mha-parsons-done" }, "✓ solved");
  const list = (name, label) => node("div", { class: "mha-lines", "data-list": name, role: "group", "aria-label": label });
  const inside = list("function", "Your function");
  const bank = list("bank", "Lines to choose from");
  const empty = node("p", { class: "mha-lines-empty" }, "Take lines in from below.");
  const none = node("p", { class: "mha-lines-empty" }, "All lines are in. Those that you take out come back here.");
  const help = node("p", { class: "mha-note", id: freshId("keys") }, PUZZLE_KEYS);
  const area = node(
    "div",
    // An application: a screen reader then hands the arrow keys on.
    { class: "mha-parsons-area", role: "application", "aria-label": `Lines of ${model.get("name")}`, "aria-describedby": help.id },
    node("div", { class: "mha-label" }, "Your function"),
    node("div", { class: "mha-function" }, node("code", { class: "mha-line-header" }, node("span", { class: "mha-line-number", "aria-hidden": "true" }, "1"), model.get("header")), inside),
    node("div", { class: "mha-label" }, "Lines to choose from"),
    bank,
  );
  const said = node("div", { class: "mha-parsons-said", role: "status" });
  const foot = node(
    "div",
    { class: "mha-row mha-parsons-foot" },
    node("button", { class: "mha-button is-main", type: "button", "data-check": true, onclick: () => link.ask({ chosen: [...chosen] }) }, "Check"),
    node("button", { class: "mha-button", type: "button", "data-again": true, onclick: startOver }, "Start over"),
    help,
  );
  body.append(area, foot, said);
  root.append(
    node("div", { class: "mha-row" }, node("div", { class: "mha-heading" }, "Puzzle: ", node("code", { class: "mha-marked" }, model.get("name"))), open, done),
    node("p", { class: "mha-sub" }, "Put the lines of the function in order. Any order that works is right. Some lines don't belong."),
    body,
  );
  area.addEventListener("keydown", onKey);
  area.addEventListener("focusin", (event) => {
    const line = event.target.closest(".mha-line");
    if (line) makeCurrent(Number(line.dataset.line));
  });
  draggableLines(area, { chosen: inside, bank }, (i, place) => place < 0 ? takeOut(i) : put(i, place));

  const others = () => texts.map((_, i) => i).filter((i) => !chosen.includes(i));
  const inOrder = () => [...chosen, ...others()];

  function unfold(wanted) {
    show(body, wanted);
    open.setAttribute("aria-expanded", String(wanted));
    setText(open, wanted ? "Hide the lines" : "Show the lines");
  }

  function draw() {
    if (!inOrder().includes(current)) current = inOrder()[0];
    let number = 2;
    chosen.forEach((i, place) => {
      lines[i].draw({ place, count: chosen.length, lineNumber: number, current: i === current, marked: marks.includes(i) });
      number += texts[i].split("\n").length;
    });
    for (const i of others()) lines[i].draw({ place: -1, current: i === current, marked: false });
    inside.replaceChildren(...(chosen.length ? chosen.map((i) => lines[i].element) : [empty]));
    bank.replaceChildren(...(others().length ? others().map((i) => lines[i].element) : [none]));
    show(done, model.get("solved"));
    const verdict = said.querySelector("[data-verdict]");
    if (verdict) verdict.classList.toggle("is-before", before !== chosen.join());
  }

  function makeCurrent(i) {
    if (i === current) return;
    current = i;
    draw0();
  }

  // Which line Tab comes to, without putting elements anew (that would take the focus from them).
  function draw0() {
    lines.forEach((line, i) => {
      for (const part of [line.element, ...line.element.querySelectorAll("button")]) part.tabIndex = i === current ? 0 : -1;
    });
  }

  // Everything that moves lines ends here. focus: the element that has the focus afterwards, or null.
  function arrange(next, words, focus = null) {
    chosen = next;
    marks = [];
    model.set("chosen", [...chosen]);
    model.save_changes();
    draw();
    if (focus) focus.focus();
    say(words);
  }

  const numberOf = (i) => 2 + chosen.slice(0, chosen.indexOf(i)).reduce((sum, j) => sum + texts[j].split("\n").length, 0);

  function put(i, place, focus = lines[i].element) {
    current = i;
    const rest = chosen.filter((j) => j !== i);
    const was = chosen.includes(i);
    rest.splice(place, 0, i);
    arrange(rest, "", focus);
    say(`${was ? "Moved to" : "Taken in as"} line ${numberOf(i)}: ${lines[i].words}`);
  }

  function takeOut(i, focus = lines[i].element) {
    arrange(chosen.filter((j) => j !== i), `Taken out: ${lines[i].words}`, focus);
  }

  // Space goes on to the line that comes next where this one was, so that one can take in one after another.
  function toggle(i, ofLine = (j) => lines[j].element) {
    const side = chosen.includes(i) ? chosen : others();
    const at = side.indexOf(i);
    const next = side[at + 1] ?? side[at - 1] ?? i;
    if (chosen.includes(i)) takeOut(i, null);
    else put(i, chosen.length, null);
    current = next;
    draw0();
    ofLine(next).focus();
  }

  function shift(i, by, focus = lines[i].element) {
    const place = chosen.indexOf(i);
    if (place < 0) return by < 0 ? put(i, chosen.length, focus) : undefined;
    if (place + by < 0) return undefined;
    if (place + by >= chosen.length) return focus === lines[i].element ? takeOut(i) : undefined;
    return put(i, place + by, focus);
  }

  function act(what, i) {
    const button = (j, name) => lines[j].element.querySelector(`[data-do=${name}]`);
    if (what === "up" || what === "down") return shift(i, what === "up" ? -1 : 1, button(i, what));
    return toggle(i, (j) => button(j, chosen.includes(j) ? "out" : "in"));
  }

  function onKey(event) {
    const line = event.target.closest(".mha-line");
    if (!line || event.ctrlKey || event.metaKey || event.shiftKey) return;
    const i = Number(line.dataset.line);
    const step = { ArrowUp: -1, ArrowDown: 1 }[event.key];
    if (event.key === " " && event.target === line) toggle(i);
    else if (step && event.altKey) shift(i, step);
    else if (event.altKey) return;
    else if (step || event.key === "Home" || event.key === "End") {
      const all = inOrder();
      const to = step ? all[all.indexOf(i) + step] : all[event.key === "Home" ? 0 : all.length - 1];
      if (to !== undefined) lines[to].element.focus();
    } else return;
    event.preventDefault();
    event.stopPropagation();
  }

  function startOver() {
    said.replaceChildren();
    arrange([], "All lines are out.");
  }

  const link = connect(model, root, [], (header) => {
    if (!header.title) return;
    before = header.chosen.join();
    marks = before === chosen.join() ? header.marks : [];
    said.replaceChildren(verdict(header));
    draw();
  });

  function verdict(header) {
    const why = header.unused.length
      ? node(
        "details",
        { class: "mha-parsons-why" },
        node("summary", {}, "Why don't the others belong?"),
        ...header.unused.map((one) => markedLine(`\`${texts[one.line].split("\n").pop().trim()}\`\n${one.because}`)),
      )
      : null;
    return verdictBox(
      header.solved ? "ok" : "warn",
      header.title,
      node("p", { class: "mha-before" }, "You have moved lines since; numbers are those of before."),
      ...header.says.map((text) => markedLine(text)),
      why,
      header.trouble ? markedLine("⚠ " + header.trouble, "note") : null,
    );
  }

  // Moved elsewhere: by a second view, or by Python.
  const onChosen = () => {
    if (model.get("chosen").join() === chosen.join()) return;
    chosen = [...model.get("chosen")];
    marks = [];
    draw();
  };
  model.on("change:chosen", onChosen);
  model.on("change:solved", draw);
  chosen = [...model.get("chosen")];
  current = inOrder()[0];
  unfold(chosen.length > 0);
  draw();
  link.draw();
  return () => {
    link.stop();
    stopTheme();
    model.off("change:chosen", onChosen);
    model.off("change:solved", draw);
  };
}
