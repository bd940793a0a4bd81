/* ---- charts.js: distributions, and the heap over time ------------------------------------------ */

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
    const history = process().history;
    if (history.length > 1) {
        const [peak] = process().peak, parts = atPeak().slice(0, 25), most = Math.max(...history.map(h => h[1]), peak ? peak[1] : 1), [t0, t1] = [history[0][0], history[history.length - 1][0]];
        const x = t => (800 * Math.min(Math.max((t - t0) / (t1 - t0 || 1), 0), 1)).toFixed(1), y = bytes => (190 - 170 * bytes / most).toFixed(1);
        area.append(make("h3", {}, "Live bytes over " + span(t1) + ", peak " + size(most)), svg("svg", { id: "history", viewBox: "-6 0 812 200", width: 812, height: 200, role: "img", "aria-label": "live bytes over time" },
            svg("polyline", { class: "curve", points: history.map(h => x(h[0]) + "," + y(h[1])).join(" ") }),
            ...(peak ? [svg("circle", { class: "peak", cx: x(peak[0]), cy: y(peak[1]), r: 5 }, svg("title", {}, "the peak: " + size(peak[1]) + " in " + count(peak[2], "block") + ", " + span(peak[0]) + " after the start"))] : [])));
        if (parts.length) area.append(make("h3", {}, "Live at the peak, " + span(peak[0]) + " after the start"), table([["bytes", 1], ["blocks", 1], ["from"], ["at"]],
            parts.map(part => [size(part.b), number(part.n), part.f ? nameOf(titleOf(part)) : "an unknown place", part.f ? placeOf(titleOf(part)) : ""])));
    }
    area.append(...histogram("Block sizes (lower bounds, bytes)", sizes), ...(older.length ? histogram("Ages (since the first block of each record)", older) : []));
}

