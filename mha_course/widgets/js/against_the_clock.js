// The AgainstTheClock: a clock that one may start, the functions of the lesson, what each took, the best runs.
//
// Traits: order, minutes, offered, lesson. The answer: now, run { minutes, since, counted, elapsed, complete, breaks } or null,
// stages [{ name, title, place, solved, at, took }], best [{ present, passed, of, times, seconds, minutes, breaks, when }], trouble.
// Parts: [data-fact=clock] (role=timer), [data-fact=sentence], button[data-control=start | stop | go_on],
// [data-control=minutes], .mha-clock-stage[data-stage], svg.mha-clock-line, .mha-clock-best li; the root carries data-state.

function render({ model, el }) {
  const root = node("div", { class: "mha-widget mha-clock", role: "group", "aria-label": "From scratch, with or without a clock" });
  el.append(root);
  keepKeys(root);
  const say = liveRegion(root);
  let found = null;
  let behind = 0; // seconds by which this machine's clock is ahead of Python's
  let before = null; // what was read out last: { state, passed, elapsed }

  const fact = node("div", { class: "mha-clock-fact", role: "timer", "data-fact": "clock" });
  const sentence = node("p", { class: "mha-sub", "data-fact": "sentence" });
  const order = (name) => () => answers.ask({ order: name });
  const start = plainButton({ label: "Start the clock", name: "start", onClick: order("start") });
  const stop = plainButton({ label: "Stop", name: "stop", onClick: order("stop") });
  const goOn = plainButton({ label: "Go on", name: "go_on", onClick: order("go_on") });
  const minutes = segmented({
    label: "minutes", name: "minutes", value: model.get("minutes"),
    options: model.get("offered").map((value) => ({ value, label: String(value) })),
    onChange: (value) => answers.ask({ minutes: value, order: "" }),
  });
  const line = clockLine();
  const stages = node("ol", { class: "mha-clock-stages" });
  const best = node("div", { class: "mha-section" });
  const trouble = node("p", { class: "mha-box mha-box-warn", role: "status" });
  root.append(
    node("h3", { class: "mha-heading" }, "From scratch"),
    node("div", { class: "mha-clock-face" }, fact, sentence),
    node("div", { class: "mha-row mha-clock-controls" }, node("div", { class: "mha-clock-buttons" }, goOn, stop, start), minutes.element),
    line.element,
    node("div", { class: "mha-section mha-drawing" }, stages),
    best,
    trouble,
    node("div", { class: "mha-computing" }, "computing"),
  );

  // Until the first answer nobody knows which of them are wanted.
  for (const part of [stop, goOn, trouble]) show(part, false);

  function elapsed() {
    const run = found.run;
    if (!run) return 0;
    return run.since === null ? run.counted : run.counted + Math.max(0, Date.now() / 1000 - behind - run.since);
  }

  function state() {
    if (!found.run) return "new";
    if (found.run.complete) return "complete";
    return found.run.since === null ? "stopped" : "running";
  }

  function paint(next) {
    // A clock on another machine may differ; a difference below two seconds is the way of the message.
    const apart = Date.now() / 1000 - next.now;
    if (found && Math.abs(apart) > 2) behind = apart;
    else if (found) behind = 0;
    found = next;
    root.dataset.state = state();
    const at = state();
    const holder = document.activeElement;
    show(start, true);
    setText(start, at === "new" ? "Start the clock" : "Start again");
    start.classList.toggle("is-main", at === "new");
    setText(minutes.element.querySelector(".mha-label"), at === "new" ? "minutes" : "minutes of a new run");
    show(stop, at === "running");
    show(goOn, at === "stopped");
    // The button that was pressed may be gone: its successor gets the keyboard.
    if (holder === stop && stop.hidden) (goOn.hidden ? start : goOn).focus();
    if ((holder === goOn && goOn.hidden) || (holder === start && at === "running" && before && before.state !== "running")) stop.focus();
    show(minutes.element, at !== "running");
    minutes.set(model.get("minutes"));
    stages.replaceChildren(...found.stages.map(stageRow));
    drawBest();
    show(trouble, Boolean(found.trouble));
    setText(trouble, found.trouble ? `⚠ ${found.trouble}` : "");
    tick();
  }

  function stageRow(stage, i) {
    const inRun = stage.at !== null;
    const done = inRun || (!found.run && stage.solved);
    const time = inRun
      ? node("span", { class: "mha-clock-time" }, node("b", {}, clockTime(stage.took)), ` · at ${clockTime(stage.at)}`)
      : node("span", { class: "mha-clock-time is-quiet" }, stage.solved ? (found.run ? "solved without the clock" : "solved") : "not yet");
    return node(
      "li",
      { class: "mha-clock-stage" + (done ? " is-done" : ""), "data-stage": stage.name },
      node("span", { class: "mha-clock-chip", "aria-hidden": "true" }, String(i + 1)),
      node("span", { class: "mha-clock-name" },
        stage.place ? lessonLink(model, stage.place) : node("span", { class: "mha-code" }, stage.name),
        node("span", { class: "mha-clock-title" }, ...markedText(stage.title))),
      time,
      node("span", { class: "mha-clock-tickmark" }, done ? "✓" : "", node("span", { class: "mha-sr" }, done ? "passed" : "")),
    );
  }

  function drawBest() {
    show(best, found.best.length > 0);
    const rows = found.best.map((run) => {
      const all = run.passed === run.of ? `all ${run.of}` : `${run.passed} of ${run.of}`;
      const within = run.in_time ? `within ${run.minutes} min` : `after the ${run.minutes} min`;
      const breaks = run.breaks ? `, ${run.breaks} break${run.breaks === 1 ? "" : "s"}` : "";
      return node("li", {}, node("b", {}, `${all} in ${clockTime(run.seconds)}`), ` · ${within}${breaks} · ${run.when}${run.present ? " · this run" : ""}`);
    });
    best.replaceChildren(node("div", { class: "mha-label" }, found.best.length > 1 ? "best runs" : "best run"), node("ol", { class: "mha-clock-best" }, ...rows));
  }

  // Once a second; words change once a minute, and the line where a pixel has passed.
  function tick() {
    if (!found) return;
    const seconds = elapsed();
    setText(fact, clockFact(found.run, model.get("minutes"), seconds));
    setText(sentence, clockSentence(found.run, found.stages.length, seconds));
    drawLine(seconds);
    announce(seconds);
  }

  function numbered(times) {
    const numbers = new Map(found.stages.map((stage, i) => [stage.name, i + 1]));
    return times.filter(([name]) => numbers.has(name)).map(([name, at]) => [numbers.get(name), at]);
  }

  let drawn = "";
  function drawLine(seconds) {
    const width = Math.max(260, widthOf(root, 838) - 40);
    const run = found.run;
    const passed = numbered(found.stages.filter((stage) => stage.at !== null).map((stage) => [stage.name, stage.at])).sort((a, b) => a[1] - b[1]);
    const other = found.best.find((one) => !one.present);
    const given = run ? run.minutes : model.get("minutes");
    const key = `${width}|${found.serial}|${given}|${Math.round((width * seconds) / Math.max(60 * given, seconds))}|${Math.floor(seconds / 60)}`;
    if (key === drawn) return;
    drawn = key;
    const marks = passed.map(([number, at]) => `function ${number} at ${clockTime(at)}`);
    line.draw({
      width, minutes: given, elapsed: seconds, passed, best: other ? numbered(other.times) : null,
      bestName: other === found.best[0] ? "best run" : "next best",
      words: `${roughTime(seconds)} of ${given} min have passed. ${marks.length ? `Passed: ${marks.join(", ")}.` : "No function is passed yet."}`,
    });
  }

  // Read out: a function that was passed, a new state, half of the time, five minutes left, the end.
  function announce(seconds) {
    const now = { state: state(), passed: found.stages.filter((stage) => stage.at !== null || (!found.run && stage.solved)).map((stage) => stage.name), elapsed: seconds };
    const was = before;
    before = now;
    if (!was) return;
    const fresh = found.stages.filter((stage) => now.passed.includes(stage.name) && !was.passed.includes(stage.name));
    const parts = fresh.map((stage) => `Passed: ${stage.name}${stage.took === null ? "" : `, in ${spokenTime(stage.took)}`}.`);
    if (fresh.length && was.state !== "new") parts.push(`${now.passed.length} of ${found.stages.length}.`);
    if (now.state !== was.state) {
      const told = { running: `The clock counts, ${found.run ? found.run.minutes : ""} minutes.`, stopped: `The clock is stopped at ${spokenTime(seconds)}.`, complete: `All are passed, in ${spokenTime(seconds)}.` };
      parts.push(told[now.state] || "");
    } else if (now.state === "running") {
      const total = 60 * found.run.minutes;
      const crossed = (at) => was.elapsed < at && seconds >= at;
      if (crossed(total)) parts.push("The time is over. You may go on.");
      else if (total > 600 && crossed(total - 300)) parts.push("Five minutes are left.");
      else if (crossed(total / 2)) parts.push(`Half of the time is left: ${spokenTime(total / 2)}.`);
    }
    const words = parts.filter(Boolean).join(" ");
    if (words) say(words);
  }

  const stopTheme = watchTheme(root);
  const answers = connect(model, root, ["minutes"], paint, tick);
  const size = new ResizeObserver(() => tick());
  size.observe(root);
  const clock = setInterval(tick, 1000);
  answers.draw();
  return () => {
    clearInterval(clock);
    size.disconnect();
    stopTheme();
    answers.stop();
  };
}
