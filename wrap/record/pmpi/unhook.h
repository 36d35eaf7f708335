/* SPDX-License-Identifier: BSD-3-Clause */
/* Makes the calls of all loaded objects go past this library; for a process whose MPI is not ours. */
#pragma once
void unhook(void);
