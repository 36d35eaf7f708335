#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""An archive is read by as many processes as a launcher has started, and says the same by any number; one that dies is told once.

    helpers.py BUILD_DIR COUNTED     a program that was built to count
"""
import os
import pathlib
import signal
import subprocess
import sys
import tempfile
import time

ENV = dict(os.environ, OMPI_ALLOW_RUN_AS_ROOT="1", OMPI_ALLOW_RUN_AS_ROOT_CONFIRM="1", OMPI_MCA_rmaps_base_oversubscribe="1",
           OMPI_MCA_mpi_yield_when_idle="1", WHYWAIT_QUIET="1")
NUMBERS = (2, 3, 6)
DATA = pathlib.Path(__file__).parents[2] / "unit/trace/data"
n_failed = 0


def check(is_right, text):
    global n_failed
    n_failed += not is_right
    if not is_right:
        print(f"FAILED: {text}")


def of_processes(n):
    """The environment of the first of n processes that mpirun has started."""
    return dict(ENV, OMPI_COMM_WORLD_SIZE=str(n), OMPI_COMM_WORLD_RANK="0")


def printed(n, words):
    done = subprocess.run(list(map(str, words)), env=of_processes(n), capture_output=True, timeout=300)
    return done.returncode, done.stdout, done.stderr


def same_by_all(tool, words):
    alone = printed(1, [tool, *words])
    check(alone[1], f"{' '.join(map(str, words))}: nothing is printed: {alone[2]}")
    for n in NUMBERS:
        check(printed(n, [tool, *words]) == alone, f"{' '.join(map(str, words))}: {n} processes say something else than one")


def reads_again(bin, anchor):
    """Whatever is kept of a reading, and whoever reads, the next ones hand out the same."""
    words = {}
    for n, kept in ((0, 0), (2, 0), (2, 1 << 20), (3, 1 << 30)):
        done = subprocess.run([bin / "read_again", anchor, str(n), str(kept)], env=ENV, capture_output=True, text=True, timeout=300)
        words[n, kept] = done.stdout.split("\n")
        check(done.returncode == 0 and len(words[n, kept]) == 4, f"{n} processes that keep {kept} bytes: {done.stderr}")
    check(all(word == words[0, 0][0] for all in words.values() for word in all[:3]), f"readings differ: {words}")


def generate(bin, pattern, directory, ranks, events, style):
    subprocess.run([bin / "generate", pattern, directory, str(ranks), str(events), style], check=True, stdout=subprocess.DEVNULL)
    return directory / "traces.otf2"


def record(tool, into, options, program):
    subprocess.run(["mpirun", "-n", "4", tool, "record", "--dir", into, *options, program], env=ENV, check=True, stdout=subprocess.DEVNULL)
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
    """A report that goes on, and its helpers."""
    report = subprocess.Popen([tool, "report", anchor], env=of_processes(n), stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    found = []
    while report.poll() is None and len(found) < n:
        found = children(report.pid)
    return report, found


def is_there(pid):
    try:
        return pathlib.Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[0] != "Z"
    except OSError:
        return False


def main():
    bin, counted = pathlib.Path(sys.argv[1]).resolve() / "bin", sys.argv[2]
    tool = bin / "whywait"
    with tempfile.TemporaryDirectory() as directory:
        made = pathlib.Path(directory)
        ours = generate(bin, "stencil", made / "ours", 9, 60000, "ours")
        foreign = generate(bin, "workers", made / "foreign", 7, 30000, "foreign")
        run = record(tool, made, [], counted)
        for anchor in (ours, foreign, run, DATA / "tau-phases/traces.otf2"):
            same_by_all(tool, ["report", "--format", "json", "--all", anchor])
        same_by_all(tool, ["report", "--from", "0.01", "--until", "0.2", run])
        same_by_all(tool, ["report", "--routines", run])
        same_by_all(tool, ["html", "-o", "-", run])
        same_by_all(tool, ["diff", run, "vs", run])
        same_by_all(tool, ["export", "--format", "chrome", run])
        same_by_all(tool, ["export", "--format", "lcov", run])
        for options in (["--last", "512k"], ["--window", "100ms", "--every", "300ms"]):
            part = record(tool, made / options[0], options, bin.parent / "tests/run/known/newest")
            check("record %s" % options[0] in printed(1, [tool, "report", part])[1].decode(), f"{options[0]}: the report tells which part it is of")
            same_by_all(tool, ["report", "--format", "json", "--all", part])
            same_by_all(tool, ["report", part])
        middle = generate(bin, "stencil", made / "middle", 9, 600000, "ours")
        reads_again(bin, middle)
        check(middle.with_suffix(".starts").exists(), "there are starts")
        same_by_all(tool, ["report", "--format", "json", "--from", "0.7", middle])
        for anchor in (ours, foreign, middle):
            damage(anchor)
            same_by_all(tool, ["report", "--format", "json", "--all", anchor])
        reads_again(bin, middle)
        long = generate(bin, "stencil", made / "long", 4, 11000000, "foreign")
        same_by_all(tool, ["report", "--format", "json", long])
        report, helpers = begin(tool, long, 3)
        check(len(helpers) == 3, "three processes help")
        os.kill(helpers[1], signal.SIGKILL)
        out, err = report.communicate(timeout=120)
        check((report.returncode, out) == (1, b""), f"a helper was killed: status {report.returncode}, {len(out)} characters printed")
        check(len(err.splitlines()) == 1 and b"killed" in err, f"a helper was killed: {err}")
        report, helpers = begin(tool, long, 3)
        report.kill()
        report.communicate()
        until = time.monotonic() + 60
        while any(map(is_there, helpers)) and time.monotonic() < until:
            time.sleep(0.05)
        check(not any(map(is_there, helpers)), "helpers are left when the report was killed")
    return n_failed > 0


sys.exit(main())
