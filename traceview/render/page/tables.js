"use strict";
// Tables sort by a click on a header, long ones are filtered, and stacks zoom: the page shows everything without it.
(() => {
  const UNITS = { ns: 1e-9, us: 1e-6, ms: 1e-3, s: 1, B: 1, kB: 1e3, MB: 1e6, GB: 1e9, TB: 1e12 };
  const PREFIXES = { k: 1e3, M: 1e6, G: 1e9, T: 1e12, P: 1e15 };
  const valueOf = (text) => {
    const found = /^[<>]?(-?[\d,]*\.?\d+(?:e[-+]?\d+)?)(?: ([a-zA-Z]+)\S*)?$/.exec(text.trim());
    return found ? Number(found[1].replaceAll(",", "")) * (UNITS[found[2]] || (found[2] && PREFIXES[found[2][0]]) || 1) : NaN;
  };
  for (const table of document.querySelectorAll("main table")) {
    const body = table.tBodies[0], rows = [...body.rows], heads = [...table.tHead.rows[0].cells];
    if (rows.length < 2) continue;
    heads.forEach((head, at) => {
      const button = document.createElement("button");
      button.type = "button";
      button.className = "link";
      button.textContent = head.textContent;
      head.replaceChildren(button);
      button.addEventListener("click", () => {
        const down = head.getAttribute("aria-sort") !== "descending";
        for (const each of heads) each.removeAttribute("aria-sort");
        head.setAttribute("aria-sort", down ? "descending" : "ascending");
        const key = (row) => row.cells[at].textContent, sign = down ? -1 : 1;
        rows.sort((a, b) => {
          const [x, y] = [a, b].map((row) => valueOf(key(row)));
          // What has no number stands last.
          if (isNaN(x) !== isNaN(y)) return isNaN(x) ? 1 : -1;
          return sign * (isNaN(x) ? key(a).localeCompare(key(b)) : x - y);
        });
        body.append(...rows);
      });
    });
    if (rows.length < 12) continue;
    const label = document.createElement("label"), input = document.createElement("input");
    input.type = "search";
    label.className = "note";
    label.append("Filter ", input);
    table.parentElement.before(label);
    input.addEventListener("input", () => {
      const sought = input.value.toLowerCase();
      for (const row of rows) row.hidden = !row.textContent.toLowerCase().includes(sought);
    });
  }
  for (const svg of document.querySelectorAll("svg.icicle")) {
    const whole = svg.viewBox.baseVal.width, boxes = [...svg.querySelectorAll("rect")].map((rect) => ({
      rect, x: Number(rect.getAttribute("x")), width: Number(rect.getAttribute("width")), y: Number(rect.getAttribute("y")),
      name: rect.querySelector("title").textContent.replace(/: [^:]*$/, ""),
      text: rect.nextElementSibling && rect.nextElementSibling.tagName === "text" ? rect.nextElementSibling : null,
    }));
    const draw = (from, width) => {
      for (const { rect, x, width: own, name, text } of boxes) {
        const left = Math.max(0, (x - from) / width * whole), right = Math.min(whole, (x + own - from) / width * whole), room = right - left;
        rect.style.display = room > 0.3 ? "" : "none";
        rect.setAttribute("x", left);
        rect.setAttribute("width", Math.max(0.5, room - 0.5));
        if (!text) continue;
        const letters = Math.floor((room - 4) / 7.2);
        text.style.display = letters > 3 ? "" : "none";
        text.setAttribute("x", left + 3);
        text.textContent = name.length > letters ? name.slice(0, letters - 1) + "\u2026" : name;
      }
    };
    let zoomed = null, at = null;
    const zoomTo = (box) => {
      zoomed = zoomed === box ? null : box;
      if (zoomed) draw(box.x, box.width + 0.5); else draw(0, whole);
    };
    for (const box of boxes) box.rect.addEventListener("dblclick", () => zoomTo(box));
    const label = document.createElement("label"), input = document.createElement("input"), told = document.createElement("output");
    input.type = "search";
    label.className = told.className = "note";
    label.append("Double click or Enter zooms, arrows choose. Search ", input);
    svg.closest("figure").prepend(label, " ", told);
    // Arrows go to what stands beside, above and below; what is narrower than a point after zooming is passed over.
    const seen = (test) => boxes.filter((box) => box.rect.style.display !== "none" && test(box));
    const nearest = (some, last) => some.sort((a, b) => a.x - b.x).at(last ? -1 : 0);
    const KEYS = {
      ArrowRight: () => nearest(seen((box) => box.y === at.y && box.x > at.x)),
      ArrowLeft: () => nearest(seen((box) => box.y === at.y && box.x < at.x), true),
      ArrowDown: () => nearest(seen((box) => box.y > at.y && box.y < at.y + 20 && box.x >= at.x - 0.1 && box.x < at.x + at.width)),
      ArrowUp: () => nearest(seen((box) => box.y < at.y && box.y > at.y - 20 && box.x <= at.x + 0.1), true),
      Enter: () => { zoomTo(at); return at; },
      Escape: () => { zoomed = null; draw(0, whole); return at; },
    };
    const choose = (box) => {
      if (at) at.rect.classList.remove("chosen");
      at = box;
      at.rect.classList.add("chosen");
      told.textContent = at.rect.querySelector("title").textContent;
    };
    svg.tabIndex = 0;
    svg.addEventListener("focus", () => { if (!at && boxes.length) choose(boxes[0]); });
    svg.addEventListener("keydown", (event) => {
      if (!at || !KEYS[event.key] || event.ctrlKey || event.metaKey || event.altKey) return;
      choose(KEYS[event.key]() || at);
      event.preventDefault();
    });
    input.addEventListener("input", () => {
      const sought = input.value.toLowerCase();
      for (const { rect, name } of boxes) rect.style.opacity = name.toLowerCase().includes(sought) ? 1 : 0.25;
    });
  }
})();
