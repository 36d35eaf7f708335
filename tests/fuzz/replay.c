/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A fuzz target without libFuzzer. Every file of the directories (or the files) named is one input: what was once found
 * to break something stays in the corpus and is read in every build. Or inputs are made of these files by mutation:
 *
 *     fuzz_run CORPUS...
 *     fuzz_run --mutations N [--seed S] [--keep DIR] CORPUS...
 *
 * A mutation follows from its number, from S on, so that a finding is made again by its number. Each has 10 s of CPU
 * time and 1 GB: what ends in another way than by returning is named, and kept in DIR.
 */
#include "tests/fuzz/fuzz.h"
#include "wrap/base/containers.h"
#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

/* Of CPU time, since machines are loaded; what only waits is given longer. */
enum { LIMIT_SECONDS = 10, PATIENCE_SECONDS = 120, MOST_BYTES = 1 << 18 };
#if defined(__SANITIZE_ADDRESS__)
enum { LIMITS_ADDRESSES = 0 }; /* AddressSanitizer reserves terabytes of them: see hard_rss_limit_mb */
#else
enum { LIMITS_ADDRESSES = 1 };
#endif
static const rlim_t MOST_ADDRESSES = 1 << 30;

struct input {
    const char *path;
    uint8_t *bytes;
    size_t n_bytes;
};
typedef VEC(struct input) input_list;

/* A target has a mutator of its own, or the bytes are changed wherever they stand. */
size_t __attribute__((weak)) LLVMFuzzerCustomMutator(uint8_t *data, size_t n_bytes, size_t max_bytes, unsigned seed);
static uint64_t random_state;

static uint32_t next_random(uint32_t below)
{
    random_state = random_state * 6364136223846793005u + 1442695040888963407u;
    return below ? (uint32_t)(random_state >> 33) % below : 0;
}

static void change_number(uint8_t *data, size_t n_bytes)
{
    static const uint64_t values[] = {0,      1,         0x7f,       0x80,      0xff,      0x7fff,
                                      0xffff, INT32_MAX, UINT32_MAX, INT64_MAX, UINT64_MAX};
    size_t width = (size_t)1 << next_random(4), at = next_random((uint32_t)n_bytes);
    uint64_t value = 0;
    width = width < n_bytes - at ? width : n_bytes - at;
    memcpy(&value, data + at, width);
    if (next_random(2))
        value = values[next_random(sizeof values / sizeof *values)];
    else
        value += next_random(33) - 16u;
    memcpy(data + at, &value, width);
}

/* Decimal digits, as in JSON and in anchors, become another number. */
static size_t change_digits(uint8_t *data, size_t n_bytes, size_t max_bytes)
{
    static const char *const values[] = {
        "0", "-1", "1", "-9223372036854775808", "9223372036854775807", "4294967295", "1e308", "null", "[]", "\"x\""};
    size_t at = next_random((uint32_t)n_bytes), tries = 0, end;
    while (tries++ < 200 && (data[at] < '0' || data[at] > '9'))
        at = (at + 1) % n_bytes;
    for (end = at; end < n_bytes && data[end] >= '0' && data[end] <= '9';)
        end++;
    const char *value = values[next_random(sizeof values / sizeof *values)];
    size_t length = strlen(value);
    if (end == at || n_bytes - (end - at) + length > max_bytes)
        return n_bytes;
    memmove(data + at + length, data + end, n_bytes - end);
    memcpy(data + at, value, length);
    return n_bytes - (end - at) + length;
}

size_t LLVMFuzzerMutate(uint8_t *data, size_t n_bytes, size_t max_bytes)
{
    for (uint32_t i = 1 + next_random(4); i > 0 && n_bytes > 1; i--) {
        size_t from = next_random((uint32_t)n_bytes), to = next_random((uint32_t)n_bytes), n = 1 + next_random(64);
        switch (next_random(8)) {
        case 0:
            data[from] ^= (uint8_t)(1u << next_random(8));
            break;
        case 1: /* a piece is left out */
            n = n < n_bytes - from ? n : n_bytes - from;
            memmove(data + from, data + from + n, n_bytes - from - n);
            n_bytes -= n < n_bytes ? n : 0;
            break;
        case 2: /* or doubled */
            n = n < n_bytes - from ? n : n_bytes - from;
            if (n_bytes + n <= max_bytes) {
                memmove(data + from + n, data + from, n_bytes - from);
                n_bytes += n;
            }
            break;
        case 3: /* or written over another one */
            n = n < n_bytes - from ? n : n_bytes - from;
            n = n < n_bytes - to ? n : n_bytes - to;
            memmove(data + to, data + from, n);
            break;
        case 4:
        case 5:
            n_bytes = change_digits(data, n_bytes, max_bytes);
            break;
        case 6:
            n_bytes = next_random(8) ? n_bytes : from + 1;
            break;
        default:
            change_number(data, n_bytes);
        }
    }
    return n_bytes;
}

static void read_input(input_list *inputs, const char *path)
{
    FILE *file = fopen(path, "rb");
    fuzz_must(file != NULL && fseek(file, 0, SEEK_END) == 0);
    struct input input = {.path = strdup(path), .n_bytes = (size_t)ftell(file)};
    input.bytes = malloc(input.n_bytes + 1);
    rewind(file);
    fuzz_must(input.path && input.bytes && fread(input.bytes, 1, input.n_bytes, file) == input.n_bytes);
    fclose(file);
    *vec_push(inputs) = input;
}

static void read_inputs(input_list *inputs, const char *path)
{
    struct dirent **names;
    int n = scandir(path, &names, NULL, alphasort);
    if (n < 0)
        read_input(inputs, path);
    for (int i = 0; i < n; i++) {
        char *file = NULL;
        if (names[i]->d_name[0] != '.' && asprintf(&file, "%s/%s", path, names[i]->d_name) > 0)
            read_input(inputs, file);
        free(file);
        free(names[i]);
    }
    if (n >= 0)
        free(names);
}

static void give(const uint8_t *bytes, size_t n_bytes)
{
    setitimer(ITIMER_PROF, &(struct itimerval){.it_value.tv_sec = LIMIT_SECONDS}, NULL);
    alarm(PATIENCE_SECONDS);
    LLVMFuzzerTestOneInput(bytes, n_bytes);
    alarm(0);
    setitimer(ITIMER_PROF, &(struct itimerval){0}, NULL);
}

static void replay(const input_list *inputs)
{
    for (size_t i = 0; i < inputs->n; i++) {
        printf("%s\n", inputs->at[i].path);
        fflush(stdout);
        give(inputs->at[i].bytes, inputs->at[i].n_bytes);
    }
}

/* Some are changed several times over. `bytes` has room for MOST_BYTES. */
static size_t make_mutant(const input_list *inputs, uint64_t seed, uint8_t *bytes, const char **of)
{
    random_state = seed * 0x9e3779b97f4a7c15u + 1;
    next_random(1);
    const struct input *input = &inputs->at[next_random((uint32_t)inputs->n)];
    size_t n_bytes = input->n_bytes < MOST_BYTES ? input->n_bytes : MOST_BYTES;
    memcpy(bytes, input->bytes, n_bytes);
    *of = input->path;
    for (uint32_t i = next_random(3) ? 1 : 1 + next_random(6); i > 0; i--)
        n_bytes = LLVMFuzzerCustomMutator
                      ? LLVMFuzzerCustomMutator(bytes, n_bytes, MOST_BYTES, (unsigned)next_random(UINT32_MAX))
                      : LLVMFuzzerMutate(bytes, n_bytes, MOST_BYTES);
    return n_bytes;
}

/* The status of a process that tries some mutations, one after the other; *at is the one that it came to, behind the
 * last when all returned. */
static int try(const input_list *inputs, uint64_t from, uint64_t until, _Atomic uint64_t *at, bool is_loud)
{
    fflush(NULL);
    pid_t child = fork();
    fuzz_must(child >= 0);
    if (child == 0) {
        uint8_t *bytes = malloc(MOST_BYTES);
        const char *of;
        int nowhere = open("/dev/null", O_WRONLY);
        dup2(nowhere, STDOUT_FILENO);
        if (!is_loud)
            dup2(nowhere, STDERR_FILENO);
        setrlimit(RLIMIT_CORE, &(struct rlimit){0, 0});
        if (LIMITS_ADDRESSES)
            setrlimit(RLIMIT_AS, &(struct rlimit){MOST_ADDRESSES, MOST_ADDRESSES});
        fuzz_must(bytes != NULL);
        for (*at = from; *at < until; ++*at) {
            size_t n_bytes = make_mutant(inputs, *at, bytes, &of);
            give(bytes, n_bytes);
        }
        free(bytes);
        exit(0);
    }
    int status = 0;
    fuzz_must(waitpid(child, &status, 0) == child);
    return status;
}

static bool keep(const char *dir, uint64_t seed, const uint8_t *bytes, size_t n_bytes)
{
    char name[64];
    snprintf(name, sizeof name, "finding-%llu", (unsigned long long)seed);
    return fuzz_file_write(dir, name, bytes, n_bytes);
}

static void tell(const input_list *inputs, uint64_t seed, int status, const char *dir)
{
    uint8_t *bytes = malloc(MOST_BYTES);
    const char *of;
    fuzz_must(bytes != NULL);
    size_t n_bytes = make_mutant(inputs, seed, bytes, &of);
    printf("number %llu, of %s: %s %d%s\n", (unsigned long long)seed, of, WIFSIGNALED(status) ? "signal" : "status",
           WIFSIGNALED(status) ? WTERMSIG(status) : WEXITSTATUS(status),
           dir && keep(dir, seed, bytes, n_bytes) ? ", kept" : "");
    free(bytes);
}

/* How many of them did not return. A process tries several, since starting one takes longer than most mutations. What
 * is found at its end, a leak, is of any of them: these are then tried alone. */
static unsigned mutate(const input_list *inputs, uint64_t n, uint64_t seed, const char *dir)
{
    enum { AT_ONCE = 20 };
    _Atomic uint64_t *at = mmap(NULL, sizeof *at, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    unsigned n_bad = 0;
    uint64_t alone_until = 0;
    fuzz_must(at != MAP_FAILED);
    for (uint64_t from = seed; from < seed + n;) {
        uint64_t until = from < alone_until ? from + 1 : from + AT_ONCE;
        until = until < seed + n ? until : seed + n;
        int status = try(inputs, from, until, at, n == 1);
        if (status && *at == until && until > from + 1) {
            alone_until = until;
            continue;
        }
        if (status) {
            until = *at < until ? *at + 1 : until;
            tell(inputs, until - 1, status, dir);
            n_bad++;
        }
        from = until;
    }
    munmap((void *)(uintptr_t)at, sizeof *at);
    return n_bad;
}

int main(int argc, char **argv)
{
    input_list inputs = {0};
    unsigned n_bad = 0;
    uint64_t n_mutations = 0, seed = 1;
    const char *dir = NULL;
    for (int i = 1; i < argc; i++) {
        if (i + 1 < argc && !strcmp(argv[i], "--mutations"))
            n_mutations = strtoull(argv[++i], NULL, 10);
        else if (i + 1 < argc && !strcmp(argv[i], "--seed"))
            seed = strtoull(argv[++i], NULL, 10);
        else if (i + 1 < argc && !strcmp(argv[i], "--keep"))
            dir = argv[++i];
        else
            read_inputs(&inputs, argv[i]);
    }
    if (n_mutations && inputs.n)
        n_bad = mutate(&inputs, n_mutations, seed, dir);
    else
        replay(&inputs);
    printf("%zu inputs, %llu mutations, %u findings\n", inputs.n, (unsigned long long)n_mutations, n_bad);
    bool has_inputs = inputs.n > 0;
    for (size_t i = 0; i < inputs.n; i++) {
        free((char *)(uintptr_t)inputs.at[i].path);
        free(inputs.at[i].bytes);
    }
    vec_release(&inputs);
    return has_inputs && !n_bad ? 0 : 1;
}
