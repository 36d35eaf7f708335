/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A loop that a program writes at run time goes round five times as often on rank 1. Nothing in it is counted, so that
 * nobody can tell more work from slower. It is told at the line that calls it.
 *
 * ranks: 2
 * expect: loop=call rank=1 share=0.9 routine=main call=MPI_Barrier counted_kind=more-time says="made at run time"
 */
#include "known.h"
#include <string.h>
#include <sys/mman.h>

int main(int argc, char **argv)
{
    int rank = known_start(&argc, &argv);
    /* add $1,%rax four times; dec %rdi; jnz to the begin; ret */
    static const unsigned char code[] = {0x48, 0x83, 0xc0, 0x01, 0x48, 0x83, 0xc0, 0x01, 0x48, 0x83, 0xc0,
                                         0x01, 0x48, 0x83, 0xc0, 0x01, 0x48, 0xff, 0xcf, 0x75, 0xeb, 0xc3};
    void *memory = mmap(NULL, 4096, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED)
        return 1;
    memcpy(memory, code, sizeof code);
    long (*count)(long) = (long (*)(long))memory, n = rank == 1 ? 10000000 : 2000000;
    for (int step = 0; step < 60; step++) {
        /* begin call */
        known_sink = (double)count(n);
        /* end call */
        MPI_Barrier(MPI_COMM_WORLD);
    }
    MPI_Finalize();
    return 0;
}
