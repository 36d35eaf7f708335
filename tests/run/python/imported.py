#!/usr/bin/python3
# SPDX-License-Identifier: BSD-3-Clause
"""
One rank alone imports packages: told at the line that wants them, not at the code of each module that is run. At its
end that rank has all of them to take down again, which is a cause of its own.

 * ranks: 2
 * expect: loop=imports routine=prepare rank=1 share=0.7 call=MPI_Barrier site_in=main kind=any
 *         says="most of it imports modules" next="on all ranks at the same time"
"""
from mpi4py import MPI


#! begin imports
def prepare():
    import numpy.f2py, numpy.testing, asyncio, unittest.mock, xml.dom.minidom, concurrent.futures, sqlite3, pydoc
    return numpy.testing, asyncio, unittest, xml, concurrent, sqlite3, pydoc
#! end imports


def main():
    comm = MPI.COMM_WORLD
    comm.Barrier()
    if comm.rank == 1:
        prepare()
    comm.Barrier()


if __name__ == "__main__":
    main()
