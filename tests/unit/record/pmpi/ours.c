/* SPDX-License-Identifier: BSD-3-Clause */
#include "tests/unit/record/pmpi/ours.h"
#include "wrap/record/pmpi/abi.h"

const size_t our_sizes[] = {ABI_SIZES};
