/* SPDX-License-Identifier: BSD-3-Clause */
#include "analyze/archive/starts.h"
#include "analyze/archive/archive.h"
#include "analyze/files/paths.h"
#include "wrap/base/err.h"
#include "wrap/base/keys.h"
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

/* Memory is that of so many starts, and of so many counts. */
enum { STARTS_MOST = 4096, COUNTS_MOST = 1 << 18 };

void starts_release(struct starts *starts)
{
    vec_release(&starts->all);
    vec_release(&starts->positions);
    vec_release(&starts->counts);
    vec_release(&starts->now);
    map_release(&starts->collectives);
}

void starts_know_later(struct starts *starts, uint32_t begun, uint64_t time_ns)
{
    for (size_t i = starts->all.n; i-- > 0 && starts->all.at[i].number >= begun;) {
        struct start *start = &starts->all.at[i];
        start->n_open--;
        start->known_ns = time_ns > start->known_ns ? time_ns : start->known_ns;
    }
}

size_t starts_find_count(struct starts *starts, uint32_t comm, bool is_non_blocking)
{
    uint64_t *index = map_put(&starts->collectives, key_pair(comm, is_non_blocking), NULL);
    if (!*index) {
        *vec_push(&starts->now) = (struct starts_count){.comm = comm, .is_non_blocking = is_non_blocking};
        *index = starts->now.n;
    }
    return *index - 1;
}

/* Every second one goes, and those to come are as far apart as the others are then. */
static void thin_out(struct starts *starts, size_t n_locations)
{
    size_t n_counts = 0;
    for (size_t i = 1; i < starts->all.n; i += 2) {
        struct start *start = &starts->all.at[i / 2];
        *start = starts->all.at[i];
        memmove(starts->positions.at + i / 2 * n_locations, starts->positions.at + i * n_locations,
                n_locations * sizeof *starts->positions.at);
        memmove(starts->counts.at + n_counts, starts->counts.at + start->first_count,
                start->n_counts * sizeof *starts->counts.at);
        start->first_count = n_counts;
        n_counts += start->n_counts;
    }
    starts->all.n /= 2;
    starts->positions.n = starts->all.n * n_locations;
    starts->counts.n = n_counts;
    starts->calls_apart = 2 * (starts->calls_apart ? starts->calls_apart : STARTS_APART);
}

uint64_t *starts_add(struct starts *starts, uint64_t time_ns, uint64_t n_calls, size_t n_locations)
{
    if (starts->all.n == STARTS_MOST || starts->counts.n > COUNTS_MOST)
        thin_out(starts, n_locations);
    *vec_push(&starts->all) = (struct start){.number = starts->next_number++,
                                             .n_open = starts->n_open,
                                             .known_ns = time_ns,
                                             .first_count = starts->counts.n,
                                             .n_counts = starts->now.n};
    for (size_t i = 0; i < starts->now.n; i++)
        *vec_push(&starts->counts) = starts->now.at[i];
    starts->n_calls_at_last = n_calls;
    vec_resize(&starts->positions, starts->positions.n + n_locations);
    return starts->positions.at + starts->positions.n - n_locations;
}

/* Writing. */

static void put_items(struct starts_file *file, size_t size_bytes, uint32_t n, const void *items)
{
    file->has_failed |= n && fwrite(items, size_bytes, n, file->file) != n;
}

int starts_file_begin(struct starts_file *file, const char *dir)
{
    *file = (struct starts_file){.path = path_format("%s/" ARCHIVE_NAME ARCHIVE_STARTS, dir)};
    file->file = fopen(file->path, "wbe");
    if (!file->file)
        return error("cannot make %s: %s", file->path, strerror(errno));
    put_items(file, sizeof(struct starts_header), 1, &(struct starts_header){.n_events = 0});
    return 0;
}

void starts_file_put(struct starts_file *file, const struct starts_record *record,
                     const struct starts_position *positions, const struct starts_count *counts)
{
    file->n++;
    put_items(file, sizeof *record, 1, record);
    put_items(file, sizeof *positions, record->n_positions, positions);
    put_items(file, sizeof *counts, record->n_counts, counts);
}

bool starts_file_end(struct starts_file *file, uint64_t n_events)
{
    struct starts_header header = {.magic = STARTS_MAGIC, .n_events = n_events};
    if (file->file) {
        file->has_failed |= fseek(file->file, 0, SEEK_SET) != 0;
        put_items(file, sizeof header, 1, &header);
        file->has_failed |= fclose(file->file) != 0;
        file->has_failed |= !file->n && remove(file->path);
    }
    free(file->path);
    return !file->has_failed;
}

/* Reading. */

void starts_of_rank_release(struct starts_of_rank *of)
{
    vec_release(&of->positions);
    vec_release(&of->counts);
}

/* As many as stand in the rest of the file. */
static bool read_items(FILE *file, size_t size_bytes, uint32_t n, void *items)
{
    return !n || fread(items, size_bytes, n, file) == n;
}

static bool read_start(FILE *file, size_t most_bytes, const struct starts_record *record, struct starts_of_rank *start)
{
    if (record->n_positions > most_bytes / sizeof(struct starts_position) ||
        record->n_counts > most_bytes / sizeof(struct starts_count))
        return false;
    vec_resize(&start->positions, record->n_positions);
    vec_resize(&start->counts, record->n_counts);
    return read_items(file, sizeof *start->positions.at, record->n_positions, start->positions.at) &&
           read_items(file, sizeof *start->counts.at, record->n_counts, start->counts.at);
}

static bool read_all(FILE *file, uint64_t n_events, starts_may_begin *may_begin, void *context,
                     struct starts_of_rank *ranks, uint32_t n_ranks)
{
    struct stat status;
    struct starts_header header;
    struct starts_record record;
    struct starts_of_rank start = {.positions = {0}};
    bool is_sound = fstat(fileno(file), &status) == 0 && S_ISREG(status.st_mode) &&
                    read_items(file, sizeof header, 1, &header) &&
                    memcmp(header.magic, STARTS_MAGIC, sizeof header.magic) == 0 && header.n_events == n_events;
    while (is_sound && read_items(file, sizeof record, 1, &record)) {
        is_sound = record.rank < n_ranks && read_start(file, (size_t)status.st_size, &record, &start);
        if (is_sound && may_begin(context, record.rank, record.known_ns)) {
            struct starts_of_rank before = ranks[record.rank];
            ranks[record.rank] = start;
            start = before;
        }
    }
    starts_of_rank_release(&start);
    return is_sound && !ferror(file);
}

bool starts_read(const char *path, uint64_t n_events, starts_may_begin *may_begin, void *context,
                 struct starts_of_rank *ranks, uint32_t n_ranks)
{
    FILE *file = fopen(path, "rbe");
    bool is_sound = file && read_all(file, n_events, may_begin, context, ranks, n_ranks);
    if (file)
        fclose(file);
    return is_sound;
}
