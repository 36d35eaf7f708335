/* SPDX-License-Identifier: BSD-3-Clause */
#include "wrap/base/vec.h"
#include "wrap/base/err.h"
#include <stdint.h>
#include <stdlib.h>

void vec_grow(void **items, size_t *cap, size_t need, size_t size_bytes)
{
    if (need <= *cap)
        return;
    size_t grown = *cap < 8 ? 8 : *cap + *cap / 2;
    if (grown < need)
        grown = need;
    void *moved = grown > SIZE_MAX / 2 / size_bytes ? NULL : realloc(*items, grown * size_bytes);
    if (!moved)
        err_out_of_memory(grown);
    *items = moved;
    *cap = grown;
}

void vec_free(void *items)
{
    free(items);
}
