/* SPDX-License-Identifier: BSD-3-Clause */
#include "analyze/code/package.h"
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char ending[] = ".list";

static bool has_line(const char *path, const char *line)
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
        found = !strcmp(text, line);
    }
    free(text);
    fclose(file);
    return found;
}

/* What is installed by hand or built here is in no list; not to look for it saves time. */
static bool may_be_packaged(const char *path)
{
    static const char *const roots[] = {"/usr/bin/", "/usr/lib", "/usr/sbin/", "/usr/libexec/",
                                        "/bin/",     "/lib",     "/opt/"};
    for (size_t i = 0; i < sizeof roots / sizeof *roots; i++)
        if (!strncmp(path, roots[i], strlen(roots[i])))
            return true;
    return false;
}

/* Systems with one /usr may have a file listed as it was before: without it. */
const char *package_of_file(struct arena *arena, const char *lists, const char *path)
{
    const char *found = NULL, *without = strncmp(path, "/usr/", 5) ? path : path + 4;
    DIR *dir = may_be_packaged(path) ? opendir(lists) : NULL;
    for (struct dirent *entry; dir && !found && (entry = readdir(dir));) {
        /* "libfoo2:amd64.list" is that of libfoo2. */
        size_t n = strlen(entry->d_name), n_ending = strlen(ending), colon = strcspn(entry->d_name, ":");
        if (n <= n_ending || strcmp(entry->d_name + n - n_ending, ending) != 0)
            continue;
        const char *list = arena_printf(arena, "%s/%s", lists, entry->d_name);
        if (has_line(list, path) || (without != path && has_line(list, without)))
            found = arena_printf(arena, "%.*s", (int)(colon < n - n_ending ? colon : n - n_ending), entry->d_name);
    }
    if (dir)
        closedir(dir);
    return found;
}
