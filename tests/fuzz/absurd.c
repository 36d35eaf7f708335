/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Archives that OTF2 writes and that make no sense: unknown regions, communicators and requests, 2^64 bytes, calls that
 * end before they begin, clocks without ticks, parents in a ring.
 *
 *     absurd SEED FOLDER      the folder is not there yet
 *
 * Half of what is written makes sense, so that readers come to the rest. A seed makes the same archive each time.
 */
#include "analyze/archive/archive.h"
#include <otf2/otf2.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>

enum { N_LOCATIONS = 4, N_REGIONS = 6, N_STRINGS = 12, N_EVENTS = 400 };
static uint64_t state;

static uint64_t chance(uint64_t below)
{
    state = state * 6364136223846793005u + 1442695040888963407u;
    return (state >> 33) % below;
}

/* Below `most` mostly. */
static uint64_t number(uint64_t most)
{
    static const uint64_t odd[] = {0,          1,          0x7fffffff,       0x80000000, UINT32_MAX - 1, UINT32_MAX,
                                   1ull << 32, 1ull << 62, (1ull << 63) - 1, 1ull << 63, UINT64_MAX - 1, UINT64_MAX};
    return chance(8) ? chance(most) : odd[chance(sizeof odd / sizeof *odd)];
}

static uint32_t reference(uint64_t most)
{
    return (uint32_t)number(most);
}

static void write_events(OTF2_EvtWriter *to)
{
    uint64_t time = chance(1000), step = chance(10) ? 10 : 1ull << chance(56);
    for (int i = 0; i < N_EVENTS; i++) {
        time += chance(4) ? chance(step) : 0;
        uint32_t region = reference(N_REGIONS), comm = reference(3), peer = reference(N_LOCATIONS), tag = reference(3);
        uint64_t bytes = number(1000), request = number(20);
        OTF2_CollectiveOp op = (OTF2_CollectiveOp)reference(20);
        switch (chance(18)) {
        case 0:
        case 1:
        case 2:
            OTF2_EvtWriter_Enter(to, NULL, time, region);
            break;
        case 3:
        case 4:
        case 5:
            OTF2_EvtWriter_Leave(to, NULL, time, region);
            break;
        case 6:
            OTF2_EvtWriter_MpiSend(to, NULL, time, peer, comm, tag, bytes);
            break;
        case 7:
            OTF2_EvtWriter_MpiRecv(to, NULL, time, peer, comm, tag, bytes);
            break;
        case 8:
            OTF2_EvtWriter_MpiIsend(to, NULL, time, peer, comm, tag, bytes, request);
            break;
        case 9:
            OTF2_EvtWriter_MpiIsendComplete(to, NULL, time, request);
            break;
        case 10:
            OTF2_EvtWriter_MpiIrecvRequest(to, NULL, time, request);
            break;
        case 11:
            OTF2_EvtWriter_MpiIrecv(to, NULL, time, peer, comm, tag, bytes, request);
            break;
        case 12:
            OTF2_EvtWriter_MpiCollectiveBegin(to, NULL, time);
            break;
        case 13:
            OTF2_EvtWriter_MpiCollectiveEnd(to, NULL, time, op, comm, peer, bytes, bytes);
            break;
        case 14:
            OTF2_EvtWriter_CallingContextSample(to, NULL, time, reference(4), tag, reference(3));
            break;
        case 15:
            OTF2_EvtWriter_RmaPut(to, NULL, time, reference(2), peer, bytes, request);
            break;
        case 16:
            OTF2_EvtWriter_RmaOpCompleteBlocking(to, NULL, time, reference(2), request);
            break;
        default:
            OTF2_EvtWriter_MeasurementOnOff(to, NULL, time, (OTF2_MeasurementMode)reference(3));
            break;
        }
    }
}

static void write_groups(OTF2_GlobalDefWriter *to)
{
    static const OTF2_GroupType types[] = {OTF2_GROUP_TYPE_COMM_LOCATIONS, OTF2_GROUP_TYPE_COMM_GROUP,
                                           OTF2_GROUP_TYPE_COMM_SELF, OTF2_GROUP_TYPE_LOCATIONS};
    for (uint32_t i = 0; i < 4; i++) {
        uint64_t members[N_LOCATIONS];
        for (uint64_t k = 0; k < N_LOCATIONS; k++)
            members[k] = chance(3) ? k : number(N_LOCATIONS);
        OTF2_GlobalDefWriter_WriteGroup(to, i, reference(N_STRINGS), types[chance(3) ? i % 4 : chance(4)],
                                        OTF2_PARADIGM_MPI, OTF2_GROUP_FLAG_NONE, (uint32_t)chance(N_LOCATIONS + 1),
                                        members);
    }
    for (uint32_t i = 0; i < 3; i++)
        OTF2_GlobalDefWriter_WriteComm(to, i, reference(N_STRINGS), reference(4),
                                       chance(2) ? OTF2_UNDEFINED_COMM : reference(3), OTF2_COMM_FLAG_NONE);
    for (uint32_t i = 0; i < 2; i++)
        OTF2_GlobalDefWriter_WriteRmaWin(to, i, reference(N_STRINGS), reference(3), OTF2_RMA_WIN_FLAG_NONE);
}

static void write_definitions(OTF2_GlobalDefWriter *to)
{
    static const char *const texts[N_STRINGS] = {"",          "MPI_Recv",  "MPI_Send",     "MPI_Barrier",
                                                 "main",      "\033[2J",   "MPI_Wait",     "%s%n",
                                                 "MPI_Irecv", "=cmd|'/c'", "\xff\xfe\xed", "MPI_Init"};
    OTF2_GlobalDefWriter_WriteClockProperties(to, number(1000000000), number(1000), number(1000000),
                                              number(1ull << 60));
    for (uint32_t i = 0; i < N_STRINGS; i++)
        OTF2_GlobalDefWriter_WriteString(to, i, texts[i]);
    for (uint32_t i = 0; i < 3; i++)
        OTF2_GlobalDefWriter_WriteSystemTreeNode(to, i, reference(N_STRINGS), reference(N_STRINGS),
                                                 i && chance(3) ? i - 1 : reference(3));
    for (uint32_t i = 0; i < N_REGIONS; i++)
        OTF2_GlobalDefWriter_WriteRegion(to, i, 1 + (uint32_t)chance(8), reference(N_STRINGS), reference(N_STRINGS),
                                         (OTF2_RegionRole)chance(40),
                                         chance(2) ? OTF2_PARADIGM_MPI : OTF2_PARADIGM_USER, OTF2_REGION_FLAG_NONE,
                                         reference(N_STRINGS), reference(100), reference(100));
    for (uint32_t i = 0; i < 4; i++)
        OTF2_GlobalDefWriter_WriteCallingContext(to, i, reference(N_REGIONS), OTF2_UNDEFINED_SOURCE_CODE_LOCATION,
                                                 i && chance(2) ? i - 1 : reference(4));
    for (uint32_t i = 0; i < N_LOCATIONS; i++)
        OTF2_GlobalDefWriter_WriteLocationGroup(to, i, reference(N_STRINGS), OTF2_LOCATION_GROUP_TYPE_PROCESS,
                                                reference(3), OTF2_UNDEFINED_LOCATION_GROUP);
    for (uint32_t i = 0; i < N_LOCATIONS; i++)
        OTF2_GlobalDefWriter_WriteLocation(to, i, reference(N_STRINGS), OTF2_LOCATION_TYPE_CPU_THREAD, number(N_EVENTS),
                                           chance(4) ? i : reference(N_LOCATIONS));
    OTF2_GlobalDefWriter_WriteInterruptGenerator(to, 0, 0, OTF2_INTERRUPT_GENERATOR_MODE_TIME, OTF2_BASE_DECIMAL, -9,
                                                 number(1000000));
    write_groups(to);
}

int main(int n_words, char **words)
{
    if (n_words != 3 || mkdir(words[2], 0700))
        return 1;
    state = strtoull(words[1], NULL, 10);
    OTF2_Archive *archive = archive_create(words[2], 0);
    if (!archive || OTF2_Archive_OpenEvtFiles(archive))
        return 1;
    for (uint64_t i = 0; i < N_LOCATIONS; i++)
        write_events(OTF2_Archive_GetEvtWriter(archive, i));
    OTF2_Archive_CloseEvtFiles(archive);
    OTF2_Archive_OpenDefFiles(archive);
    for (uint64_t i = 0; i < N_LOCATIONS; i++)
        OTF2_Archive_CloseDefWriter(archive, OTF2_Archive_GetDefWriter(archive, i));
    OTF2_Archive_CloseDefFiles(archive);
    write_definitions(OTF2_Archive_GetGlobalDefWriter(archive));
    return OTF2_Archive_Close(archive) != OTF2_SUCCESS;
}
