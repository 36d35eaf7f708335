/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The floor under a conversion: the spool is read once, and OTF2 writes the events that `calls self` comes to, with
 * buffers and files as the converter has them. Nothing is decoded or looked up, no disk given back. (Call paths are an
 * attribute that loops seldom need.)
 *
 *     write_only SPOOL_FILE DIR N     4.4 N calls, as that program makes; DIR must not be there
 */
#include "analyze/archive/archive.h"
#include "wrap/base/err.h"
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

enum { CALL_NS = 60, BYTES = 8 };
enum { SEND, RECV, BARRIER, ALLREDUCE, CALLS };

static int read_once(const char *path)
{
    static char buffer[256 << 10];
    int fd = open(path, O_RDONLY);
    ssize_t n = fd < 0 ? -1 : 1;
    while (n > 0)
        n = read(fd, buffer, sizeof buffer);
    if (fd >= 0)
        close(fd);
    return n < 0 ? error("cannot read %s", path) : 0;
}

static bool write_call(OTF2_EvtWriter *events, int call, uint64_t time_ns)
{
    uint32_t region = (uint32_t)call;
    OTF2_CollectiveOp op = call == BARRIER ? OTF2_COLLECTIVE_OP_BARRIER : OTF2_COLLECTIVE_OP_ALLREDUCE;
    uint64_t bytes = call == BARRIER ? 0 : BYTES, end_ns = time_ns + CALL_NS / 2;
    bool ok = !OTF2_EvtWriter_Enter(events, NULL, time_ns, region);
    if (call == SEND)
        ok &= !OTF2_EvtWriter_MpiSend(events, NULL, time_ns, 0, 1, 0, BYTES);
    else if (call == RECV)
        ok &= !OTF2_EvtWriter_MpiRecv(events, NULL, end_ns, 0, 1, 0, BYTES);
    else
        ok &= !OTF2_EvtWriter_MpiCollectiveBegin(events, NULL, time_ns) &&
              !OTF2_EvtWriter_MpiCollectiveEnd(events, NULL, end_ns, op, 0, OTF2_UNDEFINED_UINT32, bytes, bytes);
    return ok && !OTF2_EvtWriter_Leave(events, NULL, end_ns, region);
}

static int write_events(const char *dir, uint64_t n)
{
    OTF2_Archive *archive = mkdir(dir, 0755) ? NULL : archive_create(dir, 0);
    OTF2_EvtWriter *events =
        archive && !OTF2_Archive_OpenEvtFiles(archive) ? OTF2_Archive_GetEvtWriter(archive, 0) : NULL;
    bool ok = events != NULL;
    uint64_t time_ns = UINT64_C(1) << 45; /* a clock that has run for half a day */
    for (int call = 0; call < CALLS && ok; call++)
        for (uint64_t i = 0; i < n + n / 10 && ok; i++, time_ns += CALL_NS)
            ok = write_call(events, call, time_ns);
    ok = ok && !OTF2_Archive_CloseEvtWriter(archive, events) && !OTF2_Archive_CloseEvtFiles(archive);
    if (archive)
        OTF2_Archive_Close(archive);
    return ok ? 0 : error("cannot write an archive in %s", dir);
}

int main(int argc, char **argv)
{
    int result = argc != 4 ? error("write_only SPOOL_FILE DIR N") : read_once(argv[1]);
    return result || write_events(argv[2], strtoull(argv[3], NULL, 10)) ? 1 : 0;
}
