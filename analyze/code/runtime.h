/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once
#include <stdbool.h>

/* True for a run-time library, for "[vdso]" and its like, and for an empty path. Programs never are. */
bool runtime_is_library(const char *path);
