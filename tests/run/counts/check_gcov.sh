#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# check_gcov.sh TOOL SOURCE [FLAG...]
# `whywait export` against gcov: one program built twice at -O0, run once each on one rank, line by line. Every line that
# has a count has gcov's, and so have the ways that its conditions went. Without one are only the lines of which no instruction is left when counters are placed.
set -eu
tool=$1 source=$2
shift 2
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 OMPI_MCA_btl_vader_single_copy_mechanism=none
export OMPI_MCA_rmaps_base_oversubscribe=1
folder=$(mktemp -d "${TMPDIR:-/tmp}/whywait-gcov.XXXXXX")
trap 'rm -rf "$folder"' EXIT
cd "$folder"
cp "$source" lines.c
mpicc --coverage -fprofile-update=atomic -O0 -g "$@" lines.c -o covered
mpirun -n 1 ./covered >covered.out
gcov -b -t --json-format ./*.gcda >gcov.json 2>/dev/null
# shellcheck disable=SC2046
mpicc $("$tool" cc) -O0 -g "$@" lines.c -o counted
mpirun -n 1 "$tool" record ./counted >counted.out 2>log || { cat log; exit 1; }
cmp covered.out counted.out
"$tool" export --format gcov-json >ours.json
python3 - <<'END'
import json, re, sys

def lines(path):
    counts = {}
    for text in open(path):
        for unit in json.loads(text)['files']:
            if unit['file'].endswith('lines.c'):
                for line in unit['lines']:
                    counts[line['line_number']] = counts.get(line['line_number'], 0) + line['count']
    return counts

gcov, ours = lines('gcov.json'), lines('ours.json')
source = open('lines.c').read().split('\n')
# gcov leaves out what OpenMP makes functions of, and errs where a routine is inlined twice: there the program says itself.
for n, text in enumerate(source, 1):
    if said := re.search(r'/\* executed (\d+) times \*/', text):
        gcov[n] = int(said[1])
faults = [f'line {n}: {ours.get(n)} instead of {gcov.get(n)}: {source[n - 1].strip()}'
          for n in sorted(set(gcov) | set(ours))
          if gcov.get(n) != ours.get(n) and (n in ours or not re.match(r'\s*(break;|continue;|case .*:|default:)$', source[n - 1]))]

def functions(path):
    return {each['name']: (each['start_line'], each['execution_count']) for text in open(path)
            for unit in json.loads(text)['files'] if unit['file'].endswith('lines.c') for each in unit['functions']}

named = {name: at for name, at in functions('ours.json').items() if '._omp_fn.' not in name}
if named != functions('gcov.json'):
    faults.append(f"functions: {named} instead of {functions('gcov.json')}")

# Both count conditions in what the compiler made of them, at different times: lines with as many ways in both agree.
def branches(path):
    found = {}
    for text in open(path):
        for unit in json.loads(text)['files']:
            for line in unit['lines'] if unit['file'].endswith('lines.c') else []:
                found.setdefault(line['line_number'], []).extend(way['count'] for way in line['branches'] if not way['throw'])
    return {n: sorted(ways) for n, ways in found.items() if ways}

theirs, ways = branches('gcov.json'), branches('ours.json')
alike = [n for n in theirs if len(theirs[n]) == len(ways.get(n, []))]
faults += [f'line {n}: ways {ways[n]} instead of {theirs[n]}: {source[n - 1].strip()}' for n in alike if ways[n] != theirs[n] and 'executed' not in source[n - 1]]
if not theirs or len(alike) < 0.7 * len(theirs):
    faults.append(f'ways of lines {sorted(set(theirs) - set(alike))} of {sorted(theirs)} differ in number: {[(theirs[n], ways.get(n)) for n in sorted(set(theirs) - set(alike))]}')
print('\n'.join(faults) or f'{len(ours)} of {len(gcov)} lines, {sum(ours.values())} executions')
sys.exit(bool(faults) or len(ours) < 0.7 * len(gcov))
END
