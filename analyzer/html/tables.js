// SPDX-License-Identifier: GPL-2.0-or-later
//
// Tables that sort by their columns and show the rows that are asked for.
//
// What a cell sorts by stands in data-sort, else it is its text; thousands' commas do not
// count.  What is not known ("–") stays last whichever way.
(function () {
    const ORDERS = ["none", "descending", "ascending"];
    const FILTER_FROM_ROWS = 6;

    // A number where the cell is one, else its text in small letters; null: not known.
    function keyOf(cell) {
        if (cell.classList.contains("null")) {
            return null;
        }
        const text = cell.dataset.sort ?? cell.textContent;
        if (cell.classList.contains("n")) {
            return Number(text.replaceAll(",", ""));
        }
        return text.toLowerCase();
    }

    function compare(a, b) {
        if (typeof a === "string") {
            return a.localeCompare(b, "en", { numeric: true });
        }
        return a - b;
    }

    // Rows in the order of a column; equal ones keep theirs.
    function sorted(rows, column, order) {
        const keyed = rows.map((row) => ({ row, key: keyOf(row.cells[column]) }));
        const sign = order === "descending" ? -1 : 1;
        keyed.sort((a, b) => {
            if (a.key === null || b.key === null) {
                return (a.key === null) - (b.key === null);
            }
            return sign * compare(a.key, b.key);
        });
        return keyed.map((one) => one.row);
    }

    function makeSortable(table, rows) {
        const headings = [...table.tHead.rows[0].cells];
        headings.forEach((heading, column) => {
            const button = rocescope.make("button", { type: "button", className: "sort" });
            button.append(...heading.childNodes);
            heading.append(button);
            heading.setAttribute("aria-sort", "none");
            button.addEventListener("click", () => {
                const now = ORDERS.indexOf(heading.getAttribute("aria-sort"));
                const order = ORDERS[(now + 1) % ORDERS.length];
                for (const other of headings) {
                    other.setAttribute("aria-sort", "none");
                }
                heading.setAttribute("aria-sort", order);
                const wanted = order === "none" ? rows : sorted(rows, column, order);
                table.tBodies[0].append(...wanted);
            });
        });
    }

    // What a condition is about: a number, else the text that is shown.
    function valueOf(cell) {
        const key = keyOf(cell);
        return typeof key === "string" ? cell.textContent.toLowerCase() : key;
    }

    // "lost>0", "CE>=10", "from=10.0.0.1": a heading's beginning, and what its column is to
    // be; null for a word that is none.
    function parseCondition(word, headings) {
        const parts = /^([^<>=]+)(>=|<=|>|<|=)(.+)$/.exec(word);
        if (parts === null) {
            return null;
        }
        const [, name, sign, text] = parts;
        const column = headings.findIndex((h) => h.startsWith(name.toLowerCase()));
        if (column < 0) {
            return null;
        }
        return (row) => {
            const value = valueOf(row.cells[column]);
            const limit = typeof value === "number" ? Number(text) : text.toLowerCase();
            if (value === null || Number.isNaN(limit)) {
                return false;
            }
            const order = compare(value, limit);
            return { ">": order > 0, "<": order < 0, "=": order === 0,
                     ">=": order >= 0, "<=": order <= 0 }[sign];
        };
    }

    // All words have to be in a row, all conditions to hold.
    function parseFilter(text, headings) {
        const tests = text.trim().toLowerCase().split(/\s+/).filter(Boolean).map((word) =>
            parseCondition(word, headings) ||
            ((row) => row.textContent.toLowerCase().includes(word)));
        return (row) => tests.every((test) => test(row));
    }

    function makeFilterable(table, rows) {
        const headings = [...table.tHead.rows[0].cells].map((cell) =>
            cell.textContent.toLowerCase().replaceAll(" ", "-"));
        const known = headings.find((name) => ["lost", "packets"].includes(name));
        const example = known ? `words, or conditions such as ${known}>0` : "words";
        const input = rocescope.make("input", { type: "search", placeholder: example });
        const count = rocescope.make("output", {});
        const label = rocescope.make("label", { className: "filter" }, "Filter ", input, count);
        input.addEventListener("input", () => {
            const passes = parseFilter(input.value, headings);
            let shown = 0;
            for (const row of rows) {
                row.hidden = !passes(row);
                shown += row.hidden ? 0 : 1;
            }
            count.textContent = shown === rows.length ? "" :
                `${shown.toLocaleString("en")} of ${rows.length.toLocaleString("en")} rows`;
        });
        table.parentElement.before(label);
    }

    // Why a value is not known is said where it is pointed at.
    function explainUnknown(table) {
        const headings = table.tHead.rows[0].cells;
        table.addEventListener("pointerover", (event) => {
            const cell = event.target.closest("td.null");
            if (cell !== null && cell.title === "") {
                cell.title = headings[cell.cellIndex].dataset.null;
            }
        });
    }

    // Links to a row bring it to sight although a filter hid it.
    function showTarget() {
        const row = document.getElementById(decodeURIComponent(location.hash.slice(1)));
        if (row !== null && row.tagName === "TR" && row.hidden) {
            const input = row.closest("section").querySelector(".filter input");
            input.value = "";
            input.dispatchEvent(new Event("input"));
            row.scrollIntoView({ block: "center" });
        }
    }

    for (const table of document.querySelectorAll("table.sortable")) {
        const rows = [...table.tBodies[0].rows];
        explainUnknown(table);
        if (rows.length > 1) {
            makeSortable(table, rows);
        }
        if (rows.length >= FILTER_FROM_ROWS) {
            makeFilterable(table, rows);
        }
    }
    window.addEventListener("hashchange", showTarget);
})();
