/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The slow half of stacks.h: walk, cut off what lies outside main, find or give a number, remember.
 */
#include "wrap/record/stack/stacks.h"
#include "wrap/record/process/aside.h"
#include "wrap/record/stack/python_code.h"
#include "wrap/record/stack/search.h"
#include <elf.h>
#include <errno.h>
#include <link.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/mman.h>

enum { SELF_FRAMES = 12, ENTRY_CODE_BYTES = 64 };

/* Code around main and thread functions, learnt once. */
static struct {
    uint64_t entry, libc_low, libc_high;
} outside;

static int find_libc(struct dl_phdr_info *info, size_t size, void *context)
{
    uint64_t inside = (uint64_t)(uintptr_t)context, low = UINT64_MAX, high = 0;
    (void)size;
    for (int i = 0; i < info->dlpi_phnum; i++) {
        const ElfW(Phdr) *p = &info->dlpi_phdr[i];
        if (p->p_type != PT_LOAD)
            continue;
        low = info->dlpi_addr + p->p_vaddr < low ? info->dlpi_addr + p->p_vaddr : low;
        high = info->dlpi_addr + p->p_vaddr + p->p_memsz > high ? info->dlpi_addr + p->p_vaddr + p->p_memsz : high;
    }
    if (inside < low || inside >= high)
        return 0;
    outside.libc_low = low;
    outside.libc_high = high;
    return 1;
}

void stacks_learn_process(void)
{
    outside.entry = getauxval(AT_ENTRY);
    dl_iterate_phdr(find_libc, (void *)(uintptr_t)getauxval);
}

bool stacks_init(struct stack_table *table, size_t memory_bytes)
{
    size_t index_bytes = 2 * STACK_BUCKETS * sizeof(struct stack_entry *);
    void *at = mmap(NULL, memory_bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (at == MAP_FAILED)
        return false;
    table->by_place = at;
    table->by_content = table->by_place + STACK_BUCKETS;
    table->memory = (struct stack_memory){at, index_bytes, memory_bytes};
    table->last_id = 0;
    table->codes = NULL;
    return true;
}

void stacks_release(struct stack_table *table)
{
    if (table->memory.at)
        munmap(table->memory.at, table->memory.bytes);
    python_codes_release(&table->codes);
    memset(table, 0, sizeof *table);
}

void stacks_forget_places(struct stack_table *table)
{
    memset(table->by_place, 0, STACK_BUCKETS * sizeof *table->by_place);
    atomic_store_explicit(&table->last, NULL, memory_order_relaxed);
}

static struct stack_entry *entry_new(struct stack_table *table, uint32_t n)
{
    size_t bytes = sizeof(struct stack_entry) + n * sizeof(((struct stack_entry *)0)->word[0]);
    size_t index_bytes = 2 * STACK_BUCKETS * sizeof(struct stack_entry *);
    if (table->memory.used + bytes > table->memory.bytes) {
        memset(table->by_place, 0, index_bytes);
        table->memory.used = index_bytes;
        atomic_store_explicit(&table->last, NULL, memory_order_relaxed);
    }
    struct stack_entry *entry = (struct stack_entry *)(table->memory.at + table->memory.used);
    table->memory.used += bytes;
    memset(entry, 0, sizeof *entry);
    entry->n = n;
    return entry;
}

static bool lies_outside(uint64_t address)
{
    return address - outside.libc_low < outside.libc_high - outside.libc_low ||
           address - outside.entry < ENTRY_CODE_BYTES;
}

void stacks_walk(struct stack_walk *walk, struct unwind_frame *frame, const struct unwind_stack *stack)
{
    uint64_t slot = 0;
    for (;;) {
        enum unwind_result result = unwind_step(frame, stack, &slot);
        if (__builtin_expect(result == UNWIND_BARE, 0))
            result = search_step(frame, stack, &slot);
        if (result == UNWIND_END) { /* what called main, or a thread's function, says nothing about the program */
            walk->end_slot = slot;
            while (walk->n > 1 && lies_outside(walk->address[walk->n - 1]))
                walk->n--;
            return;
        }
        if (result == UNWIND_CUT || walk->n == STACK_MAX_FRAMES)
            break;
        walk->address[walk->n] = frame->reg[UNWIND_PC];
        walk->slot[walk->n++] = slot;
    }
    walk->flags |= WW_STACK_CUT;
}

static uint64_t hash_words(const uint64_t *words, unsigned n)
{
    uint64_t hash = n;
    for (unsigned i = 0; i < n; i++) {
        hash = (hash ^ words[i]) * 0xd6e8feb86659fd93u;
        hash ^= hash >> 32;
    }
    return hash;
}

static bool has_content(const struct stack_entry *entry, uint64_t hash, const struct stack_walk *walk)
{
    if (entry->key[0] != hash || entry->n != walk->n || entry->key[1] != walk->flags)
        return false;
    for (unsigned i = 0; i < walk->n; i++)
        if (entry->word[i].value != walk->address[i])
            return false;
    return true;
}

static bool write_stack(struct spool *spool, uint32_t id, const struct stack_walk *walk)
{
    unsigned units = (unsigned)((sizeof(struct ww_stack) + walk->n * sizeof walk->address[0] + WW_UNIT - 1) / WW_UNIT);
    struct ww_stack *record = spool_take_definition(spool, units);
    if (!record)
        return false;
    record->id = id;
    record->n = walk->n;
    record->flags = walk->flags;
    memcpy(record->address, walk->address, walk->n * sizeof walk->address[0]);
    spool_commit(record, WW_STACK, (uint16_t)units);
    return true;
}

uint32_t stacks_intern(struct stack_table *table, struct spool *spool, const struct stack_walk *walk)
{
    uint64_t hash = hash_words(walk->address, walk->n);
    struct stack_entry **chain = &table->by_content[hash % STACK_BUCKETS];
    for (struct stack_entry *e = *chain; e; e = e->next)
        if (has_content(e, hash, walk))
            return e->id;
    if (walk->n == 0 || !write_stack(spool, table->last_id + 1, walk))
        return 0;
    struct stack_entry *entry = entry_new(table, walk->n);
    entry->key[0] = hash;
    entry->key[1] = walk->flags;
    entry->id = ++table->last_id;
    for (unsigned i = 0; i < walk->n; i++)
        entry->word[i].value = walk->address[i];
    entry->next = *chain;
    *chain = entry;
    return entry->id;
}

/* From a frame in this library, so that the registers which the wrapper saved are known in the caller. */
static void walk_from_wrapper(struct stack_walk *walk, struct unwind_frame frame, const struct stack_bounds *bounds,
                              uint64_t ra, uint64_t fa)
{
    uint64_t sp = frame.reg[UNWIND_SP], slot;
    struct unwind_stack stack = {.low = sp, .high = bounds->high, .bytes = (const unsigned char *)(uintptr_t)sp};
    for (unsigned i = 0; i < SELF_FRAMES; i++)
        if (unwind_step(&frame, &stack, &slot) != UNWIND_FRAME || frame.reg[UNWIND_SP] >= fa + 16)
            break;
    if (frame.reg[UNWIND_SP] < fa + 16 || frame.reg[UNWIND_PC] != ra) {
        frame.valid = UNWIND_BY_POINTER;
        frame.reg[UNWIND_PC] = ra;
        frame.reg[UNWIND_SP] = fa + 16;
        frame.interrupted = false;
        if (!window_read(&stack, fa, &frame.reg[UNWIND_BP]))
            frame.valid &= ~(1ull << UNWIND_BP);
    }
    stacks_walk(walk, &frame, &stack);
}

/* The table may start afresh while another thread looks: what it reads then is out of date or nonsense, but there. */
static uint64_t word_now(const uint64_t *word)
{
    return *(const volatile uint64_t *)word;
}

uint64_t stacks_last_slot(struct stack_table *table)
{
    const struct stack_entry *entry = atomic_load_explicit(&table->last, memory_order_acquire);
    return entry ? word_now(&entry->key[1]) + sizeof entry->key[1] : 0;
}

void stacks_tell_known(struct stack_table *table, struct unwind_known *known)
{
    const struct stack_entry *entry = atomic_load_explicit(&table->last, memory_order_acquire);
    known->n = 0;
    if (!entry)
        return;
    uint32_t n = entry->n;
    uint64_t slot = word_now(&entry->key[1]) + sizeof entry->key[1], last = 0;
    size_t room = (size_t)(table->memory.at + table->memory.bytes - (const char *)entry->word);
    for (uint32_t i = 0; slot > last && known->n < UNWIND_MAX_FRAMES; i++) {
        known->slot[known->n++] = last = slot;
        if (i >= n || (i + 1) * sizeof entry->word[0] > room)
            return;
        slot = word_now(&entry->word[i].place);
    }
}

static size_t bucket_of(uint64_t caller, uint64_t frame_address)
{
    uint64_t hash = (caller ^ frame_address << 20) * 0x9e3779b97f4a7c15u;
    return hash >> 55;
}
_Static_assert(STACK_BUCKETS == 1 << (64 - 55), "bucket_of yields a bucket");

struct stack_entry *stacks_search(struct stack_table *table, struct stack_entry *before, uint64_t caller,
                                  uint64_t frame_address)
{
    struct stack_entry *entry = table->by_place[bucket_of(caller, frame_address)];
    while (entry && !stacks_is_here(entry, caller, frame_address))
        entry = entry->next;
    if (before && entry)
        before->after = entry;
    return entry;
}

static void remember_place(struct stack_table *table, uint64_t caller, uint64_t fa, uint32_t id,
                           const struct stack_walk *walk)
{
    struct stack_entry *entry = entry_new(table, walk->n - 1);
    struct stack_entry **chain = &table->by_place[bucket_of(caller, fa)];
    entry->key[0] = caller;
    entry->key[1] = fa;
    entry->id = id;
    for (unsigned i = 1; i < walk->n; i++) {
        entry->word[i - 1].place = walk->slot[i];
        entry->word[i - 1].value = word_now((const uint64_t *)(uintptr_t)walk->slot[i]);
    }
    entry->next = *chain;
    *chain = entry;
    atomic_store_explicit(&table->last, entry, memory_order_release);
}

struct slow_find {
    struct stack_table *table;
    struct spool *spool;
    const struct stack_bounds *bounds;
    uint64_t ra, fa;
    const struct python_walk *python; /* NULL = none */
    struct unwind_frame here;
    uint32_t id;
};

static uint32_t intern_merged(const struct slow_find *find, const struct stack_walk *walk)
{
    if (!find->python || find->python->n == 0)
        return stacks_intern(find->table, find->spool, walk);
    struct stack_walk merged = *walk;
    stacks_merge(find->table, find->spool, &merged, find->python);
    return stacks_intern(find->table, find->spool, &merged);
}

static void find_aside(void *context)
{
    struct slow_find *find = context;
    struct stack_walk walk = {.n = 1, .address = {find->ra}, .slot = {find->fa + 8}};
    /* A stack of the program's own making (a fibre) has unknown bounds, and may be gone when its address comes again.
     */
    bool own = find->fa >= find->bounds->low && find->fa < find->bounds->high;
    if (own)
        walk_from_wrapper(&walk, find->here, find->bounds, find->ra, find->fa);
    else
        walk.flags = WW_STACK_CUT;
    find->id = intern_merged(find, &walk);
    atomic_store_explicit(&find->table->last, NULL, memory_order_relaxed);
    /* A signal frame keeps its address elsewhere: such stacks are walked each time. */
    bool has_places = own && find->id != 0;
    for (unsigned i = 0; i < walk.n; i++)
        has_places &= walk.slot[i] != 0;
    uint64_t caller = stacks_caller(find->ra, find->python ? find->python->key : 0);
    if (has_places)
        remember_place(find->table, caller, find->fa, find->id, &walk);
}

/* Noinline: the walk begins in this frame, which stays while another stack does it. */
__attribute__((noinline)) uint32_t stacks_find_slow(struct stack_table *table, struct spool *spool,
                                                    const struct stack_bounds *bounds, const void *return_address,
                                                    const void *frame_address, const struct python_walk *python)
{
    int saved = errno;
    struct slow_find find = {.table = table,
                             .spool = spool,
                             .bounds = bounds,
                             .ra = (uint64_t)(uintptr_t)return_address,
                             .fa = (uint64_t)(uintptr_t)frame_address,
                             .python = python};
    unwind_here(&find.here);
    aside_run(find_aside, &find);
    errno = saved;
    return find.id;
}

uint32_t stacks_find_python(struct stack_table *table, struct spool *spool, const struct stack_bounds *bounds,
                            const void *return_address, const void *frame_address)
{
    struct python_walk python;
    python_walk_here(&python);
    atomic_store_explicit(&table->python_state, python.state, memory_order_relaxed);
    uint64_t caller = stacks_caller((uint64_t)(uintptr_t)return_address, python.key);
    const struct stack_entry *known = stacks_find_known(table, caller, (uint64_t)(uintptr_t)frame_address);
    return known ? known->id : stacks_find_slow(table, spool, bounds, return_address, frame_address, &python);
}

static bool is_interpreter(uint64_t address)
{
    return address - python_process.low < python_process.high - python_process.low;
}

/* Does it return into the function that runs frames of Python? Of the instruction itself, innermost: is it in there? */
static bool runs_frames(uint64_t address, bool is_return)
{
    struct unwind_place place;
    return unwind_place(address + !is_return, &place) && place.function == python_process.eval;
}

static void put_address(struct stack_walk *to, uint64_t address)
{
    if (to->n < STACK_MAX_FRAMES)
        to->address[to->n++] = address;
}

/* The frames of Python from `first` on that C code did not call, and the one that it did. Returns how many are done. */
static unsigned put_run(struct stack_table *table, struct spool *spool, const struct python_walk *python,
                        unsigned first, struct stack_walk *to, bool has_c_inside)
{
    while (first < python->n) {
        const struct python_frame *frame = &python->frame[first];
        uint64_t address = python_codes_address(&table->codes, spool, frame), expression = 0;
        if (first++ == 0 && has_c_inside && address)
            expression = python_codes_expression(table->codes, frame);
        if (expression)
            put_address(to, expression);
        if (address)
            put_address(to, address);
        if (frame->is_entry)
            break;
    }
    return first;
}

/* It is C code that stands inside the innermost frame. */
static bool put_collector(struct stack_table *table, struct spool *spool, struct stack_walk *to)
{
    uint64_t address = python_codes_collector(&table->codes, spool);
    if (address)
        put_address(to, address);
    return false;
}

/* How many addresses of the walk should be in the function that runs frames. */
static unsigned n_entries(const struct python_walk *python)
{
    unsigned n = python->n > 0 && !python->frame[python->n - 1].is_entry;
    for (unsigned i = 0; i < python->n; i++)
        n += python->frame[i].is_entry;
    return n;
}

/* From 3.12 on the function that runs frames has the interpreter's own frame on its part of the stack. So many of them
 * lie in the part of each address, then: whatever the function is called, since compilers move parts of it elsewhere.
 * It is missing where a walk went on behind code that an interpreter had made: then the part is that code's. */
static bool count_bases(const struct stack_walk *walk, const struct python_walk *python, unsigned *n_runs)
{
    unsigned n_found = 0;
    for (unsigned i = 0, at = 0; i < walk->n; i++) {
        uint64_t outermost = walk->flags & WW_STACK_CUT ? UINT64_MAX : walk->end_slot;
        uint64_t end = i + 1 < walk->n ? walk->slot[i + 1] : outermost;
        n_runs[i] = 0;
        for (; at < python->n && python->frame[at].base < end; at++)
            n_runs[i] += python->frame[at].base > walk->slot[i];
        n_found += n_runs[i];
    }
    return n_found > 0;
}

/* Which of the first addresses of the walk are in the function that runs frames. A second interpreter inside this one
 * has more of them, and its frames are not read while it sleeps. So where all frames are known, the innermost too many
 * are left out.
 */
static void find_runs(const struct stack_walk *walk, unsigned n_inner, const struct python_walk *python,
                      unsigned *n_runs)
{
    unsigned n = 0, n_known = n_entries(python);
    for (unsigned i = 0; i < n_inner; i++) {
        bool is_run = is_interpreter(walk->address[i]) && runs_frames(walk->address[i], i > 0 || walk->slot[0] != 0);
        n_runs[i] = is_run;
        n += is_run;
    }
    for (unsigned i = 0; i < n_inner && n > n_known && !python->is_cut; i++) {
        n -= n_runs[i];
        n_runs[i] = 0;
    }
}

/* Those up to the interpreter's last. */
static unsigned inner_addresses(const struct stack_walk *walk, const unsigned *n_runs)
{
    unsigned n = walk->n;
    while (n > 0 && !(walk->flags & WW_STACK_CUT) && !is_interpreter(walk->address[n - 1]) && !n_runs[n - 1])
        n--;
    return n ? n : walk->n;
}

/* Frames for which no C code was found come behind the interpreter's last. Where the walk of the C stack ended too
 * soon, they come behind all of it. */
void stacks_merge(struct stack_table *table, struct spool *spool, struct stack_walk *walk,
                  const struct python_walk *python)
{
    struct stack_walk merged = {.n = 0, .flags = walk->flags | (python->is_cut ? WW_STACK_CUT : 0)};
    unsigned n_runs[STACK_MAX_FRAMES] = {0}, n_done = 0;
    bool is_known = count_bases(walk, python, n_runs);
    unsigned n_inner = inner_addresses(walk, n_runs);
    if (!is_known)
        find_runs(walk, n_inner, python, n_runs);
    bool collects = python->collects, has_c_inside = python->is_sample && !n_runs[0];
    for (unsigned i = 0; i < n_inner; i++) {
        if (collects && is_interpreter(walk->address[i]))
            collects = put_collector(table, spool, &merged);
        if (!is_interpreter(walk->address[i]))
            put_address(&merged, walk->address[i]);
        for (unsigned run = 0; run < n_runs[i]; run++)
            n_done = put_run(table, spool, python, n_done, &merged, has_c_inside);
    }
    while (n_done < python->n)
        n_done = put_run(table, spool, python, n_done, &merged, has_c_inside);
    for (unsigned i = n_inner; i < walk->n; i++)
        put_address(&merged, walk->address[i]);
    if (merged.n > 0)
        *walk = merged;
}
