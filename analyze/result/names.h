/* SPDX-License-Identifier: BSD-3-Clause */
/* What steps and sites are called. Texts live in the arena, the trace or the code model. */
#pragma once
#include "analyze/result/result.h"
#include "analyze/steps/sites.h"

/* The steps of the result, all that there are so far, and the files of steps and sites. */
void names_steps(struct sites *sites, struct analysis *analysis);
/* Fills the call, its source line and its call path; the numbers are left alone. */
void names_site(struct sites *sites, struct arena *arena, uint32_t site, struct wait_site *out);
/* "MPI_Get halo.c:71" */
const char *names_site_text(struct sites *sites, struct arena *arena, uint32_t site);
