/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once
template <class Function> inline void each(long n, Function function)
{
    for (long i = 0; i < n; i++)
        function(i);
}
