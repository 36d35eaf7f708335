/* SPDX-License-Identifier: BSD-3-Clause */
/* One sample, whoever took it. */
#pragma once
#include "wrap/record/stack/python.h"
#include "wrap/record/stack/unwind.h"
#include <stdint.h>

struct sample {
    uint64_t time_ns;
    uint32_t flags; /* WW_S_ */
    uint64_t weight_ns;
    uint64_t cpu_ns, ready_ns; /* so far, on a CPU and ready without one; 0 = unknown */
    struct unwind_frame frame;
    struct unwind_stack window;
    const struct python_walk *python; /* the frames of Python; NULL = none */
};
