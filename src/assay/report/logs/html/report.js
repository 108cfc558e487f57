"use strict";
(() => {
  const source = document.getElementById("data");
  if (source.type === "application/json") start(JSON.parse(source.textContent));
  else new Response(new Blob([Uint8Array.from(atob(source.textContent), (c) => c.charCodeAt(0))]).stream().pipeThrough(new DecompressionStream("gzip"))).json().then(start);
  function start(data) {
  const texts = data.texts, ev = data.events, histories = data.histories, lanes = data.lanes;
  const span = Math.max(1, data.end - data.begin), count = ev.kind.length;
  const byId = (id) => document.getElementById(id);
  const canvas = byId("canvas"), pen = canvas.getContext("2d");
  const LABEL = 290, NAME = 150, AXIS = 24, MARKS = 16, BAND = 15, GAP = 8;
  let from = 0, to = span, chosen = null, marked = new Set();
  /** On paper the picture is drawn for this width and reduced to the page's; on a screen (0) it is as wide as its frame. */
  const PAPER = 1000;
  let paper = 0;
  const wide = () => paper || canvas.clientWidth;

  // ------------------------------------------------------------------ where things are
  const FOLD_FROM = 12, topics = new Map(), unfolded = new Set();
  for (const lane of lanes) {
    lane.marks = lane.group === "node" ? MARKS : 0;
    lane.events = [];
    lane.topic = lane.group === "node" || lane.group === "shared" ? "" : texts[lane.name].replace(/-\d+(#\d+)?$/, "");
    if (!lane.topic) continue;
    if (!topics.has(lane.topic)) topics.set(lane.topic, { topic: lane.topic, members: [], bands: [], marks: 0, events: [], folded: true });
    topics.get(lane.topic).members.push(lane);
  }
  for (const each of [...topics.values()]) {
    if (each.members.length === 1) { each.members[0].topic = ""; topics.delete(each.topic); continue; }
    each.label = `▸ ${each.topic} (${each.members.length})`;
    const alarms = new Map();
    for (const lane of each.members) for (const band of lane.alarms) alarms.set(band.name, [...(alarms.get(band.name) || []), ...band.segments]);
    each.alarms = [...alarms].map(([name, segments]) => ({ name, segments }));
  }
  if ([...topics.values()].reduce((sum, each) => sum + each.members.length, 0) <= FOLD_FROM) for (const name of topics.keys()) unfolded.add(name);
  const toneOf = (text) => data.tones[text.replace(/\(.*/, "")], plain = (text) => ["none", "{}", "absent", "false", "0"].includes(text) || toneOf(text) === "plain";
  /** Hue and saturation of what a value means to an operator. */
  const HUES = { good: "145 45%", calm: "215 25%", warn: "45 85%", bad: "8 80%" };
  let shown = [], height = 0;
  function place() {
    const wanted = byId("lane-filter").value.toLowerCase(), internals = byId("internals").checked;
    let top = AXIS;
    shown = [];
    for (const lane of lanes) {
      if (!texts[lane.name].toLowerCase().includes(wanted)) continue;
      const topic = topics.get(lane.topic);
      if (!topic || wanted || unfolded.has(lane.topic)) shown.push(lane);
      else if (!shown.includes(topic)) shown.push(topic);
    }
    shown = shown.filter((lane) => internals || lane.marks || lane.members || lane.alarms.length || lane.bands.some((band) => !band.internal));
    for (const lane of shown) {
      lane.drawn = lane.bands.filter((band) => internals || (!band.internal && band.segments.some(([, , value]) => !plain(texts[value])))).map((band) => ({ ...band, over: [] }));
      for (const alarm of lane.alarms) {
        const style = texts[alarm.name] === "under min isr" ? "set" : "node", own = lane.drawn.find((band) => !band.internal && band.style === style);
        if (own) own.over.push(alarm); else lane.drawn.unshift({ ...alarm, alarm: true, over: [] });
      }
      for (const band of lane.drawn) band.most = band.style === "set" ? Math.max(...band.segments.map(([, , value]) => size(texts[value])), 1) : 0;
      lane.height = Math.max(MARKS, lane.marks + lane.drawn.length * BAND);
      lane.top = top; top += lane.height + GAP;
    }
    height = top + 4;
    byId("all-lanes").style.height = height + "px";
  }
  const size = (text) => text === "none" || text === "{}" ? 0 : text.split(",").length;
  const frame = byId("lanes"), above = () => paper ? 0 : frame.scrollTop, LONGEST = 8000;
  const steps = [], stepsOf = new Map(), hidden = [];
  for (const past of histories) {
    past.first = steps.length;
    past.snapshots = [new Map(past.initial)];
    for (const step of past.steps) {
      const at = steps.push(step) - 1;
      step.push(past);
      if (step[0] < 0) hidden.push(at);
      else if (stepsOf.has(step[0])) stepsOf.get(step[0]).push(at);
      else stepsOf.set(step[0], [at]);
    }
  }
  for (let i = 0; i < count; i++) if (ev.time[i] !== null && ev.lane[i] >= 0) lanes[ev.lane[i]].events.push(i);
  for (const lane of lanes) lane.events.sort((a, b) => ev.time[a] - ev.time[b]);

  const moment = (ms, digits) => new Date(data.begin + ms).toISOString().replace("T", " ").slice(0, digits);
  const dark = () => matchMedia("(prefers-color-scheme: dark)").matches && !paper && !matchMedia("print").matches;
  const colours = new Map();
  const colour = (text) => {
    const key = text + dark();
    if (!colours.has(key)) {
      let hash = 7;
      for (let i = 0; i < text.length; i++) hash = (hash * 31 + text.charCodeAt(i)) >>> 0;
      const tone = HUES[toneOf(text)];
      colours.set(key, plain(text) ? "transparent" : tone ? `hsl(${tone} ${dark() ? 30 : 80}%)` : `hsl(${Math.floor(hash * 137.508) % 360} ${45 + hash % 25}% ${dark() ? 32 : 80}%)`);
    }
    return colours.get(key);
  };

  /** The colour of a node is the same in every lane. */
  const ofNode = (text) => {
    const id = /\d+/.exec(text);
    return plain(text) || !id ? "transparent" : `hsl(${Math.round(200 + Number(id[0]) * 137.508) % 360} ${dark() ? "45% 34%" : "60% 76%"})`;
  };
  const ofSet = (text, most) => {
    const there = size(text), light = dark() ? 30 : 78;
    return !there ? "transparent" : there >= most ? `hsl(145 40% ${light}%)` : there > 1 ? `hsl(48 85% ${light - 6}%)` : `hsl(25 90% ${light - 8}%)`;
  };
  const ofBand = (band, text) => band.style === "node" ? ofNode(text) : band.style === "set" ? ofSet(text, band.most) : colour(text);

  // ------------------------------------------------------------------ drawing
  const x = (time) => LABEL + (time - from) / (to - from) * (wide() - LABEL);
  const time = (px) => from + (px - LABEL) / (wide() - LABEL) * (to - from);
  /** What a band holds, as short as it can be said: a set is the list of its members. */
  const said = (band, text) => band.style === "set" && text.startsWith("{") ? text.slice(1, -1).replaceAll(", ", ",") : text;
  const fitted = (text, width) => {
    const most = Math.floor(width / 6.2);
    return text.length <= most ? text : most > 3 ? text.slice(0, most - 1) + "…" : "";
  };
  function draw() {
    const width = wide(), ratio = paper ? 2 : devicePixelRatio || 1, ink = dark() ? "#e3e6ea" : "#1c2024";
    const seen = paper ? Math.min(height, LONGEST) : Math.min(height, frame.clientHeight);
    canvas.style.height = paper ? "auto" : seen + "px";
    byId("all-lanes").style.height = paper ? "auto" : height + "px";
    // Only the part in view has pixels: browsers limit the size of a canvas, and there may be thousands of lanes.
    canvas.width = width * ratio; canvas.height = seen * ratio;
    pen.setTransform(ratio, 0, 0, ratio, 0, -above() * ratio);
    pen.textBaseline = "middle"; pen.font = "11px system-ui, sans-serif";
    grid(width, seen);
    for (const lane of shown) if (lane.top + lane.height > above() && lane.top < above() + seen) drawLane(lane, width, ink);
    byId("shown-requests").textContent = "";
    arrows(width, ink);
    pen.setTransform(ratio, 0, 0, ratio, 0, 0);
    pen.fillStyle = dark() ? "#15181c" : "#fff"; pen.fillRect(0, 0, width, AXIS - 1);
    axis(width, ink);
    pen.fillStyle = "#d97706";
    for (const at of hidden) { const px = x(steps[at][1]); if (px >= LABEL && px <= width) pen.fillRect(px, AXIS - 6, 1.5, 6); }
    if (chosen !== null && chosen.time !== null) { pen.fillStyle = ink; pen.fillRect(x(chosen.time), AXIS, 1, seen - AXIS); }
    byId("range").textContent = `${moment(from, 23)} to ${moment(to, 23)}.`;
  }
  const UNITS = [1, 2, 5, 10, 20, 50, 100, 200, 500, 1e3, 2e3, 5e3, 1e4, 3e4, 6e4, 12e4, 3e5, 6e5, 18e5, 36e5, 108e5, 216e5, 864e5, 6048e5];
  function ticks(width) {
    const unit = UNITS.find((u) => u / (to - from) * (width - LABEL) >= 90) || 31536e6, found = [];
    for (let t = Math.ceil((data.begin + from) / unit) * unit - data.begin; t <= to; t += unit) found.push(t);
    return [unit, found];
  }
  function grid(width, seen) {
    pen.fillStyle = dark() ? "#2a3038" : "#eceff2";
    for (const t of ticks(width)[1]) pen.fillRect(x(t), above(), 1, seen);
  }
  function axis(width, ink) {
    const [unit, found] = ticks(width);
    pen.fillStyle = ink; pen.font = "11px system-ui, sans-serif";
    for (const t of found) if (x(t) + (unit >= 864e5 ? 62 : unit < 1000 ? 70 : 50) < width) pen.fillText(unit >= 864e5 ? moment(t, 10) : moment(t, unit < 1000 ? 23 : 19).slice(11), x(t) + 2, 9);
  }
  function drawLane(lane, width, ink) {
    if (marked.has(lane)) { pen.fillStyle = dark() ? "#3a3420" : "#fff6d6"; pen.fillRect(0, lane.top - 2, width, lane.height + 4); }
    pen.fillStyle = ink; pen.font = "bold 11px system-ui, sans-serif";
    const label = lane.label || (lane.topic ? `▾ ${texts[lane.name]}` : texts[lane.name]);
    pen.fillText(fitted(label, lane.marks ? LABEL - 8 : NAME), 4, lane.top + 7);
    pen.font = "10px system-ui, sans-serif";
    lane.drawn.forEach((band, number) => drawBand(lane, band, lane.top + lane.marks + number * BAND, width, ink));
    // Blamed lines come last and lie above the others. Of several lines in one pixel one is drawn.
    for (const state of [0, 1, 2]) {
      pen.fillStyle = ["#b8bfc8", "#2563eb", "#dc2626"][state];
      let last = -1;
      for (const i of lane.events) {
        const t = ev.time[i];
        if (ev.state[i] !== state || t < from || t > to) continue;
        const px = Math.floor(x(t));
        if (px !== last) { pen.fillRect(px, lane.top + (state === 2 ? 0 : 2), state === 2 ? 3 : 1.5, state === 2 ? MARKS : MARKS - 4); last = px; }
      }
    }
    pen.fillStyle = dark() ? "#343a42" : "#d9dde2"; pen.fillRect(0, lane.top + lane.height + GAP / 2, width, 1);
  }
  function drawBand(lane, band, y, width, ink) {
    pen.fillStyle = dark() ? "#98a1ac" : "#6b7280";
    pen.textAlign = "right"; pen.fillText(fitted(texts[band.name], LABEL - 14 - (lane.marks ? 16 : NAME)), LABEL - 6, y + 7); pen.textAlign = "left";
    let last = -1;
    for (const [begin, end, value] of band.segments) {
      if (end < from || begin > to) continue;
      const a = Math.max(LABEL, x(begin)), b = Math.min(width, x(end));
      if (b - a < 0.5 && Math.floor(a) === last) continue;
      last = Math.floor(a);
      pen.fillStyle = band.alarm ? "#dc2626" : ofBand(band, texts[value]); pen.fillRect(a, y, Math.max(band.alarm ? 2 : 1, b - a - 0.5), BAND - 2);
      pen.fillStyle = band.alarm ? "#fff" : ink;
      const label = band.alarm ? texts[band.name] : said(band, texts[value]);
      if (b - a > 8 + 6 * Math.min(label.length, 3)) pen.fillText(fitted(label, b - a - 4), a + 3, y + 7);
    }
    for (const alarm of band.over) for (const [begin, end] of alarm.segments) {
      if (end < from || begin > to) continue;
      const a = Math.max(LABEL, x(begin)), b = Math.max(a + 2, Math.min(width, x(end)));
      pen.fillStyle = "#dc2626";
      if (band.style === "set") { pen.fillRect(a, y + BAND - 5, b - a, 3); continue; }
      pen.fillRect(a, y, b - a, BAND - 2);
      pen.fillStyle = "#fff";
      if (b - a > 24) pen.fillText(fitted(texts[alarm.name], b - a - 4), a + 3, y + 7);
    }
  }
  /** The requests that lines tell of, as arrows between the lanes of two nodes: as many as can be told apart. */
  const MOST_ARROWS = 400;
  function arrows(width, ink) {
    if (!byId("requests").checked && (chosen === null || chosen.event < 0)) return;
    const all = byId("requests").checked, seen = data.requests.filter(([i]) => (all || i === chosen.event) && ev.time[i] >= from && ev.time[i] <= to);
    pen.strokeStyle = pen.fillStyle = dark() ? "#93c5fd" : "#1d4ed8"; pen.lineWidth = 1;
    for (const [i, other, received] of seen.slice(0, MOST_ARROWS)) {
      const own = lanes[ev.lane[i]], there = lanes[other];
      if (!own || !shown.includes(own) || !shown.includes(there)) continue;
      const [a, b] = received ? [there, own] : [own, there], px = x(ev.time[i]), y1 = a.top + MARKS / 2, y2 = b.top + MARKS / 2, way = Math.sign(y2 - y1);
      pen.beginPath(); pen.moveTo(px, y1); pen.lineTo(px, y2 - way * 6); pen.stroke();
      pen.beginPath(); pen.moveTo(px, y2); pen.lineTo(px - 3.5, y2 - way * 7); pen.lineTo(px + 3.5, y2 - way * 7); pen.fill();
    }
    byId("shown-requests").textContent = all ? `${Math.min(seen.length, MOST_ARROWS).toLocaleString("en")} of ${seen.length.toLocaleString("en")} requests drawn.` : "";
  }

  // ------------------------------------------------------------------ one event
  const cell = (row, text, name) => { const td = row.insertCell(); td.textContent = text; if (name) td.className = name; return td; };
  function choose(event, step) {
    const all = event >= 0 ? stepsOf.get(event) || [] : [step];
    if (step === undefined) step = all[0];
    const t = event >= 0 ? ev.time[event] : steps[step][1];
    chosen = { event, step, time: t };
    byId("detail").hidden = false;
    byId("detail-place").textContent = event >= 0 ? `${texts[ev.file[event]]}:${ev.line[event]}` : "no line tells of this step";
    byId("detail-text").textContent = event >= 0 ? texts[ev.text[event]] : "";
    byId("detail-text").hidden = event < 0;
    byId("detail-read").textContent = event >= 0 ? `read as ${texts[ev.read[event]]}` + (t === null ? "" : `, ${moment(t, 23)}`) : `assumed to have happened at about ${moment(t, 23)}`;
    byId("detail-action").textContent = all.length ? "action: " + all.map((at) => (steps[at][2] >= 0 ? texts[steps[at][2]] : "none, it agrees with the state") + of(steps[at][4])).join("; ") : "no part of the execution";
    const table = byId("detail-changes"), state = byId("detail-state");
    table.replaceChildren(); state.replaceChildren();
    const before = new Map(), after = new Map();
    for (const at of all) {
      for (const [cell, value] of stateBefore(at)) if (!before.has(cell)) { before.set(cell, value); after.set(cell, value); }
      const changes = steps[at][3];
      for (let i = 0; i < changes.length; i += 3) {
        after.set(changes[i], changes[i + 2]);
        const row = table.insertRow();
        cell(row, texts[changes[i]]); cell(row, texts[changes[i + 1]]); cell(row, "→"); cell(row, texts[changes[i + 2]], "after");
      }
    }
    for (const [name, value] of after) {
      const row = state.insertRow(), old = before.get(name);
      if (old !== value) row.className = "changed";
      cell(row, texts[name]); cell(row, old === undefined ? "" : texts[old]); cell(row, old === value ? "" : "→"); cell(row, old === value ? "" : texts[value], "after");
    }
    draw(); showRows();
  }
  // A state is made from the one that is kept for each 500 steps: of 100,000 steps few have to be gone through again.
  const EVERY = 500, of = (past) => past.slice < 0 || !texts[past.slice] ? "" : ` in ${texts[past.slice]}`;
  function stateBefore(at) {
    const past = steps[at][4], own = at - past.first, kept = past.snapshots;
    while (kept.length <= Math.floor(own / EVERY)) kept.push(applied(new Map(kept.at(-1)), past, (kept.length - 1) * EVERY, kept.length * EVERY));
    const base = Math.floor(own / EVERY);
    return applied(new Map(kept[base]), past, base * EVERY, own);
  }
  function applied(state, past, first, last) {
    for (const step of past.steps.slice(first, last)) for (let c = 0; c < step[3].length; c += 3) state.set(step[3][c], step[3][c + 2]);
    return state;
  }
  function nearest(px, y) {
    if (y >= AXIS) y += above();
    const lane = shown.find((l) => y >= l.top - 2 && y < l.top + l.height + GAP / 2);
    if (y < AXIS) {
      const step = hidden.reduce((best, at) => Math.abs(x(steps[at][1]) - px) < Math.abs((best === null ? 1e9 : x(steps[best][1])) - px) ? at : best, null);
      if (step !== null && Math.abs(x(steps[step][1]) - px) < 8) return choose(-1, step);
    }
    if (lane && lane.topic && px < LABEL) {
      if (unfolded.has(lane.topic)) unfolded.delete(lane.topic); else unfolded.add(lane.topic);
      place(); draw();
      return;
    }
    if (!lane || !lane.events.length) return;
    let best = null, gap = 9;
    for (const i of lane.events) {
      // A line that was compared is preferred to its neighbours, and a blamed one even more.
      const d = Math.abs(x(ev.time[i]) - px) - ev.state[i] * 1.5;
      if (d < gap) { gap = d; best = i; }
    }
    if (best !== null) choose(best);
  }

  // ------------------------------------------------------------------ moving about
  function view(begin, end) {
    const least = Math.min(span, 5), width = Math.min(span, Math.max(least, end - begin));
    from = Math.max(0, Math.min(begin, span - width)); to = from + width;
    requestAnimationFrame(draw);
  }
  const zoom = (factor, at) => view(at - (at - from) * factor, at + (to - at) * factor);
  canvas.addEventListener("wheel", (e) => {
    if (!e.ctrlKey && !e.metaKey && !e.shiftKey) return;
    e.preventDefault();
    const by = (e.deltaY || e.deltaX) / 800 * (to - from);
    e.shiftKey ? view(from + by, to + by) : zoom(e.deltaY > 0 ? 1.25 : 0.8, time(e.offsetX));
  }, { passive: false });
  canvas.addEventListener("dblclick", (e) => zoom(0.4, time(e.offsetX)));
  frame.addEventListener("scroll", () => requestAnimationFrame(draw));
  byId("lane-filter").addEventListener("input", () => { place(); frame.scrollTop = 0; draw(); });
  byId("requests").addEventListener("change", draw);
  byId("internals").addEventListener("change", () => { place(); draw(); });
  byId("fold").addEventListener("click", () => {
    if (unfolded.size) unfolded.clear(); else for (const name of topics.keys()) unfolded.add(name);
    place(); draw();
  });
  let drag = null;
  canvas.addEventListener("pointerdown", (e) => { drag = { x: e.offsetX, from, to, moved: false }; canvas.setPointerCapture(e.pointerId); });
  canvas.addEventListener("pointermove", (e) => {
    if (!drag) return;
    if (Math.abs(e.offsetX - drag.x) > 3) drag.moved = true;
    const shift = (drag.x - e.offsetX) / (wide() - LABEL) * (drag.to - drag.from);
    if (drag.moved) view(drag.from + shift, drag.to + shift);
  });
  canvas.addEventListener("pointerup", (e) => { if (drag && !drag.moved) nearest(e.offsetX, e.offsetY); drag = null; });
  canvas.addEventListener("keydown", (e) => {
    const move = { ArrowLeft: -0.1, ArrowRight: 0.1 }[e.key];
    if (move) view(from + move * (to - from), to + move * (to - from));
    else if (e.key === "0") view(0, span);
    else if (e.key === "f") byId("fold").click();
    else if (e.key === "r") byId("requests").click();
    else if (e.key === "+" || e.key === "-") zoom(e.key === "+" ? 0.8 : 1.25, (from + to) / 2);
  });
  document.querySelectorAll("[data-zoom]").forEach((b) => b.addEventListener("click", () => b.dataset.zoom === "all" ? view(0, span) : zoom(b.dataset.zoom === "in" ? 0.6 : 1.6, (from + to) / 2)));
  const around = (t) => { if (t !== null && (t < from || t > to)) view(t - (to - from) / 2, t + (to - from) / 2); };
  const follow = (by) => {
    if (!chosen || chosen.step === undefined) return;
    const at = chosen.step + by;
    if (at < 0 || at >= steps.length) return;
    choose(steps[at][0], at); around(chosen.time);
  };
  byId("previous").addEventListener("click", () => follow(-1));
  byId("next").addEventListener("click", () => follow(1));
  byId("close").addEventListener("click", () => { byId("detail").hidden = true; chosen = null; draw(); });
  document.querySelectorAll("a.place").forEach((a) => a.addEventListener("click", (e) => {
    e.preventDefault();
    for (let i = 0; i < count; i++) if (String(ev.line[i]) === a.dataset.line && texts[ev.file[i]] === a.dataset.file) { choose(i); around(ev.time[i]); byId("timeline").scrollIntoView(); return; }
  }));

  document.querySelectorAll("a.lane").forEach((a) => a.addEventListener("click", (e) => {
    e.preventDefault();
    const names = a.dataset.names.split("|"), own = lanes.filter((lane) => names.includes(texts[lane.name]));
    for (const lane of own) if (topics.has(lane.topic)) unfolded.add(lane.topic);
    byId("lane-filter").value = ""; marked = new Set(own); place();
    if (a.dataset.from) { const begin = Number(a.dataset.from) - data.begin, end = Number(a.dataset.to) - data.begin, edge = (end - begin) / 2 + 2000; view(begin - edge, end + edge); }
    byId("timeline").scrollIntoView();
    if (own.length) frame.scrollTop = own[0].top - AXIS;
    draw();
  }));
  document.querySelectorAll("a.when").forEach((a) => a.addEventListener("click", (e) => {
    e.preventDefault();
    const begin = Number(a.dataset.from) - data.begin, end = Number(a.dataset.to) - data.begin, edge = (end - begin) / 4 + 50;
    view(begin - edge, end + edge); byId("timeline").scrollIntoView();
  }));

  // ------------------------------------------------------------------ the story of a slice: the steps that changed something
  const TOLD = 2000, bySlice = new Map(histories.filter((past) => past.slice >= 0 && texts[past.slice]).map((past) => [texts[past.slice], past]));
  byId("story").hidden = !bySlice.size;
  for (const name of bySlice.keys()) byId("story-names").append(new Option(name, name));
  function tell() {
    const past = bySlice.get(byId("story-name").value), table = byId("story-steps");
    table.replaceChildren();
    const own = past ? past.steps.flatMap((step, i) => step[3].length ? [past.first + i] : []) : [];
    byId("story-found").textContent = past ? `${own.length.toLocaleString("en")} changes` + (own.length > TOLD ? `, the first ${TOLD} of them` : "") : "";
    for (const at of own.slice(0, TOLD)) {
      const [event, time, action, changes] = steps[at], row = table.insertRow(), news = [];
      for (let i = 0; i < changes.length; i += 3) if (texts[changes[i + 1]].length + texts[changes[i + 2]].length < 120) news.push(`${texts[changes[i]]}: ${texts[changes[i + 1]]} → ${texts[changes[i + 2]]}`);
      cell(row, moment(time, 23)); cell(row, event < 0 ? "no line tells of it" : texts[ev.text[event]]); cell(row, texts[action] || "", "faint"); cell(row, news.join("; "), "after");
      row.addEventListener("click", () => { choose(event, event < 0 ? at : undefined); around(time); });
    }
  }
  byId("story-name").addEventListener("input", tell);

  // ------------------------------------------------------------------ the list: only the rows in view exist
  const ROW = 22, rows = byId("rows"), body = byId("visible");
  const order = Array.from({ length: count }, (_, i) => i).sort((a, b) => (ev.time[a] ?? -1) - (ev.time[b] ?? -1) || a - b);
  let listed = order;
  function filter() {
    const wanted = byId("search").value.toLowerCase(), only = byId("only-used").checked;
    const hits = wanted ? new Set(texts.flatMap((t, i) => t.toLowerCase().includes(wanted) ? [i] : [])) : null;
    listed = order.filter((i) => (!only || ev.state[i] > 0) && (!hits || hits.has(ev.text[i]) || hits.has(ev.kind[i]) || hits.has(ev.file[i])));
    byId("found").textContent = `${listed.length.toLocaleString("en")} of ${count.toLocaleString("en")}`;
    rows.scrollTop = 0; showRows();
  }
  function showRows() {
    byId("spacer").style.height = listed.length * ROW + "px";
    const first = Math.max(0, Math.floor(rows.scrollTop / ROW) - 4);
    body.style.top = first * ROW + "px";
    body.replaceChildren();
    for (const i of listed.slice(first, first + 26)) {
      const row = body.insertRow();
      row.className = `s${ev.state[i]}` + (chosen && chosen.event === i ? " chosen" : "");
      cell(row, ev.time[i] === null ? "" : moment(ev.time[i], 23)); cell(row, ev.lane[i] < 0 ? "" : texts[lanes[ev.lane[i]].name]); cell(row, texts[ev.kind[i]]); cell(row, texts[ev.text[i]]);
      row.addEventListener("click", () => { choose(i); around(ev.time[i]); });
    }
  }
  rows.addEventListener("scroll", () => requestAnimationFrame(showRows));
  byId("search").addEventListener("input", filter);
  byId("only-used").addEventListener("change", filter);
  canvas.addEventListener("redraw", draw);
  addEventListener("resize", draw);
  addEventListener("beforeprint", () => { paper = PAPER; from = 0; to = span; draw(); });
  addEventListener("afterprint", () => { paper = 0; draw(); });
  place(); draw(); filter();
  document.documentElement.dataset.drawn = Math.round(performance.now());
  if (location.hash.startsWith("#event=")) { const i = Number(location.hash.slice(7)); if (i < count) choose(i); }
  }
})();
