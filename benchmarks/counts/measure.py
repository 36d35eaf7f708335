#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Cost of exact counts: run time of small kernels with counters, as ratios to the same kernel without.

    measure.py [--whywait TOOL] [--rounds N] [--only NAME,...] [--optimise=-O2,-O3]

Each round runs every variant of a kernel once, in alternating order, and compares neighbours, so that slow phases of the
machine hit both; the median of the rounds' ratios of CPU times counts. Each variant is built in several layouts
(alignments of loops), and the mean over the layouts counts: where a short loop happens to lie changes its time by up to
30 percent either way, with or without counters. The spread is that of the rounds' means over the kernels. Beside ours:
gcc -fprofile-arcs, and with --from ours placed by a run of the kernel that counted (whywait cc --from); and where clang is installed, ours of clang, -fprofile-generate and -fprofile-instr-generate against
plain clang. With --instructions instructions are compared instead, as valgrind counts them, in one round. Exit status 1
when our geometric mean exceeds 1.01, our worst kernel 1.10, or another instrumentation of the same compiler is cheaper.
"""
import argparse
import math
import os
import pathlib
import re
import shutil
import statistics
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
COMPILERS = {'.c': ('gcc', 'clang'), '.cpp': ('g++', 'clang++'), '.f90': ('gfortran', None)}
LAYOUTS = ('', '-falign-loops=32 -falign-jumps=32', '-falign-functions=64 -falign-loops=64')
MEAN_BOUND, WORST_BOUND = 1.01, 1.10


def options():
    parser = argparse.ArgumentParser(description=__doc__.split('\n')[0])
    parser.add_argument('--whywait', default='whywait', help='the tool that prints the flags')
    parser.add_argument('--rounds', type=int, default=7)
    parser.add_argument('--only', default='', help='kernels, separated by commas')
    parser.add_argument('--optimise', default='-O2,-O3', help='levels, separated by commas')
    parser.add_argument('--instructions', action='store_true', help='compare executed instructions, not time')
    parser.add_argument('--compiler', default='', help='leave out all but gcc or clang')
    parser.add_argument('--own', action='store_true', help='leave out the other instrumentations')
    parser.add_argument('--from', dest='placed', action='store_true', help='place counters by a recorded run as well')
    parser.add_argument('--extra', default='', help='further flags for our variant')
    return parser.parse_args()


def own_flags(whywait, compiler):
    answer = subprocess.run([whywait, 'cc', '--compiler', compiler], capture_output=True, text=True, check=False)
    return answer.stdout.split()


def placed_flags(source, level, compiler, flags, args, folder):
    """The flags with which a run of the kernel at this level places the counters."""
    kept = folder / f'{source.stem}{level}-{pathlib.Path(compiler).name}.runs'
    library, program = folder / 'recorded.o', kept / 'program'
    kept.mkdir(exist_ok=True)
    subprocess.run(['mpicc', '-c', str(HERE / 'recorded.c'), '-o', str(library)], check=True)
    build(source, [compiler, *flags, str(library)], level, program, ['-lmpi'])
    subprocess.run([args.whywait, 'record', '-q', '-o', str(kept), str(program)], check=True, stdout=subprocess.DEVNULL)
    run_folder, = kept.glob('*.whywait')
    answer = subprocess.run([args.whywait, 'cc', '--compiler', compiler, '--from', str(run_folder)], capture_output=True, text=True, check=True)
    return answer.stdout.split() + args.extra.split()


def variants(source, level, flags, args, folder):
    """name -> (command prefix, name of the variant it is compared with). flags: by compiler; none = it has no plugin"""
    gcc, clang = COMPILERS[source.suffix]
    table = {}
    if args.compiler != 'clang':
        table |= {'gcc': ([gcc], None),
                  'gcc ours': ([gcc, *flags['gcc']], 'gcc'),
                  'gcc arcs': ([gcc, '-fprofile-arcs'], 'gcc')}
    if args.compiler != 'gcc' and clang and shutil.which(clang):
        table['clang'] = ([clang], None)
        if flags['clang']:
            table['clang ours'] = ([clang, *flags['clang']], 'clang')
        table |= {'clang generate': ([clang, '-fprofile-generate'], 'clang'),
                  'clang instr': ([clang, '-fprofile-instr-generate'], 'clang')}
    for family, compiler in (('gcc', gcc), ('clang', clang)):
        if args.placed and f'{family} ours' in table:
            table[f'{family} placed'] = ([compiler, *placed_flags(source, level, compiler, flags[family], args, folder)], family)
    return {name: each for name, each in table.items() if not args.own or not each[1] or name.endswith(('ours', 'placed'))}


def build(source, prefix, level, target, libraries=()):
    subprocess.run([*prefix, level, '-g', str(source), '-o', str(target), '-lm', *libraries], check=True, cwd=target.parent,
                   stderr=subprocess.DEVNULL)


def run(program):
    """CPU time, which other programs on the machine disturb less than they do wall time, and the output."""
    with open(program.parent / 'output', 'w+b') as output:
        child = subprocess.Popen([str(program)], stdout=output, cwd=program.parent)
        _, status, usage = os.wait4(child.pid, 0)
        if status:
            sys.exit(f'{program.name} failed')
        output.seek(0)
        return usage.ru_utime + usage.ru_stime, output.read()


def count(program):
    """Executed instructions, and the output."""
    child = subprocess.run(['valgrind', '--tool=cachegrind', '--cache-sim=no', '--cachegrind-out-file=/dev/null', str(program)],
                           capture_output=True, cwd=program.parent, check=True)
    found = re.search(rb'I +refs: +([0-9,]+)', child.stderr)
    return int(found[1].replace(b',', b'')), child.stdout


def build_all(source, level, table, layouts, folder):
    """(layout, variant) -> program; those that are compared with each other lie side by side"""
    programs = {}
    for number, layout in enumerate(layouts):
        for name, (prefix, _) in table.items():
            programs[number, name] = folder / f'{source.stem}{level}-{name}-{number}'
            flags = [flag for flag in layout.split() if not prefix[0].startswith('clang')]
            build(source, [*prefix, *flags], level, programs[number, name])
    return programs


def measure(source, level, flags, args, folder):
    """variant -> by round and layout: ratio to what it is compared with"""
    table = variants(source, level, flags, args, folder)
    layouts = LAYOUTS[:1] if args.instructions else LAYOUTS
    programs = build_all(source, level, table, layouts, folder)
    ratios = {name: [] for name, (_, base) in table.items() if base}
    outputs = {}
    for turn in range(1 if args.instructions else args.rounds):
        times = {}
        for key in list(programs) if turn % 2 == 0 else list(programs)[::-1]:
            times[key], outputs[key[1]] = (count if args.instructions else run)(programs[key])
        for name, rounds in ratios.items():
            rounds.append([times[n, name] / times[n, table[name][1]] for n in range(len(layouts))])
    for name, (_, base) in table.items():
        if name.endswith(('ours', 'placed')) and outputs[name] != outputs[base]:
            sys.exit(f'{source.name}: counting changed the output')
    return ratios


def mean(values):
    values = list(values)
    return math.exp(sum(map(math.log, values)) / len(values))


def typical(rounds):
    return mean([statistics.median(layout) for layout in zip(*rounds)])


def row(title, cells):
    print(f'  {title:12}' + ''.join(f'{cell:>16}' for cell in cells), flush=True)


def report(level, results):
    """results: kernel -> variant -> ratios. Returns variant -> (mean, worst)."""
    names = list(dict.fromkeys(name for ratios in results.values() for name in ratios))
    print(f'{level:14}' + ''.join(f'{name:>16}' for name in names))
    columns = {name: {kernel: ratios[name] for kernel, ratios in results.items() if name in ratios} for name in names}
    for kernel in results:
        row(kernel, [f'{typical(columns[n][kernel]):.3f}' if kernel in columns[n] else '-' for n in names])
    ratios = {name: [typical(rounds) for rounds in column.values()] for name, column in columns.items()}
    by_round = {name: [mean(map(mean, turn)) for turn in zip(*column.values())] for name, column in columns.items()}
    row('mean', [f'{mean(ratios[n]):.3f}' for n in names])
    row('spread', [f'{min(by_round[n]):.3f}..{max(by_round[n]):.3f}' for n in names])
    row('worst', [f'{max(ratios[n]):.3f}' for n in names])
    return {name: (mean(each), max(each)) for name, each in ratios.items()}


def judge(level, summary):
    faults = []
    for own, (own_mean, own_worst) in summary.items():
        if not own.endswith('ours'):
            continue
        if own_mean > MEAN_BOUND:
            faults.append(f'{level}: {own}: mean {own_mean:.3f} is above {MEAN_BOUND}')
        if own_worst > WORST_BOUND:
            faults.append(f'{level}: {own}: worst {own_worst:.3f} is above {WORST_BOUND}')
        faults += [f'{level}: {name} is cheaper' for name, (other, _) in summary.items()
                   if name.split()[0] == own.split()[0] and not name.endswith('placed') and other < own_mean]
    return faults


def main():
    args = options()
    flags = {name: own_flags(args.whywait, name) + args.extra.split() for name in ('gcc', 'clang')}
    sources = sorted(p for p in (HERE / 'kernels').iterdir() if p.suffix in COMPILERS)
    if args.compiler == 'clang':
        sources = [p for p in sources if COMPILERS[p.suffix][1]]
    if args.only:
        sources = [p for p in sources if p.stem in args.only.split(',')]
    faults = []
    with tempfile.TemporaryDirectory(prefix='whywait-counts-') as folder:
        for level in args.optimise.split(','):
            results = {p.stem: measure(p, level, flags, args, pathlib.Path(folder)) for p in sources}
            faults += judge(level, report(level, results))
    for fault in faults:
        print(f'FAULT {fault}')
    return 1 if faults else 0


if __name__ == '__main__':
    os.environ['LC_ALL'] = 'C'
    sys.exit(main())
