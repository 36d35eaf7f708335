/* SPDX-License-Identifier: BSD-3-Clause */
#include "analyze/out/json_text.h"
#include "analyze/out/text.h"

json_t *json_text(const char *text)
{
    json_t *string = text ? json_string(text) : json_null();
    if (string)
        return string;
    struct arena scratch = {0};
    string = json_string(text_escape(&scratch, text));
    arena_release(&scratch);
    return string;
}
