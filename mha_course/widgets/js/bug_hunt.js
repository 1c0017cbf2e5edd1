// The bug hunt: suspects above, probes at the left, evidence at the right, the name and the verdict below.
//
// Traits: number, ran { "3": [keys] }, said [number, name], insisted [numbers], told { count, groups, names }.
// The answer: number, layer, suspects [{ found, shown }], evidence, found, wrong, verdict, answer, lines,
// overview, trouble; see bug_hunt.py. Python alone knows what is wrong; it sends names and lines only where they were found or asked for.

function render({ model, el }) {
  const root = node("div", { class: "mha-widget mha-hunt", role: "group", "aria-label": "The bug hunt" });
  el.append(root);
  keepKeys(root);
  const say = liveRegion(root);
  const tips = cellTips(root, say);
  const told = model.get("told");
  const does = new Map(told.groups.flatMap((group) => group.probes.map((probe) => [probe.key, probe.does])));
  let theme = currentTheme();
  let mine = null; // what this view has asked for: its answer is read out

  const count = node("span", { class: "mha-sub", "data-fact": "found" });
  const layer = node("p", { class: "mha-note", "data-fact": "layer" });
  const trouble = node("p", { class: "mha-note mha-hunt-trouble", role: "status" });
  const row = suspectRow(told.count, (number) => {
    row.choose(number);
    mine = { suspect: number };
    link.ask({ number });
  });
  const probes = probeList(told.groups, run);
  const evidence = evidenceList({ tips, does });
  const naming = namingPart({
    names: told.names,
    model,
    onName: (number, name) => link.ask({ said: [number, name] }),
    onInsist: (number) => link.ask({ insisted: [...model.get("insisted"), number] }),
  });
  const overview = huntOverview(told.groups);
  root.append(
    node("div", { class: "mha-hunt-head" }, node("h3", { class: "mha-heading" }, "The bug hunt"), count),
    row.element,
    layer,
    node("div", { class: "mha-section mha-hunt-body" }, probes.element, node("div", { class: "mha-drawing mha-hunt-right" }, node("span", { class: "mha-computing" }, "computing"), evidence.element)),
    naming.element,
    overview.element,
    trouble,
  );
  row.choose(model.get("number"));

  const link = connect(model, root, ["number", "ran"], draw, () => row.choose(model.get("number")));
  const stopTheme = watchTheme(root, (now) => {
    theme = now;
    const answer = model.get("answer");
    if (answer.serial !== undefined) evidence.draw(answer, theme);
  });
  link.draw();

  function run(key) {
    const number = model.get("number");
    const before = (model.get("ran")[number] || []).filter((each) => each !== key);
    mine = { probe: key };
    // Run again, it moves to the top.
    link.ask({ ran: { ...model.get("ran"), [number]: [...before, key] } });
  }

  function draw(answer) {
    row.choose(answer.number);
    row.draw(answer.suspects);
    const found = answer.suspects.filter((each) => each.found).length;
    setText(count, `${found} of ${told.count} found${found === told.count ? ". The hunt is over" : ""}`);
    setText(layer, `Suspect ${answer.number}: ${answer.layer}. You may call it, not read it.`);
    probes.draw(answer.evidence.map((one) => one.key));
    evidence.draw(answer, theme);
    naming.draw(answer);
    overview.draw(answer.overview);
    setText(trouble, answer.trouble ? `⚠ ${answer.trouble}` : "");
    if (mine) readOut(answer);
    mine = null;
  }

  function readOut(answer) {
    const one = answer.evidence.find((each) => each.key === mine.probe);
    if (one) say(`${one.title}. ${one.apart ? "Differs from the sound layer" : "Like the sound layer"}. ${one.suspect.sentence}`);
    if (mine.suspect) say(`Suspect ${answer.number}${answer.found ? ", found" : ""}. ${answer.evidence.length} probes run.`);
  }

  return () => {
    link.stop();
    stopTheme();
  };
}
