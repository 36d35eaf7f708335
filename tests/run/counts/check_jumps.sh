#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# check_jumps.sh TOOL FOLDER
# Frames that a longjmp removes in translation units that know nothing of it: every line in FOLDER that says how often it
# is executed, at several levels. Then jumps out of signal handlers and between stacks, which only must not be hurt.
set -eu
tool=$1 sources=$2
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 OMPI_MCA_btl_vader_single_copy_mechanism=none
folder=$(mktemp -d "${TMPDIR:-/tmp}/whywait-jumps.XXXXXX")
trap 'rm -rf "$folder"' EXIT
cd "$folder"
cp "$sources"/* .
status=0
for flags in -O0 -O2 "-O2 -D_FORTIFY_SOURCE=2 -fPIC"; do
    rm -rf ./*.whywait
    # shellcheck disable=SC2046,SC2086
    mpicc $("$tool" cc) $flags -g main.c tasks.c -o jumps
    mpirun -n 1 ./jumps >alone
    mpirun -n 1 "$tool" record ./jumps >recorded 2>log || { cat log; exit 1; }
    cmp alone recorded
    "$tool" export >counts 2>notes
    [ ! -s notes ] || { cat notes; status=1; }
    grep -n '/\* executed' main.c tasks.c | sed 's/^\(.*\):\([0-9]*\):.*executed \([0-9]*\) times.*/\1 \2 \3/' | while read -r file line times; do
        count=$(awk -F'[:,]' -v file="$file" -v line="$line" \
            '/^SF/ { on = $2 ~ file "$" } on && $1 == "DA" && $2 == line { print $3 }' counts)
        [ "$count" = "$times" ] || echo "$flags: $file:$line: $count executions instead of $times"
    done | tee wrong
    [ ! -s wrong ] || status=1
done

# shellcheck disable=SC2046
mpicc $("$tool" cc) -O2 -g signals.c -o signals
mpirun -n 1 ./signals >alone
mpirun -n 1 timeout 60 "$tool" record ./signals >recorded 2>log || { cat log; exit 1; }
cmp alone recorded
exit $status
