/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Whether others wait because late ranks have more of it, because of when it is done, or because single steps vary.
 *
 * Nobody has more of it where executions are the same (they are exact), or where times are alike and known to be.
 * Then the rank that is waited for has more of it each time, by more or by less than core and cache alone make of the
 * same work; or those who wait have done nothing of it meanwhile, and do it later: serialisation.
 */
#pragma once
#include "analyze/verdict/sides.h"

/* Over the run they execute it as often, and as many instructions each time. */
bool balance_is_as_often(const struct crowd *late, const struct crowd *others);
/* They execute less in all, and are not longer in it. */
bool balance_is_less(const struct crowd *late, const struct crowd *others);
const char *balance_name(enum balance balance); /* "each-time" ... as in the JSON */
enum balance balance_of(const struct cause *cause, const struct sides *sides);
/* What time of these kinds has become. */
struct settled_kinds {
    enum cause_kind more_work, more_time, slower;
};
/* More work is more time where others do as much on another way, or execute it as often in all and nothing shows what
 * is more. Slower takes another cost. Where it is the same on all ranks as far as is known, or not known well enough
 * to be compared, that becomes more work where ranks execute more, else more time; and so where single steps vary. It
 * is more work as well where others hardly run it, as nothing shows what it should cost. More time becomes more work
 * where ranks execute more at the same cost: another thread made the calls of MPI, whose counts are not theirs. */
struct settled_kinds balance_settle_kinds(struct cause *cause, const struct sides *sides);
