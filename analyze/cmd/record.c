/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * whywait record PROGRAM: becomes PROGRAM, with the recorder preloaded into it and into nothing else.
 *
 * There is one recorder for each MPI. The program's own list of needed libraries says which one fits; a script or a
 * wrapper such as `env` has no such list, and there the launcher's environment tells. Options reach the recorder as
 * WHYWAIT_* variables.
 */
#include "analyze/cmd/cmd.h"
#include "wrap/base/err.h"
#include <errno.h>
#include <fcntl.h>
#include <gelf.h>
#include <getopt.h>
#include <libelf.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { EXIT_CANNOT_RUN = 126, EXIT_NOT_FOUND = 127 };
enum mpi_kind { MPI_UNKNOWN, MPI_OPEN, MPI_CH, N_MPI_KINDS };
static const char *const library_names[N_MPI_KINDS] = {NULL, "libwhywait.so", "libwhywait-mpich.so"};

struct options {
    const char *dir, *spool, *rate, *limit;
    bool no_convert, quiet, help;
};

static const char help_text[] =
    "Usage: whywait record [OPTIONS] PROGRAM [ARGUMENTS]\n"
    "Runs PROGRAM, a rank of an MPI job, and records it: mpirun -n 4 whywait record ./app\n\n"
    "  -o, --dir DIR      make the run directory in DIR (here)\n"
    "      --spool DIR    write in DIR, a local disk of each node, and bring the data to the run directory at the end\n"
    "      --rate HZ      samples a second of CPU time (calibrated to cost at most 0.5 %); 0 = no samples\n"
    "      --limit SIZE   record at most SIZE bytes a rank (k, m, g), then only count\n"
    "      --no-convert   leave the archive to `whywait report`\n"
    "  -q, --quiet        print no closing line\n\n"
    "The exit status is the program's; 127 when it is not found, 126 when it cannot be run.\n";

static int parse(int argc, char **argv, struct options *options)
{
    static const struct option longs[] = {
        {"dir", required_argument, NULL, 'o'},   {"rate", required_argument, NULL, 'r'},
        {"spool", required_argument, NULL, 's'}, {"limit", required_argument, NULL, 'l'},
        {"no-convert", no_argument, NULL, 'n'},  {"quiet", no_argument, NULL, 'q'},
        {"help", no_argument, NULL, 'h'},        {NULL, 0, NULL, 0},
    };
    int c;
    optind = 1;
    while ((c = getopt_long(argc, argv, "+o:qh", longs, NULL)) != -1) {
        if (c == 'o')
            options->dir = optarg;
        else if (c == 's')
            options->spool = optarg;
        else if (c == 'r')
            options->rate = optarg;
        else if (c == 'l')
            options->limit = optarg;
        else if (c == 'n')
            options->no_convert = true;
        else if (c == 'q')
            options->quiet = true;
        else if (c == 'h')
            options->help = true;
        else
            return -1;
    }
    return optind;
}

/* As execvp finds it. False when it is nowhere. */
static bool find_program(const char *name, char path[PATH_MAX])
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
    return false;
}

static enum mpi_kind kind_of_library(const char *name)
{
    if (!strncmp(name, "libmpich", 8) || !strcmp(name, "libmpi.so.12") || !strncmp(name, "libmpifort", 10))
        return MPI_CH;
    return !strncmp(name, "libmpi.so", 9) || !strncmp(name, "libmpi_", 7) ? MPI_OPEN : MPI_UNKNOWN;
}

static enum mpi_kind kind_in_section(Elf *elf, Elf_Scn *section, const GElf_Shdr *header)
{
    Elf_Data *data = elf_getdata(section, NULL);
    enum mpi_kind kind = MPI_UNKNOWN;
    GElf_Dyn entry;
    for (int i = 0; data && kind == MPI_UNKNOWN && gelf_getdyn(data, i, &entry); i++) {
        const char *name = entry.d_tag == DT_NEEDED ? elf_strptr(elf, header->sh_link, entry.d_un.d_val) : NULL;
        if (name)
            kind = kind_of_library(name);
    }
    return kind;
}

/* `is_static`: the program is an executable without a dynamic section. */
static enum mpi_kind kind_of_program(const char *path, bool *is_static)
{
    enum mpi_kind kind = MPI_UNKNOWN;
    elf_version(EV_CURRENT);
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    Elf *elf = fd < 0 ? NULL : elf_begin(fd, ELF_C_READ, NULL);
    *is_static = elf && elf_kind(elf) == ELF_K_ELF;
    for (Elf_Scn *section = NULL; elf && kind == MPI_UNKNOWN && (section = elf_nextscn(elf, section));) {
        GElf_Shdr header;
        if (!gelf_getshdr(section, &header) || header.sh_type != SHT_DYNAMIC)
            continue;
        *is_static = false;
        kind = kind_in_section(elf, section, &header);
    }
    elf_end(elf);
    if (fd >= 0)
        close(fd);
    return kind;
}

static enum mpi_kind kind_of_launcher(void)
{
    if (getenv("OMPI_COMM_WORLD_SIZE") || getenv("OMPI_MCA_orte_hnp_uri"))
        return MPI_OPEN;
    return getenv("PMI_RANK") || getenv("PMI_FD") || getenv("MPIR_CVAR_CH3_PORT_RANGE") ? MPI_CH : MPI_UNKNOWN;
}

static bool library_path(enum mpi_kind kind, char path[PATH_MAX])
{
    char tool[PATH_MAX], beside[PATH_MAX];
    ssize_t n = readlink("/proc/self/exe", tool, sizeof tool - 1);
    tool[n > 0 ? n : 0] = '\0';
    char *slash = strrchr(tool, '/');
    if (!slash)
        return false;
    *slash = '\0';
    return snprintf(beside, sizeof beside, "%s/../lib/%s", tool, library_names[kind]) < (int)sizeof beside &&
           realpath(beside, path) != NULL;
}

static void preload(const char *library)
{
    const char *before = getenv("LD_PRELOAD");
    char *list = NULL;
    if (asprintf(&list, "%s%s%s", library, before && *before ? ":" : "", before ? before : "") < 0)
        err_out_of_memory(strlen(library));
    setenv("LD_PRELOAD", list, 1);
    free(list);
}

static void pass_options(const struct options *options)
{
    char absolute[PATH_MAX];
    if (options->dir) {
        /* The program may change directory before MPI starts. */
        bool found = realpath(options->dir, absolute) != NULL;
        setenv("WHYWAIT_DIR", found ? absolute : options->dir, 1);
    }
    if (options->spool)
        setenv("WHYWAIT_SPOOL", options->spool, 1);
    if (options->rate)
        setenv(strcmp(options->rate, "0") ? "WHYWAIT_RATE" : "WHYWAIT_SAMPLER",
               strcmp(options->rate, "0") ? options->rate : "off", 1);
    if (options->limit)
        setenv("WHYWAIT_LIMIT", options->limit, 1);
    if (options->no_convert)
        setenv("WHYWAIT_CONVERT", "0", 1);
    if (options->quiet)
        setenv("WHYWAIT_QUIET", "1", 1);
}

static bool is_number(const char *text, const char *suffixes)
{
    size_t n = strspn(text, "0123456789");
    return n > 0 && (text[n] == '\0' || (strchr(suffixes, text[n]) && text[n + 1] == '\0'));
}

static void check_options(const struct options *options)
{
    if (options->rate && !is_number(options->rate, ""))
        die("--rate %s: expected a number of samples a second", options->rate);
    if (options->limit && !is_number(options->limit, "kKmMgG"))
        die("--limit %s: expected a number of bytes, with k, m or g", options->limit);
}

static void load_recorder(const char *path)
{
    char library[PATH_MAX];
    struct stat st;
    bool is_static = false;
    enum mpi_kind kind = kind_of_program(path, &is_static);
    if (is_static)
        warn("%s is linked statically: its MPI calls cannot be seen", path);
    if (stat(path, &st) == 0 && (st.st_mode & S_ISUID) && st.st_uid != getuid())
        warn("%s runs under another user's rights: it is not recorded", path);
    if (kind == MPI_UNKNOWN)
        kind = kind_of_launcher();
    if (kind == MPI_UNKNOWN)
        kind = MPI_OPEN;
    if (library_path(kind, library))
        preload(library);
    else
        warn("%s runs without being recorded: there is no %s beside this tool (was it built with this MPI installed?)",
             path, library_names[kind]);
}

int cmd_record(int argc, char **argv)
{
    struct options options = {0};
    char path[PATH_MAX];
    int first = parse(argc, argv, &options);
    if (options.help) {
        fputs(help_text, stdout);
        return 0;
    }
    if (first < 0)
        die("see `whywait help record`");
    if (first >= argc)
        die("record what? `mpirun -n 4 whywait record ./app`");
    check_options(&options);
    if (!find_program(argv[first], path)) {
        error("%s: no such program", argv[first]);
        return EXIT_NOT_FOUND;
    }
    load_recorder(path);
    pass_options(&options);
    execv(path, argv + first);
    if (errno == ENOEXEC) /* a script without a first line: as the shell does */
        execvp(argv[first], argv + first);
    error("cannot run %s: %s", argv[first], strerror(errno));
    return errno == ENOENT ? EXIT_NOT_FOUND : EXIT_CANNOT_RUN;
}
