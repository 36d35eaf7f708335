/* SPDX-License-Identifier: BSD-3-Clause */
#include "analyze/result/whole.h"
#include "wrap/base/containers.h"
#include <math.h>
#include <stdlib.h>

/* Sums of damaged times may be beyond any integer. This much is told of them. */
static const int64_t largest_total = INT64_MAX / 2;

void whole_apportion(const double *values, uint32_t n, int64_t total, int64_t *integers)
{
    struct arena scratch = {0};
    double *parts = arena_array(&scratch, double, n + 1); /* that are cut off */
    int64_t left = total < 0 || total > largest_total ? largest_total : total, room = largest_total;
    for (uint32_t i = 0; i < n; i++) {
        double value = fmin(fmax(values[i], 0), fmax((double)room, 0));
        integers[i] = (int64_t)floor(value);
        parts[i] = value - floor(value);
        left -= integers[i];
        room -= integers[i];
    }
    const uint32_t *order = order_falling(&scratch, parts, n);
    for (uint32_t i = 0; i < n && left > 0; i++, left--)
        integers[order[i]]++;
    for (uint32_t i = n; i-- > 0 && left < 0;)
        if (integers[i] > 0) {
            integers[i]--;
            left++;
        }
    arena_release(&scratch);
}

void whole_figures(struct analysis *analysis)
{
    struct arena scratch = {0};
    uint32_t n_causes = analysis->n_causes, n_sites = analysis->n_sites, n = n_causes > n_sites ? n_causes : n_sites;
    double *values = arena_array(&scratch, double, n + 1);
    int64_t *integers = arena_array(&scratch, int64_t, n + 1);
    analysis->waiting_ns = fmin(round(analysis->waiting_ns), (double)largest_total);
    int64_t total_ns = llround(analysis->waiting_ns);
    for (uint32_t i = 0; i < n_causes; i++)
        values[i] = analysis->causes[i].waiting_ns;
    values[n_causes] = analysis->machine.waiting_ns;
    whole_apportion(values, n_causes + 1, total_ns, integers);
    for (uint32_t i = 0; i < n_causes; i++) {
        struct cause *cause = &analysis->causes[i];
        int64_t parts[WHEN_PARTS];
        cause->waiting_ns = (double)integers[i];
        whole_apportion(cause->when_ns, WHEN_PARTS, integers[i], parts);
        for (uint32_t part = 0; part < WHEN_PARTS; part++)
            cause->when_ns[part] = (double)parts[part];
    }
    analysis->machine.waiting_ns = (double)integers[n_causes];
    for (uint32_t i = 0; i < analysis->n_partitions; i++) {
        struct partition *partition = &analysis->partitions[i];
        partition->whole.waiting_ns = 0;
        for (uint32_t k = 0; k < partition->n_causes; k++)
            partition->whole.waiting_ns += analysis->causes[partition->causes[k]].waiting_ns;
    }
    for (uint32_t i = 0; i < n_sites; i++)
        values[i] = analysis->sites[i].waiting_ns;
    whole_apportion(values, n_sites, total_ns, integers);
    for (uint32_t i = 0; i < n_sites; i++)
        analysis->sites[i].waiting_ns = (double)integers[i];
    arena_release(&scratch);
}
