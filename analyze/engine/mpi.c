/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Exchanges of an engine by MPI, beside each of the tool's processes that a launcher has started: nothing of MPI is in
 * the tool, and it may end in any way.
 *
 *     whywait-mpi N SECONDS PATIENCE_S     (N processes, which come to MPI within so many seconds)
 *
 * words.h says how both speak. When the tool has gone, this process goes on to take part in exchanges, in which it
 * gives nothing. All end when number 0's tool has.
 *
 * MPI_Init returns when all processes have come to it, or never. A process that goes before that without a word is a
 * failure to mpirun, which then ends the others. MPI has no such word, but the library below it has, by which MPI talks
 * to the launcher.
 *
 * No call waits in MPI: a process that waits sleeps. Number 0 and each other one send each other beats. Where these
 * stay away, a node hangs, or the network does.
 */
#include "analyze/engine/store.h"
#include "analyze/engine/words.h"
#include <dlfcn.h>
#include <errno.h>
#include <link.h>
#include <mpi.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

enum { LEAVE_S = 3, END_S = 20, MS = 1000, BEAT_MS = 2000, BEATS_MS = 30000, CHUNK_BYTES = 1 << 30 };
enum { TAG_PARCEL, TAG_BEAT };
/* In place of the size of a parcel. */
#define IS_LOST UINT64_MAX
#define IS_OVER (UINT64_MAX - 1)

static struct {
    int rank, n;
    bool has_met;             /* or some were late */
    bool is_gone;             /* the tool */
    bool is_broken;           /* MPI */
    int64_t now_ms, clock_ms; /* the clock leaves out times in which this process was stopped */
    int64_t patience_ms, beat_patience_ms, beat_ms;
    int64_t *heard_ms;       /* from each */
    MPI_Request *beats;      /* to each */
    MPI_Request requests[2]; /* of what is on its way just now */
    struct store given, taken;
    pthread_mutex_t mutex;
} mpi = {.mutex = PTHREAD_MUTEX_INITIALIZER};

/* Leaving before all have come. */

/* Open MPI's library for that, wherever it is loaded: PMIx of the system, or a copy of its own in which names differ.
 */
static void take_leave_of_pmix(void)
{
    static const char *const names[] = {"PMIx_Finalize", "OPAL_MCA_PMIX3X_PMIx_Finalize"};
    int (*finalize)(const void *, size_t) = NULL;
    struct link_map *at = NULL;
    void *self = dlopen(NULL, RTLD_LAZY);
    if (!self || dlinfo(self, RTLD_DI_LINKMAP, &at))
        return;
    for (; at && !finalize; at = at->l_next) {
        void *library = dlopen(at->l_name, RTLD_LAZY | RTLD_NOLOAD);
        for (size_t i = 0; library && !finalize && i < sizeof names / sizeof *names; i++)
            *(void **)&finalize = dlsym(library, names[i]);
    }
    if (finalize)
        finalize(NULL, 0);
}

/* MPICH's is a part of it; to Hydra it writes lines. (srun has no objection to who goes.) */
static void take_leave_of_hydra(void)
{
    static const char word[] = "cmd=finalize\n";
    const char *socket = getenv("PMI_FD");
    if (!socket || !getenv("MPI_LOCALNRANKS") || write(atoi(socket), word, sizeof word - 1) < 0)
        return;
    struct pollfd answer = {.fd = atoi(socket), .events = POLLIN}; /* without a reader of it, Hydra fails */
    poll(&answer, 1, MS);
}

static void go(int number)
{
    (void)number;
    _exit(0);
}

static bool say(enum word_kind kind, uint32_t number)
{
    const struct word word = {kind, number};
    ssize_t n;
    do
        n = send(WORDS_SOCKET, &word, sizeof word, MSG_NOSIGNAL);
    while (n < 0 && errno == EINTR);
    return n == sizeof word;
}

/* No leave takes long, or it is not taken. */
_Noreturn static void leave(void)
{
    signal(SIGALRM, go);
    alarm(LEAVE_S);
    take_leave_of_pmix();
    take_leave_of_hydra();
    _exit(0);
}

/* A thread: the other one is inside MPI, perhaps for ever. */
static void *wait_no_longer(void *seconds)
{
    for (unsigned left = (unsigned)atoi(seconds); left; left = sleep(left))
        continue;
    pthread_mutex_lock(&mpi.mutex);
    if (!mpi.has_met) {
        say(WORD_LATE, 0);
        leave();
    }
    pthread_mutex_unlock(&mpi.mutex);
    return NULL;
}

/* False where this launcher's processes are others than those of MPI. Open MPI 5 ends all where a connection is lost,
 * errors returned or not, unless it is told that processes may be lost. */
static bool meet(int *argc, char ***argv)
{
    pthread_t waiting;
    setenv("OMPI_MCA_mpi_ft_enable", "true", 0);
    if (pthread_create(&waiting, NULL, wait_no_longer, (*argv)[2]) || MPI_Init(argc, argv))
        return false;
    pthread_mutex_lock(&mpi.mutex);
    mpi.has_met = true;
    pthread_mutex_unlock(&mpi.mutex);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    MPI_Comm_rank(MPI_COMM_WORLD, &mpi.rank);
    MPI_Comm_size(MPI_COMM_WORLD, &mpi.n);
    return mpi.n == atoi((*argv)[1]);
}

/* Beats. */

static int64_t look_at_clock(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    int64_t now_ms = (int64_t)now.tv_sec * MS + now.tv_nsec / 1000000, since_ms = now_ms - mpi.now_ms;
    mpi.clock_ms += since_ms < BEAT_MS ? since_ms : BEAT_MS;
    mpi.now_ms = now_ms;
    return mpi.clock_ms;
}

static void hear_beats(void)
{
    MPI_Status status;
    int is_there = 1;
    while (!MPI_Iprobe(MPI_ANY_SOURCE, TAG_BEAT, MPI_COMM_WORLD, &is_there, &status) && is_there &&
           !MPI_Recv(NULL, 0, MPI_BYTE, status.MPI_SOURCE, TAG_BEAT, MPI_COMM_WORLD, MPI_STATUS_IGNORE))
        mpi.heard_ms[status.MPI_SOURCE] = mpi.clock_ms;
}

static void send_beat(int to)
{
    int has_gone = 1;
    if (mpi.beats[to] != MPI_REQUEST_NULL)
        MPI_Test(&mpi.beats[to], &has_gone, MPI_STATUS_IGNORE);
    if (has_gone)
        MPI_Isend(NULL, 0, MPI_BYTE, to, TAG_BEAT, MPI_COMM_WORLD, &mpi.beats[to]);
}

/* Between number 0 and each other one. */
static void beat(void)
{
    int first = mpi.rank ? 0 : 1, end = mpi.rank ? 1 : mpi.n;
    int64_t now_ms = look_at_clock();
    if (mpi.is_broken || now_ms - mpi.beat_ms < BEAT_MS)
        return;
    mpi.beat_ms = now_ms;
    hear_beats();
    for (int i = first; i < end && !mpi.is_broken; i++) {
        send_beat(i);
        if (now_ms - mpi.heard_ms[i] > mpi.beat_patience_ms) {
            mpi.is_broken = true;
            say(WORD_BROKEN, (uint32_t)i);
        }
    }
}

/* Exchanges. */

/* False where MPI refuses: it then leaves no request to wait for. */
static bool has_begun(int error)
{
    if (error) {
        mpi.is_broken = true;
        say(WORD_BROKEN, 0);
    }
    return !error;
}

/* A while after the last word, nobody spins. False when it is not going to end. */
static bool wait_for(MPI_Request *request)
{
    enum { SPINS = 200, SHORT_NS = 20000, LONG_NS = 1000000, SHORT_ONES = 2000 };
    int has_ended = 0;
    for (uint32_t n = 0; !has_ended && !mpi.is_broken; n++) {
        if (has_begun(MPI_Test(request, &has_ended, MPI_STATUS_IGNORE)) && !has_ended && n > SPINS) {
            nanosleep(&(struct timespec){.tv_nsec = n < SPINS + SHORT_ONES ? SHORT_NS : LONG_NS}, NULL);
            beat();
        }
    }
    return !mpi.is_broken;
}

static int chunk(uint64_t size_bytes, uint64_t at)
{
    return size_bytes - at < CHUNK_BYTES ? (int)(size_bytes - at) : CHUNK_BYTES;
}

/* What one gives, while another one is given something. */
static bool pass(struct parcel give, int to, char *take, uint64_t take_bytes, int from)
{
    bool goes_on = true;
    for (uint64_t at = 0; goes_on && (at < give.n_bytes || at < take_bytes); at += CHUNK_BYTES) {
        mpi.requests[0] = mpi.requests[1] = MPI_REQUEST_NULL;
        if (at < take_bytes)
            goes_on = has_begun(MPI_Irecv(take + at, chunk(take_bytes, at), MPI_BYTE, from, TAG_PARCEL, MPI_COMM_WORLD,
                                          &mpi.requests[0]));
        if (goes_on && at < give.n_bytes)
            goes_on = has_begun(MPI_Isend((const char *)give.at + at, chunk(give.n_bytes, at), MPI_BYTE, to, TAG_PARCEL,
                                          MPI_COMM_WORLD, &mpi.requests[1]));
        goes_on = goes_on && wait_for(&mpi.requests[0]) && wait_for(&mpi.requests[1]);
    }
    return goes_on;
}

static bool pass_all(const uint64_t *sizes_bytes)
{
    bool goes_on = true;
    for (int step = 1; step < mpi.n && goes_on; step++) {
        int to = (mpi.rank + step) % mpi.n, from = (mpi.rank + mpi.n - step) % mpi.n;
        struct parcel give = {0}, take;
        bool is_there = mpi.is_gone || store_read(&mpi.given, (uint32_t)to, &give);
        is_there = is_there && store_read(&mpi.taken, (uint32_t)from, &take);
        uint64_t take_bytes = is_there && sizes_bytes[from] != IS_LOST ? sizes_bytes[from] : 0;
        if (sizes_bytes[to] == IS_LOST) /* it takes nothing any more */
            give.n_bytes = 0;
        char *place = take_bytes ? (char *)mpi.taken.at + ((const char *)take.at - (const char *)mpi.taken.at) : NULL;
        goes_on = is_there && pass(give, to, place, take_bytes, from);
    }
    return goes_on;
}

static void announce(uint64_t *sizes_bytes)
{
    for (uint32_t i = 0; i < (uint32_t)mpi.n; i++) {
        struct parcel parcel = {0};
        if (!mpi.is_gone && !store_read(&mpi.given, i, &parcel))
            mpi.is_gone = true;
        sizes_bytes[i] = !mpi.is_gone ? parcel.n_bytes : mpi.rank ? IS_LOST : IS_OVER;
    }
}

/* False when none follows. */
static bool exchange(void)
{
    uint64_t *sizes_bytes = calloc(2 * (size_t)mpi.n, sizeof *sizes_bytes);
    if (!sizes_bytes)
        return false;
    uint64_t *theirs_bytes = sizes_bytes + mpi.n;
    announce(sizes_bytes);
    bool goes_on = has_begun(
        MPI_Ialltoall(sizes_bytes, 1, MPI_UINT64_T, theirs_bytes, 1, MPI_UINT64_T, MPI_COMM_WORLD, &mpi.requests[0]));
    goes_on = goes_on && wait_for(&mpi.requests[0]) && theirs_bytes[0] != IS_OVER;
    if (goes_on && !mpi.is_gone) { /* others know that it is gone, and neither give nor take */
        theirs_bytes[mpi.rank] = 0;
        goes_on = store_prepare(&mpi.taken, theirs_bytes, (uint32_t)mpi.n) && pass_all(theirs_bytes);
        if (goes_on && !say(WORD_TAKEN, 0))
            mpi.is_gone = true;
    }
    store_leave(&mpi.given);
    store_leave(&mpi.taken);
    free(sizes_bytes);
    return goes_on;
}

/* Returns when there is something to exchange, or the tool has gone or is silent for too long. */
static void hear_tool(void)
{
    int64_t heard_ms = look_at_clock();
    struct word word = {0};
    while (!mpi.is_gone && !mpi.is_broken && word.kind != WORD_WRITTEN) {
        struct pollfd event = {.fd = WORDS_SOCKET, .events = POLLIN};
        if (poll(&event, 1, MS) > 0) {
            mpi.is_gone = recv(WORDS_SOCKET, &word, sizeof word, 0) != sizeof word;
            heard_ms = look_at_clock();
        }
        beat();
        if (mpi.rank && look_at_clock() - heard_ms > mpi.patience_ms)
            mpi.is_gone = true;
    }
}

/* The others cannot be reached, so that MPI cannot end either: the launcher ends it. */
static void break_off(void)
{
    struct word word;
    if (mpi.rank)
        leave();
    while (recv(WORDS_SOCKET, &word, sizeof word, 0) > 0) /* the tool works on alone */
        continue;
    MPI_Abort(MPI_COMM_WORLD, 0);
}

int main(int argc, char **argv)
{
    mpi.given.fd = WORDS_STORE_GIVEN;
    mpi.taken.fd = WORDS_STORE_TAKEN;
    if (argc != 4 || !meet(&argc, &argv))
        return 1;
    mpi.patience_ms = atoll(argv[3]) * MS;
    mpi.beat_patience_ms = mpi.patience_ms < BEATS_MS ? mpi.patience_ms : BEATS_MS;
    mpi.heard_ms = calloc(1 + (size_t)mpi.n, sizeof *mpi.heard_ms);
    mpi.beats = calloc(1 + (size_t)mpi.n, sizeof *mpi.beats);
    if (!mpi.heard_ms || !mpi.beats)
        return 1;
    for (int i = 0; i < mpi.n; i++) {
        mpi.beats[i] = MPI_REQUEST_NULL;
        mpi.heard_ms[i] = look_at_clock();
    }
    say(WORD_MET, (uint32_t)mpi.rank);
    do
        hear_tool();
    while (!mpi.is_broken && exchange());
    if (mpi.is_broken)
        break_off();
    signal(SIGALRM, go);
    alarm(END_S); /* one that dies just now keeps nobody */
    MPI_Barrier(MPI_COMM_WORLD);
    hear_beats();
    MPI_Finalize();
    return 0;
}
