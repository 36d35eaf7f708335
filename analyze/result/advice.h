/* SPDX-License-Identifier: BSD-3-Clause */
/* The next steps that are advised, one line each: its name, as in the JSON, and when it is given. words/next.c has the
 * sentences, verdict/advice.c the decision. */
#pragma once

#define ADVICE_LIST(X)                                                                                                 \
    X(NONE, "none")                               /* nothing is known that would help */                               \
    X(CALL_MPI_MEANWHILE, "call-mpi-meanwhile")   /* ranks wait for the MPI library to go on */                        \
    X(RECORD_LONGER, "record-longer")             /* recording was off meanwhile */                                    \
    X(OTHER_PROCESSES, "other-processes")         /* a wait that no record explains */                                 \
    X(RECORD_THEM, "record-them")                 /* a wait for processes outside of the run */                        \
    X(LOOK_MORE_OFTEN, "look-more-often")         /* a thread that serves sleeps between two looks for requests */     \
    X(SHORTEN_LOCK, "shorten-lock")               /* done under an exclusive lock of a window */                       \
    X(DO_AT_ONCE, "do-at-once")                   /* nobody has more of it: serialisation */                           \
    X(SHARE_EACH_TIME, "share-each-time")         /* the late rank has more of it each time */                         \
    X(SHARE_IN_TURNS, "share-in-turns")           /* another rank has more of it each time */                          \
    X(SHARE_ANEW, "share-anew")                   /* it moves from rank to rank in the course of the run */            \
    X(NOTHING, "nothing")                         /* single steps vary as they do on any machine */                    \
    X(SHARE_OR_OVERLAP, "share-or-overlap")       /* the late ranks alone run it */                                    \
    X(SHARE_BOTH, "share-both")                   /* likewise, and who waits does other work meanwhile */              \
    X(TAKE_PART, "take-part")                     /* several ranks run it, and who waits does not */                   \
    X(SHARE_CALLERS, "share-calling-threads")     /* likewise, and these threads call MPI themselves */                \
    X(SHARE_THREADS, "share-threads")             /* one thread has more of it than the others */                      \
    X(SHORTEN_SECTION, "shorten-section")         /* threads take turns in it */                                       \
    X(LET_RUN_AT_ONCE, "let-run-at-once")         /* likewise, because of a lock or too few CPUs */                    \
    X(PROCESSES, "processes")                     /* ... since an interpreter runs one at a time */                    \
    X(SHARE_LOOP, "share-loop")                   /* counts prove more work in a loop */                               \
    X(SHARE_WORK, "share-work")                   /* ... elsewhere */                                                  \
    X(CPU_FOR_EACH, "cpu-for-each")               /* slower, where busy threads share CPUs */                          \
    X(COMPARE_NODES, "compare-nodes")             /* slower, on one node */                                            \
    X(COMPARE_CALLS, "compare-calls")             /* longer, in what is called there and not counted */                \
    X(MEMORY_ACCESS, "memory-access")             /* slower, otherwise */                                              \
    X(SHORTEN_SLEEP, "shorten-sleep")             /* the program sleeps on purpose */                                  \
    X(FILE_ACCESS, "file-access")                 /* it reads or writes files */                                       \
    X(TOUCHED_MEMORY, "touched-memory")           /* the kernel hands out or takes back memory */                      \
    X(CHILD_PROCESS, "child-process")             /* it waits for a process that it started */                         \
    X(OUTSIDE_DATA, "outside-data")               /* it sleeps for a time, or until data comes, not from MPI */        \
    X(NETWORK_ANSWER, "network-answer")           /* it waits for another program over the network */                  \
    X(HELD_LOCK, "held-lock")                     /* another thread or process has a lock or gives a signal */         \
    X(SYSTEM_CALLS, "system-calls")               /* asleep or in the kernel for something else */                     \
    X(MACHINE, "machine")                         /* the machine's row has it */                                       \
    X(WRITER, "writer")                           /* it waits for shared memory to change */                           \
    X(DATA_TYPES, "data-types")                   /* time in packing, which needs no other rank */                     \
    X(FEWER_CALLS, "fewer-calls")                 /* time in a call that moves no data */                              \
    X(START_UP, "start-up")                       /* time in which MPI or processes start, or MPI ends */              \
    X(CPU_BEFORE, "cpu-before")                   /* a transfer, where CPUs were short */                              \
    X(ASK_LESS, "ask-less")                       /* time in asking whether something has come */                      \
    X(FEWER_MESSAGES, "fewer-messages")           /* another transfer */                                               \
    X(COMPARE_GENERATED, "compare-generated")     /* code that is made at run time */                                  \
    X(IMPORT_BEFORE, "import-before")             /* an interpreter imports modules */                                 \
    X(SEND_BUFFERS, "send-buffers")               /* objects are turned into messages, or back */                      \
    X(COLLECT_LESS, "collect-less")               /* garbage is collected */                                           \
    X(OTHER_PROCESS, "other-process")             /* a thread keeps the interpreter from the one that calls MPI */     \
    X(COMPARE_SCRIPT, "compare-script")           /* lines of a script */                                              \
    X(OTHER_PROFILER, "other-profiler")           /* an interpreter whose lines are not known */                       \
    X(COMPARE_PACKAGE, "compare-package")         /* code of a package */                                              \
    X(COMPARE_EXTENSION, "compare-extension")     /* code of a script's extension module */                            \
    X(COMPARE_GIVEN, "compare-given")             /* code of others without a package */                               \
    X(COUNT, "count")                             /* the program's own code, without counts */                         \
    X(SEE_STEPS, "see-steps")                     /* more is known than the row says */                                \
    X(RECORD_WITHOUT_STOP, "record-without-stop") /* the machine: ranks were stopped */                                \
    X(CPU_FOR_THREADS, "cpu-for-threads")         /* the machine: more busy threads than CPUs */                       \
    X(CPU_FOR_RANKS, "cpu-for-ranks")             /* the machine: CPUs were short otherwise */

#define ADVICE_ENUM(name, text) ADVICE_##name,
enum advice { ADVICE_LIST(ADVICE_ENUM) ADVICE_N };
#undef ADVICE_ENUM

const char *advice_name(enum advice advice);
