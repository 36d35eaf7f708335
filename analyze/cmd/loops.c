/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * `whywait loops PROGRAM`: what the code model knows of a program or library, loop by loop; with addresses, what lies
 * there. For users who wonder what a report can name, and for tests.
 */
#include "analyze/cmd/cmd.h"
#include "analyze/code/code.h"
#include "analyze/code/interpreters.h"
#include "analyze/out/page.h"
#include "wrap/base/err.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { OPT_ALL = OPT_OTHER };
static const struct option_row rows[] = {{"all", OPT_ALL, NULL, "print routines as well"}, {0}};

const struct manual manual_loops = {
    .synopsis = "[OPTIONS] PROGRAM [ADDRESS...]",
    .about = "Prints every loop found in PROGRAM (an executable file or shared library): address, nesting depth, "
             "source lines, routine. With link-time ADDRESSes, prints what lies at each of them instead.",
    .rows = rows,
};

/* Names are the program's. */
static const char *shown(struct arena *scratch, const char *name)
{
    return name != NULL ? text_escape(scratch, name) : "?";
}

static void print_place(const struct code_place *place)
{
    struct arena scratch = {0};
    printf("%#" PRIx64 "\t%s\t%" PRIu32 "\t", place->address, place->is_loop ? "loop" : "routine", place->depth);
    if (place->file != NULL)
        printf("%s:%" PRIu32 "-%" PRIu32 "\t", shown(&scratch, place->file), place->line_first, place->line_last);
    else
        printf("?\t");
    printf("%s", shown(&scratch, place->routine));
    if (place->host_routine != NULL && place->routine != NULL && strcmp(place->routine, place->host_routine) != 0)
        printf("\tin %s", shown(&scratch, place->host_routine));
    putchar('\n');
    arena_release(&scratch);
}

static void print_address(struct code *code, uint32_t module, const char *text)
{
    char *end = NULL;
    uint64_t address = strtoull(text, &end, 16);
    if (end == text || *end != 0)
        die("\"%s\" is not an address in hexadecimal", text);
    uint32_t place = code_place_at(code, module, address);
    struct code_spot spot = code_spot_at(code, module, address);
    struct arena scratch = {0};
    printf("%#" PRIx64 "\tblock %#" PRIx64 "\t%s:%" PRIu32 "\t%s\tcalled at %s:%" PRIu32 "\n", address, spot.block,
           shown(&scratch, spot.file), spot.line, shown(&scratch, spot.routine), shown(&scratch, spot.call_file),
           spot.call_line);
    arena_release(&scratch);
    for (; place != CODE_NONE; place = code_place(code, place)->parent)
        print_place(code_place(code, place));
}

int cmd_loops(int argc, char **argv)
{
    bool with_routines = false;
    while (option_next(argc, argv, &manual_loops) != -1)
        with_routines = true;
    int at = optind;
    if (at >= argc)
        die("loops of which program? `whywait loops PROGRAM`");
    struct code *code = code_open();
    uint32_t module = code_add_module(code, argv[at], NULL, 0);
    enum code_state state = code_module_state(code, module);
    int status = 0;
    const char *ending = strrchr(argv[at], '.');
    const char *unread, *language = interpreter_language(argv[at]);
    if (state == CODE_MISSING && code_module_fault(code, module, &unread))
        ; /* said below */
    else if (state == CODE_MISSING && ending && !strcmp(ending, ".py") && !access(argv[at], R_OK))
        status = error("%s: a script has no machine code: record it, and `whywait annotate` shows its loops", argv[at]);
    else if (state == CODE_MISSING)
        status = error("%s: no such file, or not an ELF program or library", argv[at]);
    else if (language && at + 1 == argc && !with_routines)
        status =
            error("%s runs programs in %s, whose loops are in their scripts: record one, and `whywait annotate` shows "
                  "them",
                  argv[at], language);
    else if (at + 1 == argc) {
        uint32_t n_routines = code_n_routines(code, module);
        for (uint32_t r = 0; r < n_routines; r++)
            code_place_at(code, module, code_routine_address(code, module, r));
        for (uint32_t p = 0; p < code_n_places(code); p++) {
            const struct code_place *place = code_place(code, p);
            if (place->source == p && (with_routines || place->is_loop))
                print_place(place);
        }
    } else
        for (int i = at + 1; i < argc; i++)
            print_address(code, module, argv[i]);
    int fault = code_module_fault(code, module, &unread);
    if (fault)
        status = error("cannot open %s: %s", unread, strerror(fault));
    code_close(code);
    return status != 0;
}
