#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Records threads.c under a tool that finds errors: no complaint, nothing lost, and every call of every thread recorded.

    sanitizers.py --whywait TOOL [--recorder LIBRARY] [--prefix "COMMAND ..."] PROGRAM

--recorder is preloaded as it is (a sanitized build); without it `whywait record` chooses. --prefix is put before the program, e.g. valgrind.
"""
import argparse
import os
import re
import shlex
import shutil
import subprocess
import sys
import tempfile

COMPLAINTS = re.compile(r"WARNING: ThreadSanitizer|ERROR: (Address|Leak)Sanitizer|runtime error:|ERROR SUMMARY: [1-9]|internal error|FATAL:")

options = argparse.ArgumentParser(description=__doc__.splitlines()[0])
options.add_argument("--whywait", required=True)
options.add_argument("--recorder")
options.add_argument("--prefix", default="")
options.add_argument("program")
args = options.parse_args()

environment = dict(
    os.environ, OMPI_ALLOW_RUN_AS_ROOT="1", OMPI_ALLOW_RUN_AS_ROOT_CONFIRM="1", OMPI_MCA_rmaps_base_oversubscribe="1",
    OMPI_MCA_mpi_yield_when_idle="1", OMPI_MCA_btl_vader_single_copy_mechanism="none",
    # Nor are drivers of OpenCL asked, where a machine has them, what devices there are.
    HWLOC_COMPONENTS="-opencl",
    # ThreadSanitizer sees what was compiled with it: the program and the recorder. Open MPI, its libraries and its plugins
    # were not, so that their own locks are unseen and what they do through libc (memcpy, free, ...) looks unordered.
    # It takes the short-lived process that starts the converter for a fork that leaves threads behind.
    TSAN_OPTIONS="ignore_noninstrumented_modules=1:die_after_fork=0",
    # Leaks are memcheck's business, which tells those of the recorder from those of MPI by who allocated.
    # `whywait record` itself has to see that the program is checked, and that it is preloaded before the checker.
    ASAN_OPTIONS="detect_leaks=0" + (":verify_asan_link_order=0" if args.recorder else ""), UBSAN_OPTIONS="print_stacktrace=1")
mpirun = [shutil.which("mpirun.openmpi") or "mpirun", "-n", "2"]
if args.recorder:
    command = [*mpirun, "-x", f"LD_PRELOAD={args.recorder}", "-x", f"WHYWAIT_TOOL={args.whywait}"]
else:
    command = [*mpirun, args.whywait, "record"]
command += [*shlex.split(args.prefix), args.program]

with tempfile.TemporaryDirectory(prefix="whywait-sanitizers-") as directory:
    done = subprocess.run(command, cwd=directory, env=environment, capture_output=True, text=True)
    closing = re.search(r"([\d,]+) MPI calls, (.*?), overhead", done.stderr)
    if done.returncode or COMPLAINTS.search(done.stderr) or not closing:
        sys.exit(f"{shlex.join(command)}: status {done.returncode}\n{done.stdout}{done.stderr[-20000:]}")
    calls, loss, expected = int(closing[1].replace(",", "")), closing[2], int(done.stdout)
    # Failing polls come on top; MPI_Finalize is the last call.
    if loss != "nothing lost" or calls < expected:
        sys.exit(f"{calls} calls recorded, {loss}; the program made {expected}")
    print(f"{calls} MPI calls of all threads recorded (the program counts {expected} without failed polls), no complaint")
