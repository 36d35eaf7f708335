/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What there is to say first: who makes others wait and by what, or that there is nothing to mend.
 *
 * Nothing is to be mended where no cause is worth a hundredth of the time that the machine leaves to the program, but
 * those that come at random: all ranks take as long in them over the run, as far as their errors tell, and the blame
 * goes from rank to rank. People take times for the same within a twentieth, so such waiting may be a twentieth of that
 * time. More of it has a reason, if only the order in which the ranks do the same; unless single steps vary by no more
 * than core and cache make of the same work (balance.h).
 *
 * Transfers are what there is to say first where they take a twentieth of all time and longer than ranks wait for the
 * program, whether ranks are late or not.
 *
 * A run that broke off before a rank lost more time than a run takes to die has its end to tell, and nothing else.
 */
#pragma once
#include "analyze/result/result.h"

/* After all other verdicts. */
void answer_find(struct analysis *analysis);
