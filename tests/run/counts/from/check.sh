#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# check.sh TOOL ADDITIONS COMPILER...
# `whywait cc --from RUN`: counters lie where the run executed least, and count the same. A routine that was changed since is
# counted as without a run. A run that counted nothing, lacks counts, or is none, gives a clear message and no flags.
set -eu
tool=$1 additions=$2 source=$(dirname "$0")/skewed.c
shift 2
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 OMPI_MCA_btl_vader_single_copy_mechanism=none
export OMPI_MCA_rmaps_base_oversubscribe=1
folder=$(mktemp -d "${TMPDIR:-/tmp}/whywait-from.XXXXXX")
trap 'rm -rf "$folder"' EXIT
cp "$source" "$folder/skewed.c"
cd "$folder"
status=0

record() { # NAME: the program of that name, its counts in NAME.counts
    mpirun -n 2 "$tool" record -o "runs-$1" "./$1" >"$1.out" 2>log || { cat log; exit 1; }
    "$tool" export "runs-$1"/*.whywait >"$1.counts"
}
for compiler; do
    export OMPI_CC=$compiler MPICH_CC=$compiler
    # shellcheck disable=SC2046
    mpicc $("$tool" cc) -O2 -g skewed.c -o "guessed-$compiler"
    record "guessed-$compiler"
    run=$(echo "runs-guessed-$compiler"/*.whywait)
    # shellcheck disable=SC2046
    mpicc $("$tool" cc --from "$run") -O2 -g skewed.c -o "measured-$compiler"
    record "measured-$compiler"
    cmp "guessed-$compiler.counts" "measured-$compiler.counts" && cmp "guessed-$compiler.out" "measured-$compiler.out" || status=1
    guessed=$("$additions" "guessed-$compiler" "$run/executions.txt" skewed)
    measured=$("$additions" "measured-$compiler" "$run/executions.txt" skewed)
    # Of 10,000 rounds a call each has one addition at least where a guess has two.
    [ $((10 * measured)) -lt $((7 * guessed)) ] ||
        { echo "$compiler: $measured additions a call, $guessed without a run"; status=1; }

    sed 's/i % 25 == 1/i % 25 == 1 || i % 77 == 5/' skewed.c >changed.c
    # shellcheck disable=SC2046
    mpicc $("$tool" cc --from "$run") -O2 -g changed.c -o "changed-$compiler"
    # shellcheck disable=SC2046
    mpicc $("$tool" cc) -O2 -g changed.c -o "plain-$compiler"
    record "changed-$compiler" && record "plain-$compiler"
    cmp "changed-$compiler.counts" "plain-$compiler.counts" || status=1
done

refused() { # EXPECTED RUN [LINES]
    if "$tool" cc --from "$2" >flags 2>said; then echo "$2: flags were printed"; status=1; fi
    [ ! -s flags ] && [ "$(wc -l <said)" = "${3:-1}" ] && grep -q -- "$1" said || { echo "$2:"; cat flags said; status=1; }
}
unset OMPI_CC MPICH_CC
mpicc -O2 -g skewed.c -o uncounted
mpirun -n 2 "$tool" record -o runs-uncounted ./uncounted >/dev/null 2>&1
refused "no exact counts" "$(echo runs-uncounted/*.whywait)"
refused "none" none
[ ! -e "$(echo runs-uncounted/*.whywait)/executions.txt" ] || { echo "a file without counts"; status=1; }
cp -r "$run" cut.whywait
rm cut.whywait/executions.txt
truncate -s -100 cut.whywait/traces/1.evt
refused "lacks counts" cut.whywait 2
[ ! -e cut.whywait/executions.txt ] || { echo "a file of half the counts"; status=1; }
cp -r "$run" "a blank.whywait"
refused "the shell would split" "a blank.whywait"
exit $status
