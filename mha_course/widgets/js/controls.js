// Controls in ink: a slider with a dot at every stop, a segmented choice, a switch, a text field, a chip.
// Each returns { element, set(value), ... }; set() never calls back, only the reader's hand does.
// All work by keyboard, name themselves to a screen reader, and have targets of at least 24 px.

// A slider over a list of numbers. label is read out; code: set the label in code type.
// describe(value) is the text a screen reader gets ("8 heads"). setStops(stops, value) swaps the list.
// mark(kept, words): stops that are not in `kept` are struck through, and `words` is said of them; null: none.
function slider({ label, code = false, stops, value, onInput, describe = String, name = label }) {
  const shown = node("output", { class: "mha-slider-value" });
  const lit = node("div", { class: "mha-slider-lit" });
  const thumb = node("div", { class: "mha-slider-thumb" });
  const track = node("div", { class: "mha-slider-track" }, lit, thumb);
  const rail = node(
    "div",
    { class: "mha-slider-rail", role: "slider", tabindex: 0, "aria-label": label, "data-control": name },
    track,
  );
  const ticks = node("div", { class: "mha-slider-ticks", "aria-hidden": "true" });
  const element = node(
    "div",
    { class: "mha-slider" },
    node("span", { class: code ? "mha-label mha-code" : "mha-label" }, label),
    shown,
    node("div", { class: "mha-slider-body" }, rail, ticks),
  );
  let list = [];
  let index = 0;
  let marks = [];
  let kept = null;
  let lacking = "";

  function place() {
    const at = (i) => (list.length > 1 ? (100 * i) / (list.length - 1) : 0);
    // Where there is no room for every number, every second or third one, and none beside the chosen one.
    const room = track.clientWidth / Math.max(1, list.length - 1);
    const longest = 7 * Math.max(...list.map((stop) => String(stop).length)) + 3;
    const apart = Math.max(list.length > 12 ? 2 : 1, room ? Math.ceil(longest / room) : 1);
    thumb.style.left = lit.style.width = `${at(index)}%`;
    setText(shown, String(list[index]));
    marks.forEach(({ dot, number }, i) => {
      dot.style.left = number.style.left = `${at(i)}%`;
      dot.classList.toggle("mha-passed", i <= index);
      number.classList.toggle("mha-chosen", i === index);
      for (const part of [dot, number]) part.classList.toggle("mha-lacking", kept !== null && !kept.includes(list[i]));
      number.title = kept !== null && !kept.includes(list[i]) ? lacking : "";
      const clear = (list.length - 1 - i) % apart === 0 && Math.abs(i - index) >= apart;
      number.style.visibility = i === index || clear ? "" : "hidden";
    });
    rail.setAttribute("aria-valuenow", String(list[index]));
    const without = kept !== null && !kept.includes(list[index]) ? `, ${lacking}` : "";
    rail.setAttribute("aria-valuetext", describe(list[index]) + without);
  }

  function mark(values, words = "") {
    kept = values;
    lacking = words;
    place();
  }

  function setStops(newStops, newValue) {
    if (newStops.length !== list.length || newStops.some((stop, i) => stop !== list[i])) {
      list = [...newStops];
      for (const { dot, number } of marks) {
        dot.remove();
        number.remove();
      }
      marks = list.map((stop) => ({
        dot: node("span", { class: "mha-slider-dot" }),
        number: node("span", { class: "mha-slider-number" }, String(stop)),
      }));
      track.append(...marks.map((mark) => mark.dot));
      ticks.append(...marks.map((mark) => mark.number));
      rail.setAttribute("aria-valuemin", String(list[0]));
      rail.setAttribute("aria-valuemax", String(list[list.length - 1]));
    }
    set(newValue);
  }

  function set(newValue) {
    const found = list.indexOf(newValue);
    index = found >= 0 ? found : 0;
    place();
  }

  function move(to) {
    const next = Math.min(list.length - 1, Math.max(0, to));
    if (next === index) return;
    index = next;
    place();
    onInput(list[index]);
  }

  const moves = { ArrowLeft: -1, ArrowDown: -1, ArrowRight: 1, ArrowUp: 1, PageDown: -2, PageUp: 2 };
  rail.addEventListener("keydown", (event) => {
    if (event.altKey || event.ctrlKey || event.metaKey) return;
    if (event.key in moves) move(index + moves[event.key]);
    else if (event.key === "Home") move(0);
    else if (event.key === "End") move(list.length - 1);
    else return;
    event.preventDefault();
    event.stopPropagation(); // the notebook would take the arrow keys for its cells
  });
  const toPointer = (event) => {
    const bounds = track.getBoundingClientRect();
    move(Math.round(((event.clientX - bounds.left) / Math.max(1, bounds.width)) * (list.length - 1)));
  };
  const press = (event) => {
    if (event.button !== 0) return;
    rail.setPointerCapture(event.pointerId);
    rail.focus();
    event.preventDefault();
    toPointer(event);
  };
  rail.addEventListener("pointerdown", press);
  rail.addEventListener("pointermove", (event) => {
    if (rail.hasPointerCapture(event.pointerId)) toPointer(event);
  });
  ticks.addEventListener("click", toPointer); // a number is a target too
  setStops(stops, value);
  new ResizeObserver(place).observe(track);
  return { element, rail, set, setStops, mark, get value() { return list[index]; } };
}

// One of several: options [{ value, label, title }]. A radio group with roving focus.
function segmented({ label, options, value, onChange, name = label, hideLabel = false }) {
  const labelId = freshId("label");
  const group = node("div", { class: "mha-segments", role: "radiogroup", "aria-labelledby": labelId, "data-control": name });
  const element = node(
    "div",
    { class: "mha-control" },
    node("span", { class: hideLabel ? "mha-sr" : "mha-label", id: labelId }, label),
    group,
  );
  let buttons = [];
  let chosen = value;

  function setOptions(newOptions, newValue) {
    group.replaceChildren();
    buttons = newOptions.map((option) => {
      const button = node(
        "button",
        { class: "mha-segment", type: "button", role: "radio", "data-value": option.value, title: option.title },
        option.label,
      );
      button.addEventListener("click", () => choose(option.value));
      group.append(button);
      return { button, value: option.value };
    });
    set(newValue);
  }

  function set(newValue) {
    chosen = newValue;
    for (const { button, value: own } of buttons) {
      button.setAttribute("aria-checked", String(own === chosen));
      button.tabIndex = own === chosen ? 0 : -1;
    }
    if (buttons.length && !buttons.some((each) => each.value === chosen)) buttons[0].button.tabIndex = 0;
  }

  function choose(newValue) {
    if (newValue === chosen) return;
    set(newValue);
    onChange(newValue);
  }

  group.addEventListener("keydown", (event) => {
    const step = { ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1 }[event.key];
    if (!step || event.altKey || event.ctrlKey || event.metaKey) return;
    const at = buttons.findIndex((each) => each.button === document.activeElement);
    const next = buttons[(Math.max(0, at) + step + buttons.length) % buttons.length];
    next.button.focus();
    choose(next.value);
    event.preventDefault();
    event.stopPropagation();
  });
  setOptions(options, value);
  return { element, group, set, setOptions, get value() { return chosen; } };
}

// On or off. text stands beside the switch and says what "on" means.
function switchControl({ label, text, value, onChange, name = label }) {
  const button = node(
    "button",
    { class: "mha-switch", type: "button", role: "switch", "aria-label": `${label}: ${text}`, "data-control": name },
    node("span", { class: "mha-switch-thumb" }),
  );
  const element = node(
    "div",
    { class: "mha-control" },
    label ? node("span", { class: "mha-label" }, label) : null,
    button,
    node("span", { class: "mha-switch-text" }, text),
  );
  let on = value;
  const set = (newValue) => {
    on = Boolean(newValue);
    button.setAttribute("aria-checked", String(on));
  };
  const toggle = () => {
    set(!on);
    onChange(on);
  };
  button.addEventListener("click", toggle);
  element.lastChild.addEventListener("click", toggle);
  set(value);
  return { element, button, set, get value() { return on; } };
}

// A line of text. onInput(text) comes when typing rests for `rest` ms, on Enter and on leaving the field.
function textField({ label, value, onInput, placeholder = "", maxLength = null, rest = 150, name = label }) {
  const input = node("input", {
    class: "mha-text", type: "text", id: freshId("text"), placeholder, maxlength: maxLength,
    autocomplete: "off", spellcheck: "false", dir: "auto", "data-control": name,
  });
  const element = node(
    "div",
    { class: "mha-control mha-text-control" },
    node("label", { class: "mha-label", for: input.id }, label),
    input,
  );
  let sent = value;
  let timer = null;
  const send = () => {
    clearTimeout(timer);
    timer = null;
    if (input.value === sent) return;
    sent = input.value;
    onInput(sent);
  };
  const set = (text) => {
    sent = text;
    // Never under the reader's hands: what is being typed stays.
    if (timer === null && input.value !== text) input.value = text;
  };
  input.addEventListener("input", (event) => {
    if (event.isComposing) return; // a Chinese or Japanese word half-way through its input method
    clearTimeout(timer);
    timer = setTimeout(send, rest);
  });
  input.addEventListener("compositionend", send);
  input.addEventListener("blur", send);
  input.addEventListener("keydown", (event) => {
    event.stopPropagation(); // letters are text here, not the notebook's shortcuts
    if (event.key === "Enter") send();
  });
  input.value = value;
  return { element, input, set, get value() { return input.value; } };
}

// The chip of a head, counted from 0 here and from 1 on the chip.
function headChip(i, theme) {
  const chip = node("span", { class: "mha-chip", "data-head": i + 1, "aria-hidden": "true" }, String(i + 1));
  paintChip(chip, i, theme);
  return chip;
}

function paintChip(chip, i, theme) {
  const fill = headColour(i, theme);
  chip.style.background = fill;
  chip.style.color = textOn(fill);
}

function plainButton({ label, onClick, name = label, title = null }) {
  return node("button", { class: "mha-button", type: "button", title, "data-control": name, onclick: onClick }, label);
}
