// Light or dark: JupyterLab's own switch first, else the system's; both are followed live.
// The colours reach CSS as variables (--mha-ink, --mha-surface, ...) and canvases through the functions below.

function currentTheme() {
  const flag = document.body.getAttribute("data-jp-theme-light");
  if (flag === "true") return "light";
  if (flag === "false") return "dark";
  return window.matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light";
}

// Paint the root in the present theme and again at each change; onChange(theme) after each, the first
// included. Returns a function that stops watching.
function watchTheme(root, onChange = () => {}) {
  let shown = null;
  const apply = () => {
    const theme = currentTheme();
    if (theme === shown) return;
    shown = theme;
    root.dataset.theme = theme;
    for (const [name, value] of Object.entries(PALETTE.colours[theme])) {
      root.style.setProperty(`--mha-${name.replace("_", "-")}`, value);
    }
    root.style.colorScheme = theme;
    onChange(theme);
  };
  apply();
  const observer = new MutationObserver(apply);
  observer.observe(document.body, { attributes: true, attributeFilter: ["data-jp-theme-light"] });
  const media = window.matchMedia("(prefers-color-scheme: dark)");
  media.addEventListener("change", apply);
  return () => {
    observer.disconnect();
    media.removeEventListener("change", apply);
  };
}

function colour(name, theme) {
  return PALETTE.colours[theme][name];
}

// Head i, counted from 0. Colours return after 12 heads: always show the number with it.
function headColour(i, theme) {
  const ramp = PALETTE.head[theme];
  return ramp[i % ramp.length];
}

// Black or white, whichever reads better on a colour (WCAG contrast).
function textOn(hex) {
  const channel = (at) => {
    const c = parseInt(hex.slice(at, at + 2), 16) / 255;
    return c <= 0.04045 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4;
  };
  const luminance = 0.2126 * channel(1) + 0.7152 * channel(3) + 0.0722 * channel(5);
  return (luminance + 0.05) / 0.05 >= 1.05 / (luminance + 0.05) ? "#000000" : "#FFFFFF";
}

// 256 colours as the 32-bit words of an ImageData (little-endian: A B G R).
// kind: "seq" for weights 0..1, "div" for signed numbers −max..max.
const rampCache = {};
function rampWords(kind, theme) {
  const key = kind + theme;
  if (!rampCache[key]) {
    rampCache[key] = Uint32Array.from(PALETTE[kind][theme], (hex) => {
      const rgb = parseInt(hex.slice(1), 16);
      return ((255 << 24) | ((rgb & 255) << 16) | (rgb & 0xff00) | (rgb >> 16)) >>> 0;
    });
  }
  return rampCache[key];
}

function weightColour(weight, theme) {
  return PALETTE.seq[theme][Math.round(255 * Math.min(1, Math.max(0, weight)))];
}

// value between −max and max; 0 is the surface.
function signedColour(value, max, theme) {
  const v = max > 0 ? Math.min(1, Math.max(-1, value / max)) : 0;
  return PALETTE.div[theme][Math.round((255 * (v + 1)) / 2)];
}

function reducedMotion() {
  return window.matchMedia("(prefers-reduced-motion: reduce)").matches;
}
