/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Folders of a run, held open. A name may lead elsewhere the next time: whoever can write to a run, or made it, may
 * exchange a folder for a link while the tool works in it. So each folder is opened once, never through a link, and all
 * names in it are looked up from there: `path` leads to the open folder, and messages name it as it was opened.
 */
#pragma once
#include <stdbool.h>
#include <sys/types.h>

struct folder {
    int fd; /* -1: it is not there, and nothing at `path` either */
    uid_t owner;
    char path[32]; /* "/proc/self/fd/N" */
};

/* The run directory: that one may be a link, and belongs to whomever it belongs. Returns 0, or -1 after error(). */
int folder_open_run(struct folder *folder, const char *run_dir);
/* A folder in it, of the same owner; one that is not there is fine. Returns 0, or -1 after error(). */
int folder_open(struct folder *folder, const struct folder *run, const char *name);
/* The same, and makes it where it is not there, for its owner alone. */
int folder_make(struct folder *folder, const struct folder *run, const char *name);
void folder_close(struct folder *folder);

/* Those in which an archive is made. */
struct run_folders {
    struct folder run, spool, parts;
};
/* As they are, all to be closed also after an error(). */
int run_folders_open(struct run_folders *folders, const char *run_dir);
void run_folders_close(struct run_folders *folders);

/*
 * Root has the rights of the run's owner while it works there: what it makes belongs to the owner, who can remove it,
 * and what the run names is out of reach where it is out of the owner's. Others stay who they are.
 */
struct rights {
    bool are_taken;
    gid_t group, groups[64];
    int n_groups;
};
int rights_take(struct rights *before, const struct folder *run);
void rights_return(const struct rights *before);
