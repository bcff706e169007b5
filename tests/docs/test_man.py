#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""The manual pages: one for each command and no other, with every option that --help-all of
the command lists and no other, of one build, and nothing that groff or mandoc complain of.
Their examples are run by test_docs.py."""

import os
import pathlib
import re
import shutil
import subprocess
import sys

SOURCE = pathlib.Path(os.environ.get("ROCESCOPE_SOURCE",
                                     pathlib.Path(__file__).resolve().parents[2]))
BINARY = pathlib.Path(os.environ.get("ROCESCOPE", SOURCE / "build/release/bin/rocescope"))
PAGES = SOURCE / "docs/man"
SECTIONS = ["NAME", "SYNOPSIS", "DESCRIPTION", "OPTIONS", "EXIT STATUS", "EXAMPLES",
            "SEE ALSO"]
failed = []


def check(name, problems):
    if problems:
        failed.append(name)
        print(f"FAILED {name}")
        for problem in problems:
            print(f"    {problem}")


def plain(text):
    """Source of a page with its comments and escapes resolved, as far as options need it."""
    text = re.sub(r"^\.\\\".*$", "", text, flags=re.MULTILINE)
    return re.sub(r"\\f.|\\&", "", text.replace("\\-", "-"))


def section(page, name):
    found = re.search(rf"^\.SH {name}\n(.*?)(?=^\.SH |\Z)", page, re.MULTILINE | re.DOTALL)
    return found.group(1) if found else ""


def described(page):
    """The options that paragraphs of OPTIONS are about: those of the tags."""
    tags = re.findall(r"^\.T[PQ].*\n(.*)$", section(page, "OPTIONS"), re.MULTILINE)
    return {option for tag in tags for option in re.findall(r"--[a-z][a-z-]*", tag)}


def offered(*command):
    done = subprocess.run([BINARY, *command, "--help-all"], check=True, text=True,
                          capture_output=True)
    return set(re.findall(r"^  (?:-\w, |    )(--[a-z][a-z-]*)", done.stdout, re.MULTILINE))


def version():
    """As the program and the pages say it: "rocescope 0.1.0"."""
    done = subprocess.run([BINARY, "--version"], check=True, capture_output=True, text=True)
    return done.stdout.splitlines()[0]


def commands():
    done = subprocess.run([BINARY, "--help"], check=True, capture_output=True, text=True)
    return re.findall(r"^  (\w+) ", done.stdout.split("Commands:")[1], re.MULTILINE)


def check_options(command, page):
    has, says = offered(command), described(page)
    check(f"{command}: options missing in its page", sorted(has - says))
    check(f"{command}: options of its page that do not exist", sorted(says - has))


def check_build(path, page):
    headings = re.findall(r"^\.SH (.+)$", page, re.MULTILINE)
    check(f"{path.name}: sections", [f"no {name}" for name in SECTIONS
                                     if name not in headings])
    standard = [name for name in headings if name in SECTIONS]
    check(f"{path.name}: order of sections",
          [] if standard == [n for n in SECTIONS if n in standard] else [standard])
    title = re.search(r"^\.TH (\S+) 1 \d{4}-\d\d-\d\d "
                      rf"\"{re.escape(version())}\" \"User Commands\"$", page, re.MULTILINE)
    check(f"{path.name}: title", [] if title and title.group(1).lower() == path.stem
          else [page.splitlines()[:3]])
    name = section(page, "NAME").strip()
    check(f"{path.name}: NAME", [] if name.startswith(f"{path.stem} - ") else [name])
    others = sorted(other.stem for other in PAGES.glob("*.1") if other != path)
    also = section(page, "SEE ALSO")
    wanted = others if path.stem == "rocescope" else ["rocescope"]
    check(f"{path.name}: SEE ALSO", [f"no {other}(1)" for other in wanted
                                     if f".BR {other} (1)" not in also])


def check_form(path):
    for tool in (["groff", "-man", "-Tutf8", "-ww"], ["mandoc", "-T", "lint", "-W",
                                                       "warning"]):
        if not shutil.which(tool[0]):
            print(f"skipped the form of {path.name}: no {tool[0]}")
            continue
        done = subprocess.run([*tool, path], text=True, capture_output=True)
        said = done.stderr if tool[0] == "groff" else done.stdout + done.stderr
        check(f"{path.name}: {tool[0]}", said.splitlines())


def check_checks():
    page = plain("." + '\\" --comment\n.SH OPTIONS\nSee --other.\n.TP\n.BI \\-\\-a\\-b= n\n'
                 "As with\n.BR \\-\\-c .\n.TP\n.BR \\-q \", \" \\-\\-quiet\nx\n.TQ\n.B \\-\\-d\n"
                 ".SH NEXT\n.TP\n.B \\-\\-e\n")
    check("described()", [] if described(page) == {"--a-b", "--quiet", "--d"}
          else [described(page)])
    check("offered()", [] if "--json" in offered("analyze") else ["nothing"])


def main():
    if not BINARY.is_file():
        print(f"skipped: there is no {BINARY}")
        return 77
    check_checks()
    names = commands()
    check("pages", sorted({path.stem for path in PAGES.glob("*.1")}
                          ^ {"rocescope", *(f"rocescope-{name}" for name in names)}))
    overview = plain((PAGES / "rocescope.1").read_text())
    for name in names:
        check(f"rocescope.1 has {name}", [] if f".TP\n.B {name}\n" in
              section(overview, "COMMANDS") else ["not in COMMANDS"])
        path = PAGES / f"rocescope-{name}.1"
        if path.is_file():
            check_options(name, plain(path.read_text()))
    check("options of rocescope.1 that do not exist", sorted(described(overview) - offered()))
    for path in sorted(PAGES.glob("*.1")):
        check_build(path, plain(path.read_text()))
        check_form(path)
    print(f"{len(failed)} failed" if failed else "the manual is in order")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
