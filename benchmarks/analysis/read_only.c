/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The floor under the time of every analysis: OTF2's global reader over all events of an archive, with a callback for
 * each kind that does nothing but count. Prints how many there were.
 */
#include <otf2/otf2.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>

#define CALLBACK(name, ...)                                                                                            \
    static OTF2_CallbackCode name(OTF2_LocationRef id, OTF2_TimeStamp time, void *user, OTF2_AttributeList *list,      \
                                  __VA_ARGS__)                                                                         \
    {                                                                                                                  \
        ++*(uint64_t *)user;                                                                                           \
        return OTF2_CALLBACK_SUCCESS;                                                                                  \
    }
#define PLAIN(name)                                                                                                    \
    static OTF2_CallbackCode name(OTF2_LocationRef id, OTF2_TimeStamp time, void *user, OTF2_AttributeList *list)      \
    {                                                                                                                  \
        ++*(uint64_t *)user;                                                                                           \
        return OTF2_CALLBACK_SUCCESS;                                                                                  \
    }

CALLBACK(region, OTF2_RegionRef a)
CALLBACK(sample, OTF2_CallingContextRef a, uint32_t b, OTF2_InterruptGeneratorRef c)
CALLBACK(metric, OTF2_MetricRef a, uint8_t b, const OTF2_Type *c, const OTF2_MetricValue *d)
CALLBACK(parameter, OTF2_ParameterRef a, uint64_t b)
CALLBACK(message, uint32_t a, OTF2_CommRef b, uint32_t c, uint64_t d)
CALLBACK(message_begun, uint32_t a, OTF2_CommRef b, uint32_t c, uint64_t d, uint64_t e)
CALLBACK(request, uint64_t a)
PLAIN(collective_begin)
CALLBACK(collective_end, OTF2_CollectiveOp a, OTF2_CommRef b, uint32_t c, uint64_t d, uint64_t e)
CALLBACK(collective_done, OTF2_CollectiveOp a, OTF2_CommRef b, uint32_t c, uint64_t d, uint64_t e, uint64_t f)

struct locations {
    OTF2_Reader *reader;
    uint64_t *ids, n;
};

static OTF2_CallbackCode on_location(void *user, OTF2_LocationRef id, OTF2_StringRef name, OTF2_LocationType type,
                                     uint64_t n_events, OTF2_LocationGroupRef group)
{
    struct locations *locations = user;
    locations->ids[locations->n++] = id;
    return OTF2_Reader_SelectLocation(locations->reader, id) ? OTF2_CALLBACK_INTERRUPT : OTF2_CALLBACK_SUCCESS;
}

static OTF2_GlobalEvtReaderCallbacks *empty_callbacks(void)
{
    OTF2_GlobalEvtReaderCallbacks *callbacks = OTF2_GlobalEvtReaderCallbacks_New();
    OTF2_GlobalEvtReaderCallbacks_SetEnterCallback(callbacks, region);
    OTF2_GlobalEvtReaderCallbacks_SetLeaveCallback(callbacks, region);
    OTF2_GlobalEvtReaderCallbacks_SetCallingContextSampleCallback(callbacks, sample);
    OTF2_GlobalEvtReaderCallbacks_SetMetricCallback(callbacks, metric);
    OTF2_GlobalEvtReaderCallbacks_SetParameterUnsignedIntCallback(callbacks, parameter);
    OTF2_GlobalEvtReaderCallbacks_SetMpiSendCallback(callbacks, message);
    OTF2_GlobalEvtReaderCallbacks_SetMpiRecvCallback(callbacks, message);
    OTF2_GlobalEvtReaderCallbacks_SetMpiIsendCallback(callbacks, message_begun);
    OTF2_GlobalEvtReaderCallbacks_SetMpiIrecvCallback(callbacks, message_begun);
    OTF2_GlobalEvtReaderCallbacks_SetMpiIsendCompleteCallback(callbacks, request);
    OTF2_GlobalEvtReaderCallbacks_SetMpiIrecvRequestCallback(callbacks, request);
    OTF2_GlobalEvtReaderCallbacks_SetMpiCollectiveBeginCallback(callbacks, collective_begin);
    OTF2_GlobalEvtReaderCallbacks_SetMpiCollectiveEndCallback(callbacks, collective_end);
    OTF2_GlobalEvtReaderCallbacks_SetNonBlockingCollectiveRequestCallback(callbacks, request);
    OTF2_GlobalEvtReaderCallbacks_SetNonBlockingCollectiveCompleteCallback(callbacks, collective_done);
    return callbacks;
}

/* As OTF2's documentation has it. Returns the number of events, 0 on an error. */
static uint64_t read_all(OTF2_Reader *reader)
{
    uint64_t n_locations = 0, n_definitions = 0, n_events = 0, n_counted = 0;
    OTF2_Reader_SetSerialCollectiveCallbacks(reader);
    OTF2_Reader_GetNumberOfLocations(reader, &n_locations);
    struct locations locations = {.reader = reader, .ids = calloc(n_locations + 1, sizeof *locations.ids)};
    OTF2_GlobalDefReaderCallbacks *definition_callbacks = OTF2_GlobalDefReaderCallbacks_New();
    OTF2_GlobalDefReaderCallbacks_SetLocationCallback(definition_callbacks, on_location);
    OTF2_GlobalDefReader *definitions = OTF2_Reader_GetGlobalDefReader(reader);
    OTF2_Reader_RegisterGlobalDefCallbacks(reader, definitions, definition_callbacks, &locations);
    OTF2_Reader_ReadAllGlobalDefinitions(reader, definitions, &n_definitions);
    OTF2_GlobalDefReaderCallbacks_Delete(definition_callbacks);
    bool has_local = !OTF2_Reader_OpenDefFiles(reader);
    OTF2_Reader_OpenEvtFiles(reader);
    for (uint64_t i = 0; i < locations.n; i++) {
        OTF2_DefReader *local = has_local ? OTF2_Reader_GetDefReader(reader, locations.ids[i]) : NULL;
        uint64_t n = 0;
        if (local) {
            OTF2_Reader_ReadAllLocalDefinitions(reader, local, &n);
            OTF2_Reader_CloseDefReader(reader, local);
        }
        OTF2_Reader_GetEvtReader(reader, locations.ids[i]);
    }
    if (has_local)
        OTF2_Reader_CloseDefFiles(reader);
    OTF2_GlobalEvtReader *events = OTF2_Reader_GetGlobalEvtReader(reader);
    OTF2_GlobalEvtReaderCallbacks *callbacks = empty_callbacks();
    OTF2_Reader_RegisterGlobalEvtCallbacks(reader, events, callbacks, &n_counted);
    OTF2_GlobalEvtReaderCallbacks_Delete(callbacks);
    bool is_read = events && !OTF2_Reader_ReadAllGlobalEvents(reader, events, &n_events);
    OTF2_Reader_CloseGlobalEvtReader(reader, events);
    OTF2_Reader_CloseEvtFiles(reader);
    free(locations.ids);
    return is_read ? n_events : 0;
}

int main(int argc, char **argv)
{
    struct rlimit limit;
    if (!getrlimit(RLIMIT_NOFILE, &limit)) {
        limit.rlim_cur = limit.rlim_max;
        setrlimit(RLIMIT_NOFILE, &limit);
    }
    OTF2_Reader *reader = argc > 1 ? OTF2_Reader_Open(argv[1]) : NULL;
    uint64_t n_events = reader ? read_all(reader) : 0;
    if (reader)
        OTF2_Reader_Close(reader);
    printf("%llu\n", (unsigned long long)n_events);
    return n_events ? 0 : 1;
}
