/* SPDX-License-Identifier: BSD-3-Clause */
/* What the callbacks for event records share. They append to the batch of their location, with the time as recorded. */
#pragma once
#include "analyze/trace/otf2_reader.h"

#define OK OTF2_CALLBACK_SUCCESS

#define CALLBACK(name, ...)                                                                                            \
    static OTF2_CallbackCode name(OTF2_LocationRef id, OTF2_TimeStamp time, uint64_t position, void *user,             \
                                  OTF2_AttributeList *attributes, __VA_ARGS__)
#define BEGIN                                                                                                          \
    struct location_reader *location = user;                                                                           \
    (void)id, (void)position, (void)attributes;                                                                        \
    if (location->is_broken_off)                                                                                       \
    return OK

#define SET(name, function) OTF2_EvtReaderCallbacks_Set##name##Callback(callbacks, function)

/* A new event, of which nothing but kind, time and location is known. Valid until the next one. */
struct event *events_append(struct location_reader *location, OTF2_TimeStamp time, enum event_kind kind);

/* Index of a region in the trace; TRACE_NONE. */
uint32_t events_region(const struct location_reader *location, OTF2_RegionRef id);
/* Index of a communicator in the trace; TRACE_NONE. */
uint32_t events_comm(const struct location_reader *location, OTF2_CommRef id);
/* A rank of the remote group, where the archive counts through both. */
uint32_t events_peer(const struct location_reader *location, OTF2_CommRef id, uint32_t peer);
/* The MPI function that the location is in, or NULL. */
const struct trace_region *events_mpi_region(const struct location_reader *location);

/* otf2_events_messages.c, otf2_events_rma.c, otf2_events_io.c */
void events_set_messages(OTF2_EvtReaderCallbacks *callbacks);
void events_set_rma(OTF2_EvtReaderCallbacks *callbacks);
void events_set_io(OTF2_EvtReaderCallbacks *callbacks);
