/* SPDX-License-Identifier: BSD-3-Clause */
#include "analyze/profile/file_use.h"
#include <stdlib.h>
#include <string.h>

struct file_use_key {
    uint32_t site, file, rank;
};

void file_use_feed(struct file_use *use, const struct lane *lane, const struct event *event)
{
    if (event->kind != EV_IO || !lane->depth || lane->is_off)
        return;
    struct file_use_key key = {lane->site, event->file, lane->rank};
    uint32_t id = intern_put(&use->keys, &key, sizeof key);
    if (id == use->bytes.n)
        *vec_push(&use->bytes) = 0;
    use->bytes.at[id] += event->bytes;
}

void file_use_release(struct file_use *use)
{
    intern_release(&use->keys);
    vec_release(&use->bytes);
}

static void rank_add(struct cause_rank *ranks, uint32_t n, uint32_t rank, uint64_t bytes)
{
    for (uint32_t i = 0; i < n; i++)
        if (ranks[i].rank == rank)
            ranks[i].file_bytes += bytes;
}

/* Of one cause: its files in the order of their first use. */
struct cause_use {
    struct cause *cause;
    VEC(struct cause_file) files;
    struct map index; /* file -> 1 + index */
};

static void cause_use_add(struct cause_use *use, const struct trace *trace, const struct file_use_key *key,
                          uint64_t bytes)
{
    uint64_t *index = map_put(&use->index, key->file, NULL);
    if (!*index) {
        *vec_push(&use->files) = (struct cause_file){.name = trace->files[key->file].name};
        *index = use->files.n;
    }
    use->files.at[*index - 1].bytes += bytes;
    rank_add(use->cause->ranks, use->cause->n_ranks, key->rank, bytes);
    rank_add(use->cause->others, use->cause->n_others, key->rank, bytes);
}

static int file_compare(const void *a, const void *b)
{
    const struct cause_file *left = a, *right = b;
    if (left->bytes != right->bytes)
        return left->bytes > right->bytes ? -1 : 1;
    return strcmp(left->name, right->name);
}

static void cause_use_write(struct cause_use *use, struct arena *arena)
{
    struct cause *cause = use->cause;
    cause->n_files = (uint32_t)use->files.n;
    if (cause->n_files) {
        qsort(use->files.at, use->files.n, sizeof *use->files.at, file_compare);
        cause->files = arena_copy(arena, use->files.at, use->files.n * sizeof *use->files.at);
    }
    vec_release(&use->files);
    map_release(&use->index);
}

/* A cause that is a call is named by its innermost frame, whoever led there. */
void file_use_add_to_causes(const struct file_use *use, struct sites *sites, struct analysis *analysis)
{
    struct map cause_of = {0}; /* site -> 1 + index */
    VEC(struct cause_use) uses = {0};
    vec_resize(&uses, analysis->n_causes);
    for (uint32_t i = 0; i < analysis->n_causes; i++) {
        const struct step_key *key = steps_key(sites->steps, analysis->causes[i].step);
        uses.at[i] = (struct cause_use){.cause = &analysis->causes[i]};
        if (key->what == WHAT_SITE)
            *map_put(&cause_of, key->id, NULL) = i + 1u;
    }
    for (uint32_t i = 0; i < use->keys.n; i++) {
        struct file_use_key key;
        memcpy(&key, use->keys.items[i].bytes, sizeof key);
        const uint64_t *cause = map_get(&cause_of, sites_innermost(sites, key.site));
        if (cause && key.file < analysis->trace->n_files)
            cause_use_add(&uses.at[*cause - 1], analysis->trace, &key, use->bytes.at[i]);
    }
    for (size_t i = 0; i < uses.n; i++)
        cause_use_write(&uses.at[i], &analysis->arena);
    vec_release(&uses);
    map_release(&cause_of);
}
