/* SPDX-License-Identifier: BSD-3-Clause */
#include "wrap/flow/spin.h"

#define BIT(n) (1ull << (n))

static uint64_t without_lowest(uint64_t set)
{
    return set & (set - 1);
}

static unsigned lowest(uint64_t set)
{
    return (unsigned)__builtin_ctzll(set);
}

void spin_block(struct spin *spin)
{
    for (uint64_t left = spin->in_block; left; left = without_lowest(left))
        spin->carries[lowest(left)] |= spin->depends[lowest(left)];
    spin->written |= spin->in_block;
    spin->in_block = 0;
    for (unsigned i = 0; i < SPIN_REGISTERS; i++)
        spin->depends[i] = BIT(i);
}

static uint64_t depends_on(const struct spin *spin, uint64_t registers)
{
    uint64_t all = 0;
    for (; registers; registers = without_lowest(registers))
        all |= spin->depends[lowest(registers)];
    return all;
}

/* The load as a set of its own; 0 = there are too many. */
static uint64_t number_of_load(struct spin *spin, const struct spin_insn *insn)
{
    if (spin->n_loads == SPIN_LOADS)
        return 0;
    spin->loads[spin->n_loads] = (struct spin_access){insn->where, insn->address};
    return BIT(SPIN_REGISTERS + spin->n_loads++);
}

void spin_add(struct spin *spin, const struct spin_insn *insn)
{
    uint64_t from = depends_on(spin, insn->reads), at = depends_on(spin, insn->address);
    spin->decides |= at | (insn->is_branch ? from : 0);
    spin->has_pause |= insn->is_pause;
    if (insn->loads) {
        uint64_t load = number_of_load(spin, insn);
        spin->is_other |= !load;
        from |= load | at;
    }
    if (insn->stores) {
        spin->is_other |= spin->n_stores == SPIN_STORES;
        if (!spin->is_other)
            spin->stores[spin->n_stores++] = (struct spin_access){insn->where, insn->address};
    }
    for (uint64_t left = insn->writes; left; left = without_lowest(left)) {
        uint64_t *depends = &spin->depends[lowest(left)];
        *depends = from | (insn->may_keep ? *depends : 0);
    }
    spin->in_block |= insn->writes;
}

/* With all that they come from. */
static uint64_t that_decide(const struct spin *spin)
{
    uint64_t all = spin->decides, before = 0;
    while (all != before) {
        before = all;
        for (uint64_t left = all & spin->written; left; left = without_lowest(left))
            all |= spin->carries[lowest(left)];
    }
    return all;
}

/* Some of these registers depends on itself. */
static bool has_circle(const struct spin *spin, uint64_t left)
{
    for (uint64_t before = 0; left != before;) {
        before = left;
        for (uint64_t each = left; each; each = without_lowest(each))
            if (!(spin->carries[lowest(each)] & left))
                left &= ~BIT(lowest(each));
    }
    return left;
}

/* Stores go to fixed places, at none of which the loop looks. */
static bool looks_elsewhere(const struct spin *spin, uint64_t decide)
{
    for (uint32_t s = 0; s < spin->n_stores; s++) {
        if (spin->stores[s].address & spin->written)
            return false;
        for (uint32_t l = 0; l < spin->n_loads; l++)
            if (decide & BIT(SPIN_REGISTERS + l) &&
                (spin->loads[l].where == spin->stores[s].where || spin->loads[l].address & spin->written))
                return false;
    }
    return true;
}

bool spin_is_found(struct spin *spin)
{
    spin_block(spin);
    uint64_t decide = that_decide(spin);
    if (spin->is_other || !looks_elsewhere(spin, decide))
        return false;
    return spin->has_pause || (decide >> SPIN_REGISTERS && !has_circle(spin, decide & spin->written));
}
