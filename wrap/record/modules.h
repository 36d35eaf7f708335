/* SPDX-License-Identifier: BSD-3-Clause */
/* Which files are mapped where. */
#pragma once
#include "wrap/record/spool/spool.h"

/* Writes a WW_MODULE for each module not seen before; true when modules were unloaded since. */
bool modules_scan(struct spool *spool);
