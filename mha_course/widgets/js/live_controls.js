// The button that starts and stops work in the background, how far it is, and a word when nothing is heard of it.
//
// runControls({ root, name, start, steps, onOrder }) -> { element, paint(found, words), heard(), stop() }
//   name: of the work, for a screen reader and in "Nothing heard from …"; start: the button's first label.
//   onOrder("start" | "stop"); found: { state, step, drawn, sentences }; heard(): an answer came; stop(): the view goes.
// Parts: button[data-control="run"], [role=progressbar], [data-fact="words"], .mha-live-quiet; the root carries data-state.

const LIVE_STATES = {
  new: "start", starting: "stop", running: "stop", stopping: null, stopped: "start", finished: null, failed: "start",
};
const LIVE_LABELS = { starting: "Stop", running: "Stop", stopping: "Stopping", stopped: "Go on", finished: "Finished", failed: "Start again" };

// Work under way reports every second or so. After this long without a word its kernel may be gone.
const QUIET_AFTER = 20000;

function runControls({ root, name, start, steps, onOrder }) {
  let found = { state: "new", step: 0, drawn: 0 };
  const button = node("button", { class: "mha-button mha-live-button", type: "button", "data-control": "run", onclick: press }, start);
  const fill = node("div", { class: "mha-live-fill" });
  const bar = node("div", {
    class: "mha-live-bar", role: "progressbar", "aria-label": name, "aria-valuemin": 0, "aria-valuemax": steps, "aria-valuenow": 0,
  }, fill);
  const words = node("div", { class: "mha-live-words", "data-fact": "words" });
  const element = node("div", { class: "mha-live-run" }, button, node("div", { class: "mha-live-progress" }, bar, words));

  function press() {
    const order = LIVE_STATES[found.state];
    if (!order) return;
    if (order === "stop") showState("stopping");
    onOrder(order);
  }

  function showState(state) {
    found = { ...found, state };
    const order = LIVE_STATES[state];
    root.dataset.state = state;
    setText(button, LIVE_LABELS[state] || start);
    button.disabled = order === null;
    button.classList.toggle("is-main", order === "start");
    words.classList.toggle("is-trouble", state === "failed");
  }

  function paint(next, text) {
    found = next;
    showState(next.state);
    const { state, step, drawn, sentences } = next;
    fill.style.width = `${step > 0 || state === "new" ? (100 * step) / steps : 0}%`;
    bar.setAttribute("aria-valuenow", String(step));
    bar.setAttribute("aria-valuetext", step || !drawn ? `step ${step} of ${steps}` : `${drawn} of ${sentences} sentences drawn`);
    setText(words, text);
  }

  // A restarted kernel takes the work with it, and nothing comes that would say so.
  const quiet = node("p", { class: "mha-box mha-box-warn mha-live-quiet", role: "status" });
  let last = performance.now();
  const listening = setInterval(() => {
    const seconds = Math.round((performance.now() - last) / 1000);
    const atWork = ["starting", "running", "stopping"].includes(found.state);
    if (!atWork || 1000 * seconds < QUIET_AFTER) return void quiet.remove();
    setText(quiet, `Nothing heard from the ${name.toLowerCase()} for ${seconds} s. If the kernel was restarted, run the cells from the top again.`);
    if (!quiet.isConnected) root.append(quiet);
  }, 5000);

  return {
    element,
    paint,
    heard() {
      last = performance.now();
      quiet.remove();
    },
    stop: () => clearInterval(listening),
  };
}

// Where the work stands, in words; what: what is done to start with, as "Start trains a new model".
function runWords({ state, step, seconds, drawn, sentences, trouble }, steps, what, more) {
  if (state === "new") return `Nothing runs yet. ${what}`;
  if (state === "failed") return `It ended with an error: ${trouble}`;
  if (step === 0 && state !== "stopped") {
    return drawn ? `drawing sentences: ${withCommas(drawn)} of ${withCommas(sentences)}` : "starting";
  }
  const words = `step ${withCommas(step)} of ${withCommas(steps)}, ${Math.round(seconds)} s${more}`;
  if (state === "stopped") return `Stopped at ${words}. Go on, or run the cell again, and it continues from there.`;
  return state === "finished" ? `Finished: ${words}.` : words;
}
