/* SPDX-License-Identifier: BSD-3-Clause */
/* Frames of Python: an interpreter made by hand, whole and overwritten; the forms of line tables; the table of offsets;
 * the frames' places among those of C code. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>
#include "wrap/format.h"
#include "wrap/record/stack/python_code.h"
#include "wrap/record/stack/stacks.h"
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum { ARENA_BYTES = 64 << 10, FRAMES = 20, FRAME_BYTES = 128, CODE_BYTES = 256, TEXT_BYTES = 96, TRIALS = 200000 };

/* Memory in which an interpreter of 3.11 has a thread with some frames. Nothing is mapped around it. */
static struct arena {
    char *at;
    uint64_t state;
} arena;
static char code_type[64];
static struct spool spool;
static struct spool_budget budget = {.left_bytes = INT64_MAX};
static char path[64];

static uint64_t place(size_t offset)
{
    return (uint64_t)(uintptr_t)arena.at + offset;
}

static void put(uint64_t address, const void *bytes, size_t n)
{
    memcpy((void *)(uintptr_t)address, bytes, n);
}

static void put_word(uint64_t address, uint64_t value)
{
    put(address, &value, sizeof value);
}

/* A string of ASCII in the form of 3.11, or bytes. */
static uint64_t put_object(uint64_t address, const void *text, size_t n, size_t head)
{
    uint32_t ascii = 1 << 2 | 1 << 5 | 1 << 6;
    put_word(address + 16, n);
    if (head == 48)
        put(address + 32, &ascii, sizeof ascii);
    put(address + head, text, n);
    return address;
}

/* Of code i: function fi in file.py, from line 10 * i; its first two units are that line, the others the next one. */
static uint64_t put_code(unsigned i)
{
    static const unsigned char table[] = {0x80 | 13 << 3 | 1, 0, 0x80 | 13 << 3 | 7, 2};
    uint64_t code = place(8192 + (size_t)i * CODE_BYTES), texts = place(32768 + (size_t)i * 3 * TEXT_BYTES);
    char name[16];
    int32_t first_line = 10 * (int32_t)i;
    put_word(code + 8, (uint64_t)(uintptr_t)code_type);
    put(code + 72, &first_line, sizeof first_line);
    snprintf(name, sizeof name, "f%u", i);
    put_word(code + 112, put_object(texts, "/a/file.py", 10, 48));
    put_word(code + 128, put_object(texts + TEXT_BYTES, name, strlen(name), 48));
    put_word(code + 136, put_object(texts + 2 * TEXT_BYTES, table, sizeof table, 32));
    return code;
}

static void make_interpreter(void)
{
    memset(arena.at, 0, ARENA_BYTES);
    uint64_t holder = place(256), first = place(1024);
    arena.state = place(0);
    put_word(arena.state + 56, holder);
    put_word(holder + 8, first);
    for (unsigned i = 0; i < FRAMES; i++) {
        uint64_t frame = first + (uint64_t)i * FRAME_BYTES, code = put_code(i + 1);
        put_word(frame + 32, code);
        put_word(frame + 48, i + 1 < FRAMES ? frame + FRAME_BYTES : 0);
        put_word(frame + 56, code + 184 + (i % 2 ? 4 : 2));
        *(char *)(uintptr_t)(frame + 68) = i % 5 == 4;
    }
}

static void *thread_state(void)
{
    return (void *)(uintptr_t)arena.state;
}

static int set_up(void **state)
{
    struct ww_header header = {.kind = WW_KIND_EVENTS};
    (void)state;
    assert_true(unwind_init());
    char *at = mmap(NULL, ARENA_BYTES + 8192, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    arena.at = at + 4096;
    mprotect(arena.at, ARENA_BYTES, PROT_READ | PROT_WRITE);
    snprintf(path, sizeof path, "/tmp/whywait-python-%d.ev", (int)getpid());
    assert_true(spool_open(&spool, path, &header, SPOOL_SMALLEST_SEGMENT, SPOOL_LARGEST_SEGMENT, &budget));
    python_process.thread_state = thread_state;
    python_process.code_type = (uint64_t)(uintptr_t)code_type;
    atomic_store(&python_process.layout, python_layout_of(11, NULL, 0));
    make_interpreter();
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    spool_close(&spool, WW_END_FINALIZE, 0, 1);
    unlink(path);
    return 0;
}

static struct python_scratch scratch;

static void check_walk(const struct python_walk *walk)
{
    assert_int_equal(walk->n, FRAMES);
    assert_false(walk->is_cut);
    for (unsigned i = 0; i < FRAMES; i++) {
        assert_int_equal(walk->frame[i].at, i % 2 ? 4 : 2);
        assert_int_equal(walk->frame[i].is_entry, i % 5 == 4);
    }
}

static void test_whole_frames(void **state)
{
    static struct python_walk walk, direct;
    struct python_codes *codes = NULL;
    (void)state;
    python_walk_safely(&walk, &scratch, arena.state, 0);
    check_walk(&walk);
    assert_true(atomic_load(&python_process.proved));
    python_walk_here(&direct);
    check_walk(&direct);
    assert_true(walk.key == direct.key);
    for (unsigned i = 0; i < FRAMES; i++) {
        uint64_t address = python_codes_address(&codes, &spool, &walk.frame[i]);
        assert_int_equal(ww_code_id(address), i + 1);
        assert_int_equal(address & WW_CODE_LINE, 10 * (i + 1) + (i % 2 ? 1 : 0));
        assert_true(python_codes_address(&codes, &spool, &walk.frame[i]) == address);
    }
    /* Another object at the same address is another routine; one that has ended meanwhile is none. */
    struct python_frame frame = walk.frame[0];
    int32_t line = 1000;
    put(frame.code + 72, &line, sizeof line);
    python_walk_here(&direct);
    assert_true(direct.key != walk.key);
    uint64_t address = python_codes_address(&codes, &spool, &direct.frame[0]);
    assert_int_equal(address & WW_CODE_LINE, 1000);
    frame.mark++;
    assert_true(python_codes_address(&codes, &spool, &frame) == 0);
    python_codes_release(&codes);
    make_interpreter();
}

/* While the interpreter's flag is set; memory that is not there tells nothing. */
static void test_collector(void **state)
{
    static struct python_walk walk;
    struct python_codes *codes = NULL;
    uint64_t interpreter = place(61440);
    uint32_t collects = 1;
    (void)state;
    put_word(arena.state + 16, interpreter);
    python_walk_safely(&walk, &scratch, arena.state, 0);
    assert_false(walk.collects);
    put(interpreter + 848, &collects, sizeof collects);
    python_walk_safely(&walk, &scratch, arena.state, 0);
    assert_true(walk.collects);
    check_walk(&walk);
    uint64_t address = python_codes_collector(&codes, &spool);
    assert_true(ww_is_code(address));
    assert_true(python_codes_collector(&codes, &spool) == address);
    assert_true(ww_code_id(python_codes_address(&codes, &spool, &walk.frame[0])) != ww_code_id(address));
    put_word(arena.state + 16, place(ARENA_BYTES));
    python_walk_safely(&walk, &scratch, arena.state, 0);
    assert_false(walk.collects);
    check_walk(&walk);
    python_codes_release(&codes);
    make_interpreter();
}

static uint64_t current;

static void *current_state(void)
{
    return (void *)(uintptr_t)current;
}

enum { THREAD_AT = 152, INTERPRETER_AT = 16, STATE = 62000, HOLDER = 62512, FIRST = 62600 };

/* This thread has a state in another interpreter as well, with two frames. */
static void put_other_state(void)
{
    put_word(place(STATE) + 56, place(HOLDER));
    put_word(place(HOLDER) + 8, place(FIRST));
    for (unsigned i = 0; i < 2; i++) {
        uint64_t frame = place(FIRST) + (uint64_t)i * FRAME_BYTES, code = put_code(FRAMES + 1 + i);
        put_word(frame + 32, code);
        put_word(frame + 48, i == 0 ? frame + FRAME_BYTES : 0);
        put_word(frame + 56, code + 184 + 2);
    }
    put_word(arena.state + THREAD_AT, (uint64_t)pthread_self());
    put_word(place(STATE) + THREAD_AT, (uint64_t)pthread_self());
}

/* Another interpreter that this thread runs has two more frames, which come first. Not those of another thread, or of
 * a state that has ended. */
static void test_second_interpreter(void **state)
{
    static struct python_walk walk;
    (void)state;
    put_other_state();
    python_process.current_state = current_state;
    current = place(STATE);
    python_walk_running(&walk, &scratch, arena.state);
    assert_int_equal(walk.n, FRAMES + 2);
    assert_false(walk.is_cut);
    assert_false(walk.frame[0].is_entry);
    assert_true(walk.frame[1].is_entry);
    assert_true(walk.frame[2].code == place(8192 + CODE_BYTES));
    uint64_t others[] = {0, arena.state, place(ARENA_BYTES)};
    for (size_t i = 0; i < sizeof others / sizeof *others; i++) {
        current = others[i];
        python_walk_running(&walk, &scratch, arena.state);
        check_walk(&walk);
    }
    current = place(STATE);
    put_word(place(STATE) + THREAD_AT, (uint64_t)pthread_self() + 1);
    python_walk_running(&walk, &scratch, arena.state);
    check_walk(&walk);
    python_process.current_state = NULL;
    make_interpreter();
}

static void *first_interpreter(void)
{
    return (void *)(uintptr_t)place(61440);
}

/* A state of another thread comes before this thread's. */
static void *list_of_states(void *interpreter)
{
    assert_ptr_equal(interpreter, first_interpreter());
    return (void *)(uintptr_t)place(STATE + 256);
}

/* From 3.12 on the state of a thread is that in the second interpreter. The frames of the first, which called it, come
 * behind. They are not looked for while the thread runs the first, nor where the list has no state of this thread. */
static void test_first_interpreter(void **state)
{
    static struct python_walk walk;
    (void)state;
    put_other_state();
    put_word(place(STATE + 256) + INTERPRETER_AT - 8, place(STATE));
    put_word(place(STATE + 256) + THREAD_AT, (uint64_t)pthread_self() + 1);
    put_word(arena.state + INTERPRETER_AT, place(61500));
    python_process.first_interpreter = first_interpreter;
    python_process.list_of_states = list_of_states;
    python_walk_running(&walk, &scratch, arena.state);
    assert_int_equal(walk.n, FRAMES + 2);
    assert_false(walk.is_cut);
    assert_true(walk.frame[FRAMES - 1].is_entry);
    assert_true(walk.frame[FRAMES].code == place(8192 + (FRAMES + 1) * CODE_BYTES));
    assert_true(walk.state == place(STATE));
    put_word(arena.state + INTERPRETER_AT, place(61440));
    python_walk_running(&walk, &scratch, arena.state);
    check_walk(&walk);
    put_word(arena.state + INTERPRETER_AT, place(61500));
    put_word(place(STATE + 256) + INTERPRETER_AT - 8, place(ARENA_BYTES));
    python_walk_running(&walk, &scratch, arena.state);
    check_walk(&walk);
    assert_true(walk.state == arena.state);
    python_process.first_interpreter = NULL;
    python_process.list_of_states = NULL;
    make_interpreter();
}

static void test_no_frames(void **state)
{
    static struct python_walk walk;
    (void)state;
    uint64_t odd[] = {0, 1, place(3), place(ARENA_BYTES), UINT64_C(1) << 60, place(ARENA_BYTES - 8)};
    for (size_t i = 0; i < sizeof odd / sizeof *odd; i++) {
        python_walk_safely(&walk, &scratch, odd[i], 0);
        assert_int_equal(walk.n, 0);
        assert_true(walk.key == 0);
    }
}

/* Something that may be read as a pointer into the arena, beyond it, or as a number. */
static uint64_t nonsense(void)
{
    uint64_t number = (uint64_t)random() << 32 ^ (uint64_t)random();
    switch (random() % 4) {
    case 0:
        return place((size_t)(number % (ARENA_BYTES + 4096)));
    case 1:
        return place((size_t)(number % ARENA_BYTES) & ~(size_t)7);
    case 2:
        return number % 64;
    default:
        return number;
    }
}

static void test_overwritten_frames(void **state)
{
    static struct python_walk walk;
    struct python_codes *codes = NULL;
    uint64_t n_frames = 0;
    (void)state;
    srandom(1);
    for (unsigned trial = 0; trial < TRIALS; trial++) {
        if (trial % 16 == 0)
            make_interpreter();
        size_t used = random() % 3 ? 1024 + FRAMES * FRAME_BYTES : ARENA_BYTES;
        put_word(place((size_t)random() % used & ~(size_t)7), nonsense());
        python_walk_safely(&walk, &scratch, arena.state, 0);
        assert_true(walk.n <= PYTHON_MOST);
        n_frames += walk.n;
        for (unsigned i = 0; trial % 64 == 63 && i < walk.n; i++)
            python_codes_address(&codes, &spool, &walk.frame[i]);
    }
    assert_true(n_frames > TRIALS); /* most of it was still there */
    python_codes_release(&codes);
    make_interpreter();
}

/* A chain that comes back to itself ends. */
static void test_circle(void **state)
{
    static struct python_walk walk;
    (void)state;
    put_word(place(1024) + (FRAMES - 1) * FRAME_BYTES + 48, place(1024));
    python_walk_safely(&walk, &scratch, arena.state, 0);
    assert_int_equal(walk.n, PYTHON_MOST);
    assert_true(walk.is_cut);
    make_interpreter();
}

struct line_case {
    unsigned minor;
    unsigned char table[16];
    uint32_t n, at, line;
};

static void test_lines(void **state)
{
    (void)state;
    static const struct line_case cases[] = {
        /* 3.11: two units in line 7; one without a line; one of the short form in line 7; one in line 9; -3 lines */
        {11, {0xe9, 0x00, 0xf8, 0x80, 0x11, 0xe0, 0x04, 0xe8, 0x07}, 9, 0, 7},
        {11, {0xe9, 0x00, 0xf8, 0x80, 0x11, 0xe0, 0x01, 0x02, 0xe8, 0x07}, 10, 3, 7},
        {11, {0xe9, 0x00, 0xf8, 0x80, 0x11, 0xe0, 0x01, 0x02, 0xe8, 0x07}, 10, 4, 7},
        {11, {0xe9, 0x00, 0xf8, 0x80, 0x11, 0xe0, 0x01, 0x02, 0xe8, 0x07}, 10, 6, 7},
        {11, {0xe9, 0x00, 0xf8, 0x80, 0x11, 0xe0, 0x01, 0x02, 0xe8, 0x07}, 10, 8, 9},
        {11, {0xe9, 0x00, 0xf8, 0x80, 0x11, 0xe0, 0x01, 0x02, 0xe8, 0x07}, 10, 10, 6},
        {11, {0xe9, 0x00}, 2, PYTHON_BEGIN, 7},
        /* 70 lines behind: a number of two parts, of the long form */
        {12, {0xf0, 0x4c, 0x02, 0x00, 0x01, 0x01}, 6, 0, 77},
        /* 3.10: bytes, lines */
        {10, {4, 1, 6, 2, 2, 0x80, 8, 0xff}, 8, 0, 8},
        {10, {4, 1, 6, 2, 2, 0x80, 8, 0xff}, 8, 4, 10},
        {10, {4, 1, 6, 2, 2, 0x80, 8, 0xff}, 8, 10, 10},
        {10, {4, 1, 6, 2, 2, 0x80, 8, 0xff}, 8, 12, 9},
        /* 3.9: after so many bytes, so many lines */
        {9, {0, 1, 8, 1, 6, 0xfe}, 6, 6, 8},
        {9, {0, 1, 8, 1, 6, 0xfe}, 6, 8, 9},
        {9, {0, 1, 8, 1, 6, 0xfe}, 6, 20, 7},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        assert_int_equal(
            python_line(python_layout_of(cases[i].minor, NULL, 0), cases[i].table, cases[i].n, 7, cases[i].at),
            cases[i].line);
}

static void test_columns(void **state)
{
    (void)state;
    static const struct {
        unsigned minor;
        unsigned char table[16];
        uint32_t n, at, first, end;
    } cases[] = {
        /* short: column 8 * 2 + 3, 5 bytes; none; one line behind, 4 to 17; long: the same line, 200 to 300; two lines
         */
        {11, {0x90, 0x35, 0xf8, 0xd8, 0x04, 0x11, 0xf0, 0x00, 0x00, 0x49, 0x03, 0x6d, 0x04}, 13, 0, 19, 24},
        {11, {0x90, 0x35, 0xf8, 0xd8, 0x04, 0x11, 0xf0, 0x00, 0x00, 0x49, 0x03, 0x6d, 0x04}, 13, 2, 0, 0},
        {11, {0x90, 0x35, 0xf8, 0xd8, 0x04, 0x11, 0xf0, 0x00, 0x00, 0x49, 0x03, 0x6d, 0x04}, 13, 4, 4, 17},
        {11, {0x90, 0x35, 0xf8, 0xd8, 0x04, 0x11, 0xf0, 0x00, 0x00, 0x49, 0x03, 0x6d, 0x04}, 13, 6, 200, 300},
        {11, {0x90, 0x35, 0xf8, 0xd8, 0x04, 0x11, 0xf0, 0x00, 0x00, 0x49, 0x03, 0x6d, 0x04}, 13, PYTHON_BEGIN, 0, 0},
        {12, {0xf0, 0x00, 0x01, 0x01, 0x05}, 5, 0, 0, 0},
        {12, {0xd0, 0x04}, 2, 0, 0, 0}, /* it ends too soon */
        {12, {0x90}, 1, 0, 0, 0},
        {10, {4, 1, 6, 2}, 4, 0, 0, 0},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct python_columns columns =
            python_columns(python_layout_of(cases[i].minor, NULL, 0), cases[i].table, cases[i].n, cases[i].at);
        assert_int_equal(columns.first, cases[i].first);
        assert_int_equal(columns.end, cases[i].end);
    }
}

/* Where tables have their groups of words: thread state, frame, code, bytes, string, collector. */
enum { N_GROUPS = 3 };
static const struct groups {
    unsigned minor, state, frame, code, bytes, string, collector;
} groups[N_GROUPS] = {{13, 19, 28, 34, 64, 67, 71}, {14, 22, 31, 39, 74, 77, 81}, {15, 22, 39, 47, 86, 89, 94}};

/* The words that matter. */
static void fill_table(uint64_t *word, const struct groups *at)
{
    uint64_t *state = word + at->state, *frame = word + at->frame, *code = word + at->code;
    uint64_t *bytes = word + at->bytes, *string = word + at->string, *collector = word + at->collector;
    memset(word, 0, 96 * sizeof *word);
    memcpy(word, "xdebugpy", 8);
    word[1] = 0x030000f0 | at->minor << 16;
    state[0] = 400, state[3] = 16, state[4] = 72;
    frame[0] = 88, frame[1] = 8, frame[3] = 56, frame[5] = 70;
    code[0] = 216, code[1] = 112, code[3] = 128, code[4] = 136, code[5] = 68, code[9] = 208;
    bytes[0] = 40, bytes[1] = 16, bytes[2] = 32;
    word[at->minor == 13 ? 10 : 11] = 7400, collector[0] = 240, collector[1] = 200;
    string[0] = 64, string[1] = 32, string[2] = 16, string[3] = 40;
}

static void check_layout(const struct python_layout *layout, unsigned minor)
{
    assert_non_null(layout);
    assert_int_equal(layout->minor, minor);
    assert_int_equal(layout->state_frame, 72);
    assert_int_equal(layout->frame_entry, 70);
    assert_int_equal(layout->code_name, 128);
    assert_int_equal(layout->compact_bytes, 56);
    assert_int_equal(layout->state_interpreter, 16);
    assert_int_equal(layout->interpreter_collects, 7600);
}

static void test_layouts(void **state)
{
    uint64_t word[96];
    (void)state;
    for (unsigned minor = 9; minor <= 12; minor++)
        assert_int_equal(python_layout_of(minor, NULL, 0)->minor, minor);
    assert_null(python_layout_of(8, NULL, 0));
    assert_null(python_layout_of(13, NULL, 0));
    for (unsigned i = 0; i < N_GROUPS; i++) {
        fill_table(word, &groups[i]);
        check_layout(python_layout_of(groups[i].minor, word, sizeof word), groups[i].minor);
        assert_null(python_layout_of(groups[i].minor, word, sizeof word - 8));
        assert_null(python_layout_of(groups[(i + 1) % N_GROUPS].minor, word, sizeof word));
    }
    fill_table(word, &groups[0]);
    word[2] = 1; /* without a lock */
    assert_null(python_layout_of(13, word, sizeof word));
    fill_table(word, &groups[0]);
    word[0] = 0;
    assert_null(python_layout_of(13, word, sizeof word));
    fill_table(word, &groups[0]);
    word[28 + 5] = 88; /* outside */
    assert_null(python_layout_of(13, word, sizeof word));
}

static void test_text(void **state)
{
    const struct python_layout *layout = python_layout_of(11, NULL, 0);
    uint64_t string = place(60000);
    uint32_t state_word = 2 << 2 | 1 << 5;
    uint16_t wide[] = {'a', 0xe9, 0x20ac};
    char text[32];
    (void)state;
    put_word(string + 16, 3);
    put(string + 32, &state_word, sizeof state_word);
    put(string + 72, wide, sizeof wide);
    assert_int_equal(python_text(layout, string, text, sizeof text), 6);
    assert_memory_equal(text, "a\xc3\xa9\xe2\x82\xac", 6);
    assert_int_equal(python_text(layout, string, text, 6), 0);
    assert_int_equal(python_text(layout, place(ARENA_BYTES), text, sizeof text), 0);
}

enum { IN_C = 0x700000, MAIN = 0x800000, INTERPRETER = 0x400000 };

/* Three frames, with the interpreter's own behind the second and the third. */
static uint64_t put_owned_frames(const uint64_t *shims)
{
    enum { STATE_AT = 50000, FRAMES_AT = 51000, ON_C_STACK = 3 };
    uint64_t state = place(STATE_AT), frames[] = {place(FRAMES_AT), place(FRAMES_AT + FRAME_BYTES),
                                                  shims[0],         place(FRAMES_AT + 2 * FRAME_BYTES),
                                                  shims[1],         0};
    put_word(state + 56, place(256));
    put_word(place(256) + 8, frames[0]);
    for (unsigned i = 0; frames[i]; i++) {
        uint64_t code = place(8192 + (size_t)(i + 1) * CODE_BYTES);
        put_word(frames[i] + 32, code);
        put_word(frames[i] + 48, frames[i + 1]);
        put_word(frames[i] + 56, code + 184 + 2);
        *(char *)(uintptr_t)(frames[i] + 68) = frames[i] == shims[0] || frames[i] == shims[1] ? ON_C_STACK : 0;
    }
    return state;
}

/* These frames of Python and addresses of C code, in this order. */
static void check_merged(const struct stack_walk *merged, struct stack_table *table, const struct python_walk *python)
{
    uint64_t frame[3];
    for (unsigned i = 0; i < 3; i++)
        frame[i] = python_codes_address(&table->codes, &spool, &python->frame[i]);
    uint64_t wanted[] = {frame[0], frame[1], IN_C, frame[2], MAIN};
    assert_int_equal(merged->n, 5);
    assert_memory_equal(merged->address, wanted, sizeof wanted);
}

/* Compilers cut the function that runs frames in two. Whatever it is called, it has the interpreter's own frames on its
 * part of the stack. Where it was not found itself, the frames come behind what has that part. */
static void test_places_in_c(void **state)
{
    static struct python_walk python;
    struct stack_table table = {.last_id = 0};
    uint64_t low = place(52000), shims[] = {low + 80, low + 560};
    struct stack_walk walk = {.n = 5,
                              .address = {INTERPRETER + 10, IN_C, INTERPRETER + 20, INTERPRETER + 30, MAIN},
                              .slot = {0, low + 200, low + 304, low + 704, low + 800},
                              .end_slot = low + 904};
    struct stack_walk leaping = {
        .n = 3, .address = {INTERPRETER + 10, IN_C, MAIN}, .slot = {0, low + 200, low + 800}, .end_slot = low + 904};
    struct python_layout owned = *python_layout_of(11, NULL, 0);
    (void)state;
    owned.entry = PYTHON_BY_OWNER;
    atomic_store(&python_process.layout, &owned);
    python_process.low = INTERPRETER;
    python_process.high = INTERPRETER + 4096;
    python_walk_safely(&python, &scratch, put_owned_frames(shims), 0);
    assert_int_equal(python.n, 3);
    assert_true(python.frame[1].is_entry && python.frame[2].is_entry);
    stacks_merge(&table, &spool, &walk, &python);
    check_merged(&walk, &table, &python);
    stacks_merge(&table, &spool, &leaping, &python);
    check_merged(&leaping, &table, &python);
    python_codes_release(&table.codes);
    python_process.low = python_process.high = 0;
    atomic_store(&python_process.layout, python_layout_of(11, NULL, 0));
    make_interpreter();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_whole_frames),
        cmocka_unit_test(test_no_frames),
        cmocka_unit_test(test_circle),
        cmocka_unit_test(test_overwritten_frames),
        cmocka_unit_test(test_lines),
        cmocka_unit_test(test_columns),
        cmocka_unit_test(test_layouts),
        cmocka_unit_test(test_text),
        cmocka_unit_test(test_collector),
        cmocka_unit_test(test_second_interpreter),
        cmocka_unit_test(test_first_interpreter),
        cmocka_unit_test(test_places_in_c),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
