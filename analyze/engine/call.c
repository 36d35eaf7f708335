/* SPDX-License-Identifier: BSD-3-Clause */
/* Two exchanges: number 0 gives the work to all, and all give their answers to all. */
#include "analyze/engine/call.h"
#include "wrap/base/err.h"
#include <stdlib.h>
#include <string.h>

static struct parcel *places(const struct engine *engine)
{
    struct parcel *take = calloc(engine_n(engine) + 1, sizeof *take);
    if (!take)
        err_out_of_memory(engine_n(engine) * sizeof *take);
    return take;
}

static void take_answers(struct engine *engine, struct parcel mine)
{
    struct parcel *take = places(engine);
    engine_tell_all(engine, mine, take);
    for (uint32_t i = 1; i < engine_n(engine); i++) {
        if (take[i].n_bytes == PARCEL_LOST || !take[i].n_bytes)
            continue;
        if (engine_is_first(engine))
            warn("%.*s, so the work goes on without that process", (int)take[i].n_bytes, (const char *)take[i].at);
        engine->is_lost[i] = true;
    }
    free(take);
}

void call_others(struct engine *engine, struct parcel work)
{
    struct parcel *take = places(engine);
    engine_tell_all(engine, work, take);
    free(take);
    take_answers(engine, (struct parcel){0});
}

void call_await(struct engine *engine, struct parcel *work)
{
    struct parcel *take = places(engine);
    engine_exchange(engine, NULL, take);
    *work = take[0];
    free(take);
}

void call_answer(struct engine *engine, const char *refusal)
{
    take_answers(engine, (struct parcel){refusal, refusal ? strlen(refusal) : 0});
    if (refusal)
        engine_give_up(engine);
}
