/* SPDX-License-Identifier: BSD-3-Clause */
#include "analyze/trace/receives.h"

enum { POSTED_FEW = 64 };

/* Those that are complete go. */
static void close_up(struct receives *receives)
{
    size_t n = 0;
    for (size_t i = 0; i < receives->posted.n; i++) {
        struct event *posted = &receives->posted.at[i];
        if (posted->kind != EV_IRECV)
            continue;
        receives->posted.at[n++] = *posted;
        *map_put(&receives->index, receives->posted.at[n - 1].request, NULL) = n;
    }
    receives->posted.n = n;
}

void receives_follow(struct receives *receives, const struct event *event)
{
    uint64_t *index = map_get(&receives->index, event->request);
    if (index)
        receives->posted.at[*index - 1].kind = EV_END;
    if (event->kind != EV_IRECV) {
        map_remove(&receives->index, event->request);
        return;
    }
    if (receives->posted.n >= POSTED_FEW && receives->posted.n >= 2 * receives->index.n)
        close_up(receives);
    *vec_push(&receives->posted) = *event;
    *map_put(&receives->index, event->request, NULL) = receives->posted.n;
}

void receives_add(struct receives *receives, const struct receives *more)
{
    for (size_t i = 0; i < more->posted.n; i++)
        if (more->posted.at[i].kind == EV_IRECV)
            receives_follow(receives, &more->posted.at[i]);
}

void receives_release(struct receives *receives)
{
    vec_release(&receives->posted);
    map_release(&receives->index);
}
