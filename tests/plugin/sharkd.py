# SPDX-License-Identifier: GPL-2.0-or-later
"""Talks to sharkd, Wireshark's engine without its window."""

import json
import subprocess

from tshark import as_nobody


class Sharkd:
    """A running sharkd with the plugin of a Tshark, which dissects whatever frame one asks
    for."""

    def __init__(self, tshark):
        self.process = subprocess.Popen(as_nobody(["sharkd", "-"]), cwd=tshark.dir,
                                        env=tshark.environment(), text=True,
                                        stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                        stderr=subprocess.DEVNULL)
        self.n = 0

    def ask(self, method, **params):
        self.n += 1
        request = {"jsonrpc": "2.0", "id": self.n, "method": method, "params": params}
        self.process.stdin.write(json.dumps(request) + "\n")
        self.process.stdin.flush()
        for line in self.process.stdout:
            if line.startswith("{"):
                answer = json.loads(line)
                if "error" in answer:
                    raise RuntimeError(f"{method}: {answer['error']}")
                return answer["result"]
        raise RuntimeError(f"{method}: sharkd ended")

    def load(self, path):
        self.ask("load", file=str(path))

    def frames(self, display_filter):
        """The numbers of the frames of what is loaded that a display filter matches.  It
        remembers by its text what a filter matched, in captures before as well: each time
        the text is another one."""
        unique = f"({display_filter}) && frame.number < {10**9 + self.n}"
        return [frame["num"] for frame in self.ask("frames", filter=unique)]

    def tree(self, frame):
        """The lines of a frame's analysis."""
        lines = []

        def walk(nodes, inside):
            for node in nodes:
                within = inside or node.get("f") == "rocev2.analysis"
                if within:
                    lines.append(node["l"])
                walk(node.get("n", []), within)

        walk(self.ask("frame", frame=frame, proto=True)["tree"], False)
        return lines

    def close(self):
        self.process.stdin.close()
        self.process.wait()
        self.process.stdout.close()
