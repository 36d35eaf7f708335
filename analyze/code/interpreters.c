/* SPDX-License-Identifier: BSD-3-Clause */
#include "analyze/code/interpreters.h"
#include <ctype.h>
#include <string.h>

/* The base name of an interpreter, or of the library that it is in, up to its version. */
static const struct interpreter {
    const char *name, *language;
} interpreters[] = {
    {"python", "Python"},   {"libpython", "Python"}, {"pypy", "Python"},         {"libpypy", "Python"},
    {"perl", "Perl"},       {"libperl", "Perl"},     {"ruby", "Ruby"},           {"libruby", "Ruby"},
    {"libR", "R"},          {"octave", "Octave"},    {"liboctinterp", "Octave"}, {"guile", "Scheme"},
    {"libguile", "Scheme"}, {"lua", "Lua"},          {"liblua", "Lua"},          {"tclsh", "Tcl"},
    {"libtcl", "Tcl"},
};

static const char *base_name(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

/* "", "3.11", "3.11.so.1.0", "-3.0.so.1", ".so", but not "config"; of Python also "3.13t", with how it was built. */
static bool is_version(const char *text, const char *language)
{
    const char *end = strstr(text, ".so"), *builds = !strcmp(language, "Python") ? "dmtu" : "";
    size_t n = end ? (size_t)(end - text) : strlen(text), n_digits = strspn(text, "-.0123456789");
    return n_digits >= n || (n_digits && n_digits + strspn(text + n_digits, builds) >= n);
}

const char *interpreter_language(const char *path)
{
    const char *name = base_name(path);
    for (size_t i = 0; i < sizeof interpreters / sizeof *interpreters; i++) {
        size_t n = strlen(interpreters[i].name);
        if (!strncmp(name, interpreters[i].name, n) && is_version(name + n, interpreters[i].language))
            return interpreters[i].language;
    }
    return NULL;
}

struct routines interpreter_as_routine(const struct image *image, const char *language, struct arena *arena)
{
    struct routines routines = {.at = arena_new(arena, struct routine), .n = 1};
    *routines.at = (struct routine){.name = arena_printf(arena, "(%s code)", language)};
    for (size_t i = 0; i < image->sections.n; i++)
        routines.at->hi = image->sections.at[i].hi;
    return routines;
}

static const char *identifier_at(const struct image *image, uint64_t address)
{
    enum { LONGEST = 100 };
    const struct image_section *section = image_section_at(image, address);
    if (!section || !section->bytes || section->is_code)
        return NULL;
    const char *text = (const char *)section->bytes + (address - section->lo);
    size_t most = section->hi - address, n = 0;
    while (n < most && n < LONGEST && (isalnum((unsigned char)text[n]) || text[n] == '_'))
        n++;
    return n && n < most && !text[n] ? text : NULL;
}

/* The convention of a method, METH_VARARGS and so on: an int, and four bytes that align what follows. */
static bool is_flags(const struct image *image, uint64_t address)
{
    enum { MOST_FLAGS = 0x3ff };
    uint64_t flags = 0;
    const uint8_t *bytes = image_bytes(image, address, sizeof flags);
    if (bytes)
        memcpy(&flags, bytes, sizeof flags);
    return flags > 0 && flags <= MOST_FLAGS;
}

static bool may_be_renamed(const struct routine *routine)
{
    return !routine->name || !strncmp(routine->name, "__pyx_", 6);
}

/* A method is { name, routine, flags, documentation }. One routine may serve several: the first by alphabet. */
void extension_name_methods(const struct image *image, struct routines *routines)
{
    image_pointers pointers = {0};
    struct map names = {0}; /* of a routine, by number */
    image_read_pointers(image, &pointers);
    for (size_t i = 0; i + 1 < pointers.n; i++) {
        const struct image_pointer *name = &pointers.at[i], *code = name + 1;
        uint32_t number = routines_find(routines, code->to);
        if (code->at != name->at + 8 || number == ROUTINE_NONE || routines->at[number].lo != code->to ||
            !may_be_renamed(&routines->at[number]) || !is_flags(image, code->at + 8))
            continue;
        const char *text = identifier_at(image, name->to);
        uint64_t *known = text ? map_put(&names, number, NULL) : NULL;
        if (known && (!*known || strcmp(text, (const char *)(uintptr_t)*known) < 0))
            *known = (uint64_t)(uintptr_t)text;
    }
    for (uint32_t i = 0; i < routines->n; i++) {
        const uint64_t *known = map_get(&names, i);
        if (known)
            routines->at[i].name = (const char *)(uintptr_t)*known;
    }
    map_release(&names);
    vec_release(&pointers);
}
