/* SPDX-License-Identifier: BSD-3-Clause */
/* Why ranks had no CPU: stopped, or on a host where CPUs were short. */
#pragma once
#include "analyze/result/result.h"

/* Sets is_stopped, is_open, and `lacks` of each host. */
void machine_judge(struct machine *machine);
/* True where of a host it is known why CPUs were short there. Once that is judged, as below. */
bool machine_is_short(const struct machine *machine);
/* True where on a host more threads are busy than it has CPUs. */
bool machine_has_more_threads(const struct machine *machine);
