#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# check_pointers.sh TOOL SOURCE
# Calls through pointers: of each counted routine the calls of its known callers and the rest add up to all of them.
set -eu
tool=$1 source=$2
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 OMPI_MCA_btl_vader_single_copy_mechanism=none
export OMPI_MCA_rmaps_base_oversubscribe=1
folder=$(mktemp -d "${TMPDIR:-/tmp}/whywait-pointers.XXXXXX")
trap 'rm -rf "$folder"' EXIT
cd "$folder"
# shellcheck disable=SC2046
mpicc $("$tool" cc) -O2 -g "$source" -o pointers
mpirun -n 2 "$tool" record ./pointers >out 2>log || { cat log; exit 1; }
"$tool" report --routines --format json >report.json
python3 - <<'END'
import json, sys
routines = json.load(open("report.json"))["routines"]
by_name = {each["routine"]: each for each in routines}
faults, RANKS, TURNS = [], 2, 1500
def same(what, found, wanted):
    if found != wanted:
        faults.append("%s: %s instead of %s" % (what, found, wanted))
for each in routines:
    if each["calls"]:
        known = sum(arc["calls"] for arc in each["called_by"] if arc["number"] != each["number"])
        same("callers of " + each["routine"], known + each["calls_from_unknown"], each["calls"])
both, compare, calls = by_name["called_both_ways"], by_name["compare"], by_name["calls"]
same("calls both ways", both["calls"], 2 * TURNS * RANKS)
same("direct calls", sum(arc["calls"] for arc in both["called_by"]), TURNS * RANKS)
same("calls through a pointer", both["calls_from_unknown"], TURNS * RANKS)
same("calls by pointer of calls()", calls["calls_to_unknown"], 2 * TURNS * RANKS)
same("calls of compare() without a caller", compare["calls_from_unknown"], compare["calls"])
for fault in faults:
    print(fault)
sys.exit(bool(faults))
END
"$tool" report --routine called_both_ways >text
grep -q "through pointers, or from code that is not counted .* 3,000" text || { cat text; exit 1; }
