/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The release of a waiting call. A process waits from its entry until the releasing event of another:
 *   barrier, N to N, creation and freeing    the last member's entry
 *   1 to N                                   the root's entry
 *   N to 1                                   for the root: the last member's entry
 *   1 to N, N to 1                           or the entry of a member that relays (progress.h)
 *   reading, writing a file together         the entry of the last member, where calls end soon after it (progress.h)
 *   prefix (scan)                            the last entry among the members before it, itself included for no one
 *   receive, completion of a receive         the entry of the send, or the sender's return to MPI (progress.h)
 *   send that lasts as long (rendezvous)     the posting of the receive, or the receiver's return to MPI to complete it
 *   taking back a buffer (MPI_Buffer_detach) the same, for the sends that have left their message there
 *   send in a call that also receives        the last posting of a receive, if the times say so (progress.h)
 *   completion of a non-blocking collective  the last start, or a member's return to MPI (progress.h)
 *   fence                                    the last member's entry
 *   access epoch; end of an exposure epoch   the entry of MPI_Win_post; of MPI_Win_complete
 *   lock, flush or unlock of a window        the conflicting unlock (onesided.h), or the target's entry (progress.h)
 *   neighbourhood collective                 the last entry among the processes it receives from
 * Where the topology of a communicator is not known, neighbourhood collectives have no wait state: any guess would
 * blame the innocent.
 */
#pragma once
#include "analyze/waits/call.h"

/*
 * Finds what a call, waiting since from_ns, was released by. The last of what it cannot have ended before for certain.
 * In a collective the member that would have come last if none had lacked a CPU goes before the one that did. Then, if
 * that came later, what it seems to have waited for after it (a process to come back to MPI, a member that relays, a
 * deferred lock). A process that only came by to post or to start is waited for once, until it is back. Returns NULL
 * when that is settled. Else what the lane must sleep on before it asks again.
 */
struct sleepers *waits_find_releases(struct relays *relays, const struct call *call, uint32_t lane, uint64_t from_ns,
                                     struct releases *releases);
/* True when the call depends on somebody who was absent in a call of its own then: its partner in a message, a lock or
 * a collective. */
bool waits_takes_part(const struct gatherings *gatherings, const struct call *call, const struct absence *absence);
