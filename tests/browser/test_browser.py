#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""The HTML report in a real browser: Chromium without a window.  `make check-browser` runs
this; screenshots are left in build/browser to be looked at.

tests/html says what holds without a browser."""

import base64
import os
import pathlib
import subprocess
import sys
import tempfile
import time
import unittest
import urllib.parse

try:
    from selenium import webdriver
    from selenium.webdriver import ActionChains
    from selenium.webdriver.common.by import By
    from selenium.webdriver.common.keys import Keys
    from selenium.webdriver.support.ui import Select
except ImportError:
    print("skipped: python3-selenium is not installed")
    sys.exit(77)

SOURCE = pathlib.Path(os.environ["ROCESCOPE_SOURCE"])
BINARY = os.environ["ROCESCOPE"]
SCREENSHOTS = pathlib.Path(os.environ["ROCESCOPE_BUILD"]).parent / "browser"
BROWSER, DRIVER = pathlib.Path("/usr/bin/chromium"), pathlib.Path("/usr/bin/chromedriver")
sys.path[:0] = [str(SOURCE / "tests/sim")]

import roce  # noqa: E402

CAPTURES = {
    "lossy": "03a_loss_data_0.5pct/receiver.pcap.gz",
    "clean": "01_write_rc_cm/sender.pcap.gz",
    "reads": "03d_loss_read_resp/sender.pcap.gz",
    "cascade": "sim_cascade/fabric.pcapng.gz",
    "pfc": "sim_incast_pfc/switch.pcapng.gz",
    "ecn": "sim_incast_ecn/h3.pcapng.gz",
}
LOOKED_AT = ("lossy", "cascade", "ecn")  # dark and narrow as well
HOSTILE = "</script><img src=x onerror=alert(1)>"
PAPER_PX = 1031     # A4 lying, less margins
LEAST_CONTRAST = 4.5


def many_streams():
    """Streams of 24 hosts with each other, some of which lose packets."""
    out = roce.Pcap()
    time_ns = 10**18
    for i in range(3000):
        ip = roce.Ip(f"10.0.0.{1 + i % 24}", f"10.0.0.{1 + (7 * i + i // 24) % 24}")
        for psn in range(4):
            if i % 50 == 0 and psn == 1:
                continue
            ib = roce.transport(roce.OPCODE["RC RDMA WRITE Only"], dest_qpn=0x100 + i,
                                psn=psn, headers=roce.reth(0, 1, 4), payload=b"data" * 50)
            time_ns += 1000
            out.add(time_ns, roce.ethernet(roce.rocev2(ip, 0xC000, ib)))
    return out.bytes()


def write(page, *arguments):
    subprocess.run([BINARY, "--quiet", "--html", page, *map(str, arguments)], check=True,
                   timeout=120)


def make_pages(folder):
    for name, capture in CAPTURES.items():
        write(folder / f"{name}.html", SOURCE / "captures" / capture)
    capture = folder / "many.pcap"
    capture.write_bytes(many_streams())
    write(folder / "many.html", capture)
    hosts = folder / "hosts"
    hosts.write_text(f"10.77.1.1,{HOSTILE}\n10.77.1.2,{HOSTILE} 2\n", encoding="utf-8")
    write(folder / "hostile.html", "--hosts", hosts, SOURCE / "captures" / CAPTURES["lossy"])


def start():
    options = webdriver.ChromeOptions()
    options.binary_location = str(BROWSER)
    options.add_argument("--headless=new")
    options.add_argument("--window-size=1280,900")
    options.add_argument("--disable-dev-shm-usage")
    if os.geteuid() == 0:
        options.add_argument("--no-sandbox")  # Chromium has none for root
    options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
    service = webdriver.chrome.service.Service(str(DRIVER))
    return webdriver.Chrome(service=service, options=options)


class Browser(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        SCREENSHOTS.mkdir(parents=True, exist_ok=True)
        cls.temporary = tempfile.TemporaryDirectory()
        cls.folder = pathlib.Path(cls.temporary.name)
        make_pages(cls.folder)
        cls.driver = start()

    @classmethod
    def tearDownClass(cls):
        cls.driver.quit()
        cls.temporary.cleanup()

    def setUp(self):
        self.device(1280)

    def tearDown(self):
        """Whatever a test does, nothing may be complained of in the console."""
        self.assertEqual([line["message"] for line in self.driver.get_log("browser")], [])

    # ---- helpers ----

    def device(self, width, scheme="light", media=""):
        cdp = self.driver.execute_cdp_cmd
        cdp("Emulation.setDeviceMetricsOverride",
            {"width": width, "height": 900, "deviceScaleFactor": 1, "mobile": False})
        cdp("Emulation.setEmulatedMedia", {
            "media": media, "features": [{"name": "prefers-color-scheme", "value": scheme}]})

    def load(self, name):
        self.driver.get((self.folder / f"{name}.html").as_uri())

    def js(self, script, *arguments):
        return self.driver.execute_script(script, *arguments)

    def find(self, selector):
        return self.driver.find_element(By.CSS_SELECTOR, selector)

    def texts(self, selector):
        return self.js("return [...document.querySelectorAll(arguments[0])]"
                       ".map(e => e.textContent)", selector)

    def shoot(self, name):
        height = self.js("return document.documentElement.scrollHeight")
        width = self.js("return innerWidth")
        shot = self.driver.execute_cdp_cmd("Page.captureScreenshot", {
            "captureBeyondViewport": True,
            "clip": {"x": 0, "y": 0, "width": width, "height": min(height, 8000),
                     "scale": 1}})
        (SCREENSHOTS / f"{name}.png").write_bytes(base64.b64decode(shot["data"]))

    def ranges(self):
        return self.js("return rocescope.axis.charts().map(chart => chart.xAxisRange())")

    def assert_one_range(self):
        ranges = self.ranges()
        self.assertGreater(len(ranges), 1)
        self.assertTrue(all(one == ranges[0] for one in ranges), ranges)
        return ranges[0]

    CHARTS = """const in_ = place => rocescope.axis.charts().find(chart =>
        document.getElementById(place).contains(chart.graphDiv)); """

    def column(self, table, heading):
        return self.js("""
            const table = document.getElementById(arguments[0]);
            const heads = [...table.tHead.rows[0].cells].map(c => c.textContent);
            const i = heads.indexOf(arguments[1]);
            return [...table.tBodies[0].rows].filter(r => !r.hidden)
                .map(r => r.cells[i].dataset.sort ?? r.cells[i].textContent);""",
                       table, heading)

    def head(self, table, heading):
        return self.driver.find_element(
            By.XPATH, f"//table[@id='{table}']//th[button[text()='{heading}']]")

    # ---- pages as a whole ----

    def test_pages_light_dark_and_narrow(self):
        kinds = {"light": (1280, "light"), "dark": (1280, "dark"), "narrow": (390, "light"),
                 "least": (320, "dark")}
        for name in (*CAPTURES, "many"):
            for kind in kinds if name in LOOKED_AT else ("light",):
                with self.subTest(f"{name} {kind}"):
                    width, scheme = kinds[kind]
                    self.device(width, scheme)
                    self.load(name)
                    self.assertLessEqual(
                        self.js("return document.documentElement.scrollWidth"), width)
                    self.assertEqual(self.driver.get_log("browser"), [])
                    self.shoot(f"{name}-{kind}")

    def test_a_page_of_many_streams_is_there_at_once(self):
        begin = time.monotonic()
        self.load("many")
        self.assertLess(time.monotonic() - begin, 5)
        self.assertEqual(len(self.column("streams-table", "#")), 1000)

    def test_charts_without_data_are_not_shown(self):
        for name, want in (("clean", ["Throughput"]),
                           ("lossy", ["Throughput", "Retransmissions"]),
                           ("ecn", ["Throughput", "CE share", "CNPs"]),
                           ("pfc", ["Throughput", "Pauses"])):
            self.load(name)
            self.assertEqual(self.texts("#timeline-charts figcaption b"), want, name)

    def test_charts_stand_below_one_another(self):
        self.load("ecn")
        areas = self.js("""return rocescope.axis.charts().map(chart => {
            const area = chart.getArea();
            const left = chart.canvas_.getBoundingClientRect().left;
            return [left + area.x, left + area.x + area.w]; });""")
        self.assertEqual(len({tuple(area) for area in areas}), 1, areas)

    def test_dark_and_light(self):
        paper = "return getComputedStyle(document.body).backgroundColor"
        self.load("lossy")
        light = self.js(paper)
        self.find(".theme").click()
        dark = self.js(paper)
        self.assertNotEqual(light, dark)
        self.find(".theme").click()
        self.assertEqual(self.js(paper), light)
        self.device(1280, "dark")
        self.load("lossy")
        self.assertEqual(self.js(paper), dark)

    def test_contrast(self):
        """Text of each kind on what is behind it, by WCAG's formula."""
        measure = """
            const parse = c => c.match(/[\\d.]+/g).map(Number);
            const light = c => { const [r, g, b] = parse(c).slice(0, 3).map(v => v / 255)
                .map(v => v <= 0.03928 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4);
                return 0.2126 * r + 0.7152 * g + 0.0722 * b; };
            const behind = e => {
                const [r, g, b, a = 1] = parse(getComputedStyle(e).backgroundColor);
                if (a === 1) return `rgb(${r},${g},${b})`;
                const under = parse(behind(e.parentElement));
                return "rgb(" + [r, g, b].map((v, i) => v * a + under[i] * (1 - a)) + ")"; };
            return [...document.querySelectorAll("main p, main td, main th, main dd, " +
                "main dt, .severity, main button, nav a, footer p, .dygraph-axis-label")]
                .filter(e => e.textContent.trim() !== "").map(e => {
                const [a, b] = [getComputedStyle(e).color, behind(e)].map(light);
                return [(Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05),
                    e.className + ": " + e.textContent.slice(0, 40)]; });"""
        for name in ("cascade", "ecn"):
            for scheme in ("light", "dark"):
                self.device(1280, scheme)
                self.load(name)
                bad = [one for one in self.js(measure) if one[0] < LEAST_CONTRAST]
                self.assertEqual(bad, [], f"{name} {scheme}")

    def print_to_pdf(self, name):
        pdf = base64.b64decode(self.driver.execute_cdp_cmd(
            "Page.printToPDF", {"printBackground": False, "preferCSSPageSize": True})["data"])
        self.assertTrue(pdf.startswith(b"%PDF"))
        (SCREENSHOTS / f"{name}.pdf").write_bytes(pdf)

    def test_paper(self):
        for name in ("lossy", "cascade", "many"):
            with self.subTest(name):
                self.device(1280, "dark")
                self.load(name)
                if name == "lossy":
                    self.print_to_pdf(name)
                self.device(PAPER_PX, "dark", "print")
                self.js("dispatchEvent(new Event('beforeprint'))")
                wide = self.js("""return [...document.querySelectorAll("table, .canvas")]
                    .filter(e => e.scrollWidth > document.body.clientWidth)
                    .map(e => e.id + " " + e.scrollWidth);""")
                self.assertEqual(wide, [])
                closed = self.js("return document.querySelectorAll("
                                 "'main details:not([open])').length")
                self.assertEqual(closed, 0)
                paper = self.js("return getComputedStyle(document.body).backgroundColor")
                self.assertEqual(paper, "rgb(255, 255, 255)")
                self.js("dispatchEvent(new Event('afterprint'))")

    def test_without_scripts(self):
        self.driver.execute_cdp_cmd("Emulation.setScriptExecutionDisabled",
                                    {"value": True})
        try:
            self.load("lossy")
            text = self.find("main").text
            self.assertIn("11 packets lost on the way", text)
            self.assertIn("frame.number in {", text)
            self.assertIn("The charts need JavaScript", text)
            self.assertEqual(len(self.driver.find_elements(
                By.CSS_SELECTOR, "#streams-table tbody tr")), 2)
        finally:
            self.driver.execute_cdp_cmd("Emulation.setScriptExecutionDisabled",
                                        {"value": False})

    def test_names_are_no_markup(self):
        self.load("hostile")
        self.assertEqual(self.texts("img"), [])
        self.assertIn(HOSTILE, " ".join(self.texts("#timeline-choice option")))
        self.assertIn(HOSTILE, " ".join(self.texts("#psn-choice option")))
        self.assertIn(HOSTILE, self.column("streams-table", "from")[0])

    # ---- tables ----

    def test_tables_sort(self):
        self.load("ecn")
        numbers = list(map(int, self.column("streams-table", "CE")))
        head = self.head("streams-table", "CE")
        for order, want in (("descending", sorted(numbers, reverse=True)),
                            ("ascending", sorted(numbers)), ("none", numbers)):
            head.find_element(By.TAG_NAME, "button").click()
            self.assertEqual(head.get_attribute("aria-sort"), order)
            self.assertEqual(list(map(int, self.column("streams-table", "CE"))), want)

    def test_tables_sort_by_what_is_meant(self):
        self.load("cascade")
        for heading, key in (("payload", int), ("from", str), ("start", int)):
            button = self.head("streams-table", heading).find_element(By.TAG_NAME, "button")
            button.click()
            got = self.column("streams-table", heading)
            self.assertEqual(got, sorted(got, key=key, reverse=True), heading)

    def test_unknown_stays_last(self):
        self.load("ecn")
        button = self.head("streams-table", "CE share").find_element(By.TAG_NAME, "button")
        for _ in range(2):
            button.click()
            got = self.column("streams-table", "CE share")
            self.assertEqual(got[3:], ["–"] * 3)
            self.assertNotIn("–", got[:3])

    def test_tables_sort_by_keyboard(self):
        self.load("ecn")
        button = self.head("streams-table", "packets").find_element(By.TAG_NAME, "button")
        self.js("arguments[0].focus()", button)
        self.driver.switch_to.active_element.send_keys(Keys.ENTER)
        self.assertEqual(self.head("streams-table", "packets").get_attribute("aria-sort"),
                         "descending")

    def test_tables_filter(self):
        self.load("ecn")
        box = self.find("#streams .filter input")
        for text, want in (("10.9.0.1", 2), ("from=10.9.0.1", 1), ("ce>256", 2),
                           ("ce>=256", 3), ("ce>256 from=10.9.0.2", 1), ("ce-share>0.7", 1),
                           ("nothing-at-all", 0), ("", 6)):
            box.clear()
            box.send_keys(text or "x" + Keys.BACKSPACE)
            self.assertEqual(len(self.column("streams-table", "#")), want, text)
        box.send_keys("from=10.9.0.1")
        self.assertEqual(self.find("#streams .filter output").text, "1 of 6 rows")

    def test_links_show_rows_that_a_filter_hid(self):
        self.load("ecn")
        self.find("#streams .filter input").send_keys("nothing-at-all")
        self.js("location.hash = '#streams-0'")
        self.js("return new Promise(done => setTimeout(done, 50))")
        self.assertEqual(len(self.column("streams-table", "#")), 6)

    def test_why_a_value_is_not_known(self):
        self.load("ecn")
        cell = self.find("#streams-table td.null")
        self.js("arguments[0].dispatchEvent(new PointerEvent('pointerover',"
                "{bubbles: true}))", cell)
        self.assertEqual(cell.get_attribute("title"), "no data packet")

    def test_copy(self):
        self.load("lossy")
        self.driver.execute_cdp_cmd("Browser.grantPermissions", {
            "permissions": ["clipboardReadWrite", "clipboardSanitizedWrite"]})
        line = self.find(".copyable")
        line.find_element(By.TAG_NAME, "button").click()
        got = self.driver.execute_async_script(
            "navigator.clipboard.readText().then(arguments[0])")
        self.assertEqual(got, line.find_element(By.TAG_NAME, "code").text)
        self.assertTrue(got.startswith("frame.number in {"))
        self.assertEqual(line.find_element(By.TAG_NAME, "button").text, "Copied")

    # ---- charts ----

    def drag(self, selector, begin, end):
        """Over the chart, from one part of its width to another."""
        chart = self.find(selector)
        self.js("arguments[0].scrollIntoView({block: 'center'})", chart)
        width = chart.size["width"]
        ActionChains(self.driver, duration=50).move_to_element_with_offset(
            chart, int((begin - 0.5) * width), 0).click_and_hold().move_by_offset(
            int((end - begin) / 2 * width), 3).move_by_offset(
            int((end - begin) / 2 * width), 0).release().perform()

    def test_zoom_is_shared(self):
        self.load("ecn")
        whole = self.assert_one_range()
        self.drag("#timeline-charts .canvas", 0.3, 0.6)
        part = self.assert_one_range()
        self.assertLess(part[1] - part[0], 0.5 * (whole[1] - whole[0]))
        self.assertGreater(part[0], whole[0])
        self.shoot("ecn-zoomed")
        self.drag("#psn-chart .canvas", 0.3, 0.6)
        smaller = self.assert_one_range()
        self.assertLess(smaller[1] - smaller[0], 0.5 * (part[1] - part[0]))
        ActionChains(self.driver).double_click(
            self.find("#timeline-charts .canvas")).perform()
        self.assertEqual(self.assert_one_range(), whole)

    def test_zoom_by_buttons(self):
        self.load("lossy")
        whole = self.assert_one_range()
        half = (whole[1] - whole[0]) / 2

        def press(name):
            self.find(f"#timeline-controls button[aria-label='{name}']").send_keys(Keys.ENTER)
            return self.assert_one_range()
        zoomed = press("Zoom in")
        self.assertAlmostEqual(zoomed[1] - zoomed[0], half, delta=2)
        later = press("Later")
        self.assertAlmostEqual(later[0] - zoomed[0], half / 4, delta=2)
        earlier = press("Earlier")
        self.assertAlmostEqual(earlier[0], zoomed[0], delta=2)
        self.assertEqual(press("Show the whole capture"), whole)
        self.assertEqual(press("Zoom out"), whole)

    def test_zoom_outlives_another_choice(self):
        self.load("lossy")
        self.find("#timeline-controls button[aria-label='Zoom in']").click()
        part = self.assert_one_range()
        Select(self.find("#timeline-choice")).select_by_index(2)
        self.assertEqual(self.assert_one_range(), part)

    def test_what_is_pointed_at_is_said(self):
        self.load("ecn")
        chart = self.find("#timeline-charts .canvas")
        self.js("arguments[0].scrollIntoView({block: 'center'})", chart)
        ActionChains(self.driver).move_to_element_with_offset(chart, -200, 0).perform()
        said = self.texts("#timeline-charts output")
        self.assertRegex(said[0], r"^[\d.]+ Gb/s$")
        self.assertRegex(said[1], r"^[\d.]+ %$")
        self.assertRegex(self.find(".clock").text, r"µs \+ .* · 20\d\d-.* UTC$")

    def test_another_point_and_stream(self):
        self.load("cascade")
        choice = Select(self.find("#timeline-choice"))
        self.assertEqual(choice.options[0].text, "All, each packet once")
        bits = (self.CHARTS + "return in_('timeline-charts').rawData_"
                              ".reduce((s, r) => s + r[1], 0)")
        whole = self.js(bits)
        choice.select_by_visible_text(next(o.text for o in choice.options
                                           if o.text.startswith("Point 1")))
        self.assertLess(self.js(bits), whole)
        self.assertIn("Pauses", self.texts("#timeline-charts figcaption b"))

    def test_psns_of_another_stream(self):
        self.load("reads")
        choice = Select(self.find("#psn-choice"))
        self.assertGreater(len(choice.options), 1)
        drawn = self.CHARTS + "return in_('psn-chart').rawData_.length"
        seen = set()
        for i in range(len(choice.options)):
            choice.select_by_index(i)
            legend = tuple(self.texts("#psn-chart .marks label"))
            self.assertTrue(legend)
            self.assertGreater(self.js(drawn), 2)
            seen.add(legend)
        self.assertGreater(len(seen), 1)

    def test_psns_have_their_marks(self):
        self.load("lossy")
        legend = " ".join(self.texts("#psn-chart .marks label"))
        for words in ("NAK 10", "gap 9", "lost 11", "sent again 228"):
            self.assertIn(words, legend)
        boxes = self.driver.find_elements(By.CSS_SELECTOR, "#psn-chart .marks input")
        boxes[0].click()
        self.assertEqual(self.js(self.CHARTS + "return in_('psn-chart').visibility()[0]"),
                         False)
        self.load("ecn")
        self.assertIn("CNP", " ".join(self.texts("#psn-chart .marks label")))

    def test_psn_pointed_at(self):
        self.load("lossy")
        chart = self.find("#psn-chart .canvas")
        self.js("arguments[0].scrollIntoView({block: 'center'})", chart)
        ActionChains(self.driver).move_to_element_with_offset(chart, 0, 0).perform()
        self.assertRegex(self.find("#psn-chart output").text,
                         r"^.+ PSN [\d,]+ \(0x[0-9a-f]{6}.*\) · .* · frame \d+ · 20\d\d-")

    def test_rows_lead_to_plots(self):
        self.load("ecn")
        self.find("#streams-2 th a").click()
        self.assertIn("#2 ", Select(self.find("#psn-choice")).first_selected_option.text)
        self.assertIn("#2 ", Select(self.find("#timeline-choice")).first_selected_option.text)

    def test_hosts(self):
        self.load("many")
        self.assertEqual(len(self.texts("#hosts-matrix tbody tr")), 24)
        measures = [o.text for o in Select(self.find("#hosts-choice")).options]
        self.assertEqual(measures[:2], ["payload", "packets"])
        Select(self.find("#hosts-choice")).select_by_visible_text("packets")
        shown = self.js("""return [...document.querySelectorAll("#hosts-matrix td")]
            .reduce((sum, e) => sum + Number(e.textContent.replaceAll(",", "")), 0)""")
        self.assertEqual(shown, 3000 * 4 - 60)
        self.load("lossy")
        self.assertEqual(self.texts("#hosts"), [])


    # ---- pages of other commands ----

    def look_at(self, path, name):
        """Light and narrow; all links to other files lead to one."""
        for kind, width, scheme in (("light", 1280, "light"), ("narrow", 390, "dark")):
            self.device(width, scheme)
            self.driver.get(path.as_uri())
            self.assertLessEqual(self.js("return document.documentElement.scrollWidth"),
                                 width)
            self.shoot(f"{name}-{kind}")
        links = self.js("return [...document.querySelectorAll('a')].map(a => a.href)"
                        ".filter(h => !h.includes('#'))")
        for link in links:
            target = urllib.parse.unquote(urllib.parse.urlparse(link).path)
            self.assertTrue(pathlib.Path(target).exists(), target)
        return links

    def test_index_of_a_batch(self):
        out = self.folder / "batch"
        subprocess.run([BINARY, "batch", "--quiet", "-o", out,
                        SOURCE / "captures/03a_loss_data_0.5pct",
                        SOURCE / "captures/07a_nak_remote_access",
                        SOURCE / "captures/01_write_rc_cm"], check=True, timeout=120)
        links = self.look_at(out / "index.html", "batch")
        self.assertGreaterEqual(len(set(links)), 4)
        severities = self.column("kinds-table", "severity")
        self.assertEqual(severities, sorted(severities, reverse=True))
        self.assertEqual(set(severities), {"2", "1", "0"})
        for n, want in ((1, severities), (2, severities[::-1])):
            self.head("kinds-table", "severity").find_element(By.TAG_NAME, "button").click()
            self.assertEqual(self.column("kinds-table", "severity"), want, n)
        box = self.find("#kinds .filter input")
        box.send_keys("severity=warning")
        self.assertEqual(set(self.column("kinds-table", "severity")), {"1"})
        self.driver.get(links[0])
        self.assertIn("What is wrong", self.texts("h2"))

    def test_comparison(self):
        page = self.folder / "compare.html"
        lossy = SOURCE / "captures/03a_loss_data_0.5pct"
        subprocess.run([BINARY, "compare", "--quiet", "--html", page,
                        lossy / "sender.pcap.gz", lossy / "receiver.pcap.gz"], check=True,
                       timeout=120)
        self.look_at(page, "compare")
        self.assertTrue(self.driver.find_elements(By.CSS_SELECTOR, "th[aria-sort]"))


class Policy(Browser):
    """That the policy is in force: what it forbids is complained of, and does not run."""

    def tearDown(self):
        self.driver.get_log("browser")

    def test_other_scripts_do_not_run(self):
        self.load("clean")
        self.js("""const script = document.createElement("script");
            script.textContent = "window.ran = true"; document.body.append(script);""")
        self.assertIsNone(self.js("return window.ran ?? null"))
        self.assertIn("Content Security Policy",
                      " ".join(l["message"] for l in self.driver.get_log("browser")))


# Only its own test, not those that it has from its base.
for inherited in [name for name in dir(Browser) if name.startswith("test_")]:
    setattr(Policy, inherited, None)


if __name__ == "__main__":
    if not BROWSER.exists() or not DRIVER.exists():
        print("skipped: chromium and chromium-driver are not installed")
        sys.exit(77)
    unittest.main()
