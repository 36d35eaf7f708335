# SPDX-License-Identifier: BSD-3-Clause
# Run in another interpreter, by interpreters.py and asleep.py.
import time


def relax(n):
    total = 0.0
    #! begin interpreters
    for i in range(n):
        total += i * 0.5 - total * 0.25
    #! end interpreters
    return total


#! begin asleep
def nap(seconds):
    total = 0.0
    for i in range(20000):
        total += i * 0.5
    time.sleep(seconds)
    return total
#! end asleep
