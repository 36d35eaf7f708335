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

/* Timers are noisy; measurements of offsets err by more, but not by as much as STEP_NS. */
enum { NOISE_NS = 2000, STEP_NS = 20000 };

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
static int replay(struct archive_reader *archive, struct causality *result, bool with_bounds, struct clock_steps *steps)
{
    size_t n = archive->trace->n_ranks;
    *result = (struct causality){.first_ns = UINT64_MAX, .steps = steps};
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
    if (replay(archive, result, with_bounds, NULL))
        return -1;
    if (archive->synthesise || result->n_records || !result->n_regions)
        return 0;
    archive->synthesise = true;
    trace_note(archive->trace,
               "The archive has no records of collectives: they are known by the names of regions only, "
               "and taken to be over all processes.");
    free(result->bounds);
    return replay(archive, result, with_bounds, NULL);
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

/* Clocks that were set during the run. */

/* What was measured or aligned is replaced where process 0 tells more. */
static void set_pieces(struct archive_reader *archive, struct clock_steps *steps)
{
    struct clocks *clocks = &archive->clocks;
    struct clock_pieces *found = calloc(steps->n_ranks + 1, sizeof *found);
    if (!found)
        err_out_of_memory(steps->n_ranks * sizeof *found);
    for (uint32_t i = 0; i < archive->trace->n_locations; i++) {
        uint32_t rank = archive->trace->locations[i].rank;
        struct clock_pieces *of = &found[rank];
        if (rank && !of->pieces.n)
            clock_steps_find(steps, rank, clocks->locations[i].points.at, clocks->locations[i].points.n, of);
        clocks->locations[i].points.n = of->pieces.n ? 0 : clocks->locations[i].points.n;
        for (size_t k = 0; k < of->pieces.n; k++) {
            const struct clock_piece *piece = &of->pieces.at[k];
            *vec_push(&clocks->locations[i].points) = (struct clock_point){piece->from_ns, piece->offset_ns};
            *vec_push(&clocks->locations[i].points) = (struct clock_point){piece->until_ns, piece->offset_ns};
        }
    }
    for (uint32_t rank = 0; rank < steps->n_ranks; rank++)
        vec_release(&found[rank].pieces);
    free(found);
}

static void swap_points(struct clocks *a, struct clocks *b)
{
    for (size_t i = 0; i < a->n_locations; i++) {
        struct clock_location kept = a->locations[i];
        a->locations[i].points = b->locations[i].points;
        b->locations[i].points = kept.points;
    }
}

static void copy_points(struct clocks *to, const struct clocks *from)
{
    clocks_init(to, from->n_locations);
    for (size_t i = 0; i < from->n_locations; i++)
        for (size_t k = 0; k < from->locations[i].points.n; k++)
            *vec_push(&to->locations[i].points) = from->locations[i].points.at[k];
}

/* Pieces instead of lines, if they explain the records better. `found` becomes what is left then. 0, or -1 after
 * error(). */
static int try_pieces(struct archive_reader *archive, struct clock_steps *steps, struct causality *found)
{
    struct clocks lines;
    struct causality left;
    copy_points(&lines, &archive->clocks);
    set_pieces(archive, steps);
    int result = replay(archive, &left, false, NULL);
    bool is_better = !result && left.largest_violation_ns < found->largest_violation_ns / 2;
    if (is_better)
        trace_note(
            archive->trace,
            "Clocks were set during the run, or drifted: effects came up to %.3f ms before their cause. They were "
            "aligned with process 0 piece by piece.",
            (double)found->largest_violation_ns / 1e6);
    if (!result && !is_better) {
        swap_points(&archive->clocks, &lines);
        result = replay(archive, &left, false, NULL);
    }
    left.bounds = found->bounds;
    *found = left;
    archive->trace->clocks.n_repaired = left.n_floors;
    clocks_release(&lines);
    return result;
}

/* Straight lines leave effects before their causes by more than measurements err: perhaps a clock was set. */
static int find_steps(struct archive_reader *archive, struct causality *found)
{
    struct clock_steps steps;
    struct causality with_bounds;
    clock_steps_init(&steps, archive->trace->n_ranks);
    int result = replay(archive, &with_bounds, false, &steps);
    if (!result)
        result = try_pieces(archive, &steps, found);
    clock_steps_release(&steps);
    return result;
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
    if (!result && again.largest_violation_ns > STEP_NS)
        result = find_steps(archive, &again);
    trace->clocks.n_repaired = again.n_floors;
    if (!result) {
        archive->clocks.origin_ns += (int64_t)again.first_ns;
        trace->end_ns = again.last_ns - again.first_ns;
    }
    return result;
}

static void note_repaired(struct trace *trace, const struct causality *found)
{
    trace_note(trace, "%llu effects came up to %.3f ms before their cause in the records; they were moved behind it.",
               (unsigned long long)found->n_floors, (double)found->largest_violation_ns / 1e6);
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
    else if (!result && found.largest_violation_ns > STEP_NS)
        result = find_steps(archive, &found);
    if (!result && !trace->clocks.aligned && found.n_floors)
        note_repaired(trace, &found);
    if (!trace->is_ours && !trace->clocks.aligned)
        trace->end_ns = found.last_ns;
    free(found.bounds);
    return result;
}
