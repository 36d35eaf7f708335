/* SPDX-License-Identifier: BSD-3-Clause */
#include "analyze/code/tree.h"
#include "analyze/code/modules.h"
#include "analyze/code/origin.h"
#include "analyze/code/script.h"
#include <dwarf.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* The length of `folder` when it has `path` in it, with the slash behind it; 0 = it has not. */
static size_t length_within(const char *path, const char *folder)
{
    size_t n = strlen(folder);
    while (n > 0 && folder[n - 1] == '/')
        n--;
    return strncmp(path, folder, n) == 0 && path[n] == '/' ? n + 1 : 0;
}

/* Whatever is in it belongs to one matter. */
static bool is_of_one_matter(const char *folder)
{
    char home[PATH_MAX];
    const char *named = getenv("HOME");
    struct stat status;
    bool is_shared = stat(folder, &status) != 0 || (status.st_mode & S_IWOTH);
    bool has_home = named != NULL && realpath(named, home) != NULL &&
                    (strcmp(home, folder) == 0 || length_within(home, folder) > 0);
    return !is_shared && !has_home && strcmp(folder, "/") != 0;
}

static bool is_in_folder(const char *file, const char *folder)
{
    char real[PATH_MAX];
    if (folder == NULL || *folder != '/' || realpath(folder, real) == NULL)
        return false;
    size_t n = length_within(file, real);
    if (n == 0 || file[n] == '.' || strstr(file + n, "/.") != NULL)
        return false;
    return strchr(file + n, '/') == NULL || is_of_one_matter(real);
}

/* The last folder that has both in it. */
static const char *folder_of_both(struct arena *scratch, const char *a, const char *b)
{
    size_t n = 0, n_common = 0;
    while (a[n] != 0 && a[n] == b[n]) {
        n++;
        if (a[n - 1] == '/')
            n_common = n;
    }
    bool ends_both = (a[n] == 0 || a[n] == '/') && (b[n] == 0 || b[n] == '/');
    return arena_printf(scratch, "%.*s", (int)(ends_both ? n : n_common), a);
}

static const char *text_of(Dwarf_Die *die, unsigned name)
{
    Dwarf_Attribute attribute;
    return dwarf_formstring(dwarf_attr(die, name, &attribute));
}

static bool unit_has_source(const struct unit *unit, const char *file)
{
    struct arena scratch = {0};
    Dwarf_Die die = unit->die;
    const char *compiled_in = text_of(&die, DW_AT_comp_dir), *name = text_of(&die, DW_AT_name);
    bool has_source = is_in_folder(file, compiled_in);
    if (!has_source && compiled_in != NULL && name != NULL) {
        const char *source = *name == '/' ? name : arena_printf(&scratch, "%s/%s", compiled_in, name);
        const char *folder = arena_printf(&scratch, "%.*s", (int)(strrchr(source, '/') - source), source);
        has_source = is_in_folder(file, folder) || is_in_folder(file, folder_of_both(&scratch, compiled_in, folder));
    }
    arena_release(&scratch);
    return has_source;
}

/* Nobody else has written what it says. */
static bool is_own(const struct module *module)
{
    struct stat status;
    return module->file == module->path && module->has_image && stat(module->path, &status) == 0 &&
           (status.st_uid == geteuid() || status.st_uid == 0) && !(status.st_mode & S_IWOTH);
}

static bool is_of_system(const char *file)
{
    struct stat status;
    return source_is_system(file) && stat(file, &status) == 0 && status.st_uid == 0 && (status.st_mode & S_IROTH);
}

bool tree_has_source(struct code *code, uint32_t module, const char *file)
{
    char real[PATH_MAX];
    const struct module *m = module_get(code, module);
    if (realpath(file, real) == NULL)
        return false;
    if (m->is_script)
        return !strcmp(file, m->path) && script_is_source(real);
    bool has_source = is_of_system(real), tells = is_own(m);
    for (size_t i = 0; tells && i < m->debug.units.n && !has_source; i++)
        has_source = unit_has_source(&m->debug.units.at[i], real);
    return has_source;
}

bool tree_has_source_of_any(struct code *code, const char *file)
{
    bool has_source = false;
    for (uint32_t i = 0; i < code->modules.n && !has_source; i++)
        has_source = code_module_is_read(code, i) && tree_has_source(code, i, file);
    return has_source;
}
