/* SPDX-License-Identifier: BSD-3-Clause */
/* The cache of call stacks: the same stack has the same number, a different one never, whatever the addresses of the
 * frames. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>
#include "tests/unit/record/spool_reader.h"
#include "wrap/record/record.h"
#include "wrap/record/recorder.h"
#include <alloca.h>
#include <string.h>
#include <unistd.h>

static struct stack_table table;
static struct spool *spool;
static struct spool_budget budget = {.left_bytes = INT64_MAX};
static struct stack_bounds bounds;
static char path[64];
static volatile int sink;

static __attribute__((noinline)) uint32_t here(void)
{
    return stacks_find(&table, spool, &bounds, RECORD_HERE);
}

static __attribute__((noinline)) uint32_t inner(void)
{
    uint32_t id = here();
    sink++;
    return id;
}

/* Two callers with frames of one size: the frame of here() has the same address in both. */
static __attribute__((noinline)) uint32_t from_a(void)
{
    uint32_t id = inner();
    sink += 1;
    return id;
}

static __attribute__((noinline)) uint32_t from_b(void)
{
    uint32_t id = inner();
    sink += 2;
    return id;
}

static __attribute__((noinline)) uint32_t deeper(size_t bytes)
{
    volatile char *space = alloca(bytes);
    space[0] = 1;
    uint32_t id = from_a();
    sink += space[0];
    return id;
}

enum { N_CALLS = 1000, N_ROUNDS = 2 };
static volatile int n_calls = N_CALLS, n_rounds = N_ROUNDS;

static void test_same_and_different(void **state)
{
    (void)state;
    uint32_t id[N_CALLS];
    for (int i = 0; i < n_calls; i++) /* one call site each: what is compared here, compilers would unroll */
        id[i] = i & 1 ? from_b() : from_a();
    for (int i = 2; i < N_CALLS; i++)
        assert_int_equal(id[i], id[i & 1]);
    assert_true(id[0] != 0 && id[1] != 0);
    assert_int_not_equal(id[0], id[1]);
}

static void test_same_addresses_at_other_depths(void **state)
{
    (void)state;
    uint32_t first = 0;
    for (size_t i = 0; i < 50; i++) {
        uint32_t id = deeper(16 + 64 * (i % 10));
        if (first == 0)
            first = id;
        assert_int_equal(id, first);
    }
}

static __attribute__((noinline)) uint32_t recursive(int depth)
{
    uint32_t id = depth ? recursive(depth - 1) : inner();
    sink++;
    return id;
}

static void test_recursion(void **state)
{
    (void)state;
    uint32_t id[N_ROUNDS][20];
    for (int round = 0; round < n_rounds; round++)
        for (int depth = 0; depth < 20; depth++)
            id[round][depth] = recursive(depth);
    for (int depth = 0; depth < 20; depth++)
        assert_int_equal(id[1][depth], id[0][depth]);
    for (int depth = 1; depth < 20; depth++)
        assert_int_not_equal(id[0][depth], id[0][depth - 1]);
}

/* The stack that is tried first is the one that came next before: often another one here. */
static void test_changing_order(void **state)
{
    (void)state;
    enum { N_WAYS = 12 };
    uint32_t id[N_CALLS];
    unsigned way[N_CALLS], random = 1;
    for (unsigned i = 0; i < N_CALLS; i++) {
        random = random * 1103515245 + 12345;
        way[i] = i < N_WAYS ? i : (random >> 16) % N_WAYS;
    }
    for (int i = 0; i < n_calls; i++)
        id[i] = way[i] == 0 ? from_a() : way[i] == 1 ? from_b() : recursive((int)way[i]);
    for (int i = N_WAYS; i < N_CALLS; i++)
        assert_int_equal(id[i], id[way[i]]);
    for (int i = 1; i < N_WAYS; i++)
        assert_int_not_equal(id[i], id[i - 1]);
}

/* Memory that runs out begins again: numbers stay unique. */
static void test_small_memory(void **state)
{
    (void)state;
    struct stack_table small;
    uint32_t last = 0;
    assert_true(stacks_init(&small, 16 << 10));
    for (uint64_t i = 0; i < 2000; i++) {
        struct stack_walk walk = {.n = 3, .address = {1000 + i, 2000, 3000}};
        uint32_t id = stacks_intern(&small, spool, &walk);
        assert_true(id > last);
        assert_int_equal(stacks_intern(&small, spool, &walk), id);
        last = id;
    }
    stacks_release(&small);
}

static void test_foreign_stack(void **state)
{
    (void)state;
    struct stack_bounds none = {0, 0}, before = bounds;
    bounds = none;
    uint32_t id = inner();
    bounds = before;
    assert_int_not_equal(id, 0);
    assert_int_not_equal(id, inner());
}

/* What was written describes this program, outermost frame last. */
static void test_written_stacks(void **state)
{
    (void)state;
    spool_close(spool, WW_END_FINALIZE, 0, 1);
    struct spool_file file = spool_file_load(path);
    size_t n_with_inner = 0;
    for (const struct ww_head *r = spool_file_next(&file, NULL); r; r = spool_file_next(&file, r)) {
        const struct ww_stack *stack = (const void *)r;
        assert_int_equal(r->type, WW_STACK);
        n_with_inner += stack->n > 2 && stack->address[0] - (uint64_t)(uintptr_t)inner < 100;
    }
    assert_true(n_with_inner > 20);
    free(file.bytes);
}

static int set_up(void **state)
{
    (void)state;
    char dir[] = "/tmp/whywait-test-XXXXXX";
    struct ww_header header = {.magic = WW_MAGIC};
    if (!mkdtemp(dir) || !unwind_init() || !stacks_init(&table, 1 << 20))
        return -1;
    snprintf(path, sizeof path, "%s/0-0.ev", dir);
    spool = calloc(1, sizeof *spool);
    stacks_learn_process();
    extern char **environ;
    bounds = (struct stack_bounds){(uint64_t)(uintptr_t)environ - (1 << 20), (uint64_t)(uintptr_t)environ & ~7ull};
    return spool_open(spool, path, &header, SPOOL_SMALLEST_SEGMENT, SPOOL_LARGEST_SEGMENT, &budget) ? 0 : -1;
}

static int tear_down(void **state)
{
    (void)state;
    unlink(path);
    *strrchr(path, '/') = '\0';
    rmdir(path);
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_same_and_different), cmocka_unit_test(test_same_addresses_at_other_depths),
        cmocka_unit_test(test_recursion),          cmocka_unit_test(test_changing_order),
        cmocka_unit_test(test_small_memory),       cmocka_unit_test(test_foreign_stack),
        cmocka_unit_test(test_written_stacks),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
