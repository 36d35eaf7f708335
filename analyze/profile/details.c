/* SPDX-License-Identifier: BSD-3-Clause */
#include "analyze/profile/details.h"
#include "analyze/constants/constants.h"
#include "analyze/steps/cpu_use.h"
#include "analyze/waits/matching.h"
#include "wrap/base/containers.h"
#include "wrap/base/sparse.h"
#include "wrap/base/keys.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

struct file_use_key {
    uint32_t site, file, rank;
};

enum { USE_BYTES, USE_ACCESSES, USE_SUMS };

void file_use_take(struct keyed_sums *use, const struct lane *lane, const struct event *event)
{
    const struct file_use_key key = {lane->site, event->file, lane->rank};
    if (!lane->depth || lane->is_off)
        return;
    uint64_t *sums = keyed_sums_of(use, &key, sizeof key, USE_SUMS);
    sums[USE_BYTES] += event->bytes;
    sums[USE_ACCESSES] += event->bytes > 0;
}

static void rank_add(struct cause_rank *ranks, uint32_t n, uint32_t rank, const uint64_t sums[USE_SUMS])
{
    for (uint32_t i = 0; i < n; i++)
        if (ranks[i].rank == rank) {
            ranks[i].file_bytes += sums[USE_BYTES];
            ranks[i].n_accesses += sums[USE_ACCESSES];
        }
}

/* Of one cause: its files in the order of their first use. */
struct cause_use {
    struct cause *cause;
    VEC(struct cause_file) files;
    struct map index; /* file -> 1 + index */
};

static void cause_use_add(struct cause_use *use, const struct trace *trace, const struct file_use_key *key,
                          const uint64_t sums[USE_SUMS])
{
    uint64_t *index = map_put(&use->index, key->file, NULL);
    if (!*index) {
        *vec_push(&use->files) = (struct cause_file){.name = trace->files[key->file].name};
        *index = use->files.n;
    }
    use->files.at[*index - 1].bytes += sums[USE_BYTES];
    rank_add(use->cause->ranks, use->cause->n_ranks, key->rank, sums);
    rank_add(use->cause->others, use->cause->n_others, key->rank, sums);
}

static int file_compare(const void *a, const void *b)
{
    const struct cause_file *left = a, *right = b;
    return order_of(right->bytes, left->bytes) ?: strcmp(left->name, right->name);
}

/* A cause that is a call is named by its innermost frame, whoever led there. */
void file_use_add_to_causes(const struct keyed_sums *use, struct sites *sites, struct analysis *analysis)
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
            cause_use_add(&uses.at[*cause - 1], analysis->trace, &key, use->at.at + (size_t)i * USE_SUMS);
    }
    for (size_t i = 0; i < uses.n; i++) {
        struct cause *cause = uses.at[i].cause;
        cause->n_files = (uint32_t)uses.at[i].files.n;
        if (cause->n_files) {
            vec_sort(&uses.at[i].files, file_compare);
            cause->files =
                arena_copy(&analysis->arena, uses.at[i].files.at, uses.at[i].files.n * sizeof *uses.at[i].files.at);
        }
        vec_release(&uses.at[i].files);
        map_release(&uses.at[i].index);
    }
    vec_release(&uses);
    map_release(&cause_of);
}

/* A counter of bytes, with the routine that it is in, by number in `routines`. */
struct space_point {
    const struct counts_alloc *alloc; /* NULL = its module is not at hand any more */
    const struct counts_function *function;
    uint32_t module;
    uint32_t routine, callee; /* NONE: not at hand; real, or its callee is not counted */
    bool is_asked;            /* of the callee, and what that has of it is not found out yet */
    uint32_t next, next_call; /* of the same routine, and of the calls of its callee; NONE */
    double *bytes;            /* by rank */
};

/* A routine with points, or called at one. */
struct space_routine {
    const char *source_name; /* NULL = not counted */
    uint32_t points, calls;  /* the first points in it and of calls of it; NONE */
    bool is_settled;         /* its bytes are its callers', as far as they asked it for them */
};

enum { NONE = UINT32_MAX };

struct space {
    struct arena arena;
    struct analysis *analysis;
    struct executions *executions;
    VEC(struct space_point) points;
    VEC(uint32_t) point_at;             /* by counter of the trace: index in points + 1; 0 = not asked yet */
    struct intern routine_names;        /* assembler names; routines of a name are taken for one */
    VEC(struct space_routine) routines; /* by name */
    struct intern names;                /* "FILE:LINE ROUTINE CALLEE" */
    VEC(struct allocation) found;       /* by name */
};

/* The routine that allocates at a point, as in the source if that is known; NULL = malloc or the like. */
static const char *through(const struct space *space, const struct space_point *point)
{
    const char *name = point->callee != NONE ? space->routines.at[point->callee].source_name : NULL;
    if (!name || !*name)
        name = point->alloc->callee;
    return *name ? arena_strdup(&space->analysis->arena, name) : NULL;
}

static struct allocation allocation_make(const struct space *space, const struct space_point *point)
{
    const struct counts_function *function = point->function;
    const struct counts_alloc *alloc = point->alloc;
    /* The place around the call that allocates, as far as code is left of its block. */
    uint32_t place = executions_block_place(space->executions, point->module, function, alloc->block);
    if (place == CODE_NONE)
        place = code_place_at(space->executions->code, point->module, function->address);
    const char *routine = place == CODE_NONE ? NULL : code_place(space->executions->code, place)->routine;
    if (!routine)
        routine = *function->source_name ? function->source_name : function->name;
    return (struct allocation){.routine = arena_strdup(&space->analysis->arena, routine),
                               .file = *alloc->at.file ? arena_strdup(&space->analysis->arena, alloc->at.file) : NULL,
                               .line = alloc->at.line,
                               .through = through(space, point),
                               .place = place};
}

static uint32_t routine_put(struct space *space, const char *name)
{
    uint32_t id = intern_text(&space->routine_names, name);
    if (id == space->routines.n)
        *vec_push(&space->routines) = (struct space_routine){.points = NONE, .calls = NONE};
    return id;
}

static struct space_point *point_of(struct space *space, uint32_t counter)
{
    const struct trace_point *at = &space->analysis->trace->points[counter];
    if (space->point_at.at[counter])
        return &space->points.at[space->point_at.at[counter] - 1];
    struct counts *counts = executions_module(space->executions, at->module);
    uint32_t function;
    struct space_point point = {.module = at->module,
                                .alloc = counts ? counts_alloc_at(counts, at->number, &function) : NULL,
                                .routine = NONE,
                                .callee = NONE,
                                .next = NONE,
                                .next_call = NONE,
                                .bytes = arena_array(&space->arena, double, space->analysis->trace->n_ranks)};
    if (point.alloc) {
        point.function = counts_function(counts, function);
        point.routine = routine_put(space, point.function->name);
        point.is_asked = point.alloc->asked != POINTS_ASKED;
        if (point.is_asked)
            point.callee = routine_put(space, point.alloc->callee);
        space->routines.at[point.routine].source_name = point.function->source_name;
        point.next = space->routines.at[point.routine].points;
        space->routines.at[point.routine].points = (uint32_t)space->points.n;
    }
    if (point.is_asked) {
        point.next_call = space->routines.at[point.callee].calls;
        space->routines.at[point.callee].calls = (uint32_t)space->points.n;
    }
    *vec_push(&space->points) = point;
    space->point_at.at[counter] = (uint32_t)space->points.n;
    return &space->points.at[space->points.n - 1];
}

/* The bytes of a list of points; `is_calls`: of calls. */
static double sum_bytes(const struct space *space, uint32_t first, bool is_calls, uint32_t rank)
{
    double sum = 0;
    for (uint32_t i = first; i != NONE; i = is_calls ? space->points.at[i].next_call : space->points.at[i].next)
        sum += space->points.at[i].bytes[rank];
    return sum;
}

static void scale_bytes(struct space *space, uint32_t first, bool is_calls, uint32_t rank, double factor)
{
    for (uint32_t i = first; i != NONE; i = is_calls ? space->points.at[i].next_call : space->points.at[i].next)
        space->points.at[i].bytes[rank] = round(space->points.at[i].bytes[rank] * factor);
}

/* Bytes of a routine become those of the calls that asked it for them. A call that is taken for such because of its
 * type is none where the routine does not ask for as much; of a library's routine only a declaration can tell. */
static void settle(struct space *space, struct space_routine *routine)
{
    double own = 0, asked = 0;
    uint32_t n_ranks = space->analysis->trace->n_ranks;
    for (uint32_t rank = 0; rank < n_ranks; rank++) {
        own += sum_bytes(space, routine->points, false, rank);
        asked += sum_bytes(space, routine->calls, true, rank);
    }
    for (uint32_t rank = 0; rank < n_ranks && routine->points != NONE; rank++) {
        double has = sum_bytes(space, routine->points, false, rank);
        double wanted = sum_bytes(space, routine->calls, true, rank), given = asked <= own ? fmin(has, wanted) : 0;
        scale_bytes(space, routine->calls, true, rank, wanted > 0 ? given / wanted : 0);
        scale_bytes(space, routine->points, false, rank, has > 0 ? (has - given) / has : 0);
    }
    for (uint32_t i = routine->calls; i != NONE; i = space->points.at[i].next_call) {
        struct space_point *point = &space->points.at[i];
        point->is_asked = false;
        if (routine->points == NONE && point->alloc->asked != POINTS_ASKED_OF)
            memset(point->bytes, 0, n_ranks * sizeof *point->bytes);
    }
    routine->is_settled = true;
}

/* Callees first; those that call each other in a circle ask nobody. */
static void settle_all(struct space *space)
{
    bool is_changed = true;
    while (is_changed) {
        is_changed = false;
        for (uint32_t i = 0; i < space->routines.n; i++) {
            /* Only known questions go to others. */
            bool is_ready = !space->routines.at[i].is_settled;
            for (uint32_t k = space->routines.at[i].points; k != NONE; k = space->points.at[k].next)
                is_ready &= !space->points.at[k].is_asked;
            if (is_ready)
                settle(space, &space->routines.at[i]);
            is_changed |= is_ready;
        }
    }
    for (size_t i = 0; i < space->points.n; i++)
        if (space->points.at[i].is_asked)
            memset(space->points.at[i].bytes, 0, space->analysis->trace->n_ranks * sizeof(double));
}

static void add_allocations(struct space *space)
{
    struct analysis *analysis = space->analysis;
    for (size_t i = 0; i < space->points.n; i++) {
        const struct space_point *point = &space->points.at[i];
        for (uint32_t rank = 0; rank < analysis->trace->n_ranks; rank++) {
            if (!(point->bytes[rank] > 0))
                continue;
            /* A counter whose module is not at hand any more. */
            struct allocation allocation =
                point->alloc ? allocation_make(space, point) : (struct allocation){.place = CODE_NONE};
            struct arena scratch = {0};
            uint32_t id =
                intern_text(&space->names, arena_printf(&scratch, "%s:%u %s %s", allocation.file ? allocation.file : "",
                                                        allocation.line, allocation.routine ? allocation.routine : "",
                                                        allocation.through ? allocation.through : ""));
            arena_release(&scratch);
            if (id == space->found.n) {
                allocation.rank_bytes = arena_array(&space->analysis->arena, uint64_t, space->analysis->trace->n_ranks);
                *vec_push(&space->found) = allocation;
            }
            uint64_t bytes = (uint64_t)fmin(point->bytes[rank], 0x1p62); /* damaged counts may be beyond */
            space->found.at[id].rank_bytes[rank] += bytes;
            space->found.at[id].bytes += bytes;
            analysis->allocated_bytes += bytes;
        }
    }
}

static int allocation_compare(const void *a, const void *b)
{
    const struct allocation *left = a, *right = b;
    int by_file = strcmp(left->file ? left->file : "", right->file ? right->file : "");
    int by_routine = strcmp(left->routine ? left->routine : "", right->routine ? right->routine : "");
    return order_of(right->bytes, left->bytes) ?: by_file ?: order_of(left->line, right->line) ?: by_routine;
}

void space_find(struct analysis *analysis, struct executions *executions, const struct sparse *bins)
{
    struct space space = {.analysis = analysis, .executions = executions};
    const struct trace *trace = analysis->trace;
    vec_resize(&space.point_at, trace->n_points);
    for (size_t i = 0; i < bins->n; i++) {
        uint32_t rank = key_high(bins->at[i].key), counter = key_low(bins->at[i].key);
        if (counter >= trace->n_points || !trace->points[counter].is_bytes || rank >= trace->n_ranks)
            continue;
        point_of(&space, counter)->bytes[rank] += bins->at[i].ns;
    }
    settle_all(&space);
    add_allocations(&space);
    vec_sort(&space.found, allocation_compare);
    analysis->n_allocations = (uint32_t)space.found.n;
    analysis->allocations = arena_copy(&analysis->arena, space.found.at, space.found.n * sizeof *space.found.at);
    intern_release(&space.routine_names);
    intern_release(&space.names);
    vec_release(&space.routines);
    vec_release(&space.points);
    vec_release(&space.found);
    vec_release(&space.point_at);
    arena_release(&space.arena);
}

/* A loop holds the loops inside it, a routine only what lies in no loop. */
static bool is_within(struct code *code, uint32_t place, uint32_t around)
{
    if (place == around || place == CODE_NONE || !code_place(code, around)->is_loop)
        return place == around;
    for (uint32_t parent = code_place(code, place)->parent; parent != CODE_NONE;
         parent = code_place(code, parent)->parent)
        if (code_place(code, parent)->source == around)
            return true;
    return false;
}

/* Asked for in the code of the cause or of one of its parts: a cause is named by its heaviest loop, and what is asked
 * for stands as often beside it. */
static bool cause_asks(const struct analysis *analysis, const struct cause *cause, const struct allocation *allocation)
{
    uint32_t named = analysis->steps[cause->step].place;
    if (named != CODE_NONE && is_within(analysis->code, allocation->place, named))
        return true;
    for (uint32_t i = 0; i < cause->n_parts; i++) {
        uint32_t place = analysis->steps[cause->parts[i].step].place;
        if (place != CODE_NONE && place == allocation->place)
            return true;
    }
    return false;
}

void space_add_to_causes(struct analysis *analysis)
{
    for (uint32_t i = 0; i < analysis->n_causes && analysis->code; i++)
        for (uint32_t k = 0; k < analysis->n_allocations; k++)
            if (cause_asks(analysis, &analysis->causes[i], &analysis->allocations[k])) {
                struct cause *cause = &analysis->causes[i];
                for (uint32_t j = 0; j < cause->n_ranks; j++)
                    cause->ranks[j].bytes += analysis->allocations[k].rank_bytes[cause->ranks[j].rank];
                for (uint32_t j = 0; j < cause->n_others; j++)
                    cause->others[j].bytes += analysis->allocations[k].rank_bytes[cause->others[j].rank];
            }
}

static void moved_add(struct moved *moved, uint64_t bytes)
{
    moved->least = moved->n && moved->least < bytes ? moved->least : bytes;
    moved->most = moved->most > bytes ? moved->most : bytes;
    moved->bytes += bytes;
    moved->n++;
}

/* Distances that are met first have a place, others are counted together. */
static void add_partner(struct site_exchange *site, int64_t distance, uint64_t n)
{
    uint32_t at = 0;
    while (at < site->n_partners && site->partners[at].distance != distance)
        at++;
    if (at == EXCHANGE_PARTNERS) {
        site->n_others += n;
        return;
    }
    if (at == site->n_partners)
        site->partners[site->n_partners++].distance = distance;
    site->partners[at].n += n;
}

static void moved_join(struct moved *moved, const struct moved *later)
{
    if (!later->n)
        return;
    moved->least = moved->n && moved->least < later->least ? moved->least : later->least;
    moved->most = moved->most > later->most ? moved->most : later->most;
    moved->bytes += later->bytes;
    moved->n += later->n;
}

static void exchange_join(struct site_exchange *site, const struct site_exchange *later)
{
    moved_join(&site->messages, &later->messages);
    moved_join(&site->collectives, &later->collectives);
    site->n_members = site->n_members > later->n_members ? site->n_members : later->n_members;
    for (uint32_t i = 0; i < later->n_partners; i++)
        add_partner(site, later->partners[i].distance, later->partners[i].n);
    site->n_others += later->n_others;
}

void exchanges_pack(const struct exchanges *exchanges, struct packing *packing)
{
    pack_vec(packing, &exchanges->sites);
}

void exchanges_unpack(struct exchanges *exchanges, struct unpacking *unpacking)
{
    struct exchanges later = {0};
    unpack_vec(unpacking, &later.sites);
    if (later.sites.n > exchanges->sites.n)
        vec_resize(&exchanges->sites, later.sites.n);
    for (size_t i = 0; i < later.sites.n; i++)
        exchange_join(&exchanges->sites.at[i], &later.sites.at[i]);
    exchanges_release(&later);
}

void exchanges_take(struct exchanges *exchanges, const struct trace *trace, const struct lane *lane,
                    const struct event *event)
{
    bool is_message = event->kind != EV_COLL_END;
    if (!lane->depth || lane->is_off)
        return;
    if (lane->site >= exchanges->sites.n)
        vec_resize(&exchanges->sites, (size_t)lane->site + 1);
    struct site_exchange *site = &exchanges->sites.at[lane->site];
    if (!is_message) {
        moved_add(&site->collectives, event->bytes);
        if (event->comm < trace->n_comms && trace->comms[event->comm].n > site->n_members)
            site->n_members = trace->comms[event->comm].n;
        return;
    }
    uint32_t peer = messages_peer(trace, event->comm, lane->rank, event->peer);
    if (peer == TRACE_NONE)
        return;
    moved_add(&site->messages, event->bytes);
    add_partner(site, (int64_t)peer - lane->rank, 1);
}

static int by_falling_n(const void *a, const void *b)
{
    const struct exchange_partner *left = a, *right = b;
    return order_of(right->n, left->n) ?: order_of(left->distance, right->distance);
}

void exchanges_write(const struct exchanges *exchanges, const struct classes *classes, const struct measures *measures,
                     struct analysis *analysis)
{
    for (uint32_t i = 0; i < analysis->n_sites; i++) {
        uint32_t site = classes->sites.at[measures->site_order[i]].site;
        if (site >= exchanges->sites.n)
            continue;
        analysis->sites[i].exchange = exchanges->sites.at[site];
        qsort(analysis->sites[i].exchange.partners, analysis->sites[i].exchange.n_partners,
              sizeof(struct exchange_partner), by_falling_n);
    }
}

void exchanges_release(struct exchanges *exchanges)
{
    vec_release(&exchanges->sites);
}
