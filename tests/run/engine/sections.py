#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""A run is read in sections: the same bytes by any number of processes, and the same causes as if it were one section. One that
dies is told once, and the others do its part.

    sections.py BUILD_DIR COUNTED     a program that was built to count
"""
import json
import os
import pathlib
import signal
import subprocess
import sys
import tempfile
import time

sys.dont_write_bytecode = True
from processes import DATA, ENV, check, faults, generate, is_there, until  # beside this file

NUMBERS = (2, 3, 7)


def environment(n, events):
    return dict(ENV, WHYWAIT_QUIET="1", WHYWAIT_PROCESSES=str(n), WHYWAIT_SECTION_EVENTS=str(events))


def printed(n, events, words):
    done = subprocess.run(list(map(str, words)), env=environment(n, events), capture_output=True, timeout=300)
    return done.returncode, done.stdout, done.stderr


def same_by_all(tool, events, words):
    alone = printed(1, events, [tool, *words])
    check(alone[1], f"{' '.join(map(str, words))}: nothing is printed: {alone[2]}")
    for n in NUMBERS:
        check(printed(n, events, [tool, *words]) == alone, f"{' '.join(map(str, words))}: {n} processes say something else than one")


def report_of(tool, events, anchor):
    return json.loads(printed(2, events, [tool, "report", "--format", "json", anchor])[1])


def same_as_one(tool, events, anchor, least):
    """Causes, ranks and kinds are those of one section, and waiting differs by a thousandth at most. Returns the number of sections."""
    one, many = report_of(tool, 10**12, anchor), report_of(tool, events, anchor)
    check(one["sections"] == 1 and many["sections"] >= least, f"{anchor}: {many['sections']} sections, at least {least} expected")
    for key in ("events", "mpi_calls", "ranks"):
        check(one[key] == many[key], f"{anchor}: {key}: {many[key]} in sections, {one[key]} in one")
    said = [[(cause["name"], cause["kind"], cause["by_rank"][0]["rank"]) for cause in report["causes"] if cause["waiting_ns"] > 0.1 * one["waiting_ns"]]
            for report in (one, many)]
    check(said[0] == said[1], f"{anchor}: causes in one section {said[0]}, in many {said[1]}")
    check(abs(one["waiting_ns"] - many["waiting_ns"]) <= 0.001 * one["waiting_ns"], f"{anchor}: waiting {one['waiting_ns']}, in sections {many['waiting_ns']}")


def time_of(tool, events, anchor):
    """By row and what was done there: time in us."""
    sums = {}
    for event in json.loads(printed(2, events, [tool, "export", "--format", "chrome", anchor])[1])["traceEvents"]:
        for part in event.get("args", {}).get("parts", []) if event["ph"] == "B" else []:
            doing = event["pid"], event["tid"], part["state"], part["what"]
            sums[doing] = sums.get(doing, 0) + part["us"]
    return sums


def same_time_as_one(tool, events, anchor):
    """The timeline says of all time what it says of one section."""
    one, many = time_of(tool, 10**12, anchor), time_of(tool, events, anchor)
    most_off = 0.001 * sum(one.values())
    for doing in one.keys() | many.keys():
        us, in_sections_us = one.get(doing, 0), many.get(doing, 0)
        check(abs(us - in_sections_us) <= most_off, f"{anchor}: timeline: {doing}: {us:.0f} us, in sections {in_sections_us:.0f}")


def record(tool, into, options, program):
    subprocess.run(["mpirun", "-n", "4", tool, "record", "--dir", into, *options, program], env=dict(ENV, WHYWAIT_QUIET="1"), check=True, stdout=subprocess.DEVNULL)
    run, = into.glob("*.whywait")
    return run


def damage(anchor):
    """Locations end early, at several times, and one has no file."""
    files = sorted((anchor.parent / "traces").glob("*.evt"), key=lambda path: int(path.stem))
    for file, share in ((files[1], 0.7), (files[4], 0.3), (files[5], 0.31)):
        os.truncate(file, int(share * file.stat().st_size))
    files[3].unlink()


def children(pid):
    try:
        return [int(word) for word in pathlib.Path(f"/proc/{pid}/task/{pid}/children").read_text().split()]
    except OSError:
        return []


def begin(tool, anchor, n):
    """A report that goes on, and its other processes."""
    report = subprocess.Popen([tool, "report", anchor], env=environment(n, 100000), stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    found = []
    while report.poll() is None and len(found) < n - 1:
        found = children(report.pid)
    return report, found


def one_dies(tool, long, alone, after_s):
    report, others = begin(tool, long, 4)
    check(len(others) == 3, "three processes read beside the first")
    time.sleep(after_s)
    os.kill(others[1], signal.SIGKILL)
    out, err = report.communicate(timeout=120)
    check((report.returncode, out) == (0, alone), f"a process was killed: status {report.returncode}, {len(out)} characters printed")
    check(len(err.splitlines()) <= 1 and (not err or b"killed" in err), f"a process was killed: {err}")


def all_die(tool, long):
    report, others = begin(tool, long, 4)
    report.kill()
    report.communicate()
    check(until(lambda: not any(map(is_there, others)), 60), "processes are left when the report was killed")


def main():
    build, counted = pathlib.Path(sys.argv[1]).resolve(), sys.argv[2]
    tool = build / "bin/whywait"
    with tempfile.TemporaryDirectory() as directory:
        made = pathlib.Path(directory)
        ours = generate(build, "reduction", made / "ours", 9, 60000, "ours")
        foreign = generate(build, "reduction", made / "foreign", 7, 30000, "foreign")
        apart = generate(build, "stencil", made / "apart", 9, 60000, "ours")
        run = record(tool, made, [], counted)
        for anchor in (ours, foreign):
            same_as_one(tool, 2000, anchor, 8)
        same_as_one(tool, 50, run, 4)
        same_time_as_one(tool, 50, run)
        same_time_as_one(tool, 2000, ours)
        for events, anchor in ((2000, ours), (2000, foreign), (2000, apart), (50, run), (5, DATA / "scorep-phases/traces.otf2")):
            same_by_all(tool, events, ["report", "--format", "json", "--all", anchor])
        same_by_all(tool, 50, ["report", "--from", "0.01", "--until", "0.2", run])
        same_by_all(tool, 50, ["report", "--routines", run])
        same_by_all(tool, 50, ["html", "-o", "-", run])
        same_by_all(tool, 2000, ["html", "-o", "-", ours])
        same_by_all(tool, 50, ["diff", run, "vs", run])
        same_by_all(tool, 50, ["export", "--format", "chrome", run])
        same_by_all(tool, 50, ["export", "--format", "lcov", run])
        for options in (["--last", "512k"], ["--window", "100ms", "--every", "300ms"]):
            part = record(tool, made / options[0], options, build / "tests/run/known/newest")
            check("record %s" % options[0] in printed(1, 100, [tool, "report", part])[1].decode(), f"{options[0]}: the report tells which part it is of")
            same_by_all(tool, 100, ["report", "--format", "json", "--all", part])
        for anchor in (ours, foreign):
            damage(anchor)
            same_by_all(tool, 2000, ["report", "--format", "json", "--all", anchor])
        long = generate(build, "reduction", made / "long", 8, 4000000, "ours")
        alone = printed(1, 100000, [tool, "report", long])[1]
        for after_s in (0, 0.05, 0.15, 0.3):
            one_dies(tool, long, alone, after_s)
        all_die(tool, long)
    return bool(faults)


sys.exit(main())
