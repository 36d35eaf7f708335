/* SPDX-License-Identifier: BSD-3-Clause */
#include "wrap/record/sample/gap.h"
#include "wrap/record/process/machine.h"
#include "wrap/record/sample/timer.h"
#include <stdio.h>
#include <string.h>
#include <time.h>

bool gap_read_account(int32_t tid, uint64_t now_ns, struct gap_account *account)
{
    struct timespec cpu;
    char path[64], text[128];
    unsigned long long cpu_ns, ready_ns;
    if (clock_gettime(timer_cpu_clock(tid), &cpu) != 0)
        return false;
    /* "ON_CPU READY SLICES" in ns; nothing where the kernel does not count it. */
    snprintf(path, sizeof path, "/proc/self/task/%d/schedstat", tid);
    machine_read_text(path, text, sizeof text);
    bool is_counted = sscanf(text, "%llu %llu", &cpu_ns, &ready_ns) == 2;
    *account = (struct gap_account){.time_ns = now_ns,
                                    .cpu_ns = (uint64_t)cpu.tv_sec * 1000000000u + (uint64_t)cpu.tv_nsec,
                                    .ready_ns = is_counted ? ready_ns : 0};
    return true;
}

void gap_begin(struct gap *gap, const struct gap_account *account, bool is_on_cpu)
{
    memset(gap, 0, sizeof *gap);
    gap->last_ns = account->time_ns;
    gap->on_since_ns = is_on_cpu ? account->time_ns : 0;
    gap->account = *account;
}

void gap_take_account(struct gap *gap, const struct gap_account *account)
{
    if (!gap->next.time_ns)
        gap->next = *account;
}

/* Time on a CPU up to here is accounted for. */
static void advance(struct gap *gap, uint64_t time_ns)
{
    if (gap->on_since_ns && time_ns > gap->on_since_ns) {
        gap->on_ns += time_ns - gap->on_since_ns;
        gap->on_since_ns = time_ns;
    }
}

static void tell(struct gap *gap, uint64_t cpu_ns, uint64_t ready_ns)
{
    uint64_t all_ns = 0;
    for (unsigned i = 0; i < gap->n_parts; i++)
        all_ns += gap->part[i].until_ns - gap->part[i].from_ns;
    if (cpu_ns > all_ns)
        cpu_ns = all_ns;
    uint32_t flags = 2 * ready_ns >= all_ns - cpu_ns ? WW_SW_PREEMPTED : 0;
    gap->n_told = 0;
    for (unsigned i = 0; i < gap->n_parts; i++) {
        struct gap_part part = gap->part[i];
        double share = (double)(part.until_ns - part.from_ns) / (double)all_ns;
        gap->told[gap->n_told++] = (struct ww_gap){.flags = flags,
                                                   .from_ns = part.from_ns,
                                                   .until_ns = part.until_ns,
                                                   .cpu_ns = (uint64_t)((double)cpu_ns * share)};
    }
}

/* All that happened before the next account is known. */
static void settle(struct gap *gap)
{
    uint64_t cpu_ns = gap->next.cpu_ns - gap->account.cpu_ns;
    if (gap->account.time_ns && gap->n_parts > 0)
        tell(gap, cpu_ns > gap->on_ns ? cpu_ns - gap->on_ns : 0, gap->next.ready_ns - gap->account.ready_ns);
    gap->account = gap->next;
    gap->next.time_ns = gap->on_ns = 0;
    gap->n_parts = 0;
}

void gap_switch(struct gap *gap, bool is_out, uint64_t time_ns)
{
    if (gap->next.time_ns && time_ns > gap->next.time_ns) {
        advance(gap, gap->next.time_ns);
        settle(gap);
    }
    advance(gap, time_ns);
    gap->on_since_ns = is_out ? 0 : time_ns;
    gap->last_ns = time_ns;
}

static void add_part(struct gap *gap, uint64_t from_ns, uint64_t until_ns)
{
    if (until_ns <= from_ns)
        return;
    if (gap->n_parts < GAP_PARTS)
        gap->part[gap->n_parts++] = (struct gap_part){from_ns, until_ns};
    else
        gap->part[GAP_PARTS - 1].until_ns = until_ns;
}

/* Whether it is on a CPU behind the gap is known with the next switch, which comes at the same time. */
void gap_lost(struct gap *gap, uint64_t time_ns)
{
    uint64_t from_ns = gap->last_ns;
    gap->on_since_ns = 0; /* counted up to the last switch */
    if (gap->next.time_ns > from_ns && gap->next.time_ns < time_ns) {
        add_part(gap, from_ns, gap->next.time_ns);
        from_ns = gap->next.time_ns;
        settle(gap);
    }
    add_part(gap, from_ns, time_ns);
    gap->on_since_ns = gap->last_ns = time_ns;
}
