// Asking Python and drawing its answers. A setting moves at once in the view; the answer follows.

// onAnswer(header, view) is called for every answer worth drawing; view is a DataView on the payload (see
// float32). It returns false if it could not draw yet (not on the page), and calls markDrawn itself later.
// Call draw() once at the start, for the answer that is there already. onSettings() is called when Python moved a setting.
// Returns { ask, stop }: ask({ h: 4, seed: 1 }) sends the changed settings and a new stamp in one message.
// While a question is under way JupyterLab holds the next one back and keeps only the latest of it.
// After SILENT_AFTER ms without an answer (the kernel was restarted, say) a note stands below the picture.
const SILENT_AFTER = 6000;

function connect(model, root, settings, onAnswer, onSettings = () => {}) {
  let drawn = -1;
  let waiting = null;
  let silent = null;
  const note = node(
    "p",
    { class: "mha-box mha-box-warn mha-silent", role: "status" },
    "Python does not answer, so the picture may not fit the settings. After a restart of the kernel, " +
      "run the cells from the top again.",
  );
  const patient = () => {
    clearTimeout(waiting);
    clearTimeout(silent);
  };
  const draw = () => {
    const header = model.get("answer");
    if (!header || header.serial === undefined) return;
    if (header.stamp < drawn) return; // overtaken by a newer one
    drawn = header.stamp;
    const onScreen = onAnswer(header, model.get("payload")) !== false;
    if (header.stamp >= model.get("stamp")) {
      patient();
      note.remove();
      root.classList.remove("mha-waiting");
    }
    if (onScreen) markDrawn(root, header);
  };
  const moved = () => onSettings();
  model.on("change:answer", draw);
  for (const name of settings) model.on(`change:${name}`, moved);
  return {
    ask(changes) {
      for (const [name, value] of Object.entries(changes)) model.set(name, value);
      model.set("stamp", model.get("stamp") + 1);
      model.save_changes();
      patient();
      silent = setTimeout(() => root.append(note), SILENT_AFTER);
      // Slower than 300 ms: the old picture stays, paler, with a word.
      waiting = setTimeout(() => root.classList.add("mha-waiting"), 300);
    },
    draw,
    stop() {
      patient();
      model.off("change:answer", draw);
      for (const name of settings) model.off(`change:${name}`, moved);
    },
  };
}

// For benchmarks and tests: the stamp of the picture on screen, and an event when it changed.
function markDrawn(root, header) {
  root.dataset.drawnStamp = String(header.stamp);
  root.dataset.drawnSerial = String(header.serial);
  root.dispatchEvent(new CustomEvent("mha-drawn", { bubbles: true, detail: { stamp: header.stamp } }));
}

// A run of float32 numbers in the payload, offset in bytes.
function float32(view, offset, count) {
  const start = view.byteOffset + offset;
  if (start % 4 === 0) return new Float32Array(view.buffer, start, count);
  return new Float32Array(view.buffer.slice(start, start + 4 * count));
}

function uint8(view, offset, count) {
  return new Uint8Array(view.buffer, view.byteOffset + offset, count);
}
