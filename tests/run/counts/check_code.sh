#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# check_code.sh PLUGIN SOURCES PROGRAMS
# What counters must not do to the code around them. A function that may return at once and saves no registers before it
# knows does not save any with counters either (early_returns.c: six pushes and pops a call); a choice between two values
# needs no jump (choices.c: a wrong guess each time); a loop that tells its iterations counts nothing in it, if what it
# calls ends no interval (helpers.c); and the address of counters occupies no register. A function whose callers count its
# calls counts nothing if it has no branches (called.c).
set -eu
plugin=$1 root=$2 programs=$3
folder=$(mktemp -d "${TMPDIR:-/tmp}/whywait-code.XXXXXX")
trap 'rm -rf "$folder"' EXIT

build() { # LEVEL PROGRAM: plain.o, counted.o, and their code
    gcc "$1" "-I$root" -c "$programs/$2" -o "$folder/plain.o"
    gcc "$1" "-fplugin=$plugin" "-I$root" -c "$programs/$2" -o "$folder/counted.o"
    for kind in plain counted; do
        objdump -dr --no-show-raw-insn "$folder/$kind.o" >"$folder/$kind.code"
    done
    grep -q '%fs:' "$folder/counted.code" || { echo "$1 $2: no counters" >&2; exit 1; }
    ! grep -q 'lea .*R_X86_64_TPOFF32' <(tr '\n' ' ' <"$folder/counted.code" | sed 's/ [0-9a-f]*:\t/\n/g') ||
        { echo "$1 $2: a register holds an address of counters" >&2; exit 1; }
}
early() { # CODE: the functions in which a jump on a condition comes before the first push
    awk '/^[0-9a-f]+ <.*>:$/ { name = $2; is_open = name ~ /<may_/ }
        is_open && $2 == "push" { is_open = 0 }
        is_open && $2 ~ /^j/ && $2 != "jmp" { print name; is_open = 0 }' "$1" | sort
}
jumps() { # CODE: jumps on conditions in the functions that choose
    awk '/^[0-9a-f]+ <.*>:$/ { name = $2; is_open = name ~ /<chooses_/ }
        is_open && $2 ~ /^j/ && $2 != "jmp" { n[name]++ }
        END { for (name in n) print name, n[name] }' "$1" | sort
}
additions() { # CODE: additions to counters between the way back of a loop and where it leads, in the functions that tell
    LC_ALL=C awk 'function place(address) { sub(/:$/, "", address); return sprintf("%16s", address) }
        /^[0-9a-f]+ <.*>:$/ { name = $2; is_open = name ~ /<tells_/; n = 0 }
        is_open && /%fs:/ { at[n++] = place($1) }
        is_open && $2 ~ /^j/ && place($3) < place($1) {
            inside = 0
            for (i = 0; i < n; i++)
                inside += at[i] >= place($3)
            print name, inside
        }' "$1" | sort
}
straight() { # CODE: additions to counters in the functions that are known to be straight, and called by counted code alone
    awk '/^[0-9a-f]+ <.*>:$/ { name = $2; is_open = name ~ /^<(move|leaf_.*)>:$/; if (is_open) n[name] = 0 }
        is_open && /%fs:/ { n[name]++ }
        END { for (name in n) print name, n[name] }' "$1" | sort
}

for level in -O2 -O3; do
    build $level early_returns.c
    early "$folder/plain.code" >"$folder/plain"
    early "$folder/counted.code" >"$folder/counted"
    grep -q may_return_it "$folder/plain" || { echo "$level: this compiler saves registers first anyway" >&2; exit 1; }
    worse=$(comm -23 "$folder/plain" "$folder/counted")
    [ -z "$worse" ] || { echo "$level: with counters these save registers first:" "$worse" >&2; exit 1; }
    build $level choices.c
    jumps "$folder/plain.code" >"$folder/plain"
    jumps "$folder/counted.code" >"$folder/counted"
    [ "$(wc -l <"$folder/plain")" = 2 ] || { echo "$level: which functions choose?" >&2; cat "$folder/plain" >&2; exit 1; }
    diff "$folder/plain" "$folder/counted" || { echo "$level: counters made jumps of choices" >&2; exit 1; }
    build $level helpers.c
    additions "$folder/counted.code" >"$folder/counted"
    [ "$(wc -l <"$folder/counted")" = 2 ] || { echo "$level: which functions tell?" >&2; cat "$folder/counted" >&2; exit 1; }
    ! grep -v ' 0$' "$folder/counted" || { echo "$level: these count in their loops" >&2; exit 1; }
    build $level called.c
    straight "$folder/counted.code" >"$folder/counted"
    [ "$(wc -l <"$folder/counted")" = 3 ] || { echo "$level: which functions are straight?" >&2; cat "$folder/counted" >&2; exit 1; }
    ! grep -v ' 0$' "$folder/counted" || { echo "$level: these count their calls" >&2; exit 1; }
done
