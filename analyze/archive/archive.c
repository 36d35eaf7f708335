/* SPDX-License-Identifier: BSD-3-Clause */
#include "analyze/archive/archive.h"
#include "analyze/files/paths.h"
#include "analyze/files/plain.h"
#include "wrap/base/err.h"
#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

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

/* As the C library's, which OTF2 hands 4 MB of events at a time: pieces of less than a huge page. A file system takes
 * memory as large as what is written, and a virtual machine gives free huge pages back to its host: to fill one anew
 * takes ten times as long as to fill smaller ones, such as were given back to the disk (given.h). */
__attribute__((visibility("default"))) size_t fwrite(const void *items, size_t size_bytes, size_t n, FILE *file)
{
    enum { PIECE_BYTES = 1 << 20 };
    size_t n_bytes = size_bytes * n, done = 0, piece, written;
    flockfile(file);
    do {
        piece = n_bytes - done < PIECE_BYTES ? n_bytes - done : PIECE_BYTES;
        written = fwrite_unlocked((const char *)items + done, 1, piece, file);
        done += written;
    } while (written == piece && done < n_bytes);
    funlockfile(file);
    return size_bytes ? done / size_bytes : 0;
}

OTF2_Archive *archive_create(const char *dir, uint64_t longest_bytes)
{
    archive_silence();
    /* OTF2 splits no definition: what the longest needs is a chunk. Readers of all locations have one each, so that the
     * largest is not taken without need. */
    uint64_t chunk = ARCHIVE_CHUNK_DEFS;
    while (chunk < longest_bytes && chunk < OTF2_CHUNK_SIZE_MAX)
        chunk *= 2;
    OTF2_Archive *archive = OTF2_Archive_Open(dir, ARCHIVE_NAME, OTF2_FILEMODE_WRITE, ARCHIVE_CHUNK_EVENTS, chunk,
                                              OTF2_SUBSTRATE_POSIX, OTF2_COMPRESSION_NONE);
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

/* What OTF2 calls a collective operation, and which way its data flow. */
static const struct collective {
    OTF2_CollectiveOp op;
    OTF2_RegionRole role;
} collectives[] = {
    [WW_COLL_BARRIER] = {OTF2_COLLECTIVE_OP_BARRIER, OTF2_REGION_ROLE_BARRIER},
    [WW_COLL_BCAST] = {OTF2_COLLECTIVE_OP_BCAST, OTF2_REGION_ROLE_COLL_ONE2ALL},
    [WW_COLL_SCATTER] = {OTF2_COLLECTIVE_OP_SCATTER, OTF2_REGION_ROLE_COLL_ONE2ALL},
    [WW_COLL_SCATTERV] = {OTF2_COLLECTIVE_OP_SCATTERV, OTF2_REGION_ROLE_COLL_ONE2ALL},
    [WW_COLL_REDUCE] = {OTF2_COLLECTIVE_OP_REDUCE, OTF2_REGION_ROLE_COLL_ALL2ONE},
    [WW_COLL_GATHER] = {OTF2_COLLECTIVE_OP_GATHER, OTF2_REGION_ROLE_COLL_ALL2ONE},
    [WW_COLL_GATHERV] = {OTF2_COLLECTIVE_OP_GATHERV, OTF2_REGION_ROLE_COLL_ALL2ONE},
    [WW_COLL_ALLREDUCE] = {OTF2_COLLECTIVE_OP_ALLREDUCE, OTF2_REGION_ROLE_COLL_ALL2ALL},
    [WW_COLL_ALLGATHER] = {OTF2_COLLECTIVE_OP_ALLGATHER, OTF2_REGION_ROLE_COLL_ALL2ALL},
    [WW_COLL_ALLGATHERV] = {OTF2_COLLECTIVE_OP_ALLGATHERV, OTF2_REGION_ROLE_COLL_ALL2ALL},
    [WW_COLL_ALLTOALL] = {OTF2_COLLECTIVE_OP_ALLTOALL, OTF2_REGION_ROLE_COLL_ALL2ALL},
    [WW_COLL_ALLTOALLV] = {OTF2_COLLECTIVE_OP_ALLTOALLV, OTF2_REGION_ROLE_COLL_ALL2ALL},
    [WW_COLL_ALLTOALLW] = {OTF2_COLLECTIVE_OP_ALLTOALLW, OTF2_REGION_ROLE_COLL_ALL2ALL},
    [WW_COLL_REDUCE_SCATTER] = {OTF2_COLLECTIVE_OP_REDUCE_SCATTER, OTF2_REGION_ROLE_COLL_ALL2ALL},
    [WW_COLL_REDUCE_SCATTER_BLOCK] = {OTF2_COLLECTIVE_OP_REDUCE_SCATTER_BLOCK, OTF2_REGION_ROLE_COLL_ALL2ALL},
    [WW_COLL_SCAN] = {OTF2_COLLECTIVE_OP_SCAN, OTF2_REGION_ROLE_COLL_OTHER},
    [WW_COLL_EXSCAN] = {OTF2_COLLECTIVE_OP_EXSCAN, OTF2_REGION_ROLE_COLL_OTHER},
    /* OTF2 has operations for handles, but Scalasca's analyser aborts at them. */
    [WW_COLL_CREATE] = {OTF2_COLLECTIVE_OP_BARRIER, OTF2_REGION_ROLE_COLL_OTHER},
};

OTF2_CollectiveOp archive_collective_op(uint32_t call_id)
{
    const struct call_info *info = call_info(call_id);
    /* Neighbourhood collectives have no operation of their own in OTF2: they get the one of the same data flow. */
    if (info->coll == WW_COLL_NEIGHBOR)
        return collectives[info->as / WW_AS_LIKE(1)].op;
    return collectives[info->coll].op;
}

OTF2_RegionRole archive_collective_role(enum ww_coll coll)
{
    return coll == WW_COLL_NEIGHBOR ? OTF2_REGION_ROLE_COLL_OTHER : collectives[coll].role;
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

/* Fixed fields end here; three strings follow, then a 32-bit number of properties, each of two strings. OTF2 reads all
 * of the file, twice: one that is larger than any list of properties is none, whatever it begins with. */
enum { STRINGS_AT = 46, N_STRINGS = 3, SMALLEST_PROPERTY = 2, LARGEST_ANCHOR = 1 << 20 };

static const char magic[] = "BOTF2"; /* behind the order of bytes */

/* Where it is something else altogether, OTF2 says so. */
static bool has_sound_fields(const uint8_t *bytes, size_t n)
{
    size_t at = STRINGS_AT;
    if (n < at || memcmp(bytes + 1, magic, strlen(magic)))
        return true;
    for (int i = 0; i < N_STRINGS && at < n; i++) {
        const uint8_t *end = memchr(bytes + at, 0, n - at);
        at = end ? (size_t)(end - bytes) + 1 : n;
    }
    uint32_t n_properties;
    if (n - at < sizeof n_properties)
        return false;
    memcpy(&n_properties, bytes + at, sizeof n_properties);
    return n_properties <= (n - at) / SMALLEST_PROPERTY;
}

bool anchor_is_sound(const char *path)
{
    int fd = plain_open(path, 0);
    if (fd < 0)
        return false;
    struct stat status;
    bool is_small = fstat(fd, &status) == 0 && status.st_size <= LARGEST_ANCHOR;
    size_t size = is_small ? (size_t)status.st_size : 0;
    uint8_t *bytes = calloc(1, size + 1);
    bool is_sound = bytes && is_small && read(fd, bytes, size) == (ssize_t)size && has_sound_fields(bytes, size);
    free(bytes);
    close(fd);
    return is_sound;
}

int anchor_check(const char *path)
{
    char mark[sizeof magic];
    if (!path_exists(path))
        return 0;
    int fd = plain_open(path, 0);
    ssize_t n = fd < 0 ? -1 : pread(fd, mark, sizeof mark, 0);
    int why = n < 0 ? errno : 0;
    if (fd >= 0)
        close(fd);
    if (n == sizeof mark && !memcmp(mark + 1, magic, strlen(magic)))
        return 0;
    bool is_no_file = why == EINVAL || why == ENOENT || why == ELOOP; /* but a folder, a pipe, a link to nowhere */
    if (why && !is_no_file)
        return error("cannot read %s: %s", path, strerror(why));
    return error("%s is no archive: remove it, and `whywait salvage` makes one of the spool", path);
}

/* Path of an archive's file from that of its anchor, or NULL when the anchor is named otherwise. To be freed. */
char *anchor_beside(const char *anchor, const char *file)
{
    static const char suffix[] = ".otf2";
    size_t length = strlen(anchor), n = strlen(suffix);
    bool is_named = length >= n && !strcmp(anchor + length - n, suffix);
    return is_named ? path_format("%.*s%s", (int)(length - n), anchor, file) : NULL;
}

/* Also when it is not there. */
static bool is_plain(int folder, const char *name)
{
    struct stat status;
    return fstatat(folder, name, &status, 0) != 0 || S_ISREG(status.st_mode) || S_ISDIR(status.st_mode);
}

bool anchor_files_are_plain(const char *anchor)
{
    char *definitions = anchor_beside(anchor, ".def"), *folder = anchor_beside(anchor, "");
    char *starts = anchor_beside(anchor, ARCHIVE_STARTS);
    bool are_plain = (!definitions || is_plain(AT_FDCWD, definitions)) && (!starts || is_plain(AT_FDCWD, starts));
    DIR *entries = folder ? opendir(folder) : NULL;
    for (struct dirent *entry; entries && are_plain && (entry = readdir(entries));)
        are_plain = is_plain(dirfd(entries), entry->d_name);
    if (entries)
        closedir(entries);
    free(definitions);
    free(starts);
    free(folder);
    return are_plain;
}

static bool ends_with_marks(int folder, const char *name)
{
    static const uint8_t marks[] = {2, 1}; /* of the chunk, and of the file */
    uint8_t last[sizeof marks] = {0};
    int fd = plain_open_at(folder, name, 0);
    off_t size = fd < 0 ? -1 : lseek(fd, 0, SEEK_END);
    bool is_read = size >= (off_t)sizeof last && pread(fd, last, sizeof last, size - (off_t)sizeof last) > 0;
    if (fd >= 0)
        close(fd);
    return is_read && !memcmp(last, marks, sizeof marks);
}

static bool files_are_whole(const char *anchor, bool with_definitions)
{
    char *folder = anchor_beside(anchor, "");
    DIR *entries = folder ? opendir(folder) : NULL;
    bool are_whole = entries != NULL;
    int why = 0;
    for (struct dirent *entry; are_whole && (entry = dir_next(entries, &why));) {
        const char *suffix = strrchr(entry->d_name, '.');
        bool is_meant = suffix && (!strcmp(suffix, ".evt") || (with_definitions && !strcmp(suffix, ".def")));
        are_whole = !is_meant || ends_with_marks(dirfd(entries), entry->d_name);
    }
    if (entries)
        closedir(entries);
    free(folder);
    return are_whole && !why;
}

bool anchor_events_are_whole(const char *anchor, bool is_compressed)
{
    return !is_compressed && files_are_whole(anchor, false);
}

bool archive_is_whole(const char *dir)
{
    char *anchor = path_format("%s/" ARCHIVE_NAME ".otf2", dir), *definitions = anchor_beside(anchor, ".def");
    OTF2_Reader *reader = OTF2_Reader_Open(anchor);
    bool is_whole = reader && files_are_whole(anchor, true) &&
                    (!path_exists(definitions) || ends_with_marks(AT_FDCWD, definitions));
    if (reader)
        OTF2_Reader_Close(reader);
    free(definitions);
    free(anchor);
    return is_whole;
}

/* Every record takes more than a byte. */
uint64_t anchor_record_limit(const char *anchor, bool is_compressed, const char *file)
{
    char *path = is_compressed ? NULL : anchor_beside(anchor, file);
    struct stat status;
    uint64_t limit = !path || stat(path, &status) ? UINT64_MAX : (uint64_t)status.st_size + 1;
    free(path);
    return limit;
}

const struct call_info call_infos[WW_N_CALLS] = {
    [WW_CALL_NONE] = {"MPI_unknown", WW_LOCAL, WW_COLL_NONE, 0},
#define WW_MPI_AS(name, class, coll, as) [WW_ID_##name] = {"MPI_" #name, class, coll, as},
#define WW_MPI(name, class, coll) WW_MPI_AS(name, class, coll, 0)
#include "wrap/mpi_calls.def"
#undef WW_MPI
};

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
        intern_put(&table->names, folded, fold(call_infos[id].name, folded, sizeof folded));
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
