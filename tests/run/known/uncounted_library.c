/* SPDX-License-Identifier: BSD-3-Clause */
/* A library that is not built to count. */
#include "known.h"

/* begin item */
double uncounted_item(double x, long n)
{
    for (long i = 0; i < n; i++)
        x = LINK(x);
    for (long i = 0; i < n; i++)
        x = 1e-9 - LINK(x);
    return x;
}
/* end item */
