#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Programs that do what recorders trip over print and return the same with the recorder, and their spool holds every MPI call.

    beside.py BUILD_DIR [CASE ...]
"""
import os
import pathlib
import shutil
import struct
import subprocess
import sys
import tempfile

CASES = ["fork", "sigchld", "sigign", "closes", "chdir", "privileges", "files", "threads", "longjmp", "signals", "fibres", "dlopen", "names", "exit",
         "longjmp_fortran"]
ENV = dict(os.environ, OMPI_ALLOW_RUN_AS_ROOT="1", OMPI_ALLOW_RUN_AS_ROOT_CONFIRM="1", OMPI_MCA_rmaps_base_oversubscribe="1",
           OMPI_MCA_mpi_yield_when_idle="1", OMPI_MCA_btl_vader_single_copy_mechanism="none")
HEADER_BYTES, UNIT_BYTES = 4096, 32
KINDS = {"calls": 1, "comms": 6}  # enum ww_type


def run(build, case, cwd, recorded):
    # A tool that fails is started and waited for as the real one is, and leaves the spool.
    preload = ["-x", f"LD_PRELOAD={build}/lib/libwhywait.so", "-x", "WHYWAIT_TOOL=/bin/false"] if recorded else []
    command = [shutil.which("mpirun.openmpi") or "mpirun", "-n", "2", *preload, str(build / "bin" / "beside"), case]
    done = subprocess.run(command, cwd=cwd, env=ENV, capture_output=True, text=True, timeout=100)
    return done.returncode, sorted(done.stdout.splitlines()), done.stderr


def count_records(path, wanted):
    data, at, n = path.read_bytes(), HEADER_BYTES, 0
    while at + UNIT_BYTES <= len(data):
        kind, units = struct.unpack_from("<HH", data, at)
        if kind == 0:
            break
        n += kind == KINDS[wanted]
        at += units * UNIT_BYTES
    return n


def check(build, case):
    """What is wrong, or an empty list."""
    with tempfile.TemporaryDirectory() as cwd:
        plain = run(build, case, cwd, False)
        recorded = run(build, case, cwd, True)
        spool = list(pathlib.Path(cwd).glob("*.whywait/spool/*.ev"))
        found = {(what, rank): sum(count_records(p, what) for p in spool if p.name.startswith(f"{rank}-")) for what in KINDS for rank in "01"}
    bad = []
    if plain[:2] != recorded[:2]:
        bad.append(f"status and output {recorded[:2]} instead of {plain[:2]}\n{recorded[2]}")
    for line in recorded[1]:
        word, *rest = line.split()
        if word in KINDS and int(rest[1]) > 0 and found[word, rest[0]] != int(rest[1]):
            bad.append(f"rank {rest[0]}: {found[word, rest[0]]} {word} in the spool, the program made {rest[1]}")
    if not spool:
        bad.append(f"no spool\n{recorded[2]}")
    return bad


def main():
    build, cases = pathlib.Path(sys.argv[1]).resolve(), sys.argv[2:] or CASES
    failed = 0
    for case in cases:
        bad = check(build, case)
        failed += bool(bad)
        print(f"{case:12} {'; '.join(bad) or 'ok'}")
    sys.exit(failed > 0)


main()
