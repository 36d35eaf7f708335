/* SPDX-License-Identifier: BSD-3-Clause */
/* The part of a launcher's processes but number 0: they take part in analyses. */
#pragma once

/* As long as number 0 is there. */
_Noreturn void serve_analyses(void);
