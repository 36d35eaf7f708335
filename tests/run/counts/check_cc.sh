#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# check_cc.sh TOOL
# `whywait cc`: flags for the compiler that the plugin was built for, one clear line and no flags for any other; --only
# leaves the other functions without counters; functions that are alike stay apart; code with counters grows no faster than without.
set -eu
tool=$1
folder=$(mktemp -d "${TMPDIR:-/tmp}/whywait-cc.XXXXXX")
trap 'rm -rf "$folder"' EXIT
cd "$folder"
status=0

refused() { # WHAT EXPECTED OPTIONS...
    local what=$1 expected=$2
    shift 2
    if "$tool" cc "$@" >flags 2>said; then echo "$what: flags were printed"; status=1; fi
    [ ! -s flags ] && [ "$(wc -l <said)" = 1 ] && grep -q -- "$expected" said || { echo "$what:"; cat flags said; status=1; }
}
printf '#!/bin/sh\necho 9.5.0\n' >gcc-other
chmod +x gcc-other
refused "another GCC" "is GCC 9.5.0, but plugins were built for GCC" --compiler ./gcc-other
for gcc in gcc-{10..16}; do
    command -v "$gcc" >/dev/null || continue
    [ -d "$("$gcc" -print-file-name=plugin)/include" ] || continue
    "$tool" cc --compiler "$gcc" | grep -q "/whywait/$gcc/" || { echo "$gcc: another plugin"; status=1; }
done
# The same version for another machine takes another plugin.
printf '#!/bin/sh\n[ "$1" = -dumpmachine ] && echo riscv64-linux-gnu || gcc "$@"\n' >gcc-elsewhere
chmod +x gcc-elsewhere
refused "another machine" "for riscv64, but plugins were built for GCC" --compiler ./gcc-elsewhere
cross=aarch64-linux-gnu-gcc
if command -v $cross >/dev/null && [ "$(uname -m)" = x86_64 ] && [ -d "$($cross -print-file-name=plugin)/include" ]; then
    "$tool" cc --compiler $cross | grep -q '/whywait/gcc-[0-9]*-aarch64/' || { echo "$cross: another plugin"; status=1; }
fi
refused "no compiler" "is neither GCC nor clang, or is not there" --compiler ./none
# A wrapper that runs another compiler: GCC's flags would end the build.
mkdir behind && printf '#!/bin/sh\necho "nvc: error" >&2; exit 1\n' >behind/mpicc && chmod +x behind/mpicc
PATH=$PWD/behind:$PATH refused "a wrapper of another compiler" "mpicc is neither GCC nor clang, or is not there"
printf '#!/bin/sh\n[ "$1" = --version ] && echo "clang version 3.9.1 (tags/final)"\n' >behind/mpicc
PATH=$PWD/behind:$PATH refused "an old clang" "mpicc is clang 3.9.1, but plugins were built for"
refused "a blank in a pattern" "without blanks" --compiler gcc --only 'a b'

count_only() { # COMPILER: of two functions one alone
    # shellcheck disable=SC2046
    "$1" $("$tool" cc --compiler "$1" --only 'want?d') -O0 two.c -o two
    [ "$(./two)" = 13 ] || { echo "$1: the program printed $(./two)"; status=1; }
    readelf -p .whywait_strings two >strings
    grep -q ' wanted$' strings && ! grep -q ' other$\| main$' strings || { echo "$1 counted functions:"; cat strings; status=1; }
}
cat >two.c <<'END'
#include <stdio.h>
int wanted(int x) { return x > 3 ? x * 2 : x; }
int other(int x) { return x > 5 ? x - 1 : x; }
int main(void) { return printf("%d\n", wanted(4) + other(6)) < 0; }
END
count_only gcc
for clang in clang-{14..21}; do
    command -v $clang >/dev/null && "$tool" version | grep -q "clang.* ${clang#clang-}\." || continue
    count_only $clang
    "$tool" cc --compiler $clang | grep -q "/whywait/$clang/" || { echo "$clang: another plugin"; status=1; }
done

# Functions that are alike are not made one: each has its own name and counts.
cat >alike.c <<'END'
__attribute__((noinline, noclone)) static int first(const int *x, int n) { int s = 0; for (int i = 0; i < n; i++) s = s * 3 + x[i]; return s; }
__attribute__((noinline, noclone)) static int second(const int *x, int n) { int s = 0; for (int i = 0; i < n; i++) s = s * 3 + x[i]; return s; }
int main(int argc, char **argv) { int x[] = {argc, 2, 3}; return first(x, argc) + second(x, argc + 1) == argv[0][0]; }
END
# shellcheck disable=SC2046
gcc $("$tool" cc --compiler gcc) -O2 alike.c -o alike
readelf -p .whywait_strings alike >strings
grep -q ' first$' strings && grep -q ' second$' strings || { echo "two functions that are alike:"; cat strings; status=1; }

# Every way out of a loop adds up the loop's counters: as many as there is room for, or the code grows by the square.
text_bytes() { # EXITS
    {
        echo 'unsigned f(const unsigned *x, unsigned n) { unsigned s = 0; for (unsigned i = 0; i < n; i++) {'
        for ((k = 3; k < $1 + 3; k++)); do echo "if ((x[i] ^ s) % $k == 1) { s += x[i] * $k; if (s > $k * 1000) return s + $k; }"; done
        echo '} return s; }'
    } >exits.c
    # shellcheck disable=SC2046
    gcc $("$tool" cc --compiler gcc) -O2 -c exits.c
    size exits.o | awk 'NR == 2 { print $1 }'
}
few=$(text_bytes 50) many=$(text_bytes 100)
[ "$many" -lt $((3 * few)) ] || { echo "50 ways out of a loop: $few bytes; 100: $many bytes"; status=1; }
exit $status
