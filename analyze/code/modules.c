/* SPDX-License-Identifier: BSD-3-Clause */
#include "analyze/code/modules.h"
#include "analyze/code/interpreters.h"
#include "analyze/files/plain.h"
#include "wrap/base/err.h"
#include "wrap/base/err_names.h"
#include "wrap/base/keys.h"
#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* Frames name a routine many times. */
static void open_script(struct code *code, struct module *module)
{
    uint32_t n = 0;
    struct routine *at = module->named.at;
    module->state = CODE_FULL;
    script_read(module->file, &module->blocks);
    items_sort(at, module->named.n, sizeof *at, key_order_u64);
    for (size_t i = 0; i < module->named.n; i++)
        if (n == 0 || at[n - 1].lo != at[i].lo)
            at[n++] = at[i];
    module->routines.at = arena_array(&code->arena, struct routine, n + 1);
    module->routines.n = n;
    if (n > 0)
        memcpy(module->routines.at, at, n * sizeof *at);
    vec_release(&module->named);
}

/* The recorded build, wherever it is. Other sentences about it are about the file that should be it. */
static enum image_status open_image(struct code *code, struct module *module)
{
    enum image_status status = image_open(&module->image, module->path, module->build_id, module->build_id_bytes);
    module->fault = status == IMAGE_UNREAD ? errno : 0;
    module->unread = module->path;
    if (status == IMAGE_OPEN || code->kept_dir == NULL || module->build_id_bytes == 0)
        return status;
    char *name = arena_alloc(&code->arena, 2 * module->build_id_bytes + 1);
    plain_hex(name, module->build_id, module->build_id_bytes);
    const char *kept = arena_printf(&code->arena, "%s/%s", code->kept_dir, name);
    enum image_status kept_status = image_open(&module->image, kept, module->build_id, module->build_id_bytes);
    if (kept_status != IMAGE_OPEN && kept_status != IMAGE_UNREAD)
        return status;
    module->fault = kept_status == IMAGE_UNREAD ? errno : 0;
    module->unread = module->file = kept;
    return kept_status;
}

static void open_module(struct code *code, struct module *module)
{
    enum image_status status = IMAGE_MISSING;
    const char *unread;
    module->state = CODE_MISSING;
    plain_forget_fault();
    if (module->is_script)
        open_script(code, module);
    else if (module->path[0] != 0 && module->path[0] != '[')
        status = open_image(code, module);
    if (status == IMAGE_CHANGED)
        module->state = CODE_CHANGED;
    module->has_image = status == IMAGE_OPEN;
    if (module->has_image && module->language) {
        module->state = CODE_SYMBOLS;
        module->routines = interpreter_as_routine(&module->image, module->language, &code->arena);
    } else if (module->has_image) {
        module->state = debug_open(&module->debug, &module->image) ? CODE_FULL : CODE_SYMBOLS;
        module->decoder = decoder_open(module->image.machine);
        module->routines = routines_read(&module->image, &code->arena);
        if (module->is_extension)
            extension_name_methods(&module->image, &module->routines);
    }
    if (module->has_image && (module->fault = plain_fault(&unread)) != 0)
        module->unread = arena_strdup(&code->arena, unread);
    module->models = arena_array(&code->arena, struct model *, module->routines.n + 1);
}

struct module *module_get(struct code *code, uint32_t module_id)
{
    if (module_id >= code->modules.n)
        bug("code model: module %u of %zu", module_id, code->modules.n);
    struct module *module = code->modules.at[module_id];
    if (!module->is_open) {
        module->is_open = true;
        open_module(code, module);
    }
    return module;
}
