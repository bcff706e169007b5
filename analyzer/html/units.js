// SPDX-License-Identifier: GPL-2.0-or-later
//
// Numbers as a person reads them, as the tables of the page have them too.
rocescope.units = (function () {
    const PREFIXES = ["", "k", "M", "G", "T", "P"];
    const TIMES = [[1e9, "s"], [1e6, "ms"], [1e3, "µs"], [1, "ns"]];

    // Three digits: "1.23", "12.3", "123".
    function digits(value) {
        const size = Math.abs(value);
        return value.toFixed(size >= 99.95 || size === 0 ? 0 : size >= 9.995 ? 1 : 2);
    }

    function count(value) {
        return value.toLocaleString("en", { maximumFractionDigits: 2 });
    }

    function scaled(value, unit) {
        let i = 0;
        while (Math.abs(value) >= 999.5 && i < PREFIXES.length - 1) {
            value /= 1000;
            i++;
        }
        return `${digits(value)} ${PREFIXES[i]}${unit}`;
    }

    // A time in ns, "12.3 ms"
    function duration(ns) {
        const [size, name] = TIMES.find(([least]) => Math.abs(ns) >= least) || [1, "ns"];
        return `${digits(ns / size)} ${name}`;
    }

    // Seconds from a minute on: "16:40 min", "2:00:00 h".
    function minutes(ns, decimals) {
        const whole = Math.floor(Math.abs(ns) / 1e9 * 10 ** decimals + 0.5);
        const seconds = whole / 10 ** decimals;
        const pad = (value, n) => value.toFixed(n).padStart(n > 0 ? n + 3 : 2, "0");
        const [h, min] = [Math.floor(seconds / 3600), Math.floor(seconds / 60) % 60];
        const rest = pad(seconds % 60, decimals);
        const sign = ns < 0 ? "-" : "";
        return h > 0 ? `${sign}${h}:${pad(min, 0)}:${rest} h` : `${sign}${min}:${rest} min`;
    }

    // A time on an axis on which two labels are `step` ns apart: as fine as they need.
    function onAxis(ns, step) {
        const [size, name] = TIMES.find(([least]) => Math.max(Math.abs(ns), step) >= least) ||
            [1, "ns"];
        const decimals = Math.min(9, Math.max(0, Math.ceil(-Math.log10(step / size) - 1e-9)));
        const value = ns / size;
        if (Math.abs(value) >= 60 && name === "s") {
            return minutes(ns, decimals);
        }
        return value === 0 ? "0" : `${value.toFixed(decimals)} ${name}`;
    }

    // "12.345678 ms", to the ns.
    function exactly(ns) {
        const [size, name] = TIMES.find(([least]) => Math.abs(ns) >= least) || [1, "ns"];
        return `${(ns / size).toFixed(Math.round(Math.log10(size)))} ${name}`;
    }

    // The time of day of a time on the page; `origin` is ns since 1970 as a BigInt.
    function absolute(origin, ns) {
        const at = origin + BigInt(Math.round(ns));
        const day = new Date(Number(at / 1000000n)).toISOString();
        const fraction = String(at % 1000000000n).padStart(9, "0");
        return `${day.slice(0, 10)} ${day.slice(11, 19)}.${fraction} UTC`;
    }

    return {
        count, duration, onAxis, exactly, absolute,
        bytes: (n) => scaled(n, "B"),
        rate: (bps) => scaled(bps, "b/s"),
        share: (part) => `${digits(100 * part)} %`,
    };
})();
