/* SPDX-License-Identifier: BSD-3-Clause */
/* What steps and sites are called. Texts live in the arena, the trace or the code model. */
#pragma once
#include "analyze/result/result.h"
#include "analyze/steps/sites.h"

struct step names_step(struct sites *sites, struct arena *arena, uint32_t step);
/* Fills the call, its source line and its call path; the numbers are left alone. */
void names_site(struct sites *sites, struct arena *arena, uint32_t site, struct wait_site *out);
/* "MPI_Get halo.c:71" */
const char *names_site_text(struct sites *sites, struct arena *arena, uint32_t site);
/* "rank 1", "ranks 0,2-5" from n ranks in any order. */
const char *names_ranks(struct arena *arena, const uint32_t *ranks, uint32_t n);
/* "1.2 GB" */
const char *names_bytes(struct arena *arena, double bytes);
/* "3.2 s", "12 ms" */
const char *names_duration(struct arena *arena, double ns);
