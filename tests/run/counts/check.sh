#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# check.sh PLUGIN COMPARE OBJECTS SOURCES PROGRAM "LEVEL,..."
# Builds a program twice, with Knuth's counters and with a counter in every block, runs both, and compares the executions
# of every block in every interval. GCC checks its own data after each pass (-fchecking). OBJECTS: the objects of sync.c
# and counters*.c, separated by commas. COUNTS_GCC, COUNTS_CLANG: the major version of a GCC beside the usual one, or of a
# clang. COUNTS_TARGET, COUNTS_RUN: another machine by its GCC's prefix, and what runs its programs. Further flags stand in
# the program's second or third line: "flags: ...".
set -eu
suffix=${COUNTS_GCC:+-$COUNTS_GCC} target=${COUNTS_TARGET:-} runs=${COUNTS_RUN:-}
clang=${COUNTS_CLANG:-}
plugin=$1 compare=$2 objects=${3//,/ } root=$4 program=$5 levels=${6//,/ }
folder=$(mktemp -d "${TMPDIR:-/tmp}/whywait-counts.XXXXXX")
trap 'rm -rf "$folder"' EXIT
case $program in
*.cpp) compiler=${clang:+clang++-$clang} && compiler=${compiler:-${target}g++$suffix} ;;
*.f90) compiler=${target}gfortran$suffix ;;
*) compiler=${clang:+clang-$clang} && compiler=${compiler:-${target}gcc$suffix} ;;
esac
if [ -n "$clang" ]; then
    compiler+=${target:+ --target=${target%-}}
    with="-fpass-plugin=$plugin -Xclang -load -Xclang $plugin" every="-Xclang -mllvm -Xclang -whywait-every-block"
else
    with="-fchecking -fplugin=$plugin" every=-fplugin-arg-whywait_plugin-every-block
fi
flags=$(sed -n 's/.*flags: \(.*\)/\1/p' "$program" | sed 's/ \*\///')

build() { # TARGET LEVEL FLAGS...
    local target=$1 level=$2
    shift 2
    # shellcheck disable=SC2086
    $compiler ${level//+/ } $flags $with "$@" "-I$root" "$program" $objects -o "$target" -rdynamic -lpthread -lm 2>"$folder/log" ||
        { cat "$folder/log"; exit 1; }
}

for level in $levels; do
    build "$folder/knuth" "$level"
    # shellcheck disable=SC2086
    build "$folder/every" "$level" $every
    for kind in knuth every; do
        # shellcheck disable=SC2086
        (cd "$folder" && COUNTS_OUT=$kind.txt $runs "./$kind" >"$kind.out")
    done
    cmp "$folder/knuth.out" "$folder/every.out"
    printf '%s %s: ' "$(basename "$program")" "$level"
    "$compare" "$folder/knuth" "$folder/knuth.txt" "$folder/every" "$folder/every.txt"
done
