/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Files of MPI-IO. A file is known by its name alone, as the programs gave it: whether two nodes mean the same disk by
 * it is not recorded, so that its scope is the whole machine. A file that is open once has one handle, however often it
 * is closed and opened again; processes mean the same handle when it is the n-th on this file and communicator in all.
 */
#include "analyze/archive/join_defs.h"
#include "analyze/archive/join_rank.h"
#include <string.h>

static uint32_t file_of(struct join *join, const struct ww_file *record)
{
    const char *name = join_plain_name(join, record->name, record->bytes);
    return *name ? intern_text(&join->io_files, name) : JOIN_NONE;
}

static uint32_t handle_of(struct rank_tables *tables, const struct ww_file *record, uint32_t file)
{
    struct join *join = tables->join;
    struct join_handle key = {.comm = join_comm_of(tables, record->comm), .file = file};
    uint64_t *nth = map_put(&tables->nth_handle, (uint64_t)key.comm << 32 | file, NULL);
    key.nth = (uint32_t)(*nth)++;
    uint32_t handle = intern_put(&join->io_handles, &key, sizeof key);
    if (handle == join->handle_infos.n)
        vec_push(&join->handle_infos)->flags = record->flags;
    return handle;
}

void join_take_file(struct rank_tables *tables, const struct ww_file *record)
{
    bool is_new;
    map_put(&tables->has_file, record->id, &is_new);
    if (!record->id || !is_new)
        return;
    uint32_t file = file_of(tables->join, record);
    if (file != JOIN_NONE)
        *vec_push(&tables->io_files) = (struct id_pair){record->id, file};
    if (!(record->flags & WW_FILE_DELETED))
        *vec_push(&tables->io_handles) = (struct id_pair){record->id, handle_of(tables, record, file)};
}

static void define_handle(struct def_writer *defs, uint32_t handle)
{
    struct join *join = defs->join;
    struct join_handle key;
    memcpy(&key, join->io_handles.items[handle].bytes, sizeof key);
    uint32_t flags = join->handle_infos.at[handle].flags;
    bool is_found = flags & WW_FILE_FOUND;
    const char *name = key.file == JOIN_NONE ? arena_printf(&join->arena, "file handle %u", handle)
                                             : intern_get(&join->io_files, key.file);
    DEFINE(defs, IoHandle, handle, defs_string_id(defs, name),
           key.file == JOIN_NONE ? OTF2_UNDEFINED_IO_FILE : key.file, ARCHIVE_IO_PARADIGM,
           is_found ? OTF2_IO_HANDLE_FLAG_PRE_CREATED : OTF2_IO_HANDLE_FLAG_NONE,
           key.comm == JOIN_NONE ? OTF2_UNDEFINED_COMM : key.comm, OTF2_UNDEFINED_IO_HANDLE);
    if (is_found)
        DEFINE(defs, IoPreCreatedHandleState, handle, archive_access_mode(flags), archive_status_flags(flags));
}

void join_define_files(struct def_writer *defs)
{
    struct join *join = defs->join;
    if (!join->io_files.n && !join->io_handles.n)
        return;
    DEFINE(defs, IoParadigm, ARCHIVE_IO_PARADIGM, defs_string_id(defs, "MPI-IO"), defs_string_id(defs, "MPI I/O"),
           OTF2_IO_PARADIGM_CLASS_PARALLEL, OTF2_IO_PARADIGM_FLAG_NONE, 0, NULL, NULL, NULL);
    for (uint32_t i = 0; i < join->io_files.n; i++)
        DEFINE(defs, IoRegularFile, i, defs_string_id(defs, intern_get(&join->io_files, i)), DEFS_ROOT_NODE);
    for (uint32_t i = 0; i < join->io_handles.n; i++)
        define_handle(defs, i);
}
