/* SPDX-License-Identifier: BSD-3-Clause */
/* For functions of the C library that this library stands before. */
#pragma once
#include <dlfcn.h>
#include <stdatomic.h>
#include <stddef.h>

#define EXPORT __attribute__((visibility("default")))

/* The C library's function of this name, kept in *function; NULL when it has none. */
static inline void *interpose_next(void *_Atomic *function, const char *name)
{
    void *found = atomic_load_explicit(function, memory_order_relaxed);
    if (!found) {
        found = dlsym(RTLD_NEXT, name);
        atomic_store_explicit(function, found, memory_order_relaxed);
    }
    return found;
}
