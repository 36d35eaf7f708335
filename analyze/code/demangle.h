/* SPDX-License-Identifier: BSD-3-Clause */
/* Names that a C++ compiler made, as its author wrote them. Private to this folder. */
#pragma once
#include "wrap/base/containers.h"

/* "void sim::relax<double>(double*, int)", in `arena`. Of a long list of arguments, what comes first and "..." are
 * left. NULL for a name that is not mangled, or is mangled wrongly. */
const char *demangle(struct arena *arena, const char *mangled);
