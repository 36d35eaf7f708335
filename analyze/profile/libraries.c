/* SPDX-License-Identifier: BSD-3-Clause */
#include "analyze/profile/libraries.h"
#include "wrap/base/sparse.h"

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
    uint32_t library = TRACE_NONE, n_seen = 0;
    for (; frame < trace->n_frames && n_seen++ < trace->n_frames; frame = trace->frames[frame].parent) {
        if (sites_frame_place(sites, frame) != CODE_NONE)
            break;
        library = trace->frames[frame].module;
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
