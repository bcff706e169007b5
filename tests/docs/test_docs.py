#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""The documents say what is so.

  - Every block marked ```sh test``` runs, in a copy of the source directory, and so does
    every example of the manual.  Words behind it: status=N is the exit status expected (0),
    any other is a program that has to be there, or the block is skipped with a line.
  - A block of commands that cannot run here is marked ```sh not run: REASON```.  There are
    no other blocks but these and those below.
  - A block marked ```text output``` stands in the output of the one before, line by line and
    in order, at a width of 100; a line of "…" stands for lines left out, "…" in a line for
    the rest of it.  ```text``` alone is for what no program prints.
  - What stands in the text as `make TARGET`, `ctest --preset NAME`, `rocescope … --option`,
    `tools/program --option` or as the path of a file of the source exists, and so do
    `pages(1)` of the manual.
  - Every line of a block marked ```filters``` is a display filter that tshark takes.
  - Every key of the JSON report and every word of core/names.c stands in docs/report.md,
    findings.md is the program's own table of findings, columns.md that of columns.  (The
    form of the manual pages, and their options, are looked at by test_man.py.)
  - docs/architecture.md names every source file of core, analyzer and plugin.
  - Links to files and headings lead somewhere; pictures are described, small, and shown.

tshark runs with the plugin of this build, as nobody if we are root (root loads no plugins).
"""

import fnmatch
import json
import os
import pathlib
import re
import shutil
import stat
import subprocess
import sys
import tempfile

SOURCE = pathlib.Path(os.environ.get("ROCESCOPE_SOURCE",
                                     pathlib.Path(__file__).resolve().parents[2]))
BINARY = pathlib.Path(os.environ.get("ROCESCOPE", SOURCE / "build/release/bin/rocescope"))
SANITIZED = b"__asan" in BINARY.read_bytes()
PLUGIN = pathlib.Path(os.environ.get("ROCESCOPE_PLUGIN",
                                     SOURCE / "build/release/plugin/rocescope.so"))
MAN_PAGES = sorted((SOURCE / "docs/man").glob("*.1"))
REFERENCE = SOURCE / "docs/report.md"
WITH_EXAMPLES = [*sorted(SOURCE.glob("*.md")), SOURCE / "captures/README.md",
                 *sorted((SOURCE / "docs").rglob("*.md"))]
LEAST_WORDS = 3         # of a reason, and of what describes a picture
PICTURE_BYTES = 200_000 # at most
WIDTH = 100
NOBODY = 65534

sys.path[:0] = [str(SOURCE / "tests/plugin"), str(SOURCE / "tests/sim")]

import roce  # noqa: E402
from tshark import Tshark  # noqa: E402

FAILED = []


def check(name, problems):
    """Prints a row's problems, if any."""
    if problems:
        FAILED.append(name)
        print(f"FAILED {name}")
        for problem in problems:
            print("    " + str(problem).replace("\n", "\n    "))


# --- reading documents -----------------------------------------------------------------


class Block:
    def __init__(self, line, info, text):
        self.line, self.info, self.text = line, info, text

    @property
    def status(self):
        return next((int(w[7:]) for w in self.info if w.startswith("status=")), 0)

    @property
    def needs(self):
        return [w for w in self.info[2:] if not w.startswith("status=")]


def blocks_of(text):
    """The fenced blocks of a document, in order."""
    found, start, info, lines = [], None, [], []
    for number, line in enumerate(text.splitlines(), 1):
        if start is None and line.startswith("```"):
            start, info, lines = number, line[3:].split(), []
        elif start is not None and line.startswith("```"):
            found.append(Block(start, info, "\n".join(lines)))
            start = None
        elif start is not None:
            lines.append(line)
    if start is not None:
        raise ValueError(f"line {start}: this block does not end")
    return found


def code_words(text):
    """The words in code spans outside of fenced blocks."""
    text = re.sub(r"^```.*?^```", "", text, flags=re.MULTILINE | re.DOTALL)
    spans = re.findall(r"`([^`\n]+)`", text)
    return {word for span in spans for word in re.findall(r"[\w.]*\w", span)}


def anchors_of(text):
    """What a link may name in a document: its headings, as forges spell them."""
    text = re.sub(r"^```.*?^```", "", text, flags=re.MULTILINE | re.DOTALL)
    headings = re.findall(r"^#+ (.+)$", text, flags=re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", h.lower()).replace(" ", "-") for h in headings}


def links_of(text):
    text = re.sub(r"^```.*?^```", "", text, flags=re.MULTILINE | re.DOTALL)
    return [link for link in re.findall(r"\]\(([^)\s]+)\)", text)
            if not re.match(r"[a-z]+:", link)]


def plain_man(text):
    """Man page source with its escapes resolved, as far as options need it."""
    text = re.sub(r"^\.\\\".*$", "", text, flags=re.MULTILINE)
    return re.sub(r"\\f.|\\&", "", text.replace("\\-", "-"))


def man_section(text, name):
    match = re.search(rf"^\.SH {name}\n(.*?)(?=^\.SH |\Z)", text, re.MULTILINE | re.DOTALL)
    return match.group(1) if match else ""


def missing_lines(want, got):
    """The first line of an excerpt that is not in an output where it should be; or None."""
    def lines(text):
        return [line.rstrip() for line in text.replace("\u00a0", " ").splitlines()]

    def like(line, other):
        return line == other or "…" in line and re.fullmatch(
            ".*".join(map(re.escape, line.split("…"))), other)

    have, at, anywhere = lines(got), 0, True
    for line in lines(want):
        if line == "…":
            anywhere = True
            continue
        found = next((i for i in range(at, len(have) if anywhere else min(at + 1, len(have)))
                      if like(line, have[i])), None)
        if found is None:
            return line
        at, anywhere = found + 1, False
    return None


# --- running examples --------------------------------------------------------------------


class Stage:
    """A copy of the source directory that examples may write to and nobody may read."""

    def __init__(self):
        self.top = pathlib.Path(tempfile.mkdtemp(prefix="rocescope-docs-"))
        self.top.chmod(0o755)
        self.tree, self.programs = self.top / "source", self.top / "bin"
        self.programs.mkdir()
        self.tree.mkdir()
        for entry in SOURCE.iterdir():
            if entry.name not in (".git", "build", "captures"):
                (self.tree / entry.name).symlink_to(entry)
        shutil.copytree(SOURCE / "captures", self.tree / "captures")
        for path in (self.tree / "captures").rglob("*"):
            path.chmod(0o755 if path.is_dir() else 0o644)
        (self.programs / "rocescope").symlink_to(BINARY)
        plugins = self.tree / "build/release/plugin"
        plugins.mkdir(parents=True)
        (plugins / "rocescope.so").symlink_to(PLUGIN)
        self.tshark = None
        if shutil.which("tshark") and PLUGIN.is_file():
            self.tshark = Tshark(PLUGIN)
            self._wrap_tshark()

    def _wrap_tshark(self):
        """A tshark on the PATH that loads our plugin."""
        directory = self.tshark.dir
        drop = (f"setpriv --reuid={NOBODY} --regid={NOBODY} --clear-groups "
                if os.geteuid() == 0 else "")
        script = self.programs / "tshark"
        script.write_text(f"#!/bin/sh\nHOME='{directory}/home-plugin' "
                          f"WIRESHARK_PLUGIN_DIR='{directory}/plugins' "
                          f"exec {drop}{self.tshark.program} \"$@\"\n")
        script.chmod(script.stat().st_mode | stat.S_IXUSR | stat.S_IXGRP | stat.S_IXOTH)

    def close(self):
        shutil.rmtree(self.top, ignore_errors=True)
        if self.tshark:
            self.tshark.close()

    def lacks(self, program):
        return (self.tshark is None if program == "tshark"
                else shutil.which(program) is None)

    def run(self, commands):
        if SANITIZED: # such a program maps far more memory than it uses
            commands = re.sub(r" --memory=\S+", "", commands)
        environment = {**os.environ, "PATH": f"{self.programs}:{os.environ['PATH']}",
                       "HOME": str(self.top), "COLUMNS": str(WIDTH), "LC_ALL": "C.UTF-8"}
        done = subprocess.run(["bash", "-ec", commands], cwd=self.tree, env=environment,
                              stdin=subprocess.DEVNULL, capture_output=True, timeout=300)
        return (done.returncode, done.stdout.decode(errors="replace"),
                done.stderr.decode(errors="replace"))


def with_stage(run, *arguments):
    """Documents leave nothing to each other."""
    stage = Stage()
    try:
        run(stage, *arguments)
    finally:
        stage.close()


def run_examples(stage, path):
    name, output = path.relative_to(SOURCE), None
    for block in blocks_of(path.read_text()):
        where = f"{name}:{block.line}"
        if block.info[:2] == ["sh", "test"]:
            output = None
            lacking = [program for program in block.needs if stage.lacks(program)]
            if lacking:
                print(f"skipped {where}: no {', '.join(lacking)}")
                continue
            status, output, errors = stage.run(block.text)
            if status != block.status:
                check(where, [f"exit status {status}, not {block.status}", errors[-2000:]])
        elif block.info[:2] == ["text", "output"] and output is not None:
            line = missing_lines(block.text, output)
            if line is not None:
                check(where, [f"not in the output: {line}", output[:6000]])
        elif block.info == ["filters"]:
            try_filters(stage, where, block)


def try_filters(stage, where, block):
    if stage.tshark is None:
        print(f"skipped {where}: no tshark, or no plugin")
        return
    capture = stage.tree / "captures/13_cm_reject/receiver.pcap.gz"
    for text in block.text.splitlines():
        try:
            stage.tshark.frames(capture, text)
        except RuntimeError as error:
            check(f"{where}: {text}", [error])


def run_man_examples(stage, path):
    page = plain_man(path.read_text())
    examples = re.findall(r"^\.nf\n(.*?)^\.fi$", man_section(page, "EXAMPLES"),
                          re.MULTILINE | re.DOTALL)
    check(f"{path.name} has examples", [] if examples else ["none"])
    for example in examples:
        status, _, errors = stage.run(example)
        if status != 0:
            check(f"{path.name}: {example.strip()}", [f"exit status {status}", errors])


# --- commands that are not run -----------------------------------------------------------


def unknown_block(block):
    """What is wrong with the mark of a block; None if it is run, or says why not."""
    if block.info in (["text"], ["filters"], ["text", "output"]):
        commands = [line for line in block.text.splitlines() if line.startswith("$ ")]
        return f"looks like a command: {commands[0]}" if commands else None
    if block.info[:2] == ["sh", "test"]:
        return None
    if block.info[:3] == ["sh", "not", "run:"]:
        return None if len(block.info) >= 3 + LEAST_WORDS else "no reason for not running it"
    return f"neither run nor marked: ```{' '.join(block.info)}"


def spans_of(text):
    text = re.sub(r"^```.*?^```", "", text, flags=re.MULTILINE | re.DOTALL)
    return re.findall(r"`([^`\n]+)`", text)


def options_of(words):
    return {word.partition("=")[0].rstrip("`,.;") for word in words
            if re.match(r"--[a-z]", word)}


def help_of(command, known={}):
    """The options that a command of rocescope has; known: asked for before."""
    if command not in known:
        done = subprocess.run([BINARY, *command, "--help-all"], check=True, text=True,
                              capture_output=True)
        known[command] = set(re.findall(r"--[a-z][a-z-]*", done.stdout))
    return known[command]


def make_targets():
    return set(re.findall(r"^([a-z][a-z-]*):", (SOURCE / "Makefile").read_text(),
                          re.MULTILINE))


def make_variables():
    return set(re.findall(r"\$[({]([A-Z_]+)[)}]", (SOURCE / "Makefile").read_text()))


def commands_of_rocescope():
    done = subprocess.run([BINARY, "--help"], check=True, capture_output=True, text=True)
    return re.findall(r"^  (\w+) ", done.stdout.split("Commands:")[1], re.MULTILINE)


def in_source(name):
    return any(SOURCE.glob(name)) or name.startswith("build/")


def wrong_in_span(span, targets, commands):
    """What a code span names that does not exist; None if all does."""
    words = span.split()
    if words[0] == "make" and len(words) > 1:
        named = {word for word in words[1:] if re.fullmatch(r"[a-z][a-z-]*", word)}
        set_ = set(re.findall(r"\b([A-Z_]+)=", span))
        return sorted(named - targets | set_ - make_variables()) or None
    if words[:2] == ["ctest", "--preset"]:
        return None if f'"{words[2]}"' in (SOURCE / "CMakePresets.json").read_text() else [span]
    if words[0] == "rocescope":
        command = tuple(words[1:2]) if words[1:2] and words[1] in commands else ()
        return sorted(options_of(words) - help_of(command)) or None
    page = re.fullmatch(r"(rocescope[\w-]*)\(1\)", span)
    if page:
        return None if (SOURCE / f"docs/man/{page.group(1)}.1").is_file() else [span]
    if re.match(r"(analyzer|captures|contrib|core|docs|include|plugin|tests|tools)/[\w*]",
                words[0]) and not re.search(r"<|…|[A-Z]{2}", words[0]):
        if not in_source(words[0]):
            return [words[0]]
        program = SOURCE / words[0]
        if len(words) > 1 and program.is_file():
            return sorted(option for option in options_of(words[1:])
                          if option not in program.read_text() + " --help") or None
    return None


def check_marks():
    targets, commands = make_targets(), commands_of_rocescope()
    for path in WITH_EXAMPLES:
        name, text = path.relative_to(SOURCE), path.read_text()
        check(f"{name}: blocks", [f"line {block.line}: {unknown_block(block)}"
                                  for block in blocks_of(text) if unknown_block(block)])
        check(f"{name}: what does not exist", [
            f"`{span}`: {wrong}" for span in spans_of(text)
            if (wrong := wrong_in_span(span, targets, commands))])


# --- what has to be documented -----------------------------------------------------------


def keys_of_schema(schema):
    """Every key that the report may have: of the top level and of what it refers to."""
    keys, seen = set(), set()

    def walk(node):
        if isinstance(node, list):
            for item in node:
                walk(item)
        if not isinstance(node, dict):
            return
        reference = node.get("$ref")
        if reference and reference not in seen:
            seen.add(reference)
            walk(schema["$defs"][reference.rsplit("/", 1)[1]])
        for key, value in node.get("properties", {}).items():
            keys.add(key)
            walk(value)
        for word in ("items", "anyOf", "allOf", "additionalProperties"):
            walk(node.get(word))

    walk(schema)
    return keys


def keys_of_report(report):
    """Every key of a report, but for those that are names of something else."""
    keys = set()

    def walk(node, parent):
        if isinstance(node, list):
            for item in node:
                walk(item, parent)
        if isinstance(node, dict):
            for key, value in node.items():
                if parent not in ("opcodes", "event_totals"):
                    keys.add(key)
                walk(value, key)

    walk(report, None)
    return keys


def all_sorts():
    """A capture with pauses, a CNP and other traffic, which no sample has."""
    ip = roce.Ip("10.0.0.1", "10.0.0.2", ident=1)
    capture = roce.Pcap()
    for i, frame in enumerate((roce.pfc({3: 0xFFFF}), roce.pfc({3: 0}), roce.pause(9),
                               roce.ethernet(roce.cnp(ip, 0, 6)),
                               roce.ethernet(ip.wrap(17, roce.udp(1, 2, b"x"))))):
        capture.add(10**15 + i * 1000, frame)
    return capture.bytes()


def emitted_keys(stage):
    path = stage.tree / "all_sorts.pcap"
    path.write_bytes(all_sorts())
    keys = set()
    for capture in (path, *sorted((stage.tree / "captures").glob("*/receiver.pcap.gz")),
                    *sorted((stage.tree / "captures").glob("*/switch.pcapng.gz"))):
        done = subprocess.run([BINARY, "--quiet", "--json", "-", capture], check=True,
                              capture_output=True, timeout=300)
        keys |= keys_of_report(json.loads(done.stdout))
    return keys


def names_of_core():
    return set(re.findall(r'\] = "([a-z0-9_]+)"', (SOURCE / "core/names.c").read_text()))


def check_printed_pages():
    """docs/findings.md and docs/columns.md are the program's tables."""
    for what in ("findings", "columns"):
        done = subprocess.run([BINARY, f"--list-{what}"], check=True, capture_output=True,
                              text=True)
        page = (SOURCE / f"docs/{what}.md").read_text()
        check(f"docs/{what}.md is what --list-{what} prints (make {what})",
              [] if page == done.stdout else ["not so"])


def check_reference(stage):
    words = code_words(REFERENCE.read_text())
    schema = json.loads((SOURCE / "docs/report.schema.json").read_text())
    for what, names in (("keys of the schema", keys_of_schema(schema)),
                        ("keys of reports", emitted_keys(stage)),
                        ("words of core/names.c", names_of_core())):
        check(f"{what}: some to look for", [] if len(names) > 10 else [sorted(names)])
        check(f"{what} in docs/report.md", sorted(names - words))


def check_links():
    for path in WITH_EXAMPLES:
        problems = []
        for link in links_of(path.read_text()):
            file, _, anchor = link.partition("#")
            target = (path.parent / file).resolve() if file else path
            if not target.exists():
                problems.append(f"{link}: no such file")
            elif anchor and anchor not in anchors_of(target.read_text()):
                problems.append(f"{link}: no such heading")
        check(f"links of {path.relative_to(SOURCE)}", problems)


def source_files():
    return [path.name for room in ("core", "analyzer", "plugin")
            for path in (SOURCE / room).glob("*.c")]


def check_architecture():
    """Each file by its name or by a pattern, and no name of a file that is gone."""
    words = {word for span in spans_of((SOURCE / "docs/architecture.md").read_text())
             for word in span.split()}
    patterns = {word.rsplit("/", 1)[-1] for word in words
                if re.fullmatch(r"[\w*/.]+\.[ch]", word)}
    files = source_files()
    check("source files that architecture.md does not name", sorted(
        file for file in files if not any(fnmatch.fnmatch(file, p) for p in patterns)))
    check("source files of architecture.md that do not exist", sorted(
        p for p in patterns if not fnmatch.filter(files, p)
        and not any(SOURCE.glob(f"*/{p}")) and not any(SOURCE.glob(f"*/*/{p}"))))


def check_pictures():
    shown = set()
    for path in WITH_EXAMPLES:
        problems = []
        for words, file in re.findall(r"!\[([^\]]*)\]\(([^)\s]+)\)", path.read_text()):
            target = (path.parent / file).resolve()
            shown.add(target)
            if len(words.split()) < LEAST_WORDS:
                problems.append(f"{file}: not described")
            if target.is_file() and target.stat().st_size > PICTURE_BYTES:
                problems.append(f"{file}: {target.stat().st_size} bytes")
        check(f"pictures of {path.relative_to(SOURCE)}", problems)
    check("pictures that no document shows", sorted(
        picture.name for picture in (SOURCE / "docs/images").resolve().iterdir()
        if picture not in shown))


# --- that the checks can fail ------------------------------------------------------------


def check_checks():
    for want, got, line in [("a\nb", "x\na\nb\nc", None), ("a\nc", "a\nb\nc", "c"),
                            ("a\n…\nc", "a\nb\nc", None), ("c\n…\na", "a\nb\nc", "a"),
                            ("a ", "a", None), ("a", "", "a"), ("b\nb", "b", "b"),
                            ("a|…", "x\na|b", None), ("a|…", "ab", "a|…"),
                            ("… c", "… c", None), ("a.…", "abc", "a.…")]:
        check(f"missing_lines({want!r}, {got!r})",
              [] if missing_lines(want, got) == line else [missing_lines(want, got)])
    found = blocks_of("```sh test jq status=3\nx\ny\n```\n```\n```\n")
    check("blocks_of", [] if [(b.line, b.info, b.text) for b in found] ==
          [(1, ["sh", "test", "jq", "status=3"], "x\ny"), (5, [], "")]
          and (found[0].status, found[0].needs) == (3, ["jq"]) else [found])
    words = code_words("`a.b`, c, `d_e` and `--f G`\n```\n`h`\n```\n")
    check("code_words", [] if words == {"a.b", "d_e", "f", "G"} else [words])
    check("anchors_of", [] if anchors_of("# A b\n## C: d_e\n") == {"a-b", "c-d_e"} else ["?"])
    for mark, text, want in [
            ("sh test jq", "", False), ("sh not run: it needs a NIC", "", False),
            ("sh not run: no NIC", "", True), ("sh", "", True), ("", "", True),
            ("console", "", True), ("text output", "a", False), ("text", "$ a", True),
            ("filters", "a", False), ("sh not run", "", True)]:
        wrong = unknown_block(Block(1, mark.split(), text))
        check(f"unknown_block({mark!r})", [] if bool(wrong) == want else [wrong])
    for span, want in [("make check", None), ("make nothing", ["nothing"]),
                       ("make golden JOBS=2", None),
                       ("make check NONE=2", ["NONE"]), ("ctest --preset dev", None),
                       ("ctest --preset none", ["ctest --preset none"]), ("rocescope extract --stream 1", None),
                       ("rocescope --stream 1", ["--stream"]), ("rocescope(1)", None),
                       ("rocescope-none(1)", ["rocescope-none(1)"]),
                       ("core/sequence.c", None), ("core/none.c", ["core/none.c"]),
                       ("core/none*.c", ["core/none*.c"]), ("tests/*/test_docs.py", None),
                       ("tools/coverage DIR --none", ["--none"]), ("tests/NAME", None)]:
        wrong = wrong_in_span(span, {"check", "golden"}, ["extract"])
        check(f"wrong_in_span({span!r})", [] if wrong == want else [wrong])
    keys = keys_of_report({"a": [{"b": {"opcodes": {"RC": 1}}}]})
    check("keys_of_report", [] if keys == {"a", "b", "opcodes"} else [keys])


def main():
    if not BINARY.is_file():
        print(f"skipped: there is no {BINARY}")
        return 77
    check_checks()
    check_links()
    check_pictures()
    check_marks()
    check_architecture()
    for documents, run in ((MAN_PAGES, run_man_examples), (WITH_EXAMPLES, run_examples)):
        for path in documents:
            with_stage(run, path)
    with_stage(check_reference)
    check_printed_pages()
    print(f"{len(FAILED)} failed" if FAILED else "the documents say what is so")
    return 1 if FAILED else 0


if __name__ == "__main__":
    sys.exit(main())
