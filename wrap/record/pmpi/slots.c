/* SPDX-License-Identifier: BSD-3-Clause */
#include "wrap/record/pmpi/slots.h"
#include <elf.h>
#include <link.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#if defined(__x86_64__)
enum { JUMP_SLOT = R_X86_64_JUMP_SLOT, GLOBAL_DATA = R_X86_64_GLOB_DAT };
#elif defined(__aarch64__)
enum { JUMP_SLOT = R_AARCH64_JUMP_SLOT, GLOBAL_DATA = R_AARCH64_GLOB_DAT };
#endif

struct object {
    const char *path;
    uintptr_t base;
    const ElfW(Sym) * symbols;
    const char *names;
    const ElfW(Rela) * plt, *rela;
    size_t plt_bytes, rela_bytes;
};

/* The dynamic linker has made these absolute, except in the vdso. */
static uintptr_t address_of(const struct object *object, const ElfW(Dyn) * entry)
{
    return entry->d_un.d_ptr < object->base ? object->base + entry->d_un.d_ptr : entry->d_un.d_ptr;
}

static void read_dynamic(struct object *object, const ElfW(Dyn) * entry)
{
    for (; entry->d_tag != DT_NULL; entry++) {
        switch (entry->d_tag) {
        case DT_SYMTAB:
            object->symbols = (const void *)address_of(object, entry);
            break;
        case DT_STRTAB:
            object->names = (const void *)address_of(object, entry);
            break;
        case DT_JMPREL:
            object->plt = (const void *)address_of(object, entry);
            break;
        case DT_RELA:
            object->rela = (const void *)address_of(object, entry);
            break;
        case DT_PLTRELSZ:
            object->plt_bytes = entry->d_un.d_val;
            break;
        case DT_RELASZ:
            object->rela_bytes = entry->d_un.d_val;
            break;
        }
    }
}

struct chooser {
    void *(*choose)(const struct slot *slot, void *context);
    void *context;
};

/* A slot that was bound for good lies in a page that can only be read. */
static void store(uintptr_t *at, uintptr_t target)
{
    uintptr_t page_bytes = (uintptr_t)sysconf(_SC_PAGESIZE);
    void *page = (void *)((uintptr_t)at & ~(page_bytes - 1));
    if (*at != target && mprotect(page, page_bytes, PROT_READ | PROT_WRITE) == 0)
        __atomic_store_n(at, target, __ATOMIC_RELEASE);
}

static void rewrite_table(const struct object *object, const ElfW(Rela) * table, size_t bytes,
                          const struct chooser *chooser)
{
    for (size_t i = 0; table && i < bytes / sizeof *table; i++) {
        int type = (int)ELF64_R_TYPE(table[i].r_info);
        const ElfW(Sym) *symbol = &object->symbols[ELF64_R_SYM(table[i].r_info)];
        if ((type != JUMP_SLOT && type != GLOBAL_DATA) || ELF64_ST_TYPE(symbol->st_info) == STT_OBJECT)
            continue;
        uintptr_t *at = (uintptr_t *)(object->base + table[i].r_offset);
        struct slot slot = {object->path, object->names + symbol->st_name, (void *)*at};
        void *target = chooser->choose(&slot, chooser->context);
        if (target)
            store(at, (uintptr_t)target);
    }
}

static int rewrite_object(struct dl_phdr_info *info, size_t size, void *context)
{
    (void)size;
    struct object object = {.path = info->dlpi_name, .base = info->dlpi_addr};
    for (int i = 0; i < info->dlpi_phnum; i++)
        if (info->dlpi_phdr[i].p_type == PT_DYNAMIC)
            read_dynamic(&object, (const void *)(info->dlpi_addr + info->dlpi_phdr[i].p_vaddr));
    if (object.symbols && object.names) {
        rewrite_table(&object, object.plt, object.plt_bytes, context);
        rewrite_table(&object, object.rela, object.rela_bytes, context);
    }
    return 0;
}

void slots_rewrite(void *(*choose)(const struct slot *slot, void *context), void *context)
{
    struct chooser chooser = {choose, context};
    dl_iterate_phdr(rewrite_object, &chooser);
}
