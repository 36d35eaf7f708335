#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# check_modules.sh PLUGIN COMPARE OBJECTS SOURCES
# Exact counts across shared libraries (linked, loaded late, unloaded and loaded again), a static archive, functions that
# several units define, sections that the linker drops, and after strip: as check.sh, for programs of several files.
set -eu
plugin=$1 compare=$2 objects=${3//,/ } root=$4
sources=$root/tests/run/counts/modules
folder=$(mktemp -d "${TMPDIR:-/tmp}/whywait-counts.XXXXXX")
trap 'rm -rf "$folder"' EXIT

build() { # KIND LINKER STRIP FLAGS...
    local out=$folder/$1 linker=$2 strip=$3
    local flags="-fplugin=$plugin -I$root -I$sources -Wno-attributes"
    shift 3
    rm -rf "$out"
    mkdir "$out"
    # shellcheck disable=SC2086
    {
        g++ $flags "$@" -fPIC -shared $linker "$sources/shared.cpp" -o "$out/libshared.so" &&
        g++ $flags "$@" -fPIC -shared $linker "$sources/late.cpp" -o "$out/late.so" &&
        g++ $flags "$@" -c "$sources/archive.cpp" -o "$out/archive.o" &&
        ar rcs "$out/libarchive.a" "$out/archive.o" &&
        g++ $flags "$@" $linker "$sources/main.cpp" $objects -o "$out/main" -rdynamic -L"$out" -lshared -larchive \
            "-Wl,-rpath,$out" -ldl -lpthread &&
        $strip "$out/main" "$out/libshared.so" "$out/late.so"
    } 2>"$folder/log" || { cat "$folder/log"; exit 1; }
    COUNTS_OUT=$out/dump "$out/main" "$out/late.so" >"$out/output"
}

check() { # NAME LINKER STRIP FLAGS...
    local name=$1
    shift
    build knuth "$@"
    build every "$@" -fplugin-arg-whywait_plugin-every-block
    cmp "$folder/knuth/output" "$folder/every/output"
    printf '%s: ' "$name"
    "$compare" "$folder/knuth/main" "$folder/knuth/dump" "$folder/every/main" "$folder/every/dump"
}

check "-O2" "" true -O2
check "-O0 -g, strip -g" "" "strip -g" -O0 -g
check "-O2, strip" "" strip -O2
check "-O2, dropped sections" "-Wl,--gc-sections" true -O2 -ffunction-sections -fdata-sections
check "-O2, initial-exec" "" true -O2 -fplugin-arg-whywait_plugin-tls=initial-exec
if ld.gold --version >/dev/null 2>&1; then
    check "-O2, gold" "-fuse-ld=gold" true -O2 -ffunction-sections
fi
if ld.lld --version >/dev/null 2>&1; then
    check "-O2, lld" "-fuse-ld=lld -Wl,--gc-sections" true -O2 -ffunction-sections
fi
