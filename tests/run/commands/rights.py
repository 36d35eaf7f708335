#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""A program that gains rights by its file (capabilities, set-user-id, set-group-id) is obeyed by its loader in no LD_PRELOAD: one line
says so, and the program runs on. The same program without them is recorded.

    rights.py BUILD_DIR              as root, who may give such rights
"""
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile

BUILD = pathlib.Path(sys.argv[1]).resolve()
NOBODY, SKIPPED = 65534, 77
STATUS = 7
TEXT = f"#include <mpi.h>\nint main(void) {{ MPI_Init(0, 0); MPI_Barrier(MPI_COMM_WORLD); MPI_Finalize(); return {STATUS}; }}\n"
SAID, RECORDED = "is not recorded", "whywait: 1 rank,"
# What is done to the file, and what is then said.
CASES = [
    ("plain", None, 0o755, RECORDED),
    ("capable", "cap_net_raw+ep", 0o755, SAID),
    ("permitted", "cap_net_raw+p", 0o755, SAID),
    ("inheriting", "cap_net_raw+i", 0o755, RECORDED),
    ("setuid", None, 0o4755, SAID),
    ("setgid", None, 0o2755, SAID),
    ("locking", None, 0o2745, RECORDED),  # no execution by the group: the bit means something else
]


def install(prefix):
    """Where any user can get at it."""
    for folder, names in (("bin", ["whywait"]), ("lib", ["libwhywait.so", "libwhywait-mpich.so"])):
        (prefix / folder).mkdir()
        for name in names:
            if (BUILD / folder / name).exists():
                shutil.copy(BUILD / folder / name, prefix / folder)
    return prefix / "bin" / "whywait"


def run(whywait, program, cwd):
    env = dict(os.environ, HOME=str(cwd), TMPDIR=str(cwd), OMPI_MCA_btl_vader_single_copy_mechanism="none")
    return subprocess.run([whywait, "record", program], cwd=cwd, env=env, user=NOBODY, group=NOBODY, extra_groups=[], text=True,
                          stdin=subprocess.DEVNULL, capture_output=True, timeout=120)


def main():
    if os.getuid() != 0 or not shutil.which("setcap"):
        print("skipped: only root, with setcap, can give a file capabilities")
        return SKIPPED
    failed = False
    with tempfile.TemporaryDirectory() as made:
        made = pathlib.Path(made)
        made.chmod(0o755)
        whywait = install(made)
        subprocess.run([shutil.which("mpicc.openmpi") or "mpicc", "-x", "c", "-", "-o", made / "plain"], input=TEXT, text=True, check=True)
        for name, capabilities, mode, wanted in CASES:
            program, cwd = made / name, made / f"of-{name}"
            cwd.mkdir()
            os.chown(cwd, NOBODY, NOBODY)
            if name != "plain":
                shutil.copy(made / "plain", program)
            program.chmod(mode)
            if capabilities and subprocess.run(["setcap", capabilities, program], capture_output=True).returncode:
                print(f"skipped: {name}, since this file system keeps no capabilities")
                continue
            done = run(whywait, program, cwd)
            lines = [line for line in done.stderr.splitlines() if line.startswith("whywait:")]
            runs = list(cwd.glob("*.whywait"))
            if done.returncode != STATUS or len(lines) != 1 or wanted not in lines[0] or len(runs) != (wanted == RECORDED):
                failed = True
                print(f"FAILED {name}: status {done.returncode}, {len(runs)} runs, wanted one line with \"{wanted}\":\n{done.stderr}")
    return failed


sys.exit(main())
