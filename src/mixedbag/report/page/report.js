// The page: what is known, put into its places.

const known = JSON.parse(document.getElementById("contents").textContent);
const share = SHARES.has(known.measure);
const figure = (v) => (share ? percent(v) : v.toFixed(3));

document.title = `${known.title} · mixedbag`;
document.getElementById("title").textContent = known.title;
showAnswer();
showData();
showLeaderboard(known);
if (known.chosen) {
  showCharts();
  showHardest(showBrowser(known));
} else {
  for (const name of ["charts", "hardest", "browser"]) document.getElementById(`${name}-section`).hidden = true;
}
showAbout();

function showAnswer() {
  const place = document.getElementById("answer");
  if (!known.chosen) {
    place.textContent = "No learner has met all folds yet. Run the same command again with more time.";
    return;
  }
  const { mean, low, high, name } = known.chosen;
  const noun = { accuracy: "of unseen bags are answered right", "counted right": "of instances in unseen bags are counted right", "R²": "R² on unseen bags" }[known.measure];
  place.append(make("strong", { text: figure(mean) }), ` ${noun} by the chosen model, the ${name}`,
    low == null ? "." : ` (95 % interval ${figure(low)} to ${figure(high)}).`);
}

function showData() {
  const { data } = known;
  const fact = (value, text) => make("div", { class: "fact" }, make("b", { text: value }), make("span", { text }));
  const count = (v) => v.toLocaleString("en");
  document.getElementById("facts").append(fact(count(data.bags), "bags"), fact(count(data.instances), "instances"),
    fact(count(data.features), "features"), fact(data.rule, data.rule_says));
  const { edges, counts } = data.sizes;
  document.getElementById("sizes").append(make("h3", { text: "Bag sizes" }), histogramChart({
    edges, groups: [{ name: "bags", share: counts }], xLabel: "instances in a bag", yLabel: "bags", height: 190 }));
  const notes = document.getElementById("notes");
  if (data.labels.length) {
    const total = data.labels.reduce((sum, [, n]) => sum + n, 0);
    notes.append(make("h3", { text: "Labels" }), make("div", { class: "share" }, ...data.labels.map(([, n], k) =>
      make("i", { style: `width:${(100 * n) / total}%;background:${color(k)}` }))),
      legend(data.labels.map(([label, n]) => `${label}: ${n} bags`)), make("br"));
  }
  notes.append(make("h3", { text: "What was understood" }), make("ul", {}, ...[...data.notes,
    `rule ${data.rule}, because ${data.reason}`].map((note) => make("li", { text: note }))));
}

function showCharts() {
  const { charts } = known, place = document.getElementById("charts");
  if (charts.curves) {
    const lines = (key) => charts.curves.map((c) => ({ name: `${c.name}: ${key === "roc" ? c.auc : c.ap}`, points: c[key] }));
    const names = (key) => charts.curves.map((c) => `${c.name} (${(key === "roc" ? c.auc : c.ap).toFixed(3)})`);
    place.append(
      card("ROC", lineChart({ lines: lines("roc"), xLabel: "false positives", yLabel: "true positives", diagonal: true }), legend(names("roc"))),
      card("Precision and recall", lineChart({ lines: lines("pr"), xLabel: "recall", yLabel: "precision" }), legend(names("pr"))),
      card("Calibration", dotChart({ points: charts.calibration, x: [0, 1], y: [0, 1], xLabel: "probability said", yLabel: "share observed", line: true }),
        make("p", { class: "legend", text: "On the dashed line, probabilities can be taken at their word." })));
  } else {
    const all = charts.scatter.flat(), range = [Math.min(...all), Math.max(...all)];
    place.append(
      card("Predicted against label", dotChart({ points: charts.scatter, x: range, y: range, xLabel: "label", yLabel: "predicted" })),
      card("Errors", histogramChart({ ...charts.errors, xLabel: "predicted − label", yLabel: "share of bags" })));
  }
  place.append(card("Instance scores", histogramChart({ ...charts.instances,
    xLabel: known.kind === "classes" ? "probability of an instance" : "amount of an instance", yLabel: "share of instances" }),
    legend(charts.instances.groups.map((g) => known.kind === "classes" ? `in bags labelled ${g.name}` : `in bags with ${g.name}`))));
}

function showHardest(open) {
  document.getElementById("hardest").append(...known.bags.slice(0, 12).map((bag, i) =>
    make("button", { type: "button", class: bag.wrong ? "wrong" : "", onclick: () => open(i) }, bag.id,
      make("small", { text: `label ${bag.label}, predicted ${bag.predicted}` +
        (known.classes.length === 2 ? ` (${percent(bag.value)})` : "") }))));
}

function showAbout() {
  const { circumstances, failures, skipped } = known, place = document.getElementById("about");
  document.getElementById("board-hint").textContent =
    `Mean over ${known.splits} folds; every choice is made inside the training bags of a fold. The figure of the best single row is ` +
    "flattered by having been picked; those of the stack and of the best single, chosen inside, are not. p: paired test against the best row.";
  if (circumstances.command) place.append(make("h3", { text: "Command" }), make("p", {}, make("code", { text: circumstances.command })));
  place.append(make("h3", { text: "Versions" }), make("p", { class: "hint",
    text: Object.entries(circumstances.versions).map(([n, v]) => `${n} ${v}`).join(" · ") + ` · seed ${circumstances.random_state}` }));
  const troubles = [...Object.entries(failures), ...Object.entries(skipped)];
  if (troubles.length) place.append(make("h3", { text: "Learners without a full result" }),
    make("ul", {}, ...troubles.map(([name, why]) => make("li", { text: `${name}: ${why}` }))));
  if (known.bags && known.bags.length < known.bags_in_all) place.append(make("p", { class: "hint",
    text: `The browser shows ${known.bags.length} of ${known.bags_in_all} bags: the hardest, and a sample of the others.` }));
}
