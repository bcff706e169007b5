#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""The library as programs elsewhere meet it: installed, found by pkg-config and by CMake, and
linked into the example, which says of a capture what the analyzer's report says."""

import gzip
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile

SOURCE = pathlib.Path(os.environ["ROCESCOPE_SOURCE"])
BUILD = pathlib.Path(os.environ["ROCESCOPE_BUILD"])
BINARY = os.environ["ROCESCOPE"]
EXAMPLES = SOURCE / "docs/examples"
PREFIX = "/opt/elsewhere"
PRIVATE = {"hash.h", "repeats.h", "train.h"}  # not installed
CAPTURES = (
    "03a_loss_data_0.5pct/receiver",
    "03a_loss_data_0.5pct/sender",
    "03d_loss_read_resp/receiver",
    "02g_ipv6/sender",
    "01_write_rc_cm/sender",
)
failures = 0


def check(row, got, want=True):
    global failures
    if got != want:
        failures += 1
        print(f"{row}: got {got!r}, want {want!r}")


def run(*command, **options):
    return subprocess.run([str(word) for word in command], check=True, text=True,
                          stdout=subprocess.PIPE, timeout=300, **options).stdout


def install(top):
    """Returns the directory that the prefix became."""
    run("cmake", "--install", BUILD, "--component", "development", "--prefix", PREFIX,
        env={**os.environ, "DESTDIR": str(top)})
    check("nothing elsewhere", os.listdir(top), ["opt"])
    return top / PREFIX.lstrip("/")


def find(root, name):
    """A file of the installed tree; how deep depends on the system."""
    found = list(root.rglob(name))
    check(f"one {name}", len(found), 1)
    return found[0]


def files(root):
    library = find(root, "librocescope.a").parent
    wanted = {path.name for path in (SOURCE / "include/roce").glob("*.h")} - PRIVATE
    got = {path.name for path in root.glob("include/roce/*")}
    check("headers", got, wanted)
    for path in root.glob("include/roce/*.h"):
        for name in re.findall(r'#include [<"]roce/(\w+\.h)', path.read_text()):
            check(f"{path.name} includes {name}", name in wanted)
    others = {str(path.relative_to(library)) for path in library.rglob("*")
              if path.is_file() and not path.suffix == ".a"}
    check("what finds it", {re.sub(r"-\w+\.cmake$", "-….cmake", name) for name in others},
          {"pkgconfig/rocescope.pc", "cmake/rocescope/rocescopeConfig.cmake",
           "cmake/rocescope/rocescopeConfig-….cmake",
           "cmake/rocescope/rocescopeConfigVersion.cmake"})
    for name in others:
        text = (library / name).read_text()
        check(f"{name} names no directory of the build",
              str(SOURCE) in text or str(BUILD) in text, False)
    sections = run("readelf", "-SW", library / "librocescope.a")
    check("objects that fit any compiler", ".gnu.lto_" in sections, False)


def pkg_config(top, root, *options):
    directory = find(root, "rocescope.pc").parent
    return run("pkg-config", *options, "rocescope", env={
        **os.environ, "PKG_CONFIG_PATH": str(directory),
        "PKG_CONFIG_SYSROOT_DIR": str(top)}).split()


def by_pkg_config(top, root, work):
    program = work / "by_pkg_config"
    run("gcc", "-Wall", "-Wextra", "-Werror", EXAMPLES / "losses.c", "-o", program,
        *pkg_config(top, root, "--cflags", "--libs"))
    return program


def by_cmake(root, work):
    build = work / "by_cmake"
    run("cmake", "-S", EXAMPLES, "-B", build, f"-DCMAKE_PREFIX_PATH={root}",
        "-DCMAKE_C_FLAGS=-Wall -Wextra -Werror")
    run("cmake", "--build", build)
    return build / "losses"


def versions(top, root, work):
    """Headers, library, pkg-config and the program tell the same version, in C++ too."""
    source = work / "version.cpp"
    headers = sorted(path.name for path in root.glob("include/roce/*.h"))
    source.write_text("".join(f"#include <roce/{name}>\n" for name in headers) +
                      "#include <cstdio>\nint main()\n{\n"
                      '    std::printf("%s %s %d", roce_version(), ROCE_VERSION_STRING,'
                      " ROCE_VERSION);\n}\n")
    program = work / "version"
    run("g++", "-std=c++17", source, "-o", program,
        *pkg_config(top, root, "--cflags", "--libs"))
    linked, compiled, number = run(program).split()
    major, minor, patch = map(int, linked.split("."))
    check("version of the headers", compiled, linked)
    check("version as a number", int(number), (major * 1000 + minor) * 1000 + patch)
    check("version of pkg-config", pkg_config(top, root, "--modversion"), [linked])
    check("version of rocescope", run(BINARY, "--version").splitlines()[0],
          f"rocescope {linked}")
    packaged = (SOURCE / "debian/changelog").read_text().split("\n")[0]
    check("version of the packages", packaged.split(" ")[:2], ["rocescope", f"({linked})"])
    for wanted, fits in ((f"{major}.{minor}", True), (f"{major}.{minor + 1}", False),
                         (f"{major + 1}.{minor}", False)):
        project = work / f"wants_{wanted}"
        project.mkdir()
        (project / "CMakeLists.txt").write_text(
            "cmake_minimum_required(VERSION 3.16)\nproject(wants LANGUAGES NONE)\n"
            "set(CMAKE_SIZEOF_VOID_P 8)\n"
            f"find_package(rocescope {wanted} REQUIRED)\n")
        done = subprocess.run(["cmake", "-S", project, "-B", project / "build",
                               f"-DCMAKE_PREFIX_PATH={root}"], capture_output=True)
        check(f"CMake takes it for {wanted}", done.returncode == 0, fits)


def expected(capture):
    """What the example should print of a capture, by the analyzer's report."""
    report = json.loads(run(BINARY, "--quiet", "--events", 100000, "--json", "-", capture))
    lines = [f"{event['kind']}: stream {event['stream']}, {event['space'][:-1]} of PSN "
             f"{event['psn']}, {event['detail']}"
             for event in report["events"] if event["kind"] in ("loss", "loss_withdrawn")]
    streams = sorted(report["streams"], key=lambda stream: stream["id"])
    lines += [f"stream {s['id']}: {s['src']} to {s['dst']}, QP {s['dst_qpn']}, "
              f"{s['packets']} packets" for s in streams]
    return lines


def compare(programs, work):
    n_losses = 0
    for name in CAPTURES:
        packed = SOURCE / f"captures/{name}.pcap.gz"
        capture = work / "capture.pcap"
        capture.write_bytes(gzip.decompress(packed.read_bytes()))
        want = expected(packed)
        n_losses += sum(line.startswith("loss: ") for line in want)
        for program in programs:
            check(f"{name} by {program.name}", run(program, capture).splitlines(), want)
    check("some captures have losses", n_losses > 10)
    for bad in ("/dev/null", str(SOURCE / "README.md"), str(work / "missing")):
        done = subprocess.run([programs[0], bad], capture_output=True)
        check(f"refuses {bad}", done.returncode, 1)


def page(program, work):
    """What the document shows is what the example prints; it tells of each header."""
    text = (SOURCE / "docs/library.md").read_text()
    named = set(re.findall(r"`roce/(\w+\.h)`", text))
    check("headers named", named, {path.name for path in
                                   (SOURCE / "include/roce").glob("*.h")})
    capture = work / "capture.pcap"
    capture.write_bytes(gzip.decompress(
        (SOURCE / "captures/03a_loss_data_0.5pct/receiver.pcap.gz").read_bytes()))
    printed = run(program, capture).splitlines()
    shown = re.search(r"^```text\n(.*?)^```", text, re.M | re.S).group(1).splitlines()
    check("output shown", [line for line in shown if line not in printed], ["…"])


def example_is_short():
    check("lines of the example",
          len((EXAMPLES / "losses.c").read_text().splitlines()) < 120)


with tempfile.TemporaryDirectory() as destdir, tempfile.TemporaryDirectory() as directory:
    top_directory, work_directory = pathlib.Path(destdir), pathlib.Path(directory)
    tree = install(top_directory)
    files(tree)
    versions(top_directory, tree, work_directory)
    built = (by_pkg_config(top_directory, tree, work_directory),
             by_cmake(tree, work_directory))
    compare(built, work_directory)
    page(built[0], work_directory)
    example_is_short()
print(f"{failures} rows failed" if failures else "the library is as the analyzer is")
sys.exit(1 if failures else 0)
