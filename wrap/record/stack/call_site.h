/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The call instruction that ends at an address: is there one, and where does it lead?
 *
 * Understood are the direct call, and the indirect one through a register or memory. The stub of a linkage table and a
 * call through a global offset table are followed to the function that the loader found. On x86-64, whose instructions
 * have several lengths, bytes that only look like a call are taken for one.
 */
#pragma once
#include <link.h>
#include <stdint.h>

enum { CALL_SITE_NONE = 0, CALL_SITE_INDIRECT = 1 };
/* The target of the call that ends before `return_address`, an address in `module`; CALL_SITE_INDIRECT = unknown,
 * CALL_SITE_NONE = there is no call. Nothing but readable segments of the module is read. */
uint64_t call_site_target(const struct dl_phdr_info *module, uint64_t return_address);
