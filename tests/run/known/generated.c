/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Work that is called from machine code made at run time, as just-in-time compilers do. It lies at another address on
 * each rank, and in each round, but is the same to whoever reads: one imbalance, at one call.
 *
 * ranks: 2
 * expect: loop=work rank=1 share=0.8 call=MPI_Barrier sites=1 says_not="next to nothing"
 */
#include "known.h"
#include <string.h>
#include <sys/mman.h>

enum { PAGE = 4096, ROUNDS = 40 };

static int n;

__attribute__((noinline)) static void relax(void)
{
    double x = 0;
    for (int i = 0; i < n; i++)  /* begin work */
        x = x * 0.999999 + 1e-6; /* end work */
    known_sink += x;
    MPI_Barrier(MPI_COMM_WORLD);
    known_sink += n;
}

/* sub $8,%rsp; call *%rdi; add $8,%rsp; ret */
static const unsigned char code[] = {0x48, 0x83, 0xec, 0x08, 0xff, 0xd7, 0x48, 0x83, 0xc4, 0x08, 0xc3};

int main(int argc, char **argv)
{
    int rank = known_start(&argc, &argv);
    n = rank == 1 ? 6000000 : 2000000;
    unsigned char *pages =
        mmap(NULL, (ROUNDS + 1) * PAGE, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    for (int round = 0; pages != MAP_FAILED && round < ROUNDS; round++) {
        unsigned char *page = pages + round * PAGE + 64 * rank;
        memcpy(page, code, sizeof code);
        void (*call)(void (*)(void));
        memcpy(&call, &page, sizeof call);
        call(relax);
    }
    MPI_Finalize();
    return 0;
}
