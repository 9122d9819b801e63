"use strict";
(async () => {
  const byId = (id) => document.getElementById(id);
  const facts = JSON.parse(byId("facts").textContent);
  const packed = Uint8Array.from(atob(byId("data").textContent.trim()), (c) => c.charCodeAt(0));
  const stream = new Blob([packed]).stream().pipeThrough(new DecompressionStream("deflate"));
  const bytes = new Uint8Array(await new Response(stream).arrayBuffer());
  const total = facts.tracks.reduce((sum, track) => sum + track[2], 0);
  // Whole numbers beyond 32 bits: groups of seven bits are added up, not shifted.
  let at = 0;
  const column = (Kind) => {
    const out = new Kind(total);
    for (let i = 0; i < total; i++) {
      let value = 0, scale = 1, byte;
      do { byte = bytes[at++]; value += (byte & 127) * scale; scale *= 128; } while (byte > 127);
      out[i] = value;
    }
    return out;
  };
  const col = {};
  for (const name of facts.columns) col[name] = column(name.endsWith("_ns") ? Float64Array : Int32Array);
  // Rows of one depth of a track do not overlap; the sums before each tell how busy any part of them is.
  const rows = [];
  let first = 0, top = 0, end = 0;
  const HEIGHT = 17, HEAD = 16, DEEPEST = 24;
  for (const [group, label, n] of facts.tracks) {
    let time = 0;
    const depths = [], open = [];
    for (let i = first; i < first + n; i++) {
      time += col.start_ns[i];
      col.start_ns[i] = time;
      end = Math.max(end, time + col.dur_ns[i]);
      while (open.length && open[open.length - 1] <= time) open.pop();
      const depth = Math.min(open.length, DEEPEST - 1);
      open.push(time + col.dur_ns[i]);
      (depths[depth] ||= []).push(i);
    }
    depths.forEach((list, depth) => {
      const ids = Int32Array.from(list), before = new Float64Array(list.length + 1);
      for (let k = 0; k < list.length; k++) before[k + 1] = before[k] + col.dur_ns[ids[k]];
      rows.push({ group, label: depth ? "" : label, ids, before, y: top + HEAD + depth * HEIGHT });
    });
    top += HEAD + depths.length * HEIGHT + 4;
    first += n;
  }
  const RULER = 22, stage = byId("stage"), canvas = byId("canvas"), told = byId("told");
  const high = Math.min(30000, top + RULER);
  let from = 0, span = Math.max(1, end), chosen = -1, matches = null, asked = false;
  stage.hidden = false;
  byId("waits").hidden = true;
  document.querySelector(".tools").hidden = false;
  const draw = canvas.getContext("2d");
  const search = (n, test) => { let lo = 0, hi = n; while (lo < hi) { const mid = (lo + hi) >> 1; if (test(mid)) hi = mid; else lo = mid + 1; } return lo; };
  const spoken = (ns) => ns >= 1e9 ? (ns / 1e9).toPrecision(4) + " s" : ns >= 1e6 ? (ns / 1e6).toPrecision(4) + " ms" : ns >= 1e3 ? (ns / 1e3).toPrecision(4) + " us" : ns.toFixed(0) + " ns";
  const colourOf = (i) => facts.colours[col.category[i] - 1] || "#808080";
  const paint = () => {
    asked = false;
    const ratio = window.devicePixelRatio || 1, width = stage.clientWidth;
    if (canvas.width !== Math.round(width * ratio) || canvas.height !== Math.round(high * ratio)) {
      canvas.width = Math.round(width * ratio);
      canvas.height = Math.round(high * ratio);
      canvas.style.setProperty("height", high + "px");
    }
    const look = getComputedStyle(document.documentElement);
    draw.setTransform(ratio, 0, 0, ratio, 0, 0);
    draw.clearRect(0, 0, width, high);
    draw.font = "11px system-ui, sans-serif";
    draw.textBaseline = "middle";
    const text = look.getPropertyValue("--text"), edge = look.getPropertyValue("--edge"), dim = look.getPropertyValue("--dim");
    const scale = width / span, until = from + span;
    const step = 10 ** Math.floor(Math.log10(span / 5)), tick = span / step > 25 ? step * 5 : span / step > 10 ? step * 2 : step;
    draw.fillStyle = dim;
    for (let t = Math.ceil(from / tick) * tick; t < until; t += tick) {
      const x = (t - from) * scale;
      draw.fillRect(x, 0, 0.5, high);
      draw.fillText(spoken(t), x + 3, 10);
    }
    let last = "";
    for (const row of rows) {
      const y = row.y + RULER, ids = row.ids, n = ids.length;
      if (row.label) {
        draw.fillStyle = edge;
        draw.fillRect(0, y - HEAD, width, 1);
        draw.fillStyle = dim;
        draw.fillText((row.group === last ? "" : row.group + "  ") + row.label, 4, y - 7);
        last = row.group;
      }
      let k = search(n, (j) => col.start_ns[ids[j]] + col.dur_ns[ids[j]] > from);
      while (k < n && col.start_ns[ids[k]] < until) {
        const i = ids[k], x0 = (col.start_ns[i] - from) * scale, x1 = x0 + col.dur_ns[i] * scale;
        if (x1 - x0 >= 1) {
          const left = Math.max(0, x0), room = Math.min(width, x1) - left;
          draw.globalAlpha = matches && !matches[col.name[i]] ? 0.2 : 1;
          draw.fillStyle = colourOf(i);
          draw.fillRect(left, y, Math.max(1, room - 0.5), HEIGHT - 2);
          if (i === chosen) { draw.strokeStyle = text; draw.lineWidth = 2; draw.strokeRect(left + 1, y + 1, Math.max(1, room - 2), HEIGHT - 4); }
          if (room > 30) {
            draw.save();
            draw.beginPath();
            draw.rect(left, y, room - 2, HEIGHT - 2);
            draw.clip();
            draw.fillStyle = "#fff";
            draw.fillText(facts.texts[col.name[i] - 1].slice(0, 200), left + 3, y + 8);
            draw.restore();
          }
          k++;
        } else {
          // Everything that begins in this pixel is one column, as opaque as the pixel is busy.
          const x = Math.floor(x0), edgeTime = from + (x + 1) / scale;
          let next = Math.max(k + 1, k + search(n - k, (j) => col.start_ns[ids[k + j]] >= edgeTime));
          // As slices of a row do not overlap, only the last of them can be wide, and is then drawn as itself.
          if (next > k + 1 && col.dur_ns[ids[next - 1]] * scale >= 1) next--;
          draw.globalAlpha = Math.min(1, 0.15 + (row.before[next] - row.before[k]) * scale);
          draw.fillStyle = colourOf(i);
          draw.fillRect(x, y, 1, HEIGHT - 2);
          k = next;
        }
      }
      draw.globalAlpha = 1;
    }
  };
  const ask = () => { if (!asked) { asked = true; requestAnimationFrame(paint); } };
  const show = (start, length) => { span = Math.min(Math.max(10, length), Math.max(10, end)); from = Math.min(Math.max(0, start), Math.max(0, end - span)); ask(); };
  const zoom = (factor, where) => show(where - (where - from) * factor, span * factor);
  const timeAt = (event) => from + (event.clientX - canvas.getBoundingClientRect().left) / stage.clientWidth * span;
  const sliceAt = (event) => {
    const y = event.clientY - canvas.getBoundingClientRect().top - RULER, t = timeAt(event);
    const row = rows.find((each) => y >= each.y && y < each.y + HEIGHT);
    if (!row) return -1;
    const k = search(row.ids.length, (j) => col.start_ns[row.ids[j]] + col.dur_ns[row.ids[j]] >= t);
    return k < row.ids.length && col.start_ns[row.ids[k]] <= t + span / stage.clientWidth ? row.ids[k] : -1;
  };
  const tell = (i) => {
    if (i < 0) return;
    const lines = [facts.texts[col.name[i] - 1], "start " + spoken(col.start_ns[i]) + ", duration " + spoken(col.dur_ns[i])];
    for (const name of ["category", "algorithm", "direction", "layer", "op"]) if (col[name][i]) lines.push(name + ": " + facts.texts[col[name][i] - 1]);
    if (col.step[i]) lines.push("step: " + (col.step[i] - 1));
    told.textContent = lines.join("\n");
  };
  let held = null;
  canvas.addEventListener("pointerdown", (event) => { held = { x: event.clientX, from, moved: false }; canvas.setPointerCapture(event.pointerId); });
  canvas.addEventListener("pointermove", (event) => {
    if (!held) return tell(sliceAt(event));
    held.moved ||= Math.abs(event.clientX - held.x) > 3;
    show(held.from - (event.clientX - held.x) / stage.clientWidth * span, span);
  });
  canvas.addEventListener("pointerup", (event) => { if (held && !held.moved) { chosen = sliceAt(event); tell(chosen); ask(); } held = null; });
  canvas.addEventListener("wheel", (event) => { if (event.ctrlKey || event.metaKey || !event.shiftKey) { event.preventDefault(); zoom(event.deltaY > 0 ? 1.25 : 0.8, timeAt(event)); } }, { passive: false });
  canvas.addEventListener("keydown", (event) => {
    const moves = { ArrowLeft: -0.2, ArrowRight: 0.2 }, zooms = { "+": 0.7, "=": 0.7, "-": 1.4 };
    if (moves[event.key]) show(from + moves[event.key] * span, span);
    else if (zooms[event.key]) zoom(zooms[event.key], from + span / 2);
    else if (event.key === "0") show(0, end);
    else return;
    event.preventDefault();
  });
  const find = (fresh) => {
    const sought = byId("find").value.toLowerCase();
    matches = null;
    if (sought) {
      matches = new Uint8Array(facts.texts.length + 1);
      facts.texts.forEach((text, place) => { if (text.toLowerCase().includes(sought)) matches[place + 1] = 1; });
      let n = 0, next = -1, earliest = -1;
      for (let i = 0; i < total; i++) if (matches[col.name[i]]) {
        n++;
        if (earliest < 0) earliest = i;
        if (next < 0 && i > chosen) next = i;
      }
      byId("found").textContent = n.toLocaleString("en") + (n === 1 ? " slice" : " slices");
      const pick = fresh || next < 0 ? earliest : next;
      if (pick >= 0 && !fresh) { chosen = pick; tell(pick); const length = Math.max(col.dur_ns[pick] * 8, 1000); show(col.start_ns[pick] + col.dur_ns[pick] / 2 - length / 2, length); }
    } else byId("found").textContent = "";
    ask();
  };
  byId("find").addEventListener("input", () => { chosen = -1; find(true); });
  byId("find").addEventListener("keydown", (event) => { if (event.key === "Enter") find(false); });
  byId("next").addEventListener("click", () => find(false));
  byId("fit").addEventListener("click", () => show(0, end));
  window.addEventListener("resize", ask);
  window.matchMedia("(prefers-color-scheme: dark)").addEventListener("change", ask);
  window.traceview = { show, paint, col, rows, facts, get view() { return { from, span, end, chosen }; } };
  show(0, end);
  canvas.dataset.ready = "yes";
})();
