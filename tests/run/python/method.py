#!/usr/bin/python3
# SPDX-License-Identifier: BSD-3-Clause
"""
A method in a module of a package, whose inner loop is longer on one rank.

 * ranks: 3
 * expect: loop=sweep routine=Grid.sweep rank=2 share=0.85 call=MPI_Barrier site_in=finish kind=more-time
"""
from mpi4py import MPI
from parts.grid import Grid


def main():
    grid = Grid(MPI.COMM_WORLD, 60)
    for _ in range(40):
        grid.sweep()
        grid.finish()


if __name__ == "__main__":
    main()
