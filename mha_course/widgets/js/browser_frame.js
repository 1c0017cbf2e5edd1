// One kind of a HeadBrowser's maps, opened: weights of every head, what may be attended to, how to say it.
//
// browserFrame(header, view) -> { layers, heads, nQ, nK, queries, keys, square, allowed, raw, top, head(l, h), weight(l, h, q, k), … }
// Layers and heads count from 0 here, and from 1 in every word.

function browserFrame(header, view) {
  const { layers, heads, bits } = header;
  const queries = header.queries;
  const keys = header.keys === null ? queries : header.keys;
  const [nQ, nK] = [queries.length, keys.length];
  const count = layers * heads * nQ * nK;
  const size = nQ * nK;
  const top = 2 ** bits - 1;
  const taken = bits === 12 ? 3 * Math.ceil(count / 2) : count;
  const bytes = uint8(view, header.offset, taken);
  const raw = bits === 12 ? twelveBits(bytes, count) : bytes;
  const allowed = header.masked ? uint8(view, header.offset + taken, size) : null;
  const at = (l, h) => (l * heads + h) * size;
  const weight = (l, h, q, k) => raw[at(l, h) + q * nK + k] / top;
  const mayLook = (q, k) => !allowed || allowed[q * nK + k] === 1;

  // One head as Uint16Array, 65535 = 1, as the larger pictures want it.
  const head = (l, h) => Uint16Array.from(raw.subarray(at(l, h), at(l, h) + size), (w) => Math.round((w * 65535) / top));

  const rowSum = (l, h, q) => {
    let sum = 0;
    for (let k = 0; k < nK; k += 1) sum += weight(l, h, q, k);
    return sum;
  };
  // Places of the largest weights of a row, largest first.
  const strongest = (l, h, q, most = 1) =>
    Array.from({ length: nK }, (_, k) => k)
      .filter((k) => mayLook(q, k))
      .sort((a, b) => weight(l, h, q, b) - weight(l, h, q, a))
      .slice(0, most);
  const inWords = (l, h, q, k) => (mayLook(q, k) ? weightInWords(weight(l, h, q, k)) : "not allowed");

  // A token in full, or its beginning where nobody would read it to the end.
  const told = (token) => (token.length > 160 ? `${characters(visible(token)).slice(0, 150).join("")}…` : visible(token));

  return {
    header, layers, heads, nQ, nK, queries, keys, square: header.keys === null, allowed, raw, top, at,
    weight, head, rowSum, strongest, inWords, mayLook,
    told,
    name: (l, h) => `layer ${l + 1}, head ${h + 1}`,
    rowInWords(l, h, q) {
      const found = strongest(l, h, q, 4).filter((k) => weight(l, h, q, k) >= 0.02);
      const list = found.map((k) => `${told(keys[k])} ${weight(l, h, q, k).toFixed(2)}`).join(", ");
      return `Layer ${l + 1}, head ${h + 1}: the query ${told(queries[q])} looks at ${list || "no key"}`;
    },
    // "spread 0.31 · on itself 0.12 · looks 2.4 tokens away"
    numbers(l, h) {
      const parts = [`spread ${header.spread[l][h].toFixed(2)}`];
      if (header.itself) parts.push(`on itself ${header.itself[l][h].toFixed(2)}`, `looks ${header.distance[l][h].toFixed(1)} tokens away`);
      if (header.elsewhere && header.elsewhere[l][h] >= 0.005) parts.push(`${header.elsewhere[l][h].toFixed(2)} of the weight is on tokens not shown`);
      return parts.join(" · ");
    },
  };
}

// Numbers from 0 to 4095, two in three bytes.
function twelveBits(bytes, count) {
  const numbers = new Uint16Array(count + (count % 2));
  for (let i = 0, at = 0; i < count; i += 2, at += 3) {
    numbers[i] = bytes[at] | ((bytes[at + 1] & 15) << 8);
    numbers[i + 1] = (bytes[at + 1] >> 4) | (bytes[at + 2] << 4);
  }
  return numbers.subarray(0, count);
}
