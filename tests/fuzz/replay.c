/* SPDX-License-Identifier: BSD-3-Clause */
/* A fuzz target without libFuzzer: every file of the directories (or the files) named is one input. Inputs that were
 * once found to break something stay in the corpus and are read here, in every build. */
#include "tests/fuzz/fuzz.h"
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { LIMIT_SECONDS = 10 };

size_t LLVMFuzzerMutate(uint8_t *data, size_t n_bytes, size_t max_bytes)
{
    (void)data, (void)max_bytes;
    return n_bytes;
}

static void replay_file(const char *path)
{
    FILE *file = fopen(path, "rb");
    fuzz_must(file != NULL && fseek(file, 0, SEEK_END) == 0);
    size_t n_bytes = (size_t)ftell(file);
    uint8_t *bytes = malloc(n_bytes + 1);
    rewind(file);
    fuzz_must(bytes != NULL && fread(bytes, 1, n_bytes, file) == n_bytes);
    fclose(file);
    printf("%s\n", path);
    fflush(stdout);
    alarm(LIMIT_SECONDS);
    LLVMFuzzerTestOneInput(bytes, n_bytes);
    alarm(0);
    free(bytes);
}

static unsigned replay_directory(const char *path)
{
    struct dirent **names;
    int n = scandir(path, &names, NULL, alphasort);
    unsigned n_done = 0;
    for (int i = 0; i < n; i++) {
        char *file = NULL;
        if (names[i]->d_name[0] != '.' && asprintf(&file, "%s/%s", path, names[i]->d_name) > 0) {
            replay_file(file);
            n_done++;
        }
        free(file);
        free(names[i]);
    }
    if (n >= 0)
        free(names);
    return n_done;
}

int main(int argc, char **argv)
{
    unsigned n_done = 0;
    for (int i = 1; i < argc; i++) {
        DIR *directory = opendir(argv[i]);
        if (directory) {
            closedir(directory);
            n_done += replay_directory(argv[i]);
        } else {
            replay_file(argv[i]);
            n_done++;
        }
    }
    printf("%u inputs\n", n_done);
    return n_done ? 0 : 1;
}
