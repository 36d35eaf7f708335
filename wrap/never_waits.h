/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Functions of MPI in which nobody ever waits, and which the recorder leaves alone: the clock, handles and statuses of
 * one language turned into those of another, arithmetic on addresses, and what tools ask. Nor in predefined callbacks,
 * which a program hands to MPI. The recorder and `whywait check` ask the same question here.
 */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <string.h>
#include <strings.h>

/* Of a name in C or in Fortran: "MPI_Wtime", "mpi_wtime_". */
static inline bool never_waits(const char *name)
{
    static const char *const begins[] = {"MPI_Wti", "MPI_T_", "MPI_Abi_", "MPI_Aint_"};
    static const char *const has[] = {"_c2f", "_f2c", "_f082", "_f2f08", "_toint", "_fromint", "_fn", "_FN"};
    for (size_t i = 0; i < sizeof begins / sizeof *begins; i++)
        if (!strncasecmp(name, begins[i], strlen(begins[i])))
            return true;
    for (size_t i = 0; i < sizeof has / sizeof *has; i++)
        if (strstr(name, has[i]))
            return true;
    return false;
}
