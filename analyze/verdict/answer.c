/* SPDX-License-Identifier: BSD-3-Clause */
#include "analyze/verdict/answer.h"
#include "analyze/constants/constants.h"
#include <math.h>

/* True when no rank is known to be longer in it than the ranks are on average. */
static bool is_as_long_on_all(const struct cause *cause)
{
    uint32_t n = cause->n_ranks + cause->n_others;
    double sum_ns = 0, sum_ns2 = 0;
    for (uint32_t i = 0; i < n; i++) {
        const struct cause_rank *rank = cause_rank_at(cause, i);
        sum_ns += rank->time_ns;
        sum_ns2 += rank->error_ns * rank->error_ns;
    }
    for (uint32_t i = 0; i < n; i++) {
        const struct cause_rank *rank = cause_rank_at(cause, i);
        double allowed_ns = SAME_DEVIATIONS * hypot(rank->error_ns, sqrt(sum_ns2) / n);
        if (rank->time_ns - allowed_ns > NOTABLY_LONGER * sum_ns / n)
            return false;
    }
    return true;
}

static bool is_random(const struct cause *cause)
{
    if (cause->balance == BALANCE_VARYING)
        return true;
    bool computes = cause->kind == KIND_MORE_WORK || cause->kind == KIND_SLOWER || cause->kind == KIND_MORE_TIME;
    return computes && !cause->is_unexplained && !cause->is_spinning && cause->n_ranks > 1 && is_as_long_on_all(cause);
}

/* The time that the machine leaves to the program: on a machine that others use nothing would be much of all time. */
static double own_time(const struct analysis *analysis)
{
    const struct efficiency *efficiency = &analysis->efficiency;
    return efficiency->all_ns - efficiency->descheduled_ns - efficiency->ended_ns - analysis->machine.waiting_ns;
}

/* Of waits that the end of the run cut off, and that lasted longer than the others there. A call of a run that breaks
 * off takes a moment to die. */
static double endless_ns(const struct analysis *analysis)
{
    double ns = 0;
    for (uint32_t i = 0; i < analysis->n_open_waits; i++) {
        const struct open_wait *wait = &analysis->open_waits[i];
        ns += wait->dur_ns > wait->longest_ns && wait->dur_ns >= SAME_MOMENT_NS ? (double)wait->dur_ns : 0;
    }
    return ns;
}

/* A machine that takes most of the time shifts ranks against each other. There only gains speak. */
static bool is_notable(const struct analysis *analysis, const struct cause *cause)
{
    bool is_machine = analysis->answer.lacking_cpus_share > MAJORITY;
    return cause->waiting_ns >= analysis->answer.negligible_ns && !(is_machine && cause->is_gain_minor);
}

static bool is_fine(const struct analysis *analysis, double program_ns)
{
    for (uint32_t i = 0; i < analysis->n_causes; i++) {
        const struct cause *cause = &analysis->causes[i];
        if (is_notable(analysis, cause) && !is_random(cause))
            return false;
        program_ns -= cause->balance == BALANCE_VARYING ? cause->waiting_ns : 0;
    }
    for (uint32_t i = 0; i < analysis->n_partitions; i++)
        if (is_notable(analysis, &analysis->partitions[i].whole))
            return false;
    double most_ns = analysis->answer.lacks_cpus ? NEGLIGIBLE_SHARE * analysis->efficiency.all_ns
                                                 : (NOTABLY_LONGER - 1) * own_time(analysis);
    return program_ns < most_ns && !(endless_ns(analysis) > 0);
}

/* For a cause and those that are like it: the same ranks are late in them by the same factor. */
static double waiting_with_like(const struct analysis *analysis, uint32_t number)
{
    double ns = analysis->causes[number].waiting_ns;
    for (uint32_t i = 0; i < analysis->n_causes; i++)
        ns += analysis->causes[i].like == number + 1 ? analysis->causes[i].waiting_ns : 0;
    return ns;
}

static bool is_like_answer(const struct analysis *analysis, uint32_t number)
{
    return analysis->answer.kind == ANSWER_CAUSE && analysis->causes[number].like == analysis->answer.number + 1;
}

/* The largest of what there is to mend, else of what there is. */
static void answer_set_cause(const struct analysis *analysis, struct answer *answer)
{
    double most_ns = 0;
    for (uint32_t i = 0; i < analysis->n_partitions; i++)
        if (analysis->partitions[i].whole.waiting_ns > most_ns) {
            most_ns = analysis->partitions[i].whole.waiting_ns;
            answer->kind = ANSWER_PARTITION;
            answer->number = i;
        }
    bool takes_all = false;
    do {
        for (uint32_t i = 0; i < analysis->n_causes; i++) {
            const struct cause *cause = &analysis->causes[i];
            bool is_first = !cause->partition && !cause->like && (takes_all || cause->advice != ADVICE_NOTHING);
            double waiting_ns = is_first ? waiting_with_like(analysis, i) : 0;
            if (waiting_ns > most_ns) {
                most_ns = waiting_ns;
                answer->kind = ANSWER_CAUSE;
                answer->number = i;
            }
        }
        takes_all = !takes_all;
    } while (takes_all && !(most_ns > 0));
}

static void answer_set_figures(const struct analysis *analysis, struct answer *answer)
{
    double waiting_ns = answer_cause(analysis)->waiting_ns, lacking_ns = answer_cause(analysis)->lacking_ns;
    for (uint32_t i = 0; i < analysis->n_causes; i++)
        if (is_like_answer(analysis, i)) {
            waiting_ns += analysis->causes[i].waiting_ns;
            lacking_ns += analysis->causes[i].lacking_ns;
            answer->n_like++;
        }
    answer->lacking_share = lacking_ns / (waiting_ns + lacking_ns);
    answer->is_minor = analysis->machine.share > MAJORITY && waiting_ns < WORTH_NAMING * analysis->waiting_ns;
    answer->is_lacking = answer->lacking_share >= WORTH_SAYING && !answer->is_minor;
    /* Otherwise the figures are those of its rows. */
    answer->waiting_ns = waiting_ns + (answer->is_lacking ? lacking_ns : 0);
    answer->share = answer->waiting_ns / analysis->waiting_ns;
    answer->elsewhere_share = analysis->machine.share;
    if (!answer->is_minor)
        answer->elsewhere_share -= lacking_ns / analysis->waiting_ns;
    answer->elsewhere_share = answer->elsewhere_share > MAJORITY ? answer->elsewhere_share : 0;
}

/* Rows stand by what ranks wait for each, which is measured; what each gains is an estimate. Where another one gains
 * more, at the least that it may, by what people care for in a run, that is to be said as well. */
static void answer_set_gains_more(const struct analysis *analysis, struct answer *answer)
{
    double least_ns = answer_cause(analysis)->gain_ns + NEGLIGIBLE_SHARE * analysis->efficiency.wall_ns;
    for (uint32_t i = 0; i < analysis->n_causes; i++)
        least_ns += is_like_answer(analysis, i) ? analysis->causes[i].gain_ns : 0;
    for (uint32_t i = 0; i < analysis->n_causes; i++) {
        const struct cause *cause = &analysis->causes[i];
        bool is_row = !cause->partition && !is_like_answer(analysis, i) && cause->waiting_ns >= answer->negligible_ns;
        if (is_row && cause->gain_least_ns > least_ns) {
            least_ns = cause->gain_least_ns;
            answer->gains_more = i + 1;
        }
    }
}

/* In a ring, or for longer in all than waits took that ended. */
static bool is_hang(const struct analysis *analysis)
{
    return analysis->n_deadlock || endless_ns(analysis) > analysis->waiting_ns;
}

/* By rank: it waited without end itself. Then its end is no news. */
static bool *find_hung(const struct analysis *analysis, struct arena *arena)
{
    bool *has_hung = arena_array(arena, bool, analysis->trace->n_ranks + 1);
    for (uint32_t i = 0; i < analysis->n_open_waits; i++) {
        const struct open_wait *wait = &analysis->open_waits[i];
        if (wait->rank < analysis->trace->n_ranks)
            has_hung[wait->rank] |= wait->dur_ns > wait->longest_ns && wait->dur_ns >= SAME_MOMENT_NS;
    }
    return has_hung;
}

/* It left word of how it ends. */
static bool tells_its_end(const struct trace_location *location)
{
    return location->end_how != WW_END_NONE;
}

/* Who left word goes before who left none, then who ended first. */
static bool ends_before(const struct trace_location *one, const struct trace_location *other)
{
    if (tells_its_end(one) != tells_its_end(other))
        return tells_its_end(one);
    return one->end_ns < other->end_ns;
}

/* The rank whose end may have taken the others with it: of those that left word, else of all, the first. None did where
 * all ended alike within the moment that it takes to end together. */
static const struct trace_location *first_end(const struct analysis *analysis, const bool *has_hung)
{
    const struct trace *trace = analysis->trace;
    const struct trace_location *first = NULL;
    for (uint32_t i = 0; i < analysis->n_last_places; i++) {
        const struct trace_location *location = trace_main_thread(trace, analysis->last_places[i].rank);
        if (location && !has_hung[location->rank] && (!first || ends_before(location, first)))
            first = location;
    }
    uint32_t n_together = 0;
    for (uint32_t i = 0; i < analysis->n_last_places && first; i++) {
        const struct trace_location *other = trace_main_thread(trace, analysis->last_places[i].rank);
        n_together += other && tells_its_end(other) == tells_its_end(first) &&
                      other->end_ns <= first->end_ns + same_moment_ns(trace, other->end_ns);
    }
    return n_together < trace->n_ranks ? first : NULL;
}

/* By what the answer is about. */
static double lost_ns(const struct analysis *analysis)
{
    const struct answer *answer = &analysis->answer;
    if (answer_cause(analysis))
        return answer->waiting_ns;
    return answer->kind == ANSWER_TRANSFERS ? analysis->efficiency.transfer_ns : 0;
}

static bool is_end_the_news(const struct analysis *analysis)
{
    const struct efficiency *efficiency = &analysis->efficiency;
    double n_locations = efficiency->wall_ns > 0 ? efficiency->all_ns / efficiency->wall_ns : 1;
    return analysis->n_last_places && analysis->answer.kind != ANSWER_HANG &&
           lost_ns(analysis) < SAME_MOMENT_NS * n_locations;
}

/* A transfer lasts as well while a partner has no CPU, which is the machine's. */
static bool moves_much(const struct analysis *analysis)
{
    const struct efficiency *efficiency = &analysis->efficiency;
    bool is_machine =
        analysis->transfers.advice == ADVICE_CPU_BEFORE && efficiency->descheduled_ns > efficiency->transfer_ns;
    return analysis->transfers.n_places && !is_machine && analysis->answer.transfer_share >= NOTABLY_LONGER - 1;
}

/* Where CPUs are short, a rank with more to do than the others may make nobody wait, but it is what the run lasts for.
 * What ranks compute is known by their CPU time. */
static void answer_set_busiest(const struct analysis *analysis, struct answer *answer)
{
    uint32_t n = analysis->trace->n_ranks, most = 0;
    double all_ns = 0, most_ns = 0;
    for (uint32_t i = 0; i < n && analysis->ranks; i++) {
        double ns = analysis->ranks[i].compute_ns;
        all_ns += ns;
        if (ns > most_ns) {
            most_ns = ns;
            most = i;
        }
    }
    answer->busiest_ratio = n > 1 ? fmin(most_ns / ((all_ns - most_ns) / (n - 1)), 1 / NEXT_TO_NOTHING) : 1;
    answer->busiest = answer->busiest_ratio >= 1 + MAJORITY ? most + 1 : 0;
    answer->busiest_step = TRACE_NONE;
    most_ns = 0;
    for (uint32_t i = 0; i < analysis->n_nodes && answer->busiest; i++) {
        const struct code_node *node = &analysis->nodes[i];
        bool is_code = analysis->steps[node->step].place != CODE_NONE;
        if (is_code && node->most_rank == most && node->most_ns > most_ns) {
            most_ns = node->most_ns;
            answer->busiest_step = node->step;
        }
    }
}

static void answer_choose(struct analysis *analysis)
{
    struct answer *answer = &analysis->answer;
    double all_ns = analysis->efficiency.all_ns, program_ns = analysis->waiting_ns - analysis->machine.waiting_ns;
    *answer = (struct answer){.kind = ANSWER_NO_WAIT, .negligible_ns = NEGLIGIBLE_SHARE * own_time(analysis)};
    if (is_hang(analysis))
        answer->kind = ANSWER_HANG;
    else if (analysis->trace->n_ranks == 1)
        answer->kind = ANSWER_ALONE;
    if (answer->kind == ANSWER_ALONE || !(analysis->waiting_ns > 0))
        return;
    answer->program_share = program_ns / all_ns;
    answer->machine_share = analysis->machine.waiting_ns / all_ns;
    answer->is_machine = answer->machine_share >= NEGLIGIBLE_SHARE;
    double off_share = analysis->efficiency.descheduled_ns / all_ns;
    answer->off_share = off_share >= NOTABLY_LONGER - 1 ? off_share : 0;
    answer->lacking_cpus_share = (analysis->efficiency.descheduled_ns + analysis->machine.waiting_ns) / all_ns;
    answer->lacks_cpus = answer->lacking_cpus_share > MAJORITY && !analysis->machine.is_stopped;
    answer->transfer_share = analysis->efficiency.transfer_ns / all_ns;
    if (answer->kind == ANSWER_HANG) {
        answer->has_causes = analysis->n_causes && analysis->waiting_ns >= NEGLIGIBLE_SHARE * all_ns;
        return;
    }
    bool is_transfer = moves_much(analysis);
    if (answer->lacks_cpus)
        answer_set_busiest(analysis, answer);
    bool is_little = answer->lacks_cpus || program_ns < (NOTABLY_LONGER - 1) * own_time(analysis);
    answer->kind = is_transfer ? ANSWER_TRANSFERS : is_little ? ANSWER_FINE : ANSWER_VARYING;
    answer->has_causes = analysis->n_causes && !is_fine(analysis, program_ns);
    if (!answer->has_causes || (is_transfer && analysis->efficiency.transfer_ns > program_ns))
        return;
    answer_set_cause(analysis, answer);
    answer_set_figures(analysis, answer);
    answer_set_gains_more(analysis, answer);
}

static bool waits_outside(const struct analysis *analysis)
{
    const struct outside *outside = &analysis->outside;
    return outside->is_notable && outside->ns >= (NOTABLY_LONGER - 1) * analysis->efficiency.all_ns;
}

/* Ranks that are asleep or in the kernel, all alike, make nobody wait inside MPI: they may wait for each other by other
 * means, or pause where none need. */
static double blocked_share(const struct analysis *analysis)
{
    double share = analysis->efficiency.blocked_ns / analysis->efficiency.all_ns;
    bool is_most = share >= WORTH_SAYING && share > analysis->answer.program_share;
    return is_most && analysis->most_blocked != TRACE_NONE ? share : 0;
}

/* By looking at memory, by fetching the same again and again, or blocked. */
static bool waits_beside_mpi(const struct analysis *analysis)
{
    return analysis->answer.kind != ANSWER_ALONE &&
           (analysis->n_spinning || analysis->n_fetches || analysis->answer.blocked_share > 0);
}

void answer_find(struct analysis *analysis)
{
    answer_choose(analysis);
    struct answer *answer = &analysis->answer;
    struct arena scratch = {0};
    const struct trace_location *first = first_end(analysis, find_hung(analysis, &scratch));
    answer->first_end = first ? first->rank + 1 : 0;
    arena_release(&scratch);
    bool is_nothing = answer->kind == ANSWER_NO_WAIT || answer->kind == ANSWER_FINE || answer->kind == ANSWER_ALONE ||
                      answer->kind == ANSWER_VARYING;
    answer->blocked_share = is_nothing ? blocked_share(analysis) : 0;
    if (is_end_the_news(analysis)) {
        answer->kind = ANSWER_BROKE_OFF;
        answer->has_causes = false;
    } else if (is_nothing && (waits_outside(analysis) || waits_beside_mpi(analysis)))
        answer->kind = ANSWER_ELSEWHERE;
}
