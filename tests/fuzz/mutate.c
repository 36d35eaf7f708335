/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Mutations of a directory: one of its files is changed, the others stay. Spool files are changed by records, or by
 * fields at their places in a record, so that most of what comes out is still read to its end; any other file is left
 * to libFuzzer's own mutations. Every eighth time the bundle itself is mutated: names, lengths, files that are missing.
 */
#include "tests/fuzz/bundle.h"
#include "tests/fuzz/fuzz.h"
#include "wrap/format.h"
#include <stdlib.h>
#include <string.h>

static uint32_t next_random(uint64_t *state)
{
    *state = *state * 6364136223846793005u + 1442695040888963407u;
    return (uint32_t)(*state >> 33);
}

/* Values at which sizes, ids and times change their meaning. */
static uint64_t odd_value(uint64_t *random)
{
    static const uint64_t values[] = {0,          1,         2,          0x7f,       0xff,           0x7fff,
                                      0xffff,     1u << 24,  0x7fffffff, 0x80000000, 0xfffffffe,     0xffffffff,
                                      1ull << 40, INT64_MAX, 1ull << 62, 1ull << 63, UINT64_MAX - 1, UINT64_MAX};
    return values[next_random(random) % (sizeof values / sizeof *values)];
}

static void change_field(uint8_t *record, uint64_t *random)
{
    size_t width = (size_t)2 << next_random(random) % 3, at = next_random(random) % (WW_UNIT / width) * width;
    uint64_t value = 0;
    memcpy(&value, record + at, width);
    switch (next_random(random) % 4) {
    case 0:
        value = odd_value(random);
        break;
    case 1:
        value += next_random(random) % 17 - 8;
        break;
    case 2:
        value ^= 1ull << next_random(random) % (8 * width);
        break;
    default:
        value = next_random(random) % 64;
    }
    memcpy(record + at, &value, width);
}

/* Swaps, doubles or removes units (records are one or a few of them). */
static size_t move_units(uint8_t *records, size_t n_units, size_t max_units, uint64_t *random)
{
    uint8_t unit[WW_UNIT];
    size_t a = next_random(random) % n_units, b = next_random(random) % n_units;
    uint8_t *from = records + a * WW_UNIT, *to = records + b * WW_UNIT;
    switch (next_random(random) % 3) {
    case 0:
        memcpy(unit, from, WW_UNIT);
        memcpy(from, to, WW_UNIT);
        memcpy(to, unit, WW_UNIT);
        return n_units;
    case 1:
        if (n_units == max_units)
            return n_units;
        memcpy(unit, from, WW_UNIT);
        memmove(to + WW_UNIT, to, (n_units - b) * WW_UNIT);
        memcpy(to, unit, WW_UNIT);
        return n_units + 1;
    default:
        memmove(from, from + WW_UNIT, (n_units - a - 1) * WW_UNIT);
        return n_units - 1;
    }
}

static size_t mutate_spool(uint8_t *bytes, size_t n_bytes, size_t max_bytes, uint64_t *random)
{
    if (n_bytes < WW_HEADER_BYTES + WW_UNIT)
        return LLVMFuzzerMutate(bytes, n_bytes, max_bytes);
    if (next_random(random) % 16 == 0) {
        change_field(bytes + next_random(random) % (sizeof(struct ww_header) / WW_UNIT) * WW_UNIT, random);
        return n_bytes;
    }
    uint8_t *records = bytes + WW_HEADER_BYTES;
    size_t n_units = (n_bytes - WW_HEADER_BYTES) / WW_UNIT;
    for (unsigned i = 1 + next_random(random) % 4; i > 0 && n_units > 0; i--) {
        if (next_random(random) % 3)
            change_field(records + next_random(random) % n_units * WW_UNIT, random);
        else
            n_units = move_units(records, n_units, (max_bytes - WW_HEADER_BYTES) / WW_UNIT, random);
    }
    return WW_HEADER_BYTES + n_units * WW_UNIT;
}

static bool is_spool_file(const char *name)
{
    const char *dot = strrchr(name, '.');
    return dot && (!strcmp(dot, ".ev") || !strcmp(dot, ".sm"));
}

/* One file of the bundle changed, in `to`; 0 when that did not work out. */
static size_t mutate_file(const uint8_t *data, size_t n_bytes, uint8_t *to, size_t max_bytes, uint64_t *random)
{
    struct bundle_file file;
    unsigned n_files = 0, which;
    for (size_t at = 0; bundle_next(data, n_bytes, &at, &file);)
        n_files++;
    if (!n_files)
        return 0;
    which = next_random(random) % n_files;
    size_t at = 0;
    for (unsigned i = 0; i <= which; i++)
        bundle_next(data, n_bytes, &at, &file);
    size_t room = max_bytes - n_bytes + file.n_bytes;
    uint8_t *bytes = malloc(room + 1);
    fuzz_must(bytes != NULL);
    memcpy(bytes, file.bytes, file.n_bytes);
    size_t n_new = is_spool_file(file.name) ? mutate_spool(bytes, file.n_bytes, room, random)
                                            : LLVMFuzzerMutate(bytes, file.n_bytes, room);
    size_t n_done = bundle_replace(data, n_bytes, which, bytes, n_new, to, max_bytes);
    free(bytes);
    return n_done;
}

size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t n_bytes, size_t max_bytes, unsigned seed)
{
    uint64_t random = seed;
    uint8_t *mutated = next_random(&random) % 8 && n_bytes <= max_bytes ? malloc(max_bytes) : NULL;
    size_t n_done = mutated ? mutate_file(data, n_bytes, mutated, max_bytes, &random) : 0;
    if (n_done)
        memcpy(data, mutated, n_done);
    free(mutated);
    return n_done ? n_done : LLVMFuzzerMutate(data, n_bytes, max_bytes);
}
