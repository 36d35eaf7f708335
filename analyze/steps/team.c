/* SPDX-License-Identifier: BSD-3-Clause */
#include "analyze/steps/team.h"
#include <math.h>

struct team_sums team_sums_at(struct team *team, uint64_t now_ns)
{
    uint64_t ns = now_ns > team->now_ns ? now_ns - team->now_ns : 0;
    if (team->n[THREAD_RUNS]) {
        team->sums.run_ns += ns;
        team->each_ns += (double)ns / (team->n[THREAD_RUNS] + team->n[THREAD_READY]);
    } else if (team->n[THREAD_READY]) {
        team->sums.kept_ns += ns;
    } else if (team->n[THREAD_IN_MPI]) {
        team->sums.mpi_ns += ns;
    }
    team->now_ns += ns;
    return team->sums;
}

/* It sleeps, or enters MPI: then it is known what it used of a CPU. */
static void settle(struct team *team, struct team_member *member)
{
    if (member->ready_ns)
        team->lacked_ns += member->held_up_ns * fmin(1, (double)member->used_ns / (double)member->ready_ns);
    member->ready_ns = member->used_ns = 0;
    member->held_up_ns = 0;
}

void team_move(struct team *team, struct team_member *member, enum thread_state state, uint64_t now_ns)
{
    uint64_t ns = now_ns > member->since_ns ? now_ns - member->since_ns : 0;
    bool was_quiet = !team->n[THREAD_RUNS];
    team_sums_at(team, now_ns);
    if (member->state == THREAD_READY) {
        member->ready_ns += ns;
        member->held_up_ns += team->each_ns - member->each_ns;
    } else if (member->state == THREAD_RUNS) {
        member->used_ns += ns;
    }
    if (state == THREAD_AWAY || state == THREAD_IN_MPI)
        settle(team, member);
    team->n[member->state] -= member->state != THREAD_AWAY;
    team->n[state] += state != THREAD_AWAY;
    member->state = state;
    member->since_ns = now_ns;
    member->each_ns = team->each_ns;
    if (!was_quiet && !team->n[THREAD_RUNS])
        team->quiet_ns = now_ns;
}

void team_found_running(struct team *team, struct team_member *member, uint64_t used_ns, uint64_t now_ns)
{
    uint64_t from_ns = team->quiet_ns > member->since_ns ? team->quiet_ns : member->since_ns;
    if (now_ns > used_ns && now_ns - used_ns > from_ns)
        from_ns = now_ns - used_ns;
    team_sums_at(team, now_ns);
    if (!team->n[THREAD_RUNS] && now_ns > from_ns)
        team->sums.run_ns += now_ns - from_ns;
    team_move(team, member, THREAD_RUNS, now_ns);
}
