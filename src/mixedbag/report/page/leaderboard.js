// The leaderboard: a table that sorts by any column, with the interval drawn beside the figure.

const SHARES = new Set(["accuracy", "counted right"]);

function showLeaderboard(known) {
  const share = SHARES.has(known.measure);
  const figure = (v) => (v == null ? "" : share ? percent(v) : v.toFixed(3));
  const shown = known.board.filter((row) => row.mean != null);
  const low = Math.min(...shown.map((row) => row.low ?? row.mean), share ? 1 : Infinity);
  const high = Math.max(...shown.map((row) => row.high ?? row.mean), -Infinity);
  const columns = [
    { title: "learner", value: (row) => row.name.toLowerCase() },
    { title: known.measure, value: (row) => row.mean ?? -Infinity },
    { title: "95 % interval", value: (row) => row.low ?? -Infinity },
    { title: "p against best", value: (row) => row.p_value ?? Infinity },
    { title: "folds", value: (row) => row.folds },
    { title: "seconds", value: (row) => row.seconds },
  ];
  const table = document.getElementById("board");
  const body = make("tbody");
  const heads = columns.map((column, j) => make("th", { scope: "col" },
    make("button", { type: "button", text: column.title, onclick: () => sort(j) })));
  table.append(make("thead", {}, make("tr", {}, ...heads)), body);

  let order = { j: -1, down: true }; // as it comes: what met every fold first
  function sort(j) {
    order = { j, down: order.j === j ? !order.down : j === 1 || j === 2 };
    fillBody();
  }
  function fillBody() {
    const { j, down } = order;
    const rows = j < 0 ? known.board : [...known.board].sort((a, b) => {
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
      make("td", { text: figure(row.mean) }), make("td", {}, whisker(row)),
      make("td", { text: row.p_value == null ? "" : row.p_value < 0.001 ? "< 0.001" : row.p_value.toFixed(3) }),
      make("td", { text: `${row.folds}/${known.splits}` }),
      make("td", { text: row.seconds ? row.seconds.toFixed(1) : "" }));
  }
  function whisker(row) {
    const width = 150, place = (v) => 6 + ((v - low) / (high - low || 1)) * (width - 12);
    const svg = draw("svg", { viewBox: `0 0 ${width} 18`, style: `width:${width}px;display:inline-block` });
    if (row.mean == null) return svg;
    if (row.low != null) svg.append(draw("line", { x1: place(row.low), x2: place(row.high), y1: 9, y2: 9,
      stroke: color(0), "stroke-width": 2, opacity: 0.5, "stroke-linecap": "round" }));
    svg.append(draw("circle", { cx: place(row.mean), cy: 9, r: 4, fill: color(0) }));
    return tip(svg, row.low == null ? figure(row.mean) : `${figure(row.low)} to ${figure(row.high)}`);
  }
  fillBody();
}
