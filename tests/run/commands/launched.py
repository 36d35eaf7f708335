#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Commands that mpirun starts several times: what one process prints alone, the first prints and no other.

    launched.py BUILD_DIR
"""
import os
import pathlib
import shutil
import subprocess
import sys

ENV = dict(os.environ, OMPI_ALLOW_RUN_AS_ROOT="1", OMPI_ALLOW_RUN_AS_ROOT_CONFIRM="1", OMPI_MCA_rmaps_base_oversubscribe="1")
ARCHIVE = pathlib.Path(__file__).parents[2] / "unit/trace/data/tau-phases/traces.otf2"


def printed(words):
    return subprocess.run(words, env=ENV, capture_output=True, text=True, timeout=120)


def main():
    tool, n_failed = str(pathlib.Path(sys.argv[1]).resolve() / "bin/whywait"), 0
    launchers = [path for path in map(shutil.which, ("mpirun.openmpi", "mpirun.mpich")) if path]
    assert launchers, "no mpirun"
    for words in (["report", ARCHIVE], ["report", "--format", "json", ARCHIVE], ["diff", ARCHIVE, ARCHIVE], ["html", "-o", "-", ARCHIVE]):
        alone = printed([tool, *words])
        for launcher in launchers:
            together = printed([launcher, "-n", "3", tool, *words])
            if (alone.returncode, alone.stdout) != (together.returncode, together.stdout) or not alone.stdout:
                n_failed += 1
                print(f"FAILED: {launcher} -n 3 whywait {' '.join(map(str, words))}: {len(alone.stdout)} characters alone, {len(together.stdout)} together")
    return n_failed > 0


sys.exit(main())
