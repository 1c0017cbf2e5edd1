// The OutputMixer: switches for the heads of one token, and what W_O makes of those that are on.
//
// Traits: answer (from Python, see mixer_payload.py), on (list of booleans, one a group), token (index).
// Switching and sums are done here, so a switch answers at once; `on` and `token` go back to Python.
// Parts: button[role=switch][data-head="1"]..., button[data-all="on" | "one" | "off"], select[data-token],
// svg.mha-mix-matrices, svg.mha-mix-chart (arrow keys move over the features), .mha-mix-read, .mha-mix-statement.

function mixerView(model, picked) {
  const sentence = model.get("answer");
  const on = model.get("on");
  const token = Math.min(model.get("token"), sentence.tokens.length - 1);
  const groups = sentence.groups.map((group, i) => {
    const share = sentence.shares[token][i];
    const size = sentence.sizes[token][i];
    const values = group.band ? sentence.concat[token][i] : null;
    return { ...group, key: i + 1, on: group.fixed || on[i] !== false, share, size, fullSize: size, values };
  });
  const sum = (chosen) => {
    const total = new Array(sentence.columns).fill(0);
    for (const group of chosen) for (let c = 0; c < total.length; c++) total[c] += group.share[c];
    return total;
  };
  return {
    groups,
    columns: sentence.columns,
    featureNames: sentence.featureNames,
    featureName: (c) => (sentence.featureNames ? sentence.featureNames[c] : `output feature ${c}`),
    scale: sentence.scales[token],
    scaleW: sentence.scaleW,
    text: sentence.text,
    now: sum(groups.filter((group) => group.on)),
    whole: sum(groups),
    picked,
  };
}

function mixerMoved(sentence, token, on) {
  // Lengths are over all features, drawn or not: |a|² of a sum comes from the products of the groups' shares.
  const off = sentence.groups.map((group, i) => (group.fixed || on[i] !== false ? 0 : 1));
  const products = sentence.products[token];
  let square = 0;
  off.forEach((a, i) => off.forEach((b, j) => { square += a * b * products[i][j]; }));
  return sentence.lengths[token] > 0 ? Math.sqrt(Math.max(0, square)) / sentence.lengths[token] : 0;
}

function listWords(words) {
  return words.length < 2 ? words.join("") : `${words.slice(0, -1).join(", ")} and ${words[words.length - 1]}`;
}

function mixerSwitched(sentence, on) {
  const off = sentence.groups.filter((group, i) => !group.fixed && on[i] === false);
  const heads = sentence.groups.filter((group) => !group.fixed).length;
  if (!off.length) return { none: true };
  if (off.length === heads) return { lead: "All heads off", all: true };
  const names = off.map((group) => group.title.replace(/^heads? /, ""));
  const many = off.length > 1 || off[0].title.startsWith("heads ");
  return { lead: `${many ? "Heads" : "Head"} ${listWords(names)} off` };
}

function render({ model, el }) {
  const root = node("div", { class: "mha-widget mha-mix", role: "group", "aria-label": "W_O mixes the heads" });
  el.append(root);
  const parts = mixerFrame(root);
  const say = liveRegion(root);
  const tips = cellTips(root, say);
  tips.roam(parts.matrices);
  let theme = currentTheme();
  let picked = null;
  let only = -1;
  const setOn = (on) => {
    model.set("on", on);
    model.save_changes();
    draw();
  };
  parts.all.forEach((button) => {
    button.addEventListener("click", () => {
      const groups = model.get("answer").groups;
      if (button.dataset.all === "one") {
        const free = groups.map((group, i) => i).filter((i) => !groups[i].fixed);
        only = (only + 1) % free.length;
        setOn(groups.map((group, i) => Boolean(group.fixed) || i === free[only]));
      } else {
        only = -1;
        setOn(groups.map((group) => Boolean(group.fixed) || button.dataset.all === "on"));
      }
    });
  });
  parts.token.addEventListener("change", () => {
    model.set("token", Number(parts.token.value));
    model.save_changes();
    draw();
  });
  parts.chart.addEventListener("keydown", (event) => {
    const columns = model.get("answer").columns;
    const moves = { ArrowRight: 1, ArrowLeft: -1 };
    let next = null;
    if (event.key in moves) next = picked === null ? 0 : (picked + moves[event.key] + columns) % columns;
    else if (event.key === "Home") next = 0;
    else if (event.key === "End") next = columns - 1;
    if (next === null) return;
    event.preventDefault();
    event.stopPropagation();
    pick(next);
  });
  parts.chart.addEventListener("pointermove", (event) => {
    const column = event.target.closest("[data-feature]");
    if (column && Number(column.dataset.feature) !== picked) pick(Number(column.dataset.feature));
  });

  function pick(feature) {
    picked = feature;
    const view = mixerView(model, picked);
    drawChart(view);
    say(mixerSentence(view, picked));
  }

  function drawSwitches() {
    const sentence = model.get("answer");
    const on = model.get("on");
    const free = sentence.groups.map((group, i) => i).filter((i) => !sentence.groups[i].fixed);
    if (parts.switches.children.length !== free.length) {
      parts.switches.replaceChildren(...free.map((i) => mixerSwitch(sentence.groups[i], i, () => {
        const now = [...model.get("on")];
        now[i] = now[i] === false;
        setOn(now);
      })));
    }
    free.forEach((i, place) => {
      const button = parts.switches.children[place];
      const isOn = on[i] !== false;
      button.setAttribute("aria-checked", String(isOn));
      button.querySelector(".mha-mix-switch-word").textContent = isOn ? "on" : "off";
    });
  }

  function drawHead() {
    const sentence = model.get("answer");
    const token = model.get("token");
    if (parts.token.dataset.stamp !== sentence.stamp) {
      parts.token.replaceChildren(...sentence.tokens.map((word, i) => {
        const option = document.createElement("option");
        option.value = String(i);
        option.textContent = `${i} · ${word}`;
        return option;
      }));
      parts.token.dataset.stamp = sentence.stamp;
    }
    parts.token.value = String(token);
    parts.facts.textContent = sentence.facts;
    parts.note.textContent = sentence.note;
    parts.note.hidden = !sentence.note;
  }

  function drawStatement() {
    const sentence = model.get("answer");
    const on = model.get("on");
    const gap = document.createElement("strong");
    gap.textContent = sentence.gap;
    const code = document.createElement("code");
    code.textContent = "concat · W_O";
    parts.statement.replaceChildren(code, ` and ${sentence.sumWords} differ by at most `, gap,
      ` (all heads on, ${sentence.dtype}). `);
    const said = mixerSwitched(sentence, on);
    if (said.none) {
      parts.statement.append("All heads are on: this is the layer’s own output.");
      return;
    }
    const moved = document.createElement("strong");
    moved.textContent = mixerMoved(sentence, model.get("token"), on).toFixed(2);
    parts.statement.append(`${said.lead} ${said.lead.startsWith("Head ") ? "moves" : "move"} the output by `, moved, " of its length.");
    if (said.all) parts.statement.append(sentence.hasBias ? " Only the bias is left." : " Nothing is left of it.");
  }

  function size(svg, height, width) {
    svg.setAttribute("width", width);
    svg.setAttribute("height", height);
    svg.setAttribute("viewBox", `0 0 ${width} ${height}`);
  }

  const roomWidth = () => Math.max(280, widthOf(parts.body, 798));

  function drawChart(view) {
    const width = roomWidth();
    size(parts.chart, drawMixerChart(parts.chart, width, view), width);
    setText(parts.read, view.picked === null || view.picked >= view.columns
      ? "Point at a feature, or use the arrow keys in the chart, to read its numbers."
      : mixerSentence(view, view.picked));
  }

  function drawPictures() {
    const view = mixerView(model, picked);
    const paint = { diverging: (value) => signedColour(value, 1, theme), tip: tips.tip };
    tips.clear();
    const width = roomWidth();
    size(parts.matrices, drawMixerMatrices(parts.matrices, width, view, paint), width);
    const sizes = view.groups.map((group) => `${group.title} ${group.on ? numberText(group.size, 2) : "off"}`);
    parts.matrices.setAttribute("aria-label",
      `concat of token ${model.get("answer").tokens[model.get("token")]} times W_O. Length of each head’s share: ${sizes.join(", ")}.`);
    drawChart(view);
  }

  function draw() {
    drawSwitches();
    drawHead();
    drawPictures();
    drawStatement();
  }

  let drawnWidth = 0;
  const watcher = new ResizeObserver(() => {
    if (roomWidth() !== drawnWidth) {
      drawnWidth = roomWidth();
      drawPictures();
    }
  });
  const link = connect(model, root, [], draw);
  const stopTheme = watchTheme(root, (now) => {
    theme = now;
    headVariables(root, theme);
    draw();
  });
  link.draw();
  watcher.observe(parts.body);
  model.on("change:on", draw);
  model.on("change:token", draw);
  return () => {
    watcher.disconnect();
    stopTheme();
    link.stop();
    model.off("change:on", draw);
    model.off("change:token", draw);
  };
}
