/* SPDX-License-Identifier: BSD-3-Clause */
/* Receives that are posted and not complete, in order. O(1) a receive; memory follows those that are pending. */
#pragma once
#include "analyze/trace/trace.h"

struct receives {
    VEC(struct event) posted; /* kind EV_END: complete, or gone */
    struct map index;         /* request -> 1 + index in posted */
};

/* EV_IRECV posts one; any other event completes that of its request. */
void receives_follow(struct receives *receives, const struct event *event);
/* Posts those that are pending in `more` as well. */
void receives_add(struct receives *receives, const struct receives *more);
void receives_release(struct receives *receives);
