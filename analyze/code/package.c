/* SPDX-License-Identifier: BSD-3-Clause */
#include "analyze/code/package.h"
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char ending[] = ".list";

/* A system with one /usr may have a file listed, and loaded, with it or without. */
static const char *without_usr(const char *path)
{
    return strncmp(path, "/usr/", 5) ? path : path + 4;
}

static bool has_file(const char *path, const char *name)
{
    char *text = NULL;
    size_t cap = 0;
    bool found = false;
    FILE *file = fopen(path, "re");
    if (!file)
        return false;
    for (ssize_t n; !found && (n = getline(&text, &cap, file)) > 0;) {
        if (text[n - 1] == '\n')
            text[n - 1] = 0;
        found = !strcmp(without_usr(text), name);
    }
    free(text);
    fclose(file);
    return found;
}

/* What is installed by hand or built here is in no list; not to look for it saves time. */
static bool may_be_packaged(const char *path)
{
    static const char *const roots[] = {"/bin/", "/lib", "/sbin/", "/libexec/", "/opt/"};
    const char *place = without_usr(path);
    for (size_t i = 0; i < sizeof roots / sizeof *roots; i++)
        if (!strncmp(place, roots[i], strlen(roots[i])))
            return true;
    return false;
}

const char *package_of_file(struct arena *arena, const char *lists, const char *path)
{
    const char *found = NULL;
    DIR *dir = may_be_packaged(path) ? opendir(lists) : NULL;
    for (struct dirent *entry; dir && !found && (entry = readdir(dir));) {
        /* "libfoo2:amd64.list" is that of libfoo2. */
        size_t n = strlen(entry->d_name), n_ending = strlen(ending), colon = strcspn(entry->d_name, ":");
        if (n <= n_ending || strcmp(entry->d_name + n - n_ending, ending) != 0)
            continue;
        const char *list = arena_printf(arena, "%s/%s", lists, entry->d_name);
        if (has_file(list, without_usr(path)))
            found = arena_printf(arena, "%.*s", (int)(colon < n - n_ending ? colon : n - n_ending), entry->d_name);
    }
    if (dir)
        closedir(dir);
    return found;
}
