/* SPDX-License-Identifier: BSD-3-Clause */
#include "analyze/archive/gaps.h"
#include "analyze/archive/spool.h"

typedef VEC(struct ww_gap) gap_list;
typedef VEC(uint64_t) time_list;

/* The times of samples taken on a CPU come with them: a thread is sampled less often than it switches. */
static int read_gaps(const char *path, gap_list *list, time_list *samples)
{
    struct spool_reader reader;
    uint64_t last_ns = 0;
    if (!spool_reader_open_quietly(&reader, path))
        for (const struct ww_head *head; (head = spool_reader_next(&reader));) {
            const struct ww_gap *gap = (const void *)head;
            const struct ww_sample *sample = (const void *)head;
            bool is_sound = gap->from_ns >= last_ns && gap->until_ns > gap->from_ns && gap->until_ns >> 62 == 0;
            if (head->type == WW_GAP && is_sound) {
                *vec_push(list) = *gap;
                last_ns = gap->until_ns;
            } else if (head->type == WW_SAMPLE && !(sample->flags & WW_S_BLOCKED))
                *vec_push(samples) = sample->time_ns;
        }
    int result = spool_reader_status(&reader);
    spool_reader_close(&reader);
    return result;
}

/* Of lost switches nobody knows that; the parts outside MPI are looked for. */
static bool is_in_call(const struct ww_gap *gap)
{
    return (gap->flags & WW_SW_UNRECORDED) && (gap->flags & WW_SW_IN_CALL);
}

/* The parts of the gaps that lie outside MPI, each with its gap. */
struct part {
    uint64_t from_ns, until_ns;
    size_t gap;
};
typedef VEC(struct part) part_list;

static void add_parts(part_list *parts, const gap_list *list, size_t *at, uint64_t from_ns, uint64_t until_ns)
{
    while (*at < list->n && list->at[*at].until_ns <= from_ns)
        ++*at;
    for (size_t i = *at; i < list->n && list->at[i].from_ns < until_ns; i++) {
        const struct ww_gap *gap = &list->at[i];
        if (is_in_call(gap))
            continue;
        struct part part = {.from_ns = from_ns > gap->from_ns ? from_ns : gap->from_ns,
                            .until_ns = until_ns < gap->until_ns ? until_ns : gap->until_ns,
                            .gap = i};
        if (part.until_ns > part.from_ns)
            *vec_push(parts) = part;
    }
}

static int read_parts(const char *path, const gap_list *list, part_list *parts)
{
    struct spool_reader reader;
    uint64_t left_ns = 0;
    size_t at = 0;
    if (!spool_reader_open_quietly(&reader, path)) {
        for (const struct ww_head *head; (head = spool_reader_next(&reader));) {
            const struct ww_call *call = (const void *)head;
            if (head->type != WW_CALL || call->enter_ns < left_ns)
                continue;
            add_parts(parts, list, &at, left_ns, call->enter_ns);
            left_ns = call->leave_ns >= call->enter_ns ? call->leave_ns : UINT64_MAX;
        }
    }
    int result = spool_reader_status(&reader);
    spool_reader_close(&reader);
    add_parts(parts, list, &at, left_ns, UINT64_MAX);
    return result;
}

/* Off the CPU for a share of [from, until), from its beginning on. */
static void add_off(struct gaps *gaps, uint64_t from_ns, uint64_t until_ns, double share, uint32_t flags)
{
    uint64_t off_ns = (uint64_t)((double)(until_ns - from_ns) * share);
    if (off_ns < 2)
        return;
    *vec_push(&gaps->switches) = (struct ww_switch){.flags = WW_SW_OUT | flags, .time_ns = from_ns + 1};
    *vec_push(&gaps->switches) = (struct ww_switch){.time_ns = from_ns + off_ns};
}

/* Whoever is released in a call without having a CPU has none until its end. */
static void add_off_in_call(struct gaps *gaps, const struct ww_gap *gap)
{
    uint64_t all_ns = gap->until_ns - gap->from_ns, off_ns = gap->cpu_ns < all_ns ? all_ns - gap->cpu_ns : 0;
    if (off_ns > 2)
        add_off(gaps, gap->until_ns - off_ns, gap->until_ns - 1, 1, gap->flags & WW_SW_PREEMPTED);
}

int gaps_find(struct gaps *gaps, const char *samples_path, const char *events_path)
{
    gap_list list = {0};
    time_list samples = {0};
    part_list parts = {0};
    *gaps = (struct gaps){.outside_ns = 0};
    int result = read_gaps(samples_path, &list, &samples);
    if (list.n && !result)
        result = read_parts(events_path, &list, &parts);
    for (size_t n = 0, i = 0, next, at = 0; n < list.n; n++, i = next) {
        const struct ww_gap *gap = &list.at[n];
        uint64_t outside_ns = 0;
        for (next = i; next < parts.n && parts.at[next].gap == n; next++)
            outside_ns += parts.at[next].until_ns - parts.at[next].from_ns;
        if (is_in_call(gap))
            add_off_in_call(gaps, gap);
        uint64_t all_ns = gap->until_ns - gap->from_ns, inside_ns = all_ns - outside_ns;
        uint64_t cpu_ns = gap->cpu_ns < all_ns ? gap->cpu_ns : all_ns;
        if (!(gap->flags & WW_SW_UNRECORDED)) {
            gaps->outside_ns += outside_ns;
            gaps->open_ns += cpu_ns < outside_ns ? cpu_ns : outside_ns;
            gaps->open_ns -= cpu_ns > inside_ns ? cpu_ns - inside_ns : 0;
        }
        double share = cpu_ns < outside_ns ? 1 - (double)cpu_ns / (double)outside_ns : 0;
        for (size_t k = i; k < next && share > 0; k++) {
            uint64_t from_ns = parts.at[k].from_ns;
            while (at < samples.n && samples.at[at] <= from_ns)
                ++at;
            for (; at < samples.n && samples.at[at] < parts.at[k].until_ns; ++at) {
                if (samples.at[at] <= from_ns)
                    continue;
                add_off(gaps, from_ns, samples.at[at], share, (gap->flags & WW_SW_PREEMPTED));
                from_ns = samples.at[at];
            }
            add_off(gaps, from_ns, parts.at[k].until_ns, share, (gap->flags & WW_SW_PREEMPTED));
        }
    }
    vec_release(&list);
    vec_release(&samples);
    vec_release(&parts);
    return result;
}

void gaps_release(struct gaps *gaps)
{
    vec_release(&gaps->switches);
}
