/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Does a loop only look at memory? Then the thread in it waits for somebody else to write there.
 *
 * Input: of each instruction, which registers it reads and writes, and where it loads and stores. A loop spins if a
 * round of it depends on no earlier round. So no register that decides how the loop goes on, or where it loads from,
 * may depend on itself by way of other rounds. As long as memory stays as it is, such a loop ends soon or never. It may
 * store where it does not look, as a counter does. A loop that asks the processor to pause spins whatever it counts.
 *
 *     struct spin spin = {0};
 *     for each block of the loop: spin_block(&spin), then spin_add for each of its instructions
 *     if (spin_is_found(&spin)) ...
 *
 * The order of blocks does not matter: what a block finds in a register may come from any other. That errs on the side
 * of work. Linear in the instructions.
 */
#pragma once
#include <stdbool.h>
#include <stdint.h>

/* Sets of registers have a bit for each. The flags, which branches ask for, are a register. */
enum { SPIN_FLAGS = 0, SPIN_REGISTERS = 40, SPIN_LOADS = 24, SPIN_STORES = 8 };

struct spin_insn {
    uint64_t reads, writes; /* registers */
    uint64_t address;       /* registers of the memory operand */
    uint64_t where;         /* that operand as it is written, as a number */
    bool loads, stores;
    bool is_branch; /* on what it reads */
    bool is_pause;
    bool may_keep; /* it may leave what it writes as it was */
};

struct spin_access {
    uint64_t where, address;
};

/* Sets in which bit SPIN_REGISTERS + i is the load numbered i. */
struct spin {
    uint64_t depends[SPIN_REGISTERS]; /* each register now, on what was there when the block began */
    uint64_t carries[SPIN_REGISTERS]; /* likewise, at the end of a block, of all blocks together */
    uint64_t in_block, written;       /* registers written in this block; in those before */
    uint64_t decides;                 /* how the loop goes on, and where it loads and stores */
    struct spin_access loads[SPIN_LOADS], stores[SPIN_STORES];
    uint32_t n_loads, n_stores;
    bool has_pause, is_other; /* something else is done as well */
};

void spin_block(struct spin *spin);
void spin_add(struct spin *spin, const struct spin_insn *insn);
/* After the last instruction. */
bool spin_is_found(struct spin *spin);
