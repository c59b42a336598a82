// The bag browser: one bag at a time, its instances ranked by what they did for the answer.

function showBrowser(known) {
  const choice = document.getElementById("bag"), filter = document.getElementById("filter");
  const inside = document.getElementById("inside");
  const painters = { images: paintImages, series: paintSeries, bars: paintBars };
  let visible = [];

  const title = (bag) => `${bag.id} · label ${bag.label} · answered ${bag.predicted}${bag.wrong ? " ✗" : ""}`;
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
    const isClass = known.kind === "classes";
    const tag = isClass
      ? make("span", { class: `tag ${bag.wrong ? "wrong" : "right"}`, text: bag.wrong ? "wrong" : "right" }) : "";
    inside.replaceChildren(make("p", { class: "verdict" }, make("strong", { text: bag.id }), " — label ",
      ...classWord(known, bag.label), ", answered ", ...classWord(known, bag.predicted),
      isClass ? ` (probability ${percent(bag.value)}) ` : " ", tag,
      make("br"), make("span", { class: "hint", text: ranking(bag, known) })),
      bag.map ? paintMap(bag, known) : "", painters[known.view.kind](bag, known));
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

/** The word of a class behind a dot of its colour. */
function classWord(known, word) {
  const k = known.classes.indexOf(word);
  return k < 0 ? [word] : [make("span", { class: "word" }, make("i", { style: `background:${klass(k)}` }), word)];
}

/** The class that the instances' figures are about: the positive one of two, else the answered. */
const askedClass = (bag, known) => (known.classes.length === 2 ? 1 : bag.answered);

function ranking(bag, known) {
  const left = bag.size - bag.scores.length;
  const count = `${bag.size} instance${bag.size > 1 ? "s" : ""}` + (left > 0 ? `, the first ${bag.scores.length} shown` : "");
  if (known.view.kind === "series") return `${count}, in their order.`;
  const isClass = known.kind === "classes";
  const what = isClass ? `the probability of ${known.classes[askedClass(bag, known)]}` : "the amount of an instance";
  const why = bag.gains
    ? `ranked by what the answer ${isClass ? `${bag.predicted} ` : ""}loses without them (± ${isClass ? "log-odds" : "amount"}${bag.run > 1 ? `, left out ${bag.run} at a time` : ""})`
    : `ranked by ${what}`;
  return `${count}, ${why}. The bar is ${what}.`;
}

/** A frame around one instance: its name, its figure and bar, and what it did for the answer. */
function instanceCard(bag, r, known, picture) {
  const score = bag.scores[r], isClass = known.kind === "classes";
  const low = Math.min(0, ...bag.scores), high = Math.max(...bag.scores, isClass ? 1 : 1e-9);
  const fillTo = (100 * (score - low)) / (high - low || 1);
  const gain = bag.gains?.[r];
  const bar = isClass ? klass(askedClass(bag, known)) : ACCENT;
  return make("article", { class: `instance${r === 0 ? " top" : ""}` },
    make("header", {}, make("span", { text: bag.names[r], title: bag.names[r] }),
      make("b", { text: isClass ? percent(score, 0) : beside(score, Math.max(high, -low)) })),
    make("div", { class: "meter" }, make("i", { style: `width:${fillTo.toFixed(1)}%;background:${bar}` })), picture,
    gain == null ? "" : tip(make("small", { class: "gain", text: `${gain < 0 ? "−" : "+"}${Math.abs(gain).toFixed(2)}` }),
      isClass ? `for the answer ${bag.predicted}, in log-odds` : "of the bag's amount"),
    bag.truth ? make("small", {}, "truly ", ...classWord(known, bag.truth[r])) : "");
}

/** The instances where they lie; colour says what they did for the answer, or what they are. */
function paintMap(bag, known) {
  const { rows, x, y, values } = bag.map, isClass = known.kind === "classes";
  const ends = (v) => [v.reduce((a, b) => Math.min(a, b)), v.reduce((a, b) => Math.max(a, b))];
  const [left, right] = ends(x), [top, bottom] = ends(y);
  const wide = right - left || 1, tall = bottom - top || 1, scale = Math.min(700 / wide, 420 / tall);
  const width = wide * scale, height = tall * scale;
  const half = Math.max(1.2, Math.min(9, 0.42 * Math.sqrt((width * height) / rows.length)));
  const svg = draw("svg", { class: "map", viewBox: `${-half} ${-half} ${width + 2 * half} ${height + 2 * half}`,
    style: `max-width:${(width + 2 * half).toFixed(0)}px`, role: "img", "aria-label": "the instances where they lie" });
  const [lowest, highest] = ends(values), low = bag.gains || !isClass ? Math.min(0, lowest) : 0;
  const most = bag.gains || !isClass ? Math.max(highest, -low) || 1 : 1;
  const hue = isClass ? klass(bag.gains ? bag.answered : askedClass(bag, known)) : ACCENT;
  const order = rows.map((_, k) => k).sort((a, b) => Math.abs(values[a]) - Math.abs(values[b]));
  for (const k of order) {
    const v = values[k], strength = Math.min(1, Math.abs(v) / most);
    const text = bag.gains ? `${v < 0 ? "−" : "+"}${short(Math.abs(v))}` : isClass ? percent(v) : short(v);
    svg.append(tip(draw("rect", { x: ((x[k] - left) * scale - half).toFixed(1), y: ((y[k] - top) * scale - half).toFixed(1),
      width: (2 * half).toFixed(1), height: (2 * half).toFixed(1), fill: v < 0 ? "var(--ink)" : hue,
      "fill-opacity": (0.08 + 0.92 * strength).toFixed(2) }), `instance ${rows[k]} at ${x[k]}, ${y[k]}: ${text}`));
  }
  const word = isClass ? bag.predicted : "amount", left_out = bag.size - rows.length;
  const said = bag.gains
    ? `Instances where they lie. Coloured: without them the answer ${word} loses; dark: without them it gains.`
    : `Instances where they lie, the stronger the colour the larger ${isClass ? `the probability of ${known.classes[askedClass(bag, known)]}` : "the amount"}.`;
  return make("div", { class: "placed" }, svg,
    make("p", { class: "hint", text: left_out > 0 ? `${said} ${rows.length} of ${bag.size} are drawn.` : said }));
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
        draw("rect", { x: z < 0 ? 44 - width : 44, y: 1.5, width, height: 7, rx: 1.5, fill: INK }));
      bars.append(make("span", { text: squeezed(name, 20), title: name }), tip(svg, `${name}: ${z} standard deviations from the mean`),
        make("em", { text: bag.values[r][j] == null ? "missing" : short(bag.values[r][j]) }));
    });
    return instanceCard(bag, r, known, bars);
  });
  return make("div", {}, make("div", { class: "instances" }, ...cards),
    make("p", { class: "hint", text: "Bars of features: standard deviations from the mean of all instances, to the left below it." }));
}

/** The channels, shaded where the answered class is probable; below, the classes' shares in time. */
function paintSeries(bag, known) {
  const width = 760, tall = 66, top = 14, left = 4, strip = 34, n = bag.lines[0].length;
  const height = top + bag.lines.length * tall + strip + 24;
  const px = (i) => left + (i / Math.max(1, n - 1)) * (width - 2 * left);
  const svg = draw("svg", { viewBox: `0 0 ${width} ${height}`, role: "img", "aria-label": `the series, shaded where it is ${bag.predicted}` });
  const answered = bag.shares[bag.answered];
  for (let i = 0; i < n; i++) {
    svg.append(draw("rect", { class: "shade", x: px(i - 0.5), width: px(1) - px(0), y: 0, height: height - strip - 24,
      fill: klass(bag.answered), opacity: (0.32 * answered[i]).toFixed(3), "shape-rendering": "crispEdges" }));
  }
  bag.lines.forEach((line, c) => {
    const seen = line.filter((v) => v != null), lo = Math.min(...seen), hi = Math.max(...seen);
    const py = (v) => top + c * tall + 8 + (1 - (v - lo) / (hi - lo || 1)) * (tall - 18);
    const points = line.map((v, i) => [i, v]).filter(([, v]) => v != null);
    svg.append(draw("path", { d: path(points, px, py), fill: "none", stroke: "var(--ink)", "stroke-width": 1.2, opacity: 0.85 }),
      draw("text", { x: left + 2, y: top + c * tall + 4, text: known.view.channels[c] }));
  });
  const base = height - 18;
  let below = new Array(n).fill(0);
  bag.shares.forEach((values, k) => {
    const total = (i) => bag.shares.reduce((sum, of) => sum + of[i], 0) || 1;
    const above = below.map((b, i) => b + values[i] / total(i));
    const py = (v) => base - v * strip;
    const upper = above.map((v, i) => [i, v]), lower = below.map((v, i) => [i, v]).reverse();
    svg.append(tip(draw("path", { d: `${path(upper, px, py)}${path(lower, px, py).replace("M", "L")}Z`, fill: klass(k), opacity: 0.85 }), known.classes[k]));
    below = above;
  });
  svg.append(draw("text", { x: left, y: height - 4, text: "first" }),
    draw("text", { x: width - left, y: height - 4, "text-anchor": "end", text: "last moment" }));
  return make("div", {}, svg, legend(known.classes, { fillOf: klass }),
    make("p", { class: "hint" }, "Shaded: how probable the answered class, ", ...classWord(known, bag.predicted),
      ", is at each moment. The strip below divides every moment among the classes."));
}
