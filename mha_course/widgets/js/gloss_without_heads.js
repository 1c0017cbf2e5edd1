// The GlossWithoutHeads: switches for every head and role, the gloss that is left, and the accuracy that is left.
//
// Traits: sentence, removed [[layer, head]], against, heads [{ layer, head, role }], groups { role: [[layer, head]] }, examples, seed.
// Parts: [data-control="sentence" | "another" | "all" | "group-previous" … | "random" | "against"], button.mha-gloss-head
// (aria-pressed: the head is on), .mha-gloss-card, .mha-gloss-meters, [data-fact="words"].

function render({ model, el }) {
  const root = node("div", { class: "mha-widget mha-without", role: "group", "aria-label": "The gloss without some heads" });
  el.append(root);
  keepKeys(root);
  const say = liveRegion(root);
  const heads = model.get("heads");
  const groups = model.get("groups");
  let header = null;
  let group = []; // the group that random ones are compared with
  let drawn = 0;

  const key = ([layer, head]) => `${layer}.${head}`;
  const sorted = (list) => [...list].sort((a, b) => a[0] - b[0] || a[1] - b[1]);
  const isOff = (layer, head) => model.get("removed").some((pair) => pair[0] === layer && pair[1] === head);

  const field = textField({ label: "sentence", value: model.get("sentence"), maxLength: 2000, rest: 300, onInput: (sentence) => answers.ask({ sentence }) });
  const another = plainButton({ label: "Another sentence", name: "another", onClick: () => {
    const list = model.get("examples");
    const next = list[(list.indexOf(model.get("sentence")) + 1) % list.length];
    field.set(next);
    answers.ask({ sentence: next });
  } });
  const switches = heads.map(({ layer, head, role }) => {
    const button = node("button", {
      class: "mha-gloss-head", type: "button", "data-layer": layer, "data-head": head,
      "aria-label": `layer ${layer}, head ${head}${role ? `, ${ROLE_LOOK[role].words}` : ""}`,
      onclick: () => remove(isOff(layer, head) ? model.get("removed").filter((pair) => key(pair) !== key([layer, head])) : [...model.get("removed"), [layer, head]]),
    }, node("span", { class: "mha-gloss-number" }, String(head)), role ? roleChip(role) : node("span", { class: "mha-gloss-none" }, "no role"));
    return { button, layer, head };
  });
  const layers = [...new Set(heads.map(({ layer }) => layer))];
  const grid = node("div", { class: "mha-gloss-grid" }, ...layers.flatMap((layer) => [
    node("span", { class: "mha-label" }, `layer ${layer}`),
    node("div", { class: "mha-gloss-line", role: "group", "aria-label": `heads of layer ${layer}` }, ...switches.filter((each) => each.layer === layer).map((each) => each.button)),
  ]));
  const all = plainButton({ label: "All heads on", name: "all", onClick: () => remove([]) });
  const roles = Object.entries(groups).map(([role, list]) => plainButton({
    label: role === "syntactic" ? "syntax" : ROLE_LOOK[role].words, name: `group-${role}`, title: `switch off ${list.length} heads`, onClick: () => remove(list),
  }));
  const random = plainButton({ label: "random, as many", name: "random", title: "a random group of as many other heads", onClick: drawGroup });
  const against = switchControl({ label: "", text: "try random groups too", name: "against", value: model.get("against"), onChange: (on) => answers.ask({ against: on }) });
  const notices = node("div", {});
  const words = node("p", { class: "mha-sub", "data-fact": "words" });
  const cards = glossCards();
  const meters = glossMeters();
  const metersNote = node("p", { class: "mha-note" });
  root.append(
    node("div", { class: "mha-row mha-row-spread" }, node("h3", { class: "mha-heading" }, "The gloss without some heads"),
      node("span", { class: "mha-sub" }, "a head that is off adds nothing to the output of its layer")),
    node("div", { class: "mha-row" }, field.element, another),
    node("div", { class: "mha-section mha-gloss-steer" }, grid, node("div", { class: "mha-row mha-gloss-groups" }, node("span", { class: "mha-label" }, "switch off"), ...roles, random, all)),
    notices, words,
    node("div", { class: "mha-drawing" }, cards.element),
    node("div", { class: "mha-section mha-drawing" }, node("div", { class: "mha-row mha-row-spread" }, node("span", { class: "mha-label" }, "on sentences it never saw"), against.element), meters.element, metersNote),
    node("div", { class: "mha-computing" }, "computing"),
  );

  function remove(list, keeps = false) {
    if (!keeps) group = sorted(list);
    answers.ask({ removed: sorted(list) });
    press();
  }

  // As many heads as are off, at least one, drawn from the others while there are enough.
  function drawGroup() {
    const size = Math.max(1, model.get("removed").length);
    const avoid = new Set(group.map(key));
    let pool = heads.map(({ layer, head }) => [layer, head]);
    if (pool.length - avoid.size >= size) pool = pool.filter((pair) => !avoid.has(key(pair)));
    drawn += 1;
    const next = generator(model.get("seed") * 7919 + drawn);
    for (let i = pool.length - 1; i > 0; i -= 1) {
      const j = Math.floor(next() * (i + 1));
      [pool[i], pool[j]] = [pool[j], pool[i]];
    }
    remove(pool.slice(0, size), true);
  }

  // Numbers from 0 to 1 that are the same for the same seed (mulberry32).
  function generator(seed) {
    let state = seed >>> 0;
    return () => {
      state = (state + 0x6d2b79f5) >>> 0;
      let t = Math.imul(state ^ (state >>> 15), 1 | state);
      t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
      return ((t ^ (t >>> 14)) >>> 0) / 4294967296;
    };
  }

  function press() {
    for (const { button, layer, head } of switches) {
      const off = isOff(layer, head);
      button.setAttribute("aria-pressed", String(!off));
      button.title = off ? "off: press to switch on" : "on: press to switch off";
    }
    const now = sorted(model.get("removed")).map(key).join();
    all.disabled = now === "";
    Object.values(groups).forEach((list, i) => roles[i].classList.toggle("is-chosen", now === sorted(list).map(key).join()));
  }

  function told() {
    const { off, cards: list, gold } = header;
    const names = off.map(([layer, head]) => `layer ${layer} head ${head}`).join(", ");
    const parts = GLOSS_PARTS.map((part) => [part, list.filter((card) => card[part][0] !== card[part][1]).length]).filter(([, count]) => count);
    const changed = list.filter((card) => GLOSS_PARTS.some((part) => card[part][0] !== card[part][1])).length;
    const first = off.length ? `Off: ${names}. ` : "All heads are on. ";
    const second = !off.length ? "" : changed ? `${changed} of ${list.length} words changed: ${parts.map(([part, count]) => `${part} ${count}`).join(", ")}. ` : "No word of this sentence changed. ";
    const right = list.flatMap((card) => GLOSS_PARTS.map((part) => card[part][1] === card[part][2])).filter(Boolean).length;
    const third = gold ? `${right} of ${4 * list.length} parts are right.` : list.length ? "What is right is known for sentences of the grammar only; press “Another sentence” for one." : "";
    return first + second + third;
  }

  function onAnswer(next) {
    header = next;
    const boxes = [];
    if (!next.words.length) boxes.push(box("empty", "No sentence yet", "Write one, or press “Another sentence”."));
    if (next.unknown.length) {
      const odd = [...new Set(next.unknown.map((i) => next.words[i]))];
      boxes.push(box("note", odd.length === 1 ? "A word that the model doesn’t know" : "Words that the model doesn’t know", `${odd.join(", ")}: read as <unk>, underlined with dots.`));
    }
    if (next.cut) boxes.push(box("note", `${next.cut} tokens, ${next.most} are read`, "The rest is left out."));
    notices.replaceChildren(...boxes);
    cards.draw(next.words, next.cards, next.unknown);
    meters.draw(next);
    setText(words, told());
    const randomly = next.random ? ` Diamond: the mean of ${next.random.groups} random groups of ${next.off.length} other ${next.off.length === 1 ? "head" : "heads"}.` : "";
    setText(metersNote, `Share of words with the right part, ${next.sentences} sentences of the grammar. Tick: all heads on.${randomly} Change: percentage points.`);
    press();
    say(words.textContent);
    return true;
  }

  const answers = connect(model, root, ["sentence", "removed", "against"], onAnswer, () => {
    field.set(model.get("sentence"));
    against.set(model.get("against"));
    press();
  });
  const stopTheme = watchTheme(root, (theme) => roleVariables(root, theme));
  group = sorted(model.get("removed"));
  answers.draw();
  return () => {
    answers.stop();
    stopTheme();
  };
}
