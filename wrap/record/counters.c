/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Finding the counters and taking those that changed. The search over the live words is the hot part: 10,000 counters
 * of which 20 changed are two passes over 80 kB, in steps of 64 bytes that are compared as a whole (AVX2 where the
 * processor has it).
 */
#include "wrap/record/counters.h"
#include "wrap/plugin/only.h"
#include "wrap/plugin/points.h"
#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <link.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

enum { WORD_BYTES = 8, STEP = 8 /* words compared at once */ };

/* A file mapped for reading. */
struct image {
    const unsigned char *at;
    size_t bytes;
};

static struct image image_open(const char *path)
{
    struct image image = {0};
    struct stat status;
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return image;
    if (fstat(fd, &status) == 0 && status.st_size > 0) {
        void *at = mmap(NULL, (size_t)status.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
        if (at != MAP_FAILED)
            image = (struct image){at, (size_t)status.st_size};
    }
    close(fd);
    return image;
}

static void image_close(struct image *image)
{
    if (image->at)
        munmap((void *)(uintptr_t)image->at, image->bytes);
}

/* Bytes [offset, offset + size) of the file, or NULL when it has no such bytes. */
static const void *image_part(const struct image *image, uint64_t offset, uint64_t size_bytes)
{
    if (offset > image->bytes || size_bytes > image->bytes - offset)
        return NULL;
    return image->at + offset;
}

static const ElfW(Shdr) * section_headers(const struct image *image, unsigned *n, const ElfW(Shdr) * *names)
{
    const ElfW(Ehdr) *file = image_part(image, 0, sizeof *file);
    if (!file || memcmp(file->e_ident, ELFMAG, SELFMAG) != 0 || file->e_shentsize != sizeof(ElfW(Shdr)) ||
        file->e_shstrndx >= file->e_shnum)
        return NULL;
    const ElfW(Shdr) *headers = image_part(image, file->e_shoff, (uint64_t)file->e_shnum * sizeof *headers);
    *n = file->e_shnum;
    *names = headers ? headers + file->e_shstrndx : NULL;
    return headers;
}

/* The contents of a section; the name's zero counts. */
static struct image find_section(const struct image *image, const char *name, size_t name_bytes)
{
    unsigned n = 0;
    const ElfW(Shdr) *names = NULL, *headers = section_headers(image, &n, &names);
    const char *text = headers ? image_part(image, names->sh_offset, names->sh_size) : NULL;
    for (unsigned i = 0; text && i < n; i++) {
        uint64_t left = names->sh_size > headers[i].sh_name ? names->sh_size - headers[i].sh_name : 0;
        if (left < name_bytes || memcmp(text + headers[i].sh_name, name, name_bytes) != 0)
            continue;
        const void *contents = image_part(image, headers[i].sh_offset, headers[i].sh_size);
        if (contents && headers[i].sh_type != SHT_NOBITS)
            return (struct image){contents, headers[i].sh_size};
    }
    return (struct image){0};
}

/* What a module's file says of its counters. */
struct tables {
    struct image points, strings;
};

static struct tables find_tables(const struct image *image)
{
    return (struct tables){find_section(image, POINTS_SECTION, sizeof POINTS_SECTION),
                           find_section(image, POINTS_STRINGS, sizeof POINTS_STRINGS)};
}

static const char *string_at(const struct image *strings, uint32_t offset)
{
    if (offset >= strings->bytes || !memchr(strings->at + offset, 0, strings->bytes - offset))
        return "";
    return (const char *)strings->at + offset;
}

/* The record at *offset or after padding, which *offset is moved behind; NULL at the end or where the section is
 * damaged. */
static const struct points_function *next_function(const struct image *points, size_t *offset)
{
    while (*offset + sizeof(struct points_function) <= points->bytes) {
        const struct points_function *function = (const void *)(points->at + *offset);
        if (function->magic == 0) {
            *offset += WORD_BYTES;
            continue;
        }
        if (function->magic != POINTS_MAGIC || function->version != POINTS_VERSION ||
            function->size_bytes < sizeof *function || function->size_bytes > points->bytes - *offset ||
            function->tls_offset_bytes % WORD_BYTES || function->tls_offset_bytes / WORD_BYTES >= POINTS_NONE)
            return NULL;
        *offset += (function->size_bytes + WORD_BYTES - 1) & ~(size_t)(WORD_BYTES - 1);
        return function;
    }
    return NULL;
}

static int compare_ranges(const void *left, const void *right)
{
    const struct counters_range *a = left, *b = right;
    return a->first < b->first ? -1 : a->first > b->first;
}

/* Sorts and joins ranges that touch. */
static uint32_t join_ranges(struct counters_range *ranges, uint32_t n)
{
    uint32_t n_joined = 0;
    qsort(ranges, n, sizeof *ranges, compare_ranges);
    for (uint32_t i = 0; i < n; i++) {
        struct counters_range *last = n_joined ? &ranges[n_joined - 1] : NULL;
        if (last && ranges[i].first <= last->first + last->n) {
            uint32_t end = ranges[i].first + ranges[i].n;
            if (end > last->first + last->n)
                last->n = end - last->first;
        } else {
            ranges[n_joined++] = ranges[i];
        }
    }
    return n_joined;
}

static void *own_pages(size_t size_bytes)
{
    void *at = mmap(NULL, size_bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    return at == MAP_FAILED ? NULL : at;
}

static bool is_chosen(struct counters_process *process, const struct image *strings,
                      const struct points_function *function)
{
    if (!process->only || !*process->only)
        return true;
    uint64_t chosen = only_choose(process->only, string_at(strings, function->name),
                                  string_at(strings, function->source_name), string_at(strings, function->file));
    process->only_used |= chosen;
    return chosen != 0;
}

static void add_range(struct counters_set *set, uint64_t first, uint32_t n)
{
    if (n)
        set->ranges[set->n_ranges++] = (struct counters_range){(uint32_t)first, n};
}

/* Of the chosen functions, not yet in order; the allocation points' counters are a function's last ones. Returns the
 * link-time address of the mark (0 = none). `tls_words` bounds what a damaged table may claim. */
static uint64_t read_ranges(struct counters_process *process, const struct tables *tables, uint64_t tls_words,
                            struct counters_set sets[COUNTERS_KINDS])
{
    const struct points_function *function;
    uint64_t mark = 0;
    for (size_t offset = 0; (function = next_function(&tables->points, &offset));) {
        uint64_t first = function->tls_offset_bytes / WORD_BYTES;
        if (function->flags & POINTS_F_UNIT) {
            mark = function->address;
        } else if (first + function->n_counters <= tls_words && function->n_allocs <= function->n_counters &&
                   is_chosen(process, &tables->strings, function)) {
            uint32_t n_edges = function->n_counters - function->n_allocs;
            add_range(&sets[COUNTERS_EXECUTIONS], first, n_edges);
            add_range(&sets[COUNTERS_BYTES], first + n_edges, function->n_allocs);
        }
    }
    return mark;
}

/* Fills in sets and sums, and the mark's address; false when there is nothing to take. */
static bool read_tables(struct counters_process *process, const struct tables *tables, uint64_t tls_words,
                        struct counters_module *module, uint64_t *mark)
{
    uint32_t n = 0;
    for (size_t offset = 0; next_function(&tables->points, &offset);)
        n++;
    process->has_tables |= n > 0;
    struct counters_range *ranges = n ? own_pages(COUNTERS_KINDS * n * sizeof *ranges) : NULL;
    if (!ranges)
        return false;
    for (int kind = 0; kind < COUNTERS_KINDS; kind++)
        module->sets[kind].ranges = ranges + (size_t)kind * n;
    *mark = read_ranges(process, tables, tls_words, module->sets);
    for (int kind = 0; kind < COUNTERS_KINDS; kind++) {
        struct counters_set *set = &module->sets[kind];
        set->n_ranges = join_ranges(set->ranges, set->n_ranges);
        for (uint32_t i = 0; i < set->n_ranges; i++)
            set->n_counters += set->ranges[i].n;
        const struct counters_range *last = set->n_ranges ? &set->ranges[set->n_ranges - 1] : NULL;
        if (last && last->first + last->n > module->n_points)
            module->n_points = last->first + last->n;
    }
    return module->n_points > 0;
}

static uint64_t tls_bytes(const struct dl_phdr_info *info)
{
    for (int i = 0; i < info->dlpi_phnum; i++)
        if (info->dlpi_phdr[i].p_type == PT_TLS)
            return info->dlpi_phdr[i].p_memsz;
    return 0;
}

/* The address lies in a writable segment of the module. */
static bool is_writable(const struct dl_phdr_info *info, uint64_t address)
{
    for (int i = 0; i < info->dlpi_phnum; i++) {
        const ElfW(Phdr) *p = &info->dlpi_phdr[i];
        if (p->p_type == PT_LOAD && (p->p_flags & PF_W) && address >= p->p_vaddr &&
            address + WORD_BYTES <= p->p_vaddr + p->p_memsz)
            return address % WORD_BYTES == 0;
    }
    return false;
}

struct scan {
    struct counters_process *process;
    bool is_first, is_new;
    bool is_there[COUNTERS_MODULES];
};

static struct counters_module *find_known(struct scan *scan, const struct dl_phdr_info *info)
{
    struct counters_process *process = scan->process;
    for (uint32_t i = 0; i < process->n_modules; i++) {
        struct counters_module *module = &process->modules[i];
        if (module->bias != info->dlpi_addr || module->tls_module != info->dlpi_tls_modid)
            continue;
        uint64_t mark = (uint64_t)(uintptr_t)module->mark;
        if (mark && (!is_writable(info, mark - info->dlpi_addr) || !*module->mark))
            continue; /* another load of the same file at the same place */
        scan->is_there[i] = true;
        return module;
    }
    return NULL;
}

static int scan_one(struct dl_phdr_info *info, size_t size, void *context)
{
    struct scan *scan = context;
    struct counters_process *process = scan->process;
    const char *path = scan->is_first ? "/proc/self/exe" : info->dlpi_name;
    (void)size;
    scan->is_first = false;
    process->n_adds = info->dlpi_adds;
    process->n_subs = info->dlpi_subs;
    if (!info->dlpi_tls_modid || !path || !*path || find_known(scan, info) || process->n_modules == COUNTERS_MODULES)
        return 0;
    struct image image = image_open(path);
    struct tables tables = find_tables(&image);
    struct counters_module module = {.bias = info->dlpi_addr, .tls_module = info->dlpi_tls_modid};
    uint64_t mark = 0;
    if (tables.points.at && read_tables(process, &tables, tls_bytes(info) / WORD_BYTES, &module, &mark)) {
        if (is_writable(info, mark)) {
            module.mark = (uint64_t *)(uintptr_t)(info->dlpi_addr + mark);
            *module.mark = 1;
        }
        module.id = process->n_modules + 1;
        scan->is_there[process->n_modules] = scan->is_new = true;
        process->modules[process->n_modules++] = module;
    }
    image_close(&image);
    return 0;
}

static int look_at_loader(struct dl_phdr_info *info, size_t size, void *context)
{
    unsigned long long *counts = context;
    (void)size;
    counts[0] = info->dlpi_adds;
    counts[1] = info->dlpi_subs;
    return 1;
}

bool counters_scan(struct counters_process *process)
{
    unsigned long long counts[2] = {0, 0};
    dl_iterate_phdr(look_at_loader, counts);
    if (process->was_scanned && counts[0] == process->n_adds && counts[1] == process->n_subs)
        return false;
    int saved = errno;
    struct scan scan = {.process = process, .is_first = true};
    dl_iterate_phdr(scan_one, &scan);
    for (uint32_t i = 0; i < process->n_modules; i++)
        if (!scan.is_there[i])
            process->modules[i].tls_module = 0;
    process->was_scanned = true;
    errno = saved;
    return scan.is_new;
}

/* What the compiler passes to the loader for a thread-local variable; the block is made when it is not there yet. */
struct tls_place {
    unsigned long module, offset;
};
extern void *__tls_get_addr(struct tls_place *place);

static size_t copy_bytes(const struct counters_module *module, int kind)
{
    return (size_t)module->sets[kind].n_counters * WORD_BYTES;
}

static bool make_copies(const struct counters_module *module, struct counters_view *view)
{
    bool has_copies = true;
    for (int kind = 0; kind < COUNTERS_KINDS; kind++) {
        if (!view->copy[kind] && copy_bytes(module, kind))
            view->copy[kind] = own_pages(copy_bytes(module, kind));
        has_copies &= view->copy[kind] || !copy_bytes(module, kind);
    }
    return has_copies;
}

static void attach_one(const struct counters_module *module, struct counters_view *view)
{
    struct tls_place place = {module->tls_module, 0};
    view->live = make_copies(module, view) && module->tls_module ? __tls_get_addr(&place) : NULL;
}

void counters_attach(const struct counters_process *process, uint32_t n_modules, struct counters_thread *thread)
{
    if (thread->n_modules == n_modules && thread->n_subs == process->n_subs)
        return;
    int saved = errno;
    for (uint32_t i = 0; i < n_modules; i++)
        attach_one(&process->modules[i], &thread->views[i]);
    thread->n_modules = n_modules;
    thread->n_subs = process->n_subs;
    errno = saved;
}

/* True when STEP words are the same. */
static inline bool same_step(const uint64_t *live, const uint64_t *copy)
{
    uint64_t difference = 0;
    for (int i = 0; i < STEP; i++)
        difference |= live[i] ^ copy[i];
    return difference == 0;
}

/* The first of words [word, n) that may differ, a multiple of STEP behind `word`. */
static inline __attribute__((always_inline)) uint32_t skip_same(const uint64_t *live, const uint64_t *copy,
                                                                uint32_t word, uint32_t n)
{
    while (word + STEP <= n && same_step(live + word, copy + word))
        word += STEP;
    return word;
}

#ifdef __x86_64__
static __attribute__((target("avx2"), noinline)) uint32_t skip_same_avx2(const uint64_t *live, const uint64_t *copy,
                                                                         uint32_t word, uint32_t n)
{
    typedef long long vector __attribute__((vector_size(32), aligned(8), may_alias));
    while (word + 2 * STEP <= n) {
        const vector *a = (const void *)(live + word), *b = (const void *)(copy + word);
        vector difference = (a[0] ^ b[0]) | (a[1] ^ b[1]) | (a[2] ^ b[2]) | (a[3] ^ b[3]);
        if (!__builtin_ia32_ptestz256(difference, difference))
            break;
        word += 2 * STEP;
    }
    return skip_same(live, copy, word, n);
}
#endif

static uint32_t skip_same_words(const uint64_t *live, const uint64_t *copy, uint32_t word, uint32_t n)
{
#ifdef __x86_64__
    if (__builtin_cpu_supports("avx2"))
        return skip_same_avx2(live, copy, word, n);
#endif
    return skip_same(live, copy, word, n);
}

uint32_t counters_take(const struct counters_module *module, struct counters_view *view, enum counters_kind kind,
                       struct counters_cursor *cursor, struct counters_bin *bins, uint32_t n_bins)
{
    const struct counters_set *set = &module->sets[kind];
    uint32_t n = 0;
    for (; cursor->range < set->n_ranges; cursor->at += set->ranges[cursor->range++].n, cursor->word = 0) {
        const struct counters_range *range = &set->ranges[cursor->range];
        const uint64_t *live = view->live + range->first;
        uint64_t *copy = view->copy[kind] + cursor->at;
        for (;;) {
            uint32_t word = skip_same_words(live, copy, cursor->word, range->n);
            uint32_t end = word + STEP < range->n ? word + STEP : range->n;
            for (cursor->word = word; cursor->word < end; cursor->word++) {
                uint64_t now = live[cursor->word];
                if (now == copy[cursor->word])
                    continue;
                if (n == n_bins)
                    return n;
                /* Less than before: the module was unloaded and loaded again without being noticed. */
                uint64_t before = now < copy[cursor->word] ? 0 : copy[cursor->word];
                bins[n++] = (struct counters_bin){range->first + cursor->word, now - before};
                copy[cursor->word] = now;
            }
            if (cursor->word == range->n)
                break;
        }
    }
    return n;
}

static void move_counts(const struct counters_module *module, struct counters_view *view, enum counters_kind kind,
                        uint64_t *words)
{
    struct counters_bin bins[64];
    const uint32_t n_bins = sizeof bins / sizeof *bins;
    struct counters_cursor cursor = {0};
    uint32_t n = n_bins;
    while (n == n_bins) {
        n = counters_take(module, view, kind, &cursor, bins, n_bins);
        for (uint32_t i = 0; i < n; i++)
            words[bins[i].point] += bins[i].value;
    }
}

static void leave_one(const struct counters_module *module, struct counters_view *view, struct counters_view *rest)
{
    if (!rest->live && make_copies(module, rest))
        rest->live = own_pages((size_t)module->n_points * WORD_BYTES);
    for (int kind = 0; kind < COUNTERS_KINDS; kind++) {
        if (view->live && rest->live)
            move_counts(module, view, (enum counters_kind)kind, (uint64_t *)(uintptr_t)rest->live);
        if (view->copy[kind])
            memset(view->copy[kind], 0, copy_bytes(module, kind));
    }
}

void counters_leave(const struct counters_process *process, uint32_t n_modules, struct counters_thread *thread,
                    struct counters_thread *rest)
{
    int saved = errno;
    counters_attach(process, n_modules, thread);
    for (uint32_t i = 0; i < n_modules; i++)
        leave_one(&process->modules[i], &thread->views[i], &rest->views[i]);
    thread->n_modules = 0;
    rest->n_modules = n_modules;
    errno = saved;
}
