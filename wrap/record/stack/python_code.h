/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The code objects of Python that stacks of one spool file lead through: known by a number, written as WW_CODE when met
 * for the first time, with their file, name and first line. A stack has the number and the line in the place of a
 * return address.
 *
 * An object is known by its address and its mark. The names and the table of lines are read through the kernel, and
 * count when the mark is the same afterwards: an object that has ended meanwhile is not told. Tables live in memory of
 * fixed size and start afresh when it is used up.
 */
#pragma once
#include "wrap/record/spool/spool.h"
#include "wrap/record/stack/python.h"

struct python_codes; /* of one file; made when the first frame is met */
/* What stands for the frame in a stack; 0 = its code is not known. */
uint64_t python_codes_address(struct python_codes **codes, struct spool *spool, const struct python_frame *frame);
/* What stands for the expression under way in a frame that has an address by now; 0 = it is not known. */
uint64_t python_codes_expression(struct python_codes *codes, const struct python_frame *frame);
/* What stands for the collector of garbage. */
uint64_t python_codes_collector(struct python_codes **codes, struct spool *spool);
void python_codes_release(struct python_codes **codes);

/* The line of the instruction behind `at` bytes of byte code, by a table of the layout's form. */
uint32_t python_line(const struct python_layout *layout, const unsigned char *table, uint32_t n, uint32_t first_line,
                     uint32_t at);
/* The bytes of that line, [first, end), which the expression has that the instruction is of; 0, 0 where the table does
 * not tell, or the expression has several lines. */
struct python_columns {
    uint32_t first, end;
};
struct python_columns python_columns(const struct python_layout *layout, const unsigned char *table, uint32_t n,
                                     uint32_t at);
/* The text of a string object as UTF-8; its length, 0 = it cannot be read. */
uint32_t python_text(const struct python_layout *layout, uint64_t string, char *text, uint32_t room);
