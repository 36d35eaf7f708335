/* SPDX-License-Identifier: BSD-3-Clause */
#include "analyze/words/next.h"
#include "analyze/code/origin.h"
#include "analyze/verdict/sides.h"
#include "analyze/words/amount.h"
#include "analyze/words/label.h"

static const char *const wrappers[] = {
    [CODE_LANGUAGE_OTHER] = "mpicc", [CODE_LANGUAGE_CXX] = "mpicxx", [CODE_LANGUAGE_FORTRAN] = "mpifort"};

/* Advice that is the same for whatever it is given. */
static const char *const fixed_advice[ADVICE_N] = {
    [ADVICE_CALL_MPI_MEANWHILE] =
        "the MPI library goes on only when the late side comes back to it: call it there now and then (MPI_Test), or "
        "switch on its asynchronous progress",
    [ADVICE_RECORD_LONGER] =
        "what was done meanwhile is not recorded: leave recording on there, or take longer windows",
    [ADVICE_OTHER_PROCESSES] =
        "see what it waits for: perhaps for a process that is not recorded with this run, as one that was spawned",
    [ADVICE_RECORD_THEM] =
        "record those processes as well, to see what they do meanwhile: spawn `whywait record PROGRAM` "
        "instead of PROGRAM, which makes a run of its own",
    [ADVICE_LOOK_MORE_OFTEN] = "a thread that serves requests sleeps between two looks for them: let it look more "
                               "often, or wait inside MPI (MPI_Probe, MPI_Recv)",
    [ADVICE_SHORTEN_LOCK] =
        "it is done under an exclusive lock of a window, one rank after the other, so dividing it gains little: "
        "do it before the lock is taken or after it is given back, or make it shorter",
    [ADVICE_DO_AT_ONCE] =
        "no rank has more of it in total: let ranks do it at the same time, or hand over sooner, in smaller pieces",
    [ADVICE_SHARE_EACH_TIME] =
        "no rank has more of it in total, but in each step one has: divide the work of each step evenly, in smaller "
        "pieces",
    [ADVICE_SHARE_IN_TURNS] =
        "in each step another rank has more of it: divide the work of each step evenly, in smaller pieces",
    [ADVICE_SHARE_ANEW] = "the work moves from rank to rank in the course of the run: divide it anew when it has moved",
    [ADVICE_NOTHING] =
        "nothing: no rank has more of it, and single steps vary with clock speed, caches and other processes",
    [ADVICE_SHARE_LOOP] = "divide the work of this loop differently among the ranks",
    [ADVICE_SHARE_WORK] = "divide this work differently among the ranks",
    [ADVICE_CPU_FOR_EACH] =
        "busy threads share CPUs, which makes each slower: give each a CPU of its own, and record again",
    [ADVICE_MEMORY_ACCESS] =
        "look at its memory access, the placement of its data, branches that are hard to predict, divisions, and "
        "numbers next to zero (denormals): `perf stat` on a late rank and on another tells which. It is the machine if "
        "another run names another rank",
    [ADVICE_SHORTEN_SLEEP] =
        "the program sleeps here: remove the sleep or shorten it; if it waits for something, wait for that instead",
    [ADVICE_FILE_ACCESS] =
        "read or write less here, less often or in larger pieces; or share it among the ranks with collective MPI-IO "
        "(MPI_File_write_all), or let it go on while the ranks compute",
    [ADVICE_TOUCHED_MEMORY] =
        "the kernel hands out memory here, page by page: allocate and touch it once before, keep it instead of freeing "
        "it, or use huge pages",
    [ADVICE_CHILD_PROCESS] =
        "start that process earlier and compute meanwhile, share its work among the ranks, or keep its result for the "
        "next run",
    [ADVICE_OUTSIDE_DATA] =
        "the program sleeps here for a time, or until data comes (select, poll, a socket): shorten that time, or let "
        "the rank go on meanwhile",
    [ADVICE_NETWORK_ANSWER] =
        "the rank waits for the answer of another program over the network, not by MPI: ask earlier and compute "
        "meanwhile, ask for more at a time, or let one rank ask and share the answer",
    [ADVICE_HELD_LOCK] = "another thread or process holds the lock, or sends the signal, that this waits for: let it "
                         "do so for a shorter time, or sooner",
    [ADVICE_SYSTEM_CALLS] =
        "`whywait report --routines --causing` names the routine that sleeps, reads, writes or waits for a lock; few "
        "calls in `strace -c -w -f` mean page faults: use touched memory again",
    [ADVICE_MACHINE] = "see the machine's row below",
    [ADVICE_WRITER] =
        "see which rank writes to this memory, and what it does before: nothing here is to be made faster",
    [ADVICE_DATA_TYPES] = "this call needs no other rank: data types of fewer and longer blocks, or fewer such calls",
    [ADVICE_FEWER_CALLS] = "this call moves no data: make it less often, or once before the work",
    [ADVICE_START_UP] = "here MPI or a process starts or ends: that counts once, and less in a longer run",
    [ADVICE_CPU_BEFORE] = "CPUs were short, and a partner without one makes a transfer long: see the machine's row",
    [ADVICE_ASK_LESS] = "ask less often whether something has come; --ranks shows who waits for whom",
    [ADVICE_FEWER_MESSAGES] =
        "fewer or smaller messages, or progress while computing; --ranks shows who waits for whom",
    [ADVICE_COMPARE_GENERATED] = "see what the code that is made at run time is called for on a late rank and on "
                                 "another, and with how much data",
    [ADVICE_IMPORT_BEFORE] =
        "modules are imported once in a run: import them on all ranks at the same time, before the first exchange; "
        "where reading their files takes long, from a disk of the node",
    [ADVICE_SEND_BUFFERS] = "mpi4py's lower-case methods (send, bcast, gather) pickle objects: send arrays as buffers "
                            "with comm.Send, Bcast, Gather, or send fewer and smaller objects",
    [ADVICE_COLLECT_LESS] =
        "the collector goes through all objects that live: call gc.freeze() once they are made, raise "
        "gc.set_threshold(), or keep numbers in arrays instead of objects",
    [ADVICE_OTHER_PROCESS] =
        "Python runs one thread of a process at a time: give such a thread's work to another process, or to code that "
        "runs without the lock (NumPy, native code), or let it wait instead of looking again and again",
    [ADVICE_PROCESSES] = "Python runs one thread of a process at a time: divide this work among processes (more ranks, "
                         "multiprocessing), or do it in code that releases the lock (NumPy, native code)",
    [ADVICE_COMPARE_SCRIPT] = "compare a late rank and another: how often does this run there, and on how much data?",
    [ADVICE_RECORD_WITHOUT_STOP] = "record again without that stop: the program need not change for it",
    [ADVICE_CPU_FOR_THREADS] =
        "give each busy thread a CPU of its own that nobody else uses (a launcher may bind ranks to fewer: mpirun "
        "--bind-to none, or --map-by slot:pe=N), or use fewer threads, and record again to see the program alone",
    [ADVICE_CPU_FOR_RANKS] =
        "give each rank a CPU of its own that nobody else uses, and record again to see the program alone",
};

/* Takes the rank most to blame. */
static const char *const advice_for_threads[ADVICE_N] = {
    [ADVICE_SHARE_THREADS] =
        "divide it evenly among the threads of rank %u first: another schedule (dynamic, guided), smaller chunks or "
        "tasks",
    [ADVICE_SHARE_CALLERS] =
        "these threads of rank %u call MPI themselves: divide the work evenly among them, or among ranks and threads "
        "together",
    [ADVICE_SHORTEN_SECTION] =
        "let the threads of rank %u work at the same time: cut it into more pieces, shorten the critical section or "
        "lock around it, or give each thread data of its own",
    [ADVICE_LET_RUN_AT_ONCE] =
        "let the threads of rank %u work at the same time: give each a CPU of its own first; if they still take turns, "
        "cut it into more pieces, or shorten the critical section or lock around it",
};

const char *next_for_advice(enum advice advice)
{
    return fixed_advice[advice];
}

static const char *next_of_own_code(struct arena *arena, enum code_language language)
{
    return arena_printf(arena, "rebuild with %s $(whywait cc) to see whether it is more iterations or slower ones",
                        wrappers[language]);
}

/* Advice that names the code it is given for. */
static const char *next_of_code(struct arena *arena, const struct analysis *analysis, const struct cause *cause)
{
    const struct trace *trace = analysis->trace;
    const struct code_place *place =
        analysis->code ? code_place(analysis->code, analysis->steps[cause->step].place) : NULL;
    if (!place)
        return next_of_own_code(arena, CODE_LANGUAGE_OTHER);
    const char *path = place->module < trace->n_modules ? trace->modules[place->module].path : "";
    const char *language = code_module_language(analysis->code, place->module);
    switch (cause->advice) {
    case ADVICE_OTHER_PROFILER:
        return arena_printf(arena,
                            "this is %s code that the interpreter runs: a profiler for %s, on a late rank and on "
                            "another, tells which routine",
                            language, language);
    case ADVICE_COMPARE_PACKAGE:
        return arena_printf(arena, "this is code of the package %s: see how its data is divided among the ranks",
                            code_module_package(analysis->code, place->module));
    case ADVICE_COMPARE_EXTENSION:
        return arena_printf(arena,
                            "this is code of the extension module %s: see what the script calls it for on a late rank "
                            "and on another, and with how much data",
                            extension_name(arena, path));
    case ADVICE_COMPARE_GIVEN:
        return arena_printf(arena,
                            "this is code of %s, which is not the program's own: see what it is called for on a "
                            "late rank and on another, and with how much data",
                            label_base_name(path));
    default:
        return next_of_own_code(arena, code_place_language(analysis->code, place->id));
    }
}

const char *next_gain(struct arena *arena, const struct cause *cause)
{
    if (cause->advice != ADVICE_SHARE_OR_OVERLAP || cause->is_gain_minor)
        return "";
    return arena_printf(arena, " (without it at most %s)", amount_change(-cause->if_gone_ns).text);
}

const char *next_for_cause(struct arena *arena, const struct analysis *analysis, const struct cause *cause)
{
    const struct sides sides = sides_of(arena, cause);
    switch (cause->advice) {
    case ADVICE_SHARE_OR_OVERLAP:
        return arena_printf(arena,
                            "only %s %s %stime in this: let ranks do parts of it at the same time, overlap it with "
                            "other work, or do without it",
                            amount_ranks(arena, sides.late.ranks, sides.late.n), sides.late.n == 1 ? "spends" : "spend",
                            cause->reason.kind == REASON_TIME_AT_MOST ? "much " : "");
    case ADVICE_SHARE_BOTH:
        return arena_printf(
            arena, "%s %s other work meanwhile (--cause %zu): divide both together, as evenly as they take time",
            amount_other_ranks(arena, sides.others.ranks, sides.others.n), sides.others.n == 1 ? "does" : "do",
            (size_t)(cause - analysis->causes) + 1);
    case ADVICE_TAKE_PART: {
        const struct cause_site *site = &cause->sites[0];
        bool is_one = site->n_waiting == 1;
        return arena_printf(
            arena, "%s %s meanwhile and %s none of it: give %s a part as well, and let long pieces begin first",
            amount_ranks(arena, site->waiting, site->n_waiting), is_one ? "waits" : "wait", is_one ? "does" : "do",
            is_one ? "it" : "them");
    }
    case ADVICE_COMPARE_NODES:
        return arena_printf(arena,
                            "the late ranks are on %s: compare its clock speed, memory and load with other nodes",
                            trace_main_thread(analysis->trace, cause->ranks[0].rank)->host);
    case ADVICE_SEE_STEPS:
        return arena_printf(arena,
                            "`whywait report --cause %zu` shows its ranks, the calls where others wait, and its steps",
                            (size_t)(cause - analysis->causes) + 1);
    case ADVICE_COMPARE_CALLS:
        if (!cause->library)
            return "what this calls is not counted: compare what the ranks call here, how often, and on how much data";
        return arena_printf(arena,
                            "what %s does may be slower there or more: compare what the ranks call it for, and how "
                            "often",
                            label_base_name(cause->library));
    default:
        if (advice_for_threads[cause->advice])
            return arena_printf(arena, advice_for_threads[cause->advice], cause->ranks[0].rank);
        return fixed_advice[cause->advice] ? fixed_advice[cause->advice] : next_of_code(arena, analysis, cause);
    }
}
