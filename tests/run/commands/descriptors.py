#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Calls through entry points of Fortran that take descriptors of buffers are recorded, each once, also those
of Open MPI 6 and MPICH 5.

    descriptors.py BUILD_DIR SOURCE
"""
import json
import pathlib
import sys

sys.dont_write_bytecode = True
import newer  # beside this file

# Each rank: MPI_Init, 40 rounds of two calls, MPI_Finalize.
N_CALLS = 2 * (2 + 40 * 2)


def main():
    whywait, source = pathlib.Path(sys.argv[1]).resolve() / "bin" / "whywait", pathlib.Path(sys.argv[2]).resolve()
    bad = []
    for mpi, fault, report in newer.recorded(whywait, source, "lazy", "--format", "json"):
        n = fault or json.loads(report)["mpi_calls"]
        if n != N_CALLS:
            bad.append(f"{mpi}: {n}, wanted {N_CALLS} calls")
    sys.exit("\n".join(bad) or 0)


main()
