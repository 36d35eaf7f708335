#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Functions that came with a later MPI than the one that is installed are waits as all others.

    later.py BUILD_DIR SOURCE
"""
import json
import pathlib
import sys

sys.dont_write_bytecode = True
import newer  # beside this file


def judge(report):
    """Each wait of rank 0 is for the loop of rank 1, and has the name of its call."""
    first = report["causes"][0]
    calls = {site["call"]: site["waiting_ns"] for site in first["sites"]}
    least = 0.15 * first["waiting_ns"]
    felt = ("MPI_Allreduce_c", "MPI_Wait", "MPI_Request_get_status_all")
    if first["routine"] != "work" or first["ranks"][:1] != [1]:
        return f"the first cause is {first['name']} of ranks {first['ranks']}"
    if any(calls.get(call, 0) < least for call in felt):
        return f"it is felt at {calls}, of {first['waiting_ns']} ns"
    return None


def main():
    whywait, source = pathlib.Path(sys.argv[1]).resolve() / "bin" / "whywait", pathlib.Path(sys.argv[2]).resolve()
    faults = [(mpi, fault or judge(json.loads(report))) for mpi, fault, report in newer.recorded(whywait, source, "lazy", "--format", "json")]
    sys.exit("\n".join(f"{mpi}: {fault}" for mpi, fault in faults if fault) or 0)


main()
