#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""windows.py TOOL MPICC MPIRUN [MPIFORT]

A run that is recorded in windows (record --window): its causes, what it says of itself, and what is left of it when it is
killed, has no call at which a window could end, no room, or several threads. Counts and places are checked, never times.
"""
import glob
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile

tool, mpicc, mpirun = sys.argv[1:4]
mpifort = sys.argv[4] if len(sys.argv) > 4 else None
here = os.path.dirname(os.path.abspath(__file__))
os.environ.update(OMPI_ALLOW_RUN_AS_ROOT="1", OMPI_ALLOW_RUN_AS_ROOT_CONFIRM="1", OMPI_MCA_rmaps_base_oversubscribe="1",
                  OMPI_MCA_btl_vader_single_copy_mechanism="none", OMPI_MCA_mpi_yield_when_idle="1")
faults = []
FORTRAN = {"fortran": [], "fortran08": ["-DF08"]}
DISK_MB = 24  # 3 MB for each file of a ring, and some


def that(holds, *message):
    if not holds:
        faults.append(" ".join(str(part) for part in message))


def record(folder, options, what, turns):
    """Its status, and what it said. In Fortran there is one program of turns."""
    program = [os.path.join(scratch, what), str(turns)] if what in FORTRAN else [os.path.join(scratch, "windows"), what, str(turns)]
    command = [mpirun, "-n", "3", tool, "record", "--dir", folder] + options + program
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=300)
    return done.returncode, done.stdout


def report(what, turns, options, ends_well=True):
    """The report of a run, which must add up; what the run said; and the folder of the run."""
    folder = tempfile.mkdtemp(dir=scratch)
    status, said = record(folder, options, what, turns)
    that((status == 0) == ends_well, what, options, "ended with", status, said)
    runs = glob.glob(folder + "/*.whywait")
    if len(runs) != 1:
        sys.exit("%s %s: no run: %s" % (what, options, said))
    done = subprocess.run([tool, "report", "--format", "json", runs[0]], stdout=subprocess.PIPE, text=True)
    found = json.loads(done.stdout)
    blamed = sum(cause["waiting_ns"] for cause in found["causes"]) + found["machine"]["waiting_ns"]
    that(blamed == found["waiting_ns"], what, "blamed", blamed, "of", found["waiting_ns"])
    times = found["efficiency"]
    parts = sum(times[part + "_ns"] for part in ("compute", "waiting", "transfer", "mpi", "descheduled", "blocked", "unrecorded", "ended"))
    that(abs(parts - times["all_ns"]) <= 10, what, "the parts of all time are", parts, "of", times["all_ns"])
    return found, said, folder


def check_trend(folder, n_windows):
    """Each window is compared as if it were a run: the first half's cause is in the first and not in the last, and so on."""
    run, = glob.glob(folder + "/*.whywait")
    done = subprocess.run([tool, "trend", "--format", "json", run], stdout=subprocess.PIPE, text=True)
    if done.returncode:
        return that(False, "trend ended with", done.returncode)
    trend = json.loads(done.stdout)
    that(len(trend["runs"]) == n_windows, "the trend has", len(trend["runs"]), "of", n_windows, "windows")
    # The run may end right behind the begin of its last window: then nothing is in that.
    for routine, there, gone in ("first_half", slice(0, 1), slice(-1, None)), ("second_half", slice(-2, None), slice(0, 1)):
        rows = [row for row in trend["rows"] if row["group"] == "computing" and routine in row["name"]]
        # On a busy machine the code beside the loop may have lost a moment, in a row of its own.
        sums = sorted((sum(row["runs_ns"]), row["runs_ns"]) for row in rows) or [(0, [0])]
        most, by_window = sums[-1]
        is_one = most > 0.9 * sum(of_row for of_row, _ in sums)
        that(is_one and any(by_window[there]) and not any(by_window[gone]), routine, "in the trend:", rows)


def check_damaged_trend(folder):
    """Of all windows together it is said once that the archive is cut off."""
    run, = glob.glob(folder + "/*.whywait")
    events = os.path.join(run, "traces", "2.evt")
    os.truncate(events, os.path.getsize(events) * 2 // 3)
    done = subprocess.run([tool, "trend", run], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    that(done.returncode == 2 and done.stderr.count("warning") == 1, "trend of a damaged run:", done.returncode, done.stderr)


def windows_of(found):
    """How many the report says there were; 0 = it says nothing of windows."""
    told = [re.search(r"in (\d+) windows? \(record --window", note) for note in found["notes"]]
    return max([int(match.group(1)) for match in told if match], default=0)


def late_ranks(found, routine):
    """The ranks that are blamed for a loop of this routine, and the calls where they are waited for."""
    causes = [cause for cause in found["causes"] if cause["routine"] and routine in cause["routine"]]
    return {rank for cause in causes for rank in cause["ranks"]}, {site["call"] for cause in causes for site in cause["sites"]}


def check_causes():
    """The first half of the run has another cause than the second: both are there, and no time between windows."""
    found, said, folder = report("turns", 200, ["--window", "100ms", "--every", "250ms"])
    that(windows_of(found) >= 3, "windows:", found["notes"])
    check_trend(folder, windows_of(found))
    that("recorded in %d windows" % windows_of(found) in said, "the run said", said)
    that(found["efficiency"]["unrecorded_ns"] >= 0.4 * found["efficiency"]["all_ns"], "unrecorded", found["efficiency"])
    for routine, rank in ("first_half", 1), ("second_half", 2):
        ranks, calls = late_ranks(found, routine)
        that(ranks == {rank}, routine, "is blamed on", ranks)
        # Receives that were pending when a window began: else each would be taken for the one before it.
        that("MPI_Wait" in calls, "for", routine, "others wait at", calls)
    that(not any("recording was off" in cause["name"] for cause in found["causes"] if cause["share"] >= 0.1), "time between windows is a cause")
    check_damaged_trend(folder)
    whole, said, folder = report("turns", 50, [])
    that(found["mpi_calls"] < 0.7 * 4 * whole["mpi_calls"], found["mpi_calls"], "calls of", 4 * whole["mpi_calls"])
    that(windows_of(whole) == 0, "a run without windows:", whole["notes"])
    done = subprocess.run([tool, "trend", folder], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    that(done.returncode == 1 and "was not recorded in windows" in done.stdout, "trend without windows:", done.stdout)


def check_killed():
    """In the first window, between two, and somewhere: what was recorded until then is there."""
    for options, turns, n_least, n_most in ((["--window", "1h", "--every", "2h"], 25, 0, 0), (["--window", "125ms", "--every", "1h"], 60, 1, 1),
                                            (["--window", "100ms", "--every", "250ms"], 125, 2, 1000)):
        found, said, folder = report("killed", turns, options, ends_well=False)
        that(n_least <= windows_of(found) <= n_most, "killed", options, found["notes"])
        is_compared = any("whywait trend" in note for note in found["notes"])
        that(is_compared == (windows_of(found) > 1), "killed", options, "says what compares the windows:", found["notes"])
        ranks, calls = late_ranks(found, "first_half")
        # On a busy machine it may be the machine's row alone that has the loop.
        has_place = any("first_half" in place["name"] for place in found["machine"]["places"])
        that(ranks == {1} and calls or not ranks and has_place, "killed", options, "first_half is blamed on", ranks, "at", calls)


def check_fortran():
    for what in FORTRAN if mpifort else ():
        subprocess.run([mpifort, "-O2", "-g", *FORTRAN[what], os.path.join(here, "turns.F90"), "-J", scratch, "-o", os.path.join(scratch, what)],
                       check=True, stderr=subprocess.DEVNULL)
        found, said, folder = report(what, 150, ["--window", "75ms", "--every", "225ms"])
        that(windows_of(found) >= 3, what, "windows:", found["notes"])
        check_trend(folder, windows_of(found))
        for routine, rank in ("first_half", 1), ("second_half", 2):
            ranks, calls = late_ranks(found, routine)
            that(ranks == {rank} and calls == {"MPI_Allreduce"}, what, routine, "is blamed on", ranks, "at", calls)


def check_full_disk():
    """A file system that is full after a part of the run: the program ends well, what is missing is told, what is there is kept."""
    if os.geteuid() != 0 or not shutil.which("unshare"):
        return
    for options in (["--window", "1h", "--every", "2h"], ["--window", "200ms", "--every", "300ms"], ["--last", "100m"], []):
        disk, kept = tempfile.mkdtemp(dir=scratch), tempfile.mkdtemp(dir=scratch)
        command = [mpirun, "-n", "3", tool, "record", "--dir", disk] + options + [os.path.join(scratch, "windows"), "many", "150"]
        script = "mount -t tmpfs -o size=%dm none %s && { %s; status=$?; cp -r %s/* %s; exit $status; }" % (
            DISK_MB, disk, " ".join(command), disk, kept)
        done = subprocess.run(["unshare", "--mount", "sh", "-c", script], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=300)
        if "mount:" in done.stdout:
            return
        that("--last" in options or "LOST" in done.stdout, "a full disk", options, "lost nothing:", done.stdout)
        that(done.returncode == 0 and "150 turns" in done.stdout, "a full disk", options, "ended with", done.returncode, done.stdout)
        that(done.stdout.count("whywait: ") <= 3, "a full disk", options, "has many lines", done.stdout)
        for run in glob.glob(kept + "/*.whywait"):
            told = subprocess.run([tool, "report", "--format", "json", run], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
            that(told.returncode == (0 if "--last" in options else 2), "the report of a full disk", options, "ended with", told.returncode, told.stderr)


def check_no_room():
    """Not even the smallest ring fits: one rank says why, the closing line says of how many that holds."""
    if os.geteuid() != 0 or not shutil.which("unshare"):
        return
    disk = tempfile.mkdtemp(dir=scratch)
    command = [mpirun, "-n", "3", tool, "record", "--dir", disk, "--last", "512k", os.path.join(scratch, "windows"), "many", "2"]
    done = subprocess.run(["unshare", "--mount", "sh", "-c", f"mount -t tmpfs -o size=100k none {disk} && {' '.join(command)}"],
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=300)
    if "mount:" in done.stdout:
        return
    lines = [line for line in done.stdout.splitlines() if line.startswith("whywait: ")]
    that(done.returncode == 0 and len(lines) == 2 and "recording is off" in lines[0] and "NOT RECORDED on 3 ranks" in lines[1] and
         "will convert" not in lines[1], "no room at all:", done.returncode, done.stdout)


def check_rest():
    found, said, folder = report("pairs", 125, ["--window", "100ms", "--every", "300ms"])
    that(any("recorded as a whole" in note for note in found["notes"]), "without collective calls:", found["notes"])
    that("no collective call of all processes" in said, "without collective calls, the run said", said)
    that(late_ranks(found, "first_half")[0] == {1}, "without collective calls, first_half is blamed on", late_ranks(found, "first_half"))
    found, said, folder = report("thread", 125, ["--window", "100ms", "--every", "300ms"])
    that(windows_of(found) >= 2, "with threads:", found["notes"])
    that(found["efficiency"]["unrecorded_ns"] >= 0.3 * found["efficiency"]["all_ns"], "with threads, unrecorded", found["efficiency"])
    found, said, folder = report("turns", 75, ["--window", "100ms", "--every", "300ms", "--limit", "200k"])
    that("LOST" in said or windows_of(found) >= 2, "without room:", said)


def check_options():
    for options, text in (["--window", "1s"], "belong together"), (["--every", "1s"], "belong together"), \
            (["--window", "1", "--every", "1m"], "expected times"), (["--window", "1s", "--every", "-3s"], "expected times"), \
            (["--window", "1m", "--every", "60s"], "must end before"), \
            (["--window", "1s", "--every", "1m", "--last", "1m"], "either windows or the newest"):
        done = subprocess.run([tool, "record"] + options + ["true"], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        that(done.returncode != 0 and text in done.stdout and done.stdout.count("\n") == 1, options, done.stdout)


with tempfile.TemporaryDirectory(prefix="whywait-windows.") as scratch:
    subprocess.run([mpicc, "-O2", "-g", os.path.join(here, "windows.c"), "-o", os.path.join(scratch, "windows"), "-lpthread"],
                   check=True, stderr=subprocess.DEVNULL)
    check_options()
    check_causes()
    check_killed()
    check_rest()
    check_fortran()
    check_full_disk()
    check_no_room()
print("\n".join(faults))
sys.exit(1 if faults else 0)
