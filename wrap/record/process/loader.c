/* SPDX-License-Identifier: BSD-3-Clause */
#include "wrap/record/process/loader.h"
#include <link.h>

/* Every object of the list is told both counts: the first will do. */
static int take_counts(struct dl_phdr_info *info, size_t size, void *context)
{
    struct loader_counts *counts = context;
    (void)size;
    *counts = (struct loader_counts){info->dlpi_adds, info->dlpi_subs};
    return 1;
}

struct loader_counts loader_count(void)
{
    struct loader_counts counts = {0, 0};
    dl_iterate_phdr(take_counts, &counts);
    return counts;
}
