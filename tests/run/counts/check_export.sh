#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# check_export.sh TOOL SOURCE
# From the compiler to the report's numbers: builds an MPI program with the flags that the tool prints, records it on three
# ranks, and compares `whywait export` with what the program is known to do, digit by digit. The same program must print
# the same without the recorder.
set -eu
tool=$1 source=$2
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 OMPI_MCA_btl_vader_single_copy_mechanism=none
export OMPI_MCA_rmaps_base_oversubscribe=1
folder=$(mktemp -d "${TMPDIR:-/tmp}/whywait-counts.XXXXXX")
trap 'rm -rf "$folder"' EXIT
cd "$folder"
# shellcheck disable=SC2046
mpicc $("$tool" cc) -O2 -g "$source" -o ranks
mpirun -n 3 ./ranks >alone
mpirun -n 3 "$tool" record ./ranks >recorded 2>log || { cat log; exit 1; }
cmp alone recorded
"$tool" export >counts
"$tool" export --format gcov-json | python3 -c 'import json, sys; print(len([json.loads(line) for line in sys.stdin]))' >objects

status=0
if command -v otf2-print >/dev/null && otf2-print ./*.whywait/traces.otf2 2>&1 >/dev/null | grep .; then
    echo "otf2-print complains" && status=1
fi
expect() { # WHAT RANK EXECUTIONS
    local line count
    line=$(grep -n "/\* $1 \*/" "$source" | cut -d: -f1)
    count=$(awk -F'[:,]' -v rank="TN:rank_$2" -v line="$line" \
        '/^TN/ { on = $0 == rank } on && $1 == "DA" && $2 == line { print $3 }' counts)
    [ "$count" = "$3" ] || { echo "rank $2, line $line ($1): $count executions instead of $3"; status=1; }
}
for rank in 0 1 2; do
    expect LOOP $rank $((100 * 1000 * (rank + 1)))
    expect CALL $rank 100
done

# Counters that another version of the plugin has placed (its number is in each entry of their table): they are told and
# left out, and nothing is left to export.
cp ranks kept
python3 - ranks <<'PYTHON'
import re, sys
data = open(sys.argv[1], "rb").read()
open(sys.argv[1], "wb").write(re.sub(rb"(?s)(1PWW....)\x05\0\0\0", lambda entry: entry[1] + b"\x03\0\0\0", data))
PYTHON
if "$tool" export >old 2>log; then
    echo "an export without any counts has status 0" && status=1
fi
if ! grep -q 'ranks has counters of another version .* build it again with .whywait cc' log; then
    echo "counters of another version are not told:" && cat log && status=1
fi
[ ! -s old ] || { echo "something was read into them:"; head -5 old; status=1; }
mv kept ranks

# One routine alone: its counts as before, nothing of the others, and a name that fits nothing is told once.
rm -rf ./*.whywait
mpirun -n 3 "$tool" record --only 'int*al' --only nobody ./ranks >recorded 2>log
cmp alone recorded
[ "$(grep -c -- '--only nobody: ' log)" = 1 ] || { echo "expected one line on the name that fits nothing:"; cat log; status=1; }
"$tool" export >counts
for rank in 0 1 2; do
    expect LOOP $rank $((100 * 1000 * (rank + 1)))
done
first=$(grep -n '^int main' "$source" | cut -d: -f1)
awk -F'[:,]' -v first="$first" '$1 == "DA" && $2 >= first { exit 1 }' counts || { echo "counts of main() in spite of --only"; status=1; }

grep -q '^FNDA:100,interval$' counts || { echo "interval() has not its 100 calls"; status=1; }
[ "$(cat objects)" = 3 ] || { echo "$(cat objects) objects of JSON instead of 3"; status=1; }
exit $status
