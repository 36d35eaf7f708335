/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * More bad luck than that of deaths.c: descriptors, clocks, memory, signals, children, callbacks and mounts of a
 * program change under the recorder, at a chosen step.
 *
 *     perils MODE STEP       does what the mode says on rank 0 when it has done so many of its 200 steps
 */
#define _GNU_SOURCE
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <glob.h>
#include <mpi.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <spawn.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#include "steps.h"

enum { MOST_DESCRIPTORS = 1024 };
static volatile sig_atomic_t n_signals;
static _Atomic int clock_is;
enum { CLOCK_RIGHT, CLOCK_BACK, CLOCK_STANDS, CLOCK_FAR, CLOCK_FAILS };
extern char **environ;

/* Whoever asks in this process gets this clock. */
__attribute__((visibility("default"))) int clock_gettime(clockid_t clock, struct timespec *now)
{
    static struct timespec stands;
    int status = (int)syscall(SYS_clock_gettime, clock, now);
    if (clock != CLOCK_MONOTONIC || clock_is == CLOCK_RIGHT)
        return status;
    if (!stands.tv_sec)
        stands = *now;
    if (clock_is == CLOCK_BACK)
        now->tv_sec -= now->tv_sec / 2;
    if (clock_is == CLOCK_STANDS)
        *now = stands;
    if (clock_is == CLOCK_FAR)
        now->tv_sec += 1000000000;
    errno = clock_is == CLOCK_FAILS ? EINVAL : errno;
    return clock_is == CLOCK_FAILS ? -1 : status;
}

static void clock_back(void)
{
    clock_is = CLOCK_BACK;
}

static void clock_stands(void)
{
    clock_is = CLOCK_STANDS;
}

static void clock_far(void)
{
    clock_is = CLOCK_FAR;
}

static void clock_fails(void)
{
    clock_is = CLOCK_FAILS;
}

/* Descriptors. */

static void close_from_hundred(void)
{
    syscall(SYS_close_range, 100, ~0u, 0);
}

/* Those that name a file of the run, or a memory of the recorder's. */
static void each_file(void (*does)(int fd))
{
    struct stat about;
    for (int fd = 3; fd < MOST_DESCRIPTORS; fd++)
        if (fstat(fd, &about) == 0 && (S_ISREG(about.st_mode) || S_ISDIR(about.st_mode)))
            does(fd);
}

static void put_null(int fd)
{
    int null = open("/dev/null", O_RDWR);
    dup2(null, fd);
    close(null);
}

static void put_own_file(int fd)
{
    int own = open("own-results", O_RDWR | O_CREAT, 0600);
    if (own < 0 || write(own, "mine", 4) != 4)
        abort();
    dup2(own, fd);
    close(own);
}

static void null_for_files(void)
{
    each_file(put_null);
}

static void own_for_files(void)
{
    each_file(put_own_file);
}

static void use_all_descriptors(void)
{
    while (open("/dev/null", O_RDONLY) >= 0)
        ;
}

static void share_no_files(void)
{
    unshare(CLONE_FILES | CLONE_FS);
}

/* Signals. */

static void on_signal(int number)
{
    (void)number;
    n_signals++;
}

static void handle(int number, void (*handler)(int), int flags)
{
    struct sigaction action = {.sa_flags = flags};
    action.sa_handler = handler;
    sigaction(number, &action, NULL);
}

/* System calls are interrupted all the time, and not begun anew. */
static void storm(void)
{
    handle(SIGALRM, on_signal, 0);
    setitimer(ITIMER_REAL, &(struct itimerval){{0, 200}, {0, 200}}, NULL);
}

static void leave_at_once(int number)
{
    (void)number;
    _exit(EXIT_STATUS);
}

static void leave(int number)
{
    (void)number;
    exit(EXIT_STATUS);
}

static void leave_quickly(int number)
{
    (void)number;
    quick_exit(EXIT_STATUS);
}

static void end_by_abort(int number)
{
    (void)number;
    abort();
}

static void end_by_mpi(int number)
{
    (void)number;
    MPI_Abort(MPI_COMM_WORLD, EXIT_STATUS);
}

static void soon(void (*handler)(int))
{
    handle(SIGALRM, handler, SA_RESTART);
    ualarm(3000, 0);
}

static void exit_by_handler(void)
{
    soon(leave_at_once);
}

static void whole_exit_by_handler(void)
{
    soon(leave);
}

static void quick_exit_by_handler(void)
{
    soon(leave_quickly);
}

static void abort_by_handler(void)
{
    soon(end_by_abort);
}

static void mpi_abort_by_handler(void)
{
    soon(end_by_mpi);
}

/* Stopped, then killed, by a child. */
static void stop_then(int last)
{
    pid_t parent = getpid();
    if (fork() == 0) {
        kill(parent, SIGSTOP);
        usleep(300000);
        kill(parent, last);
        _exit(0);
    }
    usleep(50000);
}

static void stop_kill(void)
{
    stop_then(SIGKILL);
}

static void stop_continue(void)
{
    for (int i = 0; i < 3; i++)
        stop_then(SIGCONT);
}

static void kill_group(void)
{
    setpgid(0, 0);
    kill(0, SIGKILL);
}

static int overflow(volatile char *before)
{
    volatile char here[4096];
    here[0] = before ? before[0] : 0;
    return n_signals < INT32_MAX ? overflow(here) + here[0] : 0;
}

static void overflow_stack(void)
{
    n_signals = overflow(NULL);
}

static void overflow_stack_handled(void)
{
    static char stack[65536];
    sigaltstack(&(stack_t){.ss_sp = stack, .ss_size = sizeof stack}, NULL);
    handle(SIGSEGV, leave_at_once, SA_ONSTACK);
    overflow_stack();
}

static void free_twice(void)
{
    char *volatile at = malloc(100), *volatile again = at;
    free(at);
    free(again);
}

/* Every thread of the process gets it, the recorder's as well. */
static void signal_each_thread(int number)
{
    DIR *list = opendir("/proc/self/task");
    for (struct dirent *entry; list && (entry = readdir(list));)
        if (*entry->d_name != '.')
            syscall(SYS_tgkill, getpid(), atoi(entry->d_name), number);
    if (list)
        closedir(list);
}

static void signal_threads(void)
{
    handle(SIGUSR1, on_signal, 0);
    for (int i = 0; i < 50; i++)
        signal_each_thread(SIGUSR1);
}

static void terminate_threads(void)
{
    handle(SIGTERM, leave, 0);
    signal_each_thread(SIGTERM);
}

/* Children. */

static void fork_and_go(void)
{
    if (fork() == 0) {
        int flag = 0;
        MPI_Initialized(&flag);
        MPI_Comm_rank(MPI_COMM_WORLD, &rank);
        usleep(200000);
        _exit(0);
    }
}

static void fork_and_exit(void)
{
    pid_t pid = fork();
    if (pid == 0)
        exit(0);
    waitpid(pid, NULL, 0);
}

static void fork_and_abort(void)
{
    pid_t pid = fork();
    if (pid == 0)
        abort();
    waitpid(pid, NULL, 0);
}

static void fork_daemon(void)
{
    if (fork() == 0) {
        setsid();
        if (fork() == 0)
            usleep(1500000);
        _exit(0);
    }
}

static void vfork_in_vain(void)
{
    for (int i = 0; i < 20; i++) {
        pid_t pid = vfork();
        if (pid == 0) {
            execl("/nowhere", "nowhere", (char *)NULL);
            _exit(1);
        }
        waitpid(pid, NULL, 0);
    }
}

static void spawn(void)
{
    char *words[] = {"true", NULL};
    for (int i = 0; i < 20; i++) {
        pid_t pid;
        if (posix_spawn(&pid, "/bin/true", NULL, NULL, words, environ) == 0)
            waitpid(pid, NULL, 0);
    }
}

static void exec_in_vain(void)
{
    execl("/nowhere", "nowhere", (char *)NULL);
}

static void raw_fork(void)
{
    pid_t pid = (pid_t)syscall(SYS_clone, SIGCHLD, 0, 0, 0, 0);
    if (pid == 0)
        syscall(SYS_exit_group, 0);
    waitpid(pid, NULL, 0);
}

static void die_with_parent(void)
{
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    prctl(PR_SET_CHILD_SUBREAPER, 1);
}

/* Callbacks of MPI. */

static void end_in_operation(void *in, void *out, int *n, MPI_Datatype *type)
{
    (void)in, (void)out, (void)n, (void)type;
    abort();
}

static void leave_in_operation(void *in, void *out, int *n, MPI_Datatype *type)
{
    (void)in, (void)out, (void)n, (void)type;
    exit(EXIT_STATUS);
}

static void reduce_by(MPI_User_function *function)
{
    double in = 1, out = 0;
    MPI_Op op;
    MPI_Op_create(function, 1, &op);
    MPI_Reduce_local(&in, &out, 1, MPI_DOUBLE, op);
}

static void abort_in_operation(void)
{
    reduce_by(end_in_operation);
}

static void exit_in_operation(void)
{
    reduce_by(leave_in_operation);
}

static void end_in_handler(MPI_Comm *comm, int *error, ...)
{
    (void)comm, (void)error;
    abort();
}

static void leave_in_handler(MPI_Comm *comm, int *error, ...)
{
    (void)comm, (void)error;
    _exit(EXIT_STATUS);
}

static void fail_with(MPI_Comm_errhandler_function *function)
{
    MPI_Errhandler handler;
    MPI_Comm_create_errhandler(function, &handler);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, handler);
    MPI_Send(NULL, 0, MPI_BYTE, size + 7, 0, MPI_COMM_WORLD);
}

static void abort_in_error_handler(void)
{
    fail_with(end_in_handler);
}

static void exit_in_error_handler(void)
{
    fail_with(leave_in_handler);
}

static void fatal_error(void)
{
    MPI_Send(NULL, 0, MPI_BYTE, size + 7, 0, MPI_COMM_WORLD);
}

static int end_in_deletion(MPI_Comm comm, int key, void *value, void *extra)
{
    (void)comm, (void)key, (void)value, (void)extra;
    abort();
}

static int leave_in_deletion(MPI_Comm comm, int key, void *value, void *extra)
{
    (void)comm, (void)key, (void)value, (void)extra;
    _exit(EXIT_STATUS);
}

/* MPI_Finalize calls it first. */
static void delete_by(MPI_Comm_delete_attr_function *function)
{
    int key;
    MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, function, &key, NULL);
    MPI_Comm_set_attr(MPI_COMM_SELF, key, NULL);
}

static void abort_in_finalize(void)
{
    delete_by(end_in_deletion);
}

static void exit_in_finalize(void)
{
    delete_by(leave_in_deletion);
}

static void finalize_at_exit(void)
{
    atexit((void (*)(void))MPI_Finalize);
    exit(EXIT_STATUS);
}

static void mpi_abort_at_exit(void)
{
    atexit((void (*)(void))fatal_error);
    exit(EXIT_STATUS);
}

/* Limits and memory. */

static void limit(int what, rlim_t most)
{
    struct rlimit now;
    getrlimit(what, &now);
    now.rlim_cur = most < now.rlim_max ? most : now.rlim_max;
    setrlimit(what, &now);
}

static void limit_descriptors(void)
{
    limit(RLIMIT_NOFILE, 10);
}

static void limit_some_files(void)
{
    limit(RLIMIT_FSIZE, 4096);
}

static void lock_all(void)
{
    limit(RLIMIT_MEMLOCK, 1 << 20);
    mlockall(MCL_FUTURE);
}

static void limit_stack(void)
{
    limit(RLIMIT_STACK, 16384);
}

static void no_new_rights(void)
{
    prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
    prctl(PR_SET_DUMPABLE, 0);
}

static void idle_class(void)
{
    struct sched_param none = {0};
    sched_setscheduler(0, SCHED_IDLE, &none);
}

/* Environment and places. */

static void break_environment(void)
{
    setenv("LD_PRELOAD", "/nowhere/lib.so", 1);
    setenv("LD_LIBRARY_PATH", "/nowhere", 1);
    setenv("PATH", "/nowhere", 1);
    setenv("TMPDIR", "/nowhere", 1);
    setenv("WHYWAIT_TOOL", "/nowhere/whywait", 1);
    setenv("WHYWAIT_DIR", "/nowhere", 1);
}

static void move_and_back(void)
{
    rename(run_directory(), "moved.whywait");
    usleep(50000);
    rename("moved.whywait", run_directory());
}

static void move_into(void)
{
    char to[8192];
    snprintf(to, sizeof to, "below/%s", run_directory());
    if (mkdir("below", 0700) || rename(run_directory(), to))
        abort();
}

static void cover_run(void)
{
    mount("none", run_directory(), "tmpfs", 0, "size=64k");
}

static void run_is_read_only(void)
{
    mount(run_directory(), run_directory(), NULL, MS_BIND, NULL);
    mount(NULL, run_directory(), NULL, MS_BIND | MS_REMOUNT | MS_RDONLY, NULL);
}

static void hide_proc(void)
{
    if (unshare(CLONE_NEWNS) == 0 && mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) == 0)
        mount("none", "/proc", "tmpfs", 0, NULL);
}

static void new_user(void)
{
    unshare(CLONE_NEWUSER);
}

static void new_processes(void)
{
    unshare(CLONE_NEWPID);
}

static const struct mode modes[] = {
    {"close-from-hundred", close_from_hundred},
    {"null-for-files", null_for_files},
    {"own-for-files", own_for_files},
    {"use-all-descriptors", use_all_descriptors},
    {"share-no-files", share_no_files},
    {"clock-back", clock_back},
    {"clock-stands", clock_stands},
    {"clock-far", clock_far},
    {"clock-fails", clock_fails},
    {"storm", storm},
    {"exit-by-handler", exit_by_handler},
    {"whole-exit-by-handler", whole_exit_by_handler},
    {"quick-exit-by-handler", quick_exit_by_handler},
    {"abort-by-handler", abort_by_handler},
    {"mpi-abort-by-handler", mpi_abort_by_handler},
    {"stop-kill", stop_kill},
    {"stop-continue", stop_continue},
    {"kill-group", kill_group},
    {"overflow", overflow_stack},
    {"overflow-handled", overflow_stack_handled},
    {"free-twice", free_twice},
    {"signal-threads", signal_threads},
    {"terminate-threads", terminate_threads},
    {"fork-and-go", fork_and_go},
    {"fork-and-exit", fork_and_exit},
    {"fork-and-abort", fork_and_abort},
    {"fork-daemon", fork_daemon},
    {"vfork-in-vain", vfork_in_vain},
    {"spawn", spawn},
    {"exec-in-vain", exec_in_vain},
    {"raw-fork", raw_fork},
    {"die-with-parent", die_with_parent},
    {"abort-in-operation", abort_in_operation},
    {"exit-in-operation", exit_in_operation},
    {"abort-in-error-handler", abort_in_error_handler},
    {"exit-in-error-handler", exit_in_error_handler},
    {"fatal-error", fatal_error},
    {"abort-in-finalize", abort_in_finalize},
    {"exit-in-finalize", exit_in_finalize},
    {"finalize-at-exit", finalize_at_exit},
    {"mpi-abort-at-exit", mpi_abort_at_exit},
    {"limit-descriptors", limit_descriptors},
    {"limit-some-files", limit_some_files},
    {"lock-all", lock_all},
    {"limit-stack", limit_stack},
    {"no-new-rights", no_new_rights},
    {"idle-class", idle_class},
    {"break-environment", break_environment},
    {"move-and-back", move_and_back},
    {"move-into", move_into},
    {"cover-run", cover_run},
    {"read-only", run_is_read_only},
    {"hide-proc", hide_proc},
    {"new-user", new_user},
    {"new-processes", new_processes},
};

int main(int n_words, char **words)
{
    const struct mode *mode = n_words == 3 ? mode_named(modes, sizeof modes / sizeof *modes, words[1]) : NULL;
    if (!mode)
        return 2;
    begin(n_words, words);
    for (int i = 0; i < N_STEPS; i++) {
        step();
        if (i == atoi(words[2]) && rank == 0)
            mode->happens();
    }
    ++*completed;
    MPI_Finalize();
    /* The launcher ends all ranks when one has failed, and rank 0 has the last word. */
    if (rank != 0)
        usleep(300000);
    return EXIT_STATUS;
}
