# SPDX-License-Identifier: BSD-3-Clause
"""A thread beside the one that calls MPI."""
import contextlib
import threading


@contextlib.contextmanager
def beside(work, is_there):
    """While the block lasts, another thread does `work`, which is given an event that is set when it is to end."""
    stop = threading.Event()
    thread = threading.Thread(target=work, args=(stop,))
    if is_there:
        thread.start()
    yield
    stop.set()
    if is_there:
        thread.join()
