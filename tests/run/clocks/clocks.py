#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""One rank's clock is ahead of the other's: blame must be the same as without.

    clocks.py BUILD_DIR
"""
import json
import os
import pathlib
import shlex
import shutil
import subprocess
import sys
import tempfile

ENV = dict(os.environ, OMPI_ALLOW_RUN_AS_ROOT="1", OMPI_ALLOW_RUN_AS_ROOT_CONFIRM="1", OMPI_MCA_rmaps_base_oversubscribe="1",
           OMPI_MCA_btl_vader_single_copy_mechanism="none", WHYWAIT_QUIET="1")


def report(build, ahead):
    """The report of a run in which rank 1's clock is `ahead` = (seconds, nanoseconds); None = the same clock."""
    recorded = [str(build / "bin" / "whywait"), "record", str(build / "bin" / "clocks_skewed")]
    other = [str(build / "bin" / "clocks_timens"), *map(str, ahead)] if ahead else []
    # Not as two programs with ":" between them: on that, Open MPI 5.0.7's mpirun itself crashes.
    each = f"[ ${{OMPI_COMM_WORLD_RANK:-$PMI_RANK}} = 1 ] && exec {shlex.join(other + recorded)} || exec {shlex.join(recorded)}"
    with tempfile.TemporaryDirectory() as cwd:
        command = [shutil.which("mpirun.openmpi") or "mpirun", "-n", "2", "sh", "-c", each]
        done = subprocess.run(command, cwd=cwd, env=ENV, capture_output=True, text=True)
        if done.returncode == 77:
            sys.exit(77)
        if done.returncode:
            sys.exit(f"{' '.join(command)}: {done.stderr}")
        printed = subprocess.run([recorded[0], "report", "--format", "json"], cwd=cwd, capture_output=True, text=True)
        if printed.returncode:
            sys.exit(printed.stderr)
        return json.loads(printed.stdout)


def share(report):
    """Of the first cause in what the program causes: what the machine does is another matter."""
    return report["causes"][0]["waiting_ns"] / (report["waiting_ns"] - report["machine"]["waiting_ns"])


def main():
    build, bad = pathlib.Path(sys.argv[1]).resolve(), 0
    same = report(build, None)
    for ahead in ((100, 0), (0, 3000000)):
        other = report(build, ahead)
        cause, expected = other["causes"][0], same["causes"][0]
        line = f"{ahead}: {cause['routine']} {cause['line_first']}-{cause['line_last']} ranks {cause['ranks']} share {share(other):.4f}"
        good = all(cause[key] == expected[key] for key in ("file", "line_first", "line_last", "ranks"))
        good = good and abs(share(other) - share(same)) < 0.05 and share(same) > 0.9
        # Waiting itself follows the machine's mood: it only must not contain the offset.
        good = good and 0.3 < other["waiting_ns"] / same["waiting_ns"] < 3
        print(line, "as expected" if good else f"but without an offset: {expected['routine']} {share(same):.4f}, "
              f"waiting {other['waiting_ns']} instead of {same['waiting_ns']}")
        bad += not good
    sys.exit(bad > 0)


main()
