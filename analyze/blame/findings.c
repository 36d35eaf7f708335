/* SPDX-License-Identifier: BSD-3-Clause */
#include "analyze/blame/findings.h"
#include "analyze/blame/efficiency.h"
#include <stdlib.h>

void findings_begin(struct findings *findings, struct numbers *numbers, const struct findings_input *input)
{
    const struct trace *trace = numbers->sites->trace;
    *findings =
        (struct findings){.trace = trace, .main_lanes = input->main_lanes, .numbers = numbers, .pools = input->pools};
    findings->done = memory_lines(trace->n_locations + 1, sizeof *findings->done);
    findings->ranks = memory_lines(trace->n_ranks + 1, sizeof *findings->ranks);
    rounds_begin(&findings->rounds, numbers->sites);
    classes_begin(&findings->classes, input->pools, input->cpu_use, trace->n_ranks);
    if (input->threshold > 0)
        findings->classes.threshold = input->threshold;
}

void findings_release(struct findings *findings)
{
    if (!findings->trace)
        return;
    for (uint32_t i = 0; i < findings->trace->n_locations; i++) {
        vec_release(&findings->done[i].calls);
        vec_release(&findings->done[i].left);
    }
    for (uint32_t i = 0; i < findings->trace->n_ranks; i++) {
        sparse_release(&findings->ranks[i].atoms);
        sparse_release(&findings->ranks[i].counts);
        sparse_release(&findings->ranks[i].served);
    }
    vec_free(findings->done);
    vec_free(findings->ranks);
    sparse_release(&findings->critical);
    sparse_release(&findings->fetched);
    classes_release(&findings->classes);
    rounds_release(&findings->rounds);
}

/* Giving away. */

struct section_sums {
    uint64_t n_calls, n_polls, n_forced, longest_wait_ns;
    double unexplained_ns;
};

static void pack_location(const struct section_passes *passes, uint32_t location, struct packing *packing)
{
    const struct queue_of_calls *lane = &passes->replay->lanes[location];
    pack_value(packing, passes->cut_sites[location]);
    pack_value(packing, passes->lanes->at[location].stopped_ns);
    pack_value(packing, lane->calls.n);
    for (size_t i = 0; i < lane->calls.n; i++)
        pack_value(packing, lane->calls.at[i].n);
    pack_vec(packing, &passes->replay->left[location].n);
}

void findings_pack(const struct section_passes *passes, struct packing *packing)
{
    const struct trace *trace = passes->replay->trace;
    struct sparse critical = {0};
    efficiency_critical_path(passes->replay, &critical);
    fetching_finish(&passes->reader->fetching);
    struct section_sums sums = {.n_calls = passes->reader->n_calls,
                                .n_polls = passes->reader->n_polls,
                                .n_forced = passes->replay->n_forced,
                                .longest_wait_ns = passes->replay->longest_wait_ns,
                                .unexplained_ns = passes->replay->unexplained_ns};
    pack_value(packing, sums);
    for (uint32_t i = 0; i < trace->n_locations; i++)
        pack_location(passes, i, packing);
    classes_pack(passes->classes, packing);
    for (uint32_t rank = 0; rank < trace->n_ranks; rank++) {
        struct rank_time *time = &passes->replay->ranks[rank];
        pack_bytes(packing, time, offsetof(struct rank_time, atoms));
        pack_sparse(packing, &time->atoms);
        pack_sparse(packing, &time->counts);
        pack_sparse(packing, &time->served);
    }
    pack_sparse(packing, &critical);
    pack_sparse(packing, &passes->reader->fetching.spent);
    sparse_release(&critical);
}

/* Taking. */

static struct done_before done_before(const void *context, uint32_t rank, uint32_t site)
{
    const struct findings *findings = context;
    const struct location_done *done = &findings->done[findings->main_lanes[rank]];
    uint32_t loop = findings->rounds.innermost.at[site];
    uint32_t n_calls = site < done->calls.n ? done->calls.at[site] : 0;
    return (struct done_before){.n_calls = n_calls - (site == done->cut_site && n_calls),
                                .n_rounds = loop < done->left.n ? done->left.at[loop] : 0,
                                .did_ns = findings->ranks[rank].outside_ns - findings->ranks[rank].preempted_ns};
}

/* The call in which the section begins has been counted before, as it was that the loops around were left then. */
static void begin_in(struct findings *findings, struct location_done *done)
{
    const struct rounds *rounds = &findings->rounds;
    if (done->cut_site == TRACE_NONE)
        return;
    findings->n_calls--;
    for (uint32_t loop = rounds->innermost.at[done->cut_site]; loop != TRACE_NONE; loop = rounds->outer.at[loop])
        if (loop < done->left.n && done->left.at[loop])
            done->left.at[loop]--;
}

struct location_of_section {
    VEC(uint32_t) calls;
    VEC(uint32_t) left;
};

static void unpack_location(struct findings *findings, uint32_t location, struct location_of_section *section,
                            struct unpacking *unpacking)
{
    struct location_done *done = &findings->done[location];
    uint64_t stopped_ns;
    unpack_value(unpacking, &done->cut_site);
    unpack_value(unpacking, &stopped_ns);
    done->stopped_ns += stopped_ns;
    unpack_vec(unpacking, &section->calls);
    unpack_vec(unpacking, &section->left);
    begin_in(findings, done);
}

static void add_done(struct location_done *done, const struct location_of_section *section)
{
    if (section->calls.n > done->calls.n)
        vec_resize(&done->calls, section->calls.n);
    for (size_t i = 0; i < section->calls.n; i++)
        done->calls.at[i] += section->calls.at[i] - (i == done->cut_site && section->calls.at[i]);
    if (section->left.n > done->left.n)
        vec_resize(&done->left, section->left.n);
    for (size_t i = 0; i < section->left.n; i++)
        done->left.at[i] += section->left.at[i];
}

static void unpack_atoms(const struct findings *findings, struct sparse *sum, struct unpacking *unpacking)
{
    struct sparse atoms = {0};
    unpack_sparse(unpacking, &atoms);
    atoms_translate(findings->numbers, &atoms);
    sparse_absorb(sum, &atoms);
    sparse_release(&atoms);
}

static void unpack_rank(const struct findings *findings, struct rank_time *sum, struct unpacking *unpacking)
{
    struct rank_time later;
    unpack_bytes(unpacking, &later, offsetof(struct rank_time, atoms));
    sum->compute_ns += later.compute_ns;
    sum->outside_ns += later.outside_ns;
    sum->mpi_ns += later.mpi_ns;
    sum->transfer_ns += later.transfer_ns;
    sum->waiting_ns += later.waiting_ns;
    sum->blocked_ns += later.blocked_ns;
    sum->descheduled_ns += later.descheduled_ns;
    sum->preempted_ns += later.preempted_ns;
    sum->beside_ns += later.beside_ns;
    sum->asleep_ns += later.asleep_ns;
    sum->unrecorded_ns += later.unrecorded_ns;
    sum->ended_ns += later.ended_ns;
    for (int part = 0; part < WHEN_PARTS; part++)
        sum->lacks_ns[part] += later.lacks_ns[part];
    unpack_atoms(findings, &sum->atoms, unpacking);
    unpack_sparse(unpacking, &sum->counts);
    unpack_atoms(findings, &sum->served, unpacking);
}

static void unpack_classes(struct findings *findings, struct unpacking *unpacking)
{
    struct classes later;
    classes_begin(&later, findings->pools, findings->classes.cpu_use, findings->trace->n_ranks);
    classes_unpack(&later, unpacking, findings->numbers);
    classes_join(&findings->classes, &later, done_before, findings);
    classes_release(&later);
}

void findings_unpack(struct findings *findings, struct unpacking *unpacking)
{
    const struct trace *trace = findings->trace;
    struct section_sums sums;
    unpack_value(unpacking, &sums);
    findings->n_calls += sums.n_calls;
    findings->n_polls += sums.n_polls;
    findings->n_forced += sums.n_forced;
    findings->unexplained_ns += sums.unexplained_ns;
    if (sums.longest_wait_ns > findings->longest_wait_ns)
        findings->longest_wait_ns = sums.longest_wait_ns;
    struct location_of_section *sections = memory_lines(trace->n_locations + 1, sizeof *sections);
    for (uint32_t i = 0; i < trace->n_locations; i++)
        unpack_location(findings, i, &sections[i], unpacking);
    unpack_classes(findings, unpacking);
    for (uint32_t i = 0; i < trace->n_locations; i++) {
        add_done(&findings->done[i], &sections[i]);
        vec_release(&sections[i].calls);
        vec_release(&sections[i].left);
    }
    vec_free(sections);
    for (uint32_t rank = 0; rank < trace->n_ranks; rank++)
        unpack_rank(findings, &findings->ranks[rank], unpacking);
    unpack_atoms(findings, &findings->critical, unpacking);
    unpack_sparse(unpacking, &findings->fetched);
}

/* All sections. */

static void give_ranks(struct findings *findings, struct replay *replay)
{
    struct rank_time *ranks = replay->ranks;
    replay->ranks = findings->ranks;
    findings->ranks = ranks;
    for (uint32_t rank = 0; rank < findings->trace->n_ranks; rank++) {
        sparse_pack(&replay->ranks[rank].atoms);
        sparse_pack(&replay->ranks[rank].counts);
        sparse_pack(&replay->ranks[rank].served);
        atoms_know(findings->pools, &replay->ranks[rank].atoms);
    }
    replay->n_forced = findings->n_forced;
    replay->unexplained_ns = findings->unexplained_ns;
    replay->longest_wait_ns = findings->longest_wait_ns;
}

void findings_give(struct findings *findings, const struct section_passes *passes)
{
    struct classes of_last = *passes->classes;
    struct sparse fetched = passes->reader->fetching.spent;
    *passes->classes = findings->classes;
    findings->classes = of_last;
    classes_know(passes->classes, findings->pools);
    give_ranks(findings, passes->replay);
    sparse_pack(&findings->critical);
    atoms_know(findings->pools, &findings->critical);
    passes->reader->fetching.spent = findings->fetched;
    findings->fetched = fetched;
    passes->reader->n_calls = findings->n_calls;
    passes->reader->n_polls = findings->n_polls;
    for (size_t i = 0; i < passes->reader->last_stretches.n; i++) {
        struct last_stretch *last = &passes->reader->last_stretches.at[i];
        last->step = last->step == TRACE_NONE ? TRACE_NONE : numbers_step(findings->numbers, last->step);
    }
    for (size_t i = 0; i < passes->locks->works.n; i++) {
        atoms_translate(findings->numbers, &passes->locks->works.at[i].atoms);
        atoms_know(findings->pools, &passes->locks->works.at[i].atoms);
    }
    for (uint32_t i = 0; i < findings->trace->n_locations; i++)
        passes->lanes->at[i].stopped_ns = findings->done[i].stopped_ns;
}
