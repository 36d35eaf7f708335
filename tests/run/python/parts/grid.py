# SPDX-License-Identifier: BSD-3-Clause
"""The package of method.py."""


class Grid:
    def __init__(self, comm, size):
        self.comm = comm
        self.rows = [[1.0] * size for _ in range(size)]
        self.sweeps = 30 if comm.rank == 2 else 3

    def sweep(self):
        change = 0.0
        for _ in range(self.sweeps):
            for row in self.rows:
                #! begin sweep
                for i in range(1, len(row) - 1):
                    change += row[i] - 0.25 * (row[i - 1] + row[i + 1])
                #! end sweep
        return change

    def finish(self):
        self.comm.Barrier()
