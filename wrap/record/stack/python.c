/* SPDX-License-Identifier: BSD-3-Clause */
#include "wrap/record/stack/python.h"
#include "wrap/record/process/loader.h"
#include "wrap/record/process/say.h"
#include <dlfcn.h>
#include <errno.h>
#include <link.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/uio.h>
#include <unistd.h>

enum { LOWEST_ADDRESS = 4096, WORD = 8, MOST_CODE_BYTES = 1 << 24, TYPE_AT = 8, OWNERS_OF_CODE = 3 };
#define HIGHEST_ADDRESS (UINT64_C(1) << 47)

struct python_process python_process;

static const struct python_layout layouts[] = {
    {.minor = 9,
     .state_interpreter = 16,
     .interpreter_collects = 816,
     .state_frame = 24,
     .holder_frame = -1,
     .frame_code = 32,
     .frame_back = 24,
     .frame_at = 104,
     .at_unit = 1,
     .code_first_line = 40,
     .code_file = 104,
     .code_name = 112,
     .code_lines = 120,
     .ascii_bytes = 48,
     .compact_bytes = 72,
     .entry = PYTHON_EVERY_FRAME,
     .lines = PYTHON_LNOTAB},
    {.minor = 10,
     .state_interpreter = 16,
     .interpreter_collects = 816,
     .state_frame = 24,
     .holder_frame = -1,
     .frame_code = 32,
     .frame_back = 24,
     .frame_at = 96,
     .at_unit = 2,
     .code_first_line = 40,
     .code_file = 104,
     .code_name = 112,
     .code_lines = 120,
     .ascii_bytes = 48,
     .compact_bytes = 72,
     .entry = PYTHON_EVERY_FRAME,
     .lines = PYTHON_LINE_DELTAS},
    {.minor = 11,
     .state_interpreter = 16,
     .interpreter_collects = 848,
     .state_frame = 56,
     .holder_frame = 8,
     .frame_code = 32,
     .frame_back = 48,
     .frame_at = 56,
     .frame_entry = 68,
     .code_first_line = 72,
     .code_file = 112,
     .code_name = 128,
     .code_lines = 136,
     .code_begin = 184,
     .ascii_bytes = 48,
     .compact_bytes = 72,
     .entry = PYTHON_BY_FLAG,
     .lines = PYTHON_LOCATIONS},
    {.minor = 12,
     .state_interpreter = 16,
     .interpreter_collects = 312,
     .state_frame = 56,
     .holder_frame = 0,
     .frame_code = 0,
     .frame_back = 8,
     .frame_at = 56,
     .frame_entry = 70,
     .code_first_line = 68,
     .code_file = 112,
     .code_name = 128,
     .code_lines = 136,
     .code_begin = 192,
     .ascii_bytes = 40,
     .compact_bytes = 56,
     .entry = PYTHON_BY_OWNER,
     .lines = PYTHON_LOCATIONS},
};

/*
 * The interpreter's table (_Py_DebugOffsets): words, in groups that each begin with the size of a structure. Which
 * groups and words there are is fixed for a minor version.
 */
enum { TABLE_COOKIE, TABLE_VERSION, TABLE_FREE_THREADED, TABLE_WORDS = 96 };
static const char cookie[8] = {'x', 'd', 'e', 'b', 'u', 'g', 'p', 'y'};
static const struct table {
    unsigned minor;
    uint8_t collector; /* the word that tells where an interpreter has its collector */
    uint8_t state, frame, code, bytes, string, collecting; /* the first word of these groups */
} tables[] = {
    {.minor = 13, .collector = 10, .state = 19, .frame = 28, .code = 34, .bytes = 64, .string = 67, .collecting = 71},
    {.minor = 14, .collector = 11, .state = 22, .frame = 31, .code = 39, .bytes = 74, .string = 77, .collecting = 81},
    {.minor = 15, .collector = 11, .state = 22, .frame = 39, .code = 47, .bytes = 86, .string = 89, .collecting = 94},
};

/* The word at `i` of the group that begins with a size: an offset within that. */
static bool take_offset(const uint64_t *group, unsigned i, uint16_t *offset)
{
    *offset = (uint16_t)group[i];
    return group[0] <= INT16_MAX && group[i] < group[0];
}

static const struct python_layout *layout_of_table(const struct table *table, const uint64_t *word)
{
    static struct python_layout layout;
    const uint64_t *state = word + table->state, *frame = word + table->frame, *code = word + table->code;
    const uint64_t *bytes = word + table->bytes, *string = word + table->string;
    const uint64_t *collecting = word + table->collecting;
    uint16_t length, text, flag = 0;
    layout = (struct python_layout){.minor = table->minor,
                                    .holder_frame = -1,
                                    .ascii_bytes = (uint16_t)string[3],
                                    .compact_bytes = (uint16_t)(string[3] + 2 * WORD),
                                    .entry = PYTHON_BY_OWNER,
                                    .lines = PYTHON_LOCATIONS};
    bool is_sound = take_offset(state, 4, &layout.state_frame) && take_offset(frame, 1, &layout.frame_back) &&
                    take_offset(frame, 2, &layout.frame_code) && take_offset(frame, 3, &layout.frame_at) &&
                    take_offset(frame, 5, &layout.frame_entry) && take_offset(code, 1, &layout.code_file) &&
                    take_offset(code, 3, &layout.code_name) && take_offset(code, 4, &layout.code_lines) &&
                    take_offset(code, 5, &layout.code_first_line) && take_offset(code, 9, &layout.code_begin) &&
                    take_offset(bytes, 1, &length) && take_offset(bytes, 2, &text) &&
                    take_offset(state, 3, &layout.state_interpreter) && take_offset(collecting, 1, &flag) &&
                    word[table->collector] + flag <= UINT16_MAX;
    layout.interpreter_collects = (uint16_t)(word[table->collector] + flag);
    /* Strings and bytes have been what they are for as long as the table exists. */
    bool is_usual = is_sound && length == 2 * WORD && text == 4 * WORD && string[1] == 4 * WORD &&
                    string[2] == 2 * WORD && string[3] == 5 * WORD && layout.code_lines + WORD <= PYTHON_CODE_BYTES &&
                    layout.code_file < layout.code_lines && layout.code_name < layout.code_lines &&
                    layout.code_first_line < layout.code_lines;
    return is_usual ? &layout : NULL;
}

const struct python_layout *python_layout_of(unsigned minor, const void *runtime, uint64_t runtime_bytes)
{
    for (size_t i = 0; i < sizeof layouts / sizeof *layouts; i++)
        if (layouts[i].minor == minor)
            return &layouts[i];
    uint64_t word[TABLE_WORDS];
    if (!runtime || runtime_bytes < sizeof word)
        return NULL;
    memcpy(word, runtime, sizeof word);
    bool is_table = memcmp(&word[TABLE_COOKIE], cookie, sizeof cookie) == 0 &&
                    word[TABLE_VERSION] >> 16 == (3u << 8 | minor) && word[TABLE_FREE_THREADED] == 0;
    for (size_t i = 0; is_table && i < sizeof tables / sizeof *tables; i++)
        if (tables[i].minor == minor)
            return layout_of_table(&tables[i], word);
    return NULL;
}

static int find_range(struct dl_phdr_info *info, size_t size, void *context)
{
    struct python_process *process = context;
    uint64_t low = UINT64_MAX, high = 0;
    (void)size;
    for (int i = 0; i < info->dlpi_phnum; i++) {
        const ElfW(Phdr) *p = &info->dlpi_phdr[i];
        uint64_t begin = info->dlpi_addr + p->p_vaddr;
        if (p->p_type != PT_LOAD)
            continue;
        low = begin < low ? begin : low;
        high = begin + p->p_memsz > high ? begin + p->p_memsz : high;
    }
    if (process->eval < low || process->eval >= high)
        return 0;
    process->low = low;
    process->high = high;
    return 1;
}

/* The version of a library whose interface must not be called: its constant, from 3.11 on, else the text that it made
 * when the interpreter began. */
static unsigned minor_of(void *handle)
{
    const uint32_t *number = dlsym(handle, "Py_Version");
    const char *(*text)(void) = NULL;
    if (number)
        return *number >> 24 == 3 ? *number >> 16 & 0xff : 0;
    *(void **)&text = dlsym(handle, "Py_GetVersion");
    const char *version = text ? text() : NULL;
    return version && strncmp(version, "3.", 2) == 0 ? (unsigned)strtoul(version + 2, NULL, 10) : 0;
}

/* Of the module that has these symbols, which stays loaded from now on. */
static void use(void *handle)
{
    struct python_process found = {.eval = 0};
    Dl_info where;
    *(void **)&found.thread_state = dlsym(handle, "PyGILState_GetThisThreadState");
    *(void **)&found.current_state = dlsym(handle, "_PyThreadState_UncheckedGet");
    if (!found.current_state) /* its name from 3.13 on */
        *(void **)&found.current_state = dlsym(handle, "PyThreadState_GetUnchecked");
    *(void **)&found.first_interpreter = dlsym(handle, "PyInterpreterState_Main");
    *(void **)&found.list_of_states = dlsym(handle, "PyInterpreterState_ThreadHead");
    found.eval = (uint64_t)(uintptr_t)dlsym(handle, "_PyEval_EvalFrameDefault");
    found.code_type = (uint64_t)(uintptr_t)dlsym(handle, "PyCode_Type");
    if (!found.thread_state || !found.eval || !found.code_type)
        return;
    unsigned minor = minor_of(handle);
    const void *runtime = dlsym(handle, "_PyRuntime");
    if (!dl_iterate_phdr(find_range, &found))
        return;
    uint64_t room = runtime ? found.high - (uint64_t)(uintptr_t)runtime : 0;
    const struct python_layout *layout = python_layout_of(minor, runtime, room);
    if (!layout) {
        say_note("Python 3.%u, as it was built, is not known to the recorder: its code is recorded without lines",
                 minor);
        return;
    }
    if (dladdr((void *)(uintptr_t)found.eval, &where) != 0 && where.dli_fname)
        dlopen(where.dli_fname, RTLD_LAZY | RTLD_NOLOAD);
    python_process.thread_state = found.thread_state;
    python_process.current_state = found.current_state;
    python_process.first_interpreter = found.first_interpreter;
    python_process.list_of_states = found.list_of_states;
    python_process.low = found.low;
    python_process.high = found.high;
    python_process.eval = found.eval;
    python_process.code_type = found.code_type;
    atomic_store_explicit(&python_process.layout, layout, memory_order_release);
}

/* A library of the interpreter that others cannot see: loaded by a program's plug-in. */
static int find_library(struct dl_phdr_info *info, size_t size, void *context)
{
    const char *slash = info->dlpi_name ? strrchr(info->dlpi_name, '/') : NULL;
    (void)size;
    if (!slash || strncmp(slash, "/libpython", 10) != 0)
        return 0;
    *(const char **)context = info->dlpi_name;
    return 1;
}

void python_look(void)
{
    static struct loader_counts as_of;
    struct loader_counts now = loader_count();
    const char *path = NULL;
    void *handle = RTLD_DEFAULT;
    if (python_is_there() || now.n_adds == as_of.n_adds)
        return;
    as_of = now;
    if (!dlsym(RTLD_DEFAULT, "PyGILState_GetThisThreadState")) {
        dl_iterate_phdr(find_library, &path);
        handle = path ? dlopen(path, RTLD_LAZY | RTLD_NOLOAD) : NULL;
        if (!handle)
            return;
    }
    use(handle);
}

bool python_read(uint64_t from, void *to, uint64_t n)
{
    struct iovec local = {to, n}, remote = {(void *)(uintptr_t)from, n};
    return process_vm_readv(getpid(), &local, 1, &remote, 1, 0) == (ssize_t)n;
}

uint64_t python_thread_state(void)
{
    return (uint64_t)(uintptr_t)python_process.thread_state();
}

/* Is the other state one of the calling thread, as this one is? Both have their thread at the same word. */
static bool is_of_this_thread(uint64_t state, uint64_t other_state)
{
    enum { STATE_WORDS = 32 };
    uint64_t self = (uint64_t)pthread_self(), own[STATE_WORDS], other[STATE_WORDS];
    if (!python_read(state, own, sizeof own) || !python_read(other_state, other, sizeof other))
        return false;
    for (unsigned i = 0; i < STATE_WORDS; i++)
        if (own[i] == self)
            return other[i] == self;
    return false;
}

/* The state of the calling thread in another interpreter, which has the lock; 0 = there is none. Up to 3.11 the current
 * state may be another thread's, and end at any time. */
static uint64_t running_state(uint64_t state)
{
    uint64_t current = python_process.current_state ? (uint64_t)(uintptr_t)python_process.current_state() : 0;
    return current && current != state && is_of_this_thread(state, current) ? current : 0;
}

/* The state of the calling thread in the first interpreter, where its own is in another; 0 = there is none. Other
 * threads may change the list meanwhile. */
static uint64_t first_state(const struct python_layout *layout, uint64_t state)
{
    enum { MOST_STATES = 1024 };
    void *first = python_process.first_interpreter ? python_process.first_interpreter() : NULL;
    uint64_t own;
    if (!first || !python_process.list_of_states || !python_read(state + layout->state_interpreter, &own, sizeof own) ||
        own == (uint64_t)(uintptr_t)first)
        return 0;
    uint64_t other = (uint64_t)(uintptr_t)python_process.list_of_states(first);
    for (unsigned i = 0; i < MOST_STATES && other; i++) {
        if (is_of_this_thread(state, other))
            return other;
        if (!python_read(other + layout->state_interpreter - WORD, &other, sizeof other))
            return 0;
    }
    return 0;
}

static uint64_t mix(uint64_t hash, uint64_t value)
{
    hash = (hash ^ value) * 0xd6e8feb86659fd93u;
    return hash ^ hash >> 32;
}

static uint64_t turned(uint64_t value, unsigned bits)
{
    return value << bits | value >> (64 - bits);
}

static uint64_t word_at(const unsigned char *bytes)
{
    uint64_t word;
    memcpy(&word, bytes, sizeof word);
    return word;
}

uint64_t python_mark(const struct python_layout *layout, const unsigned char *code)
{
    uint32_t first_line;
    memcpy(&first_line, code + layout->code_first_line, sizeof first_line);
    return mix(first_line, word_at(code + layout->code_file) ^ turned(word_at(code + layout->code_name), 17) ^
                               turned(word_at(code + layout->code_lines), 34));
}

/* A place where an object may lie. */
static bool is_address(uint64_t address)
{
    return address >= LOWEST_ADDRESS && address < HIGHEST_ADDRESS && address % WORD == 0;
}

/* Memory as the walk sees it: as it is, or through the kernel. */
static inline bool load(struct stack_pages *pages, uint64_t address, uint64_t *value)
{
    if (!is_address(address))
        return false;
    if (pages)
        return pages_read(pages, address, value);
    *value = *(const volatile uint64_t *)(uintptr_t)address;
    return true;
}

static inline bool load_small(struct stack_pages *pages, uint64_t address, unsigned bytes, uint32_t *value)
{
    uint64_t word, offset = address % WORD;
    if (!load(pages, address - offset, &word))
        return false;
    word >>= 8 * offset;
    *value = (uint32_t)(word & (UINT32_MAX >> (32 - 8 * bytes)));
    return true;
}

static inline bool load_at(struct stack_pages *pages, const struct python_layout *layout, uint64_t frame,
                           struct python_frame *to)
{
    uint64_t pointer;
    uint32_t count;
    if (layout->at_unit) {
        if (!load_small(pages, frame + layout->frame_at, sizeof count, &count))
            return false;
        to->at = (int32_t)count < 0 ? PYTHON_BEGIN : count * layout->at_unit;
        return true;
    }
    if (!load(pages, frame + layout->frame_at, &pointer))
        return false;
    uint64_t begin = to->code + layout->code_begin;
    to->at = pointer < begin ? PYTHON_BEGIN : (uint32_t)(pointer - begin);
    return pointer + WORD >= begin && (pointer < begin || pointer - begin < MOST_CODE_BYTES);
}

/* The interpreter's own frame, which it puts behind those that C code called. */
static inline void end_run(struct python_walk *walk, uint64_t base)
{
    struct python_frame *last = walk->n > 0 ? &walk->frame[walk->n - 1] : NULL;
    if (!last || last->is_entry)
        return;
    last->is_entry = true;
    last->base = base;
}

/* Appends the frame, unless it is one of C code. False when something is odd. */
static inline bool take_frame(struct stack_pages *pages, const struct python_layout *layout, uint64_t frame,
                              struct python_walk *walk)
{
    struct python_frame *to = &walk->frame[walk->n];
    uint32_t entry = 1;
    if (layout->entry != PYTHON_EVERY_FRAME && !load_small(pages, frame + layout->frame_entry, 1, &entry))
        return false;
    if (layout->entry == PYTHON_BY_OWNER && entry >= OWNERS_OF_CODE) {
        end_run(walk, frame);
        return true;
    }
    if (!load(pages, frame + layout->frame_code, &to->code))
        return false;
    to->code &= ~(uint64_t)(WORD - 1); /* low bits are the interpreter's */
    to->is_entry = layout->entry != PYTHON_BY_OWNER && entry != 0;
    to->base = 0;
    if (!is_address(to->code) || !load_at(pages, layout, frame, to))
        return false;
    walk->n++;
    return true;
}

static inline void take_frames(struct stack_pages *pages, const struct python_layout *layout, uint64_t state,
                               struct python_walk *walk)
{
    uint64_t frame = state, back;
    walk->is_cut = true;
    if (!load(pages, state + layout->state_frame, &frame) ||
        (layout->holder_frame >= 0 && frame && !load(pages, frame + (uint64_t)layout->holder_frame, &frame)))
        return;
    for (unsigned turns = 0; frame && turns < 2 * PYTHON_MOST && walk->n < PYTHON_MOST; turns++, frame = back)
        if (!take_frame(pages, layout, frame, walk) || !load(pages, frame + layout->frame_back, &back) || back == frame)
            return;
    walk->is_cut = frame != 0;
}

static bool is_collecting(struct stack_pages *pages, const struct python_layout *layout, uint64_t state)
{
    uint64_t interpreter;
    uint32_t flag = 0;
    return load(pages, state + layout->state_interpreter, &interpreter) &&
           load_small(pages, interpreter + layout->interpreter_collects, sizeof flag, &flag) && flag == 1;
}

/* The frames up to the first that is none. */
static void seal(struct python_walk *walk, unsigned n)
{
    walk->is_cut |= n < walk->n;
    walk->n = n;
    walk->key = n;
    for (unsigned i = 0; i < n; i++)
        walk->key = mix(walk->key, turned(walk->frame[i].code, 20) ^ walk->frame[i].mark ^
                                       turned((uint64_t)walk->frame[i].at << 1 | walk->frame[i].is_entry, 40));
}

/* In one system call for many. What lies behind the last readable object is not known. */
static unsigned read_codes(const struct python_layout *layout, const struct python_walk *walk,
                           struct python_scratch *scratch)
{
    enum { BATCH = 16 };
    const size_t each = python_code_bytes(layout);
    struct iovec to[BATCH], from[BATCH];
    for (unsigned done = 0; done < walk->n;) {
        unsigned n = walk->n - done < BATCH ? walk->n - done : BATCH;
        for (unsigned i = 0; i < n; i++) {
            to[i] = (struct iovec){scratch->code[done + i], each};
            from[i] = (struct iovec){(void *)(uintptr_t)walk->frame[done + i].code, each};
        }
        ssize_t got = process_vm_readv(getpid(), to, n, from, n, 0);
        unsigned n_got = got > 0 ? (unsigned)((size_t)got / each) : 0;
        done += n_got;
        if (n_got < n)
            return done;
    }
    return walk->n;
}

/* The frames of several interpreters, of the innermost first. C code has called each from the next. */
static void walk_states(struct python_walk *walk, struct python_scratch *scratch, const uint64_t *states,
                        unsigned n_states)
{
    const struct python_layout *layout = atomic_load_explicit(&python_process.layout, memory_order_acquire);
    int saved = errno;
    unsigned n = 0;
    walk->n = 0;
    walk->key = 0;
    walk->is_cut = walk->collects = false;
    walk->is_sample = true;
    if (!layout)
        return;
    scratch->pages.n = 0;
    for (unsigned i = 0; i < n_states && !walk->is_cut; i++) {
        if (walk->n > 0)
            walk->frame[walk->n - 1].is_entry = true;
        if (!is_address(states[i]))
            continue;
        take_frames(&scratch->pages, layout, states[i], walk);
        walk->collects |= is_collecting(&scratch->pages, layout, states[i]);
    }
    unsigned n_read = read_codes(layout, walk, scratch);
    for (; n < n_read && word_at(scratch->code[n] + TYPE_AT) == python_process.code_type; n++)
        walk->frame[n].mark = python_mark(layout, scratch->code[n]);
    if (n > 0 && n == walk->n)
        atomic_store_explicit(&python_process.proved, true, memory_order_relaxed);
    seal(walk, n);
    errno = saved;
}

void python_walk_safely(struct python_walk *walk, struct python_scratch *scratch, uint64_t state, uint64_t inner)
{
    const uint64_t states[] = {inner, state};
    walk_states(walk, scratch, states, 2);
}

void python_walk_running(struct python_walk *walk, struct python_scratch *scratch, uint64_t state)
{
    const struct python_layout *layout = atomic_load_explicit(&python_process.layout, memory_order_acquire);
    int saved = errno;
    bool is_known = layout && is_address(state);
    uint64_t states[] = {is_known ? running_state(state) : 0, state, is_known ? first_state(layout, state) : 0};
    errno = saved;
    walk_states(walk, scratch, states, 3);
    walk->state = states[2] ? states[2] : state;
    walk->inner = states[2] ? state : states[0];
}

/* Once a process, as a rule: in the first MPI call. */
static bool prove(uint64_t state)
{
    enum { MOST_TRIALS = 100 };
    static _Atomic unsigned n_trials;
    size_t bytes = sizeof(struct python_scratch) + sizeof(struct python_walk);
    void *at = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (at == MAP_FAILED)
        return false;
    struct python_scratch *scratch = at;
    python_walk_safely((struct python_walk *)(scratch + 1), scratch, state, 0);
    munmap(at, bytes);
    bool is_proved = atomic_load_explicit(&python_process.proved, memory_order_relaxed);
    if (!is_proved && atomic_fetch_add_explicit(&n_trials, 1, memory_order_relaxed) == MOST_TRIALS) {
        atomic_store_explicit(&python_process.layout, NULL, memory_order_release);
        say_note("the frames of Python cannot be read here: its code is recorded without lines");
    }
    return is_proved;
}

void python_walk_here(struct python_walk *walk)
{
    const struct python_layout *layout = atomic_load_explicit(&python_process.layout, memory_order_acquire);
    uint64_t state = python_thread_state();
    unsigned n = 0;
    walk->n = 0;
    walk->key = 0;
    walk->state = state;
    walk->is_cut = walk->collects = walk->is_sample = false;
    if (!is_address(state) || !layout ||
        (!atomic_load_explicit(&python_process.proved, memory_order_relaxed) && !prove(state)))
        return;
    take_frames(NULL, layout, state, walk);
    for (; n < walk->n; n++) {
        const unsigned char *code = (const unsigned char *)(uintptr_t)walk->frame[n].code;
        if (word_at(code + TYPE_AT) != python_process.code_type)
            break;
        walk->frame[n].mark = python_mark(layout, code);
    }
    seal(walk, n);
}
