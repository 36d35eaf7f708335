/* SPDX-License-Identifier: BSD-3-Clause */
/* The text of every page, made of view/ when the program is built: up to the title, from there to the data, and what
 * follows the data. */
#pragma once
#include <stddef.h>

extern const unsigned char view_head[], view_body[], view_tail[];
extern const size_t view_head_bytes, view_body_bytes, view_tail_bytes;
