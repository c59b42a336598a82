// The page: what is known, put into its places.

const known = JSON.parse(document.getElementById("contents").textContent);

document.title = `${known.title} · mixedbag`;
document.getElementById("title").textContent = known.title;
showAnswer();
showChecks();
showData();
showLeaderboard(known);
if (known.chosen) {
  showCharts();
  showModel();
  showUse();
  showHardest(showBrowser(known));
} else {
  for (const name of ["charts", "model", "use", "hardest", "browser"]) hide(name);
}
showAbout();
document.getElementById("nav").append(...[...document.querySelectorAll("section")].filter((s) => !s.hidden)
  .map((s) => make("a", { href: `#${s.id}`, text: s.dataset.nav })));

function hide(name) {
  document.getElementById(`${name}-section`).hidden = true;
}

function showAnswer() {
  const answer = document.getElementById("answer");
  if (!known.chosen) {
    answer.append(make("p", { text: "No learner has met all folds yet. Run the same command again with more time." }));
    return;
  }
  const { measure, chosen, constant } = known;
  answer.append(make("p", {}, make("strong", { text: figureOf(measure, chosen.mean) }), ` ${measure.headline}, by the chosen model, the ${chosen.name}`,
    chosen.low == null ? "." : ` (95 % interval ${interval(measure, chosen)}).`),
  make("p", {}, "Always the same answer would have ", make("b", { text: figureOf(measure, constant.mean) }),
    chosen.p_constant == null ? "." : ` (p ${chosen.p_constant < 0.001 ? "< 0.001" : `= ${pValue(chosen.p_constant)}`}).`),
  make("p", { class: "hint", text: `Decided by ${measure.words}: ${known.why_measure}.` }));
}

function showChecks() {
  const checks = document.getElementById("checks");
  if (!known.checks.length) {
    checks.append(make("p", { class: "hint", text: "No check found anything wrong." }));
    return;
  }
  checks.append(...known.checks.map((found) => make("article", { class: `check ${found.level}` },
    make("h3", {}, make("span", { class: "number", text: String(found.number).padStart(2, "0") }), found.title),
    make("p", { text: found.says }), make("p", { class: "todo", text: found.advice }))));
}

function showData() {
  const { data } = known;
  const fact = (value, text) => make("div", { class: "fact" }, make("b", { text: value }), make("span", { text }));
  const count = (v) => v.toLocaleString("en");
  document.getElementById("facts").append(fact(count(data.bags), "bags"), fact(count(data.instances), "instances"),
    fact(count(data.features), "features"), fact(data.rule, data.rule_says));
  const { edges, counts, same } = data.sizes;
  const sizes = document.getElementById("sizes"), notes = document.getElementById("notes");
  const told = [...data.notes, `rule ${data.rule}, because ${data.reason}`, ...(same ? [`every bag has ${same} instances`] : [])];
  const brief = !data.labels.length && told.length < 3; // no card for a line or two
  if (same) sizes.remove();
  else sizes.append(make("h3", { text: "Bag sizes" }), histogramChart({ edges, groups: [{ name: "bags", share: counts }],
    xLabel: "instances in a bag", yLabel: "bags", height: 190, width: brief ? 760 : 360 }));
  if (brief) {
    sizes.classList.add("whole");
    notes.replaceWith(make("p", { class: "hint", text: `Understood: ${told.join("; ")}.` }));
    return;
  }
  if (data.labels.length) {
    const total = data.labels.reduce((sum, [, n]) => sum + n, 0);
    notes.append(make("h3", { text: "Labels" }), make("div", { class: "share" }, ...data.labels.map(([, n], k) =>
      make("i", { style: `width:${(100 * n) / total}%;background:${klass(k)}` }))),
      legend(data.labels.map(([label, n]) => `${label}: ${n} bags`), { fillOf: klass }), make("br"));
  }
  notes.append(make("h3", { text: "What was understood" }), make("ul", {}, ...told.map((note) => make("li", { text: note }))));
}

function showCharts() {
  const { charts, classes } = known, grid = document.getElementById("charts");
  if (charts.curves) {
    const stroke = classes.length === 2 ? modelStroke : classStroke;
    const lines = (key) => charts.curves.map((c) => ({ name: `${c.name}: ${key === "roc" ? c.auc : c.ap}`, points: c[key] }));
    const names = (key) => charts.curves.map((c) => `${c.name} (${(key === "roc" ? c.auc : c.ap).toFixed(3)})`);
    const whose = classes.length === 2 ? `, positive is ${classes[1]}` : ", each class against the others";
    grid.append(confusionCard(),
      card(`ROC${whose}`, lineChart({ lines: lines("roc"), xLabel: "false positives", yLabel: "true positives", stroke, diagonal: true }), legend(names("roc"), { stroke })),
      card(`Precision and recall${whose}`, lineChart({ lines: lines("pr"), xLabel: "recall", yLabel: "precision", stroke }), legend(names("pr"), { stroke })),
      card("Calibration", dotChart({ points: charts.calibration, x: [0, 1], y: [0, 1], xLabel: classes.length === 2 ? `probability of ${classes[1]} said` : "probability said", yLabel: "share observed", line: true }),
        make("p", { class: "legend", text: "On the dashed line, probabilities can be taken at their word." })));
  } else {
    const all = charts.scatter.flat(), range = [Math.min(...all), Math.max(...all)];
    grid.append(
      card(`Predicted against label${charts.of}`, dotChart({ points: charts.scatter, x: range, y: range, xLabel: "label", yLabel: "predicted" })),
      card(`Errors${charts.of}`, histogramChart({ ...charts.errors, xLabel: "predicted − label", yLabel: "share of bags" })));
  }
  const isClass = known.kind === "classes", halves = (k) => (k ? ACCENT : INK), fillOf = isClass ? klass : halves;
  grid.append(card(`Instance scores${charts.of ?? ""}`, histogramChart({ ...charts.instances, fillOf,
    xLabel: !isClass ? "amount of an instance" : classes.length === 2 ? `probability that an instance is ${classes[1]}` : "probability of an instance", yLabel: "share of instances" }),
    legend(charts.instances.groups.map((g) => `in bags ${isClass ? "labelled" : "with"} ${g.name}`), { fillOf })), timeCard());
}

/** Unseen bags by their class and the answer, with the share of each row. */
function confusionCard() {
  const { classes, confusion } = known;
  const head = make("tr", {}, make("th", { scope: "col", text: "true class ↓   answered →" }),
    ...classes.map((name) => make("th", { scope: "col" }, ...classWord(known, name))));
  const rows = confusion.map((row, k) => {
    const total = row.reduce((sum, v) => sum + v, 0) || 1;
    return make("tr", {}, make("th", { scope: "row" }, ...classWord(known, classes[k])), ...row.map((v, j) =>
      make("td", { class: j === k ? "hit" : "", style: `--share:${(v / total).toFixed(3)}` },
        make("b", { text: short(v) }), make("small", { text: percent(v / total, 0) }))));
  });
  return card("Confusion matrix", make("div", { class: "scroll" }, make("table", { id: "confusion" }, make("thead", {}, head), make("tbody", {}, ...rows))),
    make("p", { class: "legend", text: "Bags, and their share of a true class; answers on the diagonal are right." }));
}

/** Each learner's figure against the time it took, on a scale of powers of ten. */
function timeCard() {
  const { measure } = known, sign = measure.error ? -1 : 1;
  const rows = known.board.filter((row) => row.status === "done" && row.kind === "learner" && row.mean != null && row.seconds > 0);
  if (rows.length < 2) return "";
  const log = (row) => Math.log10(Math.max(row.seconds, 0.01));
  const low = Math.floor(Math.min(...rows.map(log))), high = Math.max(Math.ceil(Math.max(...rows.map(log))), low + 1);
  const lines = [known.chosen, known.constant].filter((row) => row?.mean != null);
  const values = [...rows, ...lines].map((row) => sign * row.mean), pad = (Math.max(...values) - Math.min(...values)) * 0.06 || 0.05;
  const chart = frame({ x: [low, high], y: [Math.min(...values) - pad, Math.max(...values) + pad], xLabel: "seconds, all folds", yLabel: `${measure.words}${measure.share ? ", %" : ""}`, square: true,
    xTicks: Array.from({ length: high - low + 1 }, (_, i) => low + i), xText: (v) => short(10 ** v), yText: (v) => (measure.share ? `${short(100 * v)}` : short(v)) });
  for (const row of lines) {
    const y = chart.py(sign * row.mean), is = row === known.chosen;
    chart.svg.append(tip(draw("line", { class: is ? "chosen-line" : "level", x1: chart.box.left, x2: chart.box.right, y1: y, y2: y }), `${row.name}: ${figureOf(measure, row.mean)}`));
  }
  for (const row of rows) chart.svg.append(tip(draw("circle", { cx: chart.px(log(row)), cy: chart.py(sign * row.mean), r: 5, fill: INK, opacity: 0.8 }),
    `${row.name}: ${figureOf(measure, row.mean)} in ${row.seconds.toFixed(1)} s`));
  const strokes = [{ stroke: ACCENT, "stroke-width": 2.4 }, { stroke: "var(--soft)", "stroke-dasharray": "3 3" }];
  return card("Quality against time", chart.svg, legend(lines.map((row) => row.name), { stroke: (k) => strokes[k] }),
    make("p", { class: "legend", text: "A dot is a learner; point at it for its name." }));
}

function showModel() {
  const { members, importance } = known, grid = document.getElementById("model");
  if (importance?.features.length) grid.append(importanceCard(importance));
  if (members) grid.append(agreementCard(members));
  if (!grid.children.length) hide("model");
}

function importanceCard({ features, tried, of }) {
  const width = 420, tall = 24, left = 150, height = features.length * tall + 26;
  const high = Math.max(...features.map((f) => f.mean + f.spread), 1e-9), low = Math.min(0, ...features.map((f) => f.mean - f.spread));
  const px = place(low, high, left, width - 12);
  const svg = draw("svg", { viewBox: `0 0 ${width} ${height}`, role: "img", "aria-label": "importance of features", id: "importance" });
  for (const v of ticks(low, high, 4)) svg.append(draw("line", { class: "axis", x1: px(v), x2: px(v), y1: 0, y2: height - 22 }),
    draw("text", { x: px(v), y: height - 8, "text-anchor": "middle", text: short(v) }));
  features.forEach((f, k) => {
    const y = k * tall + 4;
    svg.append(tip(draw("text", { x: left - 8, y: y + 12, "text-anchor": "end", text: squeezed(f.name, 22) }), f.name),
      draw("rect", { x: Math.min(px(0), px(f.mean)), y, width: Math.abs(px(f.mean) - px(0)), height: tall - 9, rx: 2, fill: ACCENT, opacity: 0.75 }),
      tip(draw("line", { x1: px(f.mean - f.spread), x2: px(f.mean + f.spread), y1: y + 7.5, y2: y + 7.5, stroke: "var(--ink)", "stroke-width": 1.5 }),
        `${f.name}: ${short(f.mean)} ± ${short(f.spread)}`));
  });
  return card("Which features matter", svg, make("p", { class: "legend", text: "How much the loss on unseen bags grows when a feature comes from another bag, with its spread." +
    (tried < of ? ` Of ${of} features, the ${tried} that go most with the label were tried one by one, the others together.` : "") }));
}

function agreementCard({ names, weights, agreement }) {
  const isClass = known.kind === "classes", letters = names.map((_, k) => String.fromCharCode(65 + k));
  const head = make("tr", {}, make("th", { scope: "col", text: "member" }), make("th", { scope: "col", text: "weight" }),
    ...letters.map((letter) => make("th", { scope: "col", text: letter })));
  const rows = names.map((name, k) => make("tr", {}, make("th", { scope: "row" }, make("b", { text: letters[k] }), ` ${name}`),
    make("td", {}, percent(weights[k], 0), make("div", { class: "meter" }, make("i", { style: `width:${(100 * weights[k]).toFixed(0)}%` }))),
    ...agreement[k].map((v, j) => tip(make("td", { class: "cell", style: `--share:${j === k ? 0 : Math.max(0, isClass ? 2 * v - 1 : v).toFixed(3)}`,
      text: j === k ? "·" : isClass ? percent(v, 0) : v.toFixed(2) }), `${name} and ${names[j]}`))));
  return card("Who it is made of, and whether they agree", make("div", { class: "scroll" }, make("table", { id: "agreement" }, make("thead", {}, head), make("tbody", {}, ...rows))),
    make("p", { class: "legend", text: isClass ? "Cells: how often two members give the same answer about an unseen bag." : "Cells: how answers of two members about unseen bags correlate." }));
}

function showUse() {
  const lines = [
    ["Answer new bags", "mixedbag predict model.skops new.csv --out answers.csv"],
    ["… and their instances", "mixedbag predict model.skops new.csv --instances --out instances.csv"],
    ...(known.kind === "classes" ? [] : [
      ["… which add up to labels you know", "mixedbag predict model.skops new.csv --instances --amount LABEL --out instances.csv"],
      ["How groups answered, with limits", "mixedbag rates new.csv --bag BAG --label LABEL --by GROUP"],
    ]),
    ["Why one bag got its answer", "mixedbag explain model.skops new.csv BAG"],
    ["In Python", 'import mixedbag\nmodel = mixedbag.load("model.skops")\nmodel.predict(bags), model.predict_instances(bags)'],
  ];
  document.getElementById("use").append(...lines.map(([what, code]) => {
    const copy = make("button", { type: "button", class: "copy", text: "copy", onclick: () => {
      navigator.clipboard?.writeText(code).then(() => { copy.textContent = "copied"; }, () => {});
    } });
    return make("div", { class: "use" }, make("h3", { text: what }), make("div", {}, make("pre", {}, make("code", { text: code })), copy));
  }));
}

function showHardest(open) {
  document.getElementById("hardest").append(...known.bags.slice(0, 12).map((bag, i) =>
    make("button", { type: "button", class: bag.wrong ? "wrong" : "", onclick: () => open(i) }, bag.id,
      make("small", {}, "label ", ...classWord(known, bag.label), ", answered ", ...classWord(known, bag.predicted),
        known.kind === "classes" ? ` (${percent(bag.value, 0)})` : ""))));
}

function showAbout() {
  const { circumstances, failures, skipped } = known, about = document.getElementById("about");
  document.getElementById("board-hint").textContent =
    `Over ${known.splits} folds; every choice is made inside the training bags of a fold. The figure of the best single row is ` +
    "flattered by having been picked; those of the stack and of the best single, chosen inside, are not. p: paired tests, fold by fold.";
  if (circumstances.command) about.append(make("h3", { text: "Command" }), make("p", {}, make("code", { text: circumstances.command })));
  about.append(make("h3", { text: "Versions" }), make("p", { class: "hint",
    text: Object.entries(circumstances.versions).map(([n, v]) => `${n} ${v}`).join(" · ") + ` · seed ${circumstances.random_state}` }));
  const cut = Object.entries(circumstances.left_undone).map(([what, names]) => `${what}: ${names.join(", ")}`);
  about.append(make("h3", { text: "Work" }), make("p", { class: "hint",
    text: `${circumstances.work} of ${circumstances.units} units of work count; the same options with --work give the same result on any machine.` }));
  const told = [...known.notes, ...cut];
  if (told.length) about.append(make("ul", {}, ...told.map((line) => make("li", { text: line }))));
  const troubles = [...Object.entries(failures), ...Object.entries(skipped)];
  if (troubles.length) about.append(make("h3", { text: "Learners without a full result" }),
    make("ul", {}, ...troubles.map(([name, why]) => make("li", { text: `${name}: ${why}` }))));
  if (known.bags && known.bags.length < known.bags_in_all) about.append(make("p", { class: "hint",
    text: `The browser shows ${known.bags.length} of ${known.bags_in_all} bags: the hardest, and a sample of the others.` }));
}
