// Finding entries by what is typed: English with slips, symbols, simplified or traditional Chinese.
// An entry carries its names folded already, by fold() in glossary/entry.py, which this repeats for the query.

function foldName(text) {
  return text.normalize("NFKD").replace(/\p{M}/gu, "").toLowerCase().replace(/[^\p{L}\p{N}√]+/gu, " ").trim();
}

// The entries that fit, best first. Lower is better: the name itself, its beginning, a word's beginning,
// a part, a slip of the fingers, and last a word of the sentence.
function searchGlossary(entries, query) {
  const asked = foldName(query);
  if (!asked) return [];
  const words = asked.split(" ");
  return entries
    .map((entry) => ({ entry, rank: Math.min(...entry.folded.map((name) => nameRank(name, words)), sentenceRank(entry, words)) }))
    .filter((found) => found.rank < Infinity)
    .sort((a, b) => a.rank - b.rank || a.entry.term.localeCompare(b.entry.term, "en"))
    .map((found) => found.entry);
}

// Among equals the shorter name, of which more has been typed.
function nameRank(name, words) {
  const whole = name.replaceAll(" ", "");
  return nameKind(name, whole, words) + whole.length / 1000;
}

function nameKind(name, whole, words) {
  const typed = words.join("");
  if (whole === typed) return 0;
  if (whole.startsWith(typed)) return 1;
  const parts = name.split(" ");
  if (words.every((word) => parts.some((part) => part.startsWith(word)))) return 2;
  const chinese = /\p{Script=Han}/u.test(typed);
  if (whole.includes(typed) && (chinese || typed.length > 2)) return 3;
  if (chinese) return Infinity;
  const off = Math.min(slips(typed, whole), slipsInWords(words, parts));
  return off <= allowedSlips(typed) ? 4 + off : Infinity;
}

// Each word typed is a slip or two away from the beginning of some word of the name.
function slipsInWords(words, parts) {
  let sum = 0;
  for (const word of words) {
    const off = Math.min(...parts.map((part) => Math.min(slips(word, part), slips(word, part.slice(0, word.length)))));
    if (off > allowedSlips(word)) return Infinity;
    sum += off;
  }
  return sum;
}

function allowedSlips(typed) {
  return typed.length < 4 ? 0 : typed.length < 8 ? 1 : 2;
}

function sentenceRank(entry, words) {
  if (words.join("").length < 4) return Infinity;
  const said = foldName(entry.sentence).split(" ");
  return words.every((word) => said.some((one) => one.startsWith(word))) ? 8 : Infinity;
}

// How many letters are missing, too many, wrong, or exchanged with their neighbour (Damerau 1964).
function slips(a, b) {
  if (Math.abs(a.length - b.length) > 2) return Infinity;
  let before = [];
  let last = Array.from({ length: b.length + 1 }, (_, j) => j);
  for (let i = 1; i <= a.length; i += 1) {
    const row = [i];
    for (let j = 1; j <= b.length; j += 1) {
      const wrong = a[i - 1] === b[j - 1] ? 0 : 1;
      row[j] = Math.min(last[j] + 1, row[j - 1] + 1, last[j - 1] + wrong);
      if (i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1]) row[j] = Math.min(row[j], before[j - 2] + 1);
    }
    before = last;
    last = row;
  }
  return last[b.length];
}
