// The leaderboard: a table that sorts by any column, the interval drawn on an axis beside the figure.

const WIDTH = 150, MARGIN = 14;

function showLeaderboard(known) {
  const { measure, others } = known;
  const begun = known.board.filter((row) => row.status !== "waiting");
  const waiting = known.board.filter((row) => row.status === "waiting");
  const axis = intervalAxis(known, begun);
  const columns = [
    { title: "learner", value: (row) => row.name.toLowerCase() },
    { title: measure.words, value: (row) => row.mean ?? -Infinity, down: true },
    { title: "95 % interval", value: (row) => row.low ?? -Infinity, down: true, extra: axis.scale },
    ...others.map((other) => ({ title: other.words, value: (row) => row.scores[other.name] ?? -Infinity, down: true, wide: true })),
    { title: "p against best", value: (row) => row.p_value ?? Infinity },
    { title: "p against constant", value: (row) => row.p_constant ?? Infinity },
    { title: "folds", value: (row) => row.folds, wide: true },
    { title: "seconds", value: (row) => row.seconds },
  ];
  const table = document.getElementById("board");
  const body = make("tbody"), rest = make("tbody", { class: "waiting" });
  rest.hidden = true;
  const heads = columns.map((column, j) => make("th", { scope: "col", class: column.wide ? "wide" : "" },
    make("button", { type: "button", text: column.title, onclick: () => sort(j) }), column.extra ?? ""));
  table.append(make("thead", {}, make("tr", {}, ...heads)), body, rest);
  rest.append(...waiting.map(line));
  if (waiting.length) {
    const words = () => `${rest.hidden ? "show" : "hide"} ${waiting.length} learner${waiting.length > 1 ? "s" : ""} never begun`;
    const fold = make("button", { type: "button", id: "fold", class: "fold", text: words(), onclick: () => {
      rest.hidden = !rest.hidden;
      fold.textContent = words();
      fold.setAttribute("aria-expanded", String(!rest.hidden));
    }, "aria-expanded": "false" });
    table.parentElement.append(fold);
  }
  document.getElementById("board-legend").append(
    make("span", {}, dotKey(), `${measure.words} with its 95 % interval`),
    make("span", {}, draw("svg", { viewBox: "0 0 22 12", class: "key" }, draw("line", { class: "level", x1: 11, x2: 11, y1: 0, y2: 12 })), "always the same answer"));

  let order = { j: -1, down: true }; // as it comes: what met every fold first
  function sort(j) {
    order = { j, down: order.j === j ? !order.down : Boolean(columns[j].down) };
    fillBody();
  }
  function fillBody() {
    const { j, down } = order;
    const rows = j < 0 ? begun : [...begun].sort((a, b) => {
      const [u, v] = [columns[j].value(a), columns[j].value(b)];
      return (u < v ? -1 : u > v ? 1 : 0) * (down ? -1 : 1);
    });
    heads.forEach((head, k) => k === j
      ? head.setAttribute("aria-sort", down ? "descending" : "ascending")
      : head.removeAttribute("aria-sort"));
    body.replaceChildren(...rows.map(line));
  }
  function line(row) {
    const chosen = known.chosen && row.name === known.chosen.name;
    const state = { done: "", partial: "", waiting: "not begun" }[row.status] ?? row.status;
    const name = make("td", {}, `${row.name} `);
    if (state) name.append(tip(make("span", { class: "state", text: state }), row.note || state));
    return make("tr", { class: `${row.kind} ${row.status}${chosen ? " chosen" : ""}` }, name,
      make("td", { class: "figure", text: figureOf(measure, row.mean) }), make("td", {}, axis.whisker(row)),
      ...others.map((other) => make("td", { class: "wide", text: figureOf(other, row.scores[other.name]) })),
      make("td", { text: pValue(row.p_value) }), make("td", { text: pValue(row.p_constant) }),
      make("td", { class: "wide", text: `${row.folds}/${known.splits}` }),
      make("td", { text: row.seconds ? row.seconds.toFixed(1) : "" }));
  }
  fillBody();
}

const dotKey = () => draw("svg", { viewBox: "0 0 30 12", class: "key long" },
  draw("line", { class: "whisker", x1: 2, x2: 28, y1: 6, y2: 6 }), draw("circle", { cx: 15, cy: 6, r: 4, fill: ACCENT }));

/** One axis for all rows: its scale for the head of the column, and the whisker of a row. */
function intervalAxis(known, rows) {
  const { measure } = known, sign = measure.error ? -1 : 1;
  const met = rows.filter((row) => row.mean != null && row.status === "done");
  const used = met.length ? met : rows.filter((row) => row.mean != null);
  const ends = used.flatMap((row) => [row.low ?? row.mean, row.high ?? row.mean]).map((v) => sign * v);
  let low = Math.min(...ends), high = Math.max(...ends);
  if (!ends.length) [low, high] = [0, 1];
  if (!measure.error && high <= 1 && low < -1) low = -1; // far below nothing, how far does not matter
  if (high - low < 1e-9) [low, high] = [low - 0.05, high + 0.05];
  const px = place(low, high, MARGIN, WIDTH - MARGIN);
  const at = (v) => px(Math.min(high, Math.max(low, sign * v)));
  const marks = [3, 5, 9].map((n) => ticks(low, high, n)).find((found) => found.length > 1) ?? [low, high];
  const blank = (height) => draw("svg", { viewBox: `0 0 ${WIDTH} ${height}`, class: "whiskers" });
  const constant = known.board.find((row) => row.kind === "constant");
  const scale = blank(16);
  for (const v of marks) scale.append(
    draw("line", { class: "tick", x1: px(v), x2: px(v), y1: 12, y2: 16 }),
    draw("text", { x: px(v), y: 9, "text-anchor": "middle", text: measure.share ? `${short(100 * v)} %` : short(v) }));
  function whisker(row) {
    const svg = blank(22);
    for (const v of marks) svg.append(draw("line", { class: "axis", x1: px(v), x2: px(v), y1: 0, y2: 22 }));
    if (constant?.mean != null) svg.append(draw("line", { class: "level", x1: at(constant.mean), x2: at(constant.mean), y1: 0, y2: 22 }));
    if (row.mean == null) return svg;
    if (row.low != null) svg.append(draw("line", { class: "whisker", x1: at(row.low), x2: at(row.high), y1: 11, y2: 11 }));
    svg.append(draw("circle", { cx: at(row.mean), cy: 11, r: 4.2, fill: row.status === "done" ? ACCENT : INK }));
    return tip(svg, row.low == null ? figureOf(measure, row.mean) : `${figureOf(measure, row.mean)}: ${interval(measure, row)}`);
  }
  return { scale, whisker };
}
