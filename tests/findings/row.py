# SPDX-License-Identifier: GPL-2.0-or-later
"""What a test of a finding is; see test_findings.py."""

import dataclasses
import typing

FIRES, NOT, CANNOT = "fires", "just does not", "cannot tell"
CASES = (FIRES, NOT, CANNOT)


@dataclasses.dataclass(frozen=True)
class Row:
    """One capture, and how bad the findings of one kind are in its report.

    `make` returns the files of one logical capture: bytes (a pcap or pcapng), {file name:
    bytes}, or a path below captures/; files of other names than *.pcap and *.pcapng lie beside
    them.  `worst` is the severity of the worst finding of that
    kind, None if there is none.  `also` looks at the report and at the findings of that
    kind, and yields what is wrong with them; `args` may name the directory of the files by
    "{dir}".
    """
    finding: str
    case: str
    why: str                     # it has to, or cannot
    make: typing.Callable[[], object]
    worst: str = None
    args: tuple = ()
    also: typing.Callable[[dict, list], typing.Iterable[str]] = None


def both(*looks):
    """All of these say so."""
    def look(report, found):
        for one in looks:
            yield from one(report, found)
    return look
