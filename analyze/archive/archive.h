/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Contents of our OTF2 archives beyond the standard's records, shared by writer and reader.
 *
 * Ids in event files are local to the location; mapping tables, written when the parts are joined, make them
 * global:
 *   region           call id (enum ww_call_id), or ARCHIVE_REGION_CALLBACK
 *   communicator     id of the process - 1, so that MPI_COMM_WORLD takes one byte
 *   window           id of the process
 *   I/O handle, file id of the WW_FILE
 *   calling context  2 x stack id, + 1 when the stack stands in the file of samples
 *   attribute        the enum below (the same everywhere), counters from ARCHIVE_ATTR_COUNTERS upwards
 */
#pragma once
#include "wrap/base/keys.h"
#include "wrap/base/containers.h"
#include "wrap/format.h"
#include <otf2/otf2.h>
#include <stdbool.h>
#include <stdint.h>

enum archive_attribute {
    ARCHIVE_ATTR_STACK,      /* on Enter: calling context of the call; absent = as foreseen (prediction.h) */
    ARCHIVE_ATTR_POLLS,      /* on Leave: failing polls that this region stands for; 0: it goes on after a nap */
    ARCHIVE_ATTR_WEIGHT,     /* on CallingContextSample: ns that it stands for, where not the period */
    ARCHIVE_ATTR_UNFINISHED, /* on Leave: the call never returned; the archive closes it */
    ARCHIVE_ATTR_ERROR,      /* on Leave: the call returned an error */
    ARCHIVE_ATTR_PEER,       /* on Leave of an unfinished call: for whom it waited; of a probe: whose message ... */
    ARCHIVE_ATTR_COMM,       /* ... in this communicator ...; of a NonBlockingCollectiveRequest */
    ARCHIVE_ATTR_TAG,        /* ... and with this tag */
    ARCHIVE_ATTR_OPERATION,  /* on NonBlockingCollectiveRequest: the call that made the persistent request */
    ARCHIVE_ATTR_WINDOW,     /* on MeasurementOnOff: the number of the window that begins or ends */
    ARCHIVE_ATTR_CALLS,      /* on Leave: calls that this region stands for, beside one */
    ARCHIVE_ATTR_ANEW,       /* on Enter: as STACK, and nothing is foreseen from what was before */
    ARCHIVE_ATTR_OUTSIDE,    /* on Leave: the call needed processes outside of the run */
    ARCHIVE_N_ATTR,
    ARCHIVE_ATTR_COUNTERS = ARCHIVE_N_ATTR, /* readers go by the names */
    ARCHIVE_ATTR_ROOM = 64,                 /* ... and look no further beyond the others */
};

/* Inside the region of a call: a function of the program that the MPI library calls. */
enum { ARCHIVE_REGION_CALLBACK = WW_N_CALLS, ARCHIVE_N_REGIONS };
#define ARCHIVE_CALLBACK "function called by MPI"

/* Interrupt generators of samples: in which state the thread was. */
enum archive_generator {
    ARCHIVE_GEN_USER,
    ARCHIVE_GEN_KERNEL,
    ARCHIVE_GEN_BLOCKED,
    ARCHIVE_GEN_SYNC,
    ARCHIVE_GEN_PIPE,
    ARCHIVE_GEN_NETWORK,
    ARCHIVE_GEN_TIME,
    ARCHIVE_N_GEN
};

/* The metric of the scheduler: 1 on a CPU, 0 off it and blocked, 2 off it although runnable, 3 off it since its process
 * is stopped. */
enum {
    ARCHIVE_METRIC_SCHED,
    ARCHIVE_SCHED_OFF = 0,
    ARCHIVE_SCHED_ON = 1,
    ARCHIVE_SCHED_PREEMPTED = 2,
    ARCHIVE_SCHED_STOPPED = 3
};
/* The I/O paradigm, MPI-IO. */
enum { ARCHIVE_IO_PARADIGM };
/* Parameters that carry something in their attributes: exact counts. An operation that is pending in a call that never
 * returned, 1 a receive, 0 a collective. */
enum { ARCHIVE_PARAM_COUNTS, ARCHIVE_PARAM_PENDING };

/* Properties: of the system tree's root, of location groups and locations, and of calling contexts. */
#define ARCHIVE_PROP_MODULE "WHYWAIT::MODULE"       /* root, one a module, "NUMBER BUILD-ID-OR-- PATH" */
#define ARCHIVE_SCRIPT "python"                     /* there: the module is a source file (join_code.h) */
#define ARCHIVE_PROP_COMMAND "WHYWAIT::COMMAND"     /* root */
#define ARCHIVE_PROP_MPI "WHYWAIT::MPI"             /* root: the MPI library and its version */
#define ARCHIVE_PROP_ONLY "WHYWAIT::ONLY"           /* root: patterns of the functions whose counts were recorded */
#define ARCHIVE_PROP_COUNTED "WHYWAIT::COUNTED"     /* root: whose executions are counted */
#define ARCHIVE_COUNTED_ALL "all threads"           /* else of threads that do not call MPI, some may be missing */
#define ARCHIVE_PROP_RUN_FROM "WHYWAIT::RUN_FROM"   /* root: time of the first call; before it the recorder began */
#define ARCHIVE_PROP_PROGRAM "WHYWAIT::PROGRAM"     /* root */
#define ARCHIVE_PROP_NOTE "WHYWAIT::NOTE"           /* root or location group, any number */
#define ARCHIVE_PROP_NEIGHBORS "WHYWAIT::NEIGHBORS" /* location group: "COMM N-IN RANK..." */
#define ARCHIVE_PROP_INTERCOMM                                                                                         \
    "WHYWAIT::INTERCOMM" /* root, one an intercommunicator, "::COMM" in its name: members of the first group */
#define ARCHIVE_PROP_END_HOW "WHYWAIT::END_HOW" /* location group: enum ww_end */
#define ARCHIVE_PROP_END_DETAIL "WHYWAIT::END_DETAIL"
#define ARCHIVE_PROP_INCOMPLETE "WHYWAIT::INCOMPLETE"     /* location group: 1: records of it are missing or damaged */
#define ARCHIVE_PROP_CPUS "WHYWAIT::CPUS"                 /* location: those that it may use, "0-3,8" */
#define ARCHIVE_PROP_BEGIN_NS "WHYWAIT::BEGIN_NS"         /* location: events before that time are missing */
#define ARCHIVE_PROP_BEFORE "WHYWAIT::COLLECTIVES_BEFORE" /* location group: "COMM IS-NON-BLOCKING N" */
#define ARCHIVE_PROP_DROPPED "WHYWAIT::DROPPED"           /* location: records that are lost */
#define ARCHIVE_PROP_NESTED "WHYWAIT::NESTED"             /* location: of these, calls made within other ones */
#define ARCHIVE_PROP_END_NS "WHYWAIT::END_NS"             /* location: time of its last event, as recorded */
#define ARCHIVE_YOUNG_TIME "WHYWAIT::YOUNG_THREADS_NS"    /* attribute, among the counters: WW_YOUNG_CPU */
#define ARCHIVE_YOUNG_READY "WHYWAIT::YOUNG_THREADS_READY_NS" /* likewise: WW_YOUNG_READY */
#define ARCHIVE_MACHINE_PROPS(X) /* location group, where not 0: fields of struct ww_machine */                        \
    X(n_cpus, "WHYWAIT::NODE_CPUS")                                                                                    \
    X(limit_milli, "WHYWAIT::CPU_LIMIT_MILLI")                                                                         \
    X(n_busy_threads, "WHYWAIT::BUSY_THREADS")                                                                         \
    X(watched_ns, "WHYWAIT::WATCHED_NS")                                                                               \
    X(own_ns, "WHYWAIT::OWN_CPU_NS")                                                                                   \
    X(busy_ns, "WHYWAIT::NODE_CPU_NS")                                                                                 \
    X(stolen_ns, "WHYWAIT::NODE_STOLEN_NS")                                                                            \
    X(throttled_ns, "WHYWAIT::THROTTLED_NS")
#define ARCHIVE_PROP_PERIOD "WHYWAIT::SAMPLE_PERIOD_NS"
#define ARCHIVE_PROP_ADDRESS "WHYWAIT::ADDRESS" /* calling context: link-time address */
#define ARCHIVE_PROP_IN_MODULE "WHYWAIT::IN_MODULE"
#define ARCHIVE_PROP_FRAME "WHYWAIT::FRAME" /* ARCHIVE_FRAME_ flags */
enum { ARCHIVE_FRAME_RETURN = 1, ARCHIVE_FRAME_CUT = 2, ARCHIVE_FRAME_COLUMNS_AT = 8 /* bits, as in format.h */ };

enum { ARCHIVE_CHUNK_EVENTS = 256 << 10, ARCHIVE_CHUNK_DEFS = 1 << 20 /* at least */ };
#define ARCHIVE_NAME "traces"
#define ARCHIVE_STARTS ".starts" /* beside the anchor (starts.h) */
/* Beside it, the code that ran: a directory of files named by build id, and one of their sources (keep.h). */
#define ARCHIVE_CODE "code"
#define ARCHIVE_SOURCES "source"

/* Local id of the communicator that stands for the threads of a process; far from those that MPI makes. */
enum { ARCHIVE_COMM_THREADS = 0x7fffffff };

static inline uint64_t archive_location(uint32_t rank, uint32_t thread)
{
    return key_pair(thread, rank);
}

/* A new archive NAME in directory `dir`, ready for any writer, or NULL. Memory stays bounded: a full buffer goes to the
 * file at once. OTF2's own messages are silenced. No definition will be longer than `longest_bytes`; OTF2 takes up to
 * 16 MB. */
OTF2_Archive *archive_create(const char *dir, uint64_t longest_bytes);
/* Of an archive that was closed: whether all of it was written. OTF2 keeps up to 4 MB of a file until then, and does
 * not say when they find no room. */
bool archive_is_whole(const char *dir);
/* Makes OTF2 print nothing; errors come back as codes. */
void archive_silence(void);
OTF2_CollectiveOp archive_collective_op(uint32_t call_id);
OTF2_RegionRole archive_collective_role(enum ww_coll coll);
/* From the WW_FILE_ flags of a file. */
OTF2_IoAccessMode archive_access_mode(uint32_t file_flags);
OTF2_IoStatusFlag archive_status_flags(uint32_t file_flags);

/*
 * Limits that keep OTF2 (3.0) from looping over damaged files. It takes the number of properties in an anchor on trust,
 * and reads a record whose length leads back to its beginning again and again.
 */

/* False when it is no plain file that can be read, or when the number of properties cannot be true; everything else is
 * left to OTF2. */
bool anchor_is_sound(const char *path);

/* Returns 0 when nothing has this name, or what begins as an anchor does. Anything else stands in an archive's way: -1
 * after error(). */
int anchor_check(const char *path);

/* The path of a file beside it, as ".def"; NULL when it is not named like an anchor. To be freed. */
char *anchor_beside(const char *anchor, const char *file);

/* False when a file of the archive is a pipe or a device, on which OTF2 would wait, or that it would read for ever. */
bool anchor_files_are_plain(const char *anchor);

/* Every file of events ends with the two marks of its end. False also where nobody can know. */
bool anchor_events_are_whole(const char *anchor, bool is_compressed);
/* More records than a file of an archive can have: `file` is its path without the anchor's name and ".otf2", as ".def"
 * or "/12.evt". UINT64_MAX when the file is not there or compressed. */
uint64_t anchor_record_limit(const char *anchor, bool is_compressed, const char *file);

/* The table of MPI calls, by id and by name, as recorder and reader share it. */

struct call_info {
    const char *name; /* "MPI_Send" */
    enum ww_class class;
    enum ww_coll coll;
    uint32_t as; /* WW_AS_ */
};

extern const struct call_info call_infos[WW_N_CALLS];
/* Row of a call id; that of an unknown id is a local call of the name "MPI_unknown". */
static inline const struct call_info *call_info(uint32_t call_id)
{
    return &call_infos[call_id < WW_N_CALLS ? call_id : WW_CALL_NONE];
}

/* Names in any spelling that tools use: "MPI_Barrier", "MPI_Barrier()", "PMPI_Barrier", "mpi_barrier_". */
struct call_names {
    struct intern names; /* id = call id - 1 */
};
void call_names_init(struct call_names *table);
void call_names_release(struct call_names *table);
/* The call id of a name, or WW_CALL_NONE. */
uint32_t call_names_find(const struct call_names *table, const char *name);
