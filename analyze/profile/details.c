/* SPDX-License-Identifier: BSD-3-Clause */
#include "analyze/profile/details.h"
#include "wrap/base/sparse.h"
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

/* Time on a CPU of all threads, by place and rank, and the places that workers run. */
struct teams {
    struct sparse sampled;
    struct map is_shared;
};

static uint64_t team_key(uint32_t place, uint32_t rank)
{
    return (uint64_t)place << 32 | rank;
}

static void teams_gather(struct teams *teams, struct sites *sites, const struct survey *survey)
{
    for (size_t i = 0; i < survey->entries.n; i++) {
        const struct survey_entry *entry = &survey->entries.at[i];
        uint32_t step = entry->n_samples ? sites_sample_step(sites, entry->frame) : TRACE_NONE;
        const struct step_key *key = step == TRACE_NONE ? NULL : steps_key(sites->steps, step);
        if (!key || key->what != WHAT_PLACE)
            continue;
        sparse_add(&teams->sampled, team_key(key->id, entry->rank), (double)entry->sampled_ns);
        if (entry->is_workers)
            *map_put(&teams->is_shared, key->id, NULL) = 1;
    }
    sparse_pack(&teams->sampled);
}

static void count_threads(const struct teams *teams, uint32_t place, struct cause_rank *ranks, uint32_t n)
{
    for (uint32_t i = 0; i < n; i++)
        if (ranks[i].computing_ns > 0)
            ranks[i].threads = sparse_get(&teams->sampled, team_key(place, ranks[i].rank)) / ranks[i].computing_ns;
}

void teams_add_to_causes(struct analysis *analysis, struct sites *sites, const struct survey *survey)
{
    struct teams teams = {0};
    teams_gather(&teams, sites, survey);
    for (uint32_t i = 0; i < analysis->n_causes; i++) {
        struct cause *cause = &analysis->causes[i];
        uint32_t place = analysis->steps[cause->step].place;
        if (place == CODE_NONE || !map_get(&teams.is_shared, place))
            continue;
        count_threads(&teams, place, cause->ranks, cause->n_ranks);
        count_threads(&teams, place, cause->others, cause->n_others);
    }
    sparse_release(&teams.sampled);
    map_release(&teams.is_shared);
}

/* Samples of the rank most to blame, by place and library; with TRACE_NONE for library, all of a place. */
struct libraries {
    struct map asked; /* by place: that rank + 1 */
    struct sparse sampled;
    uint32_t n_modules;
};

enum { SAMPLES_MIN = 5 };

static uint64_t library_key(uint32_t place, uint32_t module)
{
    return (uint64_t)place << 32 | module;
}

static bool is_asked_about(const struct cause *cause)
{
    return cause->n_ranks && cause->kind_ns[KIND_SLOWER] >= cause->waiting_ns / 4;
}

/* The library that user code called, whatever that called in turn; TRACE_NONE for user code itself. */
static uint32_t library_of(struct sites *sites, uint32_t frame)
{
    const struct trace *trace = sites->trace;
    uint32_t library = TRACE_NONE;
    trace_walk (trace, at, frame) {
        if (sites_frame_place(sites, at) != CODE_NONE)
            break;
        library = trace->frames[at].module;
    }
    return library;
}

static void libraries_gather(struct libraries *libraries, struct sites *sites, const struct survey *survey)
{
    for (size_t i = 0; i < survey->entries.n; i++) {
        const struct survey_entry *entry = &survey->entries.at[i];
        uint32_t step = entry->n_samples ? sites_sample_step(sites, entry->frame) : TRACE_NONE;
        const struct step_key *key = step == TRACE_NONE ? NULL : steps_key(sites->steps, step);
        const uint64_t *rank = key && key->what == WHAT_PLACE ? map_get(&libraries->asked, key->id) : NULL;
        if (!rank || *rank != entry->rank + 1)
            continue;
        uint32_t library = library_of(sites, entry->frame);
        sparse_add(&libraries->sampled, library_key(key->id, TRACE_NONE), (double)entry->n_samples);
        if (library != TRACE_NONE)
            sparse_add(&libraries->sampled, library_key(key->id, library), (double)entry->n_samples);
    }
    sparse_pack(&libraries->sampled);
}

/* The library that has most of a place's samples; TRACE_NONE when none has. */
static uint32_t library_find(const struct libraries *libraries, uint32_t place)
{
    double all = sparse_get(&libraries->sampled, library_key(place, TRACE_NONE));
    for (uint32_t module = 0; module < libraries->n_modules && all >= SAMPLES_MIN; module++)
        if (sparse_get(&libraries->sampled, library_key(place, module)) > all / 2)
            return module;
    return TRACE_NONE;
}

void libraries_add_to_causes(struct analysis *analysis, struct sites *sites, const struct survey *survey)
{
    struct libraries libraries = {.n_modules = sites->trace->n_modules};
    for (uint32_t i = 0; i < analysis->n_causes; i++) {
        const struct cause *cause = &analysis->causes[i];
        uint32_t place = analysis->steps[cause->step].place;
        if (place != CODE_NONE && is_asked_about(cause))
            *map_put(&libraries.asked, place, NULL) = cause->ranks[0].rank + 1;
    }
    libraries_gather(&libraries, sites, survey);
    for (uint32_t i = 0; i < analysis->n_causes; i++) {
        struct cause *cause = &analysis->causes[i];
        uint32_t place = analysis->steps[cause->step].place, library = TRACE_NONE;
        if (place != CODE_NONE && is_asked_about(cause))
            library = library_find(&libraries, place);
        if (library != TRACE_NONE)
            cause->library = sites->trace->modules[library].path;
    }
    sparse_release(&libraries.sampled);
    map_release(&libraries.asked);
}
