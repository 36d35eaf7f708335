/* SPDX-License-Identifier: BSD-3-Clause */
/* Between the two calls every instruction of the program is counted where it stands, by stepping through them. Each
 * ends an interval of both ways of counting. */
#pragma once
void steps_begin(void);
void steps_end(void);
