# SPDX-License-Identifier: GPL-2.0-or-later
"""Rows of hostile input: what each is made by, and what is true of its report.

    @ROWS.of("what it is", most_mib=64)
    def its_name(...):
        makes it

    @its_name.truth
    def _(report, ...):
        asserts
"""

import dataclasses
import pathlib
import sys
import typing

from bounded import MIB, scratch


@dataclasses.dataclass(frozen=True)
class Row:
    name: str
    what: str
    make: typing.Callable
    truth: typing.Callable
    most_mib: int
    n: int = 0                   # frames that a row of traffic has
    status: int = 0              # that analyze ends with


class Rows(list):
    def of(self, what, **bounds):
        """Registers what makes the input; its truth is registered behind it."""
        def register(make):
            def truth_of(truth):
                self.append(Row(make.__name__, what, make, truth, **bounds))
                return truth
            make.truth = truth_of
            return make
        return register

    def main(self, check, well):
        """Checks the rows that the command line names, or all; says how each was, and
        `well` if nothing was wrong.  The program's exit status."""
        failures = 0
        for row in self:
            if sys.argv[1:] and row.name not in sys.argv[1:]:
                continue
            with scratch() as folder:
                try:
                    done = check(row, pathlib.Path(folder))
                    print(f"{row.name}: {done.seconds:.2f} s, {done.peak_bytes // MIB} MiB of "
                          f"{row.most_mib}")
                except (AssertionError, ValueError, TypeError, LookupError, OSError) as problem:
                    failures += 1
                    print(f"{row.name}: FAILED: {type(problem).__name__}: {problem}")
        print(f"{failures} rows failed" if failures else well)
        return 1 if failures else 0
