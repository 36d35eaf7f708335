#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Cost of exact counts: run time of small kernels with counters, as ratios to the same kernel without.

    measure.py [--whywait TOOL] [--rounds N] [--only NAME,...] [--optimise=-O2,-O3]

Each round runs every variant of a kernel once, in alternating order, so that slow phases of the machine hit all alike;
the ratio is that of the
median CPU times. Each variant is built in several layouts (alignments of loops), and the mean over the layouts counts:
where a short loop happens to lie changes its time by up to 30 percent either way, with or without counters. Beside ours: gcc -fprofile-arcs, and clang -fprofile-generate against plain clang,
where clang is installed. Exit status 1 when our geometric mean exceeds 1.01, our worst kernel 1.10, or another
instrumentation is cheaper.
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
    """(variant, layout) -> program"""
    programs = {}
    for name, (prefix, _) in table.items():
        for number, layout in enumerate(LAYOUTS):
            programs[name, number] = folder / f'{source.stem}{level}-{name}-{number}'
            flags = [flag for flag in layout.split() if not prefix[0].startswith('clang')]
            build(source, [*prefix, *flags], level, programs[name, number])
    return programs


def measure(source, level, flags, args, folder):
    """variant -> ratio to what it is compared with"""
    table = variants(source, flags, args.own)
    programs = build_all(source, level, table, folder)
    times = {key: [] for key in programs}
    outputs = {}
    for turn in range(args.rounds):
        for key in list(programs) if turn % 2 == 0 else list(programs)[::-1]:
            seconds, outputs[key[0]] = run(programs[key])
            times[key].append(seconds)
    if outputs['ours'] != outputs['plain']:
        sys.exit(f'{source.name}: counting changed the output')
    typical = {name: mean([statistics.median(times[name, n]) for n in range(len(LAYOUTS))]) for name in table}
    return {name: typical[name] / typical[base] for name, (_, base) in table.items() if base}


def mean(values):
    return math.exp(sum(map(math.log, values)) / len(values))


def report(level, results, names):
    print(f'{level:14}' + ''.join(f'{name:>16}' for name in names))
    for kernel, ratios in results.items():
        print(f'  {kernel:12}' + ''.join(f'{ratios[name]:16.3f}' if name in ratios else f'{"-":>16}' for name in names))
    columns = {name: [r[name] for r in results.values() if name in r] for name in names}
    print('  mean        ' + ''.join(f'{mean(columns[name]):16.3f}' for name in names))
    print('  worst       ' + ''.join(f'{max(columns[name]):16.3f}' for name in names), flush=True)
    return {name: (mean(column), max(column)) for name, column in columns.items()}


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
            names = list(dict.fromkeys(name for ratios in results.values() for name in ratios))
            faults += judge(level, report(level, results, names))
    for fault in faults:
        print(f'FAULT {fault}')
    return 1 if faults else 0


if __name__ == '__main__':
    os.environ['LC_ALL'] = 'C'
    sys.exit(main())
