# SPDX-License-Identifier: BSD-3-Clause
# Run in another interpreter, by interpreters.py.
def relax(n):
    total = 0.0
    #! begin interpreters
    for i in range(n):
        total += i * 0.5 - total * 0.25
    #! end interpreters
    return total
