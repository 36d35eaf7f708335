/* SPDX-License-Identifier: BSD-3-Clause */
/* The table of MPI calls, by id and by name, as recorder and reader share it. */
#pragma once
#include "wrap/base/map.h"
#include "wrap/format.h"

struct call_info {
    const char *name; /* "MPI_Send" */
    enum ww_class class;
    enum ww_coll coll;
};

/* Row of a call id; that of an unknown id is a local call of the name "MPI_unknown". */
const struct call_info *call_info(uint32_t call_id);

/* Names in any spelling that tools use: "MPI_Barrier", "MPI_Barrier()", "PMPI_Barrier", "mpi_barrier_". */
struct call_names {
    struct intern names; /* id = call id - 1 */
};
void call_names_init(struct call_names *table);
void call_names_release(struct call_names *table);
/* The call id of a name, or WW_CALL_NONE. */
uint32_t call_names_find(const struct call_names *table, const char *name);
