#!/usr/bin/python3
# SPDX-License-Identifier: BSD-3-Clause
"""
A package that calls MPI is the program, wherever it is installed: its loop is named, not the line of the script.

 * ranks: 2
 * expect: loop=relax_flow routine=relax rank=1 share=0.85 call=MPI_Barrier site_in=solve kind=more-time
"""
import planted_flow
from mpi4py import MPI

planted_flow.solve(MPI.COMM_WORLD, 500000 if MPI.COMM_WORLD.rank == 1 else 50000)
