#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Calls of a function of MPI that no wrapper covers are named in the report, and work as without the recorder. Not named are
functions in which nobody waits.

    uncovered.py BUILD_DIR SOURCE
"""
import pathlib
import sys

sys.dont_write_bytecode = True
import newer  # beside this file

NOTE = "not recorded: MPI_Frobnicate (hundreds of calls)"


def main():
    whywait, source = pathlib.Path(sys.argv[1]).resolve() / "bin" / "whywait", pathlib.Path(sys.argv[2]).resolve()
    bad = []
    for binding in ("lazy", "now"):
        for mpi, fault, report in newer.recorded(whywait, source, binding):
            if fault or NOTE not in report.replace("\n   ", "") or "MPI_Aint_add" in report:
                bad.append(f"{mpi}, {binding}: {fault or report}")
    sys.exit("\n".join(bad) or 0)


main()
