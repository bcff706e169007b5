# SPDX-License-Identifier: GPL-2.0-or-later
"""Sample captures in memory, and files of them in the format that they came in."""

import dataclasses
import os
import pathlib
import sys

SOURCE = pathlib.Path(os.environ.get("ROCESCOPE_SOURCE",
                                     pathlib.Path(__file__).resolve().parents[2]))
sys.path[:0] = [str(SOURCE / "tests" / folder) for folder in ("sim", "extract", "hostile")]

import records  # noqa: E402
import roce  # noqa: E402


@dataclasses.dataclass(frozen=True)
class Packet:
    time_ns: int
    frame: bytes
    wire_bytes: int              # at least those of the frame
    interface: int = 0

    def but(self, **fields):
        return dataclasses.replace(self, **fields)


@dataclasses.dataclass(frozen=True)
class Sample:
    """One capture of the tree."""
    name: str                    # of its directory and its point
    interfaces: tuple            # none: a classic file
    snap_length: int
    packets: tuple

    def but(self, packets):
        return dataclasses.replace(self, packets=tuple(packets))

    def each(self, change):
        """With every frame changed; what the wire had is longer by as much."""
        out = []
        for p in self.packets:
            frame = change(p.frame)
            out.append(p.but(frame=frame, wire_bytes=p.wire_bytes + len(frame) - len(p.frame)))
        return self.but(out)

    def name_of(self, packet):
        """Of its interface; None in a classic file."""
        return self.interfaces[packet.interface].name if self.interfaces else None

    @property
    def file_name(self):
        return "x.pcapng" if self.interfaces else "x.pcap"

    def bytes(self, packets=None):
        """A file of these packets, else of all."""
        packets = self.packets if packets is None else packets
        if not self.interfaces:
            out = roce.Pcap(snap_length=self.snap_length)
            for p in packets:
                out.add(p.time_ns, p.frame, p.wire_bytes)
        else:
            out = roce.Pcapng(self.interfaces)
            for p in packets:
                out.add(p.time_ns, p.frame, p.wire_bytes, interface=p.interface)
        return out.bytes()


def sample(path):
    capture = records.read(path)
    interfaces = ()
    if path.name.endswith(".pcapng.gz"):
        interfaces = tuple(roce.Interface(
            i.link_type, i.snap_length, i.name, i.speed_bps or 0) for i in capture.interfaces)
    return Sample(f"{path.parent.name}/{path.name.split('.')[0]}", interfaces,
                  capture.interfaces[0].snap_length, tuple(
                      Packet(r.time_ns, r.data, r.wire_bytes, r.interface)
                      for r in capture.records))


def samples():
    """Paths of all captures of the tree."""
    return sorted((SOURCE / "captures").glob("*/*.pcap*.gz"))
