#!/usr/bin/python3
# SPDX-License-Identifier: BSD-3-Clause
"""
The inner function of a decorator works more on one rank than what it is around.

 * ranks: 2
 * expect: loop=checked routine=checked.inner rank=1 share=0.85 call=MPI_Barrier site_in=main kind=more-time
"""
import functools

from mpi4py import MPI


def checked(function):
    @functools.wraps(function)
    def inner(values):
        total = 0
        #! begin checked
        for value in values:
            if value != value:
                raise ValueError
            total += 1
        #! end checked
        return function(values)

    return inner


@checked
def add(values):
    return values[0]


def main():
    comm = MPI.COMM_WORLD
    values = [1.0] * (400000 if comm.rank == 1 else 40000)
    for _ in range(50):
        add(values)
        comm.Barrier()


if __name__ == "__main__":
    main()
