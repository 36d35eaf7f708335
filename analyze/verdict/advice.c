/* SPDX-License-Identifier: BSD-3-Clause */
#include "analyze/verdict/advice.h"
#include "analyze/constants/constants.h"
#include "analyze/verdict/machine.h"
#include "analyze/verdict/sides.h"
#include "analyze/waits/call_classes.h"
#include <math.h>
#include <string.h>

/* Lines of a script, and not native code that they call: that may let other threads run. */
static bool is_interpreted(const struct analysis *analysis, const struct cause *cause)
{
    uint32_t place = analysis->steps[cause->step].place;
    bool is_native = cause->library && !cause->inside;
    return analysis->code && place != CODE_NONE && !is_native &&
           code_module_is_script(analysis->code, code_place(analysis->code, place)->module);
}

/* On average. With less, the process was mostly in it without any: its threads had no CPU, or one spun for another. */
static bool runs_one_thread(const struct cause_rank *rank)
{
    return rank->threads > 1 / MORE_THREADS && rank->threads < MORE_THREADS;
}

/* A process is in it for a shorter time, though no more than one thread at a time runs it there either. */
static bool others_run_one_thread(const struct cause *cause)
{
    const struct cause_rank *late = &cause->ranks[0];
    for (uint32_t i = 1; i < cause->n_ranks + cause->n_others; i++) {
        const struct cause_rank *rank = cause_rank_at(cause, i);
        if (rank->computing_ns < late->computing_ns && rank->threads > 0 && rank->threads < MORE_THREADS)
            return true;
    }
    return false;
}

enum thread_sharing thread_sharing_of(const struct analysis *analysis, const struct cause *cause)
{
    const struct cause_rank *rank = cause->n_ranks ? &cause->ranks[0] : NULL;
    if (!rank || rank->n_threads < 2)
        return SHARED_EVENLY;
    double even = 1. / rank->n_threads;
    /* An interpreter lets one thread run at a time, with CPUs or without: another division would change nothing. More
     * do where there are several interpreters. Or they seem to, as time that a rank lacked a CPU counts for workers. */
    bool is_locked = rank->threads < MORE_THREADS || cause->errand == ERRAND_INTERPRETER_LOCK;
    if (is_locked && is_interpreted(analysis, cause))
        return rank->most_share + 2 * rank->most_error < MOST_SHARE ? SHARED_BY_INTERPRETER : SHARED_EVENLY;
    if (rank->most_share - 2 * rank->most_error > MORE_THREADS * even)
        return SHARED_UNEVENLY;
    if (rank->threads <= 0)
        return SHARED_EVENLY;
    bool had_cpus = rank->n_at_once > 1 && cause->lacking_ns <= cause->waiting_ns;
    bool is_alone = runs_one_thread(rank) && had_cpus;
    /* A lock lets one thread run at a time, and so does a CPU that they share. Then others are ready meanwhile:
     * together for so long at least, if each runs in one go, and who has most of it comes last. */
    double worked_ns = rank->threads * rank->computing_ns, rest = 1 - fmax(rank->most_share, even);
    bool may_lack = rank->threads_lacked_ns > rest * worked_ns * rank->n_threads / 2;
    if (!is_alone || (may_lack && others_run_one_thread(cause)))
        return SHARED_EVENLY;
    return may_lack ? SHARED_BY_TURNS_OR_CPUS : SHARED_BY_TURNS;
}

/* The call of MPI that a step is; NULL = it is none. */
static const struct trace_region *call_of(const struct analysis *analysis, uint32_t step)
{
    const struct trace *trace = analysis->trace;
    const char *call = analysis->steps[step].call;
    for (uint32_t i = 0; call && i < trace->n_regions; i++)
        if (trace->regions[i].is_mpi && !strcmp(trace->regions[i].name, call))
            return &trace->regions[i];
    return NULL;
}

/* Memory that ranks share needs fences, though nobody puts or gets. */
static bool has_onesided_transfers(const struct trace *trace)
{
    for (uint32_t i = 0; i < trace->n_regions; i++)
        if (trace->regions[i].is_mpi && class_is_onesided_transfer(trace->regions[i].class))
            return true;
    return false;
}

bool step_moves_data(const struct analysis *analysis, uint32_t step)
{
    const struct trace_region *call = call_of(analysis, step);
    if (!call || !region_moves_data(call))
        return !call;
    return !class_completes_onesided(call->class) || has_onesided_transfers(analysis->trace);
}

/* Ranks did lack CPUs, so that the report has a row for it, and of a host it is known why. */
static bool ranks_lacked_cpus(const struct analysis *analysis)
{
    const struct efficiency *efficiency = &analysis->efficiency;
    return machine_is_short(&analysis->machine) && analysis->machine.share >= NEGLIGIBLE_SHARE &&
           efficiency->descheduled_ns >= NEGLIGIBLE_SHARE * efficiency->all_ns;
}

enum advice advice_of_transfer(const struct analysis *analysis, uint32_t step)
{
    const struct trace_region *call = call_of(analysis, step);
    enum ww_class class = call ? call->class : WW_COLLECTIVE;
    bool moves_data = step_moves_data(analysis, step);
    if (class == WW_INIT || class == WW_FINALIZE || class == WW_SPAWN)
        return ADVICE_START_UP;
    if (class == WW_LOCAL && moves_data)
        return ADVICE_DATA_TYPES;
    if (moves_data && ranks_lacked_cpus(analysis))
        return ADVICE_CPU_BEFORE;
    if (class == WW_TEST || class == WW_IPROBE || class == WW_PROBE)
        return ADVICE_ASK_LESS;
    return moves_data ? ADVICE_FEWER_MESSAGES : ADVICE_FEWER_CALLS;
}

/* Code that is given cannot be built to count; but its data comes from the program, or from the input. */
static enum advice advice_of_code(const struct analysis *analysis, const struct step *step)
{
    const struct code_place *place = analysis->code ? code_place(analysis->code, step->place) : NULL;
    if (!place)
        return ADVICE_COUNT;
    bool is_known = place->module < analysis->trace->n_modules;
    if (is_known && code_module_is_script(analysis->code, place->module))
        return ADVICE_COMPARE_SCRIPT;
    if (code_module_language(analysis->code, place->module))
        return ADVICE_OTHER_PROFILER;
    if (code_module_package(analysis->code, place->module))
        return ADVICE_COMPARE_PACKAGE;
    if (is_known && code_module_is_extension(analysis->code, place->module))
        return ADVICE_COMPARE_EXTENSION;
    return is_known && code_module_is_given(analysis->code, place->module) ? ADVICE_COMPARE_GIVEN : ADVICE_COUNT;
}

/* Most of what is waited for is that the MPI library goes on, not what the late side computes. */
static bool is_for_progress(const struct analysis *analysis, const struct cause *cause)
{
    double progress_ns = 0;
    for (uint32_t i = 0; i < cause->n_sites; i++)
        if (analysis->sites[cause->sites[i].site].kind == WAIT_PROGRESS)
            progress_ns += cause->sites[i].waiting_ns;
    return progress_ns > cause->waiting_ns / 2;
}

/* Ranks that are late but never wait keep the run from ending sooner, whenever the library goes on: the others would
 * wait for them elsewhere. So that helps by no more than the late ranks wait themselves, and hardly where they have far
 * more to do. */
static bool helps_progress(const struct analysis *analysis, const struct cause *cause)
{
    const struct factor *times = &cause->reason.times, *often = &cause->reason.often;
    bool is_far_longer = times->is_known && times->at_least > exp(SAME_FACTOR);
    bool is_far_more = often->is_known && often->least > exp(SAME_FACTOR);
    double waiting_ns = is_far_longer || is_far_more ? 0 : INFINITY;
    for (uint32_t i = 0; i < cause->n_late; i++)
        waiting_ns = fmin(waiting_ns, analysis->ranks[cause->ranks[i].rank].waiting_ns);
    return waiting_ns >= cause->if_balanced_ns / 2;
}

/* The host of all these ranks; NULL when there are several, or it is not known. */
static const char *common_host(const struct trace *trace, const struct cause_rank *ranks, uint32_t n)
{
    const char *host = NULL;
    for (uint32_t i = 0; i < n; i++) {
        const struct trace_location *location = trace_main_thread(trace, ranks[i].rank);
        if (!location || !location->host || (host && strcmp(host, location->host)))
            return NULL;
        host = location->host;
    }
    return host;
}

bool late_have_own_node(const struct trace *trace, const struct cause *cause)
{
    const char *late = common_host(trace, cause->ranks, cause->n_late);
    const char *others = common_host(trace, cause->others, cause->n_others);
    return late && cause->n_others && (!others || strcmp(late, others));
}

/* Slower at the same work: the late ranks' node, where they have one of their own, else memory. */
static enum advice advice_of_slower(const struct analysis *analysis, const struct cause *cause)
{
    if (machine_has_more_threads(&analysis->machine))
        return ADVICE_CPU_FOR_EACH;
    if (late_have_own_node(analysis->trace, cause))
        return ADVICE_COMPARE_NODES;
    return cause->library ? ADVICE_COMPARE_CALLS : ADVICE_MEMORY_ACCESS;
}

static bool waits_at(const struct cause_site *site, uint32_t rank)
{
    for (uint32_t i = 0; i < site->n_waiting; i++)
        if (site->waiting[i] == rank)
            return true;
    return false;
}

/* Several ranks do it at the same time. Those who wait for them have no part in it, as one that hands out work. */
static bool waits_for_workers(const struct cause *cause)
{
    const struct cause_site *site = cause->n_sites ? &cause->sites[0] : NULL;
    uint32_t n = cause->n_ranks + cause->n_others, n_workers = 0;
    double most_ns = 0;
    for (int turn = 0; turn < 2 && site && site->n_waiting; turn++)
        for (uint32_t i = 0; i < n; i++) {
            const struct cause_rank *rank = cause_rank_at(cause, i);
            bool waits = waits_at(site, rank->rank);
            most_ns = fmax(most_ns, rank->time_ns);
            if (turn && waits && rank->time_ns >= NEGLIGIBLE_SHARE * most_ns)
                return false;
            n_workers += turn && !waits && 2 * rank->time_ns >= most_ns;
        }
    return n_workers > 1;
}

/* By executions where others have such, else by time. */
static bool is_late_alone(const struct cause *cause)
{
    bool others_run_it = cause->reason.often.is_known;
    return !others_run_it && (cause->is_alone || (cause->reason.is_alone && !cause->reason.is_few));
}

/* Where late ranks do more of it, or for longer: how that may be shared out otherwise; ADVICE_NONE where nothing tells.
 */
static enum advice advice_of_sharing(const struct cause *cause)
{
    switch (cause->balance) {
    case BALANCE_SERIAL:
        return ADVICE_DO_AT_ONCE;
    case BALANCE_EACH_TIME:
        if (cause->acts.moves)
            return ADVICE_SHARE_ANEW;
        return cause->n_others || cause->n_ranks > cause->n_late ? ADVICE_SHARE_EACH_TIME : ADVICE_SHARE_IN_TURNS;
    case BALANCE_VARYING:
        return ADVICE_NOTHING;
    case BALANCE_UNEVEN:
        break;
    }
    /* Threads of one rank share it more easily than ranks. */
    if (cause->sharing == SHARED_UNEVENLY)
        return cause->ranks[0].n_callers > 1 ? ADVICE_SHARE_CALLERS : ADVICE_SHARE_THREADS;
    if (cause->sharing == SHARED_BY_TURNS)
        return ADVICE_SHORTEN_SECTION;
    if (cause->sharing == SHARED_BY_TURNS_OR_CPUS)
        return ADVICE_LET_RUN_AT_ONCE;
    if (cause->sharing == SHARED_BY_INTERPRETER)
        return ADVICE_PROCESSES;
    if (waits_for_workers(cause))
        return ADVICE_TAKE_PART;
    if (!is_late_alone(cause))
        return ADVICE_NONE;
    if (cause->has_instead)
        return ADVICE_SHARE_BOTH;
    return cause->is_as_much_otherwise ? ADVICE_MEMORY_ACCESS : ADVICE_SHARE_OR_OVERLAP;
}

/* Asleep or in the kernel. */
static enum advice advice_of_blocked(const struct cause *cause)
{
    static const enum advice advice[PAUSE_N] = {
        [PAUSE_UNKNOWN] = ADVICE_SYSTEM_CALLS,     [PAUSE_SLEEP] = ADVICE_SHORTEN_SLEEP,
        [PAUSE_FILE] = ADVICE_FILE_ACCESS,         [PAUSE_MEMORY] = ADVICE_TOUCHED_MEMORY,
        [PAUSE_CHILD] = ADVICE_CHILD_PROCESS,      [PAUSE_DATA] = ADVICE_OUTSIDE_DATA,
        [PAUSE_NETWORK] = ADVICE_NETWORK_ANSWER,   [PAUSE_LOCK] = ADVICE_HELD_LOCK,
        [PAUSE_INTERPRETER] = ADVICE_OTHER_PROCESS};
    return cause->n_files ? ADVICE_FILE_ACCESS : advice[cause->pause];
}

/* Its module is built to count. */
static bool is_counted(const struct analysis *analysis, const struct step *step)
{
    const struct trace *trace = analysis->trace;
    const struct code_place *place = analysis->code ? code_place(analysis->code, step->place) : NULL;
    return place && place->module < trace->n_modules && trace->modules[place->module].has_points;
}

static enum advice advice_of_kind(const struct analysis *analysis, const struct cause *cause)
{
    const struct step *step = &analysis->steps[cause->step];
    switch (cause->kind) {
    case KIND_MORE_WORK:
        return step->is_loop ? ADVICE_SHARE_LOOP : ADVICE_SHARE_WORK;
    case KIND_SLOWER:
        return advice_of_slower(analysis, cause);
    case KIND_BLOCKED:
        return advice_of_blocked(cause);
    case KIND_DESCHEDULED:
        return ADVICE_MACHINE;
    case KIND_TRANSFER:
        return advice_of_transfer(analysis, cause->step);
    default:
        if (cause->is_generated)
            return ADVICE_COMPARE_GENERATED;
        if (step->place == CODE_NONE)
            return ADVICE_SEE_STEPS;
        /* Of code that is called on several ways, a decision tells of more work. Else what counts do not tell is done
         * by what is called. */
        if (cause->is_elsewhere && cause->n_partings)
            return step->is_loop ? ADVICE_SHARE_LOOP : ADVICE_SHARE_WORK;
        return (cause->is_in_library && cause->library) || is_counted(analysis, step) ? ADVICE_COMPARE_CALLS
                                                                                      : advice_of_code(analysis, step);
    }
}

/* What an interpreter does beside the program's code has another remedy than the code. ADVICE_NONE where it is none,
 * where single steps of it vary as anything does, or where threads share work under the lock: that is to be divided. */
static enum advice advice_of_errand(const struct cause *cause)
{
    static const enum advice advice[ERRAND_N] = {[ERRAND_IMPORT] = ADVICE_IMPORT_BEFORE,
                                                 [ERRAND_OBJECTS] = ADVICE_SEND_BUFFERS,
                                                 [ERRAND_COLLECTOR] = ADVICE_COLLECT_LESS,
                                                 [ERRAND_INTERPRETER_LOCK] = ADVICE_OTHER_PROCESS};
    bool may_vary = cause->balance == BALANCE_VARYING && cause->errand != ERRAND_COLLECTOR;
    bool is_shared = cause->errand == ERRAND_INTERPRETER_LOCK && cause->sharing == SHARED_BY_INTERPRETER;
    return may_vary || is_shared ? ADVICE_NONE : advice[cause->errand];
}

enum advice advice_of(const struct analysis *analysis, const struct cause *cause)
{
    bool says_more = cause->kind == KIND_MORE_WORK || cause->kind == KIND_MORE_TIME;
    bool is_program = says_more || cause->kind == KIND_SLOWER;
    if (is_program && is_for_progress(analysis, cause) && helps_progress(analysis, cause))
        return ADVICE_CALL_MPI_MEANWHILE;
    if (cause->is_unrecorded)
        return ADVICE_RECORD_LONGER;
    if (cause->is_unexplained)
        return cause->is_for_outside ? ADVICE_RECORD_THEM : ADVICE_OTHER_PROCESSES;
    if (analysis->steps[cause->step].is_start)
        return ADVICE_START_UP;
    if (cause->is_spinning)
        return ADVICE_WRITER;
    if (cause->kind == KIND_BLOCKED && 2 * cause->served_share > 1)
        return ADVICE_LOOK_MORE_OFTEN;
    if (is_program && 2 * (cause->serial_share - cause->served_share) > 1)
        return ADVICE_SHORTEN_LOCK;
    enum advice errand = is_program || cause->kind == KIND_BLOCKED ? advice_of_errand(cause) : ADVICE_NONE;
    if (errand)
        return errand;
    enum advice sharing = says_more ? advice_of_sharing(cause) : ADVICE_NONE;
    return sharing ? sharing : advice_of_kind(analysis, cause);
}

enum advice advice_of_machine(const struct analysis *analysis)
{
    const struct machine *machine = &analysis->machine;
    bool has_teams = false, is_bound = false;
    for (uint32_t i = 0; i < machine->n_hosts; i++) {
        has_teams |= machine->hosts[i].n_busy_threads > machine->hosts[i].n_ranks;
        is_bound |= machine->hosts[i].lacks & LACKS_TEAMS;
    }
    /* Threads of one rank that share a CPU make the rank longer, and nobody waits for a CPU for that. */
    if (machine->share < WORTH_SAYING && !is_bound)
        return ADVICE_NONE;
    if (machine->is_stopped)
        return ADVICE_RECORD_WITHOUT_STOP;
    if (!machine_is_short(machine))
        return ADVICE_NONE;
    return has_teams ? ADVICE_CPU_FOR_THREADS : ADVICE_CPU_FOR_RANKS;
}
