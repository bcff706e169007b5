// SPDX-License-Identifier: GPL-2.0-or-later
//
// Who sends to whom: a table with a row for each sender and a column for each receiver, the
// stronger its colour the more.
(function () {
    const data = rocescope.data("hosts");
    if (data === null) {
        return;
    }
    const { units, make } = rocescope;
    const place = document.getElementById("hosts-matrix");
    const choice = document.getElementById("hosts-choice");
    // In the order in which the page has them; the report of a capture does not have the last.
    const MEMBERS = ["from", "to", "packets", "bytes", "data", "ce", "lost",
                     "retransmissions", "cnps", "held"];
    const all = data.cells.map((values) =>
        Object.fromEntries(MEMBERS.map((name, i) => [name, values[i]])));
    const cells = new Map(all.map((cell) => [`${cell.from} ${cell.to}`, cell]));

    const MEASURES = [
        { name: "payload", of: (cell) => cell.bytes, format: units.bytes },
        { name: "packets", of: (cell) => cell.packets, format: units.count },
        { name: "lost packets", of: (cell) => cell.lost, format: units.count },
        { name: "packets sent again", of: (cell) => cell.retransmissions, format: units.count },
        { name: "CE share", of: (cell) => cell.data > 0 ? cell.ce / cell.data : null,
          format: units.share },
        { name: "CNPs that it caused", of: (cell) => cell.cnps, format: units.count },
        { name: "time held by pauses", of: (cell) => cell.held ?? 0, format: units.duration },
    ].filter((measure) => all.some((cell) => measure.of(cell) > 0));

    // Shades by the square root, so that little is told from nothing.
    function shade(element, share) {
        element.style.backgroundColor =
            `rgba(var(--heat), calc(var(--heat-most) * ${Math.sqrt(share)}))`;
    }

    function makeCell(from, to, measure, most) {
        const element = make("td", { className: "n" });
        const cell = cells.get(`${from} ${to}`);
        if (cell === undefined) {
            return element;
        }
        const value = measure.of(cell);
        element.textContent = value === null ? "–" : measure.format(value);
        element.title = `${data.hosts[from]} → ${data.hosts[to]}: ` + (value === null ?
            "cannot be told from here" : `${measure.format(value)}, ${measure.name}`);
        if (value > 0) {
            shade(element, value / most);
        } else {
            element.classList.add(value === null ? "null" : "zero");
        }
        return element;
    }

    function heading(text, scope) {
        return make("th", { scope }, make("span", { textContent: text }));
    }

    function draw() {
        const measure = MEASURES[Number(choice.value)];
        const most = Math.max(...all.map((cell) => measure.of(cell) ?? 0));
        const head = make("tr", {}, heading("from ↓  to →", "col"),
            ...data.hosts.map((host) => heading(host, "col")));
        const rows = data.hosts.map((host, from) => make("tr", {}, heading(host, "row"),
            ...data.hosts.map((_, to) => makeCell(from, to, measure, most))));
        const table = make("table", { className: data.hosts.length > 8 ? "matrix many" : "matrix" },
            make("caption", { textContent: `Hosts by ${measure.name}` }),
            make("thead", {}, head), make("tbody", {}, ...rows));
        const region = make("div", { className: "table", tabIndex: 0 }, table);
        region.setAttribute("role", "region");
        region.setAttribute("aria-label", "Who sends to whom");
        place.replaceChildren(region);
    }

    MEASURES.forEach((measure, i) => {
        choice.append(make("option", { value: i, textContent: measure.name }));
    });
    choice.addEventListener("change", draw);
    draw();
})();
