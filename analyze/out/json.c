/* SPDX-License-Identifier: BSD-3-Clause */
#include "analyze/out/json.h"
#include "wrap/base/err.h"
#include "wrap/base/err_names.h"
#include <errno.h>
#include <math.h>
#include <string.h>

json_t *json_text(const char *text)
{
    struct arena scratch = {0};
    if (!text)
        return json_null();
    char *plain = arena_alloc(&scratch, 4 * strlen(text) + 1);
    plain_direction(plain, text);
    json_t *string = json_string(plain);
    arena_release(&scratch);
    return string;
}

json_t *json_ns(double ns)
{
    return json_integer(llround(ns));
}

json_t *json_ratio(double value)
{
    return isfinite(value) ? json_real(value) : json_null();
}

json_t *json_rank(uint32_t rank)
{
    return rank == TRACE_NONE ? json_null() : json_integer(rank);
}

json_t *json_numbers(const uint32_t *at, uint32_t n)
{
    json_t *numbers = json_array();
    for (uint32_t i = 0; i < n; i++)
        json_array_append_new(numbers, json_integer(at[i]));
    return numbers;
}

json_t *json_moment(const struct json *json, uint64_t time_ns)
{
    uint64_t start_ns = json->analysis->trace->start_ns;
    return json_integer(time_ns > start_ns ? (json_int_t)(time_ns - start_ns) : 0);
}

json_t *json_step_name(struct json *json, uint32_t step)
{
    if (!json->labels[step]) {
        struct label_book book = json->book;
        book.arena = &json->arena;
        json->labels[step] = label_step(&book, step);
    }
    return json_text(json->labels[step]);
}

json_t *json_place(struct json *json, uint32_t step)
{
    const struct step *where = &json->analysis->steps[step];
    return json_pack("{s:o, s:b, s:o, s:i, s:i, s:o}", "name", json_step_name(json, step), "loop", where->is_loop,
                     "file", json_text(where->file), "line_first", (int)where->line_first, "line_last",
                     (int)where->line_last, "routine", json_text(where->routine));
}

uint32_t json_n_shown(const struct json *json, uint32_t n, uint32_t most)
{
    return json->has_all || n < most ? n : most;
}

void json_leave_out(json_t *object, const char *list, uint32_t n, int64_t waiting_ns)
{
    if (!n)
        return;
    json_t *left_out = json_object_get(object, "left_out");
    if (!left_out)
        json_object_set_new(object, "left_out", left_out = json_object());
    json_t *what = json_pack("{s:i}", "n", (int)n);
    if (waiting_ns >= 0)
        json_object_set_new(what, "waiting_ns", json_integer(waiting_ns));
    json_object_set_new(left_out, list, what);
}

int json_write(FILE *out, json_t *object)
{
    bool ok = !json_dumpf(object, out, JSON_INDENT(1)) && fputc('\n', out) != EOF;
    if (!ok)
        error("cannot write the JSON report: %s", strerror(errno));
    json_decref(object);
    return ok ? 0 : -1;
}
