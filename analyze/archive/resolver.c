/* SPDX-License-Identifier: BSD-3-Clause */
#include "analyze/archive/resolver.h"
#include "analyze/files/plain.h"
#include "analyze/code/origin.h"
#include "analyze/code/tree.h"
#include "wrap/base/containers.h"
#include "wrap/base/err.h"
#include "wrap/base/keys.h"
#include <stdlib.h>
#include <string.h>

struct resolver {
    struct code *code;
    struct intern modules; /* path and build id -> module of the code model */
    struct map is_source;  /* module and number of a file among `files` -> 1 + whether it is one of its sources */
    struct intern files;
    const char *unread; /* the first file that the system failed to open; the code model's */
    int fault;          /* why */
};

struct resolver *resolver_new(void)
{
    struct resolver *resolver = memory_new(1, sizeof *resolver);
    resolver->code = code_open();
    return resolver;
}

void resolver_free(struct resolver *resolver)
{
    code_close(resolver->code);
    intern_release(&resolver->modules);
    intern_release(&resolver->files);
    map_release(&resolver->is_source);
    free(resolver);
}

static uint32_t module_of(struct resolver *resolver, const char *path, const uint8_t *build_id, uint32_t build_id_bytes)
{
    size_t length = strlen(path);
    char *key = malloc(build_id_bytes + length + 1);
    if (!key)
        err_out_of_memory(length);
    memcpy(key, build_id, build_id_bytes);
    memcpy(key + build_id_bytes, path, length + 1);
    size_t known = resolver->modules.n;
    uint32_t module = intern_put(&resolver->modules, key, build_id_bytes + length);
    free(key);
    if (module == known)
        code_add_module(resolver->code, path, build_id_bytes ? build_id : NULL, build_id_bytes);
    return module;
}

static bool is_source(struct resolver *resolver, uint32_t module, const char *file)
{
    if (!file || *file != '/' || source_is_system(file))
        return false;
    uint64_t *known = map_put(&resolver->is_source, key_pair(module, intern_text(&resolver->files, file)), NULL);
    if (!*known)
        *known = 1 + tree_has_source(resolver->code, module, file);
    return *known == 2;
}

/* Run-time libraries stay unnamed: nobody's source line, and much to read. */
static bool resolve(void *user, const char *path, const uint8_t *build_id, uint32_t build_id_bytes, uint64_t address,
                    bool is_return, struct convert_place *place)
{
    struct resolver *resolver = user;
    uint32_t module = module_of(resolver, path, build_id, build_id_bytes);
    if (code_module_is_runtime(resolver->code, module))
        return false;
    const char *unread;
    int fault = code_module_fault(resolver->code, module, &unread);
    if (!resolver->fault && plain_may_pass(fault)) {
        resolver->fault = fault;
        resolver->unread = unread;
    }
    if (code_module_state(resolver->code, module) == CODE_MISSING)
        return false;
    struct code_spot spot = code_spot_at(resolver->code, module, address - is_return);
    place->routine = spot.routine ? spot.routine : spot.host_routine;
    place->file = spot.file;
    place->line = spot.line;
    const char *files[] = {spot.file, spot.call_file};
    for (size_t i = 0; i < sizeof files / sizeof *files; i++)
        place->sources[i] = is_source(resolver, module, files[i]) ? files[i] : NULL;
    return place->routine != NULL;
}

/* Only what stacks lead through has been read by now. The rest of the system is not built anew by who records. */
static bool is_kept(void *user, const char *path, const uint8_t *build_id, uint32_t build_id_bytes)
{
    struct resolver *resolver = user;
    uint32_t module = module_of(resolver, path, build_id, build_id_bytes);
    return !code_module_is_runtime(resolver->code, module) && code_module_is_read(resolver->code, module) &&
           code_module_state(resolver->code, module) == CODE_FULL;
}

static int status(void *user)
{
    const struct resolver *resolver = user;
    return resolver->fault
               ? error("cannot read %s: %s; nothing is lost, and `whywait salvage` tries again. If the file "
                       "is moved away, the archive lacks the names in it",
                       resolver->unread, strerror(resolver->fault))
               : 0;
}

struct convert_options resolver_options(struct resolver *resolver)
{
    return (struct convert_options){.keep_spool = getenv("WHYWAIT_KEEP_SPOOL") != NULL,
                                    .resolve = resolve,
                                    .status = status,
                                    .is_kept = is_kept,
                                    .user = resolver};
}
