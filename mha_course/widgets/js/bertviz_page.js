// Inside the frame of a BertViz view, before BertViz's own script: what it would load from a CDN, and
// what the course adds to it. `settings` comes from Python: {colours, labels, spelled, padding}.

function bertvizPage(settings) {
  // BertViz asks require.js for jQuery and d3. Both are on the page already.
  window.require = { config() {} };
  window.requirejs = (names, then) => then(window.jQuery, window.d3);

  const FONT = "'Helvetica Neue', Helvetica, Arial, sans-serif";
  const labels = new Map(settings.labels), spelled = new Map(settings.spelled);
  const pen = document.createElement("canvas").getContext("2d");
  const widthOf = (text, size) => {
    pen.font = `${size}px ${FONT}`;
    return pen.measureText(text).width;
  };
  const shown = token => labels.get(token) ?? token;
  // Words keep 8 px from the lines and 4 px from the other edge.
  const ROOM_BESIDE = 12;
  const room = () => Math.max(0, document.documentElement.clientWidth - 2 * settings.padding);

  // Cut between what a reader takes for letters: an emoji of several code points stays whole.
  const letters = text =>
    window.Intl?.Segmenter
      ? Array.from(new Intl.Segmenter().segment(text), part => part.segment)
      : Array.from(text);

  const luminance = colour => {
    const { r, g, b } = d3.rgb(colour);
    const [x, y, z] = [r, g, b].map(c => (c /= 255) <= 0.04045 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4);
    return 0.2126 * x + 0.7152 * y + 0.0722 * z;
  };

  return {
    colours: settings.colours,
    colour: number => settings.colours[(number - 1) % settings.colours.length],
    spelled: token => spelled.get(token) ?? token,

    label(token, size, box) {
      const text = shown(token);
      if (widthOf(text, size) <= box - ROOM_BESIDE) return text;
      const parts = letters(text);
      while (parts.length && widthOf(parts.join("") + "…", size) > box - ROOM_BESIDE) parts.pop();
      return parts.join("") + "…";
    },

    // Room for the longest word, at least `least`, at most `most` px.
    boxWidth(params, size, least, most) {
      const words = params.attention.flatMap(one => [...one.left_text, ...one.right_text]);
      const widest = Math.max(...words.map(word => widthOf(shown(word), size)));
      return Math.min(most, Math.max(least, Math.ceil(widest) + ROOM_BESIDE));
    },
    between: (box, least, most) => Math.min(most, Math.max(least, room() - 2 * box)),
    roomFor: (least, most) => Math.min(most, Math.max(least, room())),

    // The squares of the heads: a number in black or white, whichever reads better, and the keyboard's way
    // to them. BertViz keeps with each square whether its head is lit.
    number(container, numbers, size) {
      const squares = container.selectAll("rect").nodes();
      container.selectAll("rect")
        .attr("tabindex", 0)
        .attr("role", "checkbox")
        .attr("aria-checked", lit => String(Boolean(lit)))
        .attr("aria-label", (lit, i) => `head ${numbers[i]}`)
        .on("keydown", function () {
          if (d3.event.key !== "Enter" && d3.event.key !== " ") return;
          d3.event.preventDefault();
          this.dispatchEvent(new MouseEvent("click"));
        });
      container.selectAll("text").remove();
      container.selectAll("text").data(numbers).enter().append("text")
        .text(number => number)
        .attr("x", (d, i) => (i + 0.5) * size)
        .attr("y", 0.7 * size)
        .attr("font-size", "11px")
        .attr("text-anchor", "middle")
        .attr("fill", (d, i) => luminance(squares[i].getAttribute("fill")) > 0.179 ? "#000" : "#fff")
        .style("pointer-events", "none");
    },
  };
}
