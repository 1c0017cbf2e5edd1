// The row of facts below the controls, and the boxes that say what was moved, cut or left out.

function explorerFacts() {
  const facts = ["d_k", "parameters", "flops", "scale"].map((name) => {
    const label = node("div", { class: "mha-fact-label" });
    const number = node("div", { class: "mha-fact-number", "data-fact": name });
    const formula = node("div", { class: "mha-fact-formula" });
    return { label, number, formula, element: node("div", { class: "mha-fact" }, label, number, formula) };
  });
  const element = node("div", { class: "mha-section mha-facts" }, facts.map((fact) => fact.element));
  let shown = "";

  function draw(header) {
    show(element, header.facts);
    const key = [header.d_model, header.h, header.n, header.scale].join();
    if (key === shown) return;
    shown = key;
    const [width, parameters, flops, scale] = facts;
    const same = () => node("b", {}, "same for every h");
    setText(width.label, "features per head, d_k");
    setText(width.number, `${header.d_model} / ${header.h} = ${header.d_k}`);
    setText(width.formula, "d_model / h");
    setText(parameters.label, "parameters");
    setText(parameters.number, withCommas(header.parameters));
    parameters.formula.replaceChildren("4 · d_model²  ", same());
    setText(flops.label, "FLOPs");
    setText(flops.number, withCommas(header.flops));
    flops.formula.replaceChildren("8·n·d_model² + 4·n²·d_model  ", same());
    setText(scale.label, header.scale ? "scores divided by √d_k" : "scores not divided");
    setText(scale.number, header.scale ? header.root.toFixed(2) : "1");
    const soft = header.d_k > 1 ? `√${header.d_k} keeps the softmax soft` : "√1 changes nothing";
    setText(scale.formula, header.scale ? soft : `√${header.d_k} = ${header.root.toFixed(2)} left out`);
  }
  return { element, draw };
}

// Boxes with a heading and a sentence, from the answer; windowNotice offers the tokens not shown.
function explorerNotices(ask) {
  const element = node("div", { class: "mha-notices" });
  let shown = "";
  function draw(header, example) {
    const key = JSON.stringify([header.notices, header.missing, header.shown, header.window, header.tokens.length]);
    if (key === shown) return;
    shown = key;
    const boxes = (header.notices || []).map((notice) => noticeBox(notice, ask));
    const total = header.tokens.length;
    if (header.missing) boxes.push(missingBox(header.missing, ask));
    else if (total === 0) boxes.push(emptyBox(example, ask));
    else if (total > header.window) boxes.push(windowNotice(total, header.window, header.shown, ask));
    element.replaceChildren(...boxes);
  }
  return { element, draw };
}

function noticeBox(notice, ask) {
  if (!notice.sentence) return box("note", notice.heading, notice.text);
  const link = linkButton(notice.sentence, () => ask({ sentence: notice.sentence, first: 0 }));
  return box("note", notice.heading, `${notice.text} All known: `, link);
}

// No weights for this d_model and h: what there is instead.
function missingBox(missing, ask) {
  const links = missing.offers.flatMap((offer, i) => [
    i ? " or " : "", linkButton(`${i ? "to" : "Go to"} d_model ${offer.d_model}, h ${offer.h}`, () => ask(offer)),
  ]);
  return box("note", missing.heading, `${missing.text} `, ...links);
}

function emptyBox(example, ask) {
  const link = linkButton(example, () => ask({ sentence: example, first: 0 }));
  return box("empty", "Type a sentence", "Two to twenty-four words. Try ", link);
}

function windowNotice(total, size, [start, stop], ask) {
  const links = [];
  const offer = (text, first) => links.push(linkButton(text, () => ask({ first })), "  ");
  if (stop - start < total) {
    if (stop < total) {
      const next = Math.min(stop, total - size);
      offer(`Show tokens ${next + 1} to ${Math.min(total, next + size)}`, next);
    }
    if (start > 0) {
      const previous = Math.max(0, start - size);
      offer(`Show tokens ${previous + 1} to ${previous + size}`, previous);
    }
    offer(`Show all ${total} in small cells`, -1);
    const which = start === 0 ? `the first ${stop}` : `${start + 1} to ${stop}`;
    return box("note", `${total} tokens, the maps show ${which}`, "Cells smaller than 12 px can’t carry their labels. ", ...links);
  }
  offer(`Show the first ${size}`, 0);
  return box("note", `All ${total} tokens`, "Maps whose cells are smaller than 12 px carry no labels. ", ...links);
}
