#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""One recorded run, then rank 1's records as another clock would have shown them: ahead, drifting, set in mid-run. Its
offset is measured at the start and at the end only, as in a real run. Waiting must be the same as without, within 5 %, since
when a clock was set is known only to the gap between two messages, which is long where a rank has no CPU; shares of blame,
of which that waiting is a part, within 3 %.

    shifted.py BUILD_DIR
"""
import json
import os
import pathlib
import shutil
import struct
import subprocess
import sys
import tempfile

ENV = dict(os.environ, OMPI_ALLOW_RUN_AS_ROOT="1", OMPI_ALLOW_RUN_AS_ROOT_CONFIRM="1", OMPI_MCA_rmaps_base_oversubscribe="1",
           OMPI_MCA_btl_vader_single_copy_mechanism="none", WHYWAIT_QUIET="1", WHYWAIT_CONVERT="0")
HEADER, UNIT = 4096, 32
CALL, SAMPLE, SWITCH, CLOCK, CONTROL = 1, 9, 10, 11, 14
START_NS, END_NS = 40, 72  # in the header
TIMES = {CALL: (8, 16), SAMPLE: (8,), SWITCH: (8,), CONTROL: (8,)}  # where the times stand in a record


def records(data):
    at = HEADER
    while at + UNIT <= len(data):
        kind, units = struct.unpack_from("<HH", data, at)
        if not kind:
            return
        yield at, kind, units
        at += units * UNIT


def shift(path, clock, measured):
    """Rewrites a spool file by clock(ns); `measured`: true times at which the offset was taken."""
    data = bytearray(path.read_bytes())
    end = HEADER
    for at, kind, units in records(data):
        for offset in TIMES.get(kind, ()):
            ns, = struct.unpack_from("<Q", data, at + offset)
            if ns:
                struct.pack_into("<Q", data, at + offset, clock(ns))
        end = at + units * UNIT
    for offset in START_NS, END_NS:
        ns, = struct.unpack_from("<Q", data, offset)
        if ns:
            struct.pack_into("<Q", data, offset, clock(ns))
    del data[end:]
    for ns in measured:
        data += struct.pack("<HHIQQQ", CLOCK, 1, 500, clock(ns), ns, 0)
    path.write_bytes(data)


def span(run):
    """First and last time of rank 1."""
    data = (run / "spool/1-0.ev").read_bytes()
    calls = [struct.unpack_from("<QQ", data, at + 8) for at, kind, _ in records(data) if kind == CALL]
    return calls[0][0], max(leave for _, leave in calls)


def report(build, run):
    subprocess.run([build / "bin/whywait", "salvage", run], check=True)
    done = subprocess.run([build / "bin/whywait", "report", "--format", "json", run], check=True, stdout=subprocess.PIPE)
    return json.loads(done.stdout)


def shares(report):
    """(file, line, rank) -> share of the run's waiting."""
    found = {}
    for cause in report["causes"]:
        for rank in cause["by_rank"]:
            if rank["late"]:
                key = cause["file"], cause["line_first"], cause["line_last"], rank["rank"]
                found[key] = found.get(key, 0) + rank["blame_ns"] / max(1, report["waiting_ns"])
    return found


def compare(name, same, other):
    expected, found = shares(same), shares(other)
    worst = max(abs(expected.get(key, 0) - found.get(key, 0)) for key in expected.keys() | found.keys())
    waiting = other["waiting_ns"] / same["waiting_ns"]
    print(f"{name}: shares differ by {100 * worst:.2f} %, waiting {100 * (waiting - 1):+.2f} %, notes {other['notes']}")
    return worst < 0.03 and abs(waiting - 1) < 0.05


def main():
    build = pathlib.Path(sys.argv[1]).resolve()
    with tempfile.TemporaryDirectory(prefix="whywait-shifted-") as directory:
        directory = pathlib.Path(directory)
        command = [shutil.which("mpirun.openmpi") or "mpirun", "-n", "2", build / "bin/whywait", "record", build / "bin/clocks_skewed"]
        subprocess.run(command, cwd=directory, env=ENV, check=True, stdout=subprocess.DEVNULL)
        run, = directory.glob("*.whywait")
        first, last = span(run)

        def at(share):
            return first + int(share * (last - first))

        def clock(offset=0, drift=0, *jumps):
            return lambda ns: ns + offset + (ns - first) * drift // 1000000 + sum(size for when, size in jumps if ns >= at(when))

        clocks = {"ahead": clock(5 * 10**9), "drifting": clock(0, 80), "set ahead": clock(10**6, 0, (0.43, 7 * 10**9)),
                  # A clock that goes back by more than lies between two records cannot be written down.
                  "set back": clock(60 * 10**6, 0, (0.57, -2 * 10**6)), "set by little": clock(0, 0, (0.3, 300000)),
                  "drifting and set twice": clock(10**6, -60, (0.31, 5 * 10**6), (0.72, -3 * 10**6))}
        runs = {name: shutil.copytree(run, directory / f"{i}.whywait") for i, name in enumerate(clocks)}
        same, bad = report(build, run), 0
        for name, shown in clocks.items():
            for path in runs[name].glob("spool/1-*"):
                shift(path, shown, (first, last) if path.name == "1-0.ev" else ())
            bad += not compare(name, same, report(build, runs[name]))
    sys.exit(bad > 0)


main()
