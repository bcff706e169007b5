# SPDX-License-Identifier: GPL-2.0-or-later
"""Instructions of a program, counted by valgrind and told apart by source file.

What makes counts differ between machines, and what is done about it:

  - The C library has its copying and searching written several times and takes what the
    processor knows best; "rep" instructions count once per byte.  Here it is told to do
    without them (GLIBC_TUNABLES); names that another version or processor does not know
    are passed over.
  - Other libraries choose by themselves, and differ between versions.  So what our own
    program executes is kept apart from what libraries execute for it: the former depends
    on nothing but source and compiler.
"""

import collections
import os
import pathlib
import re
import subprocess
import tempfile

TUNABLES = "glibc.cpu.hwcaps=" + ",".join(
    f"-{name}" for name in ("AVX", "AVX2", "AVX512F", "AVX512VL", "AVX512BW",
                            "AVX_Fast_Unaligned_Load", "ERMS", "FSRM", "RTM"))
ROOMS = ("core", "analyzer", "include")
COST = re.compile(r"[0-9+*-]")
NAME = re.compile(r"\((\d+)\)(?: (.*))?$")


class Counts:
    """Instructions: `own`, of the program itself, and `total`; `by_file` with a Counter of
    functions for each source file, or library."""

    def __init__(self):
        self.own = self.total = 0
        self.by_file = collections.defaultdict(collections.Counter)

    def add(self, is_own, where, function, n):
        self.total += n
        self.own += n if is_own else 0
        self.by_file[where][function] += n

    def per_packet(self, less, n_packets):
        """What each of `n_packets` more than in `less` took."""
        out = Counts()
        out.own = (self.own - less.own) / n_packets
        out.total = (self.total - less.total) / n_packets
        for where, functions in self.by_file.items():
            for function, n in functions.items():
                out.by_file[where][function] = (
                    n - less.by_file[where][function]) / n_packets
        return out


def place(path):
    """A source file of ours below the top directory, or None."""
    parts = pathlib.PurePath(path).parts
    at = [i for i, part in enumerate(parts) if part in ROOMS]
    return "/".join(parts[at[-1]:]) if at else None


def parse(lines, program):
    """Counts of a callgrind file (the format is valgrind's manual's, "Callgrind Format
    Specification").  Code that was inlined belongs to the file that it stands in.  Raises
    ValueError when they do not add up to what the file says."""
    counts, names, said = Counts(), {}, None
    now = {"ob": "", "fl": "", "fn": ""}
    is_call = False

    def name_of(kind, text):
        number, name = NAME.match(text).groups()
        if name is not None:
            names[kind, number] = name
        return names[kind, number]

    for line in lines:
        line = line.rstrip("\n")
        key, _, value = line.partition("=")
        if COST.match(line):
            if not is_call:  # the line below "calls=" is what the callee took
                is_own = now["ob"].endswith("/" + program)
                where = (place(now["fl"]) or "compiler and headers") if is_own else \
                    library(now["ob"])
                counts.add(is_own, where, now["fn"].split("'")[0], int(line.split()[1]))
            is_call = False
        elif key in ("fl", "fi", "fe"):
            now["fl"] = name_of("fl", value)
        elif key in ("ob", "fn"):
            now[key] = name_of(key, value)
        elif key in ("cob", "cfn"):
            name_of(key[1:], value)
        elif key in ("cfi", "cfl"):
            name_of("fl", value)
        elif key == "calls":
            is_call = True
        elif line.startswith("summary:"):
            said = int(line.split()[1])
    if counts.total != said:
        raise ValueError(f"{counts.total} instructions were found, {said} were counted")
    return counts


def library(path):
    return pathlib.PurePath(path).name.split(".so")[0] or "?"


def count(command):
    """Counts of one run; raises CalledProcessError when it or valgrind fails."""
    with tempfile.NamedTemporaryFile("r", prefix="callgrind-", errors="replace") as out:
        subprocess.run(["valgrind", "--quiet", "--tool=callgrind",
                        f"--callgrind-out-file={out.name}", *map(str, command)],
                       env={**os.environ, "GLIBC_TUNABLES": TUNABLES, "LC_ALL": "C.UTF-8"},
                       stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                       stderr=subprocess.PIPE, check=True)
        return parse(out, pathlib.PurePath(command[0]).name)
