/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Programs that meet bad luck: they lose their rights, folders, descriptors, memory or children, or die in ways of
 * their own, at a chosen step.
 *
 *     deaths sandbox WHAT COMMAND...    takes something away, then becomes the command
 *     deaths MODE STEP                  does what the mode says on rank 0 when it has done so many of its 200 steps
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <glob.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <mpi.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#include "steps.h"

static volatile sig_atomic_t n_signals;
static volatile int zero;
static _Atomic int is_clock_back;
extern char **environ;

/* The clock of the day goes an hour back. Whoever asks in this process gets this one. */
__attribute__((visibility("default"))) int clock_gettime(clockid_t clock, struct timespec *now)
{
    int status = (int)syscall(SYS_clock_gettime, clock, now);
    if (is_clock_back && clock == CLOCK_REALTIME)
        now->tv_sec -= 3600;
    return status;
}

static void child(int is_shared, int is_exec)
{
    pid_t pid = is_shared ? vfork() : fork();
    if (pid == 0) {
        if (is_exec)
            execl("/bin/true", "true", (char *)NULL);
        if (!is_shared)
            exit(0);
        _exit(0);
    }
    waitpid(pid, NULL, 0);
}

static void forks(void)
{
    for (int i = 0; i < 30; i++)
        child(i % 2, i / 2 % 2);
}

static void orphans(void)
{
    for (int i = 0; i < 20; i++)
        if (fork() == 0) {
            usleep(20000);
            exit(0);
        }
}

static void on_signal(int number)
{
    (void)number;
    n_signals++;
}

static void on_own_stack(void)
{
    static char stack[16384];
    struct sigaction action = {.sa_flags = SA_ONSTACK | SA_RESTART};
    action.sa_handler = on_signal;
    sigaltstack(&(stack_t){.ss_sp = stack, .ss_size = sizeof stack}, NULL);
    sigaction(SIGALRM, &action, NULL);
    sigaction(SIGPROF, &action, NULL);
    setitimer(ITIMER_REAL, &(struct itimerval){{0, 300}, {0, 300}}, NULL);
    setitimer(ITIMER_PROF, &(struct itimerval){{0, 1000}, {0, 1000}}, NULL);
}

static void reap(int number)
{
    (void)number;
    int saved = errno;
    while (waitpid(-1, NULL, WNOHANG) > 0)
        ;
    errno = saved;
}

static void reap_all(void)
{
    struct sigaction action = {.sa_flags = SA_RESTART};
    action.sa_handler = reap;
    sigaction(SIGCHLD, &action, NULL);
}

static void ignore_children(void)
{
    signal(SIGCHLD, SIG_IGN);
}

static void ignore_all(void)
{
    for (int number = 1; number < NSIG; number++)
        if (number != SIGCHLD)
            signal(number, SIG_IGN);
}

static void block_all(void)
{
    sigset_t all;
    sigfillset(&all);
    sigprocmask(SIG_SETMASK, &all, NULL);
}

static void drop_user(void)
{
    if (setgid(65534) || setuid(65534))
        abort();
}

static void change_root(void)
{
    if (mkdir("root", 0700) || chroot("root") || chdir("/"))
        abort();
}

static void forget_environment(void)
{
    clearenv();
    environ = NULL;
}

static void leave_folder(void)
{
    if (mkdir("gone", 0700) || chdir("gone") || rmdir("../gone"))
        abort();
}

static void close_three(void)
{
    for (int fd = 0; fd < 3; fd++)
        close(fd);
}

static void rename_run(void)
{
    rename(run_directory(), "moved.whywait");
}

static void replace_by_file(void)
{
    rename_run();
    close(open(run_directory(), O_CREAT | O_WRONLY, 0600));
}

static void replace_by_link(void)
{
    rename_run();
    if (mkdir("elsewhere", 0700) || symlink("elsewhere", run_directory()))
        abort();
}

static void replace_by_own_link(void)
{
    rename_run();
    if (symlink("moved.whywait", run_directory()))
        abort();
}

static void forbid_run(void)
{
    chmod(run_directory(), 0);
}

static void remove_spool_names(void)
{
    char command[8192];
    snprintf(command, sizeof command, "rm -rf '%s/spool'", run_directory());
    if (system(command))
        abort();
}

static void plant_archive(void)
{
    char name[8192];
    snprintf(name, sizeof name, "%s/traces.otf2", run_directory());
    close(open(name, O_CREAT | O_WRONLY, 0600));
}

static void limit(int what, rlim_t most)
{
    struct rlimit now;
    getrlimit(what, &now);
    now.rlim_cur = most < now.rlim_max ? most : now.rlim_max;
    setrlimit(what, &now);
}

static void limit_memory(void)
{
    unsigned long pages = 0;
    FILE *file = fopen("/proc/self/statm", "r");
    if (!file || fscanf(file, "%lu", &pages) != 1)
        abort();
    fclose(file);
    limit(RLIMIT_AS, pages * 4096 + (256 << 10));
}

static void limit_files(void)
{
    limit(RLIMIT_FSIZE, 0);
}

static void limit_descriptors(void)
{
    limit(RLIMIT_NOFILE, 0);
}

static void limit_all(void)
{
    limit(RLIMIT_NPROC, 0);
    limit(RLIMIT_MEMLOCK, 0);
    limit(RLIMIT_SIGPENDING, 0);
    limit(RLIMIT_DATA, 0);
}

static void clock_back(void)
{
    is_clock_back = 1;
}

static void rename_self(void)
{
    prctl(PR_SET_NAME, "a\n\033[2J\xff\"'");
    prctl(PR_SET_DUMPABLE, 0);
    umask(0777);
    setsid();
}

static void overwrite_arguments(void)
{
    extern char *program_invocation_name;
    memset(program_invocation_name, 'x', strlen(program_invocation_name));
}

static void *idle(void *unused)
{
    usleep(300000);
    return unused;
}

static void thread_storm(void)
{
    pthread_t ids[100];
    int n = 0;
    while (n < 100 && pthread_create(&ids[n], NULL, idle, NULL) == 0)
        n++;
    for (int i = 0; i < n; i++)
        pthread_detach(ids[i]);
}

static void *abort_mpi(void *unused)
{
    MPI_Abort(MPI_COMM_WORLD, 9);
    return unused;
}

static void abort_in_thread(void)
{
    pthread_t id;
    pthread_create(&id, NULL, abort_mpi, NULL);
    pause();
}

static void divide(void)
{
    zero = 1 / zero;
}

static void illegal(void)
{
    __builtin_trap();
}

static void beyond_file(void)
{
    int fd = open("short", O_RDWR | O_CREAT, 0600);
    volatile char *at = ftruncate(fd, 4096) ? NULL : mmap(NULL, 8192, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    at[4096] = 1;
}

static void use_up_cpu(void)
{
    setrlimit(RLIMIT_CPU, &(struct rlimit){1, 1});
    for (;;)
        zero = 0;
}

static void die_by_alarm(void)
{
    ualarm(1000, 0);
    pause();
}

static void break_pipe(void)
{
    int ends[2];
    if (pipe(ends))
        abort();
    close(ends[0]);
    if (write(ends[1], "", 1))
        abort();
}

static void kill_thread(void)
{
    pthread_kill(pthread_self(), SIGQUIT);
}

static void forbidden_call(void)
{
    prctl(PR_SET_SECCOMP, SECCOMP_MODE_STRICT);
    syscall(SYS_getppid);
}

static void at_end(void)
{
    _exit(EXIT_STATUS + 1);
}

static void exit_in_handler(void)
{
    atexit(at_end);
}

static void exit_at_once(void)
{
    exit(EXIT_STATUS);
}

static void quick(void)
{
    quick_exit(EXIT_STATUS);
}

static void leave_main(void)
{
    pthread_exit(NULL);
}

static void *go_on(void *unused);

/* The main thread ends first; another one calls on, and finalizes. */
static void outlive_main(void)
{
    pthread_t id;
    pthread_create(&id, NULL, go_on, NULL);
    pthread_exit(NULL);
}

static void use_signals(void)
{
    struct sigaction action = {.sa_flags = SA_RESTART};
    action.sa_handler = on_signal;
    for (int number = SIGRTMIN; number <= SIGRTMAX; number++)
        sigaction(number, &action, NULL);
    for (int number = SIGRTMIN; number <= SIGRTMAX; number++)
        raise(number);
}

static void nothing(void)
{
}

/* Before main, where the recorder may have begun already. */
static __attribute__((constructor)) void before_main(int n_words, char **words)
{
    if (n_words > 1 && !strcmp(words[1], "early-_exit"))
        _exit(EXIT_STATUS);
    if (n_words > 1 && !strcmp(words[1], "early-exit"))
        exit(EXIT_STATUS);
    if (n_words > 1 && !strcmp(words[1], "early-abort"))
        abort();
}

static const struct mode modes[] = {
    {"nothing", nothing},
    {"forks", forks},
    {"orphans", orphans},
    {"on-own-stack", on_own_stack},
    {"reap-all", reap_all},
    {"ignore-children", ignore_children},
    {"ignore-all", ignore_all},
    {"block-all", block_all},
    {"drop-user", drop_user},
    {"change-root", change_root},
    {"forget", forget_environment},
    {"leave-folder", leave_folder},
    {"close-three", close_three},
    {"rename-run", rename_run},
    {"file-for-run", replace_by_file},
    {"link-for-run", replace_by_link},
    {"own-link", replace_by_own_link},
    {"forbid-run", forbid_run},
    {"no-spool-names", remove_spool_names},
    {"plant-archive", plant_archive},
    {"limit-memory", limit_memory},
    {"limit-files", limit_files},
    {"limit-descriptors", limit_descriptors},
    {"limit-all", limit_all},
    {"clock-back", clock_back},
    {"rename-self", rename_self},
    {"arguments", overwrite_arguments},
    {"thread-storm", thread_storm},
    {"abort-in-thread", abort_in_thread},
    {"divide", divide},
    {"illegal", illegal},
    {"beyond-file", beyond_file},
    {"use-up-cpu", use_up_cpu},
    {"alarm", die_by_alarm},
    {"break-pipe", break_pipe},
    {"kill-thread", kill_thread},
    {"forbidden-call", forbidden_call},
    {"exit-in-handler", exit_in_handler},
    {"exit", exit_at_once},
    {"quick-exit", quick},
    {"leave-main", leave_main},
    {"outlive-main", outlive_main},
    {"signals", use_signals},
};
static const struct mode *mode;
static int at_step;

static int go(int from)
{
    for (int i = from; i < N_STEPS; i++) {
        step();
        if (i == at_step && rank == 0)
            mode->happens();
    }
    ++*completed;
    close(open("finalizing", O_CREAT | O_WRONLY, 0600));
    MPI_Finalize();
    /* The launcher ends all ranks when one has failed, and rank 0 has the last word. */
    if (rank != 0)
        usleep(300000);
    return EXIT_STATUS;
}

static void *go_on(void *unused)
{
    exit(go(at_step + 1));
    return unused;
}

/* The system call of this number fails as where a container forbids it. */
static void forbid(long number, unsigned why)
{
    struct sock_filter filter[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, 0),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (unsigned)number, 0, 1),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | why),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
    };
    struct sock_fprog program = {sizeof filter / sizeof *filter, filter};
    prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
    if (prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program))
        abort();
}

/* "call-319", "close-1", "limit-7-20", "ignore-17", "block" */
static int sandbox(int n_words, char **words)
{
    long a = 0, b = 0;
    if (n_words < 4)
        return 2;
    if (sscanf(words[2], "call-%ld-%ld", &a, &b) == 2)
        forbid(a, (unsigned)b);
    else if (sscanf(words[2], "limit-%ld-%ld", &a, &b) == 2)
        limit((int)a, (rlim_t)b);
    else if (sscanf(words[2], "close-%ld", &a) == 1)
        for (int fd = 0; fd < 3; fd++)
            (void)(a >> fd & 1 ? close(fd) : 0);
    else if (sscanf(words[2], "ignore-%ld", &a) == 1)
        signal((int)a, SIG_IGN);
    else if (!strcmp(words[2], "block"))
        block_all();
    execvp(words[3], words + 3);
    return 127;
}

int main(int n_words, char **words)
{
    if (n_words > 1 && !strcmp(words[1], "sandbox"))
        return sandbox(n_words, words);
    if (n_words < 3)
        return 2;
    mode = mode_named(modes, sizeof modes / sizeof *modes, words[1]);
    at_step = atoi(words[2]);
    if (!mode)
        return 2;
    begin(n_words, words);
    return go(0);
}
