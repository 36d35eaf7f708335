#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# check_copies.sh TOOL SOURCE
# A loop of which there are several copies in the machine code is executed as often as all of them together, in the
# report as in `whywait export`. The program says how often. Beside other tests the report may name a loop around it.
set -eu
tool=$1 source=$2
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 OMPI_MCA_btl_vader_single_copy_mechanism=none
export OMPI_MCA_rmaps_base_oversubscribe=1
folder=$(mktemp -d "${TMPDIR:-/tmp}/whywait-copies.XXXXXX")
trap 'rm -rf "$folder"' EXIT
cd "$folder"
for level in -O1 -O2 -O3; do
    # shellcheck disable=SC2046
    mpicc $("$tool" cc) $level -g "$source" -o copies -lpthread
    mpirun -n 2 "$tool" record ./copies >out 2>log || { cat log; exit 1; }
    "$tool" report --format json >report.json
    "$tool" export >counts
    python3 - "$level" <<'END'
import json, re, sys
faults = []
report = json.load(open("report.json"))
wanted = {(routine, int(rank)): int(n) for routine, rank, n in re.findall(r"expected of (\w+)\(\) on rank (\d+): (\d+)", open("log").read())}
if not wanted:
    faults.append("the program expected nothing")
for (routine, rank), n in sorted(wanted.items()):
    found = [each["executions"] for cause in report["causes"] if cause["routine"] == routine and cause["loop"]
             for each in cause["by_rank"] if each["rank"] == rank]
    if found not in ([], [n]):
        faults.append("report: %s iterations in %s() on rank %d instead of %d" % (found, routine, rank, n))
    part = open("counts").read().split("TN:rank_%d\n" % rank)[1].split("end_of_record")[0]
    if n not in [int(each) for each in re.findall(r"^DA:\d+,(\d+)$", part, re.M)]:
        faults.append("export, rank %d: no line has %d executions" % (rank, n))
for fault in faults:
    print(sys.argv[1], fault)
sys.exit(bool(faults))
END
    rm -rf ./*.whywait
done
