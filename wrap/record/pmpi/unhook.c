/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Taking this library out of the way.
 *
 * Preloaded into a program of the other MPI, even a wrapper that only passes its arguments on is wrong: a handle is a
 * pointer there and an int here. Symbols cannot be withdrawn, but the slots through which objects call them can be
 * rewritten: every relocated slot that names a symbol of ours gets the next definition behind us.
 */
#include "wrap/record/pmpi/unhook.h"
#include <dlfcn.h>
#include <elf.h>
#include <link.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#if defined(__x86_64__)
enum { JUMP_SLOT = R_X86_64_JUMP_SLOT, GLOBAL_DATA = R_X86_64_GLOB_DAT };
#elif defined(__aarch64__)
enum { JUMP_SLOT = R_AARCH64_JUMP_SLOT, GLOBAL_DATA = R_AARCH64_GLOB_DAT };
#else
enum { JUMP_SLOT = -1, GLOBAL_DATA = -1 };
#endif

struct object {
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

static bool names_mpi(const char *name)
{
    return strncmp(name, "MPI_", 4) == 0 || strncmp(name, "mpi_", 4) == 0;
}

static void rewrite(uintptr_t *slot, void *target)
{
    uintptr_t page_bytes = (uintptr_t)sysconf(_SC_PAGESIZE);
    void *page = (void *)((uintptr_t)slot & ~(page_bytes - 1));
    if (*slot != (uintptr_t)target && mprotect(page, page_bytes, PROT_READ | PROT_WRITE) == 0)
        __atomic_store_n(slot, (uintptr_t)target, __ATOMIC_RELEASE);
}

static void rewrite_table(const struct object *object, const ElfW(Rela) * table, size_t bytes)
{
    for (size_t i = 0; table && i < bytes / sizeof *table; i++) {
        int type = (int)ELF64_R_TYPE(table[i].r_info);
        const ElfW(Sym) *symbol = &object->symbols[ELF64_R_SYM(table[i].r_info)];
        if ((type != JUMP_SLOT && type != GLOBAL_DATA) || ELF64_ST_TYPE(symbol->st_info) == STT_OBJECT)
            continue;
        const char *name = object->names + symbol->st_name;
        void *next = names_mpi(name) ? dlsym(RTLD_NEXT, name) : NULL;
        if (next)
            rewrite((uintptr_t *)(object->base + table[i].r_offset), next);
    }
}

static int unhook_object(struct dl_phdr_info *info, size_t size, void *context)
{
    (void)size;
    (void)context;
    struct object object = {.base = info->dlpi_addr};
    for (int i = 0; i < info->dlpi_phnum; i++)
        if (info->dlpi_phdr[i].p_type == PT_DYNAMIC)
            read_dynamic(&object, (const void *)(info->dlpi_addr + info->dlpi_phdr[i].p_vaddr));
    if (object.symbols && object.names) {
        rewrite_table(&object, object.plt, object.plt_bytes);
        rewrite_table(&object, object.rela, object.rela_bytes);
    }
    return 0;
}

void unhook(void)
{
    dl_iterate_phdr(unhook_object, NULL);
}
