/* SPDX-License-Identifier: BSD-3-Clause */
#include "analyze/trace/causality.h"
#include "wrap/base/err.h"
#include <stdlib.h>
#include <string.h>

enum { NOBODY = UINT32_MAX };

/* Messages of one (communicator, sender, receiver, tag), in order. */
struct channel {
    VEC(struct sent {
        uint64_t time_ns, raw_ns;
        uint32_t rank;
    })
    sent;
    size_t n_received;
    uint32_t waiter; /* location */
};

/* One collective operation. */
struct gathering {
    uint64_t last_enter_ns, root_enter_ns;
    uint64_t last_raw_ns;
    uint32_t last_rank, n_entered, root_rank;
    bool is_complete;
    VEC(uint32_t) waiters;
    VEC(struct entered {
        uint32_t rank;
        uint64_t raw_ns;
    })
    entered;
};

struct player {
    struct batch_event *held; /* cannot be processed yet */
    uint64_t now_ns;
    uint64_t enter_ns, enter_raw_ns; /* of the present MPI region */
    uint64_t gathering;              /* 1 + index, when entered but not left */
    bool is_forced, is_at_end;
};

struct replay {
    struct archive_reader *archive;
    struct causality *result;
    struct player *players;
    struct intern channel_keys, gathering_keys;
    VEC(struct channel) channels;
    VEC(struct gathering) gatherings;
    struct map turns; /* communicator and rank -> collectives so far */
    VEC(uint32_t) runnable;
    struct map clock_of_request; /* unused requests need no table: completion carries all */
};
