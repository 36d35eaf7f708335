/* SPDX-License-Identifier: BSD-3-Clause */
#include "analyze/blame/cause_gain.h"
#include "analyze/constants/constants.h"
#include "analyze/blame/efficiency.h"
#include "analyze/blame/late.h"
#include "wrap/base/keys.h"
#include <math.h>

static void add_waits(const struct causes *causes, const struct sparse *classes, double *waits_ns)
{
    for (size_t i = 0; i < classes->n; i++)
        gain_add_class(waits_ns, causes_class(causes->input, classes->at[i].key), classes->at[i].ns);
}

/* What ranks lost for want of a CPU elsewhere than in the cause, at times when others waited for it; NULL: there is a
 * CPU for each. */
static double *lacks_elsewhere(struct writer *writer, const struct cause *cause, const double *waits_ns)
{
    const struct causes *causes = writer->causes;
    uint32_t n_ranks = causes->input->analysis->trace->n_ranks;
    if (!causes->lost_ns)
        return NULL;
    double *lacks_ns = arena_array(&writer->scratch, double, n_ranks + 1);
    add_waits(causes, &writer->sums->waiting.classes, lacks_ns);
    for (uint32_t rank = 0; rank < n_ranks; rank++) {
        double in_it_ns = waits_ns[rank] - lacks_ns[rank] + sparse_get(&writer->sums->lacks, rank), all_ns = 0;
        for (uint32_t part = 0; part < WHEN_PARTS; part++)
            all_ns += fmin(causes->lost_ns[rank * WHEN_PARTS + part], cause->when_ns[part]);
        lacks_ns[rank] = fmax(0, all_ns - in_it_ns);
    }
    return lacks_ns;
}

void cause_gain_find_lost(struct causes *causes, struct arena *scratch)
{
    const struct causes_input *input = causes->input;
    uint32_t n_ranks = input->analysis->trace->n_ranks;
    causes->lost_ns = arena_array(scratch, double, (size_t)n_ranks *WHEN_PARTS + 1);
    for (uint32_t rank = 0; rank < n_ranks; rank++)
        for (uint32_t part = 0; part < WHEN_PARTS; part++)
            causes->lost_ns[rank * WHEN_PARTS + part] = input->ranks[rank].lacks_ns[part];
    for (size_t i = 0; i < causes->machine.classes.n; i++) {
        const struct path_class *class = causes_class(input, causes->machine.classes.at[i].key);
        double share = class->waiting_ns > 0 ? causes->machine.classes.at[i].ns / class->waiting_ns : 0;
        for (uint32_t part = 0; part < WHEN_PARTS && share > 0; part++) {
            double here = share * when_parts_get(&class->when_parts, part) / class->waiting_ns;
            for (size_t k = 0; k < class->waits.n && here > 0; k++)
                causes->lost_ns[class->waits.at[k].key * WHEN_PARTS + part] += here * class->waits.at[k].ns;
        }
    }
}

/* The part of it that is done under locks which let in one process at a time, and what sharing that out gains. A thread
 * that serves counts as a lock of its own. */
struct serial {
    double share, served_share, gain_ns;
};

static bool is_served(const struct writer *writer, const struct term *serial)
{
    return key_high(serial->key) >= writer->causes->input->locks->works.n;
}

/* A lock keeps apart those who want it: several ranks do this under it, or others wait for the lock meanwhile. */
static bool is_lock_wanted(const struct writer *writer)
{
    const struct sparse *serial = &writer->sums->serial, *by_site = &writer->sums->waiting.by_site;
    const struct term *first = NULL;
    for (size_t i = 0; i < serial->n; i++) {
        const struct term *term = &serial->at[i];
        first = first || is_served(writer, term) ? first : term;
        if (first && !is_served(writer, term) && key_low(term->key) != key_low(first->key))
            return true;
    }
    for (size_t i = 0; i < by_site->n; i++)
        if (writer->causes->input->analysis->sites[key_high(by_site->at[i].key)].kind == WAIT_LOCK)
            return true;
    return false;
}

static struct serial serial_of(struct writer *writer)
{
    const struct cause_sums *sums = writer->sums;
    struct sparse by_lock = {0}, by_rank = {0};
    struct serial serial = {0};
    double longest_ns = 0, least_ns = 0, served_ns = 0;
    bool is_wanted = is_lock_wanted(writer);
    for (size_t i = 0; i < sums->serial.n; i++) {
        bool serves = is_served(writer, &sums->serial.at[i]);
        if (!serves && !is_wanted)
            continue;
        served_ns += serves ? sums->serial.at[i].ns : 0;
        sparse_add(&by_lock, key_high(sums->serial.at[i].key), sums->serial.at[i].ns);
        sparse_add(&by_rank, key_low(sums->serial.at[i].key), sums->serial.at[i].ns);
    }
    sparse_pack(&by_lock);
    sparse_pack(&by_rank);
    for (size_t i = 0; i < by_lock.n; i++)
        least_ns = fmax(least_ns, by_lock.at[i].ns);
    for (size_t i = 0; i < by_rank.n; i++) {
        uint32_t rank = (uint32_t)by_rank.at[i].key;
        double share = fmin(1, by_rank.at[i].ns / fmax(1, sparse_get(&sums->times, rank)));
        longest_ns = fmax(longest_ns, by_rank.at[i].ns);
        serial.share += share * sparse_get(&sums->waiting.ranks, rank) / fmax(1, sums->waiting.ns);
    }
    serial.served_share = serial.share * served_ns / fmax(1, sparse_sum(&by_rank));
    serial.gain_ns = fmax(0, longest_ns - least_ns);
    sparse_release(&by_lock);
    sparse_release(&by_rank);
    return serial;
}

/* The mean time of ranks that are not late in all of it, and not only in the code that names it. NAN: all are late. */
static double usual_ns(const struct cause *cause, const struct sparse *times)
{
    uint32_t n = cause->n_ranks + cause->n_others;
    double sum_ns = 0;
    for (uint32_t i = cause->n_late; i < n; i++)
        sum_ns += sparse_get(times, cause_rank_at(cause, i)->rank);
    return n > cause->n_late ? sum_ns / (n - cause->n_late) : NAN;
}

void cause_gain_write(struct writer *writer, struct cause *cause, double left_idle_ns)
{
    const struct causes_input *input = writer->causes->input;
    const struct cause_sums *sums = writer->sums;
    uint32_t n_ranks = input->analysis->trace->n_ranks;
    double *waits_ns = arena_array(&writer->scratch, double, n_ranks + 1);
    bool *takes_part = arena_array(&writer->scratch, bool, n_ranks + 1);
    add_waits(writer->causes, &sums->held_up, waits_ns);
    for (uint32_t i = 0; i < cause->n_ranks; i++)
        takes_part[cause->ranks[i].rank] = true;
    for (uint32_t i = 0; i < cause->n_others; i++)
        takes_part[cause->others[i].rank] = true;
    double *lacks_ns = lacks_elsewhere(writer, cause, waits_ns);
    const struct serial serial = serial_of(writer);
    /* A transfer that is shared out otherwise lacks a CPU as before. */
    bool is_lacking =
        cause->kind != KIND_TRANSFER && cause->lacking_ns >= WORTH_SAYING * (cause->waiting_ns + cause->lacking_ns);
    struct gain gain =
        gain_of(&(struct gain_input){.efficiency = &input->analysis->efficiency,
                                     .ranks = input->ranks,
                                     .n_ranks = n_ranks,
                                     .waits_ns = waits_ns,
                                     .takes_part = takes_part,
                                     .times = &sums->times,
                                     .blames = &sums->waiting.ranks,
                                     .usual_ns = usual_ns(cause, &sums->times),
                                     .lacks_ns = lacks_ns,
                                     .waiting_ns = cause->waiting_ns,
                                     .left_idle_ns = left_idle_ns,
                                     .lacking_ns = is_lacking ? cause->lacking_ns : 0,
                                     .n_at_once = input->classes->cpu_use->n_at_once,
                                     .serial_share = serial.share,
                                     .serial_gain_ns = serial.gain_ns,
                                     .critical_ns = sums->critical_ns,
                                     .critical_off_ns = sums->critical_off_ns,
                                     .critical_lacks_ns = writer->causes->path_off_cpu_ns - sums->critical_off_ns});
    cause->if_balanced_ns = gain.if_balanced_ns;
    cause->if_balanced_least_ns = gain.if_balanced_least_ns;
    cause->if_as_others_ns = (1 - serial.served_share) * gain.if_as_others_ns;
    cause->if_as_others_least_ns = (1 - serial.served_share) * gain.if_as_others_least_ns;
    cause->if_as_others_known_ns = (1 - serial.served_share) * gain.if_as_others_known_ns;
    cause->serial_share = serial.share;
    cause->served_share = serial.served_share;
    cause->if_gone_ns = gain.if_gone_ns;
    cause->if_gone_off_ns = gain.if_gone_off_ns;
    cause->last_rank = gain.last_rank;
    cause->among_ns = gain.among_ns;
}
