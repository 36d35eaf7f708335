/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Limits that keep OTF2 (3.0) from looping over damaged files: it takes the number of properties in an anchor on trust,
 * and reads a record whose length leads back to its beginning again and again.
 */
#pragma once
#include <stdbool.h>
#include <stdint.h>

/* False when it is no plain file that can be read, or when the number of properties cannot be true; everything else is
 * left to OTF2. */
bool anchor_is_sound(const char *path);

/* False when a file of the archive is a pipe or a device, on which OTF2 would wait, or that it would read for ever. */
bool anchor_files_are_plain(const char *anchor);

/* More records than a file of an archive can have: `file` is its path without the anchor's name and ".otf2", as ".def"
 * or "/12.evt". UINT64_MAX when the file is not there or compressed. */
uint64_t anchor_record_limit(const char *anchor, bool is_compressed, const char *file);
