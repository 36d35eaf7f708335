/* SPDX-License-Identifier: BSD-3-Clause */
#include "analyze/blame/uncounted.h"
#include "analyze/constants/constants.h"
#include "analyze/constants/readers.h"
#include "wrap/base/keys.h"

static uint32_t place_of(struct sites *sites, uint32_t frame)
{
    uint32_t step = sites_sample_step(sites, frame);
    const struct step_key *key = step == TRACE_NONE ? NULL : steps_key(sites->steps, step);
    return key && key->what == WHAT_PLACE ? key->id : CODE_NONE;
}

static bool is_of_library(struct sites *sites, uint32_t frame)
{
    uint32_t module = sites->trace->frames[frame].module;
    return module != TRACE_NONE && !code_module_is_script(sites->code, module) &&
           sites_frame_place(sites, frame) == CODE_NONE;
}

/* The nearest frame of a library outwards from the place's own; TRACE_NONE. */
static uint32_t library_around(struct sites *sites, uint32_t frame)
{
    uint32_t own = sites_sample_frame(sites, frame);
    if (own == TRACE_NONE)
        return TRACE_NONE;
    trace_walk (sites->trace, at, own)
        if (is_of_library(sites, at))
            return at;
    return TRACE_NONE;
}

static void add_entry(struct uncounted *uncounted, struct sites *sites, const struct survey_entry *entry)
{
    uint32_t place = entry->n_samples ? place_of(sites, entry->frame) : CODE_NONE;
    double n = (double)entry->n_samples;
    if (place == CODE_NONE || sites_sample_is_idle(sites, entry->frame))
        return;
    sparse_add(&uncounted->n, place, n);
    if (sites_frame_is_generated(sites, entry->frame))
        sparse_add(&uncounted->generated, place, n);
    else if (is_of_library(sites, entry->frame))
        sparse_add(&uncounted->libraries, place, n);
    uint32_t library = library_around(sites, entry->frame);
    uint32_t around = library == TRACE_NONE ? CODE_NONE : place_of(sites, library);
    if (around != CODE_NONE && around != place)
        sparse_add(&uncounted->callbacks, key_pair(around, place), n);
}

void uncounted_find(struct uncounted *uncounted, struct sites *sites, const struct survey *survey)
{
    for (size_t i = 0; i < survey->entries.n && sites->code; i++)
        add_entry(uncounted, sites, &survey->entries.at[i]);
    sparse_pack(&uncounted->n);
    sparse_pack(&uncounted->generated);
    sparse_pack(&uncounted->libraries);
    sparse_pack(&uncounted->callbacks);
}

void uncounted_release(struct uncounted *uncounted)
{
    sparse_release(&uncounted->n);
    sparse_release(&uncounted->generated);
    sparse_release(&uncounted->libraries);
    sparse_release(&uncounted->callbacks);
}

bool uncounted_is_generated(const struct uncounted *uncounted, uint32_t place)
{
    return 2 * sparse_get(&uncounted->generated, place) > sparse_get(&uncounted->n, place);
}

bool uncounted_is_library(const struct uncounted *uncounted, uint32_t place)
{
    double n = sparse_get(&uncounted->libraries, place);
    return n >= POOL_SAMPLES_MIN && 2 * n > sparse_get(&uncounted->n, place);
}

uint32_t uncounted_calls_back(const struct uncounted *uncounted, uint32_t place)
{
    const struct sparse *callbacks = &uncounted->callbacks;
    uint32_t most = CODE_NONE;
    double most_n = 0;
    for (size_t i = sparse_find(callbacks, key_pair(place, 0));
         i < callbacks->n && key_high(callbacks->at[i].key) == place; i++) {
        uint32_t called = key_low(callbacks->at[i].key);
        if (callbacks->at[i].ns > most_n &&
            callbacks->at[i].ns >= NEARLY_ALL_SHARE * sparse_get(&uncounted->n, called)) {
            most = called;
            most_n = callbacks->at[i].ns;
        }
    }
    return most;
}
