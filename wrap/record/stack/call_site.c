/* SPDX-License-Identifier: BSD-3-Clause */
#include "wrap/record/stack/call_site.h"
#include <stdbool.h>
#include <stddef.h>
#include <string.h>

enum { STUB_BYTES = 16 };

static bool is_within(const struct dl_phdr_info *module, uint64_t address, size_t n, uint32_t permission)
{
    for (int i = 0; i < module->dlpi_phnum; i++) {
        const ElfW(Phdr) *p = &module->dlpi_phdr[i];
        uint64_t offset = address - (module->dlpi_addr + p->p_vaddr);
        if (p->p_type == PT_LOAD && (p->p_flags & permission) && offset < p->p_memsz && p->p_memsz - offset >= n)
            return true;
    }
    return false;
}

static bool read_bytes(const struct dl_phdr_info *module, uint64_t from, void *to, size_t n)
{
    if (!is_within(module, from, n, PF_R))
        return false;
    memcpy(to, (const void *)(uintptr_t)from, n);
    return true;
}

/* The content of the global offset table's slot, unless it leads back into the stub: not looked up yet. */
static uint64_t through_table(const struct dl_phdr_info *module, uint64_t slot, uint64_t stub)
{
    uint64_t target;
    if (!read_bytes(module, slot, &target, sizeof target) || target - stub < STUB_BYTES || target <= CALL_SITE_INDIRECT)
        return CALL_SITE_INDIRECT;
    return target;
}

#if defined(__x86_64__)

enum { LONGEST_CALL = 8, DIRECT_CALL_BYTES = 5 };

static bool read_relative(const struct dl_phdr_info *module, uint64_t at, uint64_t *address)
{
    int32_t offset;
    if (!read_bytes(module, at, &offset, sizeof offset))
        return false;
    *address = at + sizeof offset + (uint64_t)(int64_t)offset;
    return true;
}

/* "endbr64; bnd jmp *slot(%rip)", both prefixes optional: a stub of the linkage table. */
static uint64_t follow_stub(const struct dl_phdr_info *module, uint64_t target)
{
    unsigned char code[STUB_BYTES];
    size_t at = 0;
    uint64_t slot;
    if (!read_bytes(module, target, code, sizeof code))
        return target;
    if (memcmp(code, "\xf3\x0f\x1e\xfa", 4) == 0)
        at += 4;
    if (code[at] == 0xf2)
        at++;
    if (code[at] != 0xff || code[at + 1] != 0x25 || !read_relative(module, target + at + 2, &slot))
        return target;
    return through_table(module, slot, target);
}

/* Does the two-byte form "ff /2" at `code` take exactly `n` bytes? */
static bool is_indirect(const unsigned char *code, size_t n)
{
    unsigned mode = code[1] >> 6, operand = code[1] & 7;
    if (code[0] != 0xff || (code[1] >> 3 & 7) != 2)
        return false;
    bool has_index = mode != 3 && operand == 4;
    bool is_absolute = mode == 0 && (operand == 5 || (has_index && n > 2 && (code[2] & 7) == 5));
    size_t offset_bytes = mode == 1 ? 1 : mode == 2 || is_absolute ? 4 : 0;
    return n == 2 + (size_t)has_index + offset_bytes;
}

uint64_t call_site_target(const struct dl_phdr_info *module, uint64_t return_address)
{
    unsigned char code[LONGEST_CALL];
    uint64_t target;
    if (!read_bytes(module, return_address - LONGEST_CALL, code, sizeof code))
        return CALL_SITE_NONE;
    if (code[LONGEST_CALL - DIRECT_CALL_BYTES] == 0xe8 && read_relative(module, return_address - 4, &target) &&
        is_within(module, target, 1, PF_X))
        return follow_stub(module, target);
    for (size_t n = 2; n < LONGEST_CALL; n++) {
        const unsigned char *at = code + LONGEST_CALL - n;
        if (!is_indirect(at, n))
            continue;
        bool is_table_slot = at[1] == 0x15 && read_relative(module, return_address - 4, &target);
        return is_table_slot ? through_table(module, target, return_address - n) : CALL_SITE_INDIRECT;
    }
    return CALL_SITE_NONE;
}

#elif defined(__aarch64__)

/* A number of `bits` bits that begins at bit `first` of an instruction, times `unit`. */
static uint64_t field(uint32_t code, unsigned first, unsigned bits, uint64_t unit)
{
    int32_t value = (int32_t)(code << (32 - first - bits)) >> (32 - bits);
    return (uint64_t)(int64_t)value * unit;
}

static bool is_like(uint32_t code, uint32_t mask, uint32_t value)
{
    return (code & mask) == value;
}

/* "bti c; adrp x16, slot; ldr x17, [x16, slot]", the first optional: a stub of the linkage table. */
static uint64_t follow_stub(const struct dl_phdr_info *module, uint64_t target)
{
    uint32_t code[STUB_BYTES / 4];
    if (!read_bytes(module, target, code, sizeof code))
        return target;
    unsigned at = code[0] == 0xd503245fu;
    if (!is_like(code[at], 0x9f00001fu, 0x90000010u) || !is_like(code[at + 1], 0xffc003ffu, 0xf9400211u))
        return target;
    uint64_t pages = field(code[at], 5, 19, 4) | (code[at] >> 29 & 3);
    uint64_t slot = ((target + 4 * at) & ~0xfffull) + (pages << 12) + (code[at + 1] >> 10 & 0xfff) * sizeof slot;
    return through_table(module, slot, target);
}

uint64_t call_site_target(const struct dl_phdr_info *module, uint64_t return_address)
{
    uint32_t code;
    uint64_t at = return_address - sizeof code;
    if (at % sizeof code != 0 || !read_bytes(module, at, &code, sizeof code))
        return CALL_SITE_NONE;
    if (is_like(code, 0xfc000000u, 0x94000000u)) { /* bl */
        uint64_t target = at + field(code, 0, 26, sizeof code);
        return is_within(module, target, 1, PF_X) ? follow_stub(module, target) : CALL_SITE_NONE;
    }
    /* blr, and with a signature: blraa, blrab, blraaz, blrabz */
    bool is_indirect = is_like(code, 0xfffffc1fu, 0xd63f0000u) || is_like(code, 0xfefff800u, 0xd63f0800u);
    return is_indirect ? CALL_SITE_INDIRECT : CALL_SITE_NONE;
}

#endif
