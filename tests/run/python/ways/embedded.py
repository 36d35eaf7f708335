# SPDX-License-Identifier: BSD-3-Clause
# Run by embedded.c.
def relax(n):
    total = 0.0
    #! begin embedded
    for i in range(n):
        x = i * 0.5
        total += x * x
    #! end embedded
    return total
