// SPDX-License-Identifier: GPL-2.0-or-later
//
// What happened when: one chart below the other for each thing that was counted, each bin
// as wide as it is.  A chart that would be empty is not shown.
(function () {
    const axis = rocescope.axis;
    if (axis === null) {
        return;
    }
    const { units, make } = rocescope;
    const { timeline } = axis;
    const bin_s = timeline.bin_ns / 1e9;
    const place = document.getElementById("timeline-charts");
    const choice = document.getElementById("timeline-choice");
    const LANES = 12;

    // How high a bar is that is there at all, in pixels.
    const LEAST_BAR = 2;

    // Where a bin begins and how wide it is, in whole pixels: bins side by side touch.
    function placeOf(event, point) {
        const from = Math.floor(point.canvasx);
        const to = Math.floor(event.dygraph.toDomXCoord(point.xval + timeline.bin_ns));
        return [from, Math.max(to - from, 1)];
    }

    // A bar from each bin's beginning to its end.
    function drawBars(event) {
        const context = event.drawingContext;
        const bottom = event.dygraph.toDomYCoord(0);
        context.fillStyle = event.color;
        for (const point of event.points) {
            if (point.yval > 0) {
                const [from, width] = placeOf(event, point);
                const height = Math.max(bottom - point.canvasy, LEAST_BAR);
                context.fillRect(from, bottom - height, width, height);
            }
        }
    }

    // The time line's charts; `row` says what to show of a series, bin by bin: null where it
    // is not known, and null for all where nothing is.
    const MEASURES = [
        { name: "throughput", title: "Throughput", unit: "of IP payload",
          color: "--series-blue", format: units.rate,
          options: { stepPlot: true, fillGraph: true, fillAlpha: 0.25 },
          row: (one) => one.bits?.map((bits) => bits / bin_s) },
        { name: "ce", title: "CE share", unit: "of data packets", color: "--series-purple",
          format: units.share, options: { stepPlot: true, fillGraph: true, fillAlpha: 0.2 },
          row: (one) => one.ce?.map((ce, i) => one.data[i] > 0 ? ce / one.data[i] : null) },
        { name: "cnps", title: "CNPs", unit: "per bin", color: "--series-green",
          format: units.count, options: { plotter: drawBars }, row: (one) => one.cnps },
        { name: "retransmissions", title: "Retransmissions", unit: "packets per bin",
          color: "--series-orange", format: units.count, options: { plotter: drawBars },
          row: (one) => one.retransmissions },
    ];

    function chosen() {
        return timeline.series[Number(choice.value)];
    }

    function fillChoice() {
        const groups = { total: choice, point: null, stream: null };
        timeline.series.forEach((one, i) => {
            if (groups[one.of] === null) {
                groups[one.of] = make("optgroup", { label: `${one.of}s` });
                choice.append(groups[one.of]);
            }
            groups[one.of].append(make("option", { value: i, textContent: one.label }));
        });
    }

    // A chart's place with its heading; what is pointed at is written into `output`.
    // `summary` is what a reader who cannot see the picture is told.
    function addChart(title, unit, height, summary = "") {
        const output = make("output", { attributes: { "aria-live": "off" } });
        const canvas = make("div", { className: "canvas",
            attributes: { role: "img", "aria-label": `${title} ${unit}${summary}` } });
        canvas.style.height = `${height}px`;
        const figure = make("figure", { className: "chart" },
            make("figcaption", {}, make("b", { textContent: title }),
                make("span", { textContent: unit }), output),
            canvas);
        place.append(figure);
        return { canvas, output };
    }

    // Rows of [time, value]; the last one ends the last bin.
    function rowsOf(columns) {
        const rows = [];
        for (let i = 0; i <= timeline.n_bins; i++) {
            const at = Math.min(i, timeline.n_bins - 1);
            rows.push([axis.start + i * timeline.bin_ns,
                ...columns.map((column) => column[at])]);
        }
        return rows;
    }

    // What the charts say of a bin; -1: of none.
    let readers = [];
    const clock = make("output", { className: "clock",
                                   attributes: { "aria-live": "off" } });

    function read(row) {
        const none = row < 0 || row >= timeline.n_bins;
        const from = axis.start + row * timeline.bin_ns;
        clock.textContent = none ? "" :
            `${units.onAxis(from, timeline.bin_ns)} + ${units.duration(timeline.bin_ns)}` +
            ` · ${units.absolute(axis.origin, from)}`;
        readers.forEach((reader) => reader(none ? -1 : row));
    }

    const highlight = {
        highlightCallback: (event, x, points, row) => read(row),
        unhighlightCallback: () => read(-1),
    };

    function sayUnknown(measure) {
        const { canvas, output } = addChart(measure.title, measure.unit, 0);
        output.textContent = "– cannot be told from here: the stream's other direction was not found";
        canvas.remove();
    }

    function drawMeasure(measure, one) {
        const row = measure.row(one);
        if (!row) {
            sayUnknown(measure);
            return null;
        }
        if (!row.some((value) => value > 0)) {
            return null;
        }
        const most = row.reduce((a, b) => Math.max(a, b ?? 0), 0);
        const { canvas, output } = addChart(measure.title, measure.unit, 110,
            `, at most ${measure.format(most)}, at ` +
            units.duration(axis.start + row.indexOf(most) * timeline.bin_ns));
        readers.push((at) => {
            output.textContent = at < 0 ? "" :
                row[at] === null ? "– no data packet" : measure.format(row[at]);
        });
        return new Dygraph(canvas, rowsOf([row]), axis.options({
            labels: ["time", measure.title],
            colors: [axis.color(measure.color)],
            ...highlight,
            ...measure.options,
            axes: { y: { axisLabelFormatter: (value) =>
                value === 0 ? "0" : measure.format(value) } },
        }));
    }

    // Bands: who was paused, at which point and in which priority.
    function lanesOf(one) {
        const points = timeline.series.filter((other) => other.of === "point" &&
            (one.of === "total" || other.id === (one.of === "point" ? one.id : one.point)));
        const lanes = [];
        for (const point of points) {
            (point.paused_ns || []).forEach((row, priority) => {
                const sum = row === null ? 0 : row.reduce((a, b) => a + b, 0);
                if (sum > 0) {
                    const name = points.length > 1 ? `prio ${priority}, pt ${point.id}` :
                        `priority ${priority}`;
                    lanes.push({ name, sum, row, label: points.length > 1 ?
                        `priority ${priority} at point ${point.id}` : `priority ${priority}` });
                }
            });
        }
        lanes.sort((a, b) => b.sum - a.sum);
        return lanes;
    }

    // A band as strong as the part of the bin that was paused, and never too faint to be
    // seen.
    function drawBand(event) {
        const context = event.drawingContext;
        const lane = event.seriesIndex;
        const top = event.dygraph.toDomYCoord(lane + 0.9);
        const height = event.dygraph.toDomYCoord(lane + 0.1) - top;
        context.fillStyle = event.color;
        for (const point of event.points) {
            if (point.yval > lane) {
                const [from, width] = placeOf(event, point);
                context.globalAlpha = 0.25 + 0.75 * Math.min(point.yval - lane, 1);
                context.fillRect(from, top, width, height);
            }
        }
        context.globalAlpha = 1;
    }

    function drawPauses(one) {
        const all = lanesOf(one);
        if (all.length === 0) {
            return null;
        }
        const lanes = all.slice(0, LANES).reverse();
        const shares = lanes.map((lane) => lane.row.map((ns) => ns / timeline.bin_ns));
        const more = all.length > LANES ? `, the ${LANES} most paused of ${all.length}` : "";
        const { canvas, output } = addChart("Pauses",
            `by priority, the stronger the longer${more}`, 34 + 22 * lanes.length,
            `: ${lanes.map((lane) => `${lane.label} ${units.duration(lane.sum)}`).join(", ")}`);
        readers.push((at) => {
            output.textContent = at < 0 ? "" : lanes.map((lane, i) => [lane, shares[i][at]])
                .filter(([, share]) => share > 0).reverse()
                .map(([lane, share]) => `${lane.label}: ${units.share(share)}`).join(", ");
        });
        const columns = shares.map((row, i) => row.map((share) => share > 0 ? i + share : null));
        return new Dygraph(canvas, rowsOf(columns), axis.options({
            labels: ["time", ...lanes.map((lane) => lane.label)],
            colors: lanes.map(() => axis.color("--faint")),
            plotter: drawBand,
            valueRange: [0, lanes.length],
            highlightCircleSize: 0,
            ...highlight,
            axes: { y: { drawGrid: false, ticker: () =>
                lanes.map((lane, i) => ({ v: i + 0.5, label: lane.name })) } },
        }));
    }

    function draw() {
        axis.leave("timeline");
        place.replaceChildren();
        readers = [];
        const one = chosen();
        const charts = MEASURES.map((measure) => drawMeasure(measure, one));
        charts.push(drawPauses(one));
        const drawn = charts.filter((chart) => chart !== null);
        if (drawn.length === 0) {
            place.append(make("p", { className: "legend", textContent:
                "Nothing of this is known to have been here." }));
        } else if (drawn.length > 1) {
            Dygraph.synchronize(drawn, { zoom: false });
        }
        axis.join("timeline", drawn);
    }

    fillChoice();
    axis.addButtons(document.querySelector("#timeline-controls .zoom"));
    document.getElementById("timeline-controls").append(clock);
    place.before(make("p", { className: "legend", textContent:
        `Drag to zoom, Shift and drag to move, double click for the whole. A bin is ` +
        `${units.duration(timeline.bin_ns)}.` }));
    choice.addEventListener("change", draw);
    axis.onRedraw(draw);
    rocescope.showTimelineOf = (stream) => {
        const i = timeline.series.findIndex((one) => one.of === "stream" && one.id === stream);
        if (i >= 0) {
            choice.value = i;
            draw();
        }
    };
    draw();
})();
