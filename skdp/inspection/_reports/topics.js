(() => {
  const byId = (id) => document.getElementById(id);
  const topics = DATA.topics, documents = DATA.documents, PAGE = 20;
  let step = DATA.first, chosen = null, matched = new Set(), limit = PAGE, visible = [];
  const label = (topic) => "topic " + topic.id + (topic.name === null ? "" : " · " + topic.name);
  const pairs = (flat) => { const out = []; for (let i = 0; i < flat.length; i += 2) out.push([flat[i], flat[i + 1]]); return out; };

  // Topics: relevance = lambda log phi + (1 - lambda) log(phi / p(w)) = log phi - (1 - lambda) log p(w)
  function order(topic) {
    const weight = 1 - step / DATA.steps;
    return topic.words.map((word, i) => [topic.log_phi[i] - weight * DATA.log_p[word], word])
      .sort((a, b) => b[0] - a[0] || a[1] - b[1]).slice(0, DATA.n_words).map((pair) => pair[1]);
  }
  const items = topics.map((topic, rank) => {
    const swatch = make("span", {class: "swatch", "aria-hidden": "true", style: {background: colorOf(rank)}});
    const words = make("p");
    const button = make("button", {type: "button", class: "topic", "aria-pressed": "false", onclick: () => choose(rank)},
      swatch, make("span", {class: "name"}, label(topic)), make("span", {class: "share"}, percent(topic.share)));
    const bar = make("div", {class: "bar", "aria-hidden": "true"}, make("i", {style: {width: 100 * topic.share / topics[0].share + "%"}}));
    return {node: make("li", {}, button, bar, words), words, button};
  });
  function showWords() {
    items.forEach((item, rank) => {
      const list = order(topics[rank]);
      item.words.replaceChildren(...list.flatMap((word, i) => {
        const text = matched.has(word) ? make("mark", {}, DATA.words[word]) : DATA.words[word];
        return i ? [", ", text] : [text];
      }));
    });
  }
  function choose(rank) {
    chosen = chosen === rank ? null : rank;
    items.forEach((item, i) => {
      item.button.setAttribute("aria-pressed", String(i === chosen));
      item.node.classList.toggle("chosen", i === chosen);
    });
    showKey();
    visible.forEach((entry) => entry.paint());
  }
  const slider = byId("relevance");
  slider.addEventListener("input", () => {
    step = Number(slider.value);
    const value = (step / DATA.steps).toFixed(2);
    byId("relevance-value").textContent = value;
    slider.setAttribute("aria-valuetext", "lambda " + value);
    showWords();
  });
  slider.value = String(step);
  slider.setAttribute("aria-valuetext", "lambda " + (step / DATA.steps).toFixed(2));

  const folded = DATA.words.map((word) => word.toLowerCase());
  function findWords(query) {
    const found = [];
    folded.forEach((word, i) => { if (word.includes(query)) found.push(i); });
    return found.sort((a, b) => (folded[b] === query) - (folded[a] === query) || DATA.log_p[b] - DATA.log_p[a] || a - b);
  }
  byId("words").addEventListener("input", (event) => {
    const query = event.target.value.trim().toLowerCase(), found = query ? findWords(query) : [];
    matched = new Set(found);
    const owners = new Set(found.flatMap((word) => pairs(DATA.owners[word]).map((pair) => pair[0])));
    items.forEach((item, rank) => item.node.classList.toggle("hit", owners.has(rank)));
    const text = found.slice(0, 3).map((word) => DATA.words[word] + ": " + (pairs(DATA.owners[word]).sort((a, b) => b[1] - a[1])
      .map(([rank, share]) => "topic " + topics[rank].id + " " + percent(share / 1000)).join(", ") || "no topic"));
    byId("words-found").textContent = !query ? "" : found.length ? plural(found.length, "word") + ". " + text.join("; ") + "." : "No word.";
    showWords();
  });

  // Documents
  function showKey() {
    const others = topics.length > DATA.palette.length ? " Topics after the first " + DATA.palette.length + " are gray." : "";
    byId("key").textContent = chosen === null
      ? "Each column is a segment. Colors are those of the topics above; press a topic to see where it is." + others
      : "Shown: " + label(topics[chosen]) + ". Press it again to see all topics.";
  }
  function paintStrip(svg, entry) {
    const columns = entry.c, paths = new Map(), height = columns.map(() => 0);
    columns.forEach((flat, x) => pairs(flat).forEach(([rank, share]) => {
      if (chosen !== null && rank !== chosen) return;
      const y = 1000 - height[x] - share;
      paths.set(rank, (paths.get(rank) || "") + "M" + x + " " + y + "h1v" + share + "h-1z");
      height[x] += share;
    }));
    const drawn = [...paths].sort((a, b) => a[0] - b[0]).map(([rank, d]) =>
      draw("path", {d, fill: chosen !== null && rank >= DATA.palette.length ? "var(--accent)" : colorOf(rank), "shape-rendering": "crispEdges"}));
    const line = (d, color, width) => draw("path", {d, stroke: color, "stroke-width": width, fill: "none", "vector-effect": "non-scaling-stroke"});
    const rimmed = (d) => d ? [line(d, "#fff", 4), line(d, "#000", 2)] : [];
    const parts = (entry.p || []).map((x) => "M" + x + " 0V1000").join("");
    const cuts = pairs(entry.q || []).map(([x, share]) => "M" + x + " 1000V" + (1000 - share)).join("");
    const cursor = entry.at === undefined ? [] : rimmed("M" + entry.at + " 0h1v1000h-1z");
    svg.replaceChildren(...drawn, ...rimmed(parts), ...rimmed(cuts), ...cursor);
  }
  function summarize(entry) {
    const total = new Map();
    let n = 0;
    entry.c.forEach((flat, x) => {
      const weight = entry.l[x] || 1e-9;
      n += weight;
      pairs(flat).forEach(([rank, share]) => total.set(rank, (total.get(rank) || 0) + weight * share));
    });
    return [...total].sort((a, b) => b[1] - a[1]).slice(0, 3).map(([rank, share]) => label(topics[rank]) + " " + percent(share / n / 1000));
  }
  function showDetails(entry, box, number, svg) {
    const place = make("div", {role: "status"});
    const slide = make("input", {type: "range", min: 0, max: entry.c.length - 1, step: 1, value: 0, id: "segment-" + number});
    const text = make("label", {for: slide.id}, "Segment");
    const show = () => {
      const x = Number(slide.value), first = x * entry.z, last = Math.min(first + entry.z, entry.s) - 1;
      const name = first === last ? "segment " + first : "segments " + first + " to " + last;
      slide.setAttribute("aria-valuetext", name);
      entry.at = x;
      paintStrip(svg, entry);
      const cut = entry.q && pairs(entry.q).find((pair) => pair[0] === x);
      place.replaceChildren(
        make("b", {}, name), " of " + entry.s + " (from 0), " + plural(entry.l[x], "word") + (entry.q && x > 0 ? "; a cut before it has probability " + ((cut ? cut[1] : 0) / 1000).toFixed(2) : ""),
        make("ul", {}, ...pairs(entry.c[x]).sort((a, b) => b[1] - a[1]).slice(0, 5).map(([rank, share]) =>
          make("li", {}, make("span", {class: "swatch", "aria-hidden": "true", style: {background: colorOf(rank)}}), " " + percent(share / 1000) + " " + label(topics[rank]) + " (" + order(topics[rank]).slice(0, 3).map((word) => DATA.words[word]).join(", ") + ")"))),
        entry.m[x].length ? make("p", {class: "note"}, "Words that stand out: " + entry.m[x].map((word) => DATA.words[word]).join(", ") + ".") : "");
    };
    slide.addEventListener("input", show);
    const parts = entry.r ? [make("p", {class: "note"}, entry.r.length ? "Parts begin at units " + [0, ...entry.r].join(", ") + "." : "One part.")] : [];
    box.replaceChildren(...parts, text, slide, place);
    show();
    return (x) => { if (x !== null) slide.value = String(x); show(); };
  }
  function makeDocument(entry, number) {
    const box = make("div", {class: "details", hidden: true, id: "details-" + number});
    let select = null;
    const button = make("button", {type: "button", class: "title", "aria-expanded": "false", "aria-controls": box.id}, entry.t);
    const open = (shown) => {
      button.setAttribute("aria-expanded", String(shown));
      box.hidden = !shown;
      if (!shown) { delete entry.at; paintStrip(svg, entry); }
      else if (select !== null) select(null);
      if (shown && select === null && entry.c.length) select = showDetails(entry, box, number, svg);
      if (shown && !entry.c.length) box.textContent = "No segments.";
    };
    button.addEventListener("click", () => open(box.hidden));
    const sum = summarize(entry);
    const size = plural(entry.s, "segment") + ", " + plural(entry.n, "word");
    const svg = draw("svg", {class: "strip", viewBox: "0 0 " + Math.max(entry.c.length, 1) + " 1000", preserveAspectRatio: "none", role: "img",
      "aria-label": entry.t + ": " + size + (sum.length ? "; " + sum.join(", ") : "")});
    svg.addEventListener("click", (event) => {
      const area = svg.getBoundingClientRect();
      open(true);
      if (select) select(Math.max(0, Math.min(entry.c.length - 1, Math.floor(entry.c.length * (event.clientX - area.left) / area.width))));
    });
    const paint = () => paintStrip(svg, entry);
    paint();
    return {node: make("article", {class: "document"}, make("h3", {}, button), make("p", {class: "note"}, size + (entry.z > 1 ? "; a column is the mean of " + plural(entry.z, "segment") : "")), svg, box), paint};
  }
  const built = new Map();
  function showDocuments(focus) {
    const query = byId("titles").value.trim().toLowerCase();
    let found = documents.map((_, i) => i);
    if (query) {
      const words = new Set(findWords(query));
      found = found.filter((i) => documents[i].t.toLowerCase().includes(query) || documents[i].w.some((word) => words.has(word)));
    }
    const first = visible.length;
    const here = found.slice(0, limit);
    visible = here.map((i) => { if (!built.has(i)) built.set(i, makeDocument(documents[i], i)); return built.get(i); });
    visible.forEach((entry) => entry.paint());
    byId("strips").replaceChildren(...visible.map((entry) => entry.node));
    byId("documents-found").textContent = (query ? plural(found.length, "document") + " found; " : "") + here.length.toLocaleString("en") + " of " + plural(found.length, "document") + " shown.";
    byId("more").hidden = here.length === found.length;
    if (focus && visible[first]) visible[first].node.querySelector("button").focus();
  }
  byId("titles").addEventListener("input", () => { limit = PAGE; showDocuments(false); });
  byId("more").addEventListener("click", () => { limit += PAGE; showDocuments(true); });

  byId("topics").replaceChildren(...items.map((item) => item.node));
  byId("topic-controls").hidden = false;
  byId("documents").hidden = false;
  showWords();
  showKey();
  showDocuments(false);
})();
