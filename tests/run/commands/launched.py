#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Commands that mpirun starts several times: what one process prints alone, the first prints and no other;
so it is with mistakes.

    launched.py BUILD_DIR
"""
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile

ENV = dict(os.environ, OMPI_ALLOW_RUN_AS_ROOT="1", OMPI_ALLOW_RUN_AS_ROOT_CONFIRM="1", OMPI_MCA_rmaps_base_oversubscribe="1")
ARCHIVE = pathlib.Path(__file__).parents[2] / "unit/trace/data/tau-phases/traces.otf2"


def printed(words):
    return subprocess.run(words, env=ENV, capture_output=True, text=True, timeout=120)


def fails_once(launcher, folder, words):
    """The first process says what is wrong with the command line or the program; true when it did, and none else."""
    said = subprocess.run([launcher, "-n", "4", *words], cwd=folder, env=ENV, capture_output=True, text=True, timeout=120).stderr
    lines = [line for line in said.splitlines() if line.startswith("whywait:")]
    if len(lines) != 1:
        print(f"FAILED: {launcher} -n 4 {' '.join(map(str, words))}: {lines}")
    return len(lines) == 1


def static_programs(folder):
    """A program that ends at once, linked statically in both ways, as far as there are static libraries."""
    (folder / "program.c").write_text("int main(void) { return 0; }\n")
    for how in ("-static", "-static-pie"):
        if subprocess.run(["cc", how, "program.c", "-o", folder / how[1:]], cwd=folder, capture_output=True).returncode == 0:
            yield how[1:]


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
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        programs = [f"./{program}" for program in static_programs(folder)]
        for words in (["recrod", "true"], ["record", "--rate", "x", "true"], ["record", "./missing"], *(["record", program] for program in programs)):
            n_failed += sum(not fails_once(launcher, folder, [tool, *words]) for launcher in launchers)
    return n_failed > 0


sys.exit(main())
