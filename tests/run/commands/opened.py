#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""MPI that a program opens instead of being linked with it: what is recorded, and what is said where nothing is, before the run by
`whywait check` and after it.

    opened.py BUILD_DIR
"""
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile

ENV = dict(os.environ, OMPI_ALLOW_RUN_AS_ROOT="1", OMPI_ALLOW_RUN_AS_ROOT_CONFIRM="1", OMPI_MCA_rmaps_base_oversubscribe="1",
           OMPI_MCA_mpi_yield_when_idle="1", OMPI_MCA_btl_vader_single_copy_mechanism="none")
RECORDED, PAST = "104 MPI calls, nothing lost", "opened called MPI past the recorder, since it looked MPI_Init up in the MPI library itself"
CLOSED = "opened has not called MPI_Init, or it called MPI past the recorder (dlsym) and has closed that library since"
HERE = pathlib.Path(__file__).parent


def run(*words, cwd):
    return subprocess.run([str(word) for word in words], cwd=cwd, env=ENV, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=100)


def recorded(tool, cwd, mpi):
    """Lines of what is wrong."""
    for how, opened, wanted in (("local", "./libopened.so", RECORDED), ("global", "./libopened.so", RECORDED), ("default", mpi, RECORDED),
                                ("deep", "./libopened.so", PAST), ("handle", mpi, PAST),
                                ("closed", mpi, CLOSED)):
        done = run(shutil.which("mpirun.openmpi") or "mpirun", "-n", "2", tool, "record", "./opened", how, opened, cwd=cwd)
        if done.returncode or done.stderr.count("whywait:") != 1 or wanted not in done.stderr:
            yield f"{how}: wanted one line with \"{wanted}\": {done}"


def checked(tool, cwd):
    """Lines of what is wrong."""
    (cwd / "plain.c").write_text("int main(void) { return 0; }\n")
    run("gcc", "plain.c", "-o", "plain", cwd=cwd)
    run("gcc", "-shared", "plain.c", "-o", "libplain.so", cwd=cwd)
    for name, wanted in (("opened", ["MPI                no   it is not linked with an MPI library, but MPI_Init stands in it as a text"]),
                         ("plain", ["MPI                no   it is not linked with an MPI library; it is recorded if it opens a library that is"]),
                         ("libplain.so", ["MPI                no   a shared library that is not linked with an MPI library"]),
                         ("libopened.so", ["MPI                yes  Open MPI", "MPI calls          yes  3 of the 3", "with RTLD_DEEPBIND they go past"])):
        done = run(tool, "check", "./" + name, cwd=cwd)
        if done.returncode != 1 or any(text not in done.stdout for text in wanted):
            yield f"check {name}: wanted {wanted}: {done}"


def main():
    tool = pathlib.Path(sys.argv[1]).resolve() / "bin" / "whywait"
    with tempfile.TemporaryDirectory() as home:
        cwd = pathlib.Path(home)
        for command in (["gcc", HERE / "opened.c", "-o", "opened", "-ldl"],
                        [shutil.which("mpicc.openmpi") or "mpicc", "-DLIBRARY", "-shared", "-fPIC", HERE / "opened.c", "-o", "libopened.so"]):
            subprocess.run(command, cwd=cwd, check=True)
        mpi = next(line.split()[2] for line in run("ldd", "libopened.so", cwd=cwd).stdout.splitlines() if "libmpi.so" in line)
        bad = [*checked(tool, cwd), *recorded(tool, cwd, mpi)]
    sys.exit("\n".join(bad) or 0)


main()
