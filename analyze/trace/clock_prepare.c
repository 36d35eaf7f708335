/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Which clocks need what. A run of ours on one clock (no measured offset) needs nothing and costs nothing. Otherwise
 * the archive is replayed once: with measured offsets, what still comes before its cause is moved behind it. Archives
 * of other tools without measured offsets that show effects before causes beyond the noise of their timer get offsets
 * from the bounds that messages and collectives give, and are replayed again with these.
 */
#include "analyze/trace/causality.h"
#include "wrap/base/err.h"
#include <stdlib.h>

enum { NOISE_NS = 2000 };

static bool has_offsets(const struct archive_reader *archive)
{
    for (size_t i = 0; i < archive->clocks.n_locations; i++)
        if (archive->clocks.locations[i].points.n)
            return true;
    return false;
}

static void drop_floors(struct archive_reader *archive)
{
    for (size_t i = 0; i < archive->clocks.n_locations; i++)
        archive->clocks.locations[i].floors.n = 0;
}

/* The replay consumes events; afterwards reading starts anew. */
static int replay(struct archive_reader *archive, struct causality *result, bool with_bounds)
{
    size_t n = archive->trace->n_ranks;
    *result = (struct causality){.first_ns = UINT64_MAX};
    if (with_bounds) {
        result->bounds = malloc(n * n * sizeof *result->bounds);
        if (!result->bounds)
            err_out_of_memory(n * n * sizeof *result->bounds);
        for (size_t i = 0; i < n * n; i++)
            result->bounds[i] = INT64_MAX;
    }
    drop_floors(archive);
    if (locations_open(archive))
        return -1;
    causality_check(archive, result);
    locations_close(archive);
    return 0;
}

/* Where collectives left no records, the regions named like them stand for them. */
static int check(struct archive_reader *archive, struct causality *result, bool with_bounds)
{
    if (replay(archive, result, with_bounds))
        return -1;
    if (archive->synthesise || result->n_records || !result->n_regions)
        return 0;
    archive->synthesise = true;
    trace_note(archive->trace,
               "The archive has no records of collectives: they are known by the names of regions only, "
               "and taken to be over all processes.");
    free(result->bounds);
    return replay(archive, result, with_bounds);
}

static void set_offsets(struct archive_reader *archive, const int64_t *offset)
{
    for (uint32_t i = 0; i < archive->trace->n_locations; i++)
        *vec_push(&archive->clocks.locations[i].points) =
            (struct clock_point){.offset_ns = offset[archive->trace->locations[i].rank]};
}

/* The earliest event becomes time 0 also when a clock ran ahead of the others. */
static void set_origin(struct archive_reader *archive, const int64_t *offset, uint32_t n)
{
    int64_t smallest = 0;
    for (uint32_t i = 0; i < n; i++)
        if (offset[i] < smallest)
            smallest = offset[i];
    archive->clocks.origin_ns += smallest;
}

static int align(struct archive_reader *archive, const struct causality *found)
{
    struct trace *trace = archive->trace;
    int64_t *offset = calloc(trace->n_ranks + 1, sizeof *offset);
    if (!offset)
        err_out_of_memory(trace->n_ranks * sizeof *offset);
    uint32_t n_reached = clocks_align(found->bounds, trace->n_ranks, offset);
    set_offsets(archive, offset);
    set_origin(archive, offset, trace->n_ranks);
    trace->clocks.aligned = true;
    trace_note(trace,
               "The clocks of the processes disagree: %llu effects came up to %.3f ms before their cause. The clocks "
               "were aligned from the messages and collectives themselves.",
               (unsigned long long)found->n_violations, (double)found->largest_violation_ns / 1e6);
    if (n_reached < trace->n_ranks)
        trace_note(trace, "No message or collective connects %u of %u processes with process 0: their clocks stay.",
                   trace->n_ranks - n_reached, trace->n_ranks);
    free(offset);
    struct causality again;
    int result = check(archive, &again, false);
    trace->clocks.n_repaired = again.n_floors;
    if (!result) {
        archive->clocks.origin_ns += (int64_t)again.first_ns;
        trace->end_ns = again.last_ns - again.first_ns;
    }
    return result;
}

static void note_repaired(struct trace *trace)
{
    trace_note(trace, "%llu effects came up to %.3f ms before their cause in the records; they were moved behind it.",
               (unsigned long long)trace->clocks.n_violations, (double)trace->clocks.largest_violation_ns / 1e6);
}

int clocks_prepare(struct archive_reader *archive)
{
    struct trace *trace = archive->trace;
    bool is_measured = has_offsets(archive);
    trace->clocks.measured = is_measured;
    if (trace->is_ours && !is_measured)
        return 0;
    struct causality found;
    bool may_align = !is_measured && trace->n_ranks <= CLOCKS_ALIGN_MOST;
    int result = check(archive, &found, may_align);
    trace->clocks.n_violations = found.n_violations;
    trace->clocks.largest_violation_ns = found.largest_violation_ns;
    trace->clocks.n_repaired = found.n_floors;
    if (!result && may_align && found.largest_violation_ns > NOISE_NS)
        result = align(archive, &found);
    else if (!result && found.n_violations)
        note_repaired(trace);
    if (!trace->is_ours && !trace->clocks.aligned)
        trace->end_ns = found.last_ns;
    free(found.bounds);
    return result;
}
