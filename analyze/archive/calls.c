/* SPDX-License-Identifier: BSD-3-Clause */
#include "analyze/archive/calls.h"
#include <ctype.h>
#include <string.h>

static const struct call_info infos[WW_N_CALLS] = {
    [WW_CALL_NONE] = {"MPI_unknown", WW_LOCAL, WW_COLL_NONE},
#define WW_MPI(name, class, coll) [WW_ID_##name] = {"MPI_" #name, class, coll},
#include "wrap/mpi_calls.def"
#undef WW_MPI
};

const struct call_info *call_info(uint32_t call_id)
{
    return &infos[call_id < WW_N_CALLS ? call_id : WW_CALL_NONE];
}

/* Lower case, without the prefix of profiling names, parentheses and Fortran's trailing underscores. */
static size_t fold(const char *name, char *folded, size_t size)
{
    if (toupper((unsigned char)name[0]) == 'P')
        name++;
    size_t n = 0;
    while (name[n] && name[n] != '(' && n < size) {
        folded[n] = (char)tolower((unsigned char)name[n]);
        n++;
    }
    while (n && (folded[n - 1] == '_' || folded[n - 1] == ' '))
        n--;
    return n;
}

void call_names_init(struct call_names *table)
{
    *table = (struct call_names){0};
    for (uint32_t id = 1; id < WW_N_CALLS; id++) {
        char folded[64];
        intern_put(&table->names, folded, fold(infos[id].name, folded, sizeof folded));
    }
}

void call_names_release(struct call_names *table)
{
    intern_release(&table->names);
}

uint32_t call_names_find(const struct call_names *table, const char *name)
{
    char folded[64];
    uint32_t found = intern_find(&table->names, folded, fold(name, folded, sizeof folded));
    return found == INTERN_NONE ? (uint32_t)WW_CALL_NONE : found + 1;
}
