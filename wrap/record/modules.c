/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Which files are mapped where: one WW_MODULE for each loaded object, with its build id. A scan is one walk over the
 * loader's list. It compares with what was written before, so that it can be repeated whenever the loader's counters
 * changed.
 */
#include "wrap/record/modules.h"
#include "wrap/record/process/loader.h"
#include "wrap/record/recorder.h"
#include <elf.h>
#include <link.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum { MAX_MODULES = 4096, PATH_BYTES = 4096 };

static struct {
    struct {
        uint64_t low, bias;
    } seen[MAX_MODULES];
    unsigned n;
    uint32_t last_id;
    unsigned long long n_adds, n_subs;
} modules;

struct scan {
    struct spool *spool;
    unsigned long long n_adds, n_subs;
    bool is_first;
};

static void find_build_id(const struct dl_phdr_info *info, const ElfW(Phdr) * p, struct ww_module *module)
{
    const char *at = (const char *)(info->dlpi_addr + p->p_vaddr), *end = at + p->p_memsz;
    while ((size_t)(end - at) >= sizeof(ElfW(Nhdr))) {
        const ElfW(Nhdr) *note = (const ElfW(Nhdr) *)(const void *)at;
        size_t name_bytes = (note->n_namesz + 3u) & ~3u, text_bytes = (note->n_descsz + 3u) & ~3u;
        const char *name = at + sizeof *note;
        if (name_bytes > (size_t)(end - name) || text_bytes > (size_t)(end - name) - name_bytes)
            return;
        if (note->n_type == NT_GNU_BUILD_ID && note->n_namesz == 4 && memcmp(name, "GNU", 4) == 0 &&
            note->n_descsz <= sizeof module->build_id) {
            memcpy(module->build_id, name + name_bytes, note->n_descsz);
            module->build_id_bytes = note->n_descsz;
            return;
        }
        at = name + name_bytes + text_bytes;
    }
}

static struct ww_module describe(const struct dl_phdr_info *info)
{
    struct ww_module module = {.low = UINT64_MAX, .bias = info->dlpi_addr};
    for (int i = 0; i < info->dlpi_phnum; i++) {
        const ElfW(Phdr) *p = &info->dlpi_phdr[i];
        uint64_t low = info->dlpi_addr + p->p_vaddr, high = low + p->p_memsz;
        if (p->p_type == PT_LOAD) {
            module.low = low < module.low ? low : module.low;
            module.high = high > module.high ? high : module.high;
        } else if (p->p_type == PT_NOTE && module.build_id_bytes == 0)
            find_build_id(info, p, &module);
    }
    return module;
}

static void write_module(struct spool *spool, struct ww_module *module, const char *path, size_t path_bytes)
{
    unsigned units = (unsigned)((sizeof *module + path_bytes + 1 + WW_UNIT - 1) / WW_UNIT);
    struct ww_module *record = spool_take_definition(spool, units);
    if (!record)
        return;
    module->id = ++modules.last_id;
    module->time_ns = recorder_now_ns();
    module->path_bytes = (uint32_t)path_bytes;
    memcpy(&record->id, &module->id, sizeof *module - offsetof(struct ww_module, id));
    memcpy(record->path, path, path_bytes);
    spool_commit(record, WW_MODULE, (uint16_t)units);
}

static int scan_one(struct dl_phdr_info *info, size_t size, void *context)
{
    struct scan *scan = context;
    char path[PATH_BYTES];
    (void)size;
    bool is_program = scan->is_first;
    scan->is_first = false;
    scan->n_adds = info->dlpi_adds;
    scan->n_subs = info->dlpi_subs;
    struct ww_module module = describe(info);
    if (module.high == 0 || modules.n == MAX_MODULES)
        return 0;
    for (unsigned i = 0; i < modules.n; i++)
        if (modules.seen[i].low == module.low && modules.seen[i].bias == module.bias)
            return 0;
    /* The program itself has no name in the list. */
    ssize_t n = -1;
    if (is_program)
        n = readlink("/proc/self/exe", path, PATH_BYTES - 1);
    if (n < 0)
        n = snprintf(path, PATH_BYTES, "%s", info->dlpi_name ? info->dlpi_name : "");
    n = n < PATH_BYTES ? n : PATH_BYTES - 1;
    path[n] = '\0';
    size_t path_bytes = (size_t)n;
    modules.seen[modules.n].low = module.low;
    modules.seen[modules.n++].bias = module.bias;
    write_module(scan->spool, &module, path, path_bytes);
    return 0;
}

bool modules_scan(struct spool *spool)
{
    struct scan scan = {.spool = spool, .is_first = true};
    struct loader_counts now = loader_count();
    if (now.n_adds == modules.n_adds && now.n_subs == modules.n_subs)
        return false;
    bool unloaded = now.n_subs != modules.n_subs;
    /* Another file may now stand where a known one was: all are written again, the later record counts from its time
     * on. */
    if (unloaded)
        modules.n = 0;
    dl_iterate_phdr(scan_one, &scan);
    modules.n_adds = scan.n_adds;
    modules.n_subs = scan.n_subs;
    return unloaded;
}
