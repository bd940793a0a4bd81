/* ---- charts.js: the heap over time, and distributions ------------------------------------------ */

/* About so many steps of 1, 2 or 5 times a power of ten, from 0 to the end. */
function ticks(end, about) {
    const rough = end / about || 1, power = 10 ** Math.floor(Math.log10(rough));
    const step = power * [1, 2, 5, 10].find(factor => factor * power >= rough), at = [];
    for (let value = 0; value <= end * 1.0001; value += step) at.push(value);
    return at;
}
/* What the listed records had allocated by each time: [[time, bytes]]. Only the first and the last
 * time of a record are known; its bytes are spread evenly between them. */
function leakedByTime(end) {
    const STEPS = 200, more = new Float64Array(STEPS + 2), points = [];
    const stepAt = time => Math.min(Math.max(Math.floor(time / end * STEPS), 0), STEPS - 1);
    for (const record of fittingRecords()) {
        if (record.a == null) continue;
        const [from, to] = [stepAt(bornFrom(record)), stepAt(bornUntil(record))];
        more[from] += record.b / (to - from + 1);
        more[to + 1] -= record.b / (to - from + 1);
    }
    for (let step = 0, bytes = 0, rate = 0; step <= STEPS; bytes += rate += more[step++]) points.push([step / STEPS * end, bytes]);
    return points;
}
/* Choosing a time with the pointer: from where it goes down to where it goes up. */
function brush(picture, plot, timeAt, xAt) {
    let from = null;
    const rect = picture.querySelector(".brush");
    const mark = (a, b) => { rect.setAttribute("x", xAt(Math.min(a, b))); rect.setAttribute("width", Math.abs(xAt(a) - xAt(b))); };
    const at = e => timeAt(e.clientX - picture.getBoundingClientRect().left - plot.left);
    picture.addEventListener("pointerdown", e => { from = at(e); picture.setPointerCapture(e.pointerId); mark(from, from); });
    picture.addEventListener("pointermove", e => { if (from !== null) mark(from, at(e)); });
    picture.addEventListener("pointerup", e => {
        const to = at(e), wide = Math.abs(xAt(to) - xAt(from)) > 3;
        state.time = wide ? [Math.min(from, to), Math.max(from, to)].map(t => t.toFixed(4)).join(",") : "";
        from = null;
        draw();
    });
    if (timeWindow()) mark(...timeWindow());
}
function drawHeap(area) {
    const { history, length } = process(), [peak] = process().peak;
    if (history.length < 2) return;
    const end = Math.max(length, history[history.length - 1][0]), leaked = leakedByTime(end);
    const most = Math.max(...history.map(h => h[1]), peak ? peak[1] : 0, leaked[leaked.length - 1][1], 1);
    const plot = { left: 64, top: 10, width: Math.max(area.clientWidth - 84, 220), height: 190 };
    const x = t => +(plot.width * Math.min(Math.max(t / end, 0), 1)).toFixed(1), y = bytes => +(plot.height * (1 - bytes / most)).toFixed(1);
    const line = points => points.map(point => x(point[0]) + "," + y(point[1])).join(" ");
    const picture = svg("svg", { id: "history", width: plot.left + plot.width + 20, height: plot.height + 44, role: "img", "aria-label": "live bytes over time", "data-width": plot.width },
        svg("g", { transform: `translate(${plot.left} ${plot.top})` },
            ...ticks(most, 4).flatMap(bytes => [svg("line", { class: "grid", x1: 0, x2: plot.width, y1: y(bytes), y2: y(bytes) }),
                svg("text", { x: -6, y: y(bytes) + 4, "text-anchor": "end" }, bytes ? size(bytes) : "0")]),
            ...ticks(end, Math.max(plot.width / 110, 2)).map(time => svg("text", { x: x(time), y: plot.height + 18, "text-anchor": "middle" }, span(time))),
            svg("polygon", { class: "leaked", points: line(leaked) + ` ${x(end)},${plot.height} 0,${plot.height}` }),
            svg("polyline", { class: "curve", points: line(history) }),
            ...(peak ? [svg("circle", { class: "peak", cx: x(peak[0]), cy: y(peak[1]), r: 5 }, svg("title", {}, "the peak: " + size(peak[1]) + " in " + count(peak[2], "block") + ", " + span(peak[0]) + " after the start"))] : []),
            svg("rect", { class: "brush", x: 0, width: 0, y: 0, height: plot.height })));
    const whenOf = i => make("input", { type: "number", min: 0, step: "any", size: 6, "aria-label": i ? "until, in seconds" : "from, in seconds", id: i ? "until" : "from",
        value: timeWindow() ? timeWindow()[i] : i ? end.toFixed(3) : 0, onchange: () => { state.time = $("from").value + "," + $("until").value; draw(); } });
    area.append(make("h3", {}, "Live bytes over " + span(end) + ", peak " + size(most)),
        make("p", { class: "note legend" }, make("span", { class: "live" }, "live"), make("span", { class: "gone" }, "of it in the listed records, spread between their first and last allocation")),
        picture, make("p", { class: "bar" }, "Drag over the chart to see only what was allocated in that time, or: from ", whenOf(0), " s to ", whenOf(1), " s"));
    brush(picture, plot, pixels => Math.min(Math.max(pixels / plot.width, 0), 1) * end, x);
    drawPeak(area);
}
function drawPeak(area) {
    const [peak] = process().peak, parts = atPeak().slice(0, 25);
    if (parts.length) area.append(make("h3", {}, "Live at the peak, " + span(peak[0]) + " after the start"), table([["bytes", 1], ["blocks", 1], ["from"], ["at"]],
        parts.map(part => [size(part.b), number(part.n), part.f ? nameOf(titleOf(part)) : "an unknown place", part.f ? placeOf(titleOf(part)) : ""])));
}

/* ---- Distributions ----------------------------------------------------------------------------- */

function histogram(title, bins) {
    const most = Math.max(...bins.map(b => b[1]), 1), width = Math.max(34 * bins.length, 120);
    return [make("h3", {}, title), svg("svg", { viewBox: `0 0 ${width} 150`, width, height: 150, role: "img", "aria-label": title },
        ...bins.flatMap(([label, value], i) => [
            svg("rect", { class: "barfill", x: 34 * i + 3, width: 28, y: 120 - 100 * value / most, height: 100 * value / most }, svg("title", {}, label + ": " + amount(value, state.metric))),
            svg("text", { x: 34 * i + 17, y: 136, "text-anchor": "middle" }, label)]))];
}
function bin(records, of, label) {
    const bins = new Map();
    for (const record of records) {
        const key = of(record);
        if (key != null) bins.set(key, (bins.get(key) || 0) + valueOf(record));
    }
    const keys = [...bins.keys()];
    if (!keys.length) return [];
    const out = [];
    for (let k = Math.min(...keys); k <= Math.max(...keys); k++) out.push([label(k), bins.get(k) || 0]);
    return out;
}
function drawCharts(area) {
    const records = fittingRecords();
    const sizes = bin(records, r => Math.floor(Math.log2(Math.max(r.b / r.n, 1))), k => k < 10 ? String(2 ** k) : k < 20 ? 2 ** (k - 10) + "k" : 2 ** (k - 20) + "M");
    const older = bin(records, r => r.a == null ? null : Math.max(-3, Math.floor(Math.log10(Math.max(r.a, 0.001)))), k => "1e" + k + " s");
    area.append(...histogram("Block sizes (lower bounds, bytes)", sizes), ...(older.length ? histogram("Ages (since the first block of each record)", older) : []));
}

