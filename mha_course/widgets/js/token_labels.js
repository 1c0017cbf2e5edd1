// Tokens as labels: cut after 12 characters, blanks made visible, Chinese stacked, emoji upright,
// right-to-left words isolated. Every token is set as text.

const LABEL_FONT = 11;
const CJK = /^[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Hangul}\u3000-\u303f\uff00-\uffef]+$/u;
const EMOJI = /\p{Extended_Pictographic}|\p{Regional_Indicator}/u;
const WORDLIKE = /\p{L}|\p{N}/u;
const RTL_FIRST = /^[^\p{L}]*[\p{Script=Hebrew}\p{Script=Arabic}\p{Script=Syriac}\p{Script=Thaana}\p{Script=Nko}]/u;

function characters(text) {
  if (typeof Intl.Segmenter === "function") {
    return Array.from(new Intl.Segmenter().segment(text), (piece) => piece.segment);
  }
  return Array.from(text);
}

// What holds no sign at all is named by its code points: a zero-width joiner alone would be lost.
const UNSEEN = /^[\p{Cf}\p{Cc}\p{Cn}\p{Co}\u3164\ufe0f]+$/u;

function visible(token) {
  if (token === "") return "∅";
  if (UNSEEN.test(token) && !/\s/.test(token)) return Array.from(token, (sign) => `U+${sign.codePointAt(0).toString(16).toUpperCase().padStart(4, "0")}`).join(" ");
  return token.replace(/\n/g, "⏎").replace(/^\s+$|\s/g, (blank) => "␣".repeat(blank.length));
}

// A lone full stop is a speck as a label: such marks stand in quotes. Tooltips keep the token as it is.
const LONE_MARKS = /^[^\p{L}\p{N}\p{S}\p{Z}\p{C}"“”„«»%&@#*/\\\u3000-\u303f\uff00-\uffef]{1,3}$/u;

function shortToken(token) {
  if (/^\p{P}/u.test(token) && LONE_MARKS.test(token)) return `“${token}”`;
  const shown = visible(token);
  if (shown.length <= 12) return shown;
  const list = characters(shown);
  return list.length > 12 ? `${list.slice(0, 11).join("")}…` : shown;
}

// "stacked", "upright" or "turned": how the token stands above a column.
function labelPose(token) {
  if (CJK.test(token)) return "stacked";
  if (EMOJI.test(token) && !WORDLIKE.test(token)) return "upright";
  return "turned";
}

function readsRightToLeft(tokens) {
  const firstWord = tokens.find((token) => WORDLIKE.test(token));
  return firstWord !== undefined && RTL_FIRST.test(firstWord);
}

const widthCache = new Map();
let ruler = null;
function textWidth(text, size, family, weight = 400) {
  const key = `${weight} ${size}px ${family}`;
  const cached = widthCache.get(key + text);
  if (cached !== undefined) return cached;
  ruler = ruler || document.createElement("canvas").getContext("2d");
  ruler.font = key;
  const width = ruler.measureText(text).width;
  if (widthCache.size > 5000) widthCache.clear();
  widthCache.set(key + text, width);
  return width;
}

// Room that labels need around a map of cells of this size, in px:
// left of it (queries), above it (keys), and to the right of it where turned labels lean out.
function labelRoom(tokens, cell, family) {
  const angle = cell < 20 ? 60 : 50;
  const radians = (angle * Math.PI) / 180;
  let left = 0;
  let top = 0;
  let right = 0;
  tokens.forEach((token, i) => {
    const text = shortToken(token);
    const width = textWidth(text, LABEL_FONT, family, 700);
    const pose = labelPose(token);
    left = Math.max(left, width);
    if (pose === "turned") {
      top = Math.max(top, width * Math.sin(radians) + 12 * Math.cos(radians));
      const reach = (i + 0.5) * cell + width * Math.cos(radians) + 6;
      right = Math.max(right, reach - tokens.length * cell);
    } else {
      top = Math.max(top, pose === "stacked" ? 13 * characters(text).length : 15);
    }
  });
  return { left: Math.ceil(left) + 7, top: Math.ceil(top) + 5, right: Math.ceil(right), angle };
}

// The class of a label; a token that the model doesn't know is underlined with dots.
const NONE_UNKNOWN = new Set();
const labelClass = (kind, i, unknown) => (unknown.has(i) ? `${kind} mha-unknown` : kind);

// Labels above the columns. The container spans the map's width; labels stand on its lower edge.
function keyLabels(container, tokens, cell, angle, unknown = NONE_UNKNOWN) {
  container.replaceChildren(
    ...tokens.map((token, i) => {
      const pose = labelPose(token);
      const text = pose === "stacked" ? characters(shortToken(token)).join("\n") : shortToken(token);
      const label = node("span", { class: labelClass(`mha-key mha-pose-${pose}`, i, unknown), dir: "auto" }, text);
      label.style.left = `${(i + 0.5) * cell}px`;
      if (pose === "turned") label.style.transform = `rotate(${-angle}deg)`;
      return label;
    }),
  );
}

function queryLabels(container, tokens, cell, unknown = NONE_UNKNOWN) {
  container.replaceChildren(
    ...tokens.map((token, i) => {
      const label = node("span", { class: labelClass("mha-query", i, unknown), dir: "auto" }, shortToken(token));
      label.style.top = `${(i + 0.5) * cell}px`;
      return label;
    }),
  );
}

// Make one label bold (or none, with −1).
function lightLabel(container, index) {
  const old = container.querySelector(".mha-lit");
  const wanted = index >= 0 ? container.children[index] : null;
  if (old === wanted) return;
  if (old) old.classList.remove("mha-lit");
  if (wanted) wanted.classList.add("mha-lit");
}
