/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * One step up the stack. The full frame description of an address (cfi.c) is boiled down to a rule of 40 bytes where it
 * has the usual form (CFA = register + offset, or one load for realigned frames; callee-saved registers at offsets from
 * the CFA) and kept in `rules`. The unusual ones (signal frames, the linkage table) are interpreted each time.
 *
 * The table is read without a lock: a reader copies a rule and then looks at its key again. A writer, under `lock`,
 * takes the key away first. Frame information is read only inside dl_iterate_phdr, so that no module can be unmapped
 * meanwhile. Keys carry a generation, so that unwind_forget is one increment.
 */
#include "wrap/record/stack/unwind.h"
#include "wrap/record/process/signals.h"
#include "wrap/record/stack/call_site.h"
#include "wrap/record/stack/cfi.h"
#include <errno.h>
#include <link.h>
#include <pthread.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/uio.h>
#include <time.h>
#include <unistd.h>

enum rule_kind {
    RULE_OUTSIDE,  /* in no module */
    RULE_POINTERS, /* no frame information: follow the frame pointers */
    RULE_LAST,     /* outermost frame */
    RULE_PLAIN,
    RULE_FULL, /* interpret cfi_row */
};
enum { IS_SAME = INT16_MIN, N_RULES = 8192, N_PROBES = 4, WORD = 8 };
static const unsigned char saved_reg[UNWIND_N_SAVED] = UNWIND_SAVED;

struct rule {
    uint8_t kind, cfa_register;
    bool cfa_is_loaded; /* CFA = *(register + cfa_offset) + cfa_after */
    /* Where the registers were saved, in words from the CFA; IS_SAME = nowhere. */
    int16_t return_address, saved[UNWIND_N_SAVED];
    int32_t cfa_offset, cfa_after;
    struct unwind_place place; /* of the address that follows */
};
enum { RULE_WORDS = sizeof(struct rule) / sizeof(uint64_t) };
_Static_assert(sizeof(struct rule) % sizeof(uint64_t) == 0, "a rule is copied word by word");
struct rule_slot {
    _Atomic uint64_t key; /* pc and generation; 0 = empty */
    _Atomic uint64_t word[RULE_WORDS];
};

static struct rule_slot *rules;
static _Atomic uint64_t generation;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static bool locked_for_fork;

bool unwind_init(void)
{
    if (rules)
        return true;
    void *at = mmap(NULL, N_RULES * sizeof *rules, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (at == MAP_FAILED)
        return false;
    rules = at;
    return true;
}

void unwind_forget(void)
{
    atomic_fetch_add(&generation, 1);
}

static void lock_rules(sigset_t *before)
{
    signals_block(before);
    pthread_mutex_lock(&lock);
}

static void unlock_rules(const sigset_t *before)
{
    pthread_mutex_unlock(&lock);
    signals_restore(before);
}

void unwind_before_fork(void)
{
    /* Not for ever: a handler that forks may have interrupted the holder in a fault, which cannot be blocked. */
    struct timespec until;
    clock_gettime(CLOCK_REALTIME, &until);
    until.tv_nsec += 20000000;
    until.tv_sec += until.tv_nsec / 1000000000;
    until.tv_nsec %= 1000000000;
    locked_for_fork = pthread_mutex_timedlock(&lock, &until) == 0;
}

void unwind_after_fork(void)
{
    if (locked_for_fork)
        pthread_mutex_unlock(&lock);
    locked_for_fork = false;
}

/* The entry of the loader's list about `pc`. */
struct search {
    uint64_t pc;
    bool is_code;
    struct cfi_module module;
    bool found;
    struct cfi_row row;
    uint64_t callee; /* of the call that ends with the byte at `pc` */
};

static int search_module(struct dl_phdr_info *info, size_t size, void *context)
{
    struct search *search = context;
    (void)size;
    const ElfW(Phdr) *header = NULL;
    bool inside = false;
    for (int i = 0; i < info->dlpi_phnum; i++) {
        const ElfW(Phdr) *p = &info->dlpi_phdr[i];
        inside |=
            p->p_type == PT_LOAD && (p->p_flags & PF_X) && search->pc - (info->dlpi_addr + p->p_vaddr) < p->p_memsz;
        if (p->p_type == PT_GNU_EH_FRAME)
            header = p;
    }
    if (!inside)
        return 0;
    search->is_code = true;
    for (int i = 0; header && i < info->dlpi_phnum; i++) {
        const ElfW(Phdr) *p = &info->dlpi_phdr[i];
        if (p->p_type != PT_LOAD || header->p_vaddr - p->p_vaddr >= p->p_memsz)
            continue;
        search->module.low = (const unsigned char *)(info->dlpi_addr + p->p_vaddr);
        search->module.high = search->module.low + p->p_memsz;
        search->module.header = (const unsigned char *)(info->dlpi_addr + header->p_vaddr);
    }
    search->found = cfi_find(&search->module, search->pc, &search->row);
    search->callee = call_site_target(info, search->pc + 1);
    return 1;
}

/* breg, deref or breg, deref, plus_uconst: how GCC addresses the frame of a function that realigns its stack. */
static bool is_one_load(const struct cfi_rule *cfa, struct rule *rule)
{
    const unsigned char *b = cfa->bytes;
    if (cfa->n_bytes < 3 || b[0] < 0x70 || b[0] > 0x8f || b[0] >= 0x70 + UNWIND_N_REGS || (b[1] & 0x80) || b[2] != 0x06)
        return false;
    if (cfa->n_bytes == 5 && b[3] == 0x23 && !(b[4] & 0x80))
        rule->cfa_after = b[4];
    else if (cfa->n_bytes != 3)
        return false;
    rule->cfa_register = b[0] - 0x70;
    rule->cfa_offset = b[1] & 0x40 ? b[1] - 0x80 : b[1];
    rule->cfa_is_loaded = true;
    return true;
}

static bool boil_down_word(const struct cfi_rule *r, int16_t *word)
{
    *word = IS_SAME;
    if (r->kind == CFI_AT_OFFSET && r->value % WORD == 0 && r->value / WORD > IS_SAME && r->value / WORD < INT16_MAX)
        *word = (int16_t)(r->value / WORD);
    return *word != IS_SAME || r->kind == CFI_SAME;
}

static bool boil_down_saved(const struct cfi_row *row, struct rule *rule)
{
    if (!boil_down_word(&row->reg[UNWIND_RA], &rule->return_address))
        return false;
    for (unsigned i = 0; i < UNWIND_N_SAVED; i++)
        if (!boil_down_word(&row->reg[saved_reg[i]], &rule->saved[i]))
            return false;
    return rule->return_address != IS_SAME || UNWIND_RA != UNWIND_PC;
}

static bool boil_down_cfa(const struct cfi_row *row, struct rule *rule)
{
    if (row->cfa.kind != CFI_IS_OFFSET || row->cfa_register >= UNWIND_N_REGS ||
        row->cfa.value != (int32_t)row->cfa.value)
        return row->cfa.kind == CFI_IS_EXPRESSION && is_one_load(&row->cfa, rule);
    rule->cfa_register = (uint8_t)row->cfa_register;
    rule->cfa_offset = (int32_t)row->cfa.value;
    return true;
}

static struct rule boil_down(const struct cfi_row *row)
{
    struct rule rule = {.kind = RULE_PLAIN};
    if (row->reg[UNWIND_RA].kind == CFI_UNDEFINED)
        rule.kind = RULE_LAST;
    else if (row->is_signal_frame || !boil_down_saved(row, &rule) || !boil_down_cfa(row, &rule))
        rule.kind = RULE_FULL;
    return rule;
}

static struct rule_slot *slots_of(uint64_t pc)
{
    uint64_t hash = pc * 0x9e3779b97f4a7c15u >> 40;
    return &rules[hash % (N_RULES - N_PROBES)];
}

static void rule_keep(uint64_t key, const struct rule *rule)
{
    struct rule_slot *slot = slots_of(key & 0xffffffffffffu), *free_slot = NULL;
    uint64_t now = atomic_load(&generation) & 0xffff;
    for (unsigned i = 0; i < N_PROBES && !free_slot; i++) {
        uint64_t other = atomic_load(&slot[i].key);
        if (other == 0 || other >> 48 != now)
            free_slot = &slot[i];
    }
    if (!free_slot)
        free_slot = &slot[(key >> 4) % N_PROBES];
    atomic_store(&free_slot->key, 0);
    atomic_thread_fence(memory_order_release);
    uint64_t word[RULE_WORDS];
    memcpy(word, rule, sizeof word);
    for (unsigned i = 0; i < RULE_WORDS; i++)
        atomic_store_explicit(&free_slot->word[i], word[i], memory_order_relaxed);
    atomic_store_explicit(&free_slot->key, key, memory_order_release);
}

static bool rule_known(uint64_t key, struct rule *rule)
{
    struct rule_slot *slot = slots_of(key & 0xffffffffffffu);
    for (unsigned i = 0; i < N_PROBES; i++) {
        if (atomic_load_explicit(&slot[i].key, memory_order_acquire) != key)
            continue;
        uint64_t word[RULE_WORDS] = {0};
        for (unsigned j = 0; j < RULE_WORDS; j++)
            word[j] = atomic_load_explicit(&slot[i].word[j], memory_order_relaxed);
        memcpy(rule, word, sizeof word);
        atomic_thread_fence(memory_order_acquire);
        return atomic_load_explicit(&slot[i].key, memory_order_relaxed) == key;
    }
    return false;
}

/* `pc` is below 2^48 in every user process, which leaves the upper bits of the key to the generation. */
static struct rule rule_of(uint64_t pc)
{
    struct rule rule = {.kind = RULE_OUTSIDE};
    uint64_t key = pc | atomic_load(&generation) << 48;
    if (pc == 0 || pc >> 48 != 0 || rule_known(key, &rule))
        return rule;
    struct search search;
    sigset_t before;
    lock_rules(&before);
    search.pc = pc;
    search.is_code = search.found = false;
    memset(&search.module, 0, sizeof search.module);
    if (dl_iterate_phdr(search_module, &search) != 0 && search.found)
        rule = boil_down(&search.row);
    else
        rule = (struct rule){.kind = search.is_code ? RULE_POINTERS : RULE_OUTSIDE};
    if (search.is_code) {
        rule.place = (struct unwind_place){search.callee, search.found ? search.row.function : 0};
        rule_keep(key, &rule);
    }
    unlock_rules(&before);
    return rule;
}

bool unwind_is_code(uint64_t pc)
{
    return rule_of(pc).kind != RULE_OUTSIDE;
}

bool unwind_place(uint64_t return_address, struct unwind_place *place)
{
    struct rule rule = rule_of(return_address - 1);
    *place = rule.place;
    return rule.kind != RULE_OUTSIDE;
}

/* The caller's frame begins. What was in a register for return addresses is the caller's no more. */
static void arrive(struct unwind_frame *frame, uint64_t pc, uint64_t sp)
{
    frame->valid &= ~(1ull << UNWIND_RA);
    unwind_set(frame, UNWIND_PC, pc);
    unwind_set(frame, UNWIND_SP, sp);
    frame->interrupted = false;
}

enum unwind_result unwind_step_pointers(struct unwind_frame *frame, const struct unwind_stack *stack, uint64_t *slot)
{
    uint64_t bp = frame->reg[UNWIND_BP], pc, caller_bp;
    if (!unwind_is_valid(frame, UNWIND_BP) || bp < frame->reg[UNWIND_SP] || !window_read(stack, bp, &caller_bp) ||
        !window_read(stack, bp + WORD, &pc) || !unwind_is_code(unwind_bare(pc) - 1))
        return UNWIND_CUT;
    *slot = bp + WORD;
    arrive(frame, unwind_bare(pc), bp + 2 * WORD);
    frame->reg[UNWIND_BP] = caller_bp;
    frame->valid = UNWIND_BY_POINTER;
    return UNWIND_FRAME;
}

/* A routine whose stack pointer is not known, but which stored the frame pointer and the return address side by side,
 * has its frame pointer there. */
static bool plain_cfa(const struct unwind_frame *frame, const struct rule *rule, uint64_t *cfa)
{
    int16_t pair = rule->saved[0];
    if (unwind_is_valid(frame, rule->cfa_register))
        *cfa = frame->reg[rule->cfa_register] + (uint64_t)(int64_t)rule->cfa_offset;
    else if (rule->cfa_register == UNWIND_SP && unwind_is_valid(frame, UNWIND_BP) && pair != IS_SAME &&
             rule->return_address == pair + 1)
        *cfa = frame->reg[UNWIND_BP] - (uint64_t)((int64_t)pair * WORD);
    else
        return false;
    return true;
}

static enum unwind_result step_plain(struct unwind_frame *frame, const struct unwind_stack *stack,
                                     const struct rule *rule, uint64_t *slot)
{
    uint64_t cfa, value;
    if (!plain_cfa(frame, rule, &cfa))
        return UNWIND_CUT;
    if (rule->cfa_is_loaded) {
        if (!window_read(stack, cfa, &cfa))
            return UNWIND_CUT;
        cfa += (uint64_t)(int64_t)rule->cfa_after;
    }
    bool is_in_register = rule->return_address == IS_SAME;
    if (is_in_register && frame->interrupted && !unwind_is_valid(frame, UNWIND_RA))
        return unwind_step_pointers(frame, stack, slot);
    uint64_t at = cfa + (uint64_t)((int64_t)rule->return_address * WORD), pc = frame->reg[UNWIND_RA];
    if (is_in_register ? !frame->interrupted || cfa < frame->reg[UNWIND_SP]
                       : cfa <= frame->reg[UNWIND_SP] || !window_read(stack, at, &pc))
        return UNWIND_CUT;
    *slot = is_in_register ? 0 : at;
    arrive(frame, unwind_bare(pc), cfa);
    for (unsigned i = 0; i < UNWIND_N_SAVED; i++)
        if (rule->saved[i] != IS_SAME && window_read(stack, cfa + (uint64_t)((int64_t)rule->saved[i] * WORD), &value))
            unwind_set(frame, saved_reg[i], value);
    return UNWIND_FRAME;
}

/*
 * The address of a nested function leads to a few instructions on the stack, which load a register and jump on: the
 * return address is where a call leaves it.
 */
static bool is_trampoline(const struct unwind_frame *frame)
{
    enum { STACK_BYTES = 1 << 26 };
    uint64_t pc = frame->reg[UNWIND_PC], sp = frame->reg[UNWIND_SP];
    return frame->interrupted && unwind_is_valid(frame, UNWIND_SP) && pc > sp && pc - sp < STACK_BYTES;
}

static enum unwind_result step_trampoline(struct unwind_frame *frame, const struct unwind_stack *stack, uint64_t *slot)
{
    const bool is_in_register = UNWIND_RA != UNWIND_PC;
    uint64_t sp = frame->reg[UNWIND_SP], pc = frame->reg[UNWIND_RA];
    if (is_in_register ? !unwind_is_valid(frame, UNWIND_RA) : !window_read(stack, sp, &pc))
        return UNWIND_CUT;
    if (!unwind_is_code(pc - 1))
        return UNWIND_CUT;
    *slot = is_in_register ? 0 : sp;
    arrive(frame, pc, is_in_register ? sp : sp + WORD);
    return UNWIND_FRAME;
}

static bool is_signal_return(uint64_t pc)
{
    static const uint32_t expected[2] = UNWIND_SIGNAL_CODE;
    uint32_t code[2];
    struct iovec to = {code, sizeof code}, from = {(void *)(uintptr_t)pc, sizeof code};
    return UNWIND_SIGNAL_REGS != 0 && process_vm_readv(getpid(), &to, 1, &from, 1, 0) == (ssize_t)sizeof code &&
           memcmp(code, expected, sizeof code) == 0;
}

/* To the frame that a signal interrupted, all registers of which were stored. */
static enum unwind_result step_signal(struct unwind_frame *frame, const struct unwind_stack *stack, uint64_t *slot)
{
    struct unwind_frame caller = {.interrupted = true};
    const uint64_t at = frame->reg[UNWIND_SP] + UNWIND_SIGNAL_REGS;
    uint64_t value;
    for (unsigned reg = 0; reg < UNWIND_N_REGS; reg++) {
        if (!window_read(stack, at + (uint64_t)reg * WORD, &value))
            return UNWIND_CUT;
        unwind_set(&caller, reg, value);
    }
    if (caller.reg[UNWIND_SP] <= frame->reg[UNWIND_SP])
        return UNWIND_CUT;
    *frame = caller;
    *slot = 0;
    return UNWIND_FRAME;
}

static bool value_of(const struct cfi_rule *rule, unsigned reg, const struct unwind_frame *frame,
                     const struct unwind_stack *stack, uint64_t cfa, uint64_t *value)
{
    switch (rule->kind) {
    case CFI_SAME:
        *value = frame->reg[reg];
        return unwind_is_valid(frame, reg);
    case CFI_AT_OFFSET:
        return window_read(stack, cfa + (uint64_t)rule->value, value);
    case CFI_IS_OFFSET:
        *value = cfa + (uint64_t)rule->value;
        return true;
    case CFI_IN_REGISTER:
        if (rule->value >= UNWIND_N_REGS || !unwind_is_valid(frame, (unsigned)rule->value))
            return false;
        *value = frame->reg[rule->value];
        return true;
    case CFI_AT_EXPRESSION:
        return cfi_evaluate(rule->bytes, rule->n_bytes, frame, stack, &cfa, value) && window_read(stack, *value, value);
    case CFI_IS_EXPRESSION:
        return cfi_evaluate(rule->bytes, rule->n_bytes, frame, stack, &cfa, value);
    default:
        return false;
    }
}

static bool full_cfa(const struct cfi_row *row, const struct unwind_frame *frame, const struct unwind_stack *stack,
                     uint64_t *cfa)
{
    if (row->cfa.kind == CFI_IS_EXPRESSION)
        return cfi_evaluate(row->cfa.bytes, row->cfa.n_bytes, frame, stack, NULL, cfa);
    if (row->cfa_register >= UNWIND_N_REGS || !unwind_is_valid(frame, row->cfa_register))
        return false;
    *cfa = frame->reg[row->cfa_register] + (uint64_t)row->cfa.value;
    return true;
}

struct full_step {
    struct search search;
    struct unwind_frame *frame;
    const struct unwind_stack *stack;
    uint64_t *slot;
    enum unwind_result result;
};

/* Inside dl_iterate_phdr, because the row points into the module. */
static int search_and_step(struct dl_phdr_info *info, size_t size, void *context)
{
    struct full_step *f = context;
    struct unwind_frame caller = {.valid = 0};
    const struct cfi_row *row = &f->search.row;
    uint64_t cfa, value;
    if (!search_module(info, size, &f->search))
        return 0;
    if (!f->search.found || !full_cfa(row, f->frame, f->stack, &cfa))
        return 1;
    for (unsigned reg = 0; reg < UNWIND_N_REGS; reg++)
        if (value_of(&row->reg[reg], reg, f->frame, f->stack, cfa, &value))
            unwind_set(&caller, reg, value);
    if (row->reg[UNWIND_SP].kind == CFI_SAME)
        unwind_set(&caller, UNWIND_SP, cfa);
    bool is_in_register = UNWIND_RA != UNWIND_PC && row->reg[UNWIND_RA].kind == CFI_SAME;
    if (!unwind_is_valid(&caller, UNWIND_RA) || !unwind_is_valid(&caller, UNWIND_SP) ||
        caller.reg[UNWIND_SP] < f->frame->reg[UNWIND_SP] + !is_in_register)
        return 1;
    arrive(&caller, unwind_bare(caller.reg[UNWIND_RA]), caller.reg[UNWIND_SP]);
    caller.interrupted = row->is_signal_frame;
    *f->slot = row->reg[UNWIND_RA].kind == CFI_AT_OFFSET ? cfa + (uint64_t)row->reg[UNWIND_RA].value : 0;
    *f->frame = caller;
    f->result = UNWIND_FRAME;
    return 1;
}

static enum unwind_result step_full(struct unwind_frame *frame, const struct unwind_stack *stack, uint64_t pc,
                                    uint64_t *slot)
{
    struct full_step f = {.frame = frame, .stack = stack, .slot = slot, .result = UNWIND_CUT};
    f.search.pc = pc;
    sigset_t before;
    lock_rules(&before);
    dl_iterate_phdr(search_and_step, &f);
    unlock_rules(&before);
    return f.result;
}

enum unwind_result unwind_step(struct unwind_frame *frame, const struct unwind_stack *stack, uint64_t *slot)
{
    /* A return address may already belong to the next function: look at the call before it. */
    uint64_t pc = frame->reg[UNWIND_PC] - !frame->interrupted;
    struct rule rule = rule_of(pc);
    enum unwind_result result;
    switch (rule.kind) {
    case RULE_LAST:
        return UNWIND_END;
    case RULE_PLAIN:
        result = step_plain(frame, stack, &rule, slot);
        break;
    case RULE_FULL:
        result = step_full(frame, stack, pc, slot);
        break;
    default:
        if (rule.kind == RULE_OUTSIDE && is_trampoline(frame))
            result = step_trampoline(frame, stack, slot);
        else if (!frame->interrupted && unwind_is_valid(frame, UNWIND_SP) && is_signal_return(frame->reg[UNWIND_PC]))
            result = step_signal(frame, stack, slot);
        else if (stack->known)
            result = UNWIND_BARE;
        else
            result = unwind_step_pointers(frame, stack, slot);
        break;
    }
    return result == UNWIND_FRAME && frame->reg[UNWIND_PC] == 0 ? UNWIND_END : result;
}
