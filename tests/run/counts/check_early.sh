#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# check_early.sh PLUGIN SOURCES PROGRAM
# A function that may return at once and saves no registers before it knows does not save any with counters either: a
# counter there costs an addition, not six pushes and pops a call.
set -eu
plugin=$1 root=$2 program=$3
folder=$(mktemp -d "${TMPDIR:-/tmp}/whywait-early.XXXXXX")
trap 'rm -rf "$folder"' EXIT
early() { # OBJECT: the functions in which a jump on a condition comes before the first push
    objdump -d --no-show-raw-insn "$1" | awk '
        /^[0-9a-f]+ <.*>:$/ { name = $2; is_open = name ~ /<may_/ }
        is_open && $2 == "push" { is_open = 0 }
        is_open && $2 ~ /^j/ && $2 != "jmp" { print name; is_open = 0 }' | sort
}
for level in -O2 -O3; do
    gcc $level "-I$root" -c "$program" -o "$folder/plain.o"
    gcc $level "-fplugin=$plugin" "-I$root" -c "$program" -o "$folder/counted.o"
    early "$folder/plain.o" >"$folder/plain"
    early "$folder/counted.o" >"$folder/counted"
    grep -q may_return_it "$folder/plain" || { echo "$level: this compiler saves registers first anyway" >&2; exit 1; }
    worse=$(comm -23 "$folder/plain" "$folder/counted")
    [ -z "$worse" ] || { echo "$level: with counters these save registers first:" "$worse" >&2; exit 1; }
    objdump -d "$folder/counted.o" | grep -q '%fs:' || { echo "$level: no counters" >&2; exit 1; }
done
