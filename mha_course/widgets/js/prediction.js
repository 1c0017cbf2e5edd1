// The form of a prediction: a question, radio buttons or a text box, one button, one line that says what is kept.
//
// Parts: form.mha-predict; input[type=radio][data-choice="0"]... or textarea[data-answer]; button[data-keep];
// .mha-predict-status (aria-live). Traits: question, choices, said (what was sent), kept (what is on disk), trouble.
// All text is set as text content; the answer goes to Python as a string and comes back as one.

const LONGEST_ANSWER = 2000;

function predictionField(model, name, changed) {
  const choices = model.get("choices");
  const kept = model.get("kept");
  if (!choices.length) {
    const area = document.createElement("textarea");
    area.className = "mha-predict-text";
    area.dataset.answer = "true";
    area.rows = 2;
    area.maxLength = LONGEST_ANSWER;
    area.dir = "auto";
    area.value = kept;
    area.setAttribute("aria-label", "your prediction");
    area.placeholder = "What do you expect?";
    area.addEventListener("input", changed);
    // JupyterLab runs cells on Shift+Enter and moves between them with arrows; here keys belong to the text.
    area.addEventListener("keydown", (event) => event.stopPropagation());
    return { element: area, read: () => area.value.trim(), show: (text) => { area.value = text; } };
  }
  const group = document.createElement("div");
  group.className = "mha-predict-choices";
  group.setAttribute("role", "radiogroup");
  group.setAttribute("aria-label", model.get("question"));
  const inputs = choices.map((choice, i) => {
    const label = document.createElement("label");
    label.className = "mha-predict-choice";
    const input = document.createElement("input");
    input.type = "radio";
    input.name = name;
    input.dataset.choice = String(i);
    input.checked = choice === kept;
    input.addEventListener("change", changed);
    input.addEventListener("keydown", (event) => event.stopPropagation());
    const text = document.createElement("span");
    text.dir = "auto";
    text.textContent = choice;
    label.append(input, text);
    group.append(label);
    return input;
  });
  const read = () => choices[inputs.findIndex((input) => input.checked)] || "";
  const show = (text) => inputs.forEach((input, i) => { input.checked = choices[i] === text; });
  return { element: group, read, show };
}

function render({ model, el }) {
  const root = node("div", { class: "mha-widget mha-predict-box" });
  el.append(root);
  const stopTheme = watchTheme(root);
  const form = document.createElement("form");
  form.className = "mha-predict";
  form.noValidate = true;
  const lead = document.createElement("p");
  lead.className = "mha-predict-question";
  const word = document.createElement("strong");
  word.textContent = "Predict. ";
  const question = document.createElement("span");
  question.dir = "auto";
  question.textContent = model.get("question");
  lead.append(word, question);
  // Two views of one widget must not share a radio group.
  const name = freshId("predict");
  const field = predictionField(model, name, update);
  const keep = document.createElement("button");
  keep.type = "submit";
  keep.className = "mha-button";
  keep.dataset.keep = "true";
  const status = document.createElement("span");
  status.className = "mha-predict-status";
  status.setAttribute("role", "status");
  const foot = document.createElement("div");
  foot.className = "mha-predict-foot";
  foot.append(keep, status);
  form.append(lead, field.element, foot);
  root.append(form);

  function update() {
    const kept = model.get("kept");
    const now = field.read();
    const trouble = model.get("trouble");
    keep.textContent = kept ? "Change my prediction" : "Keep my prediction";
    keep.disabled = !now || now === kept;
    status.classList.toggle("is-trouble", Boolean(trouble && now === kept));
    if (trouble && now === kept) status.textContent = "⚠ " + trouble;
    else if (kept && now === kept) status.textContent = "✓ Kept. Now run the next cell.";
    else if (kept) status.textContent = `Kept before: ${kept.length > 80 ? kept.slice(0, 79) + "…" : kept}`;
    else status.textContent = "";
  }

  form.addEventListener("submit", (event) => {
    event.preventDefault();
    if (keep.disabled) return;
    model.set("said", field.read());
    model.save_changes();
    status.textContent = "Keeping …";
    keep.disabled = true;
  });
  const onKept = () => {
    field.show(model.get("kept"));
    update();
  };
  model.on("change:kept", onKept);
  model.on("change:trouble", update);
  update();
  return () => {
    stopTheme();
    model.off("change:kept", onKept);
    model.off("change:trouble", update);
  };
}
