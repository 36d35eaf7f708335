# SPDX-License-Identifier: BSD-3-Clause
"""What the loops of generated programs do: for each body the declarations before the loop, one iteration, and what follows, in C, with about how
long an iteration takes. Recurrences, so that no compiler shortens them. `slower` bodies work on data of their own: see emit.py."""

#           ns of an iteration, before the loop, an iteration, after the loop
BODIES = {
    "chain": (2.8, "double x = sink;", "x = x * 0.999999 + 1e-6;", "sink = x;"),
    "hash": (2.2, "unsigned long h = bits;", "h ^= h << 13, h ^= h >> 7, h ^= h << 17;", "bits = h;"),
    "divide": (6.1, "unsigned long h = bits;", "h = 1000000007UL + 0xffffffffffffUL / (h | 1);", "bits = h;"),
    "root": (11.5, "double x = sink;", "x = sqrt(x) + 1.0;", "sink = x;"),
    "sine": (21, "double x = sink;", "x = sin(x) + 1.0;", "sink = x;"),
    "helper": (2.5, "double x = sink;", "x = HELPER(x);", "sink = x;"),
    "branch": (3.5, "double x = sink;", "if (x > 0.5)\n    x = x * 0.999 - 0.1;\nelse\n    x = x * 1.5 + 0.3;", "sink = x;"),
    "row": (400, "", "for (int j = 0; j < 1024; j++)\n    row[j] = row[j] * 0.999 + 1e-3;", "sink = row[7];"),
    "matrix": (45000, "", "cblas_dgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, 96, 96, 96, 1.0, left_matrix, 96, right_matrix, 96, 0.0,\n            product, 96);",
               "sink = product[5];"),
    "transform": (30000, "", "fftw_execute(transform_plan);", "sink = signal_in[1];"),
    "eigen": (550000, "", "eigen_product.noalias() = eigen_left * eigen_right;", "sink = eigen_product(0, 5);"),
    # The same executions on all ranks, dearer on some: links that lead all over the memory, branches that cannot be foreseen.
    "scattered": (250, "unsigned at = 0;", "at = links[at];", "bits += at;"),
    "unforeseen": (5.6, "double x = sink;", "if (flags[i & 65535]) {\n    x = x * 0.999 + 0.1;\n    __asm__ volatile(\"\");\n} else {\n    x = x * 0.998 + 0.2;\n"
                   "    __asm__ volatile(\"\");\n}", "sink = x;"),
    # Pages that are touched for the first time.
    "touch": (700, "madvise(pages, sizeof pages, MADV_DONTNEED);", "pages[(i & 16383) << 12] = 1;", "sink = pages[4096];"),
    "nap": (560000, "", "struct timespec pause = {0, 500000};\nnanosleep(&pause, NULL);", ""),
    "usleep": (1060000, "", "usleep(1000);", ""),
    "poll": (2060000, "", "poll(NULL, 0, 2);", ""),
    "select": (1560000, "", "struct timeval pause = {0, 1500};\nselect(0, NULL, NULL, NULL, &pause);", ""),
}
COMPUTING = ["chain", "hash", "divide", "root", "sine", "helper", "branch", "row"]
LIBRARIES = ["matrix", "transform"]
IN_CPLUSPLUS = {"matrix": "eigen"}
# In Fortran: before the loop, an iteration, after the loop.
FORTRAN = {
    "chain": ("x = sink", "x = x * 0.999999d0 + 1d-6", "sink = x"),
    "divide": ("x = sink", "x = 1d0 + 1.000001d0 / x", "sink = x"),
    "root": ("x = sink", "x = sqrt(x) + 1d0", "sink = x"),
    "sine": ("x = sink", "x = sin(x) + 1d0", "sink = x"),
    "branch": ("x = sink", "if (x > 0.5d0) then\n  x = x * 0.999d0 - 0.1d0\nelse\n  x = x * 1.5d0 + 0.3d0\nend if", "sink = x"),
    "row": ("", "row = row * 0.999d0 + 1d-3", "sink = row(7)"),
}
ALONE = ["chain", "hash", "divide", "root", "sine"]  # threads can do it side by side
SLOWER = ["scattered", "unforeseen"]
FAULTS = ["touch"]
SLEEPING = ["nap", "usleep", "poll", "select"]
FAST_NS = {"scattered": 6.0, "unforeseen": 1.6}  # of an iteration where it is not slow


def n_iterations(body, us):
    n = round(us * 1000 / BODIES[body][0])
    if body == "unforeseen":
        return max(512, n // 512 * 512)  # as many of either branch
    return max(1, n) if us else 0
