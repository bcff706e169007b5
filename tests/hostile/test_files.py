#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Files that want to break the program: each row of rows_files.py is analyzed, compared,
extracted and run through a batch, within its bounds, and the report says what was read."""

import shutil
import sys

from bounded import MIB, Run, analyzed, equal
import rows_files


def check(row, folder):
    path = folder / "x.cap"
    path.write_bytes(row.make())
    most_bytes = row.most_mib * MIB
    done, report = analyzed(folder, path, most_bytes=most_bytes)
    equal("status", done.status, row.status)
    equal("lines on standard error", len(done.errors.splitlines()), int(row.status == 3))
    row.truth(report)
    if row.what:                 # the small variations are but read
        other = folder / "y.cap"
        shutil.copy(path, other)
        Run("compare", path, other, most_bytes=2 * most_bytes)
        Run("extract", path, "--stream", "0", "-w", folder / "o.pcapng", most_bytes=most_bytes)
        Run("batch", path, "-o", folder / "batch", most_bytes=most_bytes)
    return done


sys.exit(rows_files.ROWS.main(check, "hostile files are reported honestly"))
