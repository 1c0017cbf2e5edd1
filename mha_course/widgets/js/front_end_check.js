// The way from the browser to Python and back, timed.
//
// Parts: p.mha-front-end[data-state="waiting" | "answered" | "silent"] (role status), button[data-again].

const PATIENCE_MS = 8000;

function render({ model, el }) {
  const line = node("p", { class: "mha-front-end", role: "status" });
  const again = node("button", { class: "mha-button", type: "button", "data-again": true, onclick: send }, "Test again");
  const root = node("div", { class: "mha-widget mha-front-end-box", role: "group", "aria-label": "Widget test" });
  root.append(line, again);
  el.append(root);
  const stopTheme = watchTheme(root);
  let sent = null;
  let asked = null;
  let timer = null;

  const link = connect(model, root, [], (header) => {
    if (sent === null || header.stamp !== asked) return;
    clearTimeout(timer);
    const took = Math.max(1, Math.round(performance.now() - sent));
    sent = null;
    say("answered", `✓ Widgets work: from the browser to Python ${header.python} and back in ${took} ms.`);
  });

  function say(state, text) {
    line.dataset.state = state;
    setText(line, text);
  }

  function send() {
    sent = performance.now();
    say("waiting", "The browser draws this line. Waiting for Python …");
    clearTimeout(timer);
    timer = setTimeout(
      () => say("silent", "⚠ Python doesn't answer. Is a cell still computing? If not: Kernel › Restart Kernel."),
      PATIENCE_MS,
    );
    link.ask({});
    asked = model.get("stamp");
  }

  send();
  return () => {
    clearTimeout(timer);
    link.stop();
    stopTheme();
  };
}
