/* SPDX-License-Identifier: BSD-3-Clause */
/* Counted blocks in several pieces, and calls in them, laid over a routine of a real program that has one loop. */
#include "analyze/counts/executions.h"
#include <setjmp.h>
#include <stdarg.h>
#include <string.h>
#include <unistd.h>
#include <cmocka.h>

enum { BODY = 2, EMPTY = 3, GONE = 4, N_BLOCKS = 5 };

/* In how many loops an address lies. */
static uint32_t depth_at(struct code *code, uint32_t module, uint64_t address)
{
    return code_run_at(code, module, address, address + 1).depth;
}

static const struct code_place *only_loop(struct code *code, uint32_t module, const char *routine)
{
    for (uint32_t r = 0; r < code_n_routines(code, module); r++)
        code_place_at(code, module, code_routine_address(code, module, r));
    for (uint32_t p = 0; p < code_n_places(code); p++)
        if (code_place(code, p)->is_loop && !strcmp(code_place(code, p)->routine, routine))
            return code_place(code, p);
    fail_msg("no loop in %s", routine);
    return NULL;
}

struct shape {
    struct code *code;
    const struct code_place *loop;
    uint32_t module;
};

static int shape_open(void **state)
{
    static struct shape shape;
    shape.code = code_open();
    shape.module = code_add_module(shape.code, SHAPES_BIN "/c-O2", NULL, 0);
    shape.loop = only_loop(shape.code, shape.module, "kernel");
    *state = &shape;
    return shape.loop ? 0 : -1;
}

static int shape_close(void **state)
{
    code_close(((struct shape *)*state)->code);
    return 0;
}

static void a_block_is_where_its_innermost_piece_is(void **state)
{
    const struct shape *shape = *state;
    struct code *code = shape->code;
    const struct code_place *loop = shape->loop;
    uint32_t module = shape->module;
    uint64_t entry = loop->routine_address, inside = loop->address;
    /* What was moved out of the loop is longer than what was left there; another block's label is all of it. */
    const struct points_address pieces[] = {{entry, BODY, POINTS_CODE},
                                            {inside, EMPTY, POINTS_CODE},
                                            {inside + 1, BODY, POINTS_RETURN},
                                            {inside, BODY, POINTS_CODE}};
    struct counts_block blocks[N_BLOCKS] = {0};
    struct cfg_loop in_graph = {.parent = CFG_NONE, .depth = 1};
    struct counts_function function = {.blocks = blocks,
                                       .n_blocks = N_BLOCKS,
                                       .loops = {.at = &in_graph, .n = 1},
                                       .addresses = pieces,
                                       .n_addresses = sizeof pieces / sizeof *pieces};
    struct block_places places = {0};
    assert_int_equal(block_place(&places, code, module, &function, BODY), loop->id);
    assert_int_equal(block_place(&places, code, module, &function, EMPTY), loop->id);
    assert_true(block_instructions(&places, code, module, &function, EMPTY) == 0);
    assert_int_equal(block_place(&places, code, module, &function, GONE), CODE_NONE);
    uint32_t call = code_place_of_call(code, module, inside, true);
    assert_int_not_equal(call, CODE_NONE);
    assert_true(code_place(code, call)->is_loop);
    const struct block_calls *calls = block_calls_of(&places, code, module, &function);
    assert_int_equal(calls->n, 1);
    assert_int_equal(calls->at[0].block, BODY);
    assert_int_equal(calls->at[0].place, call);
    block_places_release(&places);
}

/* The loop's first instructions are moved ahead of it, and nothing is left in it that says whose it is. */
static void a_loop_without_a_label_is_the_one_before_it(void **state)
{
    const struct shape *shape = *state;
    struct code *code = shape->code;
    const struct code_place *loop = shape->loop;
    uint32_t module = shape->module;
    uint64_t entry = loop->routine_address, inside = loop->address, end = inside;
    while (depth_at(code, module, end) > 0)
        end++;
    struct counts_block blocks[N_BLOCKS] = {[EMPTY] = {.loop = CFG_NONE}};
    struct cfg_loop in_graph = {.parent = CFG_NONE, .depth = 1};
    struct points_address labels[] = {
        {entry, BODY, POINTS_CODE}, {end, EMPTY, POINTS_CODE}, {end + 1, GONE, POINTS_CODE}};
    struct counts_function function = {.blocks = blocks,
                                       .n_blocks = N_BLOCKS,
                                       .loops = {.at = &in_graph, .n = 1},
                                       .addresses = labels,
                                       .n_addresses = sizeof labels / sizeof *labels};
    struct block_places places = {0};
    assert_int_equal(block_place(&places, code, module, &function, BODY), loop->id);
    assert_int_equal(block_place(&places, code, module, &function, EMPTY), code_place_at(code, module, end));
    block_places_release(&places);

    /* A label in it says that it is another block's; so does a block that lies in no loop. */
    labels[1].address = inside;
    places = (struct block_places){0};
    assert_int_equal(block_place(&places, code, module, &function, BODY), code_place_at(code, module, entry));
    block_places_release(&places);
    labels[1].address = end;
    blocks[BODY].loop = CFG_NONE;
    places = (struct block_places){0};
    assert_int_equal(block_place(&places, code, module, &function, BODY), code_place_at(code, module, entry));
    block_places_release(&places);
}

static void a_call_tells_where_its_block_is(void **state)
{
    const struct shape *shape = *state;
    struct code *code = shape->code;
    const struct code_place *loop = shape->loop;
    uint32_t module = shape->module;
    const struct points_address labels[] = {{loop->routine_address, BODY, POINTS_CODE},
                                            {loop->address + 1, BODY, POINTS_RETURN}};
    struct counts_block blocks[N_BLOCKS] = {0};
    struct cfg_loop in_graph = {.parent = CFG_NONE, .depth = 1};
    struct counts_function function = {.blocks = blocks,
                                       .n_blocks = N_BLOCKS,
                                       .loops = {.at = &in_graph, .n = 1},
                                       .addresses = labels,
                                       .n_addresses = sizeof labels / sizeof *labels};
    struct block_places places = {0};
    assert_int_equal(block_place(&places, code, module, &function, BODY), loop->id);
    block_places_release(&places);
}

/* One loop of the source, one of the graph; of its two copies in the machine code one lies inside another loop. */
static void of_copies_the_one_as_deep_as_the_block_tells(void **state)
{
    const struct shape *shape = *state;
    struct code *code = shape->code;
    uint32_t module = shape->module;
    const struct code_place *outer = NULL, *inner = NULL;
    for (uint32_t p = 0; p < code_n_places(code); p++) {
        const struct code_place *place = code_place(code, p);
        if (!place->is_loop || strcmp(place->routine, "nested"))
            continue;
        bool is_inner = depth_at(code, module, place->address) == 2;
        *(is_inner ? &inner : &outer) = place;
    }
    assert_true(outer && inner);
    struct points_address labels[] = {{outer->address, BODY, POINTS_CODE}, {inner->address, BODY, POINTS_CODE}};
    struct counts_block blocks[N_BLOCKS] = {0};
    struct cfg_loop in_graph = {.parent = CFG_NONE, .depth = 1};
    struct counts_function function = {.blocks = blocks,
                                       .n_blocks = N_BLOCKS,
                                       .loops = {.at = &in_graph, .n = 1},
                                       .addresses = labels,
                                       .n_addresses = sizeof labels / sizeof *labels};
    struct block_places places = {0};
    assert_int_equal(block_place(&places, code, module, &function, BODY), outer->id);
    block_places_release(&places);
    in_graph.depth = 2;
    places = (struct block_places){0};
    assert_int_equal(block_place(&places, code, module, &function, BODY), inner->id);
    block_places_release(&places);
}

/* A loop with two entries is two in the machine code, one in the other, and one of the source and of the graph. */
static void a_loop_with_two_entries_is_one(void **state)
{
    (void)state;
    static const char program[] = SHAPES_BIN "/f90-counted-O3"; /* with a compiler and a plugin for it only */
    struct counts *counts = NULL;
    if (access(program, R_OK))
        skip();
    struct code *code = code_open();
    uint32_t module = code_add_module(code, program, NULL, 0), n_deep = 0;
    assert_int_equal(counts_open(program, &counts), 0);
    for (uint32_t f = 0; f < counts_n_functions(counts); f++) {
        const struct counts_function *function = counts_function(counts, f);
        struct block_places places = {0};
        if (strcmp(function->source_name, "advance"))
            continue;
        for (uint32_t b = 0; b < function->n_blocks; b++) {
            uint32_t loop = function->blocks[b].loop, place = block_place(&places, code, module, function, b);
            if (place == CODE_NONE || loop == CFG_NONE)
                continue;
            assert_int_equal(code_place(code, place)->depth, function->loops.at[loop].depth);
            n_deep += function->loops.at[loop].depth == 2;
        }
        block_places_release(&places);
    }
    assert_in_range(n_deep, 2, 8);
    counts_close(counts);
    code_close(code);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(a_block_is_where_its_innermost_piece_is, shape_open, shape_close),
        cmocka_unit_test_setup_teardown(a_loop_without_a_label_is_the_one_before_it, shape_open, shape_close),
        cmocka_unit_test_setup_teardown(a_call_tells_where_its_block_is, shape_open, shape_close),
        cmocka_unit_test_setup_teardown(of_copies_the_one_as_deep_as_the_block_tells, shape_open, shape_close),
        cmocka_unit_test(a_loop_with_two_entries_is_one)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
