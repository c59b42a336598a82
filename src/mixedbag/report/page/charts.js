"use strict";
// Small SVG charts, drawn by hand: axes, lines, bars, dots, and a tip that follows the pointer.
// Colours of classes (klass) mean classes and nothing else; everything else is accent, ink or grey.

const SVG = "http://www.w3.org/2000/svg";
// After six that are easy to tell apart, hues a golden angle from each other: no two alike.
const klass = (k) => (k < 6 ? `var(--k${k})` : `hsl(${(20 + 137.5 * k) % 360} 45% ${45 + 10 * (k % 2)}%)`);
const ACCENT = "var(--accent)", INK = "var(--slate)";

/** An element with attributes and children; text only ever enters as text. */
function make(name, attributes = {}, ...children) {
  const element = document.createElement(name);
  return fill(element, attributes, children);
}

function draw(name, attributes = {}, ...children) {
  return fill(document.createElementNS(SVG, name), attributes, children);
}

function fill(element, attributes, children) {
  for (const [key, value] of Object.entries(attributes)) {
    if (key === "text") element.textContent = value;
    else if (key.startsWith("on")) element.addEventListener(key.slice(2), value);
    else element.setAttribute(key, value);
  }
  element.append(...children);
  return element;
}

/** A name of so many letters at most: long ones often begin alike and end in what tells them apart. */
function squeezed(name, most) {
  const letters = [...name], end = Math.ceil(0.6 * most);
  return letters.length > most ? `${letters.slice(0, most - end - 1).join("")}…${letters.slice(-end).join("")}` : name;
}

function tip(element, text) {
  const box = document.getElementById("tip");
  element.addEventListener("pointermove", (event) => {
    box.textContent = text;
    box.hidden = false;
    const left = Math.min(event.clientX + 14, window.innerWidth - box.offsetWidth - 8);
    box.style.left = `${left}px`;
    box.style.top = `${Math.max(4, event.clientY - box.offsetHeight - 10)}px`;
  });
  element.addEventListener("pointerleave", () => { box.hidden = true; });
  return element;
}

const MANY = new Intl.NumberFormat("en", { notation: "compact", maximumSignificantDigits: 3 });
/** Three digits; of large numbers 650K and 3.17M, which fit beside an axis. */
const short = (value) => (Math.abs(value) < 1e5 ? Number(value.toPrecision(3)).toString() : MANY.format(value));
/** The value with as many decimals as a scale up to `high` can show: no 0.00000933 beside a one. */
const beside = (value, high) => Number(value.toFixed(Math.min(20, Math.max(0, 2 - Math.floor(Math.log10(high || 1)))))).toString();
const percent = (value, digits = 1) => `${(100 * value).toFixed(digits)} %`;
const pValue = (p) => (p == null ? "" : p < 0.001 ? "< 0.001" : p.toFixed(3));

/** A value of a measure as people know it: errors turned round, shares in per cent. */
function figureOf(measure, value) {
  if (value == null) return "";
  const shown = measure.error ? -value : value;
  return measure.share ? percent(shown) : (shown + 0).toFixed(Math.abs(shown) < 1000 ? 3 : 0);
}

function interval(measure, row) {
  const ends = measure.error ? [row.high, row.low] : [row.low, row.high];
  return ends.map((v) => figureOf(measure, v)).join(" to ");
}

/** Round steps that cover a range. */
function ticks(low, high, n = 5) {
  const raw = (high - low) / n || 1;
  const power = 10 ** Math.floor(Math.log10(raw));
  const step = [1, 2, 5, 10].map((m) => m * power).find((s) => s >= raw * (1 - 1e-9));
  const found = [];
  for (let v = Math.ceil(low / step - 1e-9) * step; v <= high + step * 1e-6; v += step) found.push(v);
  return found;
}

const place = (low, high, from, to) => (v) => from + ((v - low) / (high - low || 1)) * (to - from);

/** A framed chart; returns the svg and the functions that place data in it. */
function frame({ x, y, xLabel, yLabel, width = 360, height = 270, square = false, xTicks, xText = short, yText = short }) {
  if (square) height = width * 0.86;
  const box = { left: 46, right: width - 10, top: 10, bottom: height - 40 };
  const px = place(x[0], x[1], box.left, box.right);
  const py = place(y[0], y[1], box.bottom, box.top);
  const svg = draw("svg", { viewBox: `0 0 ${width} ${height}`, role: "img", "aria-label": `${yLabel} against ${xLabel}` });
  for (const v of xTicks ?? ticks(...x)) {
    svg.append(draw("line", { class: "axis", x1: px(v), x2: px(v), y1: box.top, y2: box.bottom }),
      draw("text", { x: px(v), y: box.bottom + 15, "text-anchor": "middle", text: xText(v) }));
  }
  for (const v of ticks(...y)) {
    svg.append(draw("line", { class: "axis", y1: py(v), y2: py(v), x1: box.left, x2: box.right }),
      draw("text", { x: box.left - 6, y: py(v) + 4, "text-anchor": "end", text: yText(v) }));
  }
  svg.append(draw("text", { x: (box.left + box.right) / 2, y: height - 6, "text-anchor": "middle", text: xLabel }),
    draw("text", { transform: `translate(11 ${(box.top + box.bottom) / 2}) rotate(-90)`, "text-anchor": "middle", text: yLabel }));
  return { svg, px, py, box };
}

const path = (points, px, py) => points.map(([a, b], i) => `${i ? "L" : "M"}${px(a).toFixed(1)} ${py(b).toFixed(1)}`).join("");

function guide(chart, from, to) {
  chart.svg.append(draw("line", { class: "guide", x1: chart.px(from[0]), y1: chart.py(from[1]), x2: chart.px(to[0]), y2: chart.py(to[1]) }));
}

// The chosen model in the accent, rivals in grey with dashes of their own.
const RIVALS = ["", "6 3", "2 3", "8 3 2 3"];
const modelStroke = (k) => ({ stroke: k ? INK : ACCENT, "stroke-dasharray": RIVALS[k % 4], "stroke-width": k ? 1.5 : 2.8 });
const classStroke = (k) => ({ stroke: klass(k), "stroke-width": 2 });

function lineChart({ lines, xLabel, yLabel, stroke, diagonal = false }) {
  const chart = frame({ x: [0, 1], y: [0, 1], xLabel, yLabel, square: true });
  if (diagonal) guide(chart, [0, 0], [1, 1]);
  [...lines].reverse().forEach((line, r) => {
    const drawn = draw("path", { d: path(line.points, chart.px, chart.py), fill: "none", "stroke-linejoin": "round", ...stroke(lines.length - 1 - r) });
    chart.svg.append(tip(drawn, line.name));
  });
  return chart.svg;
}

function histogramChart({ edges, groups, xLabel, yLabel, height = 270, width = 360, fillOf = () => ACCENT }) {
  const top = Math.max(...groups.flatMap((g) => g.share), 1e-9) * 1.08;
  const chart = frame({ x: [edges[0], edges.at(-1)], y: [0, top], xLabel, yLabel, height, width });
  groups.forEach((group, k) => {
    group.share.forEach((share, i) => {
      if (!share) return;
      const left = chart.px(edges[i]), right = chart.px(edges[i + 1]);
      const bar = draw("rect", { x: left + 0.5, width: Math.max(0.5, right - left - 1), y: chart.py(share),
        height: chart.box.bottom - chart.py(share), fill: fillOf(k), opacity: groups.length > 1 ? 0.6 : 0.85, rx: 1 });
      chart.svg.append(tip(bar, `${group.name}: ${short(share)} between ${short(edges[i])} and ${short(edges[i + 1])}`));
    });
  });
  return chart.svg;
}

function dotChart({ points, x, y, xLabel, yLabel, line = false }) {
  const chart = frame({ x, y, xLabel, yLabel, square: true });
  guide(chart, [Math.max(x[0], y[0]), Math.max(x[0], y[0])], [Math.min(x[1], y[1]), Math.min(x[1], y[1])]);
  if (line) chart.svg.append(draw("path", { d: path(points, chart.px, chart.py), fill: "none", stroke: ACCENT, "stroke-width": 2 }));
  for (const [a, b, n] of points) {
    const radius = n ? 3 + Math.sqrt(n) : 3;
    const note = n ? `${n} bags: said ${percent(a)}, were ${percent(b)}` : `label ${short(a)}, predicted ${short(b)}`;
    chart.svg.append(tip(draw("circle", { cx: chart.px(a), cy: chart.py(b), r: Math.min(radius, 9), fill: ACCENT, opacity: n ? 0.9 : 0.5 }), note));
  }
  return chart.svg;
}

/** Names beside what they look like: a square of a colour, or a line. */
function legend(names, { fillOf, stroke } = {}) {
  return make("div", { class: "legend" }, ...names.map((name, k) => make("span", {},
    stroke ? draw("svg", { viewBox: "0 0 22 8", class: "key" }, draw("line", { x1: 0, x2: 22, y1: 4, y2: 4, ...stroke(k) }))
      : make("i", { style: `background:${fillOf(k)}` }), name)));
}

function card(title, ...children) {
  return make("div", { class: "card" }, make("h3", { text: title }), ...children);
}
