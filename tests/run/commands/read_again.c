/* SPDX-License-Identifier: BSD-3-Clause */
/* read_again ANCHOR HELPERS KEPT_BYTES: three readings of an archive, the last one being known as such; for each how
 * many events there were, and a sum of what they say in which their order counts. */
#include "analyze/trace/trace.h"
#include <stdio.h>
#include <stdlib.h>

int main(int argc, char **argv)
{
    struct trace *trace = argc == 4 ? trace_open(argv[1]) : NULL;
    if (!trace)
        return 1;
    trace->n_helpers = (uint32_t)atoi(argv[2]);
    trace->kept_bytes = strtoul(argv[3], NULL, 10);
    for (int reading = 1; reading <= 3; reading++) {
        uint64_t n = 0, sum = 0;
        const struct event *event;
        trace->is_last_reading = reading == 3;
        if (trace_rewind(trace))
            return 1;
        for (; (event = trace_next(trace)); n++) {
            const uint64_t words[] = {event->time_ns, event->loc,    event->kind,  event->flags,
                                      event->region,  event->peer,   event->bytes, event->request,
                                      event->comm,    event->n_bins, event->coll,  (uint64_t)event->tag};
            for (size_t i = 0; i < sizeof words / sizeof *words; i++)
                sum = (sum ^ words[i]) * 0x100000001b3u;
        }
        if (trace->has_failed)
            return 1;
        printf("%llu %llx\n", (unsigned long long)n, (unsigned long long)sum);
    }
    trace_close(trace);
    return 0;
}
