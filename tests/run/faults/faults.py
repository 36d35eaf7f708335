#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Fails the recorder's system calls one by one: the program must end with its own output and status every time.

    faults.py BUILD_DIR [--most N] files|memory
"""
import argparse
import concurrent.futures
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile

CALLS = {"files": ["mkdir", "mkdirat", "open", "openat", "ftruncate", "fallocate", "posix_fallocate", "write", "pwrite", "read", "close",
                   "fstat"],
         "memory": ["mmap", "madvise", "munmap", "malloc", "calloc", "realloc", "clock_gettime", "pthread_create", "pthread_key_create",
                    "posix_spawn"]}  # and of threads and processes
ENV = dict(os.environ, OMPI_ALLOW_RUN_AS_ROOT="1", OMPI_ALLOW_RUN_AS_ROOT_CONFIRM="1", OMPI_MCA_rmaps_base_oversubscribe="1",
           OMPI_MCA_mpi_yield_when_idle="1", OMPI_MCA_btl_vader_single_copy_mechanism="none", WHYWAIT_QUIET="1",
           OMPI_MCA_odls_base_sigkill_timeout="0",  # the program ends with a status, for which the launcher would wait a second
           UCX_LOG_LEVEL="fatal")  # its threads are made through the recorder, too, and it prints what becomes of them
MOST_CRASHES = 3


def run(build, call, nth):
    """(status, output, number of faults injected, standard error) of one run."""
    with tempfile.TemporaryDirectory() as cwd:
        log = pathlib.Path(cwd) / "faults"
        preload = f"{build}/lib/libwhywait.so {build}/lib/libfaults.so"
        command = [shutil.which("mpirun.openmpi") or "mpirun", "-n", "2", "-x", f"LD_PRELOAD={preload}", "-x", f"FAULT_CALL={call}",
                   "-x", f"FAULT_NTH={nth}", "-x", f"FAULT_LOG={log}", str(build / "bin" / "faulted")]
        done = subprocess.run(command, cwd=cwd, env=ENV, capture_output=True, text=True, timeout=120)
        for _ in range(MOST_CRASHES):
            if done.returncode != -11 or "PMIx_server_finalize" not in done.stderr:
                break  # else it is the launcher that crashed, when all had ended
            log.unlink(missing_ok=True)
            done = subprocess.run(command, cwd=cwd, env=ENV, capture_output=True, text=True, timeout=120)
        return done.returncode, done.stdout, log.stat().st_size if log.exists() else 0, done.stderr


def fail_call(build, call, most, good):
    """(runs with faults, what went wrong) of failing one call at every turn."""
    injected, bad = 0, []
    for nth in [*map(str, range(1, most + 1)), "1+", "4+"]:
        status, output, n, stderr = run(build, call, nth)
        injected += n > 0
        if (status, output) != good or "internal error" in stderr:
            bad.append(f"{call} failing at {nth}: status {status}, output {output!r} instead of {good}\n{stderr[-500:]}")
        if not n:
            break
    return injected, bad


def main():
    options = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    options.add_argument("build", type=pathlib.Path)
    options.add_argument("--most", type=int, default=6, help="faults a call, before the one that makes all later calls fail")
    options.add_argument("part", choices=CALLS)
    args = options.parse_args()
    build = args.build.resolve()
    good = run(build, "none", 0)[:2]
    with concurrent.futures.ThreadPoolExecutor(2 * os.cpu_count()) as pool:
        results = list(pool.map(lambda call: fail_call(build, call, args.most, good), CALLS[args.part]))
    injected, bad = sum(n for n, _ in results), [text for _, texts in results for text in texts]
    print("\n".join([*bad, f"{injected} runs with faults, {len(bad)} of them changed the program"]))
    sys.exit(bool(bad) or injected < 15)


main()
