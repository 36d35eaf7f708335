/* SPDX-License-Identifier: BSD-3-Clause */
/* Names of routines and source lines for the archive, from the code model. */
#pragma once
#include "analyze/archive/convert.h"

struct resolver;
struct resolver *resolver_new(void);
/* What convert_join and convert_salvage take, with this resolver and WHYWAIT_KEEP_SPOOL of the environment. */
struct convert_options resolver_options(struct resolver *resolver);
/* Texts that the resolver gave are gone with it. */
void resolver_free(struct resolver *resolver);
