/* SPDX-License-Identifier: BSD-3-Clause */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include "analyze/out/page.h"
#include <stdlib.h>
#include <string.h>

static void what_could_steer_a_terminal_is_escaped(void **state)
{
    (void)state;
    static const struct {
        const char *text, *escaped;
    } cases[] = {
        {"relax(int)", "relax(int)"},
        {"a\033[2Jb", "a\\x1b[2Jb"},
        {"line\nfeed\r\t", "line\\x0afeed\\x0d\\x09"},
        {"del\x7f", "del\\x7f"},
        {"gr\xc3\xb6\xc3\x9f"
         "e",
         "gr\xc3\xb6\xc3\x9f"
         "e"}, /* UTF-8 stays */
        {"c1 \xc2\x9b"
         "31m",
         "c1 \\xc2\\x9b"
         "31m"}, /* CSI as one code point */
        {"rtl \xe2\x80\xae"
         "gpj",
         "rtl \\xe2\\x80\\xae"
         "gpj"},                         /* right-to-left override */
        {"latin1 \xf6", "latin1 \\xf6"}, /* no UTF-8 */
        {"cut \xe2\x82", "cut \\xe2\\x82"},
        {"overlong \xc0\xaf", "overlong \\xc0\\xaf"},
        {"surrogate \xed\xa0\x80", "surrogate \\xed\\xa0\\x80"},
        {"\xf0\x9f\x98\x80", "\xf0\x9f\x98\x80"},
    };
    struct arena arena = {0};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        assert_string_equal(text_escape(&arena, cases[i].text), cases[i].escaped);
    arena_release(&arena);
}

static void cutting_counts_characters(void **state)
{
    (void)state;
    struct arena arena = {0};
    assert_int_equal(text_columns("gr\xc3\xb6\xc3\x9f"
                                  "e"),
                     5);
    assert_string_equal(text_cut(&arena, "abcdef", 6), "abcdef");
    assert_string_equal(text_cut(&arena, "abcdefg", 6), "abc...");
    assert_string_equal(text_cut(&arena, "\xc3\xb6\xc3\xb6\xc3\xb6\xc3\xb6\xc3\xb6", 4), "\xc3\xb6...");
    assert_string_equal(text_cut(&arena, "abcdefg", 2), "..");
    assert_string_equal(text_cut_middle(&arena, "abcdefghij", 10), "abcdefghij");
    assert_string_equal(text_cut_middle(&arena, "abcdefghijkl", 9), "abcd...kl");
    assert_string_equal(text_cut_middle(&arena, "\xc3\xb6\xc3\xb6\xc3\xb6\xc3\xb6\xc3\xb6\xc3\xb6\xc3\xb6", 6),
                        "\xc3\xb6\xc3\xb6...\xc3\xb6");
    static const char one[] = "a <- b <- c <- first <- d <- e <- f", two[] = "a <- b <- c <- second <- d <- e <- f";
    static const char long_a[] = "a <- b <- c <- first_of_two <- d <- e <- f",
                      long_b[] = "a <- b <- c <- first_of_all <- d <- e <- f";
    assert_string_equal(text_cut_middle(&arena, one, 25), text_cut_middle(&arena, two, 25));
    assert_string_equal(text_cut_apart(&arena, one, two, 25), "a <- b <- c...firs...<- f");
    assert_string_equal(text_cut_apart(&arena, two, one, 25), "a <- b <- c...seco...<- f");
    assert_string_equal(text_cut_apart(&arena, long_a, long_b, 25), "a <- b <- c...f_tw...<- f");
    assert_string_equal(text_cut_apart(&arena, long_b, long_a, 25), "a <- b <- c...f_al...<- f");
    /* Nothing is said twice. */
    static const char twice[] = "a <- b <- c <- d <- d <- e <- f", thrice[] = "a <- b <- c <- d <- d <- d <- e <- f";
    assert_string_equal(text_cut_apart(&arena, twice, thrice, 25), twice);
    assert_string_equal(text_cut_apart(&arena, thrice, twice, 25), "a <- b <- c...d <-...<- f");
    assert_string_equal(text_cut_apart(&arena, one, one, 25), "a <- b <- ... <- e <- f");
    assert_string_equal(text_cut_apart(&arena, one, "g", 25), "a <- b <- ... <- e <- f");
    assert_string_equal(text_cut_apart(&arena, one, two, 35), one);
    arena_release(&arena);
}

struct capture {
    char *text;
    size_t size;
    struct page page;
};

static void capture_start(struct capture *capture, size_t width)
{
    *capture = (struct capture){0};
    capture->page = (struct page){.out = open_memstream(&capture->text, &capture->size), .width = width};
}

static void capture_expect(struct capture *capture, const char *text)
{
    fclose(capture->page.out);
    assert_string_equal(capture->text, text);
    free(capture->text);
}

static void pieces_wrap_at_the_width(void **state)
{
    (void)state;
    struct capture capture;
    capture_start(&capture, 20);
    page_put(&capture.page, "first");
    page_piece(&capture.page, 4, "second");
    page_piece(&capture.page, 4, "third piece");
    page_piece(&capture.page, 4, "%s", "x\ny");
    page_end(&capture.page);
    page_put(&capture.page, "ab");
    page_piece(&capture.page, 4, "c");
    page_piece(&capture.page, 4, "longer than a line is");
    page_end(&capture.page);
    capture_expect(&capture, "first   second\n    third piece\n    x\\x0ay\nab   c\n    longer than a\n    line is\n");
}

static void paragraphs_break_at_blanks(void **state)
{
    (void)state;
    struct capture capture;
    capture_start(&capture, 12);
    page_paragraph(&capture.page, 0, 2, "one two three four fivesixseveneight");
    capture_expect(&capture, "one two\n  three four\n  fivesixseveneight\n");
}

static void numbers_keep_their_units(void **state)
{
    (void)state;
    struct capture capture;
    capture_start(&capture, 12);
    page_paragraph(&capture.page, 0, 2, "waits 1.20 ms, 99 % here");
    capture_expect(&capture, "waits\n  1.20 ms,\n  99 % here\n");
}

static const char *const words[][2] = {{"alpha", "1"}, {"a much longer label than fits", "22"}};

static const struct page_column columns[] = {{"word", PAGE_LEFT, STYLE_PLAIN}, {"n", PAGE_RIGHT, STYLE_PLAIN}};

static void put_words(struct page_table *table, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        page_cell(table, "%s", words[i][0]);
        if (table->n_columns > 2)
            page_cell(table, "%s", "");
        page_cell(table, "%s", words[i][1]);
    }
}

/* Between routines, and never where it parts from another. */
static void paths_are_cut_between_routines(void **state)
{
    (void)state;
    struct arena arena = {0};
    const char *const paths[] = {"MPI_Send in a() <- b() <- c() <- d() <- e() <- f() <- g()",
                                 "MPI_Send in a() <- b() <- c() <- d() <- x() <- f() <- g()",
                                 "MPI_Send in a() <- b() <- (4 more) <- h() <- g(), through w()",
                                 "MPI_Send in a() <- b() <- (3 more) <- i() <- g(), through w()"};
    assert_string_equal(text_cut_path(&arena, paths, 1, 0, 57), paths[0]);
    assert_string_equal(text_cut_path(&arena, paths, 1, 0, 56), "MPI_Send in a() <- b() <- c() <- ... <- f() <- g()");
    assert_string_equal(text_cut_path(&arena, paths, 1, 0, 30), "MPI_Send in a() <- ... <- g()");
    assert_string_equal(text_cut_path(&arena, paths, 2, 0, 38), "MPI_Send in a() <- ... <- e() <- ...");
    assert_string_equal(text_cut_path(&arena, paths, 2, 1, 46), "MPI_Send in a() <- ... <- x() <- f() <- g()");
    assert_string_equal(text_cut_path(&arena, paths, 2, 1, 20), "MPI_Send in a() <- ... <- x() <- ...");
    static const char *const wrapped[] = {"MPI_Send in interfaces() <- b() <- c(), through wait_requests()"};
    assert_string_equal(text_cut_path(&arena, wrapped, 1, 0, 40), "MPI_Send in interfaces() <- b() <- c()");
    /* A name says more than the numbers around it. */
    const char *const numbered[] = {
        "MPI_Recv in routine 7+0x1 of x <- routine 9+0x2 <- dot()+0x3 <- routine 4 <- main()"};
    assert_string_equal(text_cut_path(&arena, numbered, 1, 0, 58),
                        "MPI_Recv in routine 7+0x1 of x <- ... <- dot()+0x3 <- ...");
    assert_null(text_cut_path(&arena, paths, 2, 1, 14));
    /* No caller fits beside the call: there is another line for them. */
    const char *const wide[] = {
        "MPI_Allreduce in a_long_name::of_a_routine() <- another_one_of::that_kind() <- main()"};
    assert_string_equal(text_cut_path(&arena, wide, 1, 0, 50), wide[0]);
    assert_string_equal(text_cut_path(&arena, &paths[2], 2, 0, 61), paths[2]);
    assert_string_equal(text_cut_path(&arena, &paths[2], 2, 0, 59),
                        "MPI_Send in a() <- b() <- ... <- h() <- g(), through w()");
    assert_string_equal(text_cut_path(&arena, &paths[2], 2, 1, 50),
                        "MPI_Send in a() <- ... <- i() <- g(), through w()");
    arena_release(&arena);
}

static void tables_align_and_cut(void **state)
{
    (void)state;
    struct capture capture;
    capture_start(&capture, 22);
    struct page_table table = {.columns = columns, .n_columns = 2, .indent = 1};
    put_words(&table, 2);
    page_table(&capture.page, &table);
    capture_expect(&capture, " word                n\n"
                             " alpha               1\n"
                             " a much longer ...  22\n");
    capture_start(&capture, 80);
    struct page_table empty = {.columns = columns, .n_columns = 2};
    page_table(&capture.page, &empty);
    capture_expect(&capture, "word  n\n");
}

static void text_wraps_at_blanks_then_behind_commas_and_colons(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        size_t columns;
        const char *lines[4];
    } cases[] = {
        {"short", 9, {"short"}},
        {"exactly 9", 9, {"exactly 9"}},
        {"loop at ns::Pair::compute()", 15, {"loop at", "ns::Pair::", "compute()"}},
        {"loop a.c:405 in distExecute(), called", 28, {"loop a.c:405 in", "distExecute(), called"}},
        {"loop a.c:405 in distExecuteLouvain()", 34, {"loop a.c:405 in", "distExecuteLouvain()"}},
        {"ranks 0-3,32-39,128-142", 17, {"ranks 0-3,32-39,", "128-142"}},
        {"abcdefghij", 4, {"abcd", "efgh", "ij"}},
        {"\xc3\xb6\xc3\xb6\xc3\xb6", 2, {"\xc3\xb6\xc3\xb6", "\xc3\xb6"}},
    };
    struct arena arena = {0};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const char *rest = cases[i].text;
        for (size_t line = 0; line < 4 && cases[i].lines[line]; line++)
            assert_string_equal(text_first_line(&arena, &rest, cases[i].columns), cases[i].lines[line]);
        assert_string_equal(rest, "");
    }
    arena_release(&arena);
}

static void tables_wrap_and_leave_out_silent_columns(void **state)
{
    (void)state;
    static const struct page_column wrapped[] = {
        {"word", PAGE_WRAP, STYLE_PLAIN}, {"none", PAGE_RIGHT, STYLE_PLAIN}, {"n", PAGE_RIGHT, STYLE_PLAIN}};
    struct capture capture;
    capture_start(&capture, 22);
    struct page_table table = {.columns = wrapped, .n_columns = 3, .indent = 1};
    put_words(&table, 2);
    page_table_begin(&capture.page, &table);
    for (size_t row = 0; row < 2; row++) {
        page_table_row(&capture.page, &table, row);
        page_line(&capture.page, "  row %zu", row);
    }
    page_table_end(&table);
    capture_expect(&capture, " word                n\n"
                             " alpha               1\n"
                             "  row 0\n"
                             " a much longer      22\n"
                             "     label than\n"
                             "     fits\n"
                             "  row 1\n");
}

static void what_is_drawn_makes_room_for_text(void **state)
{
    (void)state;
    static const struct page_column drawn[] = {
        {"name", PAGE_LEFT, STYLE_PLAIN}, {"n", PAGE_RIGHT, STYLE_PLAIN}, {"bar", PAGE_DRAWN, STYLE_PLAIN}};
    static const char *const texts[] = {"name   n\nalpha  1\n", "name   n  bar\nalpha  1  ########\n"};
    for (int is_wide = 0; is_wide < 2; is_wide++) {
        struct capture capture;
        struct page_table table = {.columns = drawn, .n_columns = 3};
        capture_start(&capture, is_wide ? 18 : 17);
        page_cell(&table, "alpha");
        page_cell(&table, "1");
        page_cell(&table, "########");
        page_table(&capture.page, &table);
        capture_expect(&capture, texts[is_wide]);
    }
}

/* What is inside a loop is two blanks deeper than the loop: a rest must not look like a row that is less deep. */
static void what_wraps_stays_as_deep_as_it_begins(void **state)
{
    (void)state;
    static const struct page_column tree[] = {{"inside", PAGE_WRAP, STYLE_PLAIN}, {"n", PAGE_RIGHT, STYLE_PLAIN}};
    static const char *const places[] = {"a()", "      loop b.c:12 in b(), called on line 3",
                                         "        a_name_without_blanks"};
    struct capture capture;
    struct page_table table = {.columns = tree, .n_columns = 2};
    capture_start(&capture, 30);
    for (unsigned i = 0; i < 3; i++) {
        page_cell(&table, "%s", places[i]);
        page_cell(&table, "%u", i);
    }
    page_table(&capture.page, &table);
    capture_expect(&capture, "inside                       n\n"
                             "a()                          0\n"
                             "      loop b.c:12 in b(),    1\n"
                             "          called on line 3\n"
                             "        a_name_without_blan  2\n"
                             "            ks\n");
}

static void styles_take_no_room_and_only_where_there_is_colour(void **state)
{
    (void)state;
    static const struct page_column styled[] = {{"word", PAGE_LEFT, STYLE_CAUSE}, {"n", PAGE_RIGHT, STYLE_PLAIN}};
    static const char *const texts[] = {"word   n\n"
                                        "alpha  1\n",
                                        "\033[1mword\033[0m   \033[1mn\033[0m\n"
                                        "\033[1;31malpha\033[0m  1\n"};
    for (int has_colour = 0; has_colour < 2; has_colour++) {
        struct capture capture;
        struct page_table table = {.columns = styled, .n_columns = 2};
        capture_start(&capture, 40);
        capture.page.look.has_colour = has_colour;
        put_words(&table, 1);
        page_table(&capture.page, &table);
        capture_expect(&capture, texts[has_colour]);
    }
}

static void bars_are_as_long_as_their_share(void **state)
{
    (void)state;
    struct arena arena = {0};
    const struct look none = {0}, ascii = {.drawing = DRAW_ASCII}, utf8 = {.drawing = DRAW_UTF8};
    assert_string_equal(style_bar(&arena, &none, 0.5, 8), "");
    assert_string_equal(style_bar(&arena, &ascii, 0.5, 8), "####");
    assert_string_equal(style_bar(&arena, &ascii, 0.01, 8), "#");
    assert_string_equal(style_bar(&arena, &ascii, 0, 8), "");
    assert_string_equal(style_bar(&arena, &utf8, 0.25, 8), "\u2588\u2588");
    assert_string_equal(style_bar(&arena, &utf8, 0.3125, 8), "\u2588\u2588\u258c");
    assert_string_equal(style_bar(&arena, &utf8, 0.001, 8), "\u258f");
    assert_int_equal(text_columns(style_bar(&arena, &utf8, 7, 8)), 8);
    arena_release(&arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_could_steer_a_terminal_is_escaped),
        cmocka_unit_test(cutting_counts_characters),
        cmocka_unit_test(paths_are_cut_between_routines),
        cmocka_unit_test(pieces_wrap_at_the_width),
        cmocka_unit_test(paragraphs_break_at_blanks),
        cmocka_unit_test(numbers_keep_their_units),
        cmocka_unit_test(tables_align_and_cut),
        cmocka_unit_test(text_wraps_at_blanks_then_behind_commas_and_colons),
        cmocka_unit_test(tables_wrap_and_leave_out_silent_columns),
        cmocka_unit_test(what_is_drawn_makes_room_for_text),
        cmocka_unit_test(what_wraps_stays_as_deep_as_it_begins),
        cmocka_unit_test(styles_take_no_room_and_only_where_there_is_colour),
        cmocka_unit_test(bars_are_as_long_as_their_share),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
