// Where every head stands in the picture of all heads. Pure: sizes in px, tested without a browser.

const BROWSE_GAP = 6;
const BROWSE_LABEL = 54; // room for "layer 12" left of the maps
const BROWSE_CHIPS = 22; // room for the numbers above them

// width: room in px. least: the smallest side of a map; with less, a layer takes more than one line.
// Returns { columns, lines, mapWidth, mapHeight, pitchX, pitchY, left, top, width, height, place(l, h), find(x, y) }.
function browserLayout({ width, layers, heads, nQ, nK, ratio = 1, least = 30 }) {
  const longer = Math.max(nQ, nK);
  let columns = heads;
  const sideOf = (count) => (width - BROWSE_LABEL - 2) / count - BROWSE_GAP;
  while (sideOf(columns) < least && columns > 4) columns = Math.ceil(columns / 2);
  const lines = Math.ceil(heads / columns);
  const most = layers * heads === 1 ? 240 : 132;
  let cell = Math.max(2, Math.min(most, sideOf(columns))) / longer;
  // Whole device pixels where cells are large enough: then every cell is as wide as its neighbour.
  if (cell * ratio >= 3) cell = Math.floor(cell * ratio) / ratio;
  const mapWidth = Math.max(2, Math.round(cell * nK * ratio) / ratio);
  const mapHeight = Math.max(2, Math.round(cell * nQ * ratio) / ratio);
  const [pitchX, pitchY] = [mapWidth + BROWSE_GAP, mapHeight + BROWSE_GAP];
  const [left, top] = [BROWSE_LABEL, lines === 1 ? BROWSE_CHIPS : 2];
  const snap = (value) => Math.round(value * ratio) / ratio;
  const lineGap = lines > 1 ? 8 : 0; // between layers of several lines
  const yOf = (l, line) => snap(top + (l * lines + line) * pitchY + l * lineGap);
  return {
    columns, lines, cell, mapWidth, mapHeight, left, top,
    width: snap(left + columns * pitchX - BROWSE_GAP + 2),
    height: yOf(layers - 1, lines - 1) + mapHeight + 2,
    place: (l, h) => ({ x: snap(left + (h % columns) * pitchX), y: yOf(l, Math.floor(h / columns)) }),
    // The head, query and key under a point, or null between the maps.
    find(x, y) {
      const column = Math.floor((x - left) / pitchX);
      const inX = x - left - column * pitchX;
      if (column < 0 || column >= columns || inX >= mapWidth) return null;
      const layer = Math.floor((y - top) / (lines * pitchY + lineGap));
      const inLayer = y - top - layer * (lines * pitchY + lineGap);
      const line = Math.floor(inLayer / pitchY);
      const inY = inLayer - line * pitchY;
      const head = line * columns + column;
      if (layer < 0 || layer >= layers || line >= lines || head >= heads || inY >= mapHeight) return null;
      return {
        layer, head,
        q: Math.min(nQ - 1, Math.floor((inY / mapHeight) * nQ)),
        k: Math.min(nK - 1, Math.floor((inX / mapWidth) * nK)),
      };
    },
  };
}

// The largest weight wins where a pixel covers several cells: [first, last) for each of `pixels` over n cells.
function cellSpans(pixels, n) {
  const first = new Uint16Array(pixels);
  const last = new Uint16Array(pixels);
  for (let i = 0; i < pixels; i += 1) {
    first[i] = Math.floor((i * n) / pixels);
    last[i] = pixels >= n ? first[i] + 1 : Math.max(first[i] + 1, Math.floor(((i + 1) * n) / pixels));
  }
  return [first, last];
}

// Fill a picture of all heads: pixels is a Uint32Array of wide × tall words, in the colours of ramp.
function paintHeads({ pixels, wide, raw, layers, heads, nQ, nK, ratio, layout, ramp, factor, least }) {
  const mapWide = Math.round(layout.mapWidth * ratio);
  const mapTall = Math.round(layout.mapHeight * ratio);
  const [k0, k1] = cellSpans(mapWide, nK);
  const [q0, q1] = cellSpans(mapTall, nQ);
  const whole = mapWide >= nK && mapTall >= nQ;
  for (let l = 0; l < layers; l += 1) {
    for (let h = 0; h < heads; h += 1) {
      const start = (l * heads + h) * nQ * nK;
      const { x, y } = layout.place(l, h);
      const corner = Math.round(y * ratio) * wide + Math.round(x * ratio);
      for (let row = 0; row < mapTall; row += 1) {
        const line = corner + row * wide;
        // Rows of the same query are copies of each other.
        if (whole && row > 0 && q0[row] === q0[row - 1]) {
          pixels.copyWithin(line, line - wide, line - wide + mapWide);
          continue;
        }
        for (let column = 0; column < mapWide; column += 1) {
          let w = raw[start + q0[row] * nK + k0[column]];
          if (!whole) {
            for (let q = q0[row]; q < q1[row]; q += 1) {
              for (let k = k0[column]; k < k1[column]; k += 1) w = Math.max(w, raw[start + q * nK + k]);
            }
          }
          pixels[line + column] = ramp[w < least ? 0 : Math.min(255, (w * factor + 0.5) | 0)];
        }
      }
    }
  }
}
