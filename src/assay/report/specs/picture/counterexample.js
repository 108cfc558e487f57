// A page about one run: its lanes, the state after each step, and the graph of all states if it is small.
(() => {
  const { el, svg, Lanes, drawState, why, changes } = Picture;
  const byId = (id) => document.getElementById(id);
  const { run, reason, graph } = JSON.parse(byId("data").textContent);

  if (run) {
    // The cells of each state: those of the first, changed step by step. Every 50th is kept.
    const EVERY = 50, kept = [new Map()];
    const apply = (cells, step) => { for (const [place, value] of step.cells) if (value === null) cells.delete(place); else cells.set(place, value); return cells; };
    const stateAt = (row) => {
      const base = Math.floor((row + 1) / EVERY);
      while (kept.length <= base) {
        const next = new Map(kept.at(-1));
        for (let at = (kept.length - 1) * EVERY; at < kept.length * EVERY; at += 1) apply(next, run.steps[at]);
        kept.push(next);
      }
      const cells = new Map(kept[base]);
      for (let at = base * EVERY; at <= row; at += 1) apply(cells, run.steps[at]);
      return cells;
    };
    const cellsOf = (row) => {
      const now = stateAt(row), before = row ? stateAt(row - 1) : null;
      const order = [...now.keys()].sort((a, b) => a - b);
      const cells = order.map((place) => {
        const same = !before || before.get(place) === now.get(place);
        return [run.places[place], now.get(place), ...(same ? [] : [before.has(place) ? before.get(place) : null])];
      });
      for (const [place, value] of before || []) if (!now.has(place)) cells.push([run.places[place], null, value]);
      return cells;
    };
    const last = run.steps.length - 1, bad = new Set(reason && run.loop === null ? [last] : []);
    const lanes = new Lanes(byId("lanes"), choose);
    let chosen = 0;
    function choose(row) {
      chosen = Math.max(0, Math.min(last, row));
      const step = run.steps[chosen];
      byId("here").textContent = `${chosen + 1} of ${last + 1}: ${step.text}`;
      byId("changes").replaceChildren(chosen ? changes(step.changes.length ? step.changes : ["nothing changes"]) : "");
      byId("shown").replaceChildren(changes(step.shown || []));
      drawState(byId("state"), cellsOf(chosen));
      lanes.show({ groups: run.groups, steps: run.steps, loop: run.loop, chosen, bad });
    }
    byId("previous").addEventListener("click", () => choose(chosen - 1));
    byId("next").addEventListener("click", () => choose(chosen + 1));
    choose(last);
    if (reason) byId("why").append(why(reason));
  }

  if (graph) {
    const columns = Math.max(...graph.states.map((each) => each.level)), seen = new Map();
    const at = graph.states.map(({ level }) => { const row = seen.get(level) || 0; seen.set(level, row + 1); return [level, row]; });
    const highest = Math.max(...seen.values()), x = (n) => at[n][0] * 90 - 50, y = (n) => (at[n][1] + 0.5 + (highest - seen.get(at[n][0])) / 2) * 34 + 8;
    const path = new Set(graph.path.slice(1).map((to, step) => `${graph.path[step]} ${to}`)), onPath = new Set(graph.path);
    const drawing = svg("svg", { width: columns * 90 + 20, height: highest * 34 + 24 },
      svg("defs", {}, svg("marker", { id: "end", viewBox: "0 0 8 8", refX: 17, refY: 4, markerWidth: 7, markerHeight: 7, markerUnits: "userSpaceOnUse", orient: "auto" }, svg("path", { d: "M0 0 L8 4 L0 8 z", fill: "gray" }))));
    for (const [from, to, text] of graph.edges) {
      if (from === to) continue;
      const onpath = path.has(`${from} ${to}`), x1 = x(from), y1 = y(from), x2 = x(to), y2 = y(to);
      const bow = at[to][0] > at[from][0] ? 0 : 26 + 6 * Math.abs(at[from][0] - at[to][0]);
      drawing.append(svg("path", { class: onpath ? "edge onpath" : "edge", "marker-end": "url(#end)", d: `M${x1} ${y1} Q${(x1 + x2) / 2} ${(y1 + y2) / 2 - bow} ${x2} ${y2}` }, svg("title", {}, text)));
    }
    graph.states.forEach((state, n) => drawing.append(
      svg("circle", { class: onPath.has(n) ? "onpath" : null, cx: x(n), cy: y(n), r: 9 }, svg("title", {}, state.text)),
      svg("text", { x: x(n), y: y(n) + 4, "text-anchor": "middle", "pointer-events": "none" }, String(n + 1))));
    byId("graph").append(drawing);
  }
})();
