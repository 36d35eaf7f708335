/* SPDX-License-Identifier: BSD-3-Clause */
#include "analyze/archive/run.h"
#include "analyze/archive/convert.h"
#include "analyze/archive/durable.h"
#include "analyze/archive/folder.h"
#include "analyze/code/tree.h"
#include "wrap/base/err.h"
#include "wrap/base/containers.h"
#include "wrap/base/keys.h"
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

/* Names of routines and source lines for the archive, from the code model. */
struct resolver {
    struct code *code;
    struct intern modules; /* path and build id -> module of the code model */
    struct map is_source;  /* module and number of a file among `files` -> 1 + whether it is one of its sources */
    struct intern files;
};

static struct resolver *resolver_new(void)
{
    struct resolver *resolver = calloc(1, sizeof *resolver);
    if (!resolver)
        err_out_of_memory(sizeof *resolver);
    resolver->code = code_open();
    return resolver;
}

static void resolver_free(struct resolver *resolver)
{
    code_close(resolver->code);
    intern_release(&resolver->modules);
    intern_release(&resolver->files);
    map_release(&resolver->is_source);
    free(resolver);
}

static uint32_t module_of(struct resolver *resolver, const char *path, const uint8_t *build_id, uint32_t build_id_bytes)
{
    size_t length = strlen(path);
    char *key = malloc(build_id_bytes + length + 1);
    if (!key)
        err_out_of_memory(length);
    memcpy(key, build_id, build_id_bytes);
    memcpy(key + build_id_bytes, path, length + 1);
    size_t known = resolver->modules.n;
    uint32_t module = intern_put(&resolver->modules, key, build_id_bytes + length);
    free(key);
    if (module == known)
        code_add_module(resolver->code, path, build_id_bytes ? build_id : NULL, build_id_bytes);
    return module;
}

static bool is_source(struct resolver *resolver, uint32_t module, const char *file)
{
    if (!file || *file != '/' || source_is_system(file))
        return false;
    uint64_t *known = map_put(&resolver->is_source, key_pair(module, intern_text(&resolver->files, file)), NULL);
    if (!*known)
        *known = 1 + tree_has_source(resolver->code, module, file);
    return *known == 2;
}

/* Run-time libraries stay unnamed: nobody's source line, and much to read. */
static bool resolve(void *user, const char *path, const uint8_t *build_id, uint32_t build_id_bytes, uint64_t address,
                    bool is_return, struct convert_place *place)
{
    struct resolver *resolver = user;
    uint32_t module = module_of(resolver, path, build_id, build_id_bytes);
    if (code_module_is_runtime(resolver->code, module) || code_module_state(resolver->code, module) == CODE_MISSING)
        return false;
    struct code_spot spot = code_spot_at(resolver->code, module, address - is_return);
    place->routine = spot.routine ? spot.routine : spot.host_routine;
    place->file = spot.file;
    place->line = spot.line;
    const char *files[] = {spot.file, spot.call_file};
    for (size_t i = 0; i < sizeof files / sizeof *files; i++)
        place->sources[i] = is_source(resolver, module, files[i]) ? files[i] : NULL;
    return place->routine != NULL;
}

/* Only what stacks lead through has been read by now. The rest of the system is not built anew by who records. */
static bool is_kept(void *user, const char *path, const uint8_t *build_id, uint32_t build_id_bytes)
{
    struct resolver *resolver = user;
    uint32_t module = module_of(resolver, path, build_id, build_id_bytes);
    return !code_module_is_runtime(resolver->code, module) && code_module_is_read(resolver->code, module) &&
           code_module_state(resolver->code, module) == CODE_FULL;
}

static struct convert_options resolver_options(struct resolver *resolver)
{
    return (struct convert_options){
        .keep_spool = getenv("WHYWAIT_KEEP_SPOOL") != NULL, .resolve = resolve, .is_kept = is_kept, .user = resolver};
}

static int make_archive(const char *directory, int (*make)(const char *, const struct convert_options *))
{
    struct rights before;
    struct folder run;
    if (folder_open_run(&run, directory))
        return -1;
    int result = rights_take(&before, &run);
    if (!result) {
        struct resolver *resolver = resolver_new();
        struct convert_options options = resolver_options(resolver);
        result = make(run.path, &options);
        resolver_free(resolver);
        rights_return(&before);
    }
    folder_close(&run);
    return result;
}

int run_join(const char *directory)
{
    return make_archive(directory, convert_join);
}

int run_salvage(const char *directory)
{
    return make_archive(directory, convert_salvage);
}

static bool ends_with(const char *text, const char *end)
{
    size_t length = strlen(text), end_length = strlen(end);
    return length > end_length && !strcmp(text + length - end_length, end);
}

static bool is_directory(const char *path)
{
    struct stat status;
    return stat(path, &status) == 0 && S_ISDIR(status.st_mode);
}

static bool is_file(const char *path)
{
    struct stat status;
    return stat(path, &status) == 0 && S_ISREG(status.st_mode);
}

static char *path_join(const char *directory, const char *name)
{
    char *path;
    if (asprintf(&path, "%s/%s", directory, name) < 0)
        err_out_of_memory(strlen(directory) + strlen(name));
    return path;
}

bool run_is_run(const char *path)
{
    static const char *const parts[] = {"traces.otf2", "spool", "parts"};
    size_t length = strlen(path);
    while (length > 1 && path[length - 1] == '/')
        length--;
    char *plain = path_format("%.*s", (int)length, path);
    bool is_run = ends_with(plain, ".whywait") && is_directory(plain), has_part = false;
    for (size_t i = 0; is_run && i < sizeof parts / sizeof *parts; i++) {
        char *part = path_join(plain, parts[i]);
        has_part |= path_exists(part);
        free(part);
    }
    free(plain);
    return is_run && has_part;
}

bool run_has_archive(const char *path)
{
    char *anchor = path_join(path, "traces.otf2");
    bool has_archive = is_file(anchor);
    free(anchor);
    return has_archive;
}

int run_names(const char *directory, char ***names, size_t *n)
{
    DIR *entries = opendir(directory);
    size_t cap = 0;
    if (!entries)
        return error("cannot read %s: %s", directory, strerror(errno));
    for (struct dirent *entry; (entry = readdir(entries));) {
        char *path = path_join(directory, entry->d_name);
        if (run_is_run(path)) {
            vec_grow((void **)names, &cap, *n + 1, sizeof **names);
            (*names)[(*n)++] = path_format("%s", entry->d_name);
        }
        free(path);
    }
    closedir(entries);
    return 0;
}

static char *newest_run(void)
{
    char **names = NULL, *newest = NULL;
    size_t n = 0;
    int64_t newest_ns = INT64_MIN;
    if (run_names(".", &names, &n))
        return NULL;
    for (size_t i = 0; i < n; i++) {
        /* When it was made; its last change where the file system does not keep that. */
        struct statx status;
        int64_t ns = INT64_MIN;
        if (statx(AT_FDCWD, names[i], 0, STATX_BTIME | STATX_MTIME, &status) == 0) {
            bool is_known = status.stx_mask & STATX_BTIME;
            const struct statx_timestamp *time = is_known ? &status.stx_btime : &status.stx_mtime;
            ns = time->tv_sec * 1000000000 + time->tv_nsec;
        }
        if (!newest || ns > newest_ns || (ns == newest_ns && strcmp(names[i], newest) > 0)) {
            newest = names[i];
            newest_ns = ns;
        }
    }
    newest = newest ? path_format("%s", newest) : NULL;
    for (size_t i = 0; i < n; i++)
        free(names[i]);
    vec_free(names);
    if (!newest)
        error("no run here: record one with `mpirun -n 4 whywait record ./app`, or name a run directory or an .otf2 "
              "file");
    return newest;
}

/* The only *.otf2 file in a directory. */
static char *only_anchor(const char *directory)
{
    DIR *entries = opendir(directory);
    if (!entries) {
        error("cannot read %s: %s", directory, strerror(errno));
        return NULL;
    }
    char *anchor = NULL;
    unsigned n = 0;
    for (struct dirent *entry; (entry = readdir(entries));) {
        if (!ends_with(entry->d_name, ".otf2"))
            continue;
        free(anchor);
        anchor = path_join(directory, entry->d_name);
        n++;
    }
    closedir(entries);
    if (n == 1)
        return anchor;
    free(anchor);
    if (n)
        error("%s holds %u archives: name one of its .otf2 files", directory, n);
    else
        error("%s is no run: it holds neither a spool nor an archive (.otf2)", directory);
    return NULL;
}

/* The only run in a directory, or NULL; *n: how many there are. Returns 0, or -1 after error(). */
static int only_run(const char *directory, char **run, size_t *n)
{
    char **names = NULL;
    *n = 0;
    if (run_names(directory, &names, n))
        return -1;
    *run = *n == 1 ? path_join(directory, names[0]) : NULL;
    for (size_t i = 0; i < *n; i++)
        free(names[i]);
    vec_free(names);
    return 0;
}

/* A join that was killed when its archive was there has left files that nobody needs. True: the archive is there. */
static bool finish_join(const char *directory)
{
    static const char *const left[] = {"parts", "join.lock"};
    for (size_t i = 0; i < sizeof left / sizeof *left; i++) {
        char *path = path_join(directory, left[i]);
        bool is_left = path_exists(path) && access(directory, W_OK) == 0;
        free(path);
        if (is_left) {
            run_join(directory);
            break;
        }
    }
    return true;
}

static char *archive_in(const char *directory)
{
    size_t n_runs = 0;
    char *run = NULL;
    if (!run_is_run(directory) && only_run(directory, &run, &n_runs))
        return NULL;
    if (run) {
        char *in_run = archive_in(run);
        free(run);
        return in_run;
    }
    if (n_runs > 1) {
        error("%s holds %zu runs: name one of them", directory, n_runs);
        return NULL;
    }
    char *anchor = path_join(directory, "traces.otf2"), *spool = path_join(directory, "spool");
    bool has_archive = is_file(anchor), has_spool = is_directory(spool);
    free(spool);
    if (has_archive ? finish_join(directory) : has_spool && run_salvage(directory) == 0)
        return anchor;
    free(anchor);
    return has_spool ? NULL : only_anchor(directory);
}

char *run_find_archive(const char *path)
{
    if (!path) {
        char *newest = newest_run(), *anchor = newest ? archive_in(newest) : NULL;
        free(newest);
        return anchor;
    }
    if (is_directory(path))
        return archive_in(path);
    if (!is_file(path)) {
        struct stat status;
        error("%s: %s", path, stat(path, &status) ? strerror(errno) : "neither a directory nor a file");
        return NULL;
    }
    if (!ends_with(path, ".otf2")) {
        error("%s is neither a run directory nor the anchor file (.otf2) of an archive", path);
        return NULL;
    }
    return strdup(path);
}

char *run_find_directory(const char *path)
{
    size_t n = 0;
    char *run = NULL;
    if (!path)
        return newest_run();
    size_t length = strlen(path);
    while (length > 1 && path[length - 1] == '/')
        length--;
    if (run_is_run(path))
        return path_format("%.*s", (int)length, path);
    if (only_run(path, &run, &n))
        return NULL;
    if (!run)
        error("%s holds %zu runs: name one", path, n);
    return run;
}

char *path_format(const char *format, ...)
{
    char *path;
    va_list args;
    va_start(args, format);
    int length = vasprintf(&path, format, args);
    va_end(args);
    if (length < 0)
        err_out_of_memory(0);
    return path;
}

bool path_exists(const char *path)
{
    struct stat status;
    return lstat(path, &status) == 0;
}

int dir_make(const char *path)
{
    struct stat status;
    if (mkdir(path, 0700) == 0)
        return 0;
    if (errno != EEXIST)
        return error("cannot make the directory %s: %s", path, strerror(errno));
    if (lstat(path, &status) == 0 && S_ISDIR(status.st_mode))
        return 0;
    return error("%s should be a directory, but is a link or a file: remove it", path);
}

/* A folder that is being emptied, and what it is called in the one around it. */
struct emptied {
    DIR *entries;
    char name[NAME_MAX + 1];
};

/* True when it is a folder, which is to be emptied first. */
static bool begin_emptying(struct emptied *folder, int around, const char *name)
{
    int fd = openat(around, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    folder->entries = fd >= 0 ? fdopendir(fd) : NULL;
    if (!folder->entries && fd >= 0)
        close(fd);
    snprintf(folder->name, sizeof folder->name, "%s", name);
    return folder->entries != NULL;
}

/* From folder to folder by descriptors: a link that takes the place of one is removed, not followed. */
static int remove_in(int around, const char *name)
{
    VEC(struct emptied) open = {0};
    struct emptied folder;
    int why = 0;
    if (begin_emptying(&folder, around, name))
        *vec_push(&open) = folder;
    else if (unlinkat(around, name, 0) && errno != ENOENT)
        why = errno;
    while (open.n) {
        struct emptied *last = &open.at[open.n - 1];
        int fd = dirfd(last->entries);
        struct dirent *entry = why ? NULL : dir_next(last->entries, &why);
        if (entry && strcmp(entry->d_name, ".") && strcmp(entry->d_name, "..")) {
            if (begin_emptying(&folder, fd, entry->d_name))
                *vec_push(&open) = folder;
            else if (unlinkat(fd, entry->d_name, 0) && errno != ENOENT)
                why = errno;
        } else if (!entry) {
            int outer = open.n > 1 ? dirfd(open.at[open.n - 2].entries) : around;
            if (!why && unlinkat(outer, last->name, AT_REMOVEDIR))
                why = errno;
            closedir(last->entries);
            open.n--;
        }
    }
    vec_release(&open);
    return why;
}

int dir_remove(const char *path)
{
    size_t n = strlen(path);
    while (n > 1 && path[n - 1] == '/')
        n--;
    char *whole = path_format("%.*s", (int)n, path), *slash = strrchr(whole, '/');
    const char *name = slash ? slash + 1 : whole;
    char *around = slash ? path_format("%.*s", (int)(slash - whole) + (slash == whole), whole) : path_format(".");
    int fd = open(around, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    int why = fd >= 0 ? remove_in(fd, name) : errno == ENOENT ? 0 : errno;
    if (fd >= 0)
        close(fd);
    free(around);
    free(whole);
    return why ? error("cannot remove %s: %s", path, strerror(why)) : 0;
}

struct dirent *dir_next(DIR *entries, int *why)
{
    errno = 0;
    struct dirent *entry = readdir(entries);
    if (!entry && errno)
        *why = errno;
    return entry;
}

int path_rename(const char *from, const char *to)
{
    if (rename(from, to) == 0)
        return 0;
    return error("cannot rename %s to %s: %s", from, to, strerror(errno));
}

int file_copy(int from, int to)
{
    static const char zeros[1 << 16];
    char buffer[sizeof zeros];
    off_t size = 0;
    for (;;) {
        ssize_t n = read(from, buffer, sizeof buffer);
        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0)
            return n < 0 || ftruncate(to, size) ? -1 : 0;
        bool is_hole = !memcmp(buffer, zeros, (size_t)n);
        for (ssize_t at = 0, done; !is_hole && at < n; at += done)
            if ((done = pwrite(to, buffer + at, (size_t)(n - at), size + at)) < 0)
                return -1;
        size += n;
    }
}

/* A number of a process may have been given out again: only one that maps this very file counts. */
bool spool_is_mapped(const char *path, int32_t pid)
{
    char maps[64], line[8192];
    const char *name = strrchr(path, '/');
    struct stat status;
    bool found = false;
    snprintf(maps, sizeof maps, "/proc/%d/maps", pid);
    FILE *file = pid > 0 && name && !stat(path, &status) ? fopen(maps, "re") : NULL;
    while (file && !found && fgets(line, sizeof line, file)) {
        unsigned long long inode = 0;
        found = strstr(line, name) && sscanf(line, "%*s %*s %*s %*s %llu", &inode) == 1 && inode == status.st_ino;
    }
    if (file)
        fclose(file);
    return found;
}

/* Launchers may return while the processes they have ended still take themselves down. */
bool spool_in_use(const char *path, int32_t pid)
{
    enum { N_LOOKS = 50 };
    const struct timespec pause = {.tv_nsec = 20 * 1000 * 1000};
    bool is_in_use = spool_is_mapped(path, pid);
    for (int i = 0; is_in_use && i < N_LOOKS; i++) {
        nanosleep(&pause, NULL);
        is_in_use = spool_is_mapped(path, pid);
    }
    return is_in_use;
}

/* Whoever had the lock may have removed its file while this one waited for it: the next one would make another, and
 * lock that. */
int lock_take(const char *path)
{
    for (;;) {
        struct stat taken, named;
        int lock = open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
        if (lock < 0)
            return -1;
        bool is_locked = flock(lock, LOCK_EX) == 0 && fstat(lock, &taken) == 0;
        bool is_there = is_locked && lstat(path, &named) == 0, is_gone = is_locked && !is_there && errno == ENOENT;
        if (is_there && taken.st_dev == named.st_dev && taken.st_ino == named.st_ino)
            return lock;
        close(lock);
        if (!is_there && !is_gone)
            return -1;
    }
}

void lock_release(int lock)
{
    if (lock >= 0)
        close(lock);
}

/*
 * The recorder links PREFIX/whywait-NODE-XXXXXX/R-T.ev, whose folder it made for itself alone. Only such a target is
 * taken: a plain file of this user, in a folder that nobody else may write to. It is copied under a temporary name,
 * which is then renamed over the link.
 */

/* A folder (S_IFDIR) that nobody else may look into, or a file (S_IFREG) with no other name. */
static bool is_own(int fd, mode_t kind)
{
    struct stat status;
    if (fstat(fd, &status) != 0 || (status.st_mode & S_IFMT) != kind || status.st_uid != geteuid())
        return false;
    return kind == S_IFDIR ? !(status.st_mode & 077) : status.st_nlink == 1;
}

/* `folder` and `home` are open; the file has one name in both. */
static bool take_file(int folder, int home, const char *name)
{
    char temporary[NAME_MAX + 8];
    snprintf(temporary, sizeof temporary, "%s.tmp", name);
    int from = openat(folder, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
    int to = from < 0 || !is_own(from, S_IFREG)
                 ? -1
                 : openat(home, temporary, O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW | O_CLOEXEC, 0600);
    bool ok = to >= 0 && file_copy(from, to) == 0 && durable_bytes(to) == 0 &&
              renameat(home, temporary, home, name) == 0 && durable_bytes(home) == 0;
    if (from >= 0)
        close(from);
    if (to >= 0)
        close(to);
    if (to >= 0 && !ok)
        unlinkat(home, temporary, 0);
    return ok && unlinkat(folder, name, 0) == 0;
}

static void bring_one(int home, const char *spool_dir, const char *name)
{
    char target[PATH_MAX];
    ssize_t n = readlinkat(home, name, target, sizeof target - 1);
    if (n <= 0)
        return; /* no link: it is at home */
    target[n] = '\0';
    char *slash = strrchr(target, '/');
    bool ok = false;
    errno = 0;
    if (slash && slash != target && !strcmp(slash + 1, name)) {
        *slash = '\0';
        int folder = open(target, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
        ok = folder >= 0 && is_own(folder, S_IFDIR) && take_file(folder, home, name);
        if (folder >= 0)
            close(folder);
        if (ok)
            rmdir(target); /* succeeds with the last file */
    }
    if (!ok && errno != ENOENT)
        warn("%s/%s is in %s and stays there: %s", spool_dir, name, target,
             errno ? strerror(errno) : "it is not safely this user's own");
}

void spool_link_node(const char *link, char *node, size_t size_bytes)
{
    static const char prefix[] = "/whywait-";
    char target[PATH_MAX];
    ssize_t n = readlink(link, target, sizeof target - 1);
    target[n > 0 ? n : 0] = '\0';
    char *file = strrchr(target, '/');
    if (file)
        *file = '\0';
    char *folder = strrchr(target, '/'), *end = strrchr(target, '-');
    bool is_named = folder && !strncmp(folder, prefix, strlen(prefix)) && end >= folder + strlen(prefix);
    if (is_named)
        *end = '\0';
    snprintf(node, size_bytes, "%s", is_named ? folder + strlen(prefix) : "another node");
}

int spool_bring_home(const char *spool_dir)
{
    DIR *entries = opendir(spool_dir);
    if (!entries)
        return errno == ENOENT ? 0 : error("cannot read %s: %s", spool_dir, strerror(errno));
    int why = 0;
    for (struct dirent *entry; (entry = dir_next(entries, &why)) != NULL;) {
        const char *dot = strrchr(entry->d_name, '.');
        if (dot && (!strcmp(dot, ".ev") || !strcmp(dot, ".sm")))
            bring_one(dirfd(entries), spool_dir, entry->d_name);
    }
    closedir(entries);
    return why ? error("cannot read all of %s: %s", spool_dir, strerror(why)) : 0;
}
