#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# check_off.sh TOOL SOURCE
# What runs between MPI_Pcontrol(0) and MPI_Pcontrol(1) is in no count: executions and bytes in the report, calls in the
# routine profile, lines in `whywait export`.
set -eu
tool=$1 source=$2
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 OMPI_MCA_btl_vader_single_copy_mechanism=none
export OMPI_MCA_rmaps_base_oversubscribe=1
folder=$(mktemp -d "${TMPDIR:-/tmp}/whywait-off.XXXXXX")
trap 'rm -rf "$folder"' EXIT
cd "$folder"
# shellcheck disable=SC2046
mpicc $("$tool" cc) -O2 -g "$source" -o off
mpirun -n 2 "$tool" record --space ./off >out 2>log || { cat log; exit 1; }
"$tool" export >counts
"$tool" report --routines --format json >report.json
python3 - "$source" <<'END'
import json, re, sys
source = open(sys.argv[1]).read().split("\n")
constant = {name: int(re.search(r"\b%s = (\d+)" % name, "\n".join(source)).group(1)) for name in ("N", "STEPS", "BYTES")}
n, steps = constant["N"], constant["STEPS"]
line = {mark: 1 + next(i for i, text in enumerate(source) if "/* %s */" % mark in text) for mark in ("LOOP", "CALL", "AFTER")}
faults = []
def same(what, found, wanted):
    if found != wanted:
        faults.append("%s: %s instead of %s" % (what, found, wanted))
report = json.load(open("report.json"))
for rank in range(2):
    part = open("counts").read().split("TN:rank_%d\n" % rank)[1].split("end_of_record")[0]
    lines = {int(at): int(n) for at, n in re.findall(r"^DA:(\d+),(\d+)$", part, re.M)}
    calls = {name: int(n) for n, name in re.findall(r"^FNDA:(\d+),(.*)$", part, re.M)}
    same("export, rank %d, iterations" % rank, lines[line["LOOP"]], steps * n * (1 + rank))
    same("export, rank %d, calls" % rank, lines[line["CALL"]], steps)
    same("export, rank %d, calls of work()" % rank, calls["work"], steps)
    same("export, rank %d, calls of the routine that switches" % rank, calls["pause_in"], steps // 10 + 1)
    same("export, rank %d, what follows calls" % rank, lines[line["AFTER"]], steps)
    loops = [each for each in report["causes"] if each["routine"] == "work" and each["loop"]]
    same("causes", len(loops), 1)
    ran = {each["rank"]: each["executions"] for cause in loops for each in cause["by_rank"]}
    same("report, rank %d, iterations" % rank, ran.get(rank), steps * n * (1 + rank))
    same("report, rank %d, bytes" % rank, sum(each["rank_bytes"][rank] for each in report["allocations"]), steps * constant["BYTES"])
same("calls of work()", [each["calls"] for each in report["routines"] if each["routine"] == "work"], [2 * steps])
for fault in faults:
    print(fault)
sys.exit(bool(faults))
END
