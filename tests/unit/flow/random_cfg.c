/* SPDX-License-Identifier: BSD-3-Clause */
#include "random_cfg.h"

uint32_t random_below(struct random *random, uint32_t bound)
{
    random->state = random->state * 6364136223846793005u + 1442695040888963407u;
    return (uint32_t)((random->state >> 33) % bound);
}

void random_graph(struct cfg *cfg, struct random *random)
{
    uint32_t n = 1 + random_below(random, 12);
    cfg_init(cfg, n, 0);
    for (uint32_t e = random_below(random, 2 * n + 2); e > 0; e--)
        cfg_add_edge(cfg, random_below(random, n), random_below(random, n));
    cfg_finish(cfg);
}

/* A path through all blocks makes everything reached and reaching; the other edges go anywhere. */
void random_routine(struct cfg *cfg, struct random *random)
{
    uint32_t n = 2 + random_below(random, 14), exit_block = n - 1;
    cfg_init(cfg, n, 0);
    for (uint32_t b = 0; b + 1 < n; b++)
        cfg_add_edge(cfg, b, b + 1);
    for (uint32_t e = random_below(random, n + 4); e > 0; e--)
        cfg_add_edge(cfg, random_below(random, exit_block), random_below(random, n));
    cfg_finish(cfg);
}
