#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""contrib/completion/rocescope.bash in a bash that has nothing else: every command, every
option of --help-all of each command, every value of options that take words, and files."""

import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

SOURCE = pathlib.Path(os.environ.get("ROCESCOPE_SOURCE",
                                     pathlib.Path(__file__).resolve().parents[2]))
BINARY = os.environ.get("ROCESCOPE", str(SOURCE / "build/dev/bin/rocescope"))
SCRIPT = SOURCE / "contrib/completion/rocescope.bash"
failures = 0

# Completes the words given as arguments, the last of which is begun.
DRIVER = """
source "$0"
COMP_WORDS=("$@") COMP_CWORD=$(($# - 1)) COMP_LINE="$*" COMP_POINT=${#COMP_LINE}
COMPREPLY=(nonsense of before)
_rocescope "$1" "${COMP_WORDS[COMP_CWORD]}" "${COMP_WORDS[COMP_CWORD - 1]}"
[ ${#COMPREPLY[@]} -eq 0 ] || printf '%s\\n' "${COMPREPLY[@]}"
"""


def check(row, got, want=True):
    global failures
    if got != want:
        failures += 1
        print(f"{row}: got {got!r}, want {want!r}")


def complete(*words, cwd=None, program=BINARY, home=None):
    """What is offered for the last of the words, and nothing on standard error."""
    environment = {**os.environ, **({"HOME": str(home)} if home else {})}
    done = subprocess.run(["bash", "--norc", "--noprofile", "-c", DRIVER, SCRIPT, program,
                           *words], capture_output=True, text=True, cwd=cwd,
                          env=environment, stdin=subprocess.DEVNULL, timeout=60)
    check(f"{words}: status and complaints", (done.returncode, done.stderr), (0, ""))
    return set(done.stdout.splitlines())


def help_of(*words):
    return subprocess.run([BINARY, *words], check=True, capture_output=True,
                          text=True).stdout


def options_of(command):
    """Option -> what it takes, or None."""
    found = re.findall(r"^  (?:-\w, |    )(--[\w-]+)(?:=(\S+))?", help_of(command, "--help-all"),
                       re.MULTILINE)
    return {name: takes or None for name, takes in found}


def commands_and_options(commands):
    with tempfile.TemporaryDirectory() as empty:
        check("commands", complete("", cwd=empty), set(commands))
        check("one command", complete("anal", cwd=empty), {"analyze"})
        check("no command", complete("zzz", cwd=empty), set())
    for command in commands:
        options = options_of(command)
        want = {name + ("=" if takes else "") for name, takes in options.items()}
        check(f"{command}: has options", len(want) > 3)
        check(f"{command}: all options", complete(command, "--"), want)
        check(f"{command}: behind files", complete(command, "x.pcap", "-"), want)
        for name, takes in options.items():
            check(f"{command}: {name}", name + ("=" if takes else "") in
                  complete(command, name[:-1]))
            values = {word for word in (takes or "").split("|")
                      if re.fullmatch(r"[a-z][a-z_-]*", word)}
            if values:
                check(f"{command} {name}=", complete(command, name, "="), values)
                check(f"{command} {name} ", complete(command, name, ""), values)
                for value in values:
                    check(f"{command} {name}={value[:2]}",
                          complete(command, name, "=", value[:2]),
                          {word for word in values if word.startswith(value[:2])})
    check("options without a command", complete("--"), complete("analyze", "--"))
    check("an option without a value takes none", complete("analyze", "--quiet", "--js"),
          {"--json="})
    check("no such option", complete("analyze", "--zzz"), set())


def findings():
    """Where an option takes the name of a finding, kinds are offered."""
    kinds = set(re.findall(r"^## `(\w+)`$", help_of("--list-findings"), re.MULTILINE))
    check("kinds of findings", len(kinds) > 20)
    commands = [command for command in commands_of() if "ID" in options_of(command).values()]
    for command in commands:
        for name, takes in options_of(command).items():
            if takes == "ID":
                check(f"{command} {name}=", complete(command, name, "="), kinds)
                check(f"{command} {name}=pf", complete(command, name, "=", "pf"),
                      {kind for kind in kinds if kind.startswith("pf")})


def files():
    names = {"a b.pcap", "$(touch x)", "`touch x`", "analyze.pcap", "-dash", "*", "ü.gz"}
    with tempfile.TemporaryDirectory() as directory:
        for name in names:
            pathlib.Path(directory, name).touch()
        pathlib.Path(directory, "sub dir").mkdir()
        check("first word", complete("", cwd=directory),
              set(commands_of()) | names | {"sub dir"})
        check("a command or a file", complete("analyze", cwd=directory),
              {"analyze", "analyze.pcap"})
        check("directories", complete("--csv", "=", "", cwd=directory), {"sub dir"})
        check("directories, begun", complete("--csv", "su", cwd=directory), {"sub dir"})
        check("files are left to bash", complete("--json", "=", "a", cwd=directory), set())
        check("further files, too", complete("x.pcap", "a", cwd=directory), set())
        check("nothing was run", set(os.listdir(directory)), names | {"sub dir"})
        home = pathlib.Path(directory, "sub dir")
        (home / "rocescope").symlink_to(BINARY)
        check("a program below ~", complete("anal", program="~/rocescope", home=home,
                                            cwd=home), {"analyze"})
    check("a program that is not there", complete("--", program="/no/such/program"), set())


def commands_of():
    return re.findall(r"^  (\w+) ", help_of("--help").split("Commands:")[1], re.MULTILINE)


def bash_takes_it():
    done = subprocess.run(["bash", "--norc", "--noprofile", "-c",
                           'source "$0"; complete -p rocescope', SCRIPT],
                          capture_output=True, text=True)
    check("it is registered", "-F _rocescope rocescope" in done.stdout)
    if shutil.which("shellcheck"):
        done = subprocess.run(["shellcheck", SCRIPT], capture_output=True, text=True)
        check("shellcheck", done.stdout, "")


for part in (lambda: commands_and_options(commands_of()), findings, files, bash_takes_it):
    part()
print(f"{failures} rows failed" if failures else "completion knows all there is")
sys.exit(1 if failures else 0)
