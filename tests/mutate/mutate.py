#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Whether the tests notice when a rule of core is broken.

    tests/mutate/mutate.py [REGEX]         those alone whose rule or file it matches
    tests/mutate/mutate.py --keep-going    and do not stop at the first that survives

The tables *.mutations beside this file have an entry for each rule:

    = the rule, as it is
    core/FILE.c TESTS
    - text that stands once in FILE
    + text that breaks the rule

TESTS is a regular expression: of core's unit tests, as ctest calls them, one that matches
as a whole has to fail.  Text of several lines has a "-" or "+" before each.

Works in a copy of the source, build/mutate/source, which is kept: building core and its
unit tests takes a minute, and each mutation about one second.  Exit status 1 if one
survives, does not compile, or is not to be found any more.  A test that runs for a minute
has noticed as well."""

import argparse
import dataclasses
import os
import pathlib
import re
import signal
import subprocess
import sys
import time

HERE = pathlib.Path(__file__).resolve().parent
SOURCE = pathlib.Path(os.environ.get("ROCESCOPE_SOURCE", HERE.parents[1]))
PARTS = ("CMakeLists.txt", "cmake", "include", "core", "plugin", "tests")
TOO_LONG_S = 60


class Bad(Exception):
    """What is wrong with the tables, or with what was to be built."""


@dataclasses.dataclass(frozen=True)
class Mutation:
    where: str  # "requests.mutations:12"
    rule: str
    file: str
    tests: str
    before: str
    after: str


# --- tables -----------------------------------------------------------------------------


def parse_entry(where, lines):
    """An entry from its lines; the rule's has lost its sign."""
    rule, head, texts = lines[0], " ".join(lines[1:2]), lines[2:]
    file, _, tests = head.partition(" ")
    n = sum(line.startswith("- ") for line in texts)
    before, after = texts[:n], texts[n:]
    if not tests or not before or not after or \
            any(line[:2] != "- " for line in before) or \
            any(line[:2] != "+ " for line in after):
        raise Bad(f"{where}: no entry, see the top of mutate.py")
    return Mutation(where, rule, file, tests, "\n".join(line[2:] for line in before),
                    "\n".join(line[2:] for line in after))


def parse_table(name, text):
    """All entries of a table, in order."""
    entries, lines, where = [], [], ""
    for number, line in enumerate(text.splitlines() + ["= "], 1):
        if line.startswith("= "):
            if lines:
                entries.append(parse_entry(where, lines))
            where, lines = f"{name}:{number}", [line[2:]]
        elif line and not line.startswith("#"):
            lines.append(line)
    return entries


def read_tables():
    return [mutation for path in sorted(HERE.glob("*.mutations"))
            for mutation in parse_table(path.name, path.read_text())]


def apply(mutation, text):
    """The text of the mutation's file with the rule broken."""
    times = text.count(mutation.before)
    if times != 1:
        raise Bad(f"{mutation.where}: stands {times} times in {mutation.file}, not once")
    return text.replace(mutation.before, mutation.after)


# --- the copy ---------------------------------------------------------------------------


def write_if_other(path, content):
    if not path.exists() or path.read_bytes() != content:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)


def copy_source(target):
    """Only what changed, so that only that is built anew."""
    wanted = set()
    for part in PARTS:
        top = SOURCE / part
        for path in [top] if top.is_file() else sorted(top.rglob("*")):
            if path.is_file() and "__pycache__" not in path.parts:
                copy = target / path.relative_to(SOURCE)
                write_if_other(copy, path.read_bytes())
                wanted.add(copy)
    for path in target.rglob("*"):
        if path.is_file() and path not in wanted:
            path.unlink()


def run(*command, limit_s):
    """(exit status, what it printed); None for the status of what took too long."""
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                          text=True, errors="replace", start_new_session=True) as process:
        try:
            printed = process.communicate(timeout=limit_s)[0]
            return process.returncode, printed
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            return None, process.communicate()[0]


class Copy:
    """A copy of the source, and what is built from it."""

    def __init__(self, top):
        self.source, self.build = top / "source", top / "build"
        copy_source(self.source)
        # Mutations leave variables unused; core alone, and its tests, are to be built.
        self.demand("cmake", "-S", self.source, "-B", self.build, "-G", "Ninja",
                    "-DCMAKE_BUILD_TYPE=Debug", "-DCMAKE_C_FLAGS=-w",
                    "-DROCESCOPE_WERROR=OFF", "-DROCESCOPE_ANALYZER=OFF")
        listed = self.demand("ctest", "--test-dir", self.build, "--show-only")
        self.tests = re.findall(r"Test +#\d+: (\S+)", listed)

    @staticmethod
    def demand(*command):
        process = subprocess.run(command, capture_output=True, text=True, check=False)
        if process.returncode != 0:
            raise Bad(f"{command[0]} failed:\n{process.stdout}{process.stderr}")
        return process.stdout

    def tests_of(self, mutation):
        named = [test for test in self.tests
                 if re.fullmatch(mutation.tests, test) and test.startswith("unit.")]
        if not named:
            raise Bad(f"{mutation.where}: {mutation.tests} is no test of core")
        return named

    def make(self, tests):
        """Builds what these tests run; returns the compiler's complaint, or ""."""
        targets = [test.replace("unit.", "test_") for test in tests]
        process = subprocess.run(["cmake", "--build", self.build, "-j",
                                  os.environ.get("JOBS", str(os.cpu_count())), "--target",
                                  *targets], capture_output=True, text=True, check=False)
        return "" if process.returncode == 0 else process.stdout[-2000:]

    def passes(self, tests):
        """Whether all of them pass; the first that fails is the last that runs."""
        status, printed = run("ctest", "--test-dir", str(self.build), "--stop-on-failure",
                              "-R", f"^({'|'.join(map(re.escape, tests))})$",
                              limit_s=TOO_LONG_S)
        if status is not None and "No tests were found" in printed:
            raise Bad(f"no test {tests} in {self.build}")
        return status == 0


# --- what becomes of a mutation ----------------------------------------------------------


def outcome(copy, mutation):
    """"caught", or what is wrong."""
    path = copy.source / mutation.file
    whole = path.read_text()
    tests = copy.tests_of(mutation)
    path.write_text(apply(mutation, whole))
    try:
        complaint = copy.make(tests)
        if complaint:
            return f"does not compile:\n{complaint}"
        return "survives" if copy.passes(tests) else "caught"
    finally:
        path.write_text(whole)


def check_unbroken(copy, mutations):
    """Tests that fail by themselves would catch anything."""
    tests = sorted({test for mutation in mutations for test in copy.tests_of(mutation)})
    complaint = copy.make(tests)
    if complaint:
        raise Bad(f"the copy does not compile:\n{complaint}")
    if not copy.passes(tests):
        raise Bad(f"one of {', '.join(tests)} fails without any mutation")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("regex", nargs="?", default="")
    parser.add_argument("--keep-going", action="store_true")
    parser.add_argument("--directory", type=pathlib.Path, default=SOURCE / "build/mutate")
    options = parser.parse_args()
    mutations = [m for m in read_tables()
                 if re.search(options.regex, f"{m.file} {m.rule} {m.where}")]
    if not mutations:
        raise Bad(f"no rule matches {options.regex}")
    for mutation in mutations:
        apply(mutation, (SOURCE / mutation.file).read_text())
    copy = Copy(options.directory.resolve())
    check_unbroken(copy, mutations)
    start, failed = time.monotonic(), 0
    # Of one file together: its neighbours need not be compiled for each anew.
    for mutation in sorted(mutations, key=lambda m: m.file):
        result = outcome(copy, mutation)
        print(f"{result:8} {mutation.file:22} {mutation.rule}", flush=True)
        if result != "caught":
            failed += 1
            print(f"  {mutation.where}: {mutation.tests} did not notice", flush=True)
            if not options.keep_going:
                break
    print(f"{len(mutations)} mutations, {failed} not caught, "
          f"{time.monotonic() - start:.0f} s")
    return 1 if failed else 0


if __name__ == "__main__":
    try:
        sys.exit(main())
    except Bad as error:
        sys.exit(f"mutate: {error}")
