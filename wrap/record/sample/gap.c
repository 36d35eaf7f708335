/* SPDX-License-Identifier: BSD-3-Clause */
#include "wrap/record/sample/gap.h"
#include "wrap/record/process/machine.h"
#include <stdio.h>
#include <string.h>
#include <time.h>

bool gap_read_account(int32_t tid, uint64_t now_ns, struct gap_account *account)
{
    struct timespec cpu;
    char path[64], text[128];
    unsigned long long cpu_ns, ready_ns;
    if (clock_gettime(machine_thread_clock(tid), &cpu) != 0)
        return false;
    /* "ON_CPU READY SLICES" in ns. Nothing where the kernel does not count it. */
    snprintf(path, sizeof path, "/proc/self/task/%d/schedstat", tid);
    machine_read_text(path, text, sizeof text);
    bool is_counted = sscanf(text, "%llu %llu", &cpu_ns, &ready_ns) == 2;
    *account = (struct gap_account){.time_ns = now_ns,
                                    .cpu_ns = (uint64_t)cpu.tv_sec * 1000000000u + (uint64_t)cpu.tv_nsec,
                                    .ready_ns = is_counted ? ready_ns : 0,
                                    .has_ready = true};
    return true;
}

void gap_begin(struct gap *gap, const struct gap_account *account, bool is_on_cpu)
{
    memset(gap, 0, sizeof *gap);
    gap->last_ns = gap->since_ns = account->time_ns;
    gap->state = is_on_cpu ? GAP_ON : GAP_ASLEEP;
    gap->account = *account;
    gap->ready_ns = account->ready_ns;
}

void gap_take_account(struct gap *gap, const struct gap_account *account)
{
    uint64_t last_ns = gap->n_next ? gap->next[gap->n_next - 1].time_ns : gap->last_ns;
    if (gap->n_next < GAP_ACCOUNTS && account->time_ns > last_ns)
        gap->next[gap->n_next++] = *account;
}

/* The state is accounted for up to here. */
static void advance(struct gap *gap, uint64_t time_ns)
{
    if (time_ns > gap->since_ns) {
        gap->in_state_ns[gap->state] += time_ns - gap->since_ns;
        gap->since_ns = time_ns;
    }
}

static void add_told(struct gap *gap, struct ww_gap told)
{
    if (told.until_ns > told.from_ns && gap->n_told < GAP_TOLD)
        gap->told[gap->n_told++] = told;
}

/* All parts since the last account that tells for how long it was ready. It sleeps, then it is ready. */
static void tell(struct gap *gap, uint64_t ready_ns)
{
    uint64_t off_ns[2] = {0, 0}, asleep_ns[2];
    for (unsigned i = 0; i < gap->n_parts; i++) {
        const struct gap_part *part = &gap->part[i];
        off_ns[part->in_call] += part->until_ns - part->from_ns - part->cpu_ns;
    }
    uint64_t all_ns = off_ns[0] + off_ns[1], left_ns = all_ns > ready_ns ? all_ns - ready_ns : 0;
    asleep_ns[0] = left_ns < off_ns[0] ? left_ns : off_ns[0];
    asleep_ns[1] = left_ns - asleep_ns[0];
    for (unsigned i = 0; i < gap->n_parts; i++) {
        const struct gap_part *part = &gap->part[i];
        double share = (double)asleep_ns[part->in_call] / (double)(off_ns[part->in_call] ? off_ns[part->in_call] : 1);
        uint64_t since_ns = part->from_ns + (uint64_t)((double)(part->until_ns - part->from_ns) * share);
        uint64_t before_ns = (uint64_t)((double)part->cpu_ns * share);
        uint32_t flags = part->in_call ? WW_SW_IN_CALL : 0;
        add_told(gap,
                 (struct ww_gap){.flags = flags, .from_ns = part->from_ns, .until_ns = since_ns, .cpu_ns = before_ns});
        add_told(gap, (struct ww_gap){.flags = flags | WW_SW_PREEMPTED,
                                      .from_ns = since_ns,
                                      .until_ns = part->until_ns,
                                      .cpu_ns = part->cpu_ns - before_ns});
    }
    gap->n_parts = gap->n_settled = 0;
}

/* CPU time in the parts since the last account. */
static void settle(struct gap *gap, uint64_t cpu_ns, bool in_call)
{
    uint64_t all_ns = 0;
    for (unsigned i = gap->n_settled; i < gap->n_parts; i++)
        all_ns += gap->part[i].until_ns - gap->part[i].from_ns - gap->part[i].cpu_ns;
    if (cpu_ns > all_ns)
        cpu_ns = all_ns;
    for (; gap->n_settled < gap->n_parts; gap->n_settled++) {
        struct gap_part *part = &gap->part[gap->n_settled];
        double share = (double)(part->until_ns - part->from_ns - part->cpu_ns) / (double)(all_ns ? all_ns : 1);
        part->cpu_ns += (uint64_t)((double)cpu_ns * share);
        part->in_call = in_call;
    }
}

/* All that happened before the next account is known. */
static void pass_account(struct gap *gap)
{
    struct gap_account next = gap->next[0];
    uint64_t cpu_ns = next.cpu_ns - gap->account.cpu_ns, on_ns = gap->in_state_ns[GAP_ON];
    if (gap->account.time_ns)
        settle(gap, cpu_ns > on_ns ? cpu_ns - on_ns : 0, next.in_call);
    else
        gap->n_parts = 0;
    gap->account = next;
    gap->in_state_ns[GAP_ON] = 0;
    if (next.has_ready) {
        uint64_t ready_ns = next.ready_ns - gap->ready_ns, known_ns = gap->in_state_ns[GAP_READY];
        tell(gap, ready_ns > known_ns ? ready_ns - known_ns : 0);
        gap->ready_ns = next.ready_ns;
        gap->in_state_ns[GAP_READY] = 0;
    }
    memmove(&gap->next[0], &gap->next[1], --gap->n_next * sizeof gap->next[0]);
}

void gap_switch(struct gap *gap, enum gap_state state, uint64_t time_ns)
{
    while (gap->n_next && gap->next[0].time_ns < time_ns) {
        advance(gap, gap->next[0].time_ns);
        pass_account(gap);
    }
    advance(gap, time_ns);
    gap->state = state;
    gap->since_ns = gap->last_ns = time_ns;
}

/* If there are too many, the last part has what lies between them as well. */
static void add_part(struct gap *gap, uint64_t from_ns, uint64_t until_ns)
{
    if (until_ns <= from_ns)
        return;
    if (gap->n_parts < GAP_PARTS)
        gap->part[gap->n_parts++] = (struct gap_part){.from_ns = from_ns, .until_ns = until_ns};
    else {
        gap->part[GAP_PARTS - 1].until_ns = until_ns;
        gap->n_settled = gap->n_settled < GAP_PARTS ? gap->n_settled : GAP_PARTS - 1;
    }
}

/* Whether it is on a CPU behind the gap is known with the next switch, which comes at the same time. */
void gap_lost(struct gap *gap, uint64_t time_ns)
{
    uint64_t from_ns = gap->last_ns;
    gap->state = GAP_UNKNOWN;
    while (gap->n_next && gap->next[0].time_ns <= time_ns) {
        uint64_t account_ns = gap->next[0].time_ns;
        add_part(gap, from_ns, account_ns);
        from_ns = account_ns > from_ns ? account_ns : from_ns;
        pass_account(gap);
    }
    add_part(gap, from_ns, time_ns);
    gap->since_ns = gap->last_ns = time_ns;
}
