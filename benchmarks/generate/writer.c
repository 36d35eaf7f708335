/* SPDX-License-Identifier: BSD-3-Clause */
#include "benchmarks/generate/writer.h"
#include "wrap/base/err.h"
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>

/* Calling contexts of our style: main(), and from there each routine. */
enum { CONTEXT_CALL = ROUTINE_MAIN };

/* Strings and groups are numbered from 0 in the order in which they are defined. */
struct definitions {
    OTF2_GlobalDefWriter *writer;
    struct intern strings;
    bool has_failed;
};

#define DEFINE(definitions, what, ...)                                                                                 \
    (definitions)->has_failed |= OTF2_GlobalDefWriter_Write##what((definitions)->writer, __VA_ARGS__) != OTF2_SUCCESS
#define RECORD(writer, rank, what, time_ns, ...)                                                                       \
    do {                                                                                                               \
        struct written_process *process_ = &(writer)->processes[rank];                                                 \
        (writer)->has_failed |= process_->events && OTF2_EvtWriter_##what(process_->events, (writer)->attributes,      \
                                                                          time_ns, __VA_ARGS__) != OTF2_SUCCESS;       \
        process_->n_events++;                                                                                          \
        process_->end_ns = (time_ns);                                                                                  \
    } while (0)

static uint32_t string_id(struct definitions *definitions, const char *text)
{
    size_t n = definitions->strings.n;
    uint32_t id = intern_text(&definitions->strings, text);
    if (id == n)
        DEFINE(definitions, String, id, text);
    return id;
}

int writer_begin(struct writer *writer, const char *dir, enum style style, uint32_t n_ranks)
{
    *writer = (struct writer){.dir = dir, .style = style, .n_ranks = n_ranks};
    if (mkdir(dir, 0755) || !(writer->archive = archive_create(dir, 0)))
        return error("cannot make an archive in %s: it must not be there yet", dir);
    if (style == STYLE_FOREIGN)
        OTF2_Archive_SetCreator(writer->archive, "a generator of archives");
    writer->attributes = OTF2_AttributeList_New();
    writer->processes = calloc(n_ranks, sizeof *writer->processes);
    if (!writer->attributes || !writer->processes || OTF2_Archive_OpenEvtFiles(writer->archive))
        return error("cannot write events to %s", dir);
    return 0;
}

/* Nothing is left of the run but its files. */
static void end_share(struct writer *writer)
{
    for (uint32_t rank = 0; rank < writer->n_ranks; rank++) {
        struct written_process *process = &writer->processes[rank];
        if (process->events)
            writer->has_failed |= OTF2_Archive_CloseEvtWriter(writer->archive, process->events) != OTF2_SUCCESS;
        process->events = NULL;
        prediction_release(&process->stacks);
        map_release(&process->begun);
    }
}

uint32_t writer_begin_share(struct writer *writer, uint32_t first)
{
    enum { MOST_OPEN = 4096 };
    uint32_t end = writer->n_ranks - first > MOST_OPEN ? first + MOST_OPEN : writer->n_ranks;
    end_share(writer);
    for (uint32_t rank = 0; rank < writer->n_ranks; rank++) {
        struct written_process *process = &writer->processes[rank];
        starts_release(&process->starts);
        *process = (struct written_process){0};
        if (rank < first || rank >= end)
            continue;
        process->events = OTF2_Archive_GetEvtWriter(writer->archive, rank);
        writer->has_failed |= !process->events;
    }
    for (uint32_t i = 0; i < writer->comms.n; i++)
        vec_release(&writer->comms.at[i].members);
    writer->comms.n = 0;
    return end;
}

/* Regions: the MPI calls, from the first one, then the routines. */
static uint32_t call_region(uint32_t call)
{
    return call - 1;
}

static uint32_t routine_region(uint32_t routine)
{
    return call_region(WW_N_CALLS) + routine;
}

void writer_open(struct writer *writer, uint32_t rank, uint32_t routine, uint64_t time_ns)
{
    RECORD(writer, rank, Enter, time_ns, routine_region(routine));
}

void writer_close(struct writer *writer, uint32_t rank, uint32_t routine, uint64_t time_ns)
{
    RECORD(writer, rank, Leave, time_ns, routine_region(routine));
}

void writer_run(struct writer *writer, uint32_t rank, uint32_t routine, uint64_t from_ns, uint64_t to_ns)
{
    struct written_process *process = &writer->processes[rank];
    if (writer->style == STYLE_FOREIGN) {
        writer_open(writer, rank, routine, from_ns);
        writer_close(writer, rank, routine, to_ns);
        return;
    }
    uint64_t next_ns = from_ns + (SAMPLE_PERIOD_NS - process->unsampled_ns);
    for (; next_ns <= to_ns; next_ns += SAMPLE_PERIOD_NS)
        RECORD(writer, rank, CallingContextSample, next_ns, routine, 2, ARCHIVE_GEN_USER);
    process->unsampled_ns = SAMPLE_PERIOD_NS - (next_ns - to_ns);
}

void writer_enter(struct writer *writer, uint32_t rank, uint32_t call, uint64_t time_ns)
{
    if (writer->style == STYLE_OURS) {
        struct written_process *process = &writer->processes[rank];
        struct prediction *stacks = &process->stacks;
        bool is_start = starts_are_due(&process->starts, process->n_calls, stacks->nodes.n);
        if (is_start) {
            *starts_add(&process->starts, time_ns, process->n_calls, 1) = process->n_events;
            prediction_release(stacks);
        }
        if (process->events && stacks->foreseen != 1 + CONTEXT_CALL)
            OTF2_AttributeList_AddCallingContextRef(writer->attributes,
                                                    is_start ? ARCHIVE_ATTR_ANEW : ARCHIVE_ATTR_STACK, CONTEXT_CALL);
        prediction_move(stacks, 1 + CONTEXT_CALL);
        process->n_calls++;
    }
    RECORD(writer, rank, Enter, time_ns, call_region(call));
}

void writer_leave(struct writer *writer, uint32_t rank, uint32_t call, uint64_t time_ns)
{
    RECORD(writer, rank, Leave, time_ns, call_region(call));
}

enum { MESSAGE_BYTES = 8192 };

void writer_send(struct writer *writer, uint32_t rank, uint64_t time_ns, uint32_t to, uint32_t tag)
{
    RECORD(writer, rank, MpiSend, time_ns, to, 0, tag, MESSAGE_BYTES);
}

void writer_recv(struct writer *writer, uint32_t rank, uint64_t time_ns, uint32_t from, uint32_t tag)
{
    RECORD(writer, rank, MpiRecv, time_ns, from, 0, tag, MESSAGE_BYTES);
}

void writer_isend(struct writer *writer, uint32_t rank, uint64_t time_ns, uint32_t to, uint32_t tag, uint64_t request)
{
    RECORD(writer, rank, MpiIsend, time_ns, to, 0, tag, MESSAGE_BYTES, request);
}

void writer_isend_done(struct writer *writer, uint32_t rank, uint64_t time_ns, uint64_t request)
{
    RECORD(writer, rank, MpiIsendComplete, time_ns, request);
}

void writer_irecv(struct writer *writer, uint32_t rank, uint64_t time_ns, uint64_t request)
{
    struct written_process *process = &writer->processes[rank];
    RECORD(writer, rank, MpiIrecvRequest, time_ns, request);
    *map_put(&process->begun, request, NULL) = starts_begin(&process->starts);
}

void writer_irecv_done(struct writer *writer, uint32_t rank, uint64_t time_ns, uint32_t from, uint32_t tag,
                       uint64_t request)
{
    struct written_process *process = &writer->processes[rank];
    RECORD(writer, rank, MpiIrecv, time_ns, from, 0, tag, MESSAGE_BYTES, request);
    starts_complete(&process->starts, (uint32_t)*map_put(&process->begun, request, NULL), time_ns);
}

void writer_collective(struct writer *writer, uint32_t rank, uint32_t call, uint32_t comm, uint64_t enter_ns,
                       uint64_t leave_ns)
{
    writer_enter(writer, rank, call, enter_ns);
    OTF2_EvtWriter *events = writer->processes[rank].events;
    writer->has_failed |= events && OTF2_EvtWriter_MpiCollectiveBegin(events, NULL, enter_ns) != OTF2_SUCCESS;
    writer->processes[rank].n_events++;
    RECORD(writer, rank, MpiCollectiveEnd, leave_ns, archive_collective_op(call), comm, OTF2_UNDEFINED_UINT32, 8, 8);
    starts_count_collective(&writer->processes[rank].starts, comm, false);
    writer_leave(writer, rank, call, leave_ns);
}

static void define_process(struct definitions *definitions, const struct writer *writer, uint32_t rank)
{
    const struct written_process *process = &writer->processes[rank];
    char text[64];
    snprintf(text, sizeof text, "MPI Rank %u", rank);
    DEFINE(definitions, LocationGroup, rank, string_id(definitions, text), OTF2_LOCATION_GROUP_TYPE_PROCESS, 0,
           OTF2_UNDEFINED_LOCATION_GROUP);
    DEFINE(definitions, Location, rank, string_id(definitions, "Master thread"), OTF2_LOCATION_TYPE_CPU_THREAD,
           process->n_events, rank);
    if (writer->style == STYLE_FOREIGN)
        return;
    DEFINE(definitions, LocationGroupProperty, rank, string_id(definitions, ARCHIVE_PROP_END_HOW), OTF2_TYPE_UINT32,
           (OTF2_AttributeValue){.uint32 = WW_END_FINALIZE});
    DEFINE(definitions, LocationProperty, rank, string_id(definitions, ARCHIVE_PROP_END_NS), OTF2_TYPE_UINT64,
           (OTF2_AttributeValue){.uint64 = process->end_ns});
    DEFINE(definitions, LocationProperty, rank, string_id(definitions, ARCHIVE_PROP_PERIOD), OTF2_TYPE_UINT64,
           (OTF2_AttributeValue){.uint64 = SAMPLE_PERIOD_NS});
    if (!process->n_in)
        return;
    snprintf(text, sizeof text, "0 %u %u %u %u %u", process->n_in, process->neighbors[0], process->neighbors[1],
             process->neighbors[0], process->neighbors[1]);
    OTF2_AttributeValue value = {.stringRef = string_id(definitions, text)};
    DEFINE(definitions, LocationGroupProperty, rank, string_id(definitions, ARCHIVE_PROP_NEIGHBORS "::0"),
           OTF2_TYPE_STRING, value);
}

static void define_code(struct definitions *definitions, const struct writer *writer)
{
    static const char *const routines[N_ROUTINES] = {"main", "load", "work"};
    bool is_foreign = writer->style == STYLE_FOREIGN;
    uint32_t none = string_id(definitions, ""), file = string_id(definitions, "generated.c");
    for (uint32_t call = 1; call < WW_N_CALLS; call++) {
        uint32_t name = string_id(definitions, call_info(call)->name);
        DEFINE(definitions, Region, call_region(call), name, name, none, OTF2_REGION_ROLE_FUNCTION, OTF2_PARADIGM_MPI,
               OTF2_REGION_FLAG_NONE, string_id(definitions, "MPI"), 0, 0);
    }
    for (uint32_t routine = 0; routine < N_ROUTINES; routine++) {
        uint32_t name = string_id(definitions, routines[routine]), line = 10 + 10 * routine;
        DEFINE(definitions, Region, routine_region(routine), name, name, none, OTF2_REGION_ROLE_FUNCTION,
               is_foreign ? OTF2_PARADIGM_USER : OTF2_PARADIGM_SAMPLING, OTF2_REGION_FLAG_NONE, file, line, line + 9);
    }
    for (uint32_t i = 0; i < PARTS + PLACES && is_foreign; i++) {
        char text[32];
        bool is_part = i < PARTS;
        snprintf(text, sizeof text, is_part ? "part_%u" : "place_%u", is_part ? i : i - PARTS);
        uint32_t name = string_id(definitions, text), line = 100 + 10 * i;
        DEFINE(definitions, Region, routine_region(ROUTINE_PART + i), name, name, none, OTF2_REGION_ROLE_FUNCTION,
               OTF2_PARADIGM_USER, OTF2_REGION_FLAG_NONE, file, line, line + 9);
    }
    if (is_foreign)
        return;
    DEFINE(definitions, Attribute, ARCHIVE_ATTR_STACK, string_id(definitions, "WHYWAIT::CALL_STACK"), none,
           OTF2_TYPE_CALLING_CONTEXT);
    DEFINE(definitions, Attribute, ARCHIVE_ATTR_ANEW, string_id(definitions, "WHYWAIT::CALL_STACK_ANEW"), none,
           OTF2_TYPE_CALLING_CONTEXT);
    for (uint32_t routine = 0; routine < N_ROUTINES; routine++)
        DEFINE(definitions, CallingContext, routine, routine_region(routine), OTF2_UNDEFINED_SOURCE_CODE_LOCATION,
               routine == ROUTINE_MAIN ? OTF2_UNDEFINED_CALLING_CONTEXT : ROUTINE_MAIN);
    DEFINE(definitions, InterruptGenerator, ARCHIVE_GEN_USER, string_id(definitions, "on a CPU"),
           OTF2_INTERRUPT_GENERATOR_MODE_TIME, OTF2_BASE_DECIMAL, -9, SAMPLE_PERIOD_NS);
}

static void define_comms(struct definitions *definitions, const struct writer *writer)
{
    uint32_t none = string_id(definitions, ""), n_groups = 0;
    const struct written_comm *world = &writer->comms.at[0];
    DEFINE(definitions, Group, n_groups++, none, OTF2_GROUP_TYPE_COMM_LOCATIONS, OTF2_PARADIGM_MPI,
           OTF2_GROUP_FLAG_NONE, (uint32_t)world->members.n, world->members.at);
    for (uint32_t i = 0; i < writer->comms.n; i++) {
        const struct written_comm *comm = &writer->comms.at[i];
        DEFINE(definitions, Group, n_groups, none, OTF2_GROUP_TYPE_COMM_GROUP, OTF2_PARADIGM_MPI, OTF2_GROUP_FLAG_NONE,
               (uint32_t)comm->members.n, comm->members.at);
        DEFINE(definitions, Comm, i, string_id(definitions, comm->name), n_groups++, i ? 0 : OTF2_UNDEFINED_COMM,
               OTF2_COMM_FLAG_NONE);
    }
}

static bool write_definitions(struct writer *writer)
{
    struct definitions definitions = {.writer = OTF2_Archive_GetGlobalDefWriter(writer->archive)};
    if (!definitions.writer)
        return false;
    DEFINE(&definitions, ClockProperties, 1000000000, 0, writer->end_ns + 1, OTF2_UNDEFINED_TIMESTAMP);
    DEFINE(&definitions, Paradigm, OTF2_PARADIGM_MPI, string_id(&definitions, "MPI"), OTF2_PARADIGM_CLASS_PROCESS);
    uint32_t machine = string_id(&definitions, "machine");
    DEFINE(&definitions, SystemTreeNode, 0, machine, machine, OTF2_UNDEFINED_SYSTEM_TREE_NODE);
    for (uint32_t rank = 0; rank < writer->n_ranks; rank++)
        define_process(&definitions, writer, rank);
    define_code(&definitions, writer);
    define_comms(&definitions, writer);
    bool has_failed = definitions.has_failed;
    has_failed |= OTF2_Archive_CloseGlobalDefWriter(writer->archive, definitions.writer) != OTF2_SUCCESS;
    intern_release(&definitions.strings);
    return !has_failed;
}

static void put_starts(struct starts_file *file, uint32_t rank, const struct starts *starts)
{
    for (size_t i = 0; i < starts->all.n; i++) {
        const struct start *start = &starts->all.at[i];
        const struct starts_record record = {
            .rank = rank, .n_positions = 1, .n_counts = (uint32_t)start->n_counts, .known_ns = start->known_ns};
        const struct starts_position position = {rank, starts->positions.at[i]};
        if (!start->n_open)
            starts_file_put(file, &record, &position, starts->counts.at + start->first_count);
    }
}

static void write_starts(struct writer *writer)
{
    struct starts_file file;
    writer->has_failed |= starts_file_begin(&file, writer->dir) != 0;
    for (uint32_t rank = 0; rank < writer->n_ranks; rank++) {
        if (!writer->has_failed)
            put_starts(&file, rank, &writer->processes[rank].starts);
        starts_release(&writer->processes[rank].starts);
    }
    writer->has_failed |= !starts_file_end(&file, writer->n_events);
}

int writer_end(struct writer *writer)
{
    for (uint32_t rank = 0; rank < writer->n_ranks; rank++) {
        const struct written_process *process = &writer->processes[rank];
        writer->n_events += process->n_events;
        writer->end_ns = process->end_ns > writer->end_ns ? process->end_ns : writer->end_ns;
    }
    end_share(writer);
    write_starts(writer);
    writer->has_failed |= OTF2_Archive_CloseEvtFiles(writer->archive) != OTF2_SUCCESS;
    /* Readers look for the local definitions of every location, empty ones included. */
    writer->has_failed |= OTF2_Archive_OpenDefFiles(writer->archive) != OTF2_SUCCESS;
    for (uint32_t rank = 0; rank < writer->n_ranks && !writer->has_failed; rank++) {
        OTF2_DefWriter *local = OTF2_Archive_GetDefWriter(writer->archive, rank);
        writer->has_failed |= !local || OTF2_Archive_CloseDefWriter(writer->archive, local) != OTF2_SUCCESS;
    }
    writer->has_failed |= OTF2_Archive_CloseDefFiles(writer->archive) != OTF2_SUCCESS;
    writer->has_failed |= !write_definitions(writer);
    writer->has_failed |= OTF2_Archive_Close(writer->archive) != OTF2_SUCCESS;
    for (uint32_t i = 0; i < writer->comms.n; i++)
        vec_release(&writer->comms.at[i].members);
    vec_release(&writer->comms);
    OTF2_AttributeList_Delete(writer->attributes);
    free(writer->processes);
    return writer->has_failed
               ? error("the archive could not be written: is the disk full, or are files few that may be open?")
               : 0;
}
