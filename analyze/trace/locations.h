/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The locations of an archive: one OTF2 reader each, which is ahead by a batch of events, merged by corrected time. For
 * the modules that make up the reader; users see trace.h.
 */
#pragma once
#include "analyze/trace/clock.h"
#include "analyze/trace/defs.h"
#include "wrap/base/containers.h"
#include "analyze/archive/prediction.h"
#include "analyze/trace/source.h"
#include "analyze/trace/tape.h"

/* The place up to which a location has been read: all that has no memory of its own. */
struct location_place {
    uint64_t ahead_raw_ns; /* of the last one that was handed out, as recorded */
    uint64_t n_handed;     /* events handed out so far, to number them for clock repair */
    struct clock_cursor clock;
    uint64_t last_raw_ns;
    uint64_t n_read;              /* records of its file, so far */
    uint64_t n_left;              /* records that its file can still have */
    uint64_t n_to_read;           /* at once, next */
    uint32_t region;              /* outermost MPI region it is in, TRACE_NONE = none */
    uint32_t depth, region_depth; /* of regions entered; with that one */
    bool counts_follow;           /* the next record of counts belongs to the last one */
    bool is_in_collective_io;     /* a blocking operation on a file has begun in which others take part */
    bool is_at_end;               /* of its file */
    bool is_broken_off;           /* inside a call that never returned */
    bool has_ended;               /* its EV_END is in the batch */
};

struct location_reader {
    /* Fields that every event asks for stand together. */
    VEC(struct event) batch; /* until one is handed out, its time is as recorded */
    size_t next;             /* in batch */
    const struct event *ahead;
    struct location_place now;
    struct archive_reader *archive;
    uint32_t loc;
    OTF2_EvtReader *reader;
    struct bin_list bins;     /* of the batch */
    size_t bins_handed;       /* of them, so many belong to what was handed out */
    struct prediction stacks; /* 1 + frame */
};

struct archive_reader {
    struct trace_source source;
    struct trace *trace;
    VEC(OTF2_Reader *) readers; /* the first one reads the definitions */
    OTF2_EvtReaderCallbacks *callbacks;
    struct defs_tables tables;
    struct location_reader *locations;
    struct heap heap;
    struct clocks clocks;
    struct tape tape;
    uint64_t resolution, offset; /* ticks a second; our times begin at the offset */
    bool synthesise;             /* collectives have no records: take the regions */
    bool has_started, is_compressed;
    bool is_whole;                   /* its files of events are, as far as their ends tell */
    uint64_t *n_skipped;             /* records that are not read, by location; NULL = all are */
    bool is_open;                    /* its files of events */
    bool plays;                      /* this reading comes from the tape */
    struct location_reader *used_up; /* of whose batch everything was handed out: it is read on first; NULL = none is */
    uint32_t dealt, n_dealt;         /* this process reads every n_dealt-th rank, from this one on */
    uint32_t n_notes_before;         /* mark_begin; likewise: */
    bool was_damaged;
};

/* otf2_events.c: the callbacks that append to a location's batch. */
OTF2_EvtReaderCallbacks *events_callbacks(void);
uint64_t events_time_ns(const struct archive_reader *archive, uint64_t ticks);
/* The index of a communicator that a process of this rank is on; TRACE_NONE. */
uint32_t events_comm(const struct archive_reader *archive, uint32_t rank, OTF2_CommRef id);
/* No more files can be open: errno says why. OTF2 does not tell why it cannot open one. */
bool locations_lack_files(void);
/* Opens all locations for reading from the first event; 0 or -1 after error(). */
int locations_open(struct archive_reader *archive);
/* OTF2 looks for a location in a list of those that a reader has open: so a reader has a bounded number of them. */
enum { LOCATIONS_A_READER = 256 };
static inline OTF2_Reader *location_otf2(const struct archive_reader *archive, uint32_t loc)
{
    return archive->readers.at[loc / LOCATIONS_A_READER];
}
/* More records than a location's file of events ("evt") or definitions ("def") can have. */
uint64_t location_record_limit(const struct archive_reader *archive, uint32_t loc, const char *kind);
/* A file of that limit is whole and has no record. OTF2 takes two large buffers for each file that it opens, which
 * would be most of the work where a damaged header claims many ranks. */
bool location_file_is_bare(uint64_t record_limit);
void locations_close(struct archive_reader *archive); /* nothing is done where they are not open */
/* Opens them, and merges what this process decodes of them by corrected time: as a source's rewind and read. */
int locations_begin(struct archive_reader *archive);
void locations_merge(struct archive_reader *archive, struct event_block *block);
/* As locations_begin, where they are open and some events are there already. */
void locations_take_first(struct archive_reader *archive);
/* False at its end. */
bool location_has_next(struct location_reader *location);
/* The next event of a location in its own order, its time corrected, or NULL at its end. */
const struct event *location_next(struct location_reader *location);
