/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What the fuzz targets share. A target is one file with LLVMFuzzerTestOneInput: clang's libFuzzer drives it with
 * inputs of its own (preset "fuzz"), replay.c with the files of tests/fuzz/corpus (every build, a regression test).
 *
 * fuzz_must() states what has to hold for every input; what ends a target in any other way than by returning is a
 * finding as well: a signal, a sanitizer's report, a leak, exit(), more than 10 s or 1 GB.
 */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define FUZZ_ENTRY __attribute__((visibility("default")))
FUZZ_ENTRY int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n_bytes);
FUZZ_ENTRY size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t n_bytes, size_t max_bytes, unsigned seed);
/* Provided by libFuzzer. */
size_t LLVMFuzzerMutate(uint8_t *data, size_t n_bytes, size_t max_bytes);

/* A new empty directory below $TMPDIR for one input, to be given back to fuzz_dir_remove. */
char *fuzz_dir_new(void);
void fuzz_dir_remove(char *dir);
/* Makes DIR/NAME and the directories on its way; false when that cannot be. */
bool fuzz_file_write(const char *dir, const char *name, const uint8_t *bytes, size_t n_bytes);

#define fuzz_must(condition) ((condition) ? (void)0 : fuzz_found(#condition, __FILE__, __LINE__))
_Noreturn void fuzz_found(const char *condition, const char *file, int line);
