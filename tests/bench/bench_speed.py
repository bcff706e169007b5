#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""How fast rocescope reads captures, beside what else reads them: cat, capinfos, libpcap's
own loop, tshark without the plugin.

    tests/bench/bench_speed.py [--rounds N] [--packets N] [--only KIND]... [--cpu]
                               [--page FILE]

Captures are made once, 8 GB below build/bench; --packets makes them shorter or longer, all in
proportion, where N is for `headers`.  Each program reads each capture from the page cache
and writes to /dev/null, one after the other, round by round; of the rounds the median
counts.  tshark is so slow that it gets the first packets only, and is compared by the
packet, its slow start not counted.  Nothing fails on a time: at the end stand the aims, and
which are reached.

On a machine that does other work as well, --cpu compares the processor time of each program
in place of what the clock says; two threads are left out then.

--page puts the tables into docs/performance.md."""

import argparse
import dataclasses
import os
import pathlib
import platform
import shutil
import statistics
import subprocess
import sys
import tempfile
import time

import page

HERE = pathlib.Path(__file__).resolve().parent
SOURCE = pathlib.Path(os.environ.get("ROCESCOPE_SOURCE", HERE.parents[1]))
BUILD = pathlib.Path(os.environ.get("ROCESCOPE_BUILD", SOURCE / "build/release"))
BINARY = os.environ.get("ROCESCOPE", str(BUILD / "bin/rocescope"))
MAKER = str(BUILD / "tests/bench_captures")
PCAP_LOOP = str(BUILD / "tests/pcap_loop")
CAPTURES = SOURCE / "build/bench"

TSHARK_PACKETS = 100_000
LONG_SECONDS = 1.5
NOBODY = 65534  # tshark passes over the plugins of users, unless it is root


@dataclasses.dataclass(frozen=True)
class Kind:
    """A capture of `bench_captures`."""
    n_packets: int
    n_qps: int
    about: str


KINDS = {
    "headers": Kind(10_000_000, 1024, "WRITEs over 1,024 queue pairs, 128 bytes captured "
                                      "of each packet"),
    "many": Kind(5_000_000, 65_000, "the same over 65,000 queue pairs"),
    "full": Kind(1_000_000, 1024, "whole packets, MTU 1024"),
    "jumbo": Kind(1_000_000, 1024, "whole packets, MTU 4096"),
    "lossy": Kind(1_000_000, 256, "one request in 250 lost, NAKs, CE marks, CNPs; 128 bytes"),
    "reads": Kind(1_000_000, 1024, "READs, 128 bytes"),
    "mixed": Kind(1_000_000, 1024, "`headers` with one frame of TCP in eight"),
    "missed": Kind(1_000_000, 1024, "`headers` without one packet in 85, which the capture "
                                    "dropped"),
    "missed-reads": Kind(1_000_000, 1024, "the same of `reads`"),
    "small": Kind(1_000_000, 1024, "messages of two packets, each acknowledged"),
    "sprayed": Kind(1_000_000, 1024, "`headers`, where one packet in seven is overtaken by "
                                     "the next"),
    "sprayed-reads": Kind(1_000_000, 1024, "the same of `reads`"),
}
WHOLE = ("full", "jumbo")


@dataclasses.dataclass(frozen=True)
class Run:
    """What one process took; which seconds are compared, the user says."""
    seconds: float
    peak_bytes: int


@dataclasses.dataclass(frozen=True)
class Capture:
    kind: str
    path: pathlib.Path
    n_packets: int


# --- making ----------------------------------------------------------------------------


def put_on_disk(path):
    """Now: otherwise the system does it while programs are measured, of gigabytes."""
    with open(path, "rb") as written:
        os.fsync(written.fileno())


def make_capture(kind, n_headers):
    """Made once, and anew when what makes it has changed; one that was cut off by the end
    of this program is not taken for it."""
    n_packets = max(1000, KINDS[kind].n_packets * n_headers // KINDS["headers"].n_packets)
    path = CAPTURES / f"{kind}-{n_packets}.pcap"
    changed = max(source.stat().st_mtime for source in HERE.glob("*.[ch]"))
    if not path.exists() or path.stat().st_mtime < changed:
        CAPTURES.mkdir(parents=True, exist_ok=True)
        part = path.with_suffix(".part")
        print(f"making {path.name}", flush=True)
        subprocess.run([MAKER, kind, "--packets", str(n_packets), part], check=True)
        put_on_disk(part)
        part.rename(path)
    return Capture(kind, path, n_packets)


# --- running ---------------------------------------------------------------------------


def can_thread():
    text = subprocess.run([BINARY, "--help-all"], capture_output=True, text=True,
                          check=True).stdout
    return "--threads" in text


def analyzer_commands(capture, by_cpu):
    """Name -> command.  Where whole packets were captured, without the ICRC as well."""
    threads = {"rocescope": ()}
    if can_thread():
        threads = {"rocescope": ("--threads=1",), "rocescope, 2 threads": ("--threads=2",)}
    if by_cpu:
        threads.pop("rocescope, 2 threads", None)
    checks = {"": ()}
    if capture.kind in WHOLE:
        checks = {", no ICRC": ("--icrc=off",), "": ()}
    return {name + suffix: [BINARY, "--quiet", *options, *check, capture.path]
            for suffix, check in checks.items() for name, options in threads.items()}


def commands(capture, home, by_cpu):
    """The same of all programs that are there.  By default capinfos also computes three
    digests of the file, so it runs without them, which is harder to beat, as well."""
    out = {"cat": ["cat", capture.path], "libpcap's loop": [PCAP_LOOP, capture.path]}
    if shutil.which("capinfos"):
        out["capinfos"] = ["capinfos", "-cdu", capture.path]
        out["capinfos, digests"] = ["capinfos", capture.path]
    if shutil.which("tshark"):
        tshark = [*as_nobody(home), "tshark", "-r", capture.path, "-c"]
        out["tshark"] = [*tshark, str(n_read(capture, "tshark"))]
        out["tshark, one packet"] = [*tshark, "1"]
    return out | analyzer_commands(capture, by_cpu)


def n_read(capture, name):
    """How many packets a program reads."""
    return min(TSHARK_PACKETS, capture.n_packets) if name == "tshark" else capture.n_packets


def as_nobody(home):
    """What goes before a command that must not find a plugin of ours, nor be root."""
    stock = ["env", f"HOME={home}", f"WIRESHARK_PLUGIN_DIR={home}"]
    if os.geteuid() != 0:
        return stock
    return ["setpriv", f"--reuid={NOBODY}", f"--regid={NOBODY}", "--clear-groups", *stock]


def run(command, by_cpu):
    words = [str(word) for word in command]
    null = os.open(os.devnull, os.O_RDWR)
    to_null = [(os.POSIX_SPAWN_DUP2, null, fd) for fd in (0, 1, 2)]
    begun = time.monotonic()
    pid = os.posix_spawnp(words[0], words, os.environ, file_actions=to_null)
    _, status, used = os.wait4(pid, 0)
    seconds = time.monotonic() - begun
    os.close(null)
    if os.waitstatus_to_exitcode(status) != 0:
        sys.exit(f"{' '.join(words)}: status {os.waitstatus_to_exitcode(status)}")
    return Run(used.ru_utime + used.ru_stime if by_cpu else seconds,
               used.ru_maxrss * 1024)


def without_start(runs):
    """tshark's, less what it takes for one packet: it starts slowly."""
    start = runs.pop("tshark, one packet", None)
    if start is not None:
        runs["tshark"] = [Run(run.seconds - one.seconds, run.peak_bytes)
                          for run, one in zip(runs["tshark"], start)]


def run_warm(command, by_cpu):
    """A second time, so that no program begins with the memory and the caches that another
    one has left; what takes long, of which that is little, only once."""
    first = run(command, by_cpu)
    return first if first.seconds > LONG_SECONDS else run(command, by_cpu)


def measure(capture, n_rounds, home, by_cpu):
    """Name -> Run of medians."""
    all_commands = commands(capture, home, by_cpu)
    run(all_commands["cat"], by_cpu)  # into the page cache
    runs = {name: [] for name in all_commands}
    for _ in range(n_rounds):
        for name, command in all_commands.items():
            runs[name].append(run_warm(command, by_cpu))
    without_start(runs)
    return {name: Run(*(statistics.median(getattr(one, field.name) for one in of)
                        for field in dataclasses.fields(Run)))
            for name, of in runs.items()}


# --- tables ----------------------------------------------------------------------------


def per_packet_ns(results, kind, name):
    """None if it was not measured."""
    capture, medians = results.get(kind, (None, {}))
    if name not in medians:
        return None
    return medians[name].seconds * 1e9 / n_read(capture, name)


def ratio(results, kind, name, to, to_kind=None):
    """How many times as long per packet; None if one of them was not measured."""
    a = per_packet_ns(results, kind, name)
    b = per_packet_ns(results, to_kind or kind, to)
    return None if a is None or b is None else a / b


def times(value):
    """Three digits, or those before the point."""
    if value is None:
        return ""
    return f"{value:.3g} ×" if value < 100 else f"{value:,.0f} ×"


HEAD = ["program", "time", "per packet", "packets/s", "of cat's time", "of capinfos'",
        "of libpcap's", "tshark takes", "peak memory"]


def rows_of(results, kind):
    capture, medians = results[kind]
    for name, median in medians.items():
        ns = per_packet_ns(results, kind, name)
        tshark = None if name == "tshark" else ratio(results, kind, "tshark", name)
        yield [name, f"{median.seconds:.3f} s" + (
                   f" for {n_read(capture, name):,}"
                   if n_read(capture, name) < capture.n_packets else ""),
               f"{ns:,.0f} ns", f"{1e3 / ns:.2f} M",
               *(times(ratio(results, kind, name, to))
                 for to in ("cat", "capinfos", "libpcap's loop")),
               times(tshark), f"{median.peak_bytes / 1e6:,.0f} MB"]


def title_of(results, kind):
    capture, _ = results[kind]
    return (f"`{kind}`: {KINDS[kind].about}; {capture.n_packets:,} packets, "
            f"{capture.path.stat().st_size / 1e6:,.0f} MB")


def print_table(head, rows):
    rows = [head, *rows]
    widths = [max(len(row[i]) for row in rows) for i in range(len(head))]
    for row in rows:
        print("  ".join([row[0].ljust(widths[0]),
                         *(cell.rjust(width) for cell, width in zip(row[1:], widths[1:]))]))


# --- aims ------------------------------------------------------------------------------


@dataclasses.dataclass(frozen=True)
class Aim:
    """That a program takes at most so many times as long per packet as another; `kind` is
    the capture, and `of_kind` that of the other if it is another one."""
    about: str
    most: float
    kind: str
    program: str
    of: str
    of_kind: str = ""

    def row(self, results):
        name, wanted = f"`{self.kind}`, {self.about}", f"≤ {share(self.most)}"
        of_kind = self.of_kind or self.kind
        value = ratio(results, self.kind, self.program, self.of, of_kind)
        if value is None:
            return [name, wanted, "not measured", "", ""]
        allowed = self.most * per_packet_ns(results, of_kind, self.of)
        return [name, wanted, share(value),
                f"{per_packet_ns(results, self.kind, self.program):,.0f} of {allowed:,.0f}",
                reached(value <= self.most)]


def share(value):
    """As times(), but small ones as a fraction."""
    return f"1/{1 / value:,.0f}" if value < 0.1 else times(value)


def reached(is_reached):
    return "reached" if is_reached else "not reached"


AIMS = (
    Aim("of cat's time", 4, "headers", "rocescope", "cat"),
    Aim("of capinfos' time", 0.3, "headers", "rocescope", "capinfos"),
    Aim("two threads, of cat's time", 2.5, "headers", "rocescope, 2 threads", "cat"),
    Aim("of stock tshark's time", 1 / 400, "headers", "rocescope", "tshark"),
    Aim("no ICRC, of cat's time", 1.6, "full", "rocescope, no ICRC", "cat"),
    Aim("no ICRC, of cat's time", 1.6, "jumbo", "rocescope, no ICRC", "cat"),
    Aim("of the time for `headers`", 2, "many", "rocescope", "rocescope", "headers"),
)
MOST_BYTES_OF_STREAM = 1024
AIM_HEAD = ["aim", "wanted", "measured", "ns per packet", ""]


def memory_row(results):
    """What each stream beyond the first thousand takes in memory."""
    name = "`many`, memory of each stream more than in `headers`"
    wanted = f"≤ {MOST_BYTES_OF_STREAM:,} bytes"
    # Before that, not every queue pair has sent.
    is_long = "many" in results and results["many"][0].n_packets >= 5 * KINDS["many"].n_qps
    if "headers" not in results or not is_long:
        return [name, wanted, "not measured", "", ""]
    few, many = (results[kind][1]["rocescope"].peak_bytes for kind in ("headers", "many"))
    n_bytes = (many - few) / (KINDS["many"].n_qps - KINDS["headers"].n_qps)
    return [name, wanted, f"{n_bytes:,.0f}", "", reached(n_bytes <= MOST_BYTES_OF_STREAM)]


def aim_rows(results):
    return [*(aim.row(results) for aim in AIMS), memory_row(results)]


# --- main ------------------------------------------------------------------------------


def machine():
    """What the figures were taken on."""
    text = pathlib.Path("/proc/cpuinfo").read_text()
    model = next((line.split(":", 1)[1].strip() for line in text.splitlines()
                  if line.startswith("model name")), platform.machine())
    release = platform.freedesktop_os_release().get("PRETTY_NAME", "Linux")
    return f"{model}, {os.cpu_count()} processors, {release}"


def remark(arguments):
    if arguments.packets >= KINDS["headers"].n_packets:
        return ""
    return ("These captures are shorter than those that the aims are about: what a stream "
            "costs once weighs more, most of all in `many`.")


def write_page(path, results, arguments):
    clock = "processor time" if arguments.cpu else "time"
    rounds = f"Medians of {arguments.rounds} rounds" if arguments.rounds > 1 else "One round"
    parts = [f"{rounds} on {machine()}; {clock}.\n"]
    for kind in results:
        parts += [title_of(results, kind) + "\n", page.table(HEAD, rows_of(results, kind))]
    page.put(path, "speed", "\n".join(parts))
    page.put(path, "aims",
             f"{page.table(AIM_HEAD, aim_rows(results))}\n{remark(arguments)}")


def arguments_of(argv):
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=5, metavar="N")
    parser.add_argument("--packets", type=int, default=KINDS["headers"].n_packets,
                        metavar="N")
    parser.add_argument("--only", action="append", choices=list(KINDS), metavar="KIND",
                        help=", ".join(KINDS))
    parser.add_argument("--cpu", action="store_true")
    parser.add_argument("--page", type=pathlib.Path, metavar="FILE")
    arguments = parser.parse_args(argv)
    if arguments.rounds < 1 or arguments.rounds % 2 == 0:
        parser.error("--rounds wants an odd number")
    return arguments


def main(argv):
    arguments = arguments_of(argv)
    results = {}
    with tempfile.TemporaryDirectory() as home:
        os.chmod(home, 0o777)
        for kind in arguments.only or KINDS:
            capture = make_capture(kind, arguments.packets)
            results[kind] = (capture, measure(capture, arguments.rounds, home,
                                              arguments.cpu))
            print(f"\n{title_of(results, kind)}")
            print_table(HEAD, rows_of(results, kind))
            sys.stdout.flush()
    print()
    print_table(AIM_HEAD, aim_rows(results))
    print(remark(arguments))
    if arguments.page:
        write_page(arguments.page, results, arguments)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
