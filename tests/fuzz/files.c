/* SPDX-License-Identifier: BSD-3-Clause */
/* Inputs that must be files: each gets a directory of its own, which the driver puts on a memory file system. */
#include "analyze/files/paths.h"
#include "tests/fuzz/fuzz.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

/* OTF2 3.0 does not release everything when it meets damage; what this project allocates is checked all the same. */
FUZZ_ENTRY const char *__lsan_default_suppressions(void);
const char *__lsan_default_suppressions(void)
{
    return "leak:libopen-trace-format2\nleak:libotf2\n";
}

_Noreturn void fuzz_found(const char *condition, const char *file, int line)
{
    fprintf(stderr, "%s:%d: this does not hold: %s\n", file, line, condition);
    abort();
}

char *fuzz_dir_new(void)
{
    const char *parent = getenv("TMPDIR");
    char *dir = path_format("%s/whywait-fuzz-XXXXXX", parent && *parent ? parent : "/tmp");
    fuzz_must(mkdtemp(dir) != NULL);
    return dir;
}

void fuzz_dir_remove(char *dir)
{
    fuzz_must(dir_remove(dir) == 0);
    free(dir);
}

static void make_folders(char *path, size_t from)
{
    for (char *slash = path + from; (slash = strchr(slash + 1, '/'));) {
        *slash = '\0';
        mkdir(path, 0700);
        *slash = '/';
    }
}

bool fuzz_file_write(const char *dir, const char *name, const uint8_t *bytes, size_t n_bytes)
{
    char *path = path_format("%s/%s", dir, name);
    make_folders(path, strlen(dir));
    FILE *file = fopen(path, "wb");
    bool ok = file && fwrite(bytes, 1, n_bytes, file) == n_bytes;
    if (file)
        ok = fclose(file) == 0 && ok;
    free(path);
    return ok;
}
