/* SPDX-License-Identifier: BSD-3-Clause */
#include "analyze/html/cells.h"
#include "analyze/out/json.h"
#include "analyze/words/label.h"
#include <math.h>

enum stream { LENGTHS, HEADS, PARTS, WAITS, N_STREAMS };

struct encoder {
    const struct analysis *analysis;
    const struct timeline *timeline;
    uint32_t *row_of; /* by location; TRACE_NONE = it has none */
    struct arena arena;
    struct bytes streams[N_STREAMS];
};

static void put(struct encoder *encoder, enum stream stream, uint64_t number)
{
    struct bytes *bytes = &encoder->streams[stream];
    for (; number >= 128; number >>= 7)
        *vec_push(&bytes->all) = (unsigned char)(number & 127) | 128;
    *vec_push(&bytes->all) = (unsigned char)number;
}

static void put_cell(struct encoder *encoder, const struct timeline_cell *cell, const struct timeline_part *parts,
                     uint64_t dur_ns)
{
    bool has_wait = cell->waited_ns > 0 && cell->by != TRACE_NONE && encoder->row_of[cell->by] != TRACE_NONE;
    uint64_t head = cell->n_parts == 1 ? 2 * (uint64_t)(parts[0].kind + 1) + 1 : 2 * (uint64_t)cell->n_parts;
    put(encoder, LENGTHS, dur_ns);
    put(encoder, HEADS, 2 * head + has_wait);
    for (uint32_t i = 0; i < cell->n_parts && cell->n_parts > 1; i++) {
        put(encoder, PARTS, parts[i].kind);
        put(encoder, PARTS, (uint64_t)llroundf(fmaxf(parts[i].ns, 1)));
    }
    if (has_wait) {
        put(encoder, WAITS, encoder->row_of[cell->by]);
        put(encoder, WAITS, cell->site == TRACE_NONE ? 0 : cell->site + 1u);
        put(encoder, WAITS, (cell->is_inferred ? 1u : 0) + (cell->n_parts > 1 ? 2u : 0));
        if (cell->n_parts > 1) {
            put(encoder, WAITS, (uint64_t)cell->waited_ns);
            put(encoder, WAITS, cell->release_ns > cell->begin_ns ? cell->release_ns - cell->begin_ns : 0);
        }
    }
}

/* The number of cells written: gaps are cells as well, and what lies behind the cell after it (clocks disagree) has no
 * room. */
static int put_row(struct encoder *encoder, const struct timeline_row *row)
{
    static const struct timeline_cell gap = {.by = TRACE_NONE};
    const struct timeline_part *parts = row->parts.at;
    uint64_t now_ns = encoder->analysis->trace->start_ns;
    int n = 0;
    for (size_t i = 0; i < row->cells.n; parts += row->cells.at[i++].n_parts) {
        const struct timeline_cell *cell = &row->cells.at[i];
        if (cell->begin_ns > now_ns) {
            put_cell(encoder, &gap, NULL, cell->begin_ns - now_ns);
            now_ns = cell->begin_ns;
            n++;
        }
        if (cell->end_ns <= now_ns)
            continue;
        put_cell(encoder, cell, parts, cell->end_ns - now_ns);
        now_ns = cell->end_ns;
        n++;
    }
    return n;
}

static json_t *encode_kinds(struct encoder *encoder)
{
    static const char *const states[TIMELINE_N_STATES] = {"computing", "descheduled", "blocked", "transfer",
                                                          "mpi",       "unknown",     "waiting"};
    struct label_book book = {.arena = &encoder->arena, .analysis = encoder->analysis, .short_names = true};
    json_t *kinds = json_array();
    for (size_t i = 0; i < encoder->timeline->kinds.n; i++) {
        const struct timeline_kind *kind = &encoder->timeline->kinds.at[i];
        json_t *name = json_text(kind->step == TRACE_NONE ? NULL : label_step(&book, kind->step));
        const char *routine = kind->step == TRACE_NONE ? NULL : encoder->analysis->steps[kind->step].routine;
        int cause = kind->cause == TRACE_NONE ? -1 : (int)kind->cause;
        json_array_append_new(kinds, json_pack("[s, i, o, o]", states[kind->state], cause, name,
                                               json_text(routine ? label_routine(&book, routine) : NULL)));
    }
    return kinds;
}

/* [[name, [ranks]] ...] of communicators of several ranks, but not of all: each set of ranks once. */
static json_t *encode_comms(const struct trace *trace)
{
    enum { MOST_NUMBERS = 1 << 17 };
    json_t *comms = json_array();
    struct intern seen = {0};
    size_t n_numbers = 0;
    for (uint32_t i = 0; i < trace->n_comms; i++) {
        const struct trace_comm *comm = &trace->comms[i];
        size_t known = seen.n;
        if (comm->n_remote || comm->n < 2 || comm->n >= trace->n_ranks || n_numbers + comm->n > MOST_NUMBERS ||
            intern_put(&seen, comm->ranks, comm->n * sizeof *comm->ranks) != known)
            continue;
        json_t *ranks = json_array();
        for (uint32_t k = 0; k < comm->n; k++)
            if (comm->ranks[k] < trace->n_ranks)
                json_array_append_new(ranks, json_integer(comm->ranks[k]));
        n_numbers += comm->n;
        json_array_append_new(comms, json_pack("[o, o]", json_text(comm->name), ranks));
    }
    intern_release(&seen);
    return comms;
}

json_t *cells_encode(const struct analysis *analysis, const struct timeline *timeline, struct bytes *streams)
{
    struct encoder encoder = {.analysis = analysis, .timeline = timeline};
    json_t *rows = json_array(), *lengths = json_array();
    encoder.row_of = arena_array(&encoder.arena, uint32_t, timeline->rows.n + 1);
    uint32_t n_rows = 0, n_workers = 0;
    for (size_t i = 0; i < timeline->rows.n; i++)
        encoder.row_of[i] = timeline->rows.at[i].cells.n ? n_rows++ : (uint32_t)TRACE_NONE;
    for (size_t i = 0; i < timeline->rows.n; i++) {
        const struct trace_location *location = &analysis->trace->locations[i];
        n_workers += location->thread && !timeline->rows.at[i].cells.n;
        if (timeline->rows.at[i].cells.n)
            json_array_append_new(rows, json_pack("[i, i, i]", (int)location->rank, (int)location->thread,
                                                  put_row(&encoder, &timeline->rows.at[i])));
    }
    for (int i = 0; i < N_STREAMS; i++) {
        struct bytes *from = &encoder.streams[i];
        json_array_append_new(lengths, json_integer((json_int_t)from->all.n));
        for (size_t k = 0; k < from->all.n; k++)
            *vec_push(&streams->all) = from->all.at[k];
        vec_release(&from->all);
    }
    json_t *head = json_pack("{s:I, s:o, s:i, s:o, s:o, s:o}", "resolution_ns", (json_int_t)timeline->resolution_ns,
                             "rows", rows, "workers", (int)n_workers, "kinds", encode_kinds(&encoder), "comms",
                             encode_comms(analysis->trace), "streams", lengths);
    arena_release(&encoder.arena);
    return head;
}
