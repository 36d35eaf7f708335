/* SPDX-License-Identifier: BSD-3-Clause */
/* Names of routines and source lines for an archive, from the code model. */
#pragma once
#include "analyze/archive/convert.h"

struct resolver;
/* To be freed. */
struct resolver *resolver_new(void);
void resolver_free(struct resolver *resolver);
/* How archives are made with these names; WHYWAIT_KEEP_SPOOL in the environment keeps the spool. */
struct convert_options resolver_options(struct resolver *resolver);
