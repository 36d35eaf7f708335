/* SPDX-License-Identifier: BSD-3-Clause */
#include "analyze/engine/engine.h"
#include "analyze/engine/way.h"
#include "wrap/base/containers.h"
#include <stdlib.h>
#include <unistd.h>

unsigned way_patience_s(void)
{
    enum { PATIENCE_S = 120 };
    const char *wanted = getenv("WHYWAIT_PATIENCE");
    unsigned seconds = wanted ? (unsigned)strtoul(wanted, NULL, 10) : 0;
    return seconds ? seconds : PATIENCE_S;
}

void engine_exchange(struct engine *engine, const struct parcel *give, struct parcel *take)
{
    take[engine->number] = give ? give[engine->number] : (struct parcel){0};
    if (engine->way)
        engine->way->exchange(engine, give, take);
}

static struct parcel *places(const struct engine *engine)
{
    struct parcel *give = memory_new(engine_n(engine), sizeof *give);
    return give;
}

void engine_gather(struct engine *engine, struct parcel mine, struct parcel *take)
{
    struct parcel *give = places(engine);
    give[engine->number] = give[0] = mine;
    engine_exchange(engine, give, take);
    free(give);
}

void engine_tell_all(struct engine *engine, struct parcel mine, struct parcel *take)
{
    struct parcel *give = places(engine);
    for (uint32_t i = 0; i < engine_n(engine); i++)
        give[i] = mine;
    engine_exchange(engine, give, take);
    free(give);
}

void engine_tick(struct engine *engine)
{
    if (engine->way)
        engine->way->tick(engine);
}

void engine_end(struct engine *engine)
{
    if (!engine_is_first(engine))
        _exit(0);
    if (!engine->is_lasting)
        engine_give_up(engine);
}

void engine_give_up(struct engine *engine)
{
    if (!engine_is_first(engine))
        _exit(1);
    if (engine->way)
        engine->way->end(engine);
    free(engine->is_lost);
    *engine = (struct engine){0};
}
