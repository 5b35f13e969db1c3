(() => {
  const byId = (id) => document.getElementById(id);
  const rank = new Map(DATA.states.map((state, i) => [state.id, i]));
  const nameOf = (id) => DATA.states[rank.get(id)].name;
  const colorOfState = (id) => colorOf(rank.get(id));
  const LEFT = 56, RIGHT = 8, PANEL = 104, BAND = 26, CHANGE = 72, GAP = 24;
  let sequence = null, at = 0;

  [...byId("states").tBodies[0].rows].forEach((row, i) =>
    row.cells[0].prepend(make("span", {class: "swatch", "aria-hidden": "true", style: {background: colorOf(i)}}), " "));

  const text = (x, y, anchor, content) => draw("text", {x, y, "text-anchor": anchor}, content);
  const countBins = (entry) => entry.q.length;
  const labelAt = (entry, i) => entry.x ? entry.x[i] : String(i * entry.z);
  function runsOf(entry) {
    const out = [];
    for (let i = 0; i < entry.s.length; i += 2) out.push([entry.s[i], entry.s[i + 1], i + 2 < entry.s.length ? entry.s[i + 2] : countBins(entry)]);
    return out;
  }
  function extent(lists) {
    let low = Infinity, high = -Infinity;
    for (const list of lists) for (const value of list) if (value !== null) { low = Math.min(low, value); high = Math.max(high, value); }
    if (low > high) return [0, 1];
    return low === high ? [low - 0.5, high + 0.5] : [low, high];
  }
  const tickText = (column, value) => column.categories ? column.categories[Math.round(value)] ?? "" : shown(value);
  function pathOf(xs, ys) {
    let d = "", open = false;
    ys.forEach((y, i) => {
      if (y === null) { open = false; return; }
      const before = open, after = i + 1 < ys.length && ys[i + 1] !== null;
      d += (open ? "L" : "M") + xs(i).toFixed(1) + " " + y.toFixed(1) + (!before && !after ? "h1" : "");
      open = true;
    });
    return d;
  }
  // A frame with its title and the ends of its scale.
  const frameOf = (width, top, height, title, low, high) => [
    draw("rect", {class: "frame", x: LEFT, y: top, width: width - LEFT - RIGHT, height}),
    text(LEFT, top - 6, "start", title), text(LEFT - 5, top + height, "end", low), text(LEFT - 5, top + 11, "end", high)];
  const axisOf = (width, y, labels) => labels.map(([x, content], i) => text(Math.max(x, LEFT), y, i === 0 ? "start" : i === labels.length - 1 ? "end" : "middle", content));

  function showChart() {
    const entry = sequence, bins = countBins(entry), box = byId("chart");
    const width = Math.max(box.clientWidth, 240), x = (i) => LEFT + (width - LEFT - RIGHT) * i / bins, mid = (i) => x(i + 0.5);
    const parts = [];
    let top = GAP;
    const runs = runsOf(entry);
    const bands = (y, height, opacity) => runs.map(([begin, state, end]) =>
      draw("rect", {x: x(begin).toFixed(1), y, width: Math.max(x(end) - x(begin), 0.5).toFixed(1), height, fill: colorOfState(state), opacity}));
    DATA.columns.forEach((column, d) => {
      const lows = entry.v ? entry.v[d] : entry.lo[d], highs = entry.v ? entry.v[d] : entry.hi[d];
      const [low, high] = extent([lows, highs]), y = (value) => top + PANEL - 4 - (PANEL - 8) * (value - low) / (high - low);
      parts.push(...bands(top, PANEL, 0.28), ...frameOf(width, top, PANEL, column.name, tickText(column, low), tickText(column, high)));
      if (entry.v && column.categories) parts.push(draw("path", {class: "dots", d: lows.map((v, i) => v === null ? "" : "M" + (mid(i) - 1.5).toFixed(1) + " " + y(v).toFixed(1) + "h3").join("")}));
      else if (entry.v) parts.push(draw("path", {class: "series", d: pathOf(mid, lows.map((v) => v === null ? null : y(v)))}));
      else parts.push(draw("path", {class: "series", d: lows.map((v, i) => v === null ? "" : "M" + mid(i).toFixed(1) + " " + (y(v) + 0.5).toFixed(1) + "V" + (y(highs[i]) - 0.5).toFixed(1)).join("")}));
      top += PANEL + GAP;
    });
    parts.push(...bands(top, BAND, 1), ...frameOf(width, top, BAND, "states", "", ""));
    top += BAND + GAP;
    const y = (share) => top + CHANGE - CHANGE * share / 1000;
    parts.push(...frameOf(width, top, CHANGE, "probability of a change", "0", "1"),
      draw("path", {class: "change", d: entry.q.map((q, i) => q ? "M" + mid(i).toFixed(1) + " " + y(0) + "V" + y(q).toFixed(1) : "").join("")}));
    top += CHANGE;
    const n = Math.max(2, Math.min(bins, Math.floor(width / 170))), ticks = [];
    for (let i = 0; i < n; i++) { const j = Math.round((bins - 1) * i / (n - 1)); ticks.push([mid(j), labelAt(entry, j)]); }
    parts.push(...axisOf(width, top + 16, bins > 1 ? ticks : ticks.slice(0, 1)));
    parts.push(draw("line", {class: "cursor", x1: mid(at), x2: mid(at), y1: GAP, y2: top}));
    const share = new Map();
    runs.forEach(([begin, state, end]) => share.set(state, (share.get(state) || 0) + (end - begin) / bins));
    const names = [...share].sort((a, b) => b[1] - a[1]).slice(0, 5).map(([state, part]) => nameOf(state) + " " + percent(part));
    const svg = draw("svg", {class: "chart", width, height: top + 24, viewBox: "0 0 " + width + " " + (top + 24), role: "img",
      "aria-label": entry.t + ": " + plural(entry.n, "step") + ", " + plural(runs.length, "run") + "; " + names.join(", ")}, ...parts);
    svg.addEventListener("click", (event) => {
      const area = svg.getBoundingClientRect();
      at = Math.max(0, Math.min(bins - 1, Math.floor(bins * (event.clientX - area.left - LEFT) / (area.width - LEFT - RIGHT))));
      byId("step").value = String(at);
      showStep();
    });
    box.replaceChildren(svg);
  }
  function showStep() {
    const entry = sequence, last = Math.min((at + 1) * entry.z, entry.n) - 1, first = at * entry.z;
    const place = (first === last ? "step " + first : "steps " + first + " to " + last) + (entry.x ? " (" + entry.x[at] + ")" : "");
    const run = runsOf(entry).find(([begin, , end]) => begin <= at && at < end);
    const value = (column, d) => {
      const write = (v) => v === null ? "missing" : column.categories ? tickText(column, v) : shown(v);
      return column.name + " " + (entry.v ? write(entry.v[d][at]) : entry.lo[d][at] === entry.hi[d][at] ? write(entry.lo[d][at]) : write(entry.lo[d][at]) + " to " + write(entry.hi[d][at]));
    };
    byId("step").setAttribute("aria-valuetext", place);
    byId("here").replaceChildren(make("b", {}, place), ": ",
      make("span", {class: "swatch", "aria-hidden": "true", style: {background: colorOfState(run[1])}}), " " + nameOf(run[1]) +
      (entry.z > 1 ? ", states have probability at least " : " with probability ") + (entry.p[at] / 1000).toFixed(2) + "; probability of a change " + (entry.z > 1 ? "up to " : "") + (entry.q[at] / 1000).toFixed(2) + "; " + DATA.columns.map(value).join(", ") + ".");
    showChart();
  }
  function showForecast() {
    const f = sequence.f, box = byId("forecast");
    box.replaceChildren();
    if (!f) return;
    const past = f.past[0].length, ahead = f.mean[0].length, n = past + ahead;
    const width = Math.max(byId("chart").clientWidth, 240), x = (i) => LEFT + (width - LEFT - RIGHT) * (i + 0.5) / n;
    const parts = [];
    let top = GAP;
    DATA.columns.forEach((column, d) => {
      const [low, high] = extent([f.past[d], f.mean[d], f.lo[d], f.hi[d]]), y = (v) => top + PANEL - 4 - (PANEL - 8) * (v - low) / (high - low);
      const ys = (list) => list.map((v) => v === null ? null : y(v));
      parts.push(...frameOf(width, top, PANEL, column.name, shown(low), shown(high)));
      if (f.mean[d].every((v, i) => v !== null && f.lo[d][i] !== null && f.hi[d][i] !== null)) {
        const upper = f.hi[d].map((v, i) => x(past + i).toFixed(1) + " " + y(v).toFixed(1)), lower = f.lo[d].map((v, i) => x(past + i).toFixed(1) + " " + y(v).toFixed(1));
        parts.push(draw("path", {class: "interval", d: "M" + upper.join("L") + "L" + lower.reverse().join("L") + "z"}));
      }
      parts.push(draw("path", {class: "series", d: pathOf(x, ys(f.past[d]))}), draw("path", {class: "mean", d: pathOf((i) => x(past + i), ys(f.mean[d]))}));
      top += PANEL + GAP;
    });
    const label = (i) => f.x ? f.x[i] : String(f.n + i);
    const ticks = [...new Set([0, Math.max(past, 0), n - 1])].map((i) => [x(i), label(i)]);
    parts.push(...axisOf(width, top - GAP + 16, width < 500 && f.x ? [ticks[0], ticks[ticks.length - 1]] : ticks));
    const head = ["step", ...DATA.columns.flatMap((column) => [column.name, "interval"])];
    const rows = Array.from({length: ahead}, (_, i) => make("tr", {}, make("th", {scope: "row"}, label(past + i)),
      ...DATA.columns.flatMap((_, d) => [make("td", {}, shown(f.mean[d][i])), make("td", {}, shown(f.lo[d][i]) + " to " + shown(f.hi[d][i]))])));
    box.append(make("h3", {}, "Forecast of the next " + plural(ahead, "step")),
      draw("svg", {class: "chart", width, height: top, viewBox: "0 0 " + width + " " + top, role: "img", "aria-label": "Forecast with intervals of probability " + DATA.interval + "; the numbers are in the table below."}, ...parts),
      make("details", {}, make("summary", {}, "Numbers"), make("div", {class: "scroll", role: "region", tabindex: "0", "aria-label": "Numbers of the forecast"}, make("table", {},
        make("thead", {}, make("tr", {}, ...head.map((name) => make("th", {scope: "col"}, name)))), make("tbody", {}, ...rows)))));
  }
  function showSequence() {
    sequence = DATA.sequences[Number(byId("sequence").value)];
    at = 0;
    byId("step").max = String(countBins(sequence) - 1);
    byId("step").value = "0";
    byId("scale").textContent = plural(sequence.n, "step") + (sequence.z > 1 ? ", drawn in " + plural(countBins(sequence), "bin") + " of " + plural(sequence.z, "step") : "") + ".";
    showStep();
    showForecast();
  }
  byId("sequence").replaceChildren(...DATA.sequences.map((entry, i) => make("option", {value: i}, entry.t)));
  byId("sequence").addEventListener("change", showSequence);
  byId("step").addEventListener("input", (event) => { at = Number(event.target.value); showStep(); });
  byId("sequence").closest(".controls").hidden = DATA.sequences.length === 1;
  byId("sequences").hidden = false;
  showSequence();
  let waiting = 0;
  window.addEventListener("resize", () => { clearTimeout(waiting); waiting = setTimeout(() => { showChart(); showForecast(); }, 100); });
})();
