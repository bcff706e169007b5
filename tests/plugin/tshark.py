# SPDX-License-Identifier: GPL-2.0-or-later
"""Runs tshark with the plugin, or stock.

The one rule: tshark ignores plugins of its user when that is root, so it never runs as
root here; what it is to read is copied where anyone may read it."""

import os
import re
import shutil
import subprocess
import tempfile
from pathlib import Path

NOBODY = 65534
OUR_BUG = re.compile(r"Dissector bug, protocol (RoCEv2|PFC)\b")


def as_nobody(command):
    """The same for another user if this one is root."""
    if os.geteuid() != 0:
        return command
    return ["setpriv", f"--reuid={NOBODY}", f"--regid={NOBODY}", "--clear-groups",
            *command]


class Tshark:
    """A directory of captures, and tshark to read them with.  `preload`: the runtime that
    a plugin with sanitizers wants to have been loaded before anything else."""

    def __init__(self, plugin, preload=None, variables=None):
        self.variables = variables or {}
        self.program = shutil.which("tshark")
        self.preload = preload
        self.dir = Path(tempfile.mkdtemp(prefix="rocescope-"))
        self.dir.chmod(0o755)
        (self.dir / "stock").mkdir()
        for name in ("home-plugin", "home-stock"):
            home = self.dir / name
            home.mkdir()
            home.chmod(0o777)
        self.version = self._find_version()
        plugins = self.dir / "plugins" / self.version / "epan"
        plugins.mkdir(parents=True)
        shutil.copy(plugin, plugins / "rocescope.so")
        (plugins / "rocescope.so").chmod(0o755)

    def close(self):
        shutil.rmtree(self.dir, ignore_errors=True)

    def _find_version(self):
        out = subprocess.run([self.program, "--version"], check=True, text=True,
                             stdout=subprocess.PIPE, stderr=subprocess.DEVNULL).stdout
        return re.search(r"(\d+\.\d+)\.\d+", out).group(1)

    def path(self, name):
        return self.dir / name

    def copy(self, source, name):
        shutil.copy(source, self.path(name))
        self.path(name).chmod(0o644)
        return self.path(name)

    def environment(self, stock=False):
        environment = {
            "PATH": os.environ["PATH"],
            "LC_ALL": "C.UTF-8",
            "HOME": str(self.dir / ("home-stock" if stock else "home-plugin")),
            # Stock: no plugins at all, also where ours is installed.
            "WIRESHARK_PLUGIN_DIR": str(self.dir / ("stock" if stock else "plugins")),
            **self.variables,
        }
        if self.preload:
            # What GLib and Wireshark leave behind at their end is theirs.
            environment |= {"LD_PRELOAD": str(self.preload),
                            "ASAN_OPTIONS": "detect_leaks=0",
                            "UBSAN_OPTIONS": "print_stacktrace=1"}
        return environment

    def _run(self, arguments, stock=False):
        """Standard output and error; raises on a bad exit status or a bug of ours."""
        command = as_nobody([self.program, *map(str, arguments)])
        done = subprocess.run(command, env=self.environment(stock), cwd=self.dir,
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        out, err = done.stdout.decode("utf-8", "replace"), done.stderr.decode("utf-8", "replace")
        if done.returncode != 0 or OUR_BUG.search(out + err):
            raise RuntimeError(f"{' '.join(command)}: status {done.returncode}\n{err[-2000:]}")
        return out, err

    def run(self, *arguments, stock=False):
        """Standard output."""
        return self._run(arguments, stock)[0]

    def complaints(self, *arguments):
        """Standard error."""
        return self._run(arguments)[1]

    def fields(self, capture, names, *arguments, stock=False):
        """A list of dicts, one for each packet: field -> list of its values as text."""
        options = [part for name in names for part in ("-e", name)]
        out = self.run("-r", capture, "-T", "fields", "-E", "separator=/t",
                       "-E", "aggregator=;", *options, *arguments, stock=stock)
        rows = []
        for line in out.splitlines():
            cells = line.split("\t") + [""] * len(names)
            rows.append({name: cells[i].split(";") if cells[i] else []
                         for i, name in enumerate(names)})
        return rows

    def frames(self, capture, display_filter, *arguments, stock=False):
        """The numbers of the frames that a display filter matches."""
        out = self.run("-r", capture, "-Y", display_filter, "-T", "fields", "-e",
                       "frame.number", *arguments, stock=stock)
        return [int(line) for line in out.split()]

    def infos(self, capture, *arguments, stock=False):
        """The Info column of each packet."""
        return [" ".join(row["_ws.col.Info"]) for row in
                self.fields(capture, ["_ws.col.Info"], *arguments, stock=stock)]


def number(text):
    """The value that a field's text stands for."""
    if text in ("True", "False"):
        return int(text == "True")
    return int(text, 0)
