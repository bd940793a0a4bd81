/* ---- list.js: lists of any length ------------------------------------------------------------- */

/* Only the rows near the window exist. A row that has not been drawn counts with a height that is
 * the same for all; the differences of drawn rows are in a Fenwick tree, so that the place of a row,
 * and the row at a place, are found in a few steps. */
class List {
    /* render(i) returns the element of row i; gap: free space below each. */
    constructor(area, count, estimate, render, gap = 0) {
        Object.assign(this, { count, estimate, render, gap, at: -1 });
        this.box = make("div", { class: "list" });
        this.rows = new Map();
        this.heights = new Map();
        this.excess = new Float64Array(count + 1);
        area.append(this.box);
        List.active.push(this);
        this.place();
    }
    /* The place of a row's upper edge. */
    top(row) {
        let top = row * this.estimate;
        for (let i = row; i > 0; i -= i & -i) top += this.excess[i];
        return top;
    }
    /* The row at a place. */
    rowAt(y) {
        let row = 0, step = 1;
        while (2 * step <= this.count) step *= 2;
        for (; step; step >>= 1)
            if (row + step <= this.count && y >= this.estimate * step + this.excess[row + step]) {
                row += step;
                y -= this.estimate * step + this.excess[row];
            }
        return Math.min(row, this.count - 1);
    }
    /* Returns by how much a row differs from what it counted with. */
    measure(row, element) {
        const height = element.offsetHeight + this.gap, old = this.heights.get(row) ?? this.estimate;
        if (height === old || !element.isConnected) return 0;
        this.heights.set(row, height);
        for (let i = row + 1; i <= this.count; i += i & -i) this.excess[i] += height - old;
        return height - old;
    }
    /* Draws the rows near the window; again when they were lower than they counted with. */
    place() {
        if (!this.count || !this.box.isConnected) return;
        for (let pass = 0; pass < 4 && this.draw(); pass++);
    }
    /* True: some rows were drawn. The others are removed. */
    draw() {
        const above = -this.box.getBoundingClientRect().top;
        const first = this.rowAt(above - 400), last = this.rowAt(above + innerHeight + 400);
        let drawn = false;
        for (const [row, element] of this.rows)
            if ((row < first || row > last) && !element.contains(document.activeElement)) { element.remove(); this.rows.delete(row); }
        let next = this.box.firstChild;
        for (let row = first; row <= last; row++) {
            while (next && next.row < row) next = next.nextSibling;
            if (this.rows.has(row)) continue;
            const element = this.render(row);
            element.row = row;
            this.rows.set(row, element);
            this.box.insertBefore(element, next);
            drawn = true;
        }
        this.settle(above);
        return drawn;
    }
    /* Measures the rows and puts each in its place; what is in the window stays where it is. */
    settle(above) {
        let shift = 0;
        for (const [row, element] of this.rows) {
            const before = this.top(row);
            const grown = this.measure(row, element);
            if (before + element.offsetHeight < above) shift += grown;
        }
        for (const [row, element] of this.rows) element.style.top = this.top(row) + "px";
        this.box.style.height = this.top(this.count) + "px";
        if (shift) scrollBy(0, shift);
    }
    /* Moves to a row: "at" is the one that keys act on. */
    go(row) {
        const mark = on => this.rows.get(this.at) && this.rows.get(this.at).classList.toggle("at", on);
        if (!this.count) return;
        mark(false);
        this.at = Math.min(Math.max(row, 0), this.count - 1);
        const edge = this.box.getBoundingClientRect().top + this.top(this.at), head = document.querySelector("header").offsetHeight;
        if (edge < head || edge > innerHeight - 80) { scrollBy(0, edge - Math.max(head + 8, innerHeight / 3)); this.place(); }
        mark(true);
        const target = this.rows.get(this.at) && this.rows.get(this.at).querySelector("button, [tabindex]");
        if (target) target.focus({ preventScroll: true });
    }
}
List.active = [];
List.placeAll = () => { List.active = List.active.filter(list => list.box.isConnected); List.active.forEach(list => list.place()); };
addEventListener("scroll", List.placeAll, { passive: true });
addEventListener("resize", List.placeAll);

/* A table of any length. columns: [title, function of an item that returns the cell, { number, mono,
 * width, value }]; a column with a value is sorted by it: state.sort has its index and direction.
 * On a click a row is given to open(), or unfolds what detail() returns. */
function bigTable(area, columns, items, { open, detail } = {}) {
    const style = "grid-template-columns:" + columns.map(c => c[2] && c[2].width || "minmax(0, 1fr)").join(" ");
    const looks = column => [column[2] && column[2].number && "number", column[2] && column[2].mono && "mono"].filter(Boolean).join(" ");
    const cell = (column, content, role) => make("div", { role, class: looks(column) }, content);
    const [sortColumn, direction] = state.sort.split(",").map(Number), unfolded = new Set();
    const head = make("div", { class: "row head", role: "row", style }, columns.map((column, i) => {
        if (!column[2] || !column[2].value) return cell(column, column[0], "columnheader");
        const by = state.sort && sortColumn === i ? direction : 0;
        return make("div", { role: "columnheader", class: looks(column), "aria-sort": by > 0 ? "ascending" : by < 0 ? "descending" : "none" },
            make("button", { "data-sort": i, onclick: () => { state.sort = i + "," + (by ? -by : column[2].number ? -1 : 1); draw(); } }, column[0] + (by > 0 ? " ▲" : by < 0 ? " ▼" : "")));
    }));
    if (state.sort && columns[sortColumn] && columns[sortColumn][2] && columns[sortColumn][2].value) items = sorted(items, columns[sortColumn][2].value, direction);
    const box = make("div", { class: "big-table", role: "table", "aria-rowcount": items.length }, head);
    area.append(box);
    return new List(box, items.length, 30, i => {
        const item = items[i], row = make("div", { class: "row", role: "row", "aria-rowindex": i + 1, style, tabindex: open || detail ? 0 : null }, columns.map(column => cell(column, column[1](item), "cell")));
        const unfold = () => row.append(make("div", { class: "detail entry", onclick: e => e.stopPropagation() }, detail(item)));
        const act = () => {
            if (open) { open(item); return; }
            if (unfolded.delete(item)) row.lastChild.remove();
            else { unfolded.add(item); unfold(); }
            List.placeAll();
        };
        if (unfolded.has(item)) unfold();
        if (open || detail) {
            row.addEventListener("click", act);
            row.addEventListener("keydown", e => { if (e.key === "Enter" && e.target === row) act(); });
        }
        return row;
    });
}
function sorted(items, value, direction) {
    return items.map(item => [item, value(item)]).sort((a, b) => (a[1] < b[1] ? -1 : a[1] > b[1] ? 1 : 0) * direction).map(pair => pair[0]);
}

