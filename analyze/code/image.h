/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * An executable file or shared library as it was linked: its bytes by address, its symbols, the names behind its
 * procedure linkage table, its debug information wherever that lies. All addresses are link-time addresses of the file
 * itself, also where the symbols or the debug information come from another file.
 */
#pragma once
#include "wrap/base/containers.h"
#include <elfutils/libdw.h>
#include <elfutils/libdwfl.h>
#include <stdbool.h>
#include <stdint.h>

struct image_section {
    uint64_t lo, hi;
    const uint8_t *bytes;  /* hi - lo of them; NULL for .bss */
    bool is_code, is_stub; /* stub: .plt and its kin */
};

struct image {
    Dwfl *dwfl;
    Dwfl_Module *dwfl_module;
    Elf *elf;
    Dwarf *dwarf;                       /* NULL: no debug information */
    uint64_t dwarf_bias;                /* image address = address in the debug information + dwarf_bias */
    int machine;                        /* EM_X86_64 ... */
    VEC(struct image_section) sections; /* by rising address, not overlapping */
    struct map slots;                   /* address of a GOT slot -> name of the symbol it holds (a char *) */
};

/* UNREAD: the system failed to open or read the file, errno says why (plain_is_fault). Of debug information in other
 * files plain_fault tells. */
enum image_status { IMAGE_OPEN, IMAGE_MISSING, IMAGE_CHANGED, IMAGE_UNREAD };
/* build_id may be NULL: then every file is accepted. */
enum image_status image_open(struct image *image, const char *path, const uint8_t *build_id, size_t build_id_bytes);
void image_close(struct image *image);
/* libdw opens the file that has the rest of a unit by its name, in the folder of the compiler or beside the image.
 * False for one that expands beyond reason. `folder` may be NULL. */
bool image_split_is_safe(const struct image *image, const char *folder, const char *name);

const struct image_section *image_section_at(const struct image *image, uint64_t address);
/* n_bytes at this address; NULL when they are not all in one section. */
const uint8_t *image_bytes(const struct image *image, uint64_t address, size_t n_bytes);

/* A pointer in the data, and where in this image it will point to. */
struct image_pointer {
    uint64_t at, to;
};
typedef VEC(struct image_pointer) image_pointers;
/* All that the loader relocates with the image, by rising address. */
void image_read_pointers(const struct image *image, image_pointers *pointers);
