"use strict";
(async () => {
  const byId = (id) => document.getElementById(id);
  const facts = JSON.parse(byId("facts").textContent);
  const unpacked = async (letters) => {
    let packed;
    if (Uint8Array.fromBase64) packed = Uint8Array.fromBase64(letters);
    else {
      letters = atob(letters);
      packed = new Uint8Array(letters.length);
      for (let i = 0; i < packed.length; i++) packed[i] = letters.charCodeAt(i);
    }
    return new Uint8Array(await new Response(new Blob([packed]).stream().pipeThrough(new DecompressionStream("deflate"))).arrayBuffer());
  };
  const total = facts.tracks.reduce((sum, track) => sum + track[2], 0);
  // Whole numbers beyond 32 bits: groups of seven bits are added up, not shifted.
  const column = (from, Kind, n = total) => {
    const out = new Kind(n);
    for (let i = 0, at = 0; i < n; i++) {
      let byte = from[at++], value = byte & 127;
      for (let scale = 128; byte > 127; scale *= 128) { byte = from[at++]; value += (byte & 127) * scale; }
      out[i] = value;
    }
    return out;
  };
  // Each block has its length before it. What is asked for later alone stays packed until then.
  let blocks = [], bytes = await unpacked(byId("data").textContent.trim());
  for (let at = 0; at < bytes.length;) {
    const [length] = column(bytes.subarray(at, at + 8), Float64Array, 1);
    while (bytes[at] > 127) at++;
    blocks.push(bytes.subarray(at + 1, at + 1 + length));
    at += 1 + length;
  }
  const read = (block) => JSON.parse(new TextDecoder().decode(block)), [uses, written, told_] = blocks.splice(facts.columns.length).map((block) => block.slice());
  const texts = read(written), Few = texts.length < 65535 ? Uint16Array : Int32Array, used = column(uses, Uint8Array, texts.length);
  const KINDS = { start_ns: Float64Array, dur_ns: facts.long ? Float64Array : Uint32Array, detail: Int32Array, launch: Int32Array, partner: Int32Array, step: Int32Array };
  const col = {}, once = (act) => { let found; return () => found ??= act(); };
  facts.columns.forEach((name, k) => {
    const block = k < 4 ? blocks[k] : blocks[k].slice(), get = once(() => column(block, KINDS[name] || Few));
    if (k < 4) col[name] = get(); else Object.defineProperty(col, name, { get });
  });
  blocks = bytes = null;
  const { start_ns, dur_ns } = col, details = once(() => read(told_));
  const text = (name, i) => col[name][i] ? texts[col[name][i] - 1] : "";
  const stops = (i) => start_ns[i] + dur_ns[i];
  const search = (n, test) => { let lo = 0, hi = n; while (lo < hi) { const mid = (lo + hi) >> 1; if (test(mid)) hi = mid; else lo = mid + 1; } return lo; };

  // Tracks: rows of one depth of a track do not overlap; the sums before each tell how busy any part of them is.
  const HEIGHT = 17, HEAD = 16, DEEPEST = 24, RULER = 22;
  const rows = [], tracks = [];
  let first = 0, end = 0;
  for (const [group, label, n] of facts.tracks) {
    let time = 0;
    const depths = new Uint8Array(n), counts = [], open = [];
    for (let k = 0; k < n; k++) {
      time = start_ns[first + k] += time;
      const stop = time + dur_ns[first + k];
      if (stop > end) end = stop;
      while (open.length && open[open.length - 1] <= time) open.pop();
      const depth = depths[k] = Math.min(open.length, DEEPEST - 1);
      counts[depth] = (counts[depth] || 0) + 1;
      open.push(stop);
    }
    const track = { group, label, first, n, rows: [], folded: false, pinned: false, shown: true, y: 0, high: 0 };
    track.rows = counts.map((some, depth) => ({ group, label: depth ? "" : label, ids: new Int32Array(some), before: new Float64Array(some + 1), track, depth, y: 0 }));
    const filled = new Int32Array(counts.length);
    for (let k = 0; k < n; k++) {
      const { ids, before } = track.rows[depths[k]], place = filled[depths[k]]++;
      ids[place] = first + k;
      before[place + 1] = before[place] + dur_ns[first + k];
    }
    rows.push(...track.rows);
    tracks.push(track);
    first += n;
  }
  const rowOf = (i) => tracks[search(tracks.length, (k) => tracks[k].first > i) - 1].rows.find(({ ids }) => ids[search(ids.length, (k) => ids[k] >= i)] === i);
  const isDevice = (track) => / (GPU|TPU|MTIA)\b/.test(track.group) && !track.label.startsWith("annotations");
  const steps = [], causes = [];
  for (const track of tracks) if (track.group.endsWith("traceview")) {
    if (track.label === "steps") for (let i = track.first; i < track.first + track.n; i++) steps.push(i);
    if (track.label.startsWith("idle ")) causes.push(track);
  }
  // The other ends of arrows: what a call launched (those of call i stand from `until[i]` to before `until[i + 1]`), backward operators.
  const links = once(() => {
    const { launch, partner } = col, until = new Int32Array(total + 2), ends = new Int32Array(total), back = new Map();
    for (let i = 0; i < total; i++) {
      if (launch[i]) until[launch[i] + 1]++;
      if (partner[i]) back.set(partner[i] - 1, i);
    }
    for (let i = 1; i < until.length; i++) until[i] += until[i - 1];
    for (let i = 0; i < total; i++) if (launch[i]) ends[until[launch[i]]++] = i;
    return { until, ends, back };
  });
  const launched = (i, most) => { const { until, ends } = links(); return [...ends.subarray(until[i], Math.min(until[i] + most, until[i + 1]))]; };

  const stage = byId("stage"), canvas = byId("canvas"), mini = byId("mini"), shade = byId("shade"), told = byId("told"), account = byId("account");
  let from = 0, span = Math.max(1, end), chosen = -1, hovered = -1, matches = null, asked = false, range = null, pinnedHigh = 0, allHigh = 0;
  stage.hidden = mini.parentElement.hidden = false;
  byId("waits").hidden = true;
  document.querySelector(".tools").hidden = false;
  const draw = canvas.getContext("2d");
  const UNITS = [["s", 1e9], ["ms", 1e6], ["us", 1e3], ["ns", 1]];
  const unitOf = (ns) => UNITS.find(([, size]) => Math.abs(ns) >= size) || UNITS[3];
  const spoken = (ns) => { const [unit, size] = unitOf(ns); return size === 1 ? ns.toFixed(0) + " ns" : (ns / size).toPrecision(4) + " " + unit; };
  const percent = (part, whole) => whole ? (100 * part / whole).toFixed(1) + " %" : "-";
  const colourOf = (i) => facts.colours[col.category[i] - 1] || "#777777";
  // Black or white, whichever can be read on the colour.
  const inks = new Map();
  const inkOn = (colour) => {
    if (!inks.has(colour)) {
      const [r, g, b] = [1, 3, 5].map((k) => parseInt(colour.slice(k, k + 2), 16) / 255).map((v) => v <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4);
      inks.set(colour, 0.2126 * r + 0.7152 * g + 0.0722 * b > 0.179 ? "#000" : "#fff");
    }
    return inks.get(colour);
  };

  const lay = () => {
    const sought = byId("tracks").value.toLowerCase();
    let y = 0;
    pinnedHigh = 0;
    for (const pinned of [true, false]) {
      for (const track of tracks) {
        track.shown = track.pinned || (track.group + " " + track.label).toLowerCase().includes(sought);
        if (track.pinned !== pinned || !track.shown) continue;
        track.y = y;
        track.rows.forEach((row, depth) => { row.y = y + HEAD + (track.folded ? 0 : depth * HEIGHT); });
        track.high = HEAD + (track.folded ? 1 : track.rows.length) * HEIGHT + 4;
        y += track.high;
      }
      if (pinned) pinnedHigh = y;
    }
    allHigh = y;
    byId("tall").style.setProperty("height", Math.max(0, y + RULER - canvasHigh()) + "px");
  };
  const canvasHigh = () => Math.min(allHigh + RULER, Math.max(240, Math.round(window.innerHeight * 0.7)));
  // Where a row stands in the canvas: pinned tracks stay, others scroll.
  const topOf = (row) => row.y + RULER - (row.track.pinned ? 0 : stage.scrollTop);
  const isSeen = (row) => row.track.shown && (!row.track.folded || row.depth === 0);

  const stepAt = (time) => { let found = -1; for (const i of steps) if (col.start_ns[i] <= time) found = i; return found; };
  const ruler = (width) => {
    // As many as have room beside each other.
    const least = span / Math.max(3, width / 80), step = 10 ** Math.floor(Math.log10(least)), tick = [1, 2, 5, 10].map((by) => by * step).find((each) => each >= least);
    const own = stepAt(from + span / 2), zero = own >= 0 ? col.start_ns[own] : 0;
    const [unit, size] = unitOf(Math.max(Math.abs(from - zero), Math.abs(from + span - zero)) / 2);
    const digits = Math.max(0, Math.ceil(-Math.log10(tick / size) - 1e-9));
    const ticks = [];
    for (let k = Math.ceil((from - zero) / tick); zero + k * tick < from + span; k++) ticks.push([(zero + k * tick - from) * width / span, (k * tick / size).toFixed(digits) + " " + unit]);
    return { ticks, name: own >= 0 ? text("name", own) : "" };
  };
  const paint = () => {
    asked = false;
    const ratio = window.devicePixelRatio || 1, width = stage.clientWidth, high = canvasHigh();
    if (canvas.width !== Math.round(width * ratio) || canvas.height !== Math.round(high * ratio)) {
      canvas.width = Math.round(width * ratio);
      canvas.height = Math.round(high * ratio);
      canvas.style.setProperty("height", high + "px");
    }
    const look = getComputedStyle(document.documentElement);
    const ink = look.getPropertyValue("--text"), edge = look.getPropertyValue("--edge"), dim = look.getPropertyValue("--dim"), back = look.getPropertyValue("--back");
    draw.setTransform(ratio, 0, 0, ratio, 0, 0);
    draw.clearRect(0, 0, width, high);
    draw.font = "11px system-ui, sans-serif";
    draw.textBaseline = "middle";
    const scale = width / span, until = from + span, { ticks, name } = ruler(width);
    draw.fillStyle = edge;
    for (const [x] of ticks) draw.fillRect(x, 0, 0.5, high);
    for (const pinned of [false, true]) {
      draw.save();
      draw.beginPath();
      draw.rect(0, pinned ? RULER : RULER + pinnedHigh, width, high);
      draw.clip();
      for (const track of tracks) {
        if (!track.shown || track.pinned !== pinned) continue;
        const top = topOf(track.rows[0]) - HEAD;
        if (top > high || top + track.high < RULER) continue;
        draw.fillStyle = edge;
        draw.fillRect(0, top, width, 1);
        draw.fillStyle = dim;
        draw.fillText((track.folded ? "\u25b8 " : "\u25be ") + (track.pinned ? "\u2605 " : "\u2606 ") + track.group + "  " + track.label, 4, top + 9);
        for (const row of track.rows) if (isSeen(row)) paintRow(row, topOf(row), width, scale, until, ink);
      }
      draw.restore();
    }
    draw.fillStyle = back;
    draw.fillRect(0, 0, width, RULER);
    draw.fillStyle = dim;
    // What the ruler counts from stands at its right end.
    const origin = name && "from " + name, room = name ? draw.measureText(origin).width + 8 : 0;
    for (const [x, label] of ticks) {
      draw.fillRect(x, 0, 0.5, RULER);
      if (x + draw.measureText(label).width + 6 < width - room) draw.fillText(label, x + 3, 14);
    }
    draw.fillText(origin, width - room + 4, 14);
    if (range) {
      draw.fillStyle = ink;
      draw.globalAlpha = 0.12;
      draw.fillRect((range[0] - from) * scale, 0, (range[1] - range[0]) * scale, high);
      draw.globalAlpha = 1;
    }
    if (chosen >= 0) for (const [a, b] of arrowsOf(chosen)) arrow(a, b, scale, ink);
    shade.style.setProperty("left", 100 * from / end + "%");
    shade.style.setProperty("width", Math.max(0.3, 100 * span / end) + "%");
  };
  const paintRow = (row, y, width, scale, until, ink) => {
    if (y + HEIGHT < RULER || y > canvas.clientHeight) return;
    const ids = row.ids, n = ids.length;
    let k = search(n, (j) => stops(ids[j]) > from);
    while (k < n && col.start_ns[ids[k]] < until) {
      const i = ids[k], x0 = (col.start_ns[i] - from) * scale, x1 = x0 + col.dur_ns[i] * scale;
      if (x1 - x0 >= 1) {
        const left = Math.max(0, x0), room = Math.min(width, x1) - left, fill = colourOf(i);
        draw.globalAlpha = matches && !matches(i) ? 0.2 : 1;
        draw.fillStyle = fill;
        draw.fillRect(left, y, Math.max(1, room - 0.5), HEIGHT - 2);
        if (room > 30) {
          draw.save();
          draw.beginPath();
          draw.rect(left, y, room - 2, HEIGHT - 2);
          draw.clip();
          draw.fillStyle = draw.globalAlpha < 1 ? ink : inkOn(fill);
          draw.fillText(text("name", i).slice(0, 200), left + 3, y + 8);
          draw.restore();
        }
        if (i === chosen) { draw.strokeStyle = ink; draw.lineWidth = 2; draw.strokeRect(left + 1, y + 1, Math.max(1, room - 2), HEIGHT - 4); }
        k++;
      } else {
        // Everything that begins in this pixel is one column, as opaque as the pixel is busy.
        const x = Math.floor(x0), edgeTime = from + (x + 1) / scale;
        let next = Math.max(k + 1, k + search(n - k, (j) => col.start_ns[ids[k + j]] >= edgeTime));
        // As slices of a row do not overlap, only the last of them can be wide, and is then drawn as itself.
        if (next > k + 1 && col.dur_ns[ids[next - 1]] * scale >= 1) next--;
        draw.globalAlpha = Math.min(1, 0.15 + (row.before[next] - row.before[k]) * scale) * (matches && !matches(i) ? 0.3 : 1);
        draw.fillStyle = i === chosen ? ink : colourOf(i);
        draw.fillRect(x, y, i === chosen ? 2 : 1, HEIGHT - 2);
        k = next;
      }
    }
    draw.globalAlpha = 1;
  };
  // Arrows run from a call to what it launched, and from the forward to the backward operator.
  const arrowsOf = (i) => {
    const found = launched(i, 50).map((j) => [i, j]);
    if (col.launch[i]) found.push([col.launch[i] - 1, i]);
    if (col.partner[i]) found.push([col.partner[i] - 1, i]);
    if (links().back.has(i)) found.push([i, links().back.get(i)]);
    return found;
  };
  const arrow = (a, b, scale, ink) => {
    const ends = [a, b].map((i) => rowOf(i));
    if (!ends.every((row) => row.track.shown)) return;
    const y = ends.map((row) => topOf(row) + HEIGHT / 2 - 1), x0 = (stops(a) - from) * scale, x1 = (col.start_ns[b] - from) * scale;
    const bend = Math.max(20, Math.abs(x1 - x0) / 3);
    draw.strokeStyle = draw.fillStyle = ink;
    draw.lineWidth = 1.2;
    draw.beginPath();
    draw.moveTo(x0, y[0]);
    draw.bezierCurveTo(x0 + bend, y[0], x1 - bend, y[1], x1, y[1]);
    draw.stroke();
    draw.beginPath();
    draw.moveTo(x1, y[1]);
    draw.lineTo(x1 - 7, y[1] - 4);
    draw.lineTo(x1 - 7, y[1] + 4);
    draw.fill();
  };
  const paintMini = () => {
    const ratio = window.devicePixelRatio || 1, width = mini.clientWidth, high = mini.clientHeight;
    mini.width = Math.round(width * ratio);
    mini.height = Math.round(high * ratio);
    const small = mini.getContext("2d");
    small.setTransform(ratio, 0, 0, ratio, 0, 0);
    const picked = tracks.filter(isDevice), every = picked.length ? picked : tracks.filter((track) => !track.group.endsWith("traceview"));
    small.fillStyle = "#2b70a8";
    for (let x = 0; x < width; x++) {
      const t0 = end * x / width, t1 = end * (x + 1) / width;
      let most = 0;
      for (const track of every) {
        const row = track.rows[0], ids = row.ids, n = ids.length;
        const k0 = search(n, (j) => stops(ids[j]) > t0), k1 = search(n, (j) => col.start_ns[ids[j]] >= t1);
        if (k1 <= k0) continue;
        const cut = Math.max(0, t0 - col.start_ns[ids[k0]]) + Math.max(0, stops(ids[k1 - 1]) - t1);
        most = Math.max(most, (row.before[k1] - row.before[k0] - cut) / (t1 - t0));
      }
      small.fillRect(x, high * (1 - most), 1, high * most);
    }
  };

  const ask = () => { if (!asked) { asked = true; requestAnimationFrame(paint); } };
  const show = (start, length) => { span = Math.min(Math.max(10, length), Math.max(10, end)); from = Math.min(Math.max(0, start), Math.max(0, end - span)); ask(); };
  const zoom = (factor, where) => show(where - (where - from) * factor, span * factor);
  const timeAt = (event) => from + (event.clientX - canvas.getBoundingClientRect().left) / stage.clientWidth * span;
  const rowAt = (event) => {
    const y = event.clientY - canvas.getBoundingClientRect().top;
    const inside = (row) => { const top = topOf(row); return isSeen(row) && y >= top && y < top + HEIGHT; };
    return y < RULER ? undefined : rows.find((row) => row.track.pinned && inside(row)) || (y >= RULER + pinnedHigh ? rows.find((row) => !row.track.pinned && inside(row)) : undefined);
  };
  const headAt = (event) => {
    const y = event.clientY - canvas.getBoundingClientRect().top;
    return tracks.find((track) => { const top = topOf(track.rows[0]) - HEAD; return track.shown && y >= Math.max(top, RULER + (track.pinned ? 0 : pinnedHigh)) && y < top + HEAD; });
  };
  const sliceAt = (event) => {
    const row = rowAt(event), t = timeAt(event);
    if (!row) return -1;
    const k = search(row.ids.length, (j) => stops(row.ids[j]) >= t);
    return k < row.ids.length && col.start_ns[row.ids[k]] <= t + span / stage.clientWidth ? row.ids[k] : -1;
  };

  // All that a page says of a slice is text: names of a trace become no elements.
  const cut = (name) => name.length > 64 ? name.slice(0, 40) + "\u2026" + name.slice(-20) : name;
  const make = (name, content, parent, act) => {
    const element = document.createElement(name);
    element.textContent = content;
    if (act) { element.type = "button"; element.addEventListener("click", act); }
    parent.append(element);
    return element;
  };
  const around = (i) => {
    const row = rowOf(i), found = [];
    for (const above of row.track.rows) {
      if (above.depth >= row.depth) break;
      const k = search(above.ids.length, (j) => col.start_ns[above.ids[j]] > col.start_ns[i]) - 1;
      if (k >= 0 && stops(above.ids[k]) >= stops(i)) found.push(above.ids[k]);
    }
    return found;
  };
  const tell = (i, isChosen) => {
    if (i < 0) return;
    const step = stepAt(col.start_ns[i]), zero = step >= 0 ? col.start_ns[step] : 0, track = rowOf(i).track;
    const lines = [text("name", i), "start " + spoken(col.start_ns[i]) + ", duration " + spoken(col.dur_ns[i]) + (step >= 0 ? ", " + spoken(col.start_ns[i] - zero) + " into " + text("name", step) : "") + ", " + track.group + " " + track.label];
    for (const name of ["category", "algorithm", "direction", "layer", "op"]) if (col[name][i]) lines.push(name + ": " + text(name, i));
    if (col.detail[i]) lines.push(details()[col.detail[i] - 1]);
    if (col.step[i]) lines.push("step: " + (col.step[i] - 1));
    const call = col.launch[i] - 1;
    if (call >= 0) {
      lines.push("queued for " + spoken(Math.max(0, col.start_ns[i] - stops(call))) + " after its launch");
      const operators = around(call);
      if (operators.length) lines.push("launched in: " + operators.map((j) => text("name", j)).join(" > "));
      const known = operators.reverse().find((j) => col.detail[j]);
      if (known !== undefined) lines.push(text("name", known) + ": " + details()[col.detail[known] - 1]);
    }
    told.textContent = lines.join("\n");
    if (!isChosen) return;
    const leads = document.createElement("div");
    if (call >= 0) make("button", "Launched by " + cut(text("name", call)), leads, () => choose(call, true));
    for (const j of launched(i, 5)) make("button", "Launches " + cut(text("name", j)), leads, () => choose(j, true));
    if (col.partner[i]) make("button", "Forward operator", leads, () => choose(col.partner[i] - 1, true));
    if (links().back.has(i)) make("button", "Backward operator", leads, () => choose(links().back.get(i), true));
    const parts = new Set();
    for (const cell of cells.get(text("name", i)) || []) {
      const part = cell.closest(".part, article");
      if (parts.has(part)) continue;
      parts.add(part);
      const name = part && part.querySelector("h3, summary"), isFinding = part && part.tagName === "ARTICLE";
      make("button", (isFinding ? "Finding: " : "Row in: ") + (name ? name.firstChild.textContent.trim() : "table"), leads, () => {
        const closed = cell.closest("details");
        if (closed) closed.open = true;
        cell.scrollIntoView({ block: "center" });
        (cell.querySelector("button") || cell).focus();
      });
    }
    if (leads.firstChild) told.append(leads);
  };
  const reveal = (i) => {
    const row = rowOf(i), track = row.track;
    if (!track.shown) byId("tracks").value = "";
    if (track.folded && row.depth) track.folded = false;
    lay();
    if (!track.pinned) {
      const top = row.y, seen = canvasHigh() - RULER;
      if (top - stage.scrollTop < pinnedHigh || top - stage.scrollTop > seen - HEIGHT) stage.scrollTop = Math.max(0, top - pinnedHigh - (seen - pinnedHigh) / 2);
    }
  };
  const choose = (i, moves) => {
    chosen = i;
    if (i >= 0) {
      reveal(i);
      tell(i, true);
      if (moves && (col.start_ns[i] < from || stops(i) > from + span || col.dur_ns[i] / span * stage.clientWidth < 2)) {
        const length = Math.max(col.dur_ns[i] * 8, 1000);
        show(col.start_ns[i] + col.dur_ns[i] / 2 - length / 2, length);
      }
    }
    ask();
  };

  // The account of a range: on a device overlapping work counts once, for what started first; on a host thread what ran inside is taken off.
  const accountOf = (t0, t1) => {
    const devices = new Map(), categories = new Map(), names = new Map(), idle = new Map();
    const add = (map, key, value, more) => { const entry = map.get(key) || [0, 0]; entry[0] += value; entry[1] += more; map.set(key, entry); };
    const count = (i, own) => { if (own > 0) { add(categories, text("category", i) || "other", own, 1); add(names, text("name", i), own, 1); } };
    const within = (row, act) => { for (let k = search(row.ids.length, (j) => stops(row.ids[j]) > t0); k < row.ids.length && col.start_ns[row.ids[k]] < t1; k++) act(row.ids[k]); };
    for (const track of tracks) if (isDevice(track)) {
      const some = devices.get(track.group) || [];
      for (const row of track.rows) within(row, (i) => some.push(i));
      devices.set(track.group, some);
    }
    const active = [];
    for (const [name, some] of devices) {
      some.sort((a, b) => col.start_ns[a] - col.start_ns[b] || stops(b) - stops(a));
      let until = t0, sum = 0;
      for (const i of some) {
        const own = Math.min(t1, stops(i)) - Math.max(until, col.start_ns[i]);
        count(i, own);
        sum += Math.max(0, own);
        until = Math.max(until, Math.min(t1, stops(i)));
      }
      active.push([name, sum]);
    }
    if (!devices.size) for (const track of tracks) if (!track.group.endsWith("traceview")) {
      const own = new Map(), open = [], all = [];
      for (const row of track.rows) within(row, (i) => all.push(i));
      all.sort((a, b) => a - b);
      let sum = 0;
      for (const i of all) {
        const length = Math.min(t1, stops(i)) - Math.max(t0, col.start_ns[i]);
        while (open.length && stops(open[open.length - 1]) <= col.start_ns[i]) open.pop();
        if (open.length) own.set(open[open.length - 1], own.get(open[open.length - 1]) - length); else sum += length;
        own.set(i, length);
        open.push(i);
      }
      for (const [i, length] of own) count(i, length);
      if (sum > 0) active.push([track.group + " " + track.label, sum]);
    }
    for (const track of causes) within(track.rows[0], (i) => add(idle, text("name", i), Math.min(t1, stops(i)) - Math.max(t0, col.start_ns[i]), 1));
    const sorted = (map) => [...map].map(([name, [ns, n]]) => ({ name, ns, n })).sort((a, b) => b.ns - a.ns);
    return { length: t1 - t0, active, idle: sorted(idle), categories: sorted(categories), names: sorted(names) };
  };
  const table = (title, heads, lines, parent) => {
    const element = make("table", "", parent);
    make("caption", title, element);
    const head = make("tr", "", make("thead", "", element)), body = make("tbody", "", element);
    for (const name of heads) make("th", name, head).scope = "col";
    for (const line of lines) { const row = make("tr", "", body); line.forEach((value, k) => { make("td", value, row).className = k ? "" : "t"; }); }
  };
  const select = (t0, t1) => {
    range = t0 === null ? null : [Math.max(0, Math.min(t0, t1)), Math.min(end, Math.max(t0, t1))];
    account.replaceChildren();
    account.hidden = !range;
    if (range) {
      const found = accountOf(...range), length = found.length, summed = found.categories.reduce((sum, each) => sum + each.ns, 0);
      make("h3", "Selected: " + spoken(length), account);
      const actions = make("p", "", account);
      make("button", "Zoom to it", actions, () => show(range[0], range[1] - range[0]));
      make("button", "Clear", actions, () => select(null));
      const side = make("div", "", account);
      side.className = "side";
      table("Active", ["where", "time", "of range"], found.active.slice(0, 12).map(([name, ns]) => [name, spoken(ns), percent(ns, length)]), side);
      if (found.idle.length) table("Idle, by the largest cause of each gap", ["cause", "time", "of range"], found.idle.map(({ name, ns }) => [name, spoken(ns), percent(ns, length)]), side);
      table("Categories", ["category", "time", "of active"], found.categories.slice(0, 12).map(({ name, ns }) => [name, spoken(ns), percent(ns, summed)]), side);
      table("Most time", ["name", "count", "time", "of active"], found.names.slice(0, 10).map(({ name, ns, n }) => [cut(name), String(n), spoken(ns), percent(ns, summed)]), side);
    }
    ask();
  };

  let held = null;
  const fingers = new Map();
  canvas.addEventListener("pointerdown", (event) => {
    fingers.set(event.pointerId, event);
    canvas.setPointerCapture(event.pointerId);
    const pans = event.pointerType === "touch" || event.shiftKey || event.clientY - canvas.getBoundingClientRect().top < RULER;
    held = { x: event.clientX, y: event.screenY, page: window.scrollY, from, span, time: timeAt(event), moved: false, pans, scroll: stage.scrollTop, apart: 0 };
    if (fingers.size === 2) { const [a, b] = [...fingers.values()]; held.apart = Math.max(20, Math.hypot(a.clientX - b.clientX, a.clientY - b.clientY)); held.time = timeAt({ clientX: (a.clientX + b.clientX) / 2 }); held.moved = true; }
  });
  canvas.addEventListener("pointermove", (event) => {
    if (!held) { const i = sliceAt(event); if (i !== hovered && chosen < 0) tell(i, false); hovered = i; return; }
    fingers.set(event.pointerId, event);
    if (fingers.size === 2) {
      const [a, b] = [...fingers.values()], apart = Math.max(20, Math.hypot(a.clientX - b.clientX, a.clientY - b.clientY));
      const box = canvas.getBoundingClientRect(), middle = ((a.clientX + b.clientX) / 2 - box.left) / stage.clientWidth, length = held.span * held.apart / apart;
      show(held.time - middle * length, length);
      return;
    }
    const isTouch = event.pointerType === "touch";
    held.moved ||= Math.abs(event.clientX - held.x) > 3 || (isTouch && Math.abs(event.screenY - held.y) > 8);
    if (!held.moved) return;
    if (isTouch) {
      // A finger scrolls over tracks, and over the page where there are no more.
      const sought = held.scroll + held.y - event.screenY;
      stage.scrollTop = sought;
      window.scrollTo(window.scrollX, held.page + sought - Math.max(0, Math.min(sought, stage.scrollHeight - stage.clientHeight)));
    }
    if (held.pans) show(held.from - (event.clientX - held.x) / stage.clientWidth * span, span);
    else { range = [held.time, timeAt(event)].sort((a, b) => a - b); ask(); }
  });
  const released = (event) => {
    fingers.delete(event.pointerId);
    if (!held || fingers.size) return;
    const { moved, pans, time } = held;
    held = null;
    if (event.type === "pointercancel") return;
    if (moved) { if (!pans) select(time, timeAt(event)); return; }
    const head = headAt(event);
    if (head) {
      const x = event.clientX - canvas.getBoundingClientRect().left;
      if (x > 17 && x < 34) head.pinned = !head.pinned; else head.folded = !head.folded;
      lay();
      ask();
    } else choose(sliceAt(event), false);
  };
  canvas.addEventListener("pointerup", released);
  canvas.addEventListener("pointercancel", released);
  canvas.addEventListener("dblclick", (event) => { const i = sliceAt(event); if (i >= 0) show(col.start_ns[i] - col.dur_ns[i] * 0.1, col.dur_ns[i] * 1.2); });
  stage.addEventListener("wheel", (event) => {
    if (event.ctrlKey || event.metaKey) { event.preventDefault(); zoom(Math.exp(Math.max(-1, Math.min(1, event.deltaY / 200))), timeAt(event)); }
    else if (event.shiftKey || Math.abs(event.deltaX) > Math.abs(event.deltaY)) { event.preventDefault(); show(from + (event.deltaX || event.deltaY) / stage.clientWidth * span, span); }
  }, { passive: false });
  stage.addEventListener("scroll", ask);
  const moveMini = (event) => { if (event.buttons) { const box = mini.getBoundingClientRect(); show((event.clientX - box.left) / box.width * end - span / 2, span); } };
  mini.parentElement.addEventListener("pointerdown", (event) => { mini.parentElement.setPointerCapture(event.pointerId); moveMini(event); });
  mini.parentElement.addEventListener("pointermove", moveMini);

  // Keys: the next slice of a row, or of the row above or below at the same time.
  const beside = (move) => {
    const row = rowOf(chosen), k = search(row.ids.length, (j) => row.ids[j] >= chosen) + move;
    return row.ids[k] ?? chosen;
  };
  const across = (move) => {
    const shown = rows.filter(isSeen).sort((a, b) => a.y - b.y), middle = chosen >= 0 ? col.start_ns[chosen] : from + span / 2;
    let k = chosen >= 0 ? shown.indexOf(rowOf(chosen)) : -1;
    k = chosen < 0 ? (move > 0 ? 0 : shown.length - 1) : k + move;
    const row = shown[k];
    if (!row) return chosen;
    const j = search(row.ids.length, (m) => stops(row.ids[m]) > middle);
    return row.ids[Math.min(j, row.ids.length - 1)];
  };
  const follow = () => {
    if (chosen < 0) return;
    const ends = arrowsOf(chosen).map(([a, b]) => a === chosen ? b : a);
    if (ends.length) choose(ends[0], true);
  };
  const KEYS = {
    a: () => show(from - 0.2 * span, span), d: () => show(from + 0.2 * span, span),
    w: () => zoom(0.7, from + span / 2), s: () => zoom(1.4, from + span / 2),
    "+": () => zoom(0.7, from + span / 2), "=": () => zoom(0.7, from + span / 2), "-": () => zoom(1.4, from + span / 2),
    "0": () => show(0, end), g: follow,
    f: () => { if (chosen >= 0) show(col.start_ns[chosen] - col.dur_ns[chosen] * 0.1, Math.max(10, col.dur_ns[chosen] * 1.2)); },
    m: () => { if (chosen >= 0) select(col.start_ns[chosen], stops(chosen)); else select(from, from + span); },
    c: () => { if (chosen >= 0) { const track = rowOf(chosen).track; track.folded = !track.folded; lay(); ask(); } },
    p: () => { if (chosen >= 0) { const track = rowOf(chosen).track; track.pinned = !track.pinned; lay(); ask(); } },
    n: () => find(1), N: () => find(-1), "/": () => { byId("find").focus(); byId("find").select(); },
    Escape: () => { choose(-1); told.textContent = ""; select(null); },
    ArrowLeft: () => chosen < 0 ? KEYS.a() : choose(beside(-1), true), ArrowRight: () => chosen < 0 ? KEYS.d() : choose(beside(1), true),
    ArrowUp: () => choose(across(-1), true), ArrowDown: () => choose(across(1), true),
  };
  canvas.addEventListener("keydown", (event) => {
    const act = !event.ctrlKey && !event.metaKey && !event.altKey && KEYS[event.key];
    if (act) { act(); event.preventDefault(); }
  });

  // Find: by name, or by the one text of a link.
  let marks = null, exact = null;
  const find = (move) => {
    const sought = byId("find").value.toLowerCase();
    if (!sought && !exact) { matches = null; byId("found").textContent = ""; ask(); return; }
    if (!marks) {
      marks = new Uint8Array(texts.length + 1);
      texts.forEach((each, place) => { if (exact ? each === exact[1] : each.toLowerCase().includes(sought)) marks[place + 1] = 1; });
    }
    const column = col[exact ? exact[0] : "name"];
    matches = (i) => marks[column[i]] === 1;
    let n = 0, own = 0, before = -1, after = -1, earliest = -1, latest = -1;
    for (let i = 0; i < total; i++) if (matches(i)) {
      n++;
      if (earliest < 0) earliest = i;
      latest = i;
      if (i < chosen) before = i;
      if (i <= chosen) own = n;
      if (after < 0 && i > chosen) after = i;
    }
    const pick = move > 0 ? (after < 0 ? earliest : after) : before < 0 ? latest : before;
    if (move && pick >= 0) {
      choose(pick, true);
      own = move > 0 ? (after < 0 ? 1 : own + 1) : before < 0 ? n : own - 1;
    }
    byId("found").textContent = (move && n ? own.toLocaleString("en") + " of " : "") + n.toLocaleString("en") + (n === 1 ? " slice" : " slices");
    ask();
  };
  byId("find").addEventListener("input", () => { marks = exact = null; chosen = -1; find(0); });
  byId("find").addEventListener("keydown", (event) => { if (event.key === "Enter") find(event.shiftKey ? -1 : 1); if (event.key === "Escape") { byId("find").value = ""; marks = exact = matches = null; find(0); } });
  byId("next").addEventListener("click", () => find(1));
  byId("prev").addEventListener("click", () => find(-1));
  byId("fit").addEventListener("click", () => show(0, end));
  byId("tracks").addEventListener("input", () => { lay(); ask(); });
  const chooser = byId("step");
  // A step of several ranks is the time from the first of them to the last.
  const extents = new Map();
  for (const i of steps) {
    const [start, stop] = extents.get(text("name", i)) || [Infinity, 0];
    extents.set(text("name", i), [Math.min(start, col.start_ns[i]), Math.max(stop, stops(i))]);
  }
  const showStep = () => { const [start, stop] = extents.get(chooser.value) || (extents.size === 1 ? [...extents.values()][0] : [0, end]); show(start, stop - start); };
  if (extents.size > 1) {
    for (const name of extents.keys()) make("option", name, chooser).value = name;
    chooser.parentElement.hidden = false;
    chooser.addEventListener("change", showStep);
    chooser.value = [...extents.keys()].find((name) => facts.step !== null && name.split(" (")[0] === "step " + facts.step) || "all";
  }

  // Rows of tables and parts of charts lead to their slices: by name, layer, operator or category.
  const places = new Map(texts.map((each, place) => [each, place])), cells = new Map(), KEYED = ["name", "layer", "op", "category"];
  const goTo = (name, sought) => {
    byId("find").value = sought;
    marks = null;
    exact = [name, sought];
    // What was recorded comes before what stands in tracks of traceview's own.
    chosen = (tracks.find((track) => !track.group.endsWith("traceview")) || { first: 0 }).first - 1;
    find(1);
    byId("timeline").scrollIntoView();
    canvas.focus({ preventScroll: true });
  };
  const columnOf = (sought) => { const place = places.get(sought); return KEYED.find((_, bit) => used[place] >> bit & 1); };
  for (const cell of document.querySelectorAll("main td.t, main [data-slice]")) {
    const sought = cell.dataset.slice || cell.title || cell.textContent, name = columnOf(sought);
    if (!name || cell.closest("#timeline")) continue;
    if (!cells.has(sought)) cells.set(sought, []);
    cells.get(sought).push(cell);
    const shown = cell.textContent;
    cell.textContent = "";
    make("button", shown, cell, () => goTo(name, sought)).className = "link";
  }
  // So do names in what findings rest on: steps, kernels, and operators also without their namespace.
  const WORDS = /step \d+|[A-Za-z_][\w:.\/-]*\w/g;
  for (const line of document.querySelectorAll("#advice article > p .dim, #advice article li")) {
    const said = line.textContent, kernel = said.split(" under ")[0], found = [];
    if (columnOf(kernel)) found.push([0, kernel.length, kernel]);
    else for (const { 0: word, index } of said.matchAll(WORDS)) {
      const sought = [word, "aten::" + word].find((each) => ["name", "layer", "op"].includes(columnOf(each)));
      if (sought && found.every(([, , each]) => each !== sought)) found.push([index, index + word.length, sought]);
    }
    if (!found.length) continue;
    line.textContent = "";
    let done = 0;
    for (const [start, stop, sought] of found) {
      line.append(said.slice(done, start));
      const button = make("button", said.slice(start, stop), line, () => goTo(columnOf(sought), sought));
      button.className = "link";
      if (!cells.has(sought)) cells.set(sought, []);
      cells.get(sought).push(button);
      done = stop;
    }
    line.append(said.slice(done));
  }
  for (const mark of document.querySelectorAll("figure svg title")) {
    let sought = mark.textContent.split(/: |, /)[0], name = columnOf(sought);
    // Parts of a bar say whose bar it is, then what they are.
    while (!name && mark.closest("g") && sought.includes(" ")) { sought = sought.slice(0, sought.lastIndexOf(" ")); name = columnOf(sought); }
    const drawn = mark.parentElement;
    if (name) { drawn.classList.add("leads"); drawn.addEventListener("click", () => goTo(name, sought)); }
  }
  for (const again of document.querySelectorAll("figure use")) {
    const first = document.querySelector(again.getAttribute("href") + " .leads");
    if (first) { again.classList.add("leads"); again.addEventListener("click", () => first.dispatchEvent(new Event("click"))); }
  }

  window.addEventListener("resize", () => { lay(); paintMini(); ask(); });
  window.matchMedia("(prefers-color-scheme: dark)").addEventListener("change", ask);
  window.traceview = { show, paint, col, rows, texts, tracks, choose, select, accountOf, ruler, get view() { return { from, span, end, chosen, range }; } };
  lay();
  paintMini();
  showStep();
  canvas.dataset.ready = "yes";
})();
