// The bag browser: one bag at a time, its instances ranked by how much they made the label.

function showBrowser(known) {
  const choice = document.getElementById("bag"), filter = document.getElementById("filter");
  const inside = document.getElementById("inside");
  const painters = { images: paintImages, series: paintSeries, bars: paintBars };
  let visible = [];

  const title = (bag) => `${bag.id} · label ${bag.label} · predicted ${bag.predicted}${bag.wrong ? " ✗" : ""}`;
  function list() {
    const wanted = filter.value.trim().toLowerCase();
    visible = known.bags.map((_, i) => i).filter((i) => title(known.bags[i]).toLowerCase().includes(wanted));
    choice.replaceChildren(...visible.map((i) => make("option", { value: i, text: title(known.bags[i]) })));
    if (visible.length) show(visible[0]);
    else inside.replaceChildren(make("p", { class: "hint", text: "No bag fits the filter." }));
  }
  function show(i) {
    const bag = known.bags[i];
    choice.value = i;
    const tag = known.kind === "classes"
      ? make("span", { class: `tag ${bag.wrong ? "wrong" : "right"}`, text: bag.wrong ? "wrong" : "right" }) : "";
    const left = bag.size - bag.scores.length;
    inside.replaceChildren(make("p", { class: "verdict" }, make("strong", { text: bag.id }),
      ` — label ${bag.label}, predicted ${bag.predicted}`,
      known.classes?.length === 2 ? ` (${percent(bag.value)} for ${known.classes[1]}) ` : " ", tag,
      make("br"), make("span", { class: "hint", text: `${bag.size} instances` +
        (left > 0 ? `, the ${bag.scores.length} strongest shown` : "") })),
      painters[known.view.kind](bag, known));
    inside.dataset.bag = bag.id;
  }
  function step(by) {
    if (!visible.length) return;
    const at = visible.indexOf(Number(choice.value));
    show(visible[(at + by + visible.length) % visible.length]);
  }
  choice.addEventListener("change", () => show(Number(choice.value)));
  filter.addEventListener("input", list);
  document.getElementById("previous").addEventListener("click", () => step(-1));
  document.getElementById("next").addEventListener("click", () => step(1));
  list();
  return (i) => {
    filter.value = "";
    list();
    show(i);
    document.getElementById("browser-section").scrollIntoView();
  };
}

/** A frame around one instance: its name, its score as a figure and as a bar. */
function instanceCard(bag, r, known, picture) {
  const score = bag.scores[r];
  const low = Math.min(0, ...bag.scores), high = Math.max(...bag.scores, known.kind === "classes" ? 1 : 1e-9);
  const fillTo = (100 * (score - low)) / (high - low || 1);
  return make("article", { class: `instance${r === 0 ? " top" : ""}` },
    make("header", {}, make("span", { text: bag.names[r], title: bag.names[r] }),
      make("b", { text: known.kind === "classes" ? score.toFixed(2) : short(score) })),
    make("div", { class: "meter" }, make("i", { style: `width:${fillTo.toFixed(1)}%` })), picture,
    bag.truth ? make("small", { text: `truly ${bag.truth[r]}` }) : "");
}

function paintImages(bag, known) {
  const { height, width } = known.view;
  const bytes = Uint8Array.from(atob(bag.pixels), (c) => c.charCodeAt(0));
  const cards = bag.scores.map((_, r) => {
    const canvas = make("canvas", { width, height, style: `--ratio:${width / height}` });
    const pen = canvas.getContext("2d"), image = pen.createImageData(width, height);
    for (let k = 0; k < width * height; k++) {
      image.data.fill(bytes[r * width * height + k], 4 * k, 4 * k + 3);
      image.data[4 * k + 3] = 255;
    }
    pen.putImageData(image, 0, 0);
    return instanceCard(bag, r, known, canvas);
  });
  return make("div", { class: "instances small" }, ...cards);
}

function paintBars(bag, known) {
  const most = Math.max(3, ...bag.z.flat().map(Math.abs));
  const cards = bag.scores.map((_, r) => {
    const bars = make("div", { class: "bars" });
    bag.features.forEach((name, j) => {
      const z = bag.z[r][j], width = (Math.abs(z) / most) * 44;
      const svg = draw("svg", { viewBox: "0 0 88 10" },
        draw("line", { class: "axis", x1: 44, x2: 44, y1: 0, y2: 10 }),
        draw("rect", { x: z < 0 ? 44 - width : 44, y: 1.5, width, height: 7, rx: 1.5, fill: color(z < 0 ? 1 : 0) }));
      bars.append(make("span", { text: name, title: name }), tip(svg, `${name}: ${z} standard deviations from the mean`),
        make("em", { text: bag.values[r][j] == null ? "missing" : short(bag.values[r][j]) }));
    });
    return instanceCard(bag, r, known, bars);
  });
  return make("div", { class: "instances" }, ...cards);
}

function paintSeries(bag, known) {
  const width = 760, tall = 66, top = 14, left = 4, n = bag.lines[0].length;
  const height = top + bag.lines.length * tall + 44;
  const px = (i) => left + (i / Math.max(1, n - 1)) * (width - 2 * left);
  const svg = draw("svg", { viewBox: `0 0 ${width} ${height}`, role: "img", "aria-label": "the series and its score" });
  const score = (i) => bag.scores[Math.min(bag.scores.length - 1, i * bag.step)];
  const low = Math.min(0, ...bag.scores), high = Math.max(...bag.scores, known.kind === "classes" ? 1 : 1e-9);
  const share = (i) => (score(i) - low) / (high - low || 1);
  for (let i = 0; i < n; i++) {
    svg.append(draw("rect", { x: px(i - 0.5), width: px(1) - px(0) + 0.3, y: 0, height: height - 40, fill: color(0), opacity: 0.28 * share(i) }));
  }
  bag.lines.forEach((line, c) => {
    const seen = line.filter((v) => v != null), lo = Math.min(...seen), hi = Math.max(...seen);
    const py = (v) => top + c * tall + 8 + (1 - (v - lo) / (hi - lo || 1)) * (tall - 18);
    const points = line.map((v, i) => [i, v]).filter(([, v]) => v != null);
    svg.append(draw("path", { d: path(points, px, py), fill: "none", stroke: color(c), "stroke-width": 1.4 }),
      draw("text", { x: left + 2, y: top + c * tall + 4, text: known.view.channels[c] }));
  });
  const base = height - 6, py = (v) => base - v * 30;
  const strip = Array.from({ length: n }, (_, i) => [i, share(i)]);
  svg.append(draw("path", { d: `${path(strip, px, py)}L${px(n - 1)} ${base}L${px(0)} ${base}Z`, fill: color(0), opacity: 0.7 }));
  return make("div", {}, svg, make("p", { class: "hint", text: "Shaded, and below: how strongly each moment speaks for the label." }));
}
