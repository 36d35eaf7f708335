/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Both ranks sort as many keys. Those of rank 1 have a long common beginning, so that it compares for longer. The
 * comparison is inlined into the library's sort in several places: a call that is named is the program's.
 *
 * ranks: 2
 * expect: loop=sort rank=1 share=0.8 call=MPI_Barrier name="compares.cc:2" name_not="called at compares.cc:1"
 */
#include "known.h"
#include <algorithm>
#include <array>
#include <vector>

using key = std::array<unsigned char, 64>;

int main(int argc, char **argv)
{
    int rank = known_start(&argc, &argv);
    unsigned next = 7;
    std::vector<key> keys(4000);
    for (key &one : keys)
        for (size_t i = 0; i < one.size(); i++)
            one[i] = rank == 1 && i < 60 ? 7 : (next = next * 1664525u + 1013904223u) >> 24;
    for (int step = 0; step < 300; step++) {
        std::vector<key> sorted = keys;
        std::sort(sorted.begin(), sorted.end(), [](const key &a, const key &b) { // begin sort
            for (size_t i = 0; i < a.size(); i++)
                if (a[i] != b[i])
                    return a[i] < b[i];
            return false;
        }); // end sort
        MPI_Barrier(MPI_COMM_WORLD);
    }
    MPI_Finalize();
    return 0;
}
