/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once
extern "C" int shared_work(int n);
extern "C" int archive_work(int n);
template <typename T> __attribute__((noinline)) T summed(int n)
{
    T sum = 0;
    for (int i = 0; i < n; i++)
        if (i % 3)
            sum += (T)i;
        else
            sum *= 2;
    return sum;
}
