/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Whether any process of what `whywait record` became has reached MPI with the recorder in it. A script may replace
 * LD_PRELOAD on the way, and then nobody records, and nobody is there to say so.
 *
 * If the program is not linked with MPI itself, `whywait record` leaves it an empty file without a name, at the
 * descriptor in WHYWAIT_CAME. A process that begins MPI writes into it, through /proc, whatever descriptors it has
 * inherited itself. The process that `whywait record` became looks at its end.
 */
#pragma once

#define PRESENCE_NAME "whywait-presence"
#define PRESENCE_LINK "/memfd:" PRESENCE_NAME
/* Above the descriptors that scripts choose by number. */
enum { PRESENCE_FD_LEAST = 200 };
