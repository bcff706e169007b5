#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Who may hold what: core and include/roce are plain C, the plugin stands on libwireshark,
the analyzer on libpcap, GLib and nDPI, and the two never meet.

The rules work on text, so each has rows that show it fire and just not fire."""

import os
import re
import subprocess
import sys
import unittest
from pathlib import Path

SOURCE = Path(os.environ["ROCESCOPE_SOURCE"])
ANALYZER = Path(os.environ["ROCESCOPE"])
PLUGIN = Path(os.environ["ROCESCOPE_PLUGIN"])
CORE_ARCHIVE = Path(os.environ["ROCESCOPE_CORE_ARCHIVE"])

FREESTANDING = {"float.h", "iso646.h", "limits.h", "stdalign.h", "stdarg.h", "stdbool.h",
                "stddef.h", "stdint.h", "stdnoreturn.h"}
CORE_MAY_INCLUDE = FREESTANDING | {"string.h", "assert.h"}
# What core's code may leave to be linked: memory functions and the compiler's own.
CORE_MAY_CALL = re.compile(r"^(mem\w+|__mem\w+_chk|__assert_fail|__stack_chk_fail"
                           r"|_GLOBAL_OFFSET_TABLE_)$")
WIRESHARK = ("epan/", "wsutil/", "wiretap/", "ui/", "wireshark/", "wireshark.h",
             "ws_version.h", "ws_symbol_export.h")
ANALYZERS_LIBRARIES = ("analyzer/", "pcap", "ndpi", "jansson")

INCLUDE = re.compile(r'^[ \t]*#[ \t]*include[ \t]*([<"])([^>"]+)[>"]', re.MULTILINE)


def includes(text):
    """(opening character, name) of every #include."""
    return INCLUDE.findall(text)


def core_violations(text, own):
    """What core or include/roce may not include; `own` are core's own headers."""
    bad = []
    for opening, name in includes(text):
        if name.startswith("roce/"):
            continue
        if opening == "<" and name in CORE_MAY_INCLUDE:
            continue
        if opening == '"' and name in own:
            continue
        bad.append(name)
    return bad


def plugin_violations(text, analyzers):
    """What plugin/ may not include; `analyzers` are the analyzer's own headers."""
    return [name for _, name in includes(text)
            if "../" in name or name.startswith(ANALYZERS_LIBRARIES) or name in analyzers]


def analyzer_violations(text, plugins):
    """What analyzer/ may not include; `plugins` are the plugin's own headers."""
    return [name for _, name in includes(text)
            if "../" in name or name.startswith(WIRESHARK + ("plugin/",))
            or name in plugins]


def undefined_symbols(nm_output):
    """Names that some object of an archive needs and none of them defines."""
    needed, defined = set(), set()
    for line in nm_output.splitlines():
        words = line.split()
        if len(words) == 2 and words[0] in "Uwv":
            needed.add(words[1])
        elif len(words) == 3:
            defined.add(words[2])
    return needed - defined


def run(*command, **options):
    return subprocess.run(command, check=True, text=True, stdout=subprocess.PIPE,
                          **options).stdout


def needed_libraries(path):
    return re.findall(r"\(NEEDED\).*\[(.*)\]", run("readelf", "-dW", str(path)))


def headers(room):
    return {path.name for path in (SOURCE / room).rglob("*.h")}


def sources(room):
    return sorted(p for p in (SOURCE / room).rglob("*") if p.suffix in (".c", ".h"))


class Rules(unittest.TestCase):
    """Each rule fires, and just does not fire."""

    def test_core(self):
        for line, bad in [
            ('#include <string.h>', []),
            ('#include <stdint.h>', []),
            ('#include "roce/psn.h"', []),
            ('#include "cursor.h"', []),
            ('/* see <stdio.h> */', []),
            ('#include <stdio.h>', ["stdio.h"]),
            ('  #  include <time.h>', ["time.h"]),
            ('#include <glib.h>', ["glib.h"]),
            ('#include "string.h"', ["string.h"]),
            ('#include "../analyzer/report.h"', ["../analyzer/report.h"]),
        ]:
            with self.subTest(line):
                self.assertEqual(core_violations(line, {"cursor.h"}), bad)

    def test_plugin(self):
        for line, bad in [
            ('#include <epan/packet.h>', []),
            ('#include "roce/decode.h"', []),
            ('#include "fields.h"', []),
            ('#include <pcap.h>', ["pcap.h"]),
            ('#include <pcap/pcap.h>', ["pcap/pcap.h"]),
            ('#include <ndpi_api.h>', ["ndpi_api.h"]),
            ('#include "report.h"', ["report.h"]),
            ('#include "../core/cursor.h"', ["../core/cursor.h"]),
        ]:
            with self.subTest(line):
                self.assertEqual(plugin_violations(line, {"report.h"}), bad)

    def test_analyzer(self):
        for line, bad in [
            ('#include <pcap/pcap.h>', []),
            ('#include <ndpi_api.h>', []),
            ('#include "roce/tracker.h"', []),
            ('#include <epan/packet.h>', ["epan/packet.h"]),
            ('#include "wsutil/filesystem.h"', ["wsutil/filesystem.h"]),
            ('#include "fields.h"', ["fields.h"]),
            ('#include "plugin/fields.h"', ["plugin/fields.h"]),
        ]:
            with self.subTest(line):
                self.assertEqual(analyzer_violations(line, {"fields.h"}), bad)

    def test_symbols(self):
        text = ("a.o:\n                 U memcpy\n                 U roce_crc32\n"
                "                 U malloc\n\nb.o:\n0000000000000000 T roce_crc32\n")
        self.assertEqual(undefined_symbols(text), {"memcpy", "malloc"})
        for name, may in [("memcpy", True), ("__memcpy_chk", True),
                          ("__assert_fail", True), ("__stack_chk_fail", True),
                          ("malloc", False), ("strlen", False), ("xmemcpy", False),
                          ("__asan_report_load4", False), ("printf", False)]:
            with self.subTest(name):
                self.assertEqual(CORE_MAY_CALL.match(name) is not None, may)


class Tree(unittest.TestCase):
    """The tree and what was built from it keep the rules."""

    def assert_clean(self, room, violations):
        for path in sources(room):
            with self.subTest(str(path.relative_to(SOURCE))):
                self.assertEqual(violations(path.read_text()), [])

    def test_core_includes_plain_c_only(self):
        own = headers("core")
        self.assert_clean("core", lambda text: core_violations(text, own))
        self.assert_clean("include", lambda text: core_violations(text, set()))

    def test_plugin_never_includes_the_analyzers(self):
        theirs = headers("analyzer") - headers("plugin")
        self.assert_clean("plugin", lambda text: plugin_violations(text, theirs))

    def test_analyzer_never_includes_wiresharks(self):
        theirs = headers("plugin") - headers("analyzer")
        self.assert_clean("analyzer", lambda text: analyzer_violations(text, theirs))

    def test_core_archive_needs_nothing(self):
        needs = undefined_symbols(run("nm", str(CORE_ARCHIVE)))
        self.assertEqual([n for n in sorted(needs) if not CORE_MAY_CALL.match(n)], [])

    def test_plugin_links_no_analyzer_library(self):
        if not sources("plugin"):
            self.skipTest("plugin/ holds no sources yet")
        libraries = needed_libraries(PLUGIN)
        self.assertTrue(any(n.startswith("libwireshark.") for n in libraries), libraries)
        self.assertEqual([n for n in libraries
                          if n.startswith(("libndpi", "libpcap", "libjansson"))], [])

    def test_analyzer_links_no_wireshark(self):
        if not (SOURCE / "analyzer/main.c").exists():
            self.skipTest("analyzer/ holds no main.c yet")
        self.assertEqual([n for n in needed_libraries(ANALYZER)
                          if n.startswith(("libwireshark", "libwsutil", "libwiretap"))],
                         [])

    def test_each_public_header_compiles_alone(self):
        for path in sources("include"):
            for compiler, language, standard in (("gcc", "c", "c17"), ("g++", "c++", "c++17"),
                                                 ("clang++", "c++", "c++17")):
                name = path.relative_to(SOURCE / "include")
                with self.subTest(f"{name} as {standard} by {compiler}"):
                    run(compiler, f"-std={standard}", "-pedantic", "-Wall", "-Wextra",
                        "-Wconversion", "-Wshadow", "-Werror", "-fsyntax-only",
                        "-I", str(SOURCE / "include"), "-x", language, "-",
                        input=f'#include "{name}"\nextern int not_empty;\n')

    def test_public_functions_have_names_of_c(self):
        """In a program in C++ too: every declaration stands behind ROCE_BEGIN."""
        for path in sources("include"):
            if path.name == "linkage.h":
                continue
            with self.subTest(path.name):
                head, _, body = path.read_text().partition("\nROCE_BEGIN\n")
                self.assertNotRegex(head, r"(?m)^(?:#define \w+ |typedef|static|extern|\w+\()")
                body, _, tail = body.partition("\nROCE_END\n")
                self.assertNotIn("#include", body)
                self.assertEqual(tail, "\n#endif\n")

    def test_core_archive_defines_roces_alone(self):
        symbols = run("nm", "--extern-only", "--defined-only", str(CORE_ARCHIVE))
        names = [line.split()[2] for line in symbols.splitlines() if len(line.split()) == 3]
        self.assertIn("roce_decode", names)
        self.assertEqual([name for name in names if not name.startswith("roce_")], [])


if __name__ == "__main__":
    sys.exit(unittest.main())
