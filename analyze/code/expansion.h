/* SPDX-License-Identifier: BSD-3-Clause */
/* How much memory libdwfl would take for what an ELF file holds in compressed form: known before it is asked. */
#pragma once
#include <stdbool.h>

/* Of a file that is open for reading. True for an ELF file that is not compressed as a whole, and whose sections expand
 * to no more than debug information and symbols do. */
bool expansion_is_plausible(int fd);
