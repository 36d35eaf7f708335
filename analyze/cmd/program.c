/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The file's own sections tell what it is and what it calls; which libraries it will really get is the loader's
 * business, so the loader named in the file is asked as `ldd` asks it. It maps the libraries and runs nothing of them.
 */
#include "analyze/cmd/program.h"
#include "analyze/files/paths.h"
#include "analyze/files/plain.h"
#include "wrap/base/err.h"
#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <gelf.h>
#include <libelf.h>
#include <limits.h>
#include <linux/capability.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/wait.h>
#include <sys/xattr.h>
#include <unistd.h>

extern char **environ;

const char *program_mpi_name(enum program_mpi mpi)
{
    static const char *const names[] = {
        "no MPI",
#define NAME(interface, name, library) name,
        RECORDERS(NAME) "an MPI that is neither Open MPI nor of the MPICH family",
        "an MPI inside the program",
    };
    return names[mpi];
}

const char *program_recorder(enum program_mpi mpi)
{
    static const char *const libraries[PROGRAM_STATIC_MPI + 1] = {
#define LIBRARY(interface, name, library) [PROGRAM_##interface] = library,
        RECORDERS(LIBRARY)};
    return libraries[mpi];
}

static const char *base_name(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

static bool starts_with(const char *text, const char *start)
{
    return !strncmp(text, start, strlen(start));
}

/* Of an MPI itself or one of its bindings: what such a library calls are no calls of the program. */
static bool is_named_as_mpi(const char *name)
{
    return starts_with(name, "libmpi") || starts_with(name, "libpmpi") || starts_with(name, "libopen_mpi");
}

static bool is_mpi_name(const char *name)
{
    return starts_with(name, "MPI_") || starts_with(name, "mpi_") || starts_with(name, "MPIX_") ||
           starts_with(name, "MPI::");
}

/* As the kernel: root has them all anyway. */
static bool gains_capabilities(const char *path)
{
    struct vfs_ns_cap_data file = {0};
    ssize_t n = getxattr(path, "security.capability", &file, sizeof file);
    bool is_effective = file.magic_etc & VFS_CAP_FLAGS_EFFECTIVE;
    return n > 0 && getuid() && (is_effective || file.data[0].permitted || file.data[1].permitted);
}

bool program_gains_rights(const char *path)
{
    struct stat status;
    struct statvfs mount;
    if (stat(path, &status) || statvfs(path, &mount) || mount.f_flag & ST_NOSUID ||
        prctl(PR_GET_NO_NEW_PRIVS, 0, 0, 0, 0) > 0)
        return false;
    bool is_setgid = status.st_mode & S_ISGID && status.st_mode & S_IXGRP; /* alone, the first has another meaning */
    return (status.st_mode & S_ISUID && status.st_uid != getuid()) || (is_setgid && status.st_gid != getgid()) ||
           gains_capabilities(path);
}

/* The interpreter of a dynamic executable; NULL for a static one. */
static const char *elf_interpreter(Elf *elf)
{
    size_t n_headers = 0;
    elf_getphdrnum(elf, &n_headers);
    for (size_t i = 0; i < n_headers; i++) {
        GElf_Phdr header;
        size_t file_size;
        const char *bytes = elf_rawfile(elf, &file_size);
        if (!gelf_getphdr(elf, (int)i, &header) || header.p_type != PT_INTERP || !bytes)
            continue;
        bool is_inside = header.p_offset < file_size && header.p_filesz <= file_size - header.p_offset;
        if (is_inside && memchr(bytes + header.p_offset, 0, header.p_filesz))
            return bytes + header.p_offset;
    }
    return NULL;
}

/* The named symbols of all sections of a type, one after the other: `.elf` and `.type` are given. */
struct symbols {
    Elf *elf;
    unsigned type;
    Elf_Scn *section;
    GElf_Shdr header;
    Elf_Data *data; /* of the section; NULL = it has no more symbols */
    int next;
    GElf_Sym symbol;
    const char *name;
};

static bool symbols_next(struct symbols *at)
{
    for (;;) {
        while (at->data && gelf_getsym(at->data, at->next, &at->symbol)) {
            at->next++;
            at->name = elf_strptr(at->elf, at->header.sh_link, at->symbol.st_name);
            if (at->name && *at->name)
                return true;
        }
        at->data = NULL;
        at->next = 0;
        if (!(at->section = elf_nextscn(at->elf, at->section)))
            return false;
        if (gelf_getshdr(at->section, &at->header) && at->header.sh_type == at->type)
            at->data = elf_getdata(at->section, NULL);
    }
}

struct elf_file {
    int fd;
    Elf *elf; /* NULL: not there, or no ELF file */
};

static struct elf_file elf_file_open(const char *path)
{
    elf_version(EV_CURRENT);
    struct elf_file file = {.fd = plain_open(path, 0)};
    if (file.fd >= 0)
        file.elf = elf_begin(file.fd, ELF_C_READ_MMAP, NULL);
    if (file.elf && elf_kind(file.elf) != ELF_K_ELF) {
        elf_end(file.elf);
        file.elf = NULL;
    }
    return file;
}

static void elf_file_close(struct elf_file *file)
{
    elf_end(file->elf);
    if (file->fd >= 0)
        close(file->fd);
}

static void see_mpi_call(struct program *program, const struct symbols *at)
{
    unsigned type = GELF_ST_TYPE(at->symbol.st_info);
    if (at->symbol.st_shndx != SHN_UNDEF || !is_mpi_name(at->name) || type == STT_OBJECT)
        return;
    for (size_t i = 0; i < program->mpi_calls.n; i++)
        if (!strcmp(program->mpi_calls.at[i].name, at->name))
            return;
    vec_push(&program->mpi_calls)->name = arena_strdup(&program->arena, at->name);
}

static bool has_text(Elf_Scn *section, const char *text)
{
    Elf_Data *data = elf_getdata(section, NULL);
    size_t n = strlen(text) + 1;
    const char *at = data ? data->d_buf : NULL, *end = at ? at + data->d_size : NULL;
    for (; at && (at = memmem(at, (size_t)(end - at), text, n)); at++)
        if (at == data->d_buf || !at[-1])
            return true;
    return false;
}

/* Facts from the program's own file. */
static void read_sections(struct program *program, Elf *elf)
{
    size_t names = 0;
    elf_getshdrstrndx(elf, &names);
    for (Elf_Scn *section = NULL; (section = elf_nextscn(elf, section));) {
        GElf_Shdr header;
        const char *name = gelf_getshdr(section, &header) ? elf_strptr(elf, names, header.sh_name) : NULL;
        if (!name)
            continue;
        program->has_debug |= !strcmp(name, ".debug_line");
        program->has_build_id |= !strcmp(name, ".note.gnu.build-id");
        program->names_mpi |= starts_with(name, ".rodata") && has_text(section, "MPI_Init");
        program->has_counters |= starts_with(name, "whywait_") || starts_with(name, ".whywait");
    }
    for (struct symbols at = {.elf = elf, .type = SHT_SYMTAB}; symbols_next(&at);)
        if (at.symbol.st_shndx != SHN_UNDEF && (!strcmp(at.name, "MPI_Init") || !strcmp(at.name, "PMPI_Init")))
            program->mpi = PROGRAM_STATIC_MPI;
    for (struct symbols at = {.elf = elf, .type = SHT_DYNSYM}; symbols_next(&at);) {
        see_mpi_call(program, &at);
        if (at.symbol.st_shndx != SHN_UNDEF && is_mpi_name(at.name) && GELF_ST_TYPE(at.symbol.st_info) == STT_FUNC)
            vec_push(&program->mpi_own)->name = arena_strdup(&program->arena, at.name);
    }
}

/* The loader's list of libraries, up to 1 MB; NULL when it cannot be run or fails. To be
 * freed. */
static char *loader_output(char **command)
{
    enum { MOST = 1 << 20 };
    int ends[2];
    if (pipe2(ends, O_CLOEXEC))
        return NULL;
    posix_spawn_file_actions_t actions;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_adddup2(&actions, ends[1], STDOUT_FILENO);
    posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, "/dev/null", O_WRONLY, 0);
    pid_t child;
    setenv("LD_TRACE_LOADED_OBJECTS", "1", 1);
    int failed = posix_spawn(&child, command[0], &actions, NULL, command, environ), status = 1;
    unsetenv("LD_TRACE_LOADED_OBJECTS");
    posix_spawn_file_actions_destroy(&actions);
    close(ends[1]);
    char *text = calloc(1, MOST + 1);
    size_t n_bytes = 0;
    for (ssize_t n = 1; !failed && text && n > 0; n_bytes += n > 0 ? (size_t)n : 0)
        n = read(ends[0], text + n_bytes, MOST - n_bytes);
    close(ends[0]);
    if (failed || waitpid(child, &status, 0) < 0 || status != 0) {
        free(text);
        return NULL;
    }
    return text;
}

/*
 * Lines of the form "libmpi.so.40 => /lib/x86_64-linux-gnu/libmpi.so.40 (0x...)" or "libfoo.so => not found". The
 * loader is told through the environment, as ldd does it: its option --list ends at the first library that is missing.
 */
static void read_libraries(struct program *program, const char *loader)
{
    const char *path =
        strchr(program->path, '/') ? program->path : arena_printf(&program->arena, "./%s", program->path);
    char *command[] = {arena_strdup(&program->arena, loader), arena_strdup(&program->arena, path), NULL};
    char *text = loader_output(command), *rest = text, *line;
    while (rest && (line = strsep(&rest, "\n"))) {
        char *name = line + strspn(line, " \t"), *arrow = strstr(name, " => ");
        if (!arrow)
            continue;
        *arrow = '\0';
        char *where = arrow + 4;
        if (*where == '/') {
            where[strcspn(where, " ")] = '\0';
            *vec_push(&program->libraries) = arena_strdup(&program->arena, where);
        } else if (starts_with(where, "not found")) {
            *vec_push(&program->missing) = arena_strdup(&program->arena, name);
        }
    }
    free(text);
}

/* What the libraries that have `mpi` in their names say together: vendors choose names, but not these symbols. */
struct mpi_signs {
    bool is_standard_abi, is_open_mpi, is_mpich;
    const char *library; /* the first one that has MPI's functions */
};

static void see_mpi_signs(struct mpi_signs *signs, const char *path)
{
    const char *name = base_name(path);
    if (!strstr(name, "mpi"))
        return;
    struct elf_file file = elf_file_open(path);
    bool has_functions = false;
    for (struct symbols at = {.elf = file.elf, .type = SHT_DYNSYM}; file.elf && symbols_next(&at);) {
        if (at.symbol.st_shndx == SHN_UNDEF)
            continue;
        has_functions |= !strcmp(at.name, "PMPI_Init");
        signs->is_open_mpi |= !strcmp(at.name, "ompi_mpi_comm_world");
        signs->is_mpich |= starts_with(at.name, "MPIR_");
    }
    elf_file_close(&file);
    /* MPI 5 fixes the name of the first, whose PMPI functions may lie in another library. The second is the version on
     * which MPICH and its relatives have agreed. */
    bool is_standard_abi = starts_with(name, "libmpi_abi.so");
    signs->is_standard_abi |= is_standard_abi;
    signs->is_mpich |= has_functions && strstr(name, ".so.12");
    if ((has_functions && !signs->library) || is_standard_abi)
        signs->library = name;
}

static void find_mpi(struct program *program)
{
    struct mpi_signs signs = {0};
    for (size_t i = 0; i < program->libraries.n; i++)
        see_mpi_signs(&signs, program->libraries.at[i]);
    if (!signs.library)
        return;
    program->mpi_library = signs.library;
    program->mpi = signs.is_standard_abi ? PROGRAM_STANDARD_ABI
                   : signs.is_open_mpi   ? PROGRAM_OPEN_MPI
                   : signs.is_mpich      ? PROGRAM_MPICH
                                         : PROGRAM_OTHER_MPI;
}

static void read_calls_of_library(struct program *program, const char *path)
{
    if (is_named_as_mpi(base_name(path)))
        return; /* MPI calls itself */
    struct elf_file file = elf_file_open(path);
    for (struct symbols at = {.elf = file.elf, .type = SHT_DYNSYM}; file.elf && symbols_next(&at);)
        see_mpi_call(program, &at);
    elf_file_close(&file);
}

/* A shared object that is not an executable linked statically: those are marked. */
static bool elf_is_library(Elf *elf)
{
    GElf_Ehdr header;
    if (!gelf_getehdr(elf, &header) || header.e_type != ET_DYN)
        return false;
    for (Elf_Scn *section = NULL; (section = elf_nextscn(elf, section));) {
        GElf_Shdr dynamic;
        if (!gelf_getshdr(section, &dynamic) || dynamic.sh_type != SHT_DYNAMIC)
            continue;
        Elf_Data *data = elf_getdata(section, NULL);
        GElf_Dyn entry;
        for (int i = 0; data && gelf_getdyn(data, i, &entry); i++)
            if (entry.d_tag == DT_FLAGS_1 && entry.d_un.d_val & DF_1_PIE)
                return false;
    }
    return true;
}

static enum program_kind kind_of_elf(Elf *elf)
{
    return elf_interpreter(elf) ? PROGRAM_DYNAMIC : elf_is_library(elf) ? PROGRAM_LIBRARY : PROGRAM_STATIC;
}

/* The file names the program that loads it. Only one that root alone can change is run for an answer. */
static bool is_system_loader(const char *path)
{
    struct stat status;
    return *path == '/' && starts_with(base_name(path), "ld") && stat(path, &status) == 0 && S_ISREG(status.st_mode) &&
           status.st_uid == 0 && !(status.st_mode & 022);
}

static bool is_script(const char *path)
{
    char start[2] = "";
    int fd = plain_open(path, 0);
    bool has_mark = fd >= 0 && read(fd, start, 2) == 2 && start[0] == '#' && start[1] == '!';
    if (fd >= 0)
        close(fd);
    return has_mark;
}

bool program_find(const char *name, char path[PATH_MAX])
{
    if (strchr(name, '/'))
        return snprintf(path, PATH_MAX, "%s", name) < PATH_MAX && access(path, F_OK) == 0;
    const char *list = getenv("PATH");
    for (list = list ? list : "/usr/local/bin:/usr/bin:/bin"; *list;) {
        size_t n = strcspn(list, ":");
        int bytes = snprintf(path, PATH_MAX, "%.*s%s%s", (int)n, list, n ? "/" : "", name);
        if (bytes < PATH_MAX && access(path, X_OK) == 0)
            return true;
        list += n + (list[n] == ':');
    }
    errno = ENOENT;
    return false;
}

int program_not_found(const char *name)
{
    struct stat status;
    if (errno != ENOENT)
        return error("%s: %s", name, strerror(errno));
    return stat(name, &status) == 0 && S_ISREG(status.st_mode)
               ? error("%s is not in PATH, but here: write ./%s", name, name)
               : error("%s: no such program", name);
}

/* The loader that this tool was started by, "" where it is linked statically. */
static const char *own_loader(struct arena *arena)
{
    char tool[PATH_MAX];
    struct elf_file self = elf_file_open(path_of_tool(tool) ? tool : "/proc/self/exe");
    const char *loader = self.elf ? elf_interpreter(self.elf) : NULL;
    loader = arena_strdup(arena, loader ? loader : "");
    elf_file_close(&self);
    return loader;
}

enum program_mpi program_mpi_here(void)
{
    static const struct {
        enum program_mpi mpi;
        const char *library;
    } usual[] = {{PROGRAM_OPEN_MPI, "libmpi.so.40"},
                 {PROGRAM_MPICH, "libmpi.so.12"},
                 {PROGRAM_MPICH, "libmpich.so.12"},
                 {PROGRAM_STANDARD_ABI, "libmpi_abi.so.1"}};
    enum { N_USUAL = sizeof usual / sizeof *usual };
    struct arena scratch = {0};
    char tool[PATH_MAX] = "", *all = "", *text = NULL;
    enum program_mpi found = PROGRAM_NO_MPI;
    for (int i = 0; i < N_USUAL; i++)
        all = arena_printf(&scratch, "%s %s", all, usual[i].library);
    const char *before = getenv("LD_PRELOAD");
    before = before ? arena_strdup(&scratch, before) : NULL;
    char *command[] = {arena_strdup(&scratch, own_loader(&scratch)), tool, NULL};
    if (*command[0] && path_of_tool(tool)) {
        setenv("LD_PRELOAD", all, 1);
        text = loader_output(command);
        unsetenv("LD_PRELOAD");
        if (before)
            setenv("LD_PRELOAD", before, 1);
    }
    for (int i = 0; text && i < N_USUAL && found == PROGRAM_NO_MPI; i++)
        if (strstr(text, arena_printf(&scratch, "\t%s => /", usual[i].library)))
            found = usual[i].mpi;
    free(text);
    arena_release(&scratch);
    return found;
}

static bool is_same_file(const char *a, const char *b)
{
    struct stat one, other;
    return stat(a, &one) == 0 && stat(b, &other) == 0 && one.st_ino == other.st_ino && one.st_dev == other.st_dev;
}

/* What is known before symbols are read: from the file itself, and from its libraries. */
static void read_outline(struct program *program, Elf *elf)
{
    const char *loader = elf_interpreter(elf), *own = own_loader(&program->arena);
    program->kind = kind_of_elf(elf);
    if (!loader && program->kind != PROGRAM_LIBRARY)
        return;
    /* Another C library: a recorder that is made for this one's would end the program. */
    bool is_kin = !loader || !*own || !strcmp(base_name(own), base_name(loader)) || is_same_file(own, loader);
    if (!is_kin)
        program->other_loader = arena_strdup(&program->arena, base_name(loader));
    if (loader && is_system_loader(loader))
        read_libraries(program, loader);
    else if (is_kin && is_system_loader(own)) /* a loader of the user's own is not run for an answer */
        read_libraries(program, own);
    for (size_t i = 0; i < program->libraries.n; i++)
        program->has_asan |= starts_with(base_name(program->libraries.at[i]), "libasan.so");
    find_mpi(program);
}

void program_glance(struct program *program, const char *path)
{
    *program = (struct program){.kind = PROGRAM_OTHER};
    program->path = arena_strdup(&program->arena, path);
    struct elf_file file = elf_file_open(path);
    if (file.elf)
        read_outline(program, file.elf);
    else if (is_script(path))
        program->kind = PROGRAM_SCRIPT;
    elf_file_close(&file);
}

static int by_name(const void *a, const void *b)
{
    return strcmp(((const struct program_symbol *)a)->name, ((const struct program_symbol *)b)->name);
}

static void sort_by_name(struct program_symbol *symbols, size_t n)
{
    items_sort(symbols, n, sizeof *symbols, by_name);
}

int program_read(struct program *program, const char *name)
{
    *program = (struct program){.kind = PROGRAM_OTHER};
    char path[PATH_MAX];
    if (!program_find(name, path))
        return program_not_found(name);
    program->path = arena_strdup(&program->arena, path);
    struct elf_file file = elf_file_open(program->path);
    if (file.elf) {
        read_sections(program, file.elf);
        read_outline(program, file.elf);
        for (size_t i = 0; i < program->libraries.n; i++)
            read_calls_of_library(program, program->libraries.at[i]);
    } else if (is_script(program->path))
        program->kind = PROGRAM_SCRIPT;
    elf_file_close(&file);
    sort_by_name(program->mpi_calls.at, program->mpi_calls.n);
    sort_by_name(program->mpi_own.at, program->mpi_own.n);
    return 0;
}

static void mark_by_name(struct program_symbol *symbols, size_t n, const char *name)
{
    struct program_symbol key = {.name = name}, *found = n ? bsearch(&key, symbols, n, sizeof key, by_name) : NULL;
    if (found)
        found->is_intercepted = true;
}

int program_mark_intercepted(struct program *program, const char *recorder_path)
{
    struct elf_file file = elf_file_open(recorder_path);
    for (struct symbols at = {.elf = file.elf, .type = SHT_DYNSYM}; file.elf && symbols_next(&at);)
        if (at.symbol.st_shndx != SHN_UNDEF) {
            mark_by_name(program->mpi_calls.at, program->mpi_calls.n, at.name);
            mark_by_name(program->mpi_own.at, program->mpi_own.n, at.name);
        }
    bool is_read = file.elf;
    elf_file_close(&file);
    return is_read ? 0 : error("cannot read the recorder %s", recorder_path);
}

void program_release(struct program *program)
{
    vec_release(&program->mpi_calls);
    vec_release(&program->mpi_own);
    vec_release(&program->libraries);
    vec_release(&program->missing);
    arena_release(&program->arena);
}
