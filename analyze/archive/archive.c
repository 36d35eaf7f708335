/* SPDX-License-Identifier: BSD-3-Clause */
#include "analyze/archive/archive.h"
#include "analyze/archive/calls.h"
#include <stdlib.h>
#include <string.h>

static OTF2_ErrorCode ignore_error(void *user, const char *file, uint64_t line, const char *function,
                                   OTF2_ErrorCode code, const char *format, va_list args)
{
    (void)user, (void)file, (void)line, (void)function, (void)format, (void)args;
    return code;
}

void archive_silence(void)
{
    OTF2_Error_RegisterCallback(ignore_error, NULL);
}

/* One chunk for each event buffer, as many as it takes for definitions, which OTF2 does not flush. */
struct buffer {
    struct buffer *next;
    _Alignas(16) char chunk[];
};

static void *chunk_allocate(void *user, OTF2_FileType type, OTF2_LocationRef location, void **per_buffer,
                            uint64_t size_bytes)
{
    (void)user, (void)location;
    struct buffer *first = *per_buffer;
    if (first && type == OTF2_FILETYPE_EVENTS)
        return NULL;
    struct buffer *buffer = malloc(sizeof *buffer + size_bytes);
    if (!buffer)
        return NULL;
    buffer->next = first;
    *per_buffer = buffer;
    return buffer->chunk;
}

static void chunk_free_all(void *user, OTF2_FileType type, OTF2_LocationRef location, void **per_buffer, bool final)
{
    (void)user, (void)type, (void)location, (void) final;
    for (struct buffer *buffer = *per_buffer; buffer;) {
        struct buffer *next = buffer->next;
        free(buffer);
        buffer = next;
    }
    *per_buffer = NULL;
}

static OTF2_FlushType flush_always(void *user, OTF2_FileType type, OTF2_LocationRef location, void *caller, bool final)
{
    (void)user, (void)type, (void)location, (void)caller, (void) final;
    return OTF2_FLUSH;
}

/* OTF2 splits no definition: what the longest needs is a chunk. Readers of all locations have one each, so that the
 * largest is not taken without need. */
static uint64_t chunk_of_definitions(uint64_t longest_bytes)
{
    uint64_t chunk = ARCHIVE_CHUNK_DEFS;
    while (chunk < longest_bytes && chunk < OTF2_CHUNK_SIZE_MAX)
        chunk *= 2;
    return chunk;
}

OTF2_Archive *archive_create(const char *dir, uint64_t longest_bytes)
{
    archive_silence();
    OTF2_Archive *archive =
        OTF2_Archive_Open(dir, ARCHIVE_NAME, OTF2_FILEMODE_WRITE, ARCHIVE_CHUNK_EVENTS,
                          chunk_of_definitions(longest_bytes), OTF2_SUBSTRATE_POSIX, OTF2_COMPRESSION_NONE);
    if (!archive)
        return NULL;
    static const OTF2_FlushCallbacks flush = {.otf2_pre_flush = flush_always};
    static const OTF2_MemoryCallbacks memory = {chunk_allocate, chunk_free_all};
    if (OTF2_Archive_SetFlushCallbacks(archive, &flush, NULL) ||
        OTF2_Archive_SetMemoryCallbacks(archive, &memory, NULL) || OTF2_Archive_SetSerialCollectiveCallbacks(archive) ||
        OTF2_Archive_SetCreator(archive, "whywait " WHYWAIT_VERSION)) {
        OTF2_Archive_Close(archive);
        return NULL;
    }
    return archive;
}

/* Neighbourhood collectives have no operation of their own in OTF2: they get the one of the same data flow. */
static OTF2_CollectiveOp neighbor_op(const char *name)
{
    static const struct {
        const char *part;
        OTF2_CollectiveOp op;
    } ops[] = {{"allgatherv", OTF2_COLLECTIVE_OP_ALLGATHERV},
               {"allgather", OTF2_COLLECTIVE_OP_ALLGATHER},
               {"alltoallv", OTF2_COLLECTIVE_OP_ALLTOALLV},
               {"alltoallw", OTF2_COLLECTIVE_OP_ALLTOALLW}};
    for (size_t i = 0; i < sizeof ops / sizeof *ops; i++)
        if (strstr(name, ops[i].part))
            return ops[i].op;
    return OTF2_COLLECTIVE_OP_ALLTOALL;
}

static OTF2_CollectiveOp create_op(const struct call_info *info)
{
    bool allocates = strstr(info->name, "_allocate") != NULL, closes = !strcmp(info->name, "MPI_File_close");
    if (info->class == WW_COMM_FREE || info->class == WW_WIN_FREE || closes)
        return OTF2_COLLECTIVE_OP_DESTROY_HANDLE;
    return allocates ? OTF2_COLLECTIVE_OP_CREATE_HANDLE_AND_ALLOCATE : OTF2_COLLECTIVE_OP_CREATE_HANDLE;
}

OTF2_CollectiveOp archive_collective_op(uint32_t call_id)
{
    static const OTF2_CollectiveOp ops[] = {
        [WW_COLL_BARRIER] = OTF2_COLLECTIVE_OP_BARRIER,
        [WW_COLL_BCAST] = OTF2_COLLECTIVE_OP_BCAST,
        [WW_COLL_SCATTER] = OTF2_COLLECTIVE_OP_SCATTER,
        [WW_COLL_SCATTERV] = OTF2_COLLECTIVE_OP_SCATTERV,
        [WW_COLL_REDUCE] = OTF2_COLLECTIVE_OP_REDUCE,
        [WW_COLL_GATHER] = OTF2_COLLECTIVE_OP_GATHER,
        [WW_COLL_GATHERV] = OTF2_COLLECTIVE_OP_GATHERV,
        [WW_COLL_ALLREDUCE] = OTF2_COLLECTIVE_OP_ALLREDUCE,
        [WW_COLL_ALLGATHER] = OTF2_COLLECTIVE_OP_ALLGATHER,
        [WW_COLL_ALLGATHERV] = OTF2_COLLECTIVE_OP_ALLGATHERV,
        [WW_COLL_ALLTOALL] = OTF2_COLLECTIVE_OP_ALLTOALL,
        [WW_COLL_ALLTOALLV] = OTF2_COLLECTIVE_OP_ALLTOALLV,
        [WW_COLL_ALLTOALLW] = OTF2_COLLECTIVE_OP_ALLTOALLW,
        [WW_COLL_REDUCE_SCATTER] = OTF2_COLLECTIVE_OP_REDUCE_SCATTER,
        [WW_COLL_REDUCE_SCATTER_BLOCK] = OTF2_COLLECTIVE_OP_REDUCE_SCATTER_BLOCK,
        [WW_COLL_SCAN] = OTF2_COLLECTIVE_OP_SCAN,
        [WW_COLL_EXSCAN] = OTF2_COLLECTIVE_OP_EXSCAN,
    };
    const struct call_info *info = call_info(call_id);
    if (info->coll == WW_COLL_NEIGHBOR)
        return neighbor_op(info->name);
    return info->coll == WW_COLL_CREATE ? create_op(info) : ops[info->coll];
}

OTF2_IoAccessMode archive_access_mode(uint32_t file_flags)
{
    bool reads = file_flags & WW_FILE_READ, writes = file_flags & WW_FILE_WRITE;
    return reads == writes ? OTF2_IO_ACCESS_MODE_READ_WRITE
           : reads         ? OTF2_IO_ACCESS_MODE_READ_ONLY
                           : OTF2_IO_ACCESS_MODE_WRITE_ONLY;
}

OTF2_IoStatusFlag archive_status_flags(uint32_t file_flags)
{
    return (file_flags & WW_FILE_APPEND ? OTF2_IO_STATUS_FLAG_APPEND : 0u) |
           (file_flags & WW_FILE_DELETED_ON_CLOSE ? OTF2_IO_STATUS_FLAG_DELETE_ON_CLOSE : 0u);
}
