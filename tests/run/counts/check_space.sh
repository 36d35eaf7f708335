#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# check_space.sh TOOL COMPILER SOURCE [EXPECTED-IN-REPORT...]
# Bytes: what `record --space` finds is what the program says it asked for, rank by rank; the report names a line of the
# source for every point. Further arguments are patterns that the report must contain. Without --space nothing of it.
set -eu
tool=$1 compiler=$2 source=$3
shift 3
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 OMPI_MCA_btl_vader_single_copy_mechanism=none
export OMPI_MCA_rmaps_base_oversubscribe=1
folder=$(mktemp -d "${TMPDIR:-/tmp}/whywait-space.XXXXXX")
trap 'rm -rf "$folder"' EXIT
cd "$folder"

for level in -O0 -O2 -O3; do
    flags="$("$tool" cc --compiler "$compiler") $level -g" helpers=
    # shellcheck disable=SC2086
    if grep -q KNOWN_HELPERS "$source"; then
        $compiler $flags -DKNOWN_HELPERS -c "$source" -o helpers.o
        helpers=helpers.o
    fi
    # shellcheck disable=SC2086
    $compiler $flags "$source" $helpers -o space
    mpirun -n 3 "$tool" record --space ./space 2>log >output || { cat log; exit 1; }
    "$tool" report --format json >report.json
    python3 - "$source" "$level" <<'END'
import json, os, re, sys
source, level = os.path.basename(sys.argv[1]), sys.argv[2]
said = {int(rank): int(n) for rank, n in re.findall(r'asked (\d+) (\d+)', open('log').read())}
report = json.load(open('report.json'))
found = [sum(each['rank_bytes'][rank] for each in report['allocations']) for rank in range(3)]
faults = [f'rank {rank} asked for {said[rank]} bytes, {found[rank]} were found' for rank in said if said[rank] != found[rank]]
if len(said) != 3:
    faults.append(f'{len(said)} ranks said what they asked for')
if sum(found) != report['allocated_bytes']:
    faults.append('allocated_bytes is not the sum')
if level != '-O0':
    faults += [f'{each["file"]}:{each["line"]} is no line of the source' for each in report['allocations']
               if os.path.basename(each['file'] or '') != source]
for fault in faults:
    print(f'{source} {level}: {fault}')
sys.exit(bool(faults))
END
    "$tool" report --by space >space.txt
    "$tool" report --by space --routines --graph --top 0 >graph.txt
    "$tool" report --by space --routines | tr '\n' ' ' | grep -q 'who asks for most in it' || { echo "bytes are told as time"; exit 1; }
    "$tool" report --by space --routines --format json >bytes.json
    python3 - "$level" <<'END'
import json, sys
report, level = json.load(open('bytes.json')), sys.argv[1]
routines, asked = report['routines'], report['allocated_bytes']
own = sum(each['self_bytes'] for each in routines)
top = max(each['total_bytes'] for each in routines)
faults = []
if own != asked:
    faults.append(f'routines asked for {own} bytes themselves, {asked} were asked for')
if level == '-O0' and top < 0.9 * asked:
    faults.append(f'the routine with most leads to {top} of {asked} bytes')
if any(sum(each['rank_self_bytes']) != each['self_bytes'] for each in routines):
    faults.append('bytes by rank are not the sum')
if 'asked for by all ranks' not in open('graph.txt').read():
    faults.append('the graph does not say what it is of')
for fault in faults:
    print(f'bytes by routine, {level}: {fault}')
sys.exit(bool(faults))
END
    "$tool" report --top 0 --width 300 >report.txt
    for pattern; do
        grep -q -- "$pattern" space.txt report.txt || { echo "$level: nothing like \"$pattern\" in"; cat space.txt report.txt; exit 1; }
    done
    rm -rf ./*.whywait
done

mpirun -n 2 "$tool" record ./space 2>log >output
"$tool" report --format json | python3 -c 'import json, sys; sys.exit(bool(json.load(sys.stdin)["allocations"]))'
if "$tool" report --by space 2>error; then exit 1; fi
grep -q -- '--space' error
