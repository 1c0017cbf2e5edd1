// Which sentence the chosen head is seen on: its best, its worst, one of the list, or one's own; shuffled or not.
//
// headMapPicker({ model, chart, ask }) -> { element, follow(), settle(header), about(i) }

function headMapPicker({ model, chart, ask }) {
  const get = (name) => model.get(name);
  const options = [
    { value: "best", label: "its best", title: "the example on which the chosen head does best at what it is best at" },
    { value: "worst", label: "its worst", title: "the example on which the chosen head does worst" },
    { value: "stay", label: "this one", title: "keep this example when another head is chosen" },
  ];
  if (chart.can_read) options.push({ value: "own", label: "own", title: "the sentence in the field" });
  const mode = segmented({ label: "Sentence", options, value: get("mode"), name: "mode", onChange: (value) => ask({ mode: value, shuffle: 0 }) });
  const step = (by) => ask({ mode: "stay", step: get("step") + by, shuffle: 0 });
  const before = plainButton({ label: "‹", name: "previous-example", title: "the next better example", onClick: () => step(-1) });
  const after = plainButton({ label: "›", name: "next-example", title: "the next worse example", onClick: () => step(1) });
  before.setAttribute("aria-label", "the next better example");
  after.setAttribute("aria-label", "the next worse example");
  const special = switchControl({ label: "", text: "special tokens", value: get("special"), name: "special", onChange: (value) => ask({ special: value }) });
  const rank = node("p", { class: "mha-sub", "data-fact": "rank" });
  const field = textField({
    label: "Your own", value: get("sentence"), name: "sentence", placeholder: chart.placeholder, maxLength: 2000,
    onInput: (text) => ask({ sentence: text, mode: "own", shuffle: 0 }),
  });
  const shuffle = plainButton({ label: "shuffle the words", name: "shuffle", title: "the same words in another order: which heads follow the position, which the word?", onClick: () => ask({ shuffle: get("shuffle") + 1, mode: get("mode") === "own" ? "own" : "stay" }) });
  const unshuffle = plainButton({ label: "put back", name: "unshuffle", onClick: () => ask({ shuffle: 0 }) });
  const shuffled = node("p", { class: "mha-sub", "data-fact": "shuffle" });
  const closed = node("p", { class: "mha-note", "data-fact": "closed" }, chart.closed);
  const notices = node("div", {});
  const own = node("div", { class: "mha-row mha-own-row" }, field.element, shuffle, unshuffle);
  show(own, chart.can_read);
  show(closed, !chart.can_read && Boolean(chart.closed));
  show(special.element, chart.has_special);
  const element = node(
    "div", { class: "mha-picker" },
    node("div", { class: "mha-row" }, mode.element, node("span", { class: "mha-control" }, before, after), special.element),
    own, rank, shuffled, closed, notices,
  );
  let header = null;

  function follow() {
    mode.set(get("mode"));
    special.set(get("special"));
    field.set(get("sentence"));
    show(unshuffle, get("shuffle") > 0);
  }

  function about(i) {
    if (!header) return;
    const told = header.shuffle;
    show(shuffled, Boolean(told));
    if (!told) return;
    const [asked, places, words] = [told.asked[i], told.place[i], told.word[i]];
    const kind = 2 * places >= asked ? "It follows the position." : 2 * words >= asked ? "It follows the word." : "Here it follows neither.";
    setText(shuffled, asked === 0
      ? "Words shuffled. No word of this sentence can tell whether the head follows the position or the word: try another order."
      : `Words shuffled. ${asked} ${asked === 1 ? "word" : "words"} can tell position from word: ${places} ${places === 1 ? "looks" : "look"} as far away as before, ` +
        `${words} at the same word as before. ${asked < 4 ? "That is too few to say more." : kind}`);
  }

  follow();
  return {
    element, follow, about,
    settle(newHeader) {
      header = newHeader;
      setText(rank, header.rank);
      show(rank, Boolean(header.rank));
      before.disabled = !header.can_step[0];
      after.disabled = !header.can_step[1];
      notices.replaceChildren(...header.notices.map((each) => box(each.kind, each.heading, each.text, ...(each.sentence ? [" ", linkButton(each.sentence, () => { field.set(each.sentence); ask({ sentence: each.sentence, mode: "own", shuffle: 0 }); })] : []))));
      shuffle.disabled = header.tokens.length < 3;
      follow();
    },
  };
}
