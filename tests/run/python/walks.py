#!/usr/bin/python3
# SPDX-License-Identifier: BSD-3-Clause
"""Frames, code objects and threads come and go as fast as they can, while walks.c reads them: nothing crashes, and all
results are right.

    walks.py LIBRARY [--samples N] [--seconds S]     10 million samples, by hand: --samples 10000000 --seconds 3600
"""
import argparse
import ctypes
import gc
import sys
import threading
import time

options = argparse.ArgumentParser(description=__doc__.splitlines()[0])
options.add_argument("library")
options.add_argument("--samples", type=int, default=100000)
options.add_argument("--seconds", type=float, default=60, help="not enough samples by then: wrong")
args = options.parse_args()

PERIOD_NS, THREADS = 250000, 3  # about as long as a walk takes beside others, so that the program goes on between
walks = ctypes.CDLL(args.library)
walks.walks_begin.argtypes = [ctypes.c_long]
walks.walks_samples.restype = ctypes.c_uint64
stop_s = time.monotonic() + args.seconds
wrong = []


def goes_on():
    return walks.walks_samples() < args.samples and time.monotonic() < stop_s and not wrong


def pieces(n):
    if n:
        yield from pieces(n - 1)
    for i in range(5):
        yield [x for x in range(i)]


def deep(n):
    return walks.walks_call() * 0 if n == 0 else 1 + deep(n - 1)


def made_code(k):
    """New code objects, which end at once."""
    text = "def f%d(a):\n    b = [a * i for i in range(9)]\n    return (lambda q: q + sum(b))(a)\nr = f%d(%d)"
    space = {}
    exec(compile(text % (k, k, k), "<made %d>" % (k % 7), "exec"), space)
    return space["r"] == 37 * k


def raised(k):
    try:
        raise ValueError(k)
    except ValueError as error:
        return error.__traceback__.tb_frame.f_code.co_name == "raised"


def short_thread():
    results = []

    def work():
        walks.walks_begin(PERIOD_NS)
        results.append(deep(50))
        walks.walks_end()

    thread = threading.Thread(target=work)
    thread.start()
    thread.join()
    return results == [50]


def churn():
    walks.walks_begin(PERIOD_NS)
    k = 0
    while goes_on():
        k += 1
        is_right = made_code(k) and len(list(pieces(6))) == 35 and deep(k % 150) == k % 150 and raised(k)
        if k % 50 == 0:
            is_right = is_right and short_thread()
            gc.collect()
        if not is_right:
            wrong.append(k)
    walks.walks_end()


if not walks.walks_open():
    sys.exit("frames cannot be read here")
threads = [threading.Thread(target=churn) for _ in range(THREADS)]
for each in threads:
    each.start()
churn()
for each in threads:
    each.join()
n = walks.walks_samples()
walks.walks_close()
if wrong or n < args.samples:
    sys.exit("%d samples of %d; wrong results in turns %s" % (n, args.samples, wrong))
