#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Cost of exact counts: run time of small kernels with counters, as ratios to the same kernel without.

    measure.py [--whywait TOOL] [--rounds N] [--only NAME,...] [--optimise=-O2,-O3]

Each round runs every variant of a kernel once, in alternating order, and compares neighbours, so that slow phases of the
machine hit both; the median of the rounds' ratios of CPU times counts. Each variant is built in several layouts
(alignments of loops), and the mean over the layouts counts: where a short loop happens to lie changes its time by up to
30 percent either way, with or without counters. The spread is that of the rounds' means over the kernels. Beside ours:
gcc -fprofile-arcs, and clang -fprofile-generate against plain clang, where clang is installed. Exit status 1 when our
geometric mean exceeds 1.01, our worst kernel 1.10, or another instrumentation is cheaper.
"""
import argparse
import math
import os
import pathlib
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
    parser.add_argument('--own', action='store_true', help='leave out the other instrumentations')
    parser.add_argument('--extra', default='', help='further flags for our variant')
    return parser.parse_args()


def variants(source, flags, own):
    """name -> (command prefix, name of the variant it is compared with)"""
    gcc, clang = COMPILERS[source.suffix]
    table = {'plain': ([gcc], None),
             'ours': ([gcc, *flags], 'plain'),
             'profile-arcs': ([gcc, '-fprofile-arcs'], 'plain')}
    if own:
        del table['profile-arcs']
    elif clang and shutil.which(clang):
        table['clang'] = ([clang], None)
        table['clang-generate'] = ([clang, '-fprofile-generate'], 'clang')
    return table


def build(source, prefix, level, target):
    subprocess.run([*prefix, level, '-g', str(source), '-o', str(target), '-lm'], check=True, cwd=target.parent,
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


def build_all(source, level, table, folder):
    """(layout, variant) -> program; those that are compared with each other lie side by side"""
    programs = {}
    for number, layout in enumerate(LAYOUTS):
        for name, (prefix, _) in table.items():
            programs[number, name] = folder / f'{source.stem}{level}-{name}-{number}'
            flags = [flag for flag in layout.split() if not prefix[0].startswith('clang')]
            build(source, [*prefix, *flags], level, programs[number, name])
    return programs


def measure(source, level, flags, args, folder):
    """variant -> by round and layout: ratio to what it is compared with"""
    table = variants(source, flags, args.own)
    programs = build_all(source, level, table, folder)
    ratios = {name: [] for name, (_, base) in table.items() if base}
    outputs = {}
    for turn in range(args.rounds):
        times = {}
        for key in list(programs) if turn % 2 == 0 else list(programs)[::-1]:
            times[key], outputs[key[1]] = run(programs[key])
        for name, rounds in ratios.items():
            rounds.append([times[n, name] / times[n, table[name][1]] for n in range(len(LAYOUTS))])
    if outputs['ours'] != outputs['plain']:
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
    own_mean, own_worst = summary['ours']
    faults = []
    if own_mean > MEAN_BOUND:
        faults.append(f'{level}: mean {own_mean:.3f} is above {MEAN_BOUND}')
    if own_worst > WORST_BOUND:
        faults.append(f'{level}: worst {own_worst:.3f} is above {WORST_BOUND}')
    faults += [f'{level}: {name} is cheaper' for name, (other, _) in summary.items() if other < own_mean]
    return faults


def main():
    args = options()
    flags = subprocess.run([args.whywait, 'cc', '--compiler', 'gcc'], capture_output=True, text=True, check=True)
    flags = flags.stdout.split() + args.extra.split()
    sources = sorted(p for p in (HERE / 'kernels').iterdir() if p.suffix in COMPILERS)
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
