# SPDX-License-Identifier: GPL-2.0-or-later
"""What the tests of faults share: captures, runs of the program in a world that fails it,
and what holds however that ends."""

import gzip
import os
import pathlib
import resource
import subprocess
import sys
import tempfile

SOURCE = pathlib.Path(os.environ.get("ROCESCOPE_SOURCE",
                                     pathlib.Path(__file__).resolve().parents[2]))
BINARY = os.environ.get("ROCESCOPE", str(SOURCE / "build/dev/bin/rocescope"))
sys.path[:0] = [str(SOURCE / "tests" / folder) for folder in ("batch", "hostile")]

from bounded import SANITIZED, check_plain, equal # noqa: E402

LOSSY = SOURCE / "captures/03a_loss_data_0.5pct/receiver.pcap.gz"
AT_SENDER = SOURCE / "captures/03a_loss_data_0.5pct/sender.pcap.gz"
PAUSED = SOURCE / "captures/sim_incast_pfc/switch.pcapng.gz"
USAGE, TROUBLE = 2, 3            # exit statuses
# gcov writes files at the end of the program, which no limit may keep it from.
COVERED = b"__gcov_" in pathlib.Path(BINARY).read_bytes()


def folder():
    return tempfile.TemporaryDirectory(prefix="rocescope-faults-")


def unpacked(path, where):
    """The capture as a file that is not compressed."""
    out = where / path.name.removesuffix(".gz")
    out.write_bytes(gzip.decompress(path.read_bytes()))
    return out


class Run:
    """One call of the program that has ended by itself."""

    def __init__(self, *arguments, most_file_bytes=None, env=None, **how):
        if COVERED and most_file_bytes is not None:
            raise Skip("gcov writes files as well")

        def limit():
            if most_file_bytes is not None:
                resource.setrlimit(resource.RLIMIT_FSIZE, (most_file_bytes,) * 2)
        how.setdefault("stdout", subprocess.PIPE)
        self.arguments = " ".join(map(str, arguments))
        done = subprocess.run(
            [BINARY, *map(str, arguments)], stdin=subprocess.DEVNULL, stderr=subprocess.PIPE,
            timeout=600, preexec_fn=limit, env={**os.environ, **(env or {})}, **how)
        self.status, self.out = done.returncode, done.stdout
        self.errors = done.stderr.decode("utf-8").splitlines()
        check_plain(f"standard error of {self.arguments}", done.stderr)
        assert self.status in (0, 1, USAGE, TROUBLE), f"{self.arguments}: {self.status}"

    def check_trouble(self, *words):
        """It ended with status 3 and one line that has these words, and says why."""
        equal(f"status of {self.arguments}", self.status, TROUBLE)
        equal(f"lines of {self.arguments}: {self.errors}", len(self.errors), 1)
        line = self.errors[0]
        assert all(str(word) in line for word in words), f"{self.arguments}: {line}"
        assert "Success" not in line, f"{self.arguments}: {line}"


def files_below(where):
    return sorted(str(p.relative_to(where)) for p in pathlib.Path(where).rglob("*")
                  if not p.is_dir())


class Rows(list):
    """Tests, each called with a directory of its own; raise Skip where one cannot be."""

    def of(self, test):
        self.append(test)
        return test

    def main(self, well):
        failures = 0
        for test in self:
            if sys.argv[1:] and test.__name__ not in sys.argv[1:]:
                continue
            with folder() as directory:
                try:
                    test(pathlib.Path(directory))
                except Skip as reason:
                    print(f"{test.__name__}: skipped: {reason}")
                except (AssertionError, ValueError, LookupError, TypeError, OSError,
                        subprocess.SubprocessError) as problem:
                    failures += 1
                    print(f"{test.__name__}: FAILED: {type(problem).__name__}: {problem}")
        print(f"{failures} of {len(self)} rows failed" if failures else well)
        return 1 if failures else 0


class Skip(Exception):
    pass
