// SPDX-License-Identifier: GPL-2.0-or-later
//
// What all pages do: light and dark, copying, the list of contents, printing.
//
// The one rule: text reaches the page through textContent and attributes, never as markup.
"use strict";

const rocescope = {};

// Makes an element: properties as they are called in the DOM, attributes under "attributes".
rocescope.make = function (tag, properties = {}, ...children) {
    const element = document.createElement(tag);
    for (const [name, value] of Object.entries(properties)) {
        if (name === "attributes") {
            for (const [key, text] of Object.entries(value)) {
                element.setAttribute(key, text);
            }
        } else {
            element[name] = value;
        }
    }
    element.append(...children);
    return element;
};

// The block of data with this name; null without.
rocescope.data = function (name) {
    const block = document.getElementById(`data-${name}`);
    return block === null ? null : JSON.parse(block.textContent);
};

// Light or dark: as the system has it, until the button says otherwise.
rocescope.theme = (function () {
    const root = document.documentElement;
    const system = window.matchMedia("(prefers-color-scheme: dark)");

    function isDark() {
        return root.dataset.theme ? root.dataset.theme === "dark" : system.matches;
    }

    const button = rocescope.make("button", { type: "button", className: "theme" });

    function show() {
        button.textContent = isDark() ? "Light" : "Dark";
        button.title = `Show this page ${isDark() ? "light" : "dark"}`;
        document.dispatchEvent(new Event("rocescope-theme"));
    }

    button.addEventListener("click", () => {
        root.dataset.theme = isDark() ? "light" : "dark";
        show();
    });
    system.addEventListener("change", show);
    document.querySelector(".page-head").append(button);
    show();
    return { isDark };
})();

// A button behind each text that is there to be copied.
(function () {
    // Where a browser refuses its clipboard to a page from disk, the selection does it.
    function copySelected(element) {
        const selection = window.getSelection();
        selection.selectAllChildren(element);
        const done = document.execCommand("copy");
        if (done) {
            selection.removeAllRanges();
        }
        return done;
    }

    async function copy(element) {
        try {
            await navigator.clipboard.writeText(element.textContent);
            return true;
        } catch {
            return copySelected(element);
        }
    }

    for (const line of document.querySelectorAll(".copyable")) {
        const text = line.querySelector("code");
        const button = rocescope.make("button", { type: "button", textContent: "Copy" });
        button.setAttribute("aria-live", "polite");
        button.addEventListener("click", async () => {
            button.textContent = (await copy(text)) ? "Copied" : "Selected: press Ctrl+C";
            window.setTimeout(() => { button.textContent = "Copy"; }, 2000);
        });
        line.append(button);
    }
})();

// Links to the parts of the page, below its head.
(function () {
    const sections = document.querySelectorAll("main > section[id]");
    if (sections.length < 3) {
        return;
    }
    const list = rocescope.make("ul");
    for (const section of sections) {
        const { textContent } = section.querySelector("h2");
        list.append(rocescope.make("li", {},
            rocescope.make("a", { href: `#${section.id}`, textContent })));
    }
    const contents = rocescope.make("nav", { className: "contents" }, list);
    contents.setAttribute("aria-label", "Contents");
    document.querySelector(".page-head").after(contents);
})();

// On paper everything is open.
(function () {
    const opened = [];
    window.addEventListener("beforeprint", () => {
        for (const details of document.querySelectorAll("main details:not([open])")) {
            details.open = true;
            opened.push(details);
        }
    });
    window.addEventListener("afterprint", () => {
        for (const details of opened.splice(0)) {
            details.open = false;
        }
    });
})();
