/* SPDX-License-Identifier: BSD-3-Clause */
/* The extension module of interpreted.c and extended.c, with a table of methods as Python wants it. */
#include <mpi.h>

struct method {
    const char *name;
    int (*call)(int);
    int flags;
    const char *doc;
};
const struct method *planted_methods(void);

static volatile int n_calls;

static int exchange(int n)
{
    int err = MPI_Barrier(MPI_COMM_WORLD);
    n_calls += n; /* no tail call */
    return err;
}

static int work(int n)
{
    double x = 0;
    for (int i = 0; i < n; i++)
        x = x * 0.999999 + 1e-6;
    return (int)x;
}

static const struct method methods[] = {
    {"exchange", exchange, 1, "meets the others"}, {"work", work, 1, "takes long"}, {0}};

const struct method *planted_methods(void)
{
    return methods;
}
