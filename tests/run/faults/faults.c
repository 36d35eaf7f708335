/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A preloaded library that makes the recorder's system calls fail, and nobody else's.
 *
 * FAULT_CALL names a function of the table below, FAULT_NTH which of its calls from libwhywait fails (1 = the first);
 * from FAULT_NTH=N+ on all of them fail. FAULT_LOG is a file to which each process appends one byte when its first
 * fault was really injected. The caller is known by its return address.
 *
 * Independent of these: FAULT_NETWORK and FAULT_CROWDED are directories that the recorder is to take for an NFS mount,
 * or for a disk without room.
 */
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <link.h>
#include <pthread.h>
#include <spawn.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/vfs.h>
#include <time.h>
#include <unistd.h>

#define EXPORT __attribute__((visibility("default")))

static atomic_long n_calls;

static int from_recorder(const void *address)
{
    struct dl_find_object object; /* found in no time: dladdr looks through all names, a million times in a run */
    return _dl_find_object((void *)(uintptr_t)address, &object) == 0 &&
           strstr(object.dlfo_link_map->l_name, "libwhywait");
}

static const char *wanted, *nth, *log_path;

static void log_first_fault(void)
{
    static atomic_flag is_logged = ATOMIC_FLAG_INIT;
    if (atomic_flag_test_and_set(&is_logged))
        return;
    int fd = log_path ? (int)syscall(SYS_openat, AT_FDCWD, log_path, O_WRONLY | O_CREAT | O_APPEND, 0600) : -1;
    if (fd >= 0) {
        syscall(SYS_write, fd, "x", 1);
        syscall(SYS_close, fd);
    }
}

/* Read while there is one thread: MPI changes the environment, and the recorder has threads then. */
__attribute__((constructor)) static void read_environment(void)
{
    wanted = getenv("FAULT_CALL");
    nth = getenv("FAULT_NTH");
    log_path = getenv("FAULT_LOG");
}

static int fails(const char *name, const void *caller)
{
    static atomic_flag is_read = ATOMIC_FLAG_INIT;
    if (!atomic_flag_test_and_set(&is_read)) /* a library that is loaded before may call */
        read_environment();
    if (!wanted || !nth || strcmp(wanted, name) || !from_recorder(caller))
        return 0;
    long call = atomic_fetch_add(&n_calls, 1) + 1, target = atol(nth);
    if (call != target && !(strchr(nth, '+') && call > target))
        return 0;
    log_first_fault();
    return 1;
}

#define NEXT(name) ((__typeof__(&name))dlsym(RTLD_NEXT, #name))
/* Looked up once: a signal handler may come while the loader is held by its own thread.
 * FAULT(return type, name, error value, errno, parameters, arguments) */
#define FAULT(type, name, bad, error, params, args)                                                                    \
    EXPORT type name params                                                                                            \
    {                                                                                                                  \
        if (fails(#name, __builtin_return_address(0))) {                                                               \
            errno = error;                                                                                             \
            return bad;                                                                                                \
        }                                                                                                              \
        static _Atomic(__typeof__(&name)) next;                                                                        \
        __typeof__(&name) function = atomic_load(&next);                                                               \
        if (!function)                                                                                                 \
            atomic_store(&next, function = NEXT(name));                                                                \
        return function args;                                                                                          \
    }

FAULT(int, mkdir, -1, EACCES, (const char *path, mode_t mode), (path, mode))
FAULT(int, mkdirat, -1, EACCES, (int dir, const char *path, mode_t mode), (dir, path, mode))
FAULT(int, ftruncate, -1, EFBIG, (int fd, off_t size), (fd, size))
FAULT(int, fallocate, -1, ENOSPC, (int fd, int mode, off_t at, off_t size), (fd, mode, at, size))
FAULT(int, posix_fallocate, ENOSPC, ENOSPC, (int fd, off_t at, off_t size), (fd, at, size))
FAULT(ssize_t, write, -1, EIO, (int fd, const void *data, size_t size), (fd, data, size))
FAULT(ssize_t, pwrite, -1, ENOSPC, (int fd, const void *data, size_t size, off_t at), (fd, data, size, at))
FAULT(ssize_t, read, -1, EIO, (int fd, void *data, size_t size), (fd, data, size))
FAULT(void *, mmap, MAP_FAILED, ENOMEM, (void *at, size_t size, int prot, int flags, int fd, off_t offset),
      (at, size, prot, flags, fd, offset))
FAULT(int, madvise, -1, EINVAL, (void *at, size_t size, int advice), (at, size, advice))
FAULT(int, munmap, -1, EINVAL, (void *at, size_t size), (at, size))
FAULT(int, close, -1, EIO, (int fd), (fd))
FAULT(int, fstat, -1, EIO, (int fd, struct stat *status), (fd, status))
FAULT(int, clock_gettime, -1, EINVAL, (clockid_t clock, struct timespec *at), (clock, at))
FAULT(int, pthread_create, EAGAIN, EAGAIN,
      (pthread_t * thread, const pthread_attr_t *attr, void *(*body)(void *), void *arg), (thread, attr, body, arg))
FAULT(int, pthread_key_create, EAGAIN, EAGAIN, (pthread_key_t * key, void (*destroy)(void *)), (key, destroy))
FAULT(int, posix_spawn, ENOMEM, ENOMEM,
      (pid_t * pid, const char *path, const posix_spawn_file_actions_t *actions, const posix_spawnattr_t *attr,
       char *const argv[], char *const envp[]),
      (pid, path, actions, attr, argv, envp))

static int lies_in(const char *path, const char *variable)
{
    const char *directory = getenv(variable);
    return directory && !strncmp(path, directory, strlen(directory));
}

EXPORT int statfs(const char *path, struct statfs *fs)
{
    int rc = (int)syscall(SYS_statfs, path, fs);
    if (rc == 0 && from_recorder(__builtin_return_address(0))) {
        fs->f_type = lies_in(path, "FAULT_NETWORK") ? 0x6969 : fs->f_type;
        fs->f_bavail = lies_in(path, "FAULT_CROWDED") ? 0 : fs->f_bavail;
    }
    return rc;
}

/* dlsym itself may allocate: allocators are resolved by their libc names. */
extern void *__libc_malloc(size_t size);
extern void *__libc_calloc(size_t n, size_t size);
extern void *__libc_realloc(void *old, size_t size);

static int allocation_fails(const char *name, const void *caller)
{
    static __thread int inside;
    if (inside)
        return 0;
    inside = 1;
    int failed = fails(name, caller);
    inside = 0;
    return failed;
}

EXPORT void *malloc(size_t size)
{
    return allocation_fails("malloc", __builtin_return_address(0)) ? NULL : __libc_malloc(size);
}

EXPORT void *calloc(size_t n, size_t size)
{
    return allocation_fails("calloc", __builtin_return_address(0)) ? NULL : __libc_calloc(n, size);
}

EXPORT void *realloc(void *old, size_t size)
{
    return allocation_fails("realloc", __builtin_return_address(0)) ? NULL : __libc_realloc(old, size);
}

static int open_fails(const char *name, const void *caller)
{
    int failed = fails(name, caller);
    if (failed)
        errno = EMFILE;
    return failed;
}

EXPORT int open(const char *path, int flags, ...)
{
    va_list args;
    va_start(args, flags);
    mode_t mode = flags & (O_CREAT | O_TMPFILE) ? va_arg(args, mode_t) : 0;
    va_end(args);
    return open_fails("open", __builtin_return_address(0)) ? -1 : (int)syscall(SYS_openat, AT_FDCWD, path, flags, mode);
}

EXPORT int openat(int dir, const char *path, int flags, ...)
{
    va_list args;
    va_start(args, flags);
    mode_t mode = flags & (O_CREAT | O_TMPFILE) ? va_arg(args, mode_t) : 0;
    va_end(args);
    return open_fails("openat", __builtin_return_address(0)) ? -1 : (int)syscall(SYS_openat, dir, path, flags, mode);
}
