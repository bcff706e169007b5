// SPDX-License-Identifier: GPL-2.0-or-later
//
// PSNs over time, one stream at a time: the picture that an engineer draws.  Each kind of
// point has its own shape, so that colour is not needed to tell them apart.
(function () {
    const axis = rocescope.axis;
    const data = rocescope.data("psn");
    if (axis === null || data === null) {
        return;
    }
    const { units, make } = rocescope;
    const place = document.getElementById("psn-chart");
    const choice = document.getElementById("psn-choice");

    // ---- shapes: each draws around (x, y) with a radius ----

    function path(context, x, y, points) {
        context.beginPath();
        points.forEach(([dx, dy], i) => i === 0 ? context.moveTo(x + dx, y + dy)
            : context.lineTo(x + dx, y + dy));
    }

    const SHAPES = {
        dot(context, x, y, r) {
            context.fillRect(x - r / 2, y - r / 2, r, r);
        },
        dash(context, x, y, r) {
            path(context, x, y, [[-r, 0], [r, 0]]);
            context.stroke();
        },
        square(context, x, y, r) {
            context.fillRect(x - r * 0.8, y - r * 0.8, r * 1.6, r * 1.6);
        },
        cross(context, x, y, r) {
            path(context, x, y, [[-r, -r], [r, r]]);
            context.stroke();
            path(context, x, y, [[-r, r], [r, -r]]);
            context.stroke();
        },
        plus(context, x, y, r) {
            path(context, x, y, [[-r, 0], [r, 0]]);
            context.stroke();
            path(context, x, y, [[0, -r], [0, r]]);
            context.stroke();
        },
        ring(context, x, y, r) {
            context.beginPath();
            context.arc(x, y, r, 0, 2 * Math.PI);
            context.stroke();
        },
        diamond(context, x, y, r) {
            path(context, x, y, [[0, -r * 1.3], [r * 1.3, 0], [0, r * 1.3], [-r * 1.3, 0]]);
            context.closePath();
            context.fill();
        },
        triangle(context, x, y, r) {
            path(context, x, y, [[-r, -r], [r, -r], [0, r]]);
            context.closePath();
            context.fill();
        },
        peak(context, x, y, r) {
            path(context, x, y, [[-r, r], [r, r], [0, -r]]);
            context.closePath();
            context.stroke();
        },
        // as high as what it spans
        bar(context, x, y, r, height) {
            path(context, x, y, [[-r, 0], [r, 0], [0, 0], [0, -height], [-r, -height],
                [r, -height]]);
            context.stroke();
        },
    };

    const KINDS = {
        request: { name: "request", shape: "dot", color: "--series-blue", size: 3 },
        response: { name: "response", shape: "dot", color: "--series-blue", size: 3 },
        ack: { name: "ACK", shape: "dash", color: "--series-sky", size: 3 },
        gap: { name: "gap", shape: "bar", color: "--critical", size: 3 },
        loss: { name: "lost", shape: "cross", color: "--critical", size: 4 },
        nak: { name: "NAK", shape: "triangle", color: "--series-black", size: 5 },
        rnr_nak: { name: "RNR NAK", shape: "diamond", color: "--series-purple", size: 4 },
        retransmission: { name: "sent again", shape: "square", color: "--series-orange", size: 3 },
        response_resent: { name: "response sent again", shape: "square",
                           color: "--series-orange", size: 3 },
        late: { name: "late original", shape: "peak", color: "--series-green", size: 4 },
        duplicate: { name: "duplicate", shape: "plus", color: "--series-green", size: 4 },
        ce: { name: "CE mark", shape: "ring", color: "--series-purple", size: 5 },
        cnp: { name: "CNP, on the axis", shape: "peak", color: "--series-green", size: 5 },
    };
    const ORDER = Object.keys(KINDS);

    // Kinds that the reader does not want to see.
    const hidden = new Set();

    // Lists of differences become points again; CNPs have no PSN.
    function unfold(plot) {
        let time = 0;
        let frame = 0;
        let psn = 0;
        return plot.time.map((step, i) => {
            time += step;
            frame += plot.frame[i];
            psn += plot.psn[i] ?? 0;
            return { time, frame, psn: plot.psn[i] === null ? null : psn,
                     span: plot.span[i], kind: data.kinds[plot.kind[i]] };
        });
    }

    function fillChoice() {
        data.plots.forEach((plot, i) => {
            choice.append(make("option", { value: i, textContent: plot.label }));
        });
    }

    function paint(context, kind, x, y, height = 0) {
        const how = KINDS[kind];
        const color = axis.color(how.color);
        context.save();
        context.fillStyle = context.strokeStyle = color;
        context.lineWidth = 1.5;
        SHAPES[how.shape](context, x, y, how.size, height);
        context.restore();
    }

    // What a point is, in words.
    function describe(plot, point) {
        const psn24 = point.psn === null ? null : (plot.first_psn + point.psn) % 0x1000000;
        const span = point.span > 1 && point.kind !== "ack" ? `, ${units.count(point.span)} PSNs` : "";
        const at = psn24 === null ? "" :
            ` PSN ${units.count(point.psn)} (0x${psn24.toString(16).padStart(6, "0")}${span})`;
        const frame = point.frame > 0 ? ` · frame ${point.frame}` : "";
        return `${KINDS[point.kind].name}${at} · ${units.exactly(point.time)}${frame} · ` +
            units.absolute(axis.origin, point.time);
    }

    function addLegend(plot, points, kinds, redrawVisible) {
        const legend = make("div", { className: "marks" });
        kinds.forEach((kind, i) => {
            const shown = points.filter((point) => point.kind === kind).length;
            const total = plot.totals[data.kinds.indexOf(kind)];
            const box = make("input", { type: "checkbox", checked: !hidden.has(kind) });
            const mark = make("canvas", { width: 28, height: 28 });
            const context = mark.getContext("2d");
            context.scale(2, 2);
            paint(context, kind, 7, KINDS[kind].shape === "bar" ? 11 : 7, 8);
            const much = shown < total ? `${units.count(shown)} of ${units.count(total)}`
                : units.count(shown);
            legend.append(make("label", {}, box, mark, `${KINDS[kind].name} `,
                make("span", { textContent: much })));
            box.addEventListener("change", () => {
                hidden[box.checked ? "delete" : "add"](kind);
                redrawVisible(i, box.checked);
            });
        });
        place.append(legend);
    }

    // CNPs stand on the axis of time.
    function drawCnps(points) {
        return (context, area, dygraph) => {
            if (hidden.has("cnp")) {
                return;
            }
            for (const point of points) {
                const x = dygraph.toDomXCoord(point.time);
                if (point.kind === "cnp" && x >= area.x && x <= area.x + area.w) {
                    paint(context, "cnp", x, area.y + area.h - 5);
                }
            }
        };
    }

    function draw() {
        axis.leave("psn");
        place.replaceChildren();
        const plot = data.plots[Number(choice.value)];
        const points = unfold(plot);
        const kinds = ORDER.filter((kind) => points.some((point) => point.kind === kind));
        // NaN, not null: dygraphs looks beyond null for a point to draw a line to, and would
        // make room for that one too.
        const rows = points.map((point) => [point.time,
            ...kinds.map((kind) => kind === point.kind && point.psn !== null ? point.psn : NaN)]);
        const nothing = kinds.map(() => NaN);
        const output = make("output", { attributes: { "aria-live": "off" } });
        const canvas = make("div", { className: "canvas tall", attributes: {
            role: "img", "aria-label": `PSNs over time of ${plot.label}` } });
        place.append(make("figure", { className: "chart" },
            make("figcaption", {}, make("b", { textContent: "PSN" }), make("span", { textContent:
                `${plot.label}, counted from 0x${plot.first_psn.toString(16).padStart(6, "0")}` }), output),
            canvas));

        function drawMark(dygraph, name, context, x, y, color, size, row) {
            const { kind, span } = points[row - 1];
            const height = dygraph.toDomYCoord(0) - dygraph.toDomYCoord(Math.max(span - 1, 0));
            paint(context, kind, x, y, height);
        }

        const chart = new Dygraph(canvas,
            [[axis.start, ...nothing], ...rows, [axis.end, ...nothing]],
            axis.options({
                labels: ["time", ...kinds],
                colors: kinds.map((kind) => axis.color(KINDS[kind].color)),
                visibility: kinds.map((kind) => !hidden.has(kind)),
                strokeWidth: 0,
                drawPoints: true,
                drawPointCallback: drawMark,
                drawHighlightPointCallback: (dygraph, name, context, x, y) =>
                    SHAPES.ring(context, x, y, 7),
                highlightSeriesOpts: { strokeWidth: 0 },
                highlightSeriesBackgroundAlpha: 1,
                underlayCallback: drawCnps(points),
                includeZero: false,
                xRangePad: 0,
                yRangePad: 14,
                highlightCallback: (event, x, selected, row) => {
                    output.textContent = points[row - 1] ? describe(plot, points[row - 1]) : "";
                },
                unhighlightCallback: () => { output.textContent = ""; },
                axes: { y: { axisLabelFormatter: (psn) =>
                    Number.isInteger(psn) ? units.count(psn) : "" } },
            }));
        addLegend(plot, points, kinds, (i, visible) => chart.setVisibility(i, visible));
        axis.join("psn", [chart]);
    }

    // The shared axis on what the stream has.
    function fit() {
        const times = unfold(data.plots[Number(choice.value)]).map((point) => point.time);
        const margin = (times.at(-1) - times[0]) * 0.02 + 10;
        axis.show(times[0] - margin, times.at(-1) + margin);
    }

    // Streams of the table that have a plot lead to it.
    function linkRows() {
        data.plots.forEach((plot, i) => {
            const cell = document.querySelector(`#streams-${plot.stream} > th`);
            if (cell === null || cell.querySelector("a") !== null) {
                return;
            }
            const link = make("a", { href: "#psn", title: "Show its PSNs over time",
                                     textContent: cell.textContent });
            link.addEventListener("click", () => {
                choice.value = i;
                draw();
                rocescope.showTimelineOf(plot.stream);
                fit();
            });
            cell.replaceChildren(link);
        });
    }

    fillChoice();
    const zoom = document.querySelector("#psn-controls .zoom");
    axis.addButtons(zoom);
    const button = make("button", { type: "button", textContent: "This stream",
                                    title: "Show the time of this stream" });
    button.addEventListener("click", fit);
    zoom.append(button);
    choice.addEventListener("change", draw);
    axis.onRedraw(draw);
    linkRows();
    draw();
})();
