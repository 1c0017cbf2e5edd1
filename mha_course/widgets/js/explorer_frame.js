// One answer from Python, opened: tokens shown, weights of each head, and how to say them.

function explorerFrame(header, payload) {
  const [start, stop] = header.shown;
  const n = stop - start;
  const h = header.h;
  const tokens = header.tokens.slice(start, stop);
  const unknown = new Set((header.unknown || []).map((i) => i - start).filter((i) => i >= 0 && i < n));
  const count = h * n * n;
  const aligned = payload.byteOffset % 2 === 0;
  const bytes = aligned ? payload.buffer : payload.buffer.slice(payload.byteOffset);
  const weights = new Uint16Array(bytes, aligned ? payload.byteOffset : 0, count);
  const allowed = uint8(payload, 2 * count, n * n);
  const head = (i) => weights.subarray(i * n * n, (i + 1) * n * n);
  const weight = (i, q, k) => weights[(i * n + q) * n + k] / 65535;
  const name = (i) => header.names[i] || `head ${i + 1}`;

  // "0.58", "not allowed" where the mask forbids it.
  const inWords = (i, q, k) => (allowed[q * n + k] ? weightInWords(weight(i, q, k)) : "not allowed");
  const rowSum = (i, q) => {
    let sum = 0;
    for (let k = 0; k < n; k += 1) sum += weight(i, q, k);
    return sum;
  };
  const strongest = (i, q) => {
    let best = 0;
    for (let k = 1; k < n; k += 1) if (weight(i, q, k) > weight(i, q, best)) best = k;
    return best;
  };
  const longName = (i) => (header.names[i] ? `Head ${i + 1}, ${header.names[i]}` : `Head ${i + 1}`);
  // A token as it is told: one that the model doesn't know is said to be read as <unk>.
  const word = (i) => visible(tokens[i]) + (unknown.has(i) ? " (read as <unk>)" : "");
  return {
    header, n, h, tokens, unknown, word, allowed, head, weight, name, inWords, rowSum, strongest, longName,
    spread: header.spread,
    details: (i) => (header.details && header.details[i]) || "",
    complete: n === header.tokens.length,
    allowedKey: allowed.includes(0) ? Array.from(allowed).join("") : "",
    title: (i) => (header.names[i] ? `Head ${i + 1}: ${header.names[i]}` : `Head ${i + 1}`),
    alt: (i) =>
      `${longName(i)}: weights of ${n} ${n === 1 ? "query" : "queries"} (rows) over ${n} ` +
      `${n === 1 ? "key" : "keys"} (columns)` + (header.facts ? `, spread ${header.spread[i].toFixed(2)}` : ""),
    rowAlt(i, q) {
      const order = tokens.map((_, k) => k).sort((a, b) => weight(i, q, b) - weight(i, q, a));
      const parts = order.slice(0, 4).filter((k) => weight(i, q, k) >= 0.02);
      const list = parts.map((k) => `${word(k)} ${weight(i, q, k).toFixed(2)}`).join(", ");
      return `${longName(i)}: the query ${word(q)} looks at ${list || "no key"}`;
    },
  };
}

const NUMBER_WORDS = ["No", "One", "Two", "Three", "Four", "Five", "Six", "Seven", "Eight", "Nine", "Ten", "Eleven", "Twelve"];

function headsInWords(h) {
  return `${NUMBER_WORDS[h] || h} ${h === 1 ? "head" : "heads"}, one sentence`;
}
