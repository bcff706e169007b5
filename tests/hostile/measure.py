# SPDX-License-Identifier: GPL-2.0-or-later
"""measure.py FILE COMMAND...: runs the command, and writes its exit status, its largest
resident set in bytes and its processor time in seconds to FILE.

A process of its own, and a small one: what the kernel counts as the largest resident set
of a child begins with that of the process it was forked from.
"""

import os
import sys

pid = os.posix_spawn(sys.argv[2], sys.argv[2:], os.environ)
_, status, usage = os.wait4(pid, 0)
with open(sys.argv[1], "w", encoding="ascii") as file:
    file.write(f"{os.waitstatus_to_exitcode(status)} {usage.ru_maxrss * 1024} "
               f"{usage.ru_utime + usage.ru_stime}")
