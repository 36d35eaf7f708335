/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Is an anchor file sound enough to be given to OTF2? The library (3.0) takes the number of properties in it on trust
 * and loops that often, up to minutes, past the end of a damaged file.
 */
#pragma once
#include <stdbool.h>

/* False only when the number of properties cannot be true; everything else is left to OTF2. */
bool anchor_is_sound(const char *path);
