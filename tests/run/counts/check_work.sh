#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# check_work.sh PLUGIN COMPARE OBJECTS SOURCES PROGRAM LEVEL...
# What counts say of the instructions that ran in each loop, against stepping through them one by one. OBJECTS: those of
# sync.c, counters*.c and steps.c, separated by commas.
set -eu
plugin=$1 compare=$2 objects=${3//,/ } root=$4 program=$5
shift 5
folder=$(mktemp -d "${TMPDIR:-/tmp}/whywait-work.XXXXXX")
trap 'rm -rf "$folder"' EXIT
status=0
for level; do
    # shellcheck disable=SC2086
    gcc "$level" -g "-fplugin=$plugin" "-I$root" "$program" $objects -o "$folder/program" -rdynamic -lpthread -lm
    (cd "$folder" && COUNTS_OUT=counts.txt COUNTS_STEPS=steps.txt ./program >out)
    printf '%s %s: ' "$(basename "$program")" "$level"
    "$compare" "$folder/program" "$folder/counts.txt" "$folder/steps.txt" || status=1
done
exit $status
