/* SPDX-License-Identifier: BSD-3-Clause */
#include "analyze/code/origin.h"
#include "wrap/base/containers.h"
#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

bool source_is_system(const char *path)
{
    static const char *const prefixes[] = {"/usr/include/", "/usr/lib/", "/usr/lib64/", "/usr/local/include/"};
    for (size_t i = 0; i < sizeof prefixes / sizeof *prefixes; i++)
        if (strncmp(path, prefixes[i], strlen(prefixes[i])) == 0)
            return true;
    return strstr(path, "/include/c++/") != NULL;
}

/* In a folder of the system, but those for what is built at the site. */
static bool is_of_system(const char *path)
{
    static const char *const roots[] = {"/bin/", "/lib", "/sbin/", "/usr/"}, local[] = "/usr/local/";
    for (size_t i = 0; i < sizeof roots / sizeof *roots; i++)
        if (!strncmp(path, roots[i], strlen(roots[i])))
            return strncmp(path, local, strlen(local)) != 0;
    return false;
}

bool file_is_given(const char *path)
{
    struct stat status;
    bool is_others = !stat(path, &status) && status.st_uid != geteuid() && faccessat(AT_FDCWD, path, W_OK, AT_EACCESS);
    return is_of_system(path) || is_others;
}

/* Packages. */

static const char list_ending[] = ".list";

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

/* Files installed by hand or built here are in no list; not to look for them saves time. */
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
        size_t n = strlen(entry->d_name), n_ending = strlen(list_ending), colon = strcspn(entry->d_name, ":");
        if (n <= n_ending || strcmp(entry->d_name + n - n_ending, list_ending) != 0)
            continue;
        const char *list = arena_printf(arena, "%s/%s", lists, entry->d_name);
        if (has_file(list, without_usr(path)))
            found = arena_printf(arena, "%.*s", (int)(colon < n - n_ending ? colon : n - n_ending), entry->d_name);
    }
    if (dir)
        closedir(dir);
    return found;
}

bool package_offers_debug(const char *lists)
{
    DIR *dir = opendir(lists);
    bool found = false;
    for (struct dirent *entry; dir && !found && (entry = readdir(dir));)
        found =
            strstr(entry->d_name, "_Packages") && (strstr(entry->d_name, "debug") || strstr(entry->d_name, "ddebs"));
    if (dir)
        closedir(dir);
    return found;
}

/* Names. */

const char *path_below_packages(const char *path)
{
    static const char *const folders[] = {"/site-packages/", "/dist-packages/", "/lib-dynload/"};
    const char *found = NULL;
    for (size_t i = 0; i < sizeof folders / sizeof *folders; i++)
        for (const char *at = path; (at = strstr(at, folders[i])); found = at > found ? at : found)
            at += strlen(folders[i]);
    return found;
}

static char *with_dots(struct arena *arena, const char *path, const char *end)
{
    char *module = arena_printf(arena, "%.*s", (int)(end - path), path);
    for (char *at = module; *at; at++)
        *at = *at == '/' ? '.' : *at;
    return module;
}

/* Behind "lib/python3.11/"; NULL = it is not there. */
static const char *below_standard_library(const char *path)
{
    const char *folder = strstr(path, "/lib/python3"), *slash = folder ? strchr(folder + 5, '/') : NULL;
    return slash ? slash + 1 : NULL;
}

const char *source_module_name(struct arena *arena, const char *path)
{
    static const char *const endings[] = {".py", "/__init__"};
    const char *name = path_below_packages(path) ? path_below_packages(path) : below_standard_library(path);
    name = name ? name : basename(path);
    size_t n = strlen(name);
    for (size_t i = 0; i < sizeof endings / sizeof *endings; i++) {
        size_t n_ending = strlen(endings[i]);
        n -= n > n_ending && !strncmp(name + n - n_ending, endings[i], n_ending) ? n_ending : 0;
    }
    return with_dots(arena, name, name + n);
}

const char *extension_name(struct arena *arena, const char *path)
{
    const char *so = strstr(basename(path), ".so"), *tag = strstr(basename(path), ".cpython-");
    const char *stable = strstr(basename(path), ".abi3.so"), *name = path_below_packages(path);
    if (!so || so[3] || (!tag && !stable && !name))
        return NULL;
    const char *end = tag ? tag : stable ? stable : so;
    name = name ? name : basename(path);
    return with_dots(arena, name, end);
}

const char *library_name(struct arena *arena, const char *path)
{
    const char *extension = extension_name(arena, path);
    return extension ? extension : basename(path);
}
