#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""contrib/slurm on a real Slurm of one machine: what it leaves is what one batch leaves, also
when tasks are killed, requeued or fail; and the same by GNU parallel."""

import json
import os
import pathlib
import re
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "batch"))
from batching import BINARY, Rows, SOURCE, differences, small  # noqa: E402

PATH = os.environ["PATH"] + ":/usr/sbin:/sbin"
NEEDED = ("munged", "slurmctld", "slurmd", "sbatch", "scontrol", "squeue")
SUBMIT = SOURCE / "contrib/slurm/rocescope-slurm"
PATIENCE_S = 240

rows = Rows()
check = rows.check


def skip(why):
    print(f"skipped: Slurm: {why}")
    sys.exit(77)


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


class Slurm:
    """A controller and two nodes, all of them here, and nothing outside a directory."""

    def __init__(self, work):
        self.work = work
        self.daemons = []
        self.env = os.environ | {"PATH": PATH, "SLURM_CONF": str(work / "slurm.conf"),
                                 "ROCESCOPE": BINARY}
        user = subprocess.run(["id", "-un"], capture_output=True, text=True,
                              check=True).stdout.strip()
        host = socket.gethostname().split(".")[0]
        for name in ("state", "spool", "run"):
            (work / name).mkdir()
        (work / "munge.key").write_bytes(os.urandom(1024))
        (work / "munge.key").chmod(0o600)
        nodes = [free_port(), free_port()]
        (work / "slurm.conf").write_text(f"""
ClusterName=test
SlurmctldHost={host}(127.0.0.1)
SlurmUser={user}
SlurmdUser={user}
AuthType=auth/munge
AuthInfo=socket={work}/run/munge.socket
CryptoType=crypto/munge
SlurmctldPort={free_port()}
SlurmctldPidFile={work}/run/slurmctld.pid
SlurmdPidFile={work}/run/slurmd.%n.pid
StateSaveLocation={work}/state
SlurmdSpoolDir={work}/spool/%n
SlurmctldLogFile={work}/slurmctld.log
SlurmdLogFile={work}/slurmd.%n.log
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
SelectType=select/cons_tres
SelectTypeParameters=CR_CPU
SchedulerParameters=sched_interval=1,batch_sched_delay=0,requeue_delay=0
ReturnToService=2
KillWait=5
MinJobAge=300
JobRequeue=1
SwitchType=switch/none
MpiDefault=none
AccountingStorageType=accounting_storage/none
JobCompType=jobcomp/none
JobAcctGatherType=jobacct_gather/none
NodeName=n1 NodeHostname={host} NodeAddr=127.0.0.1 Port={nodes[0]} CPUs=2 State=UNKNOWN
NodeName=n2 NodeHostname={host} NodeAddr=127.0.0.1 Port={nodes[1]} CPUs=2 State=UNKNOWN
PartitionName=all Nodes=n1,n2 Default=YES MaxTime=INFINITE State=UP
""")

    def start(self):
        w = self.work
        self.daemon("munged", "--foreground", "--force", f"--key-file={w}/munge.key",
                    f"--socket={w}/run/munge.socket", f"--pid-file={w}/run/munge.pid",
                    f"--log-file={w}/munge.log", f"--seed-file={w}/munge.seed")
        self.until(lambda: (w / "run/munge.socket").exists(), "munge")
        self.daemon("slurmctld", "-D", "-c")
        for node in ("n1", "n2"):
            self.daemon("slurmd", "-D", "-N", node)
        self.until(lambda: self.run("sinfo", "-h", "-o", "%T").split() == ["idle"], "nodes")

    def daemon(self, *command):
        with open(self.work / f"{command[0]}.out", "ab") as out:
            self.daemons.append(subprocess.Popen(command, env=self.env, stdout=out,
                                                 stderr=out, start_new_session=True))

    def until(self, done, what):
        for _ in range(PATIENCE_S * 5):
            if done():
                return
            time.sleep(0.2)
        for log in sorted(self.work.glob("*.log")) + sorted(self.work.glob("*.out")):
            print(f"--- {log.name}\n{log.read_text(errors='replace')[-2000:]}")
        raise TimeoutError(what)

    def run(self, *command, want=0):
        done = subprocess.run(command, env=self.env, cwd=self.work, capture_output=True,
                              text=True, timeout=60)
        if want is not None and done.returncode != want and command[0] != "sinfo":
            print(f"{command}: {done.returncode} {done.stderr}")
        return done.stdout

    def submit(self, *arguments):
        out = self.run(SUBMIT, *arguments)
        return re.findall(r"job (\d+)", out)

    def states(self, job):
        return dict(line.split() for line in self.run(
            "squeue", "-h", "-r", "-j", job, "-t", "all", "-o", "%K %T").splitlines())

    def await_end(self, job):
        self.until(lambda: not self.run("squeue", "-h", "-j", job, want=None), f"job {job}")

    def stop(self):
        for daemon in reversed(self.daemons):
            daemon.send_signal(signal.SIGTERM)
        for daemon in reversed(self.daemons):
            try:
                daemon.wait(20)
            except subprocess.TimeoutExpired:
                daemon.kill()


def account(out):
    return {p.name: [line.split("\t") for line in p.read_text().splitlines()]
            for p in (out.parent / (out.name + ".shares") / "account").iterdir()}


def plain(slurm, one):
    """Shares on two nodes, and the merge behind them."""
    out = slurm.work / "plain"
    _, merge = slurm.submit("-n", "3", "-o", str(out), "--", "caps")
    slurm.await_end(merge)
    check("plain: what one machine makes", differences(one, out), [])
    check("plain: each share once", {k: [a[-1] for a in v] for k, v in account(out).items()},
          {"1": ["done"], "2": ["done"], "3": ["done"]})
    log = (slurm.work / "plain.shares/log/merge.log").read_text()
    check("plain: the merge tells of all", log.count("\tdone\n"), 3)
    check("plain: and where the index is", f"{out}/index.html" in log)


def slow_program(slurm):
    """A program that waits before it works, so that there is time to disturb it."""
    program = slurm.work / "slow"
    program.write_text("#!/bin/bash\n"
                       "case $1 in batch) [ -e go ] || sleep 4 & wait $!;; esac\n"
                       f"exec {BINARY} \"$@\"\n")
    program.chmod(0o755)
    slurm.env["ROCESCOPE"] = str(program)


def requeued(slurm, one):
    """A task that Slurm takes back while it runs, and one whose program is killed."""
    out = slurm.work / "requeued"
    slow_program(slurm)
    array, merge = slurm.submit("-n", "3", "-o", str(out), "--", "caps")
    slurm.until(lambda: slurm.states(array).get("2") == "RUNNING", "task 2 to run")
    slurm.run("scontrol", "requeue", f"{array}_2")

    def killed():
        found = subprocess.run(["pkill", "-KILL", "-f", f"{slurm.work}/slow batch .*=3/3"],
                               check=False)
        return found.returncode == 0
    slurm.until(killed, "share 3 to run")
    slurm.await_end(merge)
    check("requeued: what one machine makes", differences(one, out), [])
    tries = account(out)
    check("requeued: share 2 came to its end", tries["2"][-1][-1], "done")
    check("requeued: share 2 ran again", int(tries["2"][-1][0]) > 1)
    check("requeued: share 3 failed first", [t[-1] for t in tries["3"]], ["failed", "done"])
    slurm.env["ROCESCOPE"] = BINARY


def submit_failing(slurm):
    """A share that fails each time; Slurm waits before it runs one again, so that there is
    time for something else."""
    program = slurm.work / "failing-program"
    program.write_text("#!/bin/bash\n"
                       "case \" $* \" in *--shard=2/2*) exit 139;; esac\n"
                       f"exec {BINARY} \"$@\"\n")
    program.chmod(0o755)
    slurm.env["ROCESCOPE"] = str(program)
    _, merge = slurm.submit("-n", "2", "-o", str(slurm.work / "failing"), "--", "caps")
    slurm.env["ROCESCOPE"] = BINARY
    return merge


def failing(slurm, merge):
    """It is given up after three attempts, and is told of."""
    out = slurm.work / "failing"
    slurm.await_end(merge)
    log = (slurm.work / "failing.shares/log/merge.log").read_text()
    check("failing: three attempts", [t[3:] for t in account(out)["2"]],
          [["139", "failed"]] * 3)
    check("failing: the merge names it", "share 2 of 2 is missing" in log)
    summary = json.loads((out / "summary.json").read_text())
    check("failing: the rest is merged", (summary["complete"], bool(summary["captures"])),
          (False, True))


def by_parallel(slurm, one):
    """What docs/batch.md says of GNU parallel, with two jobs here in place of hosts."""
    if shutil.which("parallel", path=PATH) is None:
        print("skipped: GNU parallel is not installed")
        return
    subprocess.run(["parallel", "--will-cite", "-j2", BINARY, "batch", "--quiet", "--shard",
                    "{}/4", "caps", "-o", "parts/{}", ":::", "1", "2", "3", "4"],
                   cwd=slurm.work, check=False, env=slurm.env, stdin=subprocess.DEVNULL)
    subprocess.run([BINARY, "merge", "--quiet", *(f"parts/{i}" for i in range(1, 5)), "-o",
                    "parallel"], cwd=slurm.work, check=False)
    check("parallel: what one machine makes", differences(one, slurm.work / "parallel"), [])


def usage(slurm):
    for arguments in (["-o", "x", "--", "caps"], ["-n", "0", "-o", "x", "caps"],
                      ["-n", "2", "caps"], ["-n", "2", "-o", "x"],
                      ["-n", "4", "-o", "plain", "caps"]):
        done = subprocess.run([SUBMIT, *arguments], env=slurm.env, cwd=slurm.work,
                              capture_output=True, text=True, timeout=60)
        check(f"usage: {arguments}", (done.returncode, bool(done.stderr)), (2, True))


def other_clusters(slurm):
    """Where there are several, sbatch names the cluster behind the job's number; where
    arrays may be larger, rocescope has a limit of its own."""
    fake = slurm.work / "fake"
    fake.mkdir()
    (fake / "sbatch").write_text('#!/bin/bash\necho "$@" >>calls\necho "7;far"\n')
    (fake / "sbatch").chmod(0o755)

    def submit(shares, out):
        return subprocess.run([SUBMIT, "-n", shares, "-o", out, "caps"], cwd=slurm.work,
                              env=slurm.env | {"PATH": f"{fake}:{PATH}"},
                              capture_output=True, text=True, timeout=60)
    check("clusters: told", re.findall(r"job (\S+),", submit("2", "clusters").stdout),
          ["7", "7"])
    check("clusters: the merge waits", "--dependency=afterany:7 " in
          (slurm.work / "calls").read_text())
    check("shares: as many as there may be", submit("4096", "many").returncode, 0)
    check("shares: one more", submit("4097", "more").returncode, 2)


def main():
    missing = [name for name in NEEDED if shutil.which(name, path=PATH) is None]
    if missing:
        skip(f"not installed: {', '.join(missing)}")
    if not hasattr(os, "getuid") or os.getuid() != 0:
        skip("slurmd wants root")
    with tempfile.TemporaryDirectory(prefix="rocescope-slurm-") as name:
        work = pathlib.Path(name)
        (work / "caps").mkdir()
        for i in range(12):
            (work / f"caps/c{i}x.pcap").write_bytes(small(100 + 50 * i, shift=1000 * i))
        (work / "caps/cut.pcap").write_bytes(small(50)[:-7])
        slurm = Slurm(work)
        try:
            slurm.start()
            subprocess.run([BINARY, "batch", "--quiet", "caps", "-o", "one"], cwd=work,
                           check=False, capture_output=True)
            plain(slurm, work / "one")
            merge_of_failing = submit_failing(slurm)
            requeued(slurm, work / "one")
            failing(slurm, merge_of_failing)
            by_parallel(slurm, work / "one")
            usage(slurm)
            other_clusters(slurm)
        finally:
            slurm.stop()
    rows.finish()


main()
