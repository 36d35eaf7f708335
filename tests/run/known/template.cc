/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The loop lies in a C++ function template; its instance for float runs on rank 1, the one for double is short.
 *
 * ranks: 2
 * expect: loop=template_loop rank=1 share=0.9 call=MPI_Barrier routine=smooth waiters=0
 */
#include "known.h"
#include <vector>

template <class Number> __attribute__((noinline)) Number smooth(std::vector<Number> &values, int times)
{
    Number carry = 0;
    /* begin template_loop */
    for (int t = 0; t < times; t++)
        for (Number &value : values)
            carry = value = (value + carry) * Number(0.4999) + Number(0.001);
    /* end template_loop */
    return carry;
}

int main(int argc, char **argv)
{
    int rank = known_start(&argc, &argv);
    std::vector<float> singles(100000, 1.0f);
    std::vector<double> doubles(100000, 1.0);
    for (int round = 0; round < 36; round++) {
        known_sink = smooth(doubles, 5);
        if (rank == 1)
            known_sink = smooth(singles, 60);
        MPI_Barrier(MPI_COMM_WORLD);
    }
    MPI_Finalize();
    return 0;
}
