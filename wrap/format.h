/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The contract between the recorder (which writes) and the tool (which reads): the run directory and its spool files.
 *
 *   PROGRAM-RANKS-DATE-TIME.whywait/      mode 0700, made by rank 0 inside MPI_Init
 *     spool/R-T.ev                        events of rank R, thread T (T = 0 is the thread that initialised MPI)
 *     spool/R-T.sm                        samples of that thread, written by the recorder's helper thread
 *     traces.otf2 traces.def traces/      the archive, made from the spool (tool commands `convert` and `join`)
 *
 * A spool file is a header of WW_HEADER_BYTES, then records in units of WW_UNIT bytes, appended by exactly one thread
 * through a shared mapping. Everything not yet written is zero. A record's first word is stored last (release), so the
 * records are whole up to the first zero word, whatever ended the process. Integers are in the machine's byte order.
 *
 * A ring (record --last) keeps the newest records only: its file is slots of slot_bytes behind the header. Each begins
 * with a WW_SLOT. One that does not is empty. Slots of definitions are never used again. To be read: first these, in
 * the order of their numbers, then the others. Each up to its first zero word.
 *
 * Between two windows (record --window) nothing is written but definitions: the first window begins with the file, each
 * ends with a WW_CONTROL that has its number and level 0, and each of the others begins with one of level 1. Before
 * that stands the call behind which it begins, as a moment and without communicator, followed by the WW_PENDING. A
 * thread that did not begin the window has such a record of its first call in it.
 *
 * Records that describe the process (WW_MODULE, WW_NOTE, WW_COUNTERS) may stand in any file of the rank.
 *
 * Times are CLOCK_MONOTONIC nanoseconds of the node. Addresses are run-time addresses of the process; WW_MODULE records
 * map them to files. Ids are per process for modules, communicators, windows and open files, and per spool file for
 * stacks and for code of an interpreter.
 */
#pragma once
#include <stdint.h>

enum {
    WW_FORMAT_VERSION = 1,
    WW_UNIT = 32,
    WW_HEADER_BYTES = 4096,
    WW_CPUS_BYTES = 128,
    WW_LEAST_RING_BYTES = 512 << 10, /* of the calls and samples of a thread together */
};
#define WW_LEAST_RING_TEXT "512k is the least that can be kept of a thread"
#define WW_MAGIC "WHYWAIT"

/* The node's share for the process. 0 = unknown, which busy_ns is where the kernel does not say. */
struct ww_machine {
    uint64_t n_cpus;         /* of the node, online */
    uint64_t limit_milli;    /* thousandths of a CPU, whose time the control group may use; 0 = no limit */
    uint64_t n_busy_threads; /* the most that ran or were ready at once, 0 also where no switches are known */
    /* Since start_ns, for watched_ns: CPU time of this process, of everybody on the node, what the host of a virtual
     * machine took away, and what the limit did. */
    uint64_t watched_ns, own_ns, busy_ns, stolen_ns, throttled_ns;
};

/* At offset 0 of every spool file. */
struct ww_header {
    char magic[8]; /* WW_MAGIC with its zero */
    uint32_t version, header_bytes;
    uint32_t kind;                 /* enum ww_kind */
    int32_t rank, n_ranks, thread; /* in MPI_COMM_WORLD of this job */
    int32_t pid, tid;
    uint64_t start_ns;         /* CLOCK_MONOTONIC when recording began */
    uint64_t realtime_ns;      /* CLOCK_REALTIME at start_ns */
    uint64_t sample_period_ns; /* task-clock time between samples; 0 = no samples */
    /* Kept up to date in place while recording. */
    uint64_t n_dropped;        /* records that found no room (disk full, bound reached) */
    uint64_t end_ns;           /* when recording of this file ended in order; 0 = it did not */
    uint32_t end_how;          /* enum ww_end */
    int32_t end_detail;        /* exit status, signal or MPI error code */
    uint64_t n_calls, n_polls; /* MPI calls recorded; failing polls folded into intervals */
    char mpi[32];              /* "openmpi" or "mpich" and its version */
    char host[256];
    char program[1024];    /* absolute path of the executable */
    char command[1024];    /* arguments joined by blanks, cut if longer */
    char only[512];        /* patterns (wrap/only.h) of the functions whose counts were recorded; empty = all */
    uint64_t n_unrecorded; /* thread 0: calls of threads for which there was no file; also kept up to date */
    /* Kept up to date now and then. Bit i of byte k: the thread may run on CPU 8k + i; all 0 = unknown. */
    uint8_t cpus[WW_CPUS_BYTES];
    struct ww_machine machine; /* of thread 0 */
    uint64_t slot_bytes;       /* 0 = no ring */
    /* The length of windows, and from begin to begin; 0 = the run is recorded as a whole. */
    uint64_t window_ns, every_ns;
    uint64_t init_ns;  /* CLOCK_MONOTONIC when the program called MPI_Init; 0 = unknown */
    uint64_t n_nested; /* thread 0: as n_unrecorded, calls of any thread within another one, of which other processes
                          have the other side */
    uint64_t run;      /* by chance, and the same in all files of a run; 0 = unknown */
};

enum ww_kind { WW_KIND_EVENTS = 1, WW_KIND_SAMPLES = 2 };
enum ww_end { WW_END_NONE = 0, WW_END_FINALIZE, WW_END_EXIT, WW_END_ABORT, WW_END_SIGNAL, WW_END_GAVE_UP, WW_END_EXEC };

/* Every record begins with this. `type` and `units` are written together, last. */
struct ww_head {
    uint16_t type;  /* enum ww_type, never 0 in a written record */
    uint16_t units; /* length of the whole record in WW_UNITs, at least 1 */
};

enum ww_type {
    WW_CALL = 1,  /* struct ww_call: an MPI call */
    WW_DONE,      /* struct ww_done: a request (or the receive half of Sendrecv) completed in the call just before */
    WW_STARTED,   /* struct ww_done: the call just before activated this persistent request, or readied its last part */
    WW_STACK,     /* struct ww_stack */
    WW_MODULE,    /* struct ww_module */
    WW_COMM,      /* struct ww_comm */
    WW_NAME,      /* struct ww_name */
    WW_WIN,       /* struct ww_win */
    WW_SAMPLE,    /* struct ww_sample */
    WW_SWITCH,    /* struct ww_switch */
    WW_CLOCK,     /* struct ww_clock */
    WW_BINS,      /* struct ww_bins */
    WW_NOTE,      /* struct ww_note: something was degraded, and why */
    WW_CONTROL,   /* struct ww_control: recording switched off or on (MPI_Pcontrol) */
    WW_COUNTERS,  /* struct ww_counters: a module with exact counters was found */
    WW_PAD,       /* no content: fills the rest of a segment that the next record did not fit into; skip its units */
    WW_NEIGHBORS, /* struct ww_neighbors */
    WW_RANKS,     /* struct ww_ranks */
    WW_FILE,      /* struct ww_file */
    WW_GAP,       /* struct ww_gap: switches were lost, or are not recorded */
    WW_SLOT,      /* struct ww_slot */
    WW_KEPT,      /* struct ww_call: a call that made a persistent request, among the definitions of a ring */
    WW_PENDING,   /* struct ww_call: when the window begins, this receive is pending; of a call of class WW_START: this
                     persistent request is active */
    WW_CALLBACK,  /* struct ww_callback */
    WW_CALLBACK_BINS, /* struct ww_bins, taken at the end of the callback before */
    WW_OFF,           /* struct ww_off: another rank cannot be recorded */
    WW_CODE,          /* struct ww_code */
};

/*
 * One MPI call, 64 bytes, appended at entry with leave_ns 0 and completed in place. A call that never returned is thus
 * seen. A polling interval (consecutive failing Test/Iprobe calls from one place) is one record with n_polls > 0. peer
 * and tag: the destination of a send, the source of a receive (the real one, once known), the root of a rooted
 * collective, the target of an RMA call. Ranks are those of `comm` (of the remote group for an intercommunicator).
 *
 * `tag` of a collective on a communicator: how many there were on it so far, itself included, blocking and non-blocking
 * ones counted apart; 0 = not known.
 *
 * `comm` of a call that makes a communicator, window or file is the communicator it is made from, or the new one itself
 * when nobody but its members takes part. The new one's WW_COMM, WW_WIN or WW_FILE follows the call. A WW_COMM may also
 * come later than the first call on its communicator, but not than the end of that call. Byte counts of receives that
 * are only posted are those asked for.
 *
 * Reading from and writing to a file: bytes_out is what was asked for, bytes_in what was moved, 0 while that is not
 * known: a WW_DONE or the call that ends the split collective tells. MPI_File_seek: tag is the WW_SEEK_, bytes_out the
 * (signed) offset asked for, bytes_in the position reached, both in units of the file's view.
 */
struct ww_call {
    struct ww_head head;
    uint16_t call;  /* enum ww_call_id */
    uint16_t flags; /* WW_F_ */
    uint64_t enter_ns, leave_ns;
    uint32_t stack; /* id of a WW_STACK of this file; 0 = unknown */
    uint32_t comm;  /* communicator id, window id for RMA calls, WW_FILE id for calls on files; 0 = none */
    int32_t peer, tag;
    uint64_t bytes_out, bytes_in;
    union {
        uint64_t request; /* handle of the request that this call started; 0 = none */
        uint64_t n_polls; /* failing polls folded into this record */
    };
};
enum {
    WW_F_ERROR = 1,      /* the call returned an error */
    WW_F_POLL = 2,       /* a polling interval: n_polls is valid */
    WW_F_ANY = 4,        /* MPI_ANY_SOURCE was asked for */
    WW_F_NULL = 8,       /* MPI_PROC_NULL, a null or inactive request: nothing was communicated */
    WW_F_FORTRAN = 16,   /* called through a Fortran binding */
    WW_F_TRUNCATED = 64, /* with WW_F_ERROR: a message was received, and cut since it was too long */
    WW_F_AFTER_NAP = 32, /* with WW_F_POLL: the program slept since the polling interval before, and polls on */
    WW_F_FOUND = 64,     /* with WW_F_POLL: the last poll succeeded, and is not among n_polls */
};
enum {
    WW_NO_PEER = -1,
    WW_PEER_ROOT = -2, /* MPI_ROOT: this process is the root of an intercommunicator's collective */
};
/* In `tag` of MPI_Win_lock. */
enum { WW_LOCK_EXCLUSIVE = 1, WW_LOCK_SHARED = 2 };
/* In `tag` of MPI_File_seek. */
enum { WW_SEEK_SET = 1, WW_SEEK_CUR = 2, WW_SEEK_END = 3 };

/*
 * Peer, tag and bytes tell what a receive received. For a send they mean nothing. MPI libraries give the same handle to
 * several sends that complete at once, and a WW_DONE may name a request that is not known or not active (generalised or
 * inactive persistent requests).
 */
struct ww_done {
    struct ww_head head;
    uint32_t flags;   /* WW_F_; WW_F_NULL when it was cancelled */
    uint64_t request; /* handle as it was before the call; 0 for the receive half of MPI_Sendrecv */
    int32_t peer, tag;
    uint64_t bytes;
};

/* The MPI library called a function of the program (a user-defined reduction) in the call before, or in a poll that the
 * next call parts from it: what was done from then to then is the program's. */
struct ww_callback {
    struct ww_head head;
    uint32_t unused;
    uint64_t from_ns, to_ns;
};

/* Return addresses, innermost first, from the caller of the MPI function (or the sampled instruction itself) outwards.
 */
struct ww_stack {
    struct ww_head head;
    uint32_t id; /* from 1 upwards */
    uint32_t n;
    uint32_t flags; /* WW_STACK_CUT: the outermost frames are missing */
    uint64_t address[];
};
enum { WW_STACK_CUT = 1 };

/*
 * Code that an interpreter runs (Python): a routine of a source file. Its frames stand in stacks where the frames of
 * the interpreter were. Such an address has the highest bit, the id of the WW_CODE of this file and, in the lowest 24
 * bits, the line under way; it is no return address.
 */
struct ww_code {
    struct ww_head head;
    uint32_t id; /* from 1 upwards */
    uint32_t first_line;
    uint32_t path_bytes, name_bytes; /* each without the zero that ends it */
    char text[];                     /* the source file, then the name of the routine in it ("Solver.relax") */
};
/* The source file of code that has none: the interpreter collects garbage. Its frame stands innermost. */
#define WW_CODE_COLLECTOR "<garbage collector>"
#define WW_CODE_ADDRESS(id, line) (UINT64_C(1) << 63 | (uint64_t)(id) << 24 | ((line) & WW_CODE_LINE))
enum { WW_CODE_LINE = 0xffffff };
static inline int ww_is_code(uint64_t address)
{
    return address >> 63 != 0;
}
/* No routine: it stands inside the frame of one, while that has C code run, and tells for which expression. In the
 * place of the line are the bytes of the line that it has, [first, end), in 12 bits each. */
#define WW_CODE_EXPRESSION UINT32_MAX
enum { WW_CODE_COLUMN_BITS = 12, WW_CODE_COLUMNS = 1 << WW_CODE_COLUMN_BITS };
static inline uint32_t ww_code_id(uint64_t address)
{
    return (uint32_t)(address << 1 >> 25);
}

struct ww_module {
    struct ww_head head;
    uint32_t id;
    uint64_t low, high; /* run-time addresses of its loaded segments, [low, high) */
    uint64_t bias;      /* run-time address minus address in the file */
    uint64_t time_ns;   /* when it was seen first */
    uint8_t build_id[32];
    uint32_t build_id_bytes; /* 0 = it has none */
    uint32_t path_bytes;     /* without the zero that ends it */
    char path[];
};

/*
 * A communicator as this process sees it. Two processes mean the same communicator when the groups are equal and it is
 * the n-th with these groups in both (communicators of one group are created in the same order by all its members).
 */
struct ww_comm {
    struct ww_head head;
    uint32_t id; /* 1 = MPI_COMM_WORLD, 2 = MPI_COMM_SELF, then upwards; never reused */
    uint32_t parent;
    uint32_t flags;
    int32_t rank, size;   /* of the local group */
    int32_t remote_size;  /* of the remote group; 0 for an intracommunicator */
    int32_t world_rank[]; /* local group then remote group, as ranks of MPI_COMM_WORLD; -1 = not in it (dynamic
                             processes) */
};

enum { WW_COMM_NO_MEMBERS = 1 }; /* in flags: too many members for a record. The list is missing */

/* The neighbours of this process in a communicator with a topology: n_in sources, then n_out destinations, as ranks of
 * the communicator; WW_NO_PEER where a grid ends. Follows the WW_COMM. */
struct ww_neighbors {
    struct ww_head head;
    uint32_t comm;
    uint32_t n_in, n_out;
    int32_t rank[];
};

/* The processes that the call just before names (MPI_Win_post, MPI_Win_start), as ranks of the window's communicator.
 */
struct ww_ranks {
    struct ww_head head;
    uint32_t n;
    int32_t rank[];
};

struct ww_win {
    struct ww_head head;
    uint32_t id;
    uint32_t comm;
    uint32_t flags;
};

/* A file that was opened; every opening has an id of its own. */
struct ww_file {
    struct ww_head head;
    uint32_t id;    /* from 1, never reused */
    uint32_t comm;  /* that it was opened on; 0 = unknown */
    uint32_t flags; /* WW_FILE_ */
    uint32_t bytes; /* of the name, without the zero that ends it; 0 = unknown */
    char name[];    /* as the program gave it, cut if very long */
};
enum {
    WW_FILE_READ = 1,
    WW_FILE_WRITE = 2,
    WW_FILE_CREATE = 4,
    WW_FILE_EXCLUSIVE = 8,
    WW_FILE_APPEND = 16,
    WW_FILE_SEQUENTIAL = 32,
    WW_FILE_UNIQUE = 64,
    WW_FILE_DELETED_ON_CLOSE = 128,
    WW_FILE_FOUND = 256,  /* already open when it was seen first */
    WW_FILE_DELETED = 512 /* not opened: MPI_File_delete was called */
};

struct ww_name {
    struct ww_head head;
    uint32_t what; /* enum ww_named */
    uint32_t id;
    uint32_t bytes; /* without the zero that ends it */
    char text[];
};
enum ww_named { WW_NAME_COMM = 1, WW_NAME_WIN = 2 };

struct ww_sample {
    struct ww_head head;
    uint32_t flags; /* WW_S_ */
    uint64_t time_ns;
    uint64_t weight_ns; /* the time this sample stands for */
    uint32_t stack;     /* WW_STACK of this file */
};
enum {
    WW_S_KERNEL = 1,  /* on a CPU, in the kernel on behalf of this stack */
    WW_S_BLOCKED = 2, /* off the CPU, asleep in a system call made from this stack */
    WW_S_SYNC = 4,    /* with BLOCKED: until another thread wakes it */
    WW_S_PIPE = 8,    /* with BLOCKED: until another process writes to a pipe or local socket, or reads from it where it
                       * is full, or closes it, or ends; not those that a program begins with */
    WW_S_NETWORK = 16, /* with BLOCKED: until data comes over the network, or goes */
    WW_S_TIME = 32,    /* with BLOCKED: until a time has passed, and for nothing else */
};

struct ww_switch {
    struct ww_head head;
    uint32_t flags; /* WW_SW_ */
    uint64_t time_ns;
};
enum {
    WW_SW_OUT = 1,
    WW_SW_PREEMPTED = 2, /* with OUT: was runnable */
    WW_SW_STOPPED = 16,  /* with both: until it is back its process was stopped, by a signal or with its machine */
    /* In a WW_GAP: */
    WW_SW_UNRECORDED = 4, /* no switch of this thread is recorded anywhere */
    WW_SW_IN_CALL = 8,    /* and all of the gap lies inside an MPI call */
};

/* Switches between these times are not known: the thread was on a CPU for cpu_ns of them. Stands behind what was
 * recorded in the gap. WW_SW_PREEMPTED in flags: for most of the rest it was runnable. */
struct ww_gap {
    struct ww_head head;
    uint32_t flags;
    uint64_t from_ns, until_ns, cpu_ns;
};

/* Local CLOCK_MONOTONIC local_ns was reference_ns on the clock of rank 0, give or take error_ns. Written at the start
 * and at the end by ranks whose clock is another one than rank 0's; without it the clocks are the same. */
struct ww_clock {
    struct ww_head head;
    uint32_t error_ns;
    uint64_t local_ns, reference_ns;
};

/* This rank has no file. Written at the start by the lowest rank that is recorded. */
struct ww_off {
    struct ww_head head;
    uint32_t rank;
};

/* Executions (or bytes, or time) since the last such record of this thread, taken at the entry of the call that
 * follows: 96-bit bins. Those of thread 0 include the threads of the process that do not call MPI. There is one before
 * every call that may synchronise, polls excepted, also when nothing changed. Points from POINTS_UNWOUND_FRAME
 * (wrap/points.h) on are return addresses, and tell how many calls will not return there because of a longjmp.
 */
struct ww_bins {
    struct ww_head head;
    uint32_t what;   /* enum ww_bin_kind */
    uint32_t module; /* WW_COUNTERS id */
    uint32_t n;
    uint8_t bins[]; /* n times u32 point, u64 value, packed */
};
enum ww_bin_kind {
    WW_BIN_EXECUTIONS = 1,
    WW_BIN_BYTES = 2,
    /* Of threads that have ended and used less than WW_YOUNG_NS of a CPU, too young to be sampled for sure: point
     * WW_YOUNG_CPU is ns on a CPU, WW_YOUNG_READY ns ready to run but without one. Also in programs that count
     * nothing, and then of module 0. */
    WW_BIN_TIME = 3,
};
enum ww_young { WW_YOUNG_CPU, WW_YOUNG_READY, WW_YOUNG_N };
enum { WW_YOUNG_NS = 20000000 };

/* A module whose points section (wrap/points.h) was found. It is the module loaded with this bias when the
 * record was written. In the file of the thread that found it; meant for all files of the process. */
struct ww_counters {
    struct ww_head head;
    uint32_t id; /* from 1, never reused */
    uint32_t n_points;
    uint32_t flags;
    uint64_t bias;
};
enum { WW_COUNTERS_ALL_THREADS = 1 }; /* in flags: no thread's counts are missing */

/* The first record of a slot. */
struct ww_slot {
    struct ww_head head;
    uint32_t is_definitions;
    uint64_t number;   /* from 1; slots of definitions have numbers of their own */
    uint64_t begin_ns; /* when it was begun */
};

struct ww_note {
    struct ww_head head;
    uint32_t bytes; /* without the zero that ends it */
    char text[];
};

struct ww_control {
    struct ww_head head;
    uint32_t level; /* MPI_Pcontrol's argument; 0 = off */
    uint64_t time_ns;
    uint32_t window; /* number of the window that ends or begins; 0 = the program called MPI_Pcontrol */
};

_Static_assert(sizeof(struct ww_header) <= WW_HEADER_BYTES, "the header has a fixed size");
_Static_assert(sizeof(struct ww_call) == 2 * WW_UNIT, "a call is two units");
_Static_assert(sizeof(struct ww_done) == WW_UNIT && sizeof(struct ww_sample) == WW_UNIT &&
                   sizeof(struct ww_gap) == WW_UNIT && sizeof(struct ww_callback) <= WW_UNIT,
               "one unit");

/* The effect of a call, as far as the analysis is concerned. */
enum ww_class {
    WW_LOCAL, /* neither communicates nor waits */
    WW_INIT,  /* MPI_Init and kin */
    WW_FINALIZE,
    WW_SEND, /* blocking sends of all modes */
    WW_ISEND,
    WW_RECV,
    WW_IRECV,
    WW_SENDRECV,
    WW_SEND_INIT,
    WW_RECV_INIT,
    WW_START,  /* Start, Startall: each request follows as a WW_STARTED */
    WW_WAIT,   /* Wait, Waitall, Waitany, Waitsome, Buffer_detach */
    WW_TEST,   /* Test, Testall, Testany, Testsome, Request_get_status, Parrived */
    WW_PROBE,  /* Probe, Mprobe */
    WW_IPROBE, /* Iprobe, Improbe */
    WW_CANCEL,
    WW_REQUEST_FREE,
    WW_COLLECTIVE,  /* blocking; collective operation in the table */
    WW_ICOLLECTIVE, /* non-blocking: completes in a WW_WAIT or WW_TEST */
    WW_COLL_INIT,   /* persistent collectives */
    WW_COMM_CREATE, /* collective creation of a communicator (over the parent) */
    WW_COMM_FREE,
    WW_WIN_CREATE,
    WW_WIN_FREE,
    WW_RMA_FENCE,
    WW_RMA_START,
    WW_RMA_COMPLETE,
    WW_RMA_POST,
    WW_RMA_WAIT,
    WW_RMA_LOCK,
    WW_RMA_UNLOCK,
    WW_RMA_FLUSH,
    WW_RMA_PUT,
    WW_RMA_GET,
    WW_RMA_ATOMIC,
    WW_RMA_REQUEST, /* Rput, Rget ... */
    WW_IO,          /* MPI-IO, non-collective */
    WW_IO_COLLECTIVE,
    WW_SPAWN, /* dynamic processes */
    WW_PARTITIONED,
    WW_ABORT,
    WW_ISENDRECV, /* as WW_ISEND; its WW_DONE tells what was received */
};
/* The dependence of processes on each other in a collective. */
enum ww_coll {
    WW_COLL_NONE,
    WW_COLL_BARRIER,
    WW_COLL_BCAST,
    WW_COLL_SCATTER,
    WW_COLL_SCATTERV, /* 1 to N */
    WW_COLL_REDUCE,
    WW_COLL_GATHER,
    WW_COLL_GATHERV, /* N to 1 */
    WW_COLL_ALLREDUCE,
    WW_COLL_ALLGATHER,
    WW_COLL_ALLGATHERV,
    WW_COLL_ALLTOALL,
    WW_COLL_ALLTOALLV,
    WW_COLL_ALLTOALLW,
    WW_COLL_REDUCE_SCATTER,
    WW_COLL_REDUCE_SCATTER_BLOCK, /* N to N */
    WW_COLL_SCAN,
    WW_COLL_EXSCAN,   /* prefix */
    WW_COLL_NEIGHBOR, /* neighbourhood */
    WW_COLL_CREATE,   /* communicator, window or file creation or freeing */
};
/* The effect of a call if its class covers calls that do different things. */
enum {
    WW_AS_FILE = 1 << 0, /* it concerns a file otherwise than by the next three */
    WW_AS_READ = 1 << 1,
    WW_AS_WRITE = 1 << 2,
    WW_AS_SYNC = 1 << 3,
    WW_AS_ISSUE = 1 << 4, /* returns at once; a request is completed later */
    WW_AS_BEGIN = 1 << 5, /* the two halves of a split collective */
    WW_AS_END = 1 << 6,
    WW_AS_SEND = 1 << 7, /* partitioned */
    WW_AS_RECV = 1 << 8,
    WW_AS_PUT = 1 << 9, /* one-sided */
    WW_AS_GET = 1 << 10,
    WW_AS_ACCUMULATE = 1 << 11,
    WW_AS_FETCH = 1 << 12, /* accumulates, and gets what was there before */
    WW_AS_SWAP = 1 << 13,
    WW_AS_BUFFER = 1 << 14, /* of the program's: what it sends lies there, or it waits until nothing does any more */
};
/* A neighbourhood collective moves data as this one does over all. */
#define WW_AS_LIKE(coll) ((uint32_t)(coll) << 16)

/* Call ids: the position in wrap/mpi_calls.def; stable within a format version. */
enum ww_call_id {
    WW_CALL_NONE,
#define WW_MPI(name, class, coll) WW_ID_##name,
#include "wrap/mpi_calls.def"
#undef WW_MPI
    WW_N_CALLS
};
