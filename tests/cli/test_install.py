#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""What is installed, with a prefix and below DESTDIR: the program runs from there, and what
bash, man, Wireshark and readers look for stands where they look."""

import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

SOURCE = pathlib.Path(os.environ.get("ROCESCOPE_SOURCE",
                                     pathlib.Path(__file__).resolve().parents[2]))
BUILD = pathlib.Path(os.environ.get("ROCESCOPE_BUILD", SOURCE / "build/release"))
failures = 0


def check(row, got, want=True):
    global failures
    if got != want:
        failures += 1
        print(f"{row}: got {got!r}, want {want!r}")


def install(component, prefix, destdir):
    """One component; all of them for None."""
    which = ["--component", component] if component else []
    done = subprocess.run(["cmake", "--install", BUILD, *which, "--prefix", prefix],
                          capture_output=True, text=True,
                          env={**os.environ, "DESTDIR": str(destdir)}, timeout=120)
    check(f"{component}: installs", (done.returncode, done.stderr), (0, ""))


def files(top):
    return {str(path.relative_to(top)) for path in top.rglob("*") if path.is_file()}


def program(top):
    install("analyzer", "/opt/rocescope", top)
    root = top / "opt/rocescope"
    pages = {f"share/man/man1/{page.name}" for page in (SOURCE / "docs/man").glob("*.1")}
    completion = "share/bash-completion/completions/rocescope"
    check("program: files", files(root), {"bin/rocescope", completion} | pages)
    check("program: nothing elsewhere", os.listdir(top), ["opt"])
    done = subprocess.run([root / "bin/rocescope", "--version"], capture_output=True,
                          text=True)
    check("program: runs", (done.returncode, done.stdout[:9]), (0, "rocescope"))
    done = subprocess.run(["bash", "--norc", "--noprofile", "-c",
                           'source "$0" && complete -p rocescope', root / completion],
                          capture_output=True, text=True)
    check("program: bash completes it", done.returncode, 0)
    if shutil.which("man"):
        for page in pages:
            name = pathlib.Path(page).stem
            done = subprocess.run(["man", "-M", root / "share/man", "-w", name],
                                  capture_output=True, text=True)
            check(f"man {name}", done.stdout.strip(), str(root / page))


def documents(top):
    install("documents", "/usr", top)
    root = top / "usr/share/doc/rocescope"
    wanted = {"README.md", "NEWS.md", "SECURITY.md", "COPYING.md", "CONTRIBUTING.md",
              "LICENSE", "captures/README.md", "captures/LICENSE"}
    wanted |= {f"docs/{path.name}" for suffix in ("md", "json")
               for path in (SOURCE / "docs").glob(f"*.{suffix}")}
    wanted |= {f"docs/{directory}/{name}" for directory in ("images", "examples", "cases")
               for name in os.listdir(SOURCE / "docs" / directory)}
    wanted.add("contrib/slurm/rocescope-slurm")
    check("documents: files", files(root), wanted)
    broken = [f"{page.relative_to(root)}: {link}" for page in root.rglob("*.md")
              for link in re.findall(r"\]\(([^)#\s]+)[)#]", page.read_text())
              if not re.match("[a-z]+:", link) and not (page.parent / link).exists()]
    check("documents: where links lead", broken, [])


def plugin(top):
    install("plugin", "/opt/rocescope", top)
    root = top / "opt/rocescope"
    source = SOURCE / "plugin/profile/RoCEv2"
    pages = {f"share/wireshark/profiles/RoCEv2/{name}" for name in files(source)}
    others = files(root) - pages
    check("plugin: profile", pages - files(root), set())
    check("plugin: where Wireshark X.Y looks, below what the system has for libraries",
          [re.sub(r"\d+\.\d+", "X.Y", re.sub(r"^lib\w*(/[\w-]+-linux-[\w-]+)?/", "lib/", name))
           for name in others], ["lib/wireshark/plugins/X.Y/epan/rocescope.so"])


def all_of_it(top):
    """No component is forgotten, and none has a file of another."""
    install(None, "/opt/rocescope", top)
    root = top / "opt/rocescope"
    check("all: nothing elsewhere", os.listdir(top), ["opt"])
    parts = []
    for component in ("analyzer", "plugin", "development", "documents"):
        with tempfile.TemporaryDirectory() as directory:
            install(component, "/opt/rocescope", directory)
            parts += files(pathlib.Path(directory) / "opt/rocescope")
    check("all: its components", sorted(parts), sorted(files(root)))
    done = subprocess.run([root / "bin/rocescope", "--version"], capture_output=True,
                          text=True)
    check("all: runs", (done.returncode, done.stdout[:10]), (0, "rocescope "))


def makefile(_):
    """`make install` hands both on: PREFIX to the build, DESTDIR to the installation."""
    environment = {name: value for name, value in os.environ.items()
                   if not name.startswith(("MAKE", "MFLAGS"))}  # of `make check`
    done = subprocess.run(["make", "-n", "-C", SOURCE, "install", "DEPS=true",
                           "PREFIX=/opt/a b", "DESTDIR=/tmp/c d"], capture_output=True,
                          text=True, timeout=60, env=environment)
    commands = done.stdout.splitlines()
    check("make install: PREFIX", [line for line in commands if "-DCMAKE_INSTALL_PREFIX" in line],
          ["cmake --preset release -DCMAKE_INSTALL_PREFIX='/opt/a b'"])
    check("make install: DESTDIR", [line for line in commands if "--install" in line],
          ["DESTDIR='/tmp/c d' cmake --install build/release"])
    built = next(line for line in commands if "--target" in line)
    check("make install: what is built", built.split("--target ")[1].split(),
          ["rocescope", "rocescope_plugin", "roce_core_plain"])


def without_plugin(top):
    """Nothing of Wireshark is looked for, and the command is built all the same."""
    done = subprocess.run(["cmake", "-S", SOURCE, "-B", top, "-G", "Ninja",
                           "-DROCESCOPE_PLUGIN=OFF"], capture_output=True, text=True,
                          timeout=120)
    check("without the plugin: configured", (done.returncode, done.stderr), (0, ""))
    cache = (top / "CMakeCache.txt").read_text()
    check("without the plugin: no Wireshark", "\nwireshark_" in cache.lower(), False)
    rules = (top / "build.ninja").read_text()
    check("without the plugin: what is built", [
        f"build {name}: phony" in rules for name in ("rocescope", "rocescope_plugin")],
          [True, False])


for part in (program, plugin, documents, all_of_it, makefile, without_plugin):
    with tempfile.TemporaryDirectory() as directory:
        part(pathlib.Path(directory))
print(f"{failures} rows failed" if failures else "everything is in its place")
sys.exit(1 if failures else 0)
