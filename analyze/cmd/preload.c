/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * There is one recorder for each binary interface of MPI. The libraries of the program tell which one fits. A script, a
 * wrapper such as `env`, an interpreter that loads MPI later and a launcher have none. Then the environment of the
 * launcher tells, and where that is silent, which MPI the dynamic linker finds.
 *
 * The dynamic linker splits LD_PRELOAD at blanks and colons. A recorder that lies in such a folder is preloaded through
 * a symbolic link in a folder of this user's own.
 */
#include "analyze/cmd/preload.h"
#include "analyze/cmd/installation.h"
#include "analyze/cmd/cmd.h"
#include "wrap/base/err.h"
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* PALS starts programs of Cray MPICH. PMIX_RANK alone tells nothing: srun sets it for whichever MPI. */
static enum program_mpi mpi_of_launcher(void)
{
    if (getenv("OMPI_COMM_WORLD_SIZE") || getenv("OMPI_MCA_orte_hnp_uri"))
        return PROGRAM_OPEN_MPI;
    if (getenv("PMI_RANK") || getenv("PMI_FD") || getenv("MPIR_CVAR_CH3_PORT_RANGE") || getenv("PALS_RANKID"))
        return PROGRAM_MPICH;
    return PROGRAM_NO_MPI;
}

/* `whywait record mpiexec.hydra ...`: the launchers of the MPICH family are linked with nothing that tells. */
static bool is_launcher_of_mpich(const char *path)
{
    char real[PATH_MAX];
    return realpath(path, real) && (strstr(real, "hydra") || strstr(real, "mpich"));
}

enum program_mpi preload_mpi(const struct program *program)
{
    if (program->mpi != PROGRAM_NO_MPI)
        return program->mpi;
    enum program_mpi mpi = mpi_of_launcher();
    if (mpi == PROGRAM_NO_MPI && is_launcher_of_mpich(program->path))
        mpi = PROGRAM_MPICH;
    if (mpi == PROGRAM_NO_MPI)
        mpi = program_mpi_here();
    return mpi == PROGRAM_NO_MPI ? PROGRAM_OPEN_MPI : mpi;
}

static bool is_split_by_linker(const char *path)
{
    return strpbrk(path, " :\t\n");
}

/* A folder that nobody else can change. */
static bool is_private_folder(const char *path)
{
    struct stat status;
    return (mkdir(path, 0700) == 0 || errno == EEXIST) && lstat(path, &status) == 0 && S_ISDIR(status.st_mode) &&
           status.st_uid == geteuid() && !(status.st_mode & 022);
}

static unsigned long long hash_text(const char *text)
{
    unsigned long long hash = 14695981039346656037ull; /* FNV-1a */
    for (; *text; text++)
        hash = (hash ^ (unsigned char)*text) * 1099511628211ull;
    return hash;
}

/* False when no such link can be made. All ranks of a node make the same one. The first to do so wins. */
static bool link_to(const char *library, char link[PATH_MAX])
{
    const char *const roots[] = {getenv("XDG_RUNTIME_DIR"), getenv("TMPDIR"), "/tmp", "/var/tmp"};
    for (size_t i = 0; i < sizeof roots / sizeof *roots; i++) {
        char folder[PATH_MAX / 2], target[PATH_MAX];
        if (!roots[i] || roots[i][0] != '/' || is_split_by_linker(roots[i]) ||
            snprintf(folder, sizeof folder, "%s/whywait-%u", roots[i], (unsigned)geteuid()) >= (int)sizeof folder ||
            !is_private_folder(folder))
            continue;
        snprintf(link, PATH_MAX, "%s/recorder-%016llx.so", folder, hash_text(library));
        if (symlink(library, link) != 0 && errno != EEXIST)
            continue;
        ssize_t n = readlink(link, target, sizeof target - 1);
        if (n > 0 && (size_t)n == strlen(library) && !memcmp(target, library, (size_t)n))
            return true;
    }
    return false;
}

#define SAY(preload, ...) snprintf((preload)->unrecorded, sizeof(preload)->unrecorded, __VA_ARGS__)

/* The program's reason against any recorder. Only the last would not survive it: what the others start may be recorded
 * all the same. */
static bool is_deadly(struct preload *preload, const struct program *program)
{
    if (program->kind == PROGRAM_STATIC)
        SAY(preload, "is linked statically: its MPI calls cannot be seen");
    else if (program->kind == PROGRAM_DYNAMIC && program_gains_rights(program->path))
        SAY(preload, "runs with rights of another user or group, or with capabilities of its own: it is not recorded");
    else if (program->other_loader)
        SAY(preload, "is not recorded: its C library is not the recorder's (it is loaded by %s)",
            program->other_loader);
    return program->other_loader;
}

void preload_choose(struct preload *preload, const struct program *program)
{
    *preload = (struct preload){0};
    enum program_mpi mpi = preload_mpi(program);
    const char *recorder = program_recorder(mpi);
    char library[PATH_MAX];
    if (is_deadly(preload, program))
        return;
    if (!recorder)
        SAY(preload, "is not recorded: it uses %s (%s), and there is no recorder for it", program_mpi_name(mpi),
            program->mpi_library);
    else if (!installation_find(recorder, library))
        SAY(preload, "runs without being recorded: there is no %s in ../lib of this tool, for programs of %s", recorder,
            program_mpi_name(mpi));
    else if (!is_split_by_linker(library))
        strcpy(preload->library, library);
    else if (!link_to(library, preload->library))
        SAY(preload,
            "is not recorded: LD_PRELOAD cannot name %s, which has a blank or a colon in its path, and no link to it "
            "could be made in /tmp",
            library);
}
