"use strict";
// Small SVG charts, drawn by hand: axes, lines, bars, dots, and a tip that follows the pointer.

const SVG = "http://www.w3.org/2000/svg";
const color = (k) => `var(--c${k % 6})`;

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

const short = (value) => Number(value.toPrecision(3)).toString();
const percent = (value) => `${(100 * value).toFixed(1)} %`;

/** Round steps that cover a range. */
function ticks(low, high, n = 5) {
  const raw = (high - low) / n || 1;
  const power = 10 ** Math.floor(Math.log10(raw));
  const step = [1, 2, 5, 10].map((m) => m * power).find((s) => s >= raw);
  const found = [];
  for (let v = Math.ceil(low / step - 1e-9) * step; v <= high + step * 1e-6; v += step) found.push(v);
  return found;
}

/** A framed chart; returns the svg and the functions that place data in it. */
function frame({ x, y, xLabel, yLabel, width = 360, height = 270, square = false }) {
  if (square) height = width * 0.86;
  const box = { left: 46, right: width - 10, top: 10, bottom: height - 40 };
  const place = (low, high, from, to) => (v) => from + ((v - low) / (high - low || 1)) * (to - from);
  const px = place(x[0], x[1], box.left, box.right);
  const py = place(y[0], y[1], box.bottom, box.top);
  const svg = draw("svg", { viewBox: `0 0 ${width} ${height}`, role: "img", "aria-label": `${yLabel} against ${xLabel}` });
  for (const v of ticks(...x)) {
    svg.append(draw("line", { class: "axis", x1: px(v), x2: px(v), y1: box.top, y2: box.bottom }),
      draw("text", { x: px(v), y: box.bottom + 15, "text-anchor": "middle", text: short(v) }));
  }
  for (const v of ticks(...y)) {
    svg.append(draw("line", { class: "axis", y1: py(v), y2: py(v), x1: box.left, x2: box.right }),
      draw("text", { x: box.left - 6, y: py(v) + 4, "text-anchor": "end", text: short(v) }));
  }
  svg.append(draw("text", { x: (box.left + box.right) / 2, y: height - 6, "text-anchor": "middle", text: xLabel }),
    draw("text", { transform: `translate(11 ${(box.top + box.bottom) / 2}) rotate(-90)`, "text-anchor": "middle", text: yLabel }));
  return { svg, px, py, box };
}

const path = (points, px, py) => points.map(([a, b], i) => `${i ? "L" : "M"}${px(a).toFixed(1)} ${py(b).toFixed(1)}`).join("");

function guide(chart, from, to) {
  chart.svg.append(draw("line", { class: "guide", x1: chart.px(from[0]), y1: chart.py(from[1]), x2: chart.px(to[0]), y2: chart.py(to[1]) }));
}

function lineChart({ lines, xLabel, yLabel, diagonal = false }) {
  const chart = frame({ x: [0, 1], y: [0, 1], xLabel, yLabel, square: true });
  if (diagonal) guide(chart, [0, 0], [1, 1]);
  [...lines].reverse().forEach((line, r) => {
    const k = lines.length - 1 - r;
    const drawn = draw("path", { d: path(line.points, chart.px, chart.py), fill: "none", stroke: color(k),
      "stroke-width": k ? 1.4 : 2.6, "stroke-linejoin": "round", opacity: k ? 0.75 : 1 });
    chart.svg.append(tip(drawn, line.name));
  });
  return chart.svg;
}

function histogramChart({ edges, groups, xLabel, yLabel, height = 270 }) {
  const top = Math.max(...groups.flatMap((g) => g.share), 1e-9) * 1.08;
  const chart = frame({ x: [edges[0], edges.at(-1)], y: [0, top], xLabel, yLabel, height });
  groups.forEach((group, k) => {
    group.share.forEach((share, i) => {
      if (!share) return;
      const left = chart.px(edges[i]), right = chart.px(edges[i + 1]);
      const bar = draw("rect", { x: left + 0.5, width: Math.max(0.5, right - left - 1), y: chart.py(share),
        height: chart.box.bottom - chart.py(share), fill: color(k), opacity: groups.length > 1 ? 0.55 : 0.85, rx: 1 });
      chart.svg.append(tip(bar, `${group.name}: ${short(share)} between ${short(edges[i])} and ${short(edges[i + 1])}`));
    });
  });
  return chart.svg;
}

function dotChart({ points, x, y, xLabel, yLabel, line = false }) {
  const chart = frame({ x, y, xLabel, yLabel, square: true });
  guide(chart, [Math.max(x[0], y[0]), Math.max(x[0], y[0])], [Math.min(x[1], y[1]), Math.min(x[1], y[1])]);
  if (line) chart.svg.append(draw("path", { d: path(points, chart.px, chart.py), fill: "none", stroke: color(0), "stroke-width": 2 }));
  for (const [a, b, n] of points) {
    const radius = n ? 3 + Math.sqrt(n) : 3;
    const note = n ? `${n} bags: said ${percent(a)}, were ${percent(b)}` : `label ${short(a)}, predicted ${short(b)}`;
    chart.svg.append(tip(draw("circle", { cx: chart.px(a), cy: chart.py(b), r: Math.min(radius, 9), fill: color(0), opacity: n ? 0.9 : 0.55 }), note));
  }
  return chart.svg;
}

function legend(names) {
  return make("div", { class: "legend" }, ...names.map((name, k) =>
    make("span", {}, make("i", { style: `background:${color(k)}` }), name)));
}

function card(title, ...children) {
  return make("div", { class: "card" }, make("h3", { text: title }), ...children);
}
