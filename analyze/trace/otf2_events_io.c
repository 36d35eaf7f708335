/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Records of I/O. The analysis wants to know of a call on which file it moved how much: the end of the operation tells,
 * also of a non-blocking one. What an MPI library does to the file system below (other paradigms, in archives of other
 * tools) is the same data once more.
 */
#include "analyze/trace/otf2_events.h"

CALLBACK(on_io_complete, OTF2_IoHandleRef handle, uint64_t bytes, uint64_t matching)
{
    BEGIN;
    (void)matching;
    const struct defs_tables *tables = &location->archive->tables;
    uint32_t index = ids_get(&tables->io_handles, handle);
    uint32_t file = index == TRACE_NONE ? TRACE_NONE : tables->file_of_handle.at[index];
    if (file == TRACE_NONE || !bytes)
        return OK;
    struct event *event = events_append(location, time, EV_IO);
    event->file = file;
    event->bytes = bytes;
    return OK;
}

void events_set_io(OTF2_EvtReaderCallbacks *callbacks)
{
    SET(IoOperationComplete, on_io_complete);
}
