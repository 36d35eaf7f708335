/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Bounds come from the unwind tables where an entry exists, because they are exact and survive strip. Else from the
 * symbol table (size, or up to the next routine). Names come from symbols that start where a routine starts; of several
 * names a global one wins, then the first by alphabet, so that the choice does not depend on the order in the file.
 */
#include "analyze/code/routines.h"
#include "analyze/code/demangle.h"
#include "wrap/base/keys.h"
#include <dwarf.h>
#include <gelf.h>
#include <stdlib.h>
#include <string.h>

struct candidate {
    uint64_t lo, hi; /* hi == lo: size unknown */
    uint64_t lsda;
    const char *name;
    int rank; /* smaller is better: unwind entry, then global, weak, local symbol */
};
typedef VEC(struct candidate) candidates;

static int candidate_order(const void *a, const void *b)
{
    const struct candidate *x = a, *y = b;
    int by_name = x->name != NULL && y->name != NULL ? strcmp(x->name, y->name) : 0;
    return order_of(x->lo, y->lo) ?: x->rank - y->rank ?: by_name ?: order_of(y->hi, x->hi);
}

static bool is_code_symbol(const struct image *image, const GElf_Sym *symbol, uint64_t address)
{
    int type = GELF_ST_TYPE(symbol->st_info);
    if (symbol->st_shndx == SHN_UNDEF || (type != STT_FUNC && type != STT_GNU_IFUNC && type != STT_NOTYPE))
        return false;
    const struct image_section *section = image_section_at(image, address);
    if (section == NULL || !section->is_code || section->is_stub)
        return false;
    return type != STT_NOTYPE || symbol->st_size > 0;
}

static void add_symbols(const struct image *image, candidates *list)
{
    int n = dwfl_module_getsymtab(image->dwfl_module);
    for (int i = 1; i < n; i++) {
        GElf_Sym symbol;
        GElf_Addr address = 0;
        const char *name = dwfl_module_getsym_info(image->dwfl_module, i, &symbol, &address, NULL, NULL, NULL);
        if (name == NULL || name[0] == 0 || !is_code_symbol(image, &symbol, address))
            continue;
        int binding = GELF_ST_BIND(symbol.st_info);
        uint64_t size = symbol.st_size;
        *vec_push(list) = (struct candidate){
            .lo = address,
            .hi = address + size >= address ? address + size : address,
            .name = name,
            .rank = binding == STB_GLOBAL ? 1
                    : binding == STB_WEAK ? 2
                                          : 3,
        };
    }
}

/* Makes one routine of the candidates that share an entry point. The first bounds it, the first symbol names it. */
static struct routine merge(const struct candidate *at, size_t n)
{
    struct routine routine = {.lo = at[0].lo, .hi = at[0].hi, .lsda = at[0].lsda};
    for (size_t i = 0; i < n; i++) {
        if (routine.name == NULL)
            routine.name = at[i].name;
        if (routine.hi == routine.lo)
            routine.hi = at[i].hi;
    }
    const char *cold = routine.name != NULL ? strstr(routine.name, ".cold") : NULL;
    routine.is_cold = cold != NULL && (cold[5] == 0 || cold[5] == '.');
    return routine;
}

typedef VEC(struct eh_routine) eh_routines;
static void read_unwind_tables(const struct image *image, eh_routines *routines); /* below */

struct routines routines_read(const struct image *image, struct arena *arena)
{
    candidates list = {0};
    eh_routines entries = {0};
    read_unwind_tables(image, &entries);
    for (size_t i = 0; i < entries.n; i++) {
        const struct image_section *section = image_section_at(image, entries.at[i].lo);
        if (section != NULL && section->is_code && !section->is_stub)
            *vec_push(&list) = (struct candidate){
                .lo = entries.at[i].lo, .hi = entries.at[i].hi, .lsda = entries.at[i].lsda, .rank = 0};
    }
    vec_release(&entries);
    add_symbols(image, &list);
    vec_sort(&list, candidate_order);
    struct routines routines = {.at = arena_array(arena, struct routine, list.n + 1)};
    for (size_t i = 0, n = 0; i < list.n; i += n) {
        for (n = 1; i + n < list.n && list.at[i + n].lo == list.at[i].lo;)
            n++;
        struct routine routine = merge(list.at + i, n);
        /* A symbol inside the bounds of the routine before it is an inner label of hand-written code. */
        bool is_inner = routines.n > 0 && routine.lo < routines.at[routines.n - 1].hi && list.at[i].rank != 0;
        if (!is_inner)
            routines.at[routines.n++] = routine;
    }
    for (uint32_t i = 0; i < routines.n; i++) {
        struct routine *routine = &routines.at[i];
        uint64_t limit = image_section_at(image, routine->lo)->hi;
        if (i + 1 < routines.n && routines.at[i + 1].lo < limit)
            limit = routines.at[i + 1].lo;
        if (routine->hi == routine->lo || routine->hi > limit)
            routine->hi = limit;
    }
    vec_release(&list);
    return routines;
}

uint32_t routines_find(const struct routines *routines, uint64_t address)
{
    uint32_t lo = 0;
    bisect(lo, routines->n, routines->at[lo].hi <= address);
    return lo < routines->n && routines->at[lo].lo <= address ? lo : ROUTINE_NONE;
}

/*
 * Reads the unwind tables that every routine has, whether the file is stripped or not. libdw splits .eh_frame into its
 * entries. The few encoded fields that it leaves alone (start, length, language-specific data) are decoded here, as is
 * the call-site table of .gcc_except_table: format as in the LSB core specification, "Exception Frames".
 */

/* Bytes being read; `address` is that of the next one. A read past the end sets is_bad and gives 0. */
struct cursor {
    const uint8_t *at, *end;
    uint64_t address;
    bool is_bad;
};

static uint64_t read_fixed(struct cursor *c, unsigned n_bytes)
{
    uint64_t value = 0;
    if ((size_t)(c->end - c->at) < n_bytes) {
        c->is_bad = true;
        return 0;
    }
    memcpy(&value, c->at, n_bytes);
    c->at += n_bytes;
    c->address += n_bytes;
    return value;
}

static uint64_t read_leb(struct cursor *c, bool is_signed)
{
    uint64_t value = 0;
    unsigned shift = 0;
    uint8_t byte = 0x80;
    while (byte & 0x80) {
        byte = (uint8_t)read_fixed(c, 1);
        if (c->is_bad)
            return 0;
        if (shift < 64)
            value |= (uint64_t)(byte & 0x7f) << shift;
        shift += 7;
    }
    if (is_signed && shift < 64 && (byte & 0x40))
        value |= ~0ull << shift;
    return value;
}

static uint64_t read_format(struct cursor *c, uint8_t encoding)
{
    switch (encoding & 0x0f) {
    case DW_EH_PE_absptr:
    case DW_EH_PE_udata8:
    case DW_EH_PE_sdata8:
        return read_fixed(c, 8);
    case DW_EH_PE_uleb128:
        return read_leb(c, false);
    case DW_EH_PE_sleb128:
        return read_leb(c, true);
    case DW_EH_PE_udata2:
        return read_fixed(c, 2);
    case DW_EH_PE_sdata2:
        return (uint64_t)(int16_t)read_fixed(c, 2);
    case DW_EH_PE_udata4:
        return read_fixed(c, 4);
    case DW_EH_PE_sdata4:
        return (uint64_t)(int32_t)read_fixed(c, 4);
    default:
        c->is_bad = true;
        return 0;
    }
}

static uint64_t read_pointer(struct cursor *c, uint8_t encoding)
{
    if (encoding == DW_EH_PE_omit)
        return 0;
    uint64_t here = c->address;
    uint64_t value = read_format(c, encoding);
    if (value != 0 && (encoding & 0x70) == DW_EH_PE_pcrel)
        value += here;
    return value;
}

/* The encoding of a CIE's fields in its FDEs. */
struct cie {
    uint64_t offset;
    uint8_t pointer, lsda;
    bool has_data, is_known;
};

static struct cie decode_cie(const Dwarf_CIE *entry, uint64_t offset)
{
    struct cie cie = {.offset = offset, .pointer = DW_EH_PE_absptr, .lsda = DW_EH_PE_omit, .is_known = true};
    const char *letter = entry->augmentation;
    struct cursor c = {.at = entry->augmentation_data};
    c.end = c.at != NULL ? c.at + entry->augmentation_data_size : NULL;
    if (letter == NULL || *letter == 0)
        return cie;
    cie.has_data = *letter == 'z';
    cie.is_known = cie.has_data;
    for (letter += cie.has_data; cie.has_data && *letter != 0 && !c.is_bad; letter++) {
        if (*letter == 'R')
            cie.pointer = (uint8_t)read_fixed(&c, 1);
        else if (*letter == 'L')
            cie.lsda = (uint8_t)read_fixed(&c, 1);
        else if (*letter == 'P')
            read_pointer(&c, (uint8_t)read_fixed(&c, 1));
        else if (*letter != 'S' && *letter != 'B')
            break;
    }
    cie.is_known = cie.is_known && !c.is_bad;
    return cie;
}

static void decode_fde(const struct cie *cie, const Dwarf_FDE *entry, const struct image_section *section,
                       eh_routines *routines)
{
    struct cursor c = {.at = entry->start, .end = entry->end};
    c.address = section->lo + (uint64_t)(entry->start - section->bytes);
    uint64_t lo = read_pointer(&c, cie->pointer);
    uint64_t size = read_format(&c, cie->pointer);
    uint64_t lsda = 0;
    if (cie->has_data) {
        read_leb(&c, false);
        lsda = read_pointer(&c, cie->lsda);
    }
    if (!c.is_bad && lo != 0 && size != 0 && lo + size > lo)
        *vec_push(routines) = (struct eh_routine){.lo = lo, .hi = lo + size, .lsda = lsda};
}

static void read_entries(const unsigned char *ident, Elf_Data *data, const struct image_section *section,
                         eh_routines *routines)
{
    struct cie cie = {.offset = UINT64_MAX};
    Dwarf_Off next = 0;
    for (Dwarf_Off offset = 0;; offset = next) {
        Dwarf_CFI_Entry entry;
        int status = dwarf_next_cfi(ident, data, true, offset, &next, &entry);
        if (status > 0 || next <= offset)
            return;
        if (status < 0 || dwarf_cfi_cie_p(&entry))
            continue;
        if (entry.fde.CIE_pointer != cie.offset) {
            Dwarf_CFI_Entry owner;
            Dwarf_Off ignored;
            if (dwarf_next_cfi(ident, data, true, entry.fde.CIE_pointer, &ignored, &owner) != 0 ||
                !dwarf_cfi_cie_p(&owner))
                continue;
            cie = decode_cie(&owner.cie, entry.fde.CIE_pointer);
        }
        if (cie.is_known)
            decode_fde(&cie, &entry.fde, section, routines);
    }
}

static void read_unwind_tables(const struct image *image, eh_routines *routines)
{
    size_t names = 0;
    GElf_Ehdr header;
    if (gelf_getehdr(image->elf, &header) == NULL || elf_getshdrstrndx(image->elf, &names) != 0)
        return;
    for (Elf_Scn *scn = elf_nextscn(image->elf, NULL); scn != NULL; scn = elf_nextscn(image->elf, scn)) {
        GElf_Shdr section_header;
        const char *name = NULL;
        if (gelf_getshdr(scn, &section_header) != NULL)
            name = elf_strptr(image->elf, names, section_header.sh_name);
        if (name == NULL || strcmp(name, ".eh_frame") != 0)
            continue;
        const struct image_section *section = image_section_at(image, section_header.sh_addr);
        Elf_Data *data = elf_rawdata(scn, NULL);
        if (section != NULL && section->bytes != NULL && data != NULL && data->d_buf == section->bytes)
            read_entries(header.e_ident, data, section, routines);
        return;
    }
}

void eh_read_pads(const struct image *image, const struct eh_routine *routine, eh_pads *pads)
{
    const struct image_section *section = routine->lsda != 0 ? image_section_at(image, routine->lsda) : NULL;
    if (section == NULL || section->bytes == NULL)
        return;
    struct cursor c = {.at = section->bytes + (routine->lsda - section->lo), .address = routine->lsda};
    c.end = section->bytes + (section->hi - section->lo);
    uint8_t start_encoding = (uint8_t)read_fixed(&c, 1);
    uint64_t pad_base = start_encoding == DW_EH_PE_omit ? routine->lo : read_pointer(&c, start_encoding);
    if ((uint8_t)read_fixed(&c, 1) != DW_EH_PE_omit)
        read_leb(&c, false);
    uint8_t encoding = (uint8_t)read_fixed(&c, 1);
    uint64_t n_bytes = read_leb(&c, false);
    if (c.is_bad || n_bytes > (uint64_t)(c.end - c.at))
        return;
    for (const uint8_t *end = c.at + n_bytes; c.at < end && !c.is_bad;) {
        uint64_t start = routine->lo + read_format(&c, encoding);
        uint64_t size = read_format(&c, encoding);
        uint64_t pad = read_format(&c, encoding);
        read_leb(&c, false);
        if (!c.is_bad && pad != 0)
            *vec_push(pads) = (struct eh_pad){.lo = start, .hi = start + size, .pad = pad_base + pad};
    }
}

/*
 * Demangles, and then cuts what a reader of a report does not want: return type, parameters, the suffixes of copies
 * that the compiler made.
 */

/* The end of "f" in "f(int, char) const": the last top-level parenthesis group, "operator()" left alone. */
static size_t end_of_function(const char *text, size_t n)
{
    size_t depth = 0;
    for (size_t i = n; i-- > 0;) {
        if (text[i] == ')')
            depth++;
        else if (text[i] == '(' && depth > 0 && --depth == 0) {
            bool is_operator = i >= 8 && strncmp(text + i - 8, "operator", 8) == 0 && text[i + 1] == ')';
            bool is_scope = i + 10 < n && strncmp(text + i, "(anonymous", 10) == 0;
            return is_operator || is_scope ? n : i;
        } else if (depth == 0 && (text[i] == '>' || text[i] == '}'))
            return n;
    }
    return n;
}

/* The start of "f" in "void f<int>": after the last blank outside brackets. */
static size_t start_of_function(const char *text, size_t n)
{
    size_t start = 0;
    long depth = 0;
    for (size_t i = 0; i < n; i++) {
        if (strncmp(text + i, "operator", 8) == 0 && (i == 0 || text[i - 1] == ':' || text[i - 1] == ' '))
            return start;
        if (strchr("<({[", text[i]) != NULL)
            depth++;
        else if (strchr(">)}]", text[i]) != NULL)
            depth--;
        else if (text[i] == ' ' && depth == 0)
            start = i + 1;
    }
    return start;
}

const char *name_readable(struct arena *arena, const char *linked)
{
    if (linked == NULL || linked[0] == 0)
        return NULL;
    /* Copies that GCC and Clang make of a routine keep its name before a dot. */
    size_t n = strcspn(linked + 1, ".") + 1;
    const char *plain = arena_printf(arena, "%.*s", (int)n, linked);
    const char *text = demangle(arena, plain);
    if (text != NULL) {
        const char *clone = strstr(text, " [clone ");
        size_t n_text = clone != NULL ? (size_t)(clone - text) : strlen(text), end = end_of_function(text, n_text);
        size_t start = end < n_text ? start_of_function(text, end) : 0;
        return arena_printf(arena, "%.*s", (int)(end - start), text + start);
    }
    /* gfortran: __module_MOD_procedure. */
    const char *mod = strncmp(plain, "__", 2) == 0 ? strstr(plain, "_MOD_") : NULL;
    return mod != NULL ? arena_printf(arena, "%.*s::%s", (int)(mod - plain - 2), plain + 2, mod + 5) : plain;
}

static int compare_text(const void *a, const void *b)
{
    return strcmp(a, *(const char *const *)b);
}

bool name_is_noreturn(const char *linked)
{
    /* Sorted. */
    static const char *const names[] = {
        "_Exit",
        "_Unwind_Resume",
        "_ZSt9terminatev",
        "__assert",
        "__assert_fail",
        "__assert_perror_fail",
        "__chk_fail",
        "__clang_call_terminate",
        "__cxa_bad_cast",
        "__cxa_bad_typeid",
        "__cxa_call_unexpected",
        "__cxa_deleted_virtual",
        "__cxa_pure_virtual",
        "__cxa_rethrow",
        "__cxa_throw",
        "__cxa_throw_bad_array_length",
        "__cxa_throw_bad_array_new_length",
        "__fortify_fail",
        "__libc_start_main",
        "__longjmp_chk",
        "__stack_chk_fail",
        "_exit",
        "_gfortran_error_stop_numeric",
        "_gfortran_error_stop_string",
        "_gfortran_os_error",
        "_gfortran_os_error_at",
        "_gfortran_runtime_error",
        "_gfortran_runtime_error_at",
        "_gfortran_stop_numeric",
        "_gfortran_stop_string",
        "_longjmp",
        "abort",
        "err",
        "errx",
        "exit",
        "longjmp",
        "pthread_exit",
        "quick_exit",
        "siglongjmp",
        "thrd_exit",
        "verr",
        "verrx",
    };
    if (linked == NULL)
        return false;
    /* std::__throw_length_error and its siblings */
    if (strncmp(linked, "_ZSt", 4) == 0 && strstr(linked, "__throw_") != NULL)
        return true;
    return bsearch(linked, names, sizeof names / sizeof *names, sizeof *names, compare_text) != NULL;
}

/*
 * Which libraries are run-time libraries: their time belongs to the loop that called them, because the reader of a
 * report cannot change them. Known by the name of the file alone, so that it holds where the file is missing. A name
 * ends at ".so", at "-<version>.so" or at the end; what is linked statically is the program's own.
 */

/* A pattern that ends in '*' matches every longer name. The C library, its loader, and allocators in its place: */
static const char *const base_names[] = {
    "libc",     "libm",         "libmvec",         "libpthread", "libdl",        "librt",        "libresolv",
    "libutil",  "libanl",       "ld-linux*",       "linux-vdso", "ld64*",        "ld",           "ld-musl*",
    "libnss_*", "libthread_db", "libBrokenLocale", "libcrypt",   "libjemalloc*", "libtcmalloc*",
};

static const char *const runtime_names[] = {
    /* compilers */
    "libgcc_s",
    "libstdc++",
    "libc++",
    "libc++abi",
    "libunwind*",
    "libgfortran",
    "libquadmath",
    "libatomic",
    "libgomp",
    "libomp",
    "libiomp5",
    "libimf",
    "libsvml",
    "libintlc",
    "libirng",
    "libirc",
    "libifcore*",
    "libifport*",
    "libasan",
    "libubsan",
    "libtsan",
    "liblsan",
    "libflang*",
    "libFortran*",
    "libpgmath",
    "libnvf",
    "libnvc",
    "libnvomp",
    "libamath*",
    /* MPI and what it stands on */
    "libmpi",
    "libmpi_*",
    "libmpifort",
    "libmpicxx",
    "libmpijava",
    "libmpich*",
    "libpmpi*",
    "libopen-pal",
    "libopen-rte",
    "libmca_common_*",
    "mca_*",
    "libompi*",
    "liboshmem*",
    "libpmix*",
    "libprrte",
    "libucx*",
    "libucp*",
    "libucs*",
    "libuct*",
    "libucm*",
    "libucc*",
    "libfabric*",
    "libpsm*",
    "libinfinipath",
    "libibverbs",
    "librdmacm",
    "libmlx4",
    "libmlx5",
    "libefa",
    "libhfi1*",
    "libnl-3",
    "libnl-route-3",
    "libevent*",
    "libhwloc*",
    "libnuma",
    "libxpmem",
    "libmunge",
    "libpmi*",
    "libslurm*",
    "libcxi*",
    "libhcoll",
    "libsharp*",
    "libocoms",
    "libtcp*-fi",
    "libverbs*-fi",
    "libze_loader",
    "libcuda",
    "libcudart",
    "libgdrapi",
    /* numerical libraries */
    "libblas*",
    "liblapack*",
    "libopenblas*",
    "libmkl_*",
    "libfftw3*",
    "libfftw*",
    "libcblas*",
    "libatlas*",
    "libsatlas",
    "libtatlas",
    "libblis*",
    "libflame*",
    "libscalapack*",
    "libsci_*",
    "libgsl*",
    "libgmp",
    "libmpfr",
    "libarmpl*",
    "libtbb*",
    /* compression and other small change of every process */
    "libz",
    "libzstd",
    "liblzma",
    "libbz2",
    "libselinux",
    "libudev",
    "libsystemd",
    "libcap",
    "libpcre*",
    "libltdl",
    /* ourselves */
    "libwhywait*",
};

/* "libm-2.36.so" and "libm.so.6" are both libm, but "libopen-pal.so" keeps its hyphen. */
static size_t stem_length(const char *name)
{
    const char *so = strstr(name, ".so");
    size_t n = so != NULL ? (size_t)(so - name) : strlen(name);
    size_t stem = n;
    while (stem > 0 && ((name[stem - 1] >= '0' && name[stem - 1] <= '9') || name[stem - 1] == '.'))
        stem--;
    return stem > 0 && stem < n && name[stem - 1] == '-' ? stem - 1 : n;
}

static bool is_one_of(const char *path, const char *const *patterns, size_t n_patterns)
{
    const char *slash = strrchr(path, '/');
    const char *name = slash != NULL ? slash + 1 : path;
    if (strstr(name, ".so") == NULL)
        return false;
    size_t n_name = stem_length(name);
    for (size_t i = 0; i < n_patterns; i++) {
        size_t n = strlen(patterns[i]);
        bool is_prefix = patterns[i][n - 1] == '*';
        n -= is_prefix;
        if ((is_prefix ? n_name >= n : n_name == n) && memcmp(patterns[i], name, n) == 0)
            return true;
    }
    return false;
}

bool runtime_is_base(const char *path)
{
    if (path == NULL || path[0] == 0 || path[0] == '[')
        return true;
    return is_one_of(path, base_names, sizeof base_names / sizeof *base_names);
}

bool runtime_is_library(const char *path)
{
    return runtime_is_base(path) || is_one_of(path, runtime_names, sizeof runtime_names / sizeof *runtime_names);
}
