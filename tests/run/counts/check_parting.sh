#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# check_parting.sh TOOL SOURCE
# Where ranks part: of each routine of the program the report names the decision by which rank 1 does more; of two ranks
# that do so by different factors, both; and none that only one of two late ranks makes.
set -eu
tool=$1 source=$2
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 OMPI_MCA_btl_vader_single_copy_mechanism=none
export OMPI_MCA_rmaps_base_oversubscribe=1
folder=$(mktemp -d "${TMPDIR:-/tmp}/whywait-parting.XXXXXX")
trap 'rm -rf "$folder"' EXIT
cd "$folder"
cat >check.py <<'END'
import json, sys
source, level = open(sys.argv[1]).read().split("\n"), sys.argv[2]
line = {mark: 1 + next(i for i, text in enumerate(source) if "/* %s */" % mark in text)
        for mark in ("TRIPS", "INNER", "PASSES", "BRANCH", "TAKEN", "CASE", "HELPER", "CALLS", "SPLIT", "ASKS")}
# Routine, kind, line, what the late side has, the others have: each within a tenth; None: the compiler chooses.
expected = [("trips", "trips", "TRIPS", 1200, 300), ("inner_trips", "trips", "INNER", 20, 5),
            ("passes", "trips", "PASSES", 1600, 400), ("branch", "branch", "BRANCH", 0.9, 0.1), ("one_case", "branch", None, None, None),
            ("recursion", "recursion", None, 41, 11), ("helper", "trips", "HELPER", 80, 20),
            ("calls_more", "trips", "CALLS", 200, 50), ("split", "trips", "SPLIT", 200, 50), ("asks_first", "trips", "ASKS", 8, 2)]
causes = [cause for cause in json.load(open("report.json"))["causes"] if cause["partings"] and cause["ranks"] == [1]]
faults, n_seen = [], 0
for routine, kind, mark, late, others in expected:
    firsts = [cause["partings"][0] for cause in causes if cause["partings"][0]["routine"] == routine]
    n_seen += bool(firsts)
    for first in firsts:
        def near(found, wanted):
            return wanted is None or abs(found - wanted) <= 0.1 * max(wanted, 1)
        if first["kind"] != kind or (mark and not first["line_first"] <= line[mark] <= first["line_last"]):
            faults.append("%s: %s" % (routine, first))
        elif kind == "trips" and not near(first["late"] / first["others"], late / others):
            faults.append("%s: %g times %g" % (routine, first["late"] / first["others"], first["others"]))
        elif level != "-O3" and not (near(first["late"], late) and near(first["others"], others)): # unrolled
            faults.append("%s: %g and %g instead of %s and %s" % (routine, first["late"], first["others"], late, others))
    if routine == "branch" and firsts and firsts[0]["line_to"] != line["TAKEN"]:
        faults.append("the way leads to line %d" % firsts[0]["line_to"])
if n_seen < len(expected) - 2:
    faults.append("only %d of %d decisions were found" % (n_seen, len(expected)))
for fault in faults:
    print(level, fault)
sys.exit(bool(faults))
END
for level in -O1 -O2 -O3; do
    # shellcheck disable=SC2046
    mpicc $("$tool" cc) $level -g "$source" -o parting$level &
done
wait
for level in -O1 -O2 -O3; do
    for run in 1 2 3; do # others may keep a rank from its CPU
        mpirun -n 2 "$tool" record ./parting$level 2>log || { cat log; exit 1; }
        "$tool" report --format json >report.json
        "$tool" report --top 0 --width 500 >report.txt
        if python3 check.py "$source" $level >found; then
            break
        elif [ $run = 3 ]; then
            cat found report.txt
            exit 1
        fi
    done
    rm -rf ./*.whywait
done

for run in 1 2 3; do # who lacks a CPU carries less of the blame, and is not called late
    OMPI_MCA_mpi_yield_when_idle=1 mpirun -n 4 "$tool" record -o run$run ./parting-O1 2>log || { cat log; exit 1; }
    "$tool" report --format json run$run >report$run.json
done
python3 - <<'END'
import json, sys
# Routine, what ranks 3 and 1 have: each within a tenth.
expected = {"trips": (900, 1200), "inner_trips": (15, 20), "passes": (1200, 1600), "branch": (0.7, 0.9), "recursion": (31, 41), "helper": (60, 80),
            "calls_more": (150, 200), "split": (150, 200), "asks_first": (6, 8)}
causes = [cause for run in "123" for cause in json.load(open("report%s.json" % run))["causes"]
          if cause["partings"] and sorted(cause["ranks"]) == [1, 3] and cause["partings"][0]["routine"] in expected]
faults = [] if causes else ["in no routine both ranks were late"]
for cause in causes:
    first = cause["partings"][0]
    for found, wanted in zip((first["late_least"], first["late_most"]), expected[first["routine"]]):
        if abs(found - wanted) > 0.1 * wanted:
            faults.append("%s: %g instead of %g: %s" % (first["routine"], found, wanted, cause["explanation"]))
# How well a cost is known is known of loops with others inside as well.
with_parts = [cause for run in "123" for cause in json.load(open("report%s.json" % run))["causes"] if cause["routine"] in expected
              and len(cause["parts"]) > 1 and cause["by_rank"][0]["executions"]]
faults += ["%s: of its cost no error is known" % cause["name"] for cause in with_parts if not cause["by_rank"][0]["cost_error_ns"]]
faults += [] if with_parts else ["no cause has parts"]
# A decision is told if each late rank makes it otherwise than the others.
edges = [cause for run in "123" for cause in json.load(open("report%s.json" % run))["causes"]
         if cause["routine"] == "edge" and sorted(cause["ranks"]) == [1, 3]]
faults += ["told of one late rank: %s" % cause["explanation"] for cause in edges for parting in cause["partings"]
           if parting["late_least"] <= parting["others"]]
print("\n".join(faults))
sys.exit(bool(faults))
END
