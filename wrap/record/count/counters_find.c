/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Finding the counters: the tables of functions in the files of the loaded modules (wrap/points.h), of which the
 * chosen ones' counters become ranges. Files are read where they lie; what a damaged table claims is bounded by the
 * module's thread-local block.
 */
#include "wrap/only.h"
#include "wrap/points.h"
#include "wrap/record/count/counters.h"
#include "wrap/record/process/loader.h"
#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <link.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

enum { WORD_BYTES = sizeof(uint64_t) };

/* A file mapped for reading, or a section of it. */
struct image {
    const unsigned char *at;
    size_t bytes;
    uint64_t address; /* of a section */
};

static struct image image_open(const char *path)
{
    struct image image = {0};
    struct stat status;
    int fd = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
    if (fd < 0)
        return image;
    if (fstat(fd, &status) == 0 && status.st_size > 0) {
        void *at = mmap(NULL, (size_t)status.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
        if (at != MAP_FAILED)
            image = (struct image){at, (size_t)status.st_size, 0};
    }
    close(fd);
    return image;
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
            return (struct image){contents, headers[i].sh_size, headers[i].sh_addr};
    }
    return (struct image){0};
}

/* Facts about counters from a module's file. */
struct tables {
    struct image points, strings;
    struct points_offsets offsets;
};

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
        if (function->magic != POINTS_MAGIC || !points_version_is_known(function->version) ||
            function->size_bytes < sizeof *function || function->size_bytes > points->bytes - *offset)
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

/* Some chosen function's calls are counted by its callers. */
static bool needs_callers(struct counters_process *process, const struct tables *tables)
{
    const struct points_function *function;
    for (size_t offset = 0; (function = next_function(&tables->points, &offset));)
        if (function->flags & POINTS_F_CALLED && is_chosen(process, &tables->strings, function))
            return true;
    return false;
}

static void add_range(struct counters_set *set, uint64_t first, uint32_t n)
{
    if (n)
        set->ranges[set->n_ranges++] = (struct counters_range){(uint32_t)first, n};
}

/* Of the chosen functions and of those that count calls of them, not yet in order. The allocation points' counters are
 * a function's last ones. Returns the link-time address of the mark (0 = none). `tls_words` bounds what a damaged table
 * may claim. */
static uint64_t read_ranges(struct counters_process *process, const struct tables *tables, uint64_t tls_words,
                            struct counters_set sets[COUNTERS_KINDS])
{
    const struct points_function *function;
    uint64_t mark = 0;
    bool takes_callers = needs_callers(process, tables);
    for (size_t offset = 0; (function = next_function(&tables->points, &offset));) {
        uint64_t first = points_first(function, &tables->offsets);
        if (function->flags & POINTS_F_UNIT) {
            mark = function->address;
        } else if (first + function->n_counters <= tls_words && function->n_allocs <= function->n_counters) {
            uint32_t n_edges = function->n_counters - function->n_allocs;
            bool is_asked_for = is_chosen(process, &tables->strings, function);
            if (is_asked_for || (takes_callers && function->flags & POINTS_F_CALLS))
                add_range(&sets[COUNTERS_EXECUTIONS], first, n_edges);
            if (is_asked_for)
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
    struct counters_range *ranges = n ? counters_pages(COUNTERS_KINDS * n * sizeof *ranges) : NULL;
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

/* The address of the module. Returns the bytes of its thread-local block. */
static uint64_t find_segments(const struct dl_phdr_info *info, struct counters_module *module)
{
    uint64_t tls_bytes = 0;
    module->low = UINT64_MAX;
    for (int i = 0; i < info->dlpi_phnum; i++) {
        const ElfW(Phdr) *p = &info->dlpi_phdr[i];
        uint64_t at = info->dlpi_addr + p->p_vaddr;
        if (p->p_type == PT_TLS)
            tls_bytes = p->p_memsz;
        if (p->p_type != PT_LOAD)
            continue;
        module->low = at < module->low ? at : module->low;
        module->high = at + p->p_memsz > module->high ? at + p->p_memsz : module->high;
    }
    return tls_bytes;
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
    struct image offsets = find_section(&image, POINTS_OFFSETS, sizeof POINTS_OFFSETS);
    struct tables tables = {find_section(&image, POINTS_SECTION, sizeof POINTS_SECTION),
                            find_section(&image, POINTS_STRINGS, sizeof POINTS_STRINGS),
                            {offsets.at, offsets.address, offsets.bytes}};
    struct counters_module module = {.bias = info->dlpi_addr, .tls_module = info->dlpi_tls_modid};
    uint64_t mark = 0, tls_bytes = find_segments(info, &module);
    if (tables.points.at && read_tables(process, &tables, tls_bytes / WORD_BYTES, &module, &mark)) {
        if (is_writable(info, mark)) {
            module.mark = (uint64_t *)(uintptr_t)(info->dlpi_addr + mark);
            *module.mark = 1;
        }
        module.id = process->n_modules + 1;
        scan->is_there[process->n_modules] = scan->is_new = true;
        process->modules[process->n_modules++] = module;
    }
    if (image.at)
        munmap((void *)(uintptr_t)image.at, image.bytes);
    return 0;
}

bool counters_scan(struct counters_process *process)
{
    struct loader_counts now = loader_count();
    if (process->was_scanned && now.n_adds == process->n_adds && now.n_subs == process->n_subs)
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
