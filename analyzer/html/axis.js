// SPDX-License-Identifier: GPL-2.0-or-later
//
// The one axis of time of all charts: ns from the first packet of the capture on.  Charts
// join it and leave it; dygraphs' synchronizer keeps them together, here are the buttons.
//
// All charts have a row at both ends of the axis, so that "the whole capture" is the same
// for each of them.
rocescope.axis = (function () {
    const timeline = rocescope.data("timeline");
    if (timeline === null) {
        return null;
    }
    // dygraphs' legend sets styles in a way that the page's policy forbids; what is pointed
    // at is written above the charts.
    Dygraph.PLUGINS = Dygraph.PLUGINS.filter((plugin) => plugin !== Dygraph.Plugins.Legend);

    const start = timeline.start_ns;
    const end = start + timeline.bin_ns * timeline.n_bins;
    const origin = BigInt(timeline.origin_ns);
    const groups = new Map(); // by name: the charts of one part of the page
    let window_ns = [start, end];
    let joined = null;

    function color(name) {
        return getComputedStyle(document.documentElement).getPropertyValue(name).trim();
    }

    // Fingers: two of them zoom, one scrolls the page as everywhere.
    function makeInteraction() {
        const model = { ...Dygraph.defaultInteractionModel };
        for (const name of ["touchstart", "touchmove", "touchend"]) {
            const handler = model[name];
            model[name] = (event, dygraph, context) => {
                if (event.touches.length === 2 || context.initialTouches) {
                    handler(event, dygraph, context);
                }
            };
        }
        return model;
    }

    // What all charts have in common.
    function options(own) {
        return {
            dateWindow: [...window_ns],
            includeZero: true,
            gridLineColor: color("--grid"),
            axisLineColor: color("--line"),
            gridLineWidth: 1,
            axisLabelFontSize: 11,
            strokeWidth: 1.5,
            highlightCircleSize: 3,
            yRangePad: 4,
            interactionModel: makeInteraction(),
            ...own,
            axes: {
                x: {
                    ticker: Dygraph.numericTicks,
                    axisLabelFormatter: (ns, granularity, get, dygraph) => {
                        const [from, to] = dygraph.xAxisRange();
                        return rocescope.units.onAxis(ns, (to - from) / 8);
                    },
                    pixelsPerLabel: 70,
                    axisLabelWidth: 88,
                    ...own.axes?.x,
                },
                y: { axisLabelWidth: 76, pixelsPerLabel: 24, ...own.axes?.y },
            },
        };
    }

    function charts() {
        return [...groups.values()].flat();
    }

    function synchronize() {
        const all = charts();
        joined = all.length > 1 ? Dygraph.synchronize(all, { selection: false, range: false })
            : null;
    }

    function detach() {
        joined?.detach();
        joined = null;
    }

    // Takes the charts of a part off the axis and destroys them.
    function leave(name) {
        detach();
        const own = groups.get(name) || [];
        if (own.length > 0) {
            window_ns = own[0].xAxisRange();
        }
        own.forEach((chart) => chart.destroy());
        groups.delete(name);
    }

    function join(name, own) {
        detach();
        groups.set(name, own);
        synchronize();
    }

    function show(from, to) {
        const least = 10;
        const width = Math.min(Math.max(to - from, least), end - start);
        const first = Math.min(Math.max(from, start), end - width);
        window_ns = [first, first + width];
        charts()[0]?.updateOptions({ dateWindow: [...window_ns] });
    }

    function scale(factor) {
        const [from, to] = charts()[0].xAxisRange();
        const middle = (from + to) / 2;
        const half = (to - from) / 2 * factor;
        show(middle - half, middle + half);
    }

    function move(share) {
        const [from, to] = charts()[0].xAxisRange();
        show(from + (to - from) * share, to + (to - from) * share);
    }

    const BUTTONS = [
        ["+", "Zoom in", () => scale(1 / 2)],
        ["−", "Zoom out", () => scale(2)],
        ["←", "Earlier", () => move(-1 / 4)],
        ["→", "Later", () => move(1 / 4)],
        ["Whole capture", "Show the whole capture", () => {
            charts().forEach((chart) => chart.resetZoom());
            show(start, end);
        }],
    ];

    // The buttons of one part of the page; they move all.
    function addButtons(place) {
        for (const [text, title, act] of BUTTONS) {
            const button = rocescope.make("button", { type: "button", textContent: text, title });
            button.setAttribute("aria-label", title);
            button.addEventListener("click", act);
            place.append(button);
        }
    }

    // A theme and paper have other colours: whoever draws is asked to draw again.
    const drawers = [];

    function redraw() {
        drawers.forEach((draw) => draw());
    }

    document.addEventListener("rocescope-theme", redraw);

    // Paper is light, and narrower than most screens.
    let theme = null;
    window.addEventListener("beforeprint", () => {
        theme = document.documentElement.dataset.theme ?? "";
        document.documentElement.dataset.theme = "light";
        document.body.classList.add("paper");
        redraw();
    });
    window.addEventListener("afterprint", () => {
        if (theme === "") {
            delete document.documentElement.dataset.theme;
        } else {
            document.documentElement.dataset.theme = theme;
        }
        document.body.classList.remove("paper");
        redraw();
    });

    return {
        timeline, start, end, origin, color, options, join, leave, show, addButtons,
        range: () => charts()[0]?.xAxisRange() ?? window_ns,
        charts,
        onRedraw: (draw) => drawers.push(draw),
    };
})();
