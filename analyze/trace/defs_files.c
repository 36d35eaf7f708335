/* SPDX-License-Identifier: BSD-3-Clause */
/* From the definitions of I/O handles to the files of the trace. Equal names are one file. */
#include "analyze/trace/defs.h"
#include <string.h>

static bool is_of_mpi(const struct defs *defs, const struct def_io_handle *handle)
{
    uint32_t paradigm = ids_get(&defs->io_paradigm_ids, handle->paradigm);
    return paradigm != TRACE_NONE && !strcmp(defs_string(defs, defs->io_paradigms.at[paradigm]), "MPI-IO");
}

static uint32_t file_of(const struct defs *defs, struct intern *names, const struct def_io_handle *handle)
{
    uint32_t file = ids_get(&defs->io_file_ids, handle->file);
    if (file == TRACE_NONE || !is_of_mpi(defs, handle))
        return TRACE_NONE;
    return intern_text(names, defs_string(defs, defs->io_files.at[file]));
}

void defs_build_files(struct defs *defs, struct trace *trace, struct defs_tables *tables)
{
    struct intern names = {0};
    for (size_t i = 0; i < defs->io_handles.n; i++)
        *vec_push(&tables->file_of_handle) = file_of(defs, &names, &defs->io_handles.at[i]);
    trace->files = arena_array(&trace->arena, struct trace_file, names.n + 1);
    for (; trace->n_files < names.n; trace->n_files++)
        trace->files[trace->n_files].name = arena_strdup(&trace->arena, intern_get(&names, trace->n_files));
    intern_release(&names);
    tables->io_handles = defs->io_handle_ids;
    defs->io_handle_ids = (struct ids){0};
}
