/* SPDX-License-Identifier: BSD-3-Clause */
/* additions EXECUTABLE MEASURED ROUTINE: how often a call of the routine passes an edge that is counted. */
#include "analyze/counts/counts.h"
#include "wrap/base/err.h"
#include "wrap/flow/measured.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int main(int argc, char **argv)
{
    struct counts *counts;
    struct measured *measured = argc == 4 ? measured_read(argv[2]) : NULL;
    if (!measured || counts_open(argv[1], &counts) != 0 || !counts)
        die("additions EXECUTABLE MEASURED ROUTINE");
    int status = 1;
    for (uint32_t f = 0; f < counts_n_functions(counts); f++) {
        const struct counts_function *function = counts_function(counts, f);
        double *weights = calloc(function->cfg.edges.n + 1, sizeof *weights), sum = 0;
        bool is_it = strncmp(function->name, argv[3], strlen(argv[3])) == 0 &&
                     measured_weigh(measured, function->name, &function->cfg, weights);
        for (size_t e = 0; is_it && e < function->cfg.edges.n; e++)
            sum += function->edges[e].counter != POINTS_NONE ? weights[e] : 0;
        if (is_it)
            printf("%.0f\n", sum);
        status = is_it ? 0 : status;
        free(weights);
    }
    counts_close(counts);
    measured_free(measured);
    return status;
}
