#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""tshark with the plugin under valgrind: no access that is wrong, and nothing lost that the
plugin allocated, with every packet in detail and all statistics.

What has no function of the plugin on its stack is Wireshark's own.  The plugin is loaded
beforehand and so never unloaded: what it keeps to its end stays reachable.  Valgrind does
not read what clang writes for debuggers, and goes without."""

import shutil
import subprocess
import sys
import xml.etree.ElementTree as xml
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))
import packets as pk  # noqa: E402
from checks import SKIPPED, SOURCE, TS, Check, main, write  # noqa: E402
from tshark import as_nobody  # noqa: E402

STATISTICS = ("rocev2,qp", "pfc,pauses", "rocev2,tree", "rocev2,srt", "conv,rocev2",
              "endpoints,rocev2")
# Every operation in two passes; losses, pauses and several interfaces in one.
SAMPLES = (("02k_allops/receiver.pcap.gz", ["-2"]), ("sim_incast_pfc/switch.pcapng.gz", []),
           ("sim_xrc/receiver.pcap.gz", []))
VALGRIND = ("valgrind", "--leak-check=full", "--show-leak-kinds=definite", "--num-callers=40",
            "--xml=yes")
DEPTH_SHOWN = 12


def stack(error):
    return [(Path(frame.findtext("obj") or "?").name, frame.findtext("fn") or "?")
            for frame in error.iter("frame")]


def told(error):
    what = error.findtext("xwhat/text") or error.findtext("what")
    lines = [f"    {function} ({where})" for where, function in stack(error)[:DEPTH_SHOWN]]
    return "\n".join([f"{error.findtext('kind')}: {what}", *lines])


class Memory(Check):
    def examined(self, capture, arguments):
        """What tshark says under valgrind, and what valgrind says of it."""
        plugin, = TS.path("plugins").rglob("rocescope.so")
        if b"clang version" in plugin.read_bytes():
            subprocess.run(["strip", "--strip-debug", plugin], check=True)
        findings = TS.path("home-plugin") / "valgrind.xml"
        findings.unlink(missing_ok=True)
        done = subprocess.run(
            as_nobody(["env", f"LD_PRELOAD={plugin}", *VALGRIND, f"--xml-file={findings}",
                       TS.program, "-r", str(capture), *arguments]),
            env=TS.environment(), cwd=TS.dir, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        self.assertEqual(done.returncode, 0, done.stderr[-2000:])
        return done.stdout.decode("utf-8", "replace"), xml.parse(findings).getroot()

    def nothing_is_wrong(self, capture, passes):
        arguments = ["-V", *passes, *(a for s in STATISTICS for a in ("-z", s))]
        out, findings = self.examined(capture, arguments)
        self.same_text(out, TS.run("-r", capture, *arguments))
        self.assertEqual([s.findtext("state") for s in findings.iter("status")],
                         ["RUNNING", "FINISHED"])
        ours = [told(error) for error in findings.iter("error")
                if any(where == "rocescope.so" for where, _ in stack(error))]
        if ours:
            self.fail("\n" + "\n".join(ours))

    def test_samples(self):
        for name, passes in SAMPLES:
            with self.subTest(name):
                self.nothing_is_wrong(
                    TS.copy(SOURCE / "captures" / name, name.replace("/", ".")), passes)

    def test_packets_without_a_frame(self):
        """What Wireshark puts together from fragments stands in no frame."""
        frames = pk.fragments(pk.roce(pk.bth(0x04) + bytes(64)))
        self.nothing_is_wrong(write("fragments.pcap", frames), [])


if __name__ == "__main__":
    if shutil.which("valgrind") is None:
        print("skipped: no valgrind")
        sys.exit(SKIPPED)
    sys.exit(main())
