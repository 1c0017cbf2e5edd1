// Hatching: cells that may not be attended to. Lines at 45°, 6 px apart, 1 px, in the edge colour.
// All heads of a picture share one mask, so it is drawn once and copied.

function hatchPicture(allowed, nQ, nK, width, height, theme) {
  if (!allowed.includes(0)) return null;
  const ratio = window.devicePixelRatio || 1;
  const canvas = document.createElement("canvas");
  canvas.width = Math.max(1, Math.round(width * ratio));
  canvas.height = Math.max(1, Math.round(height * ratio));
  const pen = canvas.getContext("2d");
  pen.scale(ratio, ratio);
  const [cellW, cellH] = [width / nK, height / nQ];
  pen.beginPath();
  for (let q = 0; q < nQ; q += 1) {
    for (let k = 0; k < nK; ) {
      let end = k;
      while (end < nK && !allowed[q * nK + end]) end += 1;
      if (end > k) pen.rect(k * cellW, q * cellH, (end - k) * cellW, cellH);
      k = end + 1;
    }
  }
  pen.clip();
  pen.fillStyle = colour("surface", theme);
  pen.fillRect(0, 0, width, height);
  pen.beginPath();
  for (let x = 0; x <= width + height; x += 6 * Math.SQRT2) {
    pen.moveTo(x + 0.5, 0);
    pen.lineTo(x - height + 0.5, height);
  }
  pen.strokeStyle = colour("edge", theme);
  pen.lineWidth = cellH < 6 ? 0.7 : 1;
  pen.stroke();
  return canvas;
}
