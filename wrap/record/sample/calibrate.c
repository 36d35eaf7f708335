/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A sample is an interrupt, and on a virtual machine an interrupt can cost thirty times what it costs on bare metal. So
 * it is measured: a loop reads the clock while it is sampled fast; the steps between readings that are far above the
 * usual step are interrupts, and their median, which a preemption or two does not move, is the cost.
 */
#include "wrap/record/sample/calibrate.h"
#include "wrap/record/recorder.h"
#include "wrap/record/sample/ring.h"
#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum {
    TRIAL_NS = 2000000,
    TRIAL_PERIOD_NS = 200000,
    GAP_NS = 1200,
    MAX_GAPS = 64,
    MAX_READINGS = 1000000,
    WINDOW_BYTES = 4096,
    USUAL_COST_NS = 5000,
    HELPER_COST_NS = 4000, /* walking the copied stack, elsewhere */
    SHORTEST_NS =
        4000000, /* what an interrupt costs outside a virtual machine is not seen inside: whole programs tell */
    LONGEST_NS = 20000000,
    COSTS_PER_PERIOD = 200,
    ODD_NS = 12347,
};

/* bx bp sp ip r12 r13 r14 r15, in the numbering of asm/perf_regs.h */
static const uint64_t user_registers = 1u << 1 | 1u << 6 | 1u << 7 | 1u << 8 | 0xfu << 20;

void calibrate_attributes(struct perf_event_attr *attributes, uint64_t period_ns)
{
    memset(attributes, 0, sizeof *attributes);
    attributes->type = PERF_TYPE_SOFTWARE;
    attributes->config = PERF_COUNT_SW_TASK_CLOCK;
    attributes->sample_period = period_ns;
    attributes->sample_type = PERF_SAMPLE_IP | PERF_SAMPLE_TID | PERF_SAMPLE_TIME | PERF_SAMPLE_READ |
                              PERF_SAMPLE_REGS_USER | PERF_SAMPLE_STACK_USER;
    attributes->sample_regs_user = user_registers;
    attributes->sample_stack_user = WINDOW_BYTES;
    attributes->use_clockid = 1;
    attributes->clockid = CLOCK_MONOTONIC;
    attributes->exclude_hv = 1;
    attributes->watermark = 1;
    attributes->wakeup_watermark = UINT32_MAX;
}

static int by_size(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return (x > y) - (x < y);
}

static uint64_t median_gap_ns(void)
{
    uint64_t gap[MAX_GAPS], start_ns = recorder_now_ns(), before_ns = start_ns;
    size_t n = 0;
    /* The number of readings is bounded as well: a clock may stand still. */
    for (unsigned i = 0; before_ns - start_ns < TRIAL_NS && n < MAX_GAPS && i < MAX_READINGS; i++) {
        uint64_t now_ns = recorder_now_ns();
        if (now_ns - before_ns > GAP_NS)
            gap[n++] = now_ns - before_ns;
        before_ns = now_ns;
    }
    if (n == 0)
        return 0;
    qsort(gap, n, sizeof *gap, by_size);
    return gap[n / 2];
}

uint64_t calibrate_sample_ns(int *error)
{
    struct perf_event_attr attributes;
    struct ring ring;
    calibrate_attributes(&attributes, TRIAL_PERIOD_NS);
    *error = ring_open(&ring, &attributes, 0, 4 * WINDOW_BYTES);
    if (*error == EACCES || *error == EPERM) {
        attributes.exclude_kernel = 1;
        *error = ring_open(&ring, &attributes, 0, 4 * WINDOW_BYTES);
    }
    if (*error != 0)
        return 0;
    uint64_t cost_ns = median_gap_ns();
    ring_close(&ring);
    return cost_ns ? cost_ns : USUAL_COST_NS;
}

uint64_t calibrate_period_ns(uint64_t sample_ns, unsigned wished_hz)
{
    if (wished_hz > 0)
        return 1000000000u / wished_hz + 1;
    uint64_t period_ns = (sample_ns + HELPER_COST_NS) * COSTS_PER_PERIOD;
    if (period_ns < SHORTEST_NS)
        period_ns = SHORTEST_NS;
    if (period_ns > LONGEST_NS)
        period_ns = LONGEST_NS;
    return (period_ns + ODD_NS) | 1;
}
