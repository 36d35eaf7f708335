/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A program's file: routines, loops, lines, exact counts' table, and what `whywait check` and `whywait record` ask of
 * it. The input is the file.
 */
#include "analyze/code/code.h"
#include "analyze/counts/counts.h"
#include "analyze/files/paths.h"
#include "tests/fuzz/fuzz.h"
#include <stdlib.h>

enum { MOST_ROUTINES = 50, STEPS_IN_ROUTINE = 16, STEP_BYTES = 11 };

static void ask_at(struct code *code, uint32_t module, uint64_t address)
{
    uint32_t place = code_place_at(code, module, address), depth = 0;
    code_spot_at(code, module, address);
    for (; place != CODE_NONE; depth++) {
        const struct code_place *found = code_place(code, place);
        fuzz_must(found != NULL && depth <= code_n_places(code));
        place = found->parent;
    }
}

static void read_code(const char *path)
{
    struct code *code = code_open();
    uint32_t module = code_add_module(code, path, NULL, 0), n = code_n_routines(code, module);
    size_t n_notes;
    code_module_state(code, module);
    for (uint32_t r = 0; r < n && r < MOST_ROUTINES; r++)
        for (unsigned i = 0; i < STEPS_IN_ROUTINE; i++)
            ask_at(code, module, code_routine_address(code, module, r) + i * STEP_BYTES);
    code_notes(code, &n_notes);
    code_close(code);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n_bytes)
{
    char *dir = fuzz_dir_new(), *path = path_format("%s/program", dir);
    struct counts *counts = NULL;
    fuzz_must(fuzz_file_write(dir, "program", data, n_bytes));
    read_code(path);
    if (counts_open(path, &counts) == 0)
        counts_close(counts);
    free(path);
    fuzz_dir_remove(dir);
    return 0;
}
