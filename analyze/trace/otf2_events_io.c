/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Records of I/O. The analysis wants to know which call worked on which file, and how much it moved: the end of an
 * operation tells, also of a non-blocking one. What an MPI library does to the file system below (other paradigms, in
 * archives of other tools) is the same data once more.
 */
#include "analyze/trace/otf2_events.h"

static void append_io(struct location_reader *location, OTF2_TimeStamp time, OTF2_IoHandleRef handle, uint64_t bytes)
{
    const struct defs_tables *tables = &location->archive->tables;
    uint32_t index = ids_get(&tables->io_handles, handle);
    uint32_t file = index == TRACE_NONE ? TRACE_NONE : tables->file_of_handle.at[index];
    if (file == TRACE_NONE)
        return;
    struct event *event = events_append(location, time, EV_IO);
    event->file = file;
    event->bytes = bytes;
}

CALLBACK(on_io_complete, OTF2_IoHandleRef handle, uint64_t bytes, uint64_t matching)
{
    BEGIN;
    (void)matching;
    append_io(location, time, handle, bytes);
    return OK;
}

CALLBACK(on_io_create, OTF2_IoHandleRef handle, OTF2_IoAccessMode mode, OTF2_IoCreationFlag how,
         OTF2_IoStatusFlag status)
{
    BEGIN;
    (void)mode, (void)how, (void)status;
    append_io(location, time, handle, 0);
    return OK;
}

CALLBACK(on_io_destroy, OTF2_IoHandleRef handle)
{
    BEGIN;
    append_io(location, time, handle, 0);
    return OK;
}

void events_set_io(OTF2_EvtReaderCallbacks *callbacks)
{
    SET(IoOperationComplete, on_io_complete);
    SET(IoCreateHandle, on_io_create);
    SET(IoDestroyHandle, on_io_destroy);
}
