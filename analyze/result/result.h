/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The result of an analysis, as the printers see it. All times are ns summed over the locations concerned; blame and
 * waiting are doubles because waits are shared out in proportion. Sigma blame = Sigma waiting; Sigma class members =
 * instances of the site.
 */
#pragma once
#include "analyze/code/code.h"
#include "analyze/constants/readers.h"
#include "analyze/result/advice.h"
#include "analyze/result/ratio.h"
#include "analyze/result/reason.h"
#include "analyze/steps/errands.h"
#include "analyze/steps/steps.h"
#include "analyze/trace/trace.h"
#include "wrap/base/containers.h"

enum wait_kind {
    WAIT_BARRIER,
    WAIT_NXN,
    WAIT_LATE_SENDER,
    WAIT_LATE_RECEIVER,
    WAIT_LATE_BROADCAST,
    WAIT_EARLY_REDUCE,
    WAIT_EARLY_SCAN,
    WAIT_LATE_MEMBER, /* of a collective whose result does not need it */
    WAIT_NEIGHBOR,
    WAIT_ICOLL,
    WAIT_RMA,
    WAIT_LOCK,     /* another process's lock on a window */
    WAIT_PROGRESS, /* a target outside MPI */
    WAIT_CREATE,
    WAIT_FINALIZE, /* at MPI_Finalize */
    WAIT_IO,       /* collective file access */
    WAIT_N_KINDS
};
const char *wait_kind_name(enum wait_kind kind);    /* "wait at barrier", "late sender" ... */
const char *wait_kind_meaning(enum wait_kind kind); /* the same in a few plain words */

enum cause_kind { KIND_MORE_WORK, KIND_SLOWER, KIND_DESCHEDULED, KIND_BLOCKED, KIND_TRANSFER, KIND_MORE_TIME, KIND_N };
const char *cause_kind_name(enum cause_kind kind); /* "more-work" ... as in the JSON */
struct cause;
/* Of ranks with whom the late ones are compared: how long they are in it on average; 0: there are none. */
double cause_usual_ns(const struct cause *cause);

/* A step as shown: a place in the code in one state. */
struct step {
    enum step_state state;
    /* What is named. file == NULL and routine == NULL: not known (the text is then in `label`). */
    const char *file, *routine, *label;
    const char *call;  /* the MPI function that it is, with or without a line; NULL */
    const char *below; /* of code without a name: the first named routine outwards, as it is called; NULL = not known */
    bool is_below_others; /* and in other stacks others */
    uint32_t line_first, line_last;
    bool is_loop, is_call; /* is_call: `routine` is an MPI function, called at the line */
    bool is_start;         /* the process, before its first call of MPI */
    uint32_t place;        /* code place id, or CODE_NONE (foreign archives: region) */
    uint32_t caller;       /* step that called it when several callers must be told apart; TRACE_NONE */
    uint32_t told_as;      /* the first step that reads the same */
    const char *call_file; /* where code that waits has called it, when steps differ by that alone; NULL */
    uint32_t call_line;
};

struct class_step {
    uint32_t step;      /* and all that read the same */
    uint32_t rank;      /* whose path */
    double dur_ns;      /* signed: + on the late side, - on the waiting side, summed over the instances */
    double blame_ns;    /* its part of the waiting; 0 for negative remainders */
    bool is_long_term;  /* entered through an adopted chain */
    bool is_redundant;  /* pruned: shown on request only; its blame, if any, counts all the same */
    int64_t executions; /* signed likewise; 0 = as many on both sides, or not counted */
};

struct class_steps {
    struct class_step *at; /* by falling |dur_ns| */
    uint32_t n;
};

/* When the instances of a class were, and how much was waited in them. */
struct when {
    uint64_t first_ns, last_ns;                   /* time of the first and of the last instance */
    double smallest_ns, largest_ns, deviation_ns; /* waiting of an instance */
    uint32_t every; /* it is met at each n-th call that a rank makes there; 0 = not regularly, or at all */
};

/* How waiting for one late rank is spread over the run, in equal parts of it. */
enum { WHEN_PARTS = 32 };
struct when_rank {
    uint32_t rank;
    float ns[WHEN_PARTS];
};

struct wait_class {
    uint32_t number; /* from 1, in order of appearance within the site */
    uint64_t n_instances;
    double waiting_ns;
    struct class_source *source; /* what its steps are made from */
    struct when when;
    /* The most alike of the site's other classes, how far away it is (0 to 2), and up to where the two would have been
     * one; number 0: not computed, as the site matters little. */
    uint32_t nearest;
    double distance, distance_allowed;
};

/* Bytes that were moved: of a message, or of what a rank sends to all members of a collective together. */
struct moved {
    uint64_t n, bytes, least, most;
};

/* What a call of MPI moves on all ranks (profile/details.h): in it, or completed by it. */
enum { EXCHANGE_PARTNERS = 8 };
struct site_exchange {
    struct moved messages, collectives;
    uint32_t n_members; /* of the largest communicator of its collectives */
    /* Of messages, by falling n: how far the partner's rank is from the own one; what is at others. */
    struct exchange_partner {
        int64_t distance;
        uint64_t n;
    } partners[EXCHANGE_PARTNERS];
    uint32_t n_partners;
    uint64_t n_others;
};

/* A call of MPI (by its source line and caller) at which ranks wait. */
struct wait_site {
    const char *call; /* "MPI_Barrier" */
    enum wait_kind kind;
    const char *file, *routine;
    uint32_t line;
    uint32_t frame;      /* call stack in the trace */
    const char *path;    /* "solve() <- main():85" */
    const char *through; /* the wrapper in which the MPI call stands; its caller is the site. NULL = none */
    double waiting_ns;
    uint64_t n_instances, n_calls; /* of a call there are two where a lack of CPU explains the end of its waits */
    double *rank_waiting_ns;       /* by rank */
    struct wait_class *classes;
    uint32_t n_classes;
    struct site_exchange exchange;
};

struct cause_site {
    uint32_t site;
    double waiting_ns; /* of this site's waiting, blamed on this cause */
    uint64_t n_calls;  /* in which it has a part */
    uint32_t *classes; /* numbers */
    uint32_t *late;    /* ranks that carry nearly all of it, where they are fewer than the cause has; else none */
    uint32_t *waiting; /* ranks that wait there for it, by number; none where it is next to nothing */
    uint32_t n_classes, n_late, n_waiting;
};

struct cause_rank {
    uint32_t rank;
    double blame_ns;
    double time_ns;           /* that this rank spent in the step over the whole run */
    double computing_ns;      /* of it, on a CPU */
    double entered_ns;        /* beside it: in what is inside the code that names the cause, and no part of the cause */
    double error_ns;          /* standard error of time_ns, as far as samples tell it */
    uint64_t executions;      /* 0 = not counted */
    uint64_t called_back;     /* likewise, of what libraries call back there */
    double instructions;      /* or so, from the length of the machine code that was executed; 0 = not counted */
    double cost_error;        /* relative standard error of computing_ns / executions; 0 = unknown */
    uint64_t bytes;           /* allocated in it; 0 = none, or not recorded */
    uint64_t file_bytes;      /* read from files and written to them in it (MPI-IO) */
    uint64_t n_accesses;      /* in so many calls */
    double threads;           /* that ran it at a time, on average; 0 = unknown, or none but those that call MPI */
    uint32_t n_threads;       /* of the process that were seen in it and lived at once; 0 = unknown, as above */
    uint32_t n_callers;       /* of those that were seen in it, those that call MPI */
    uint32_t n_at_once;       /* of them, as many as its CPUs can run */
    double threads_lacked_ns; /* all those that were seen in it were ready for so long, outside MPI, without a CPU */
    double unseen_ns;         /* beside time_ns, perhaps in it as well: no sample tells where it was */
    double borrowed_ns; /* of time_ns: by samples of other processes between the same calls, and none of its own */
    double worked_ns;   /* on a CPU in it, all those that were seen in it, whatever the thread that calls MPI did; */
    double worked_error_ns;  /* and the standard error of that */
    bool time_is_not_theirs; /* threads ran it while that one was elsewhere, or it waited for threads without a CPU */
    double most_share;       /* of the time on a CPU of them all here, what one thread has, who has most; */
    double most_error;       /* and the standard error of that */
};

/* On a CPU in it: helper threads as well, where the one that calls MPI was elsewhere meanwhile. */
static inline struct measured cause_rank_worked(const struct cause_rank *rank)
{
    if (rank->time_is_not_theirs)
        return (struct measured){rank->worked_ns, rank->worked_error_ns, true};
    return (struct measured){rank->computing_ns, rank->cost_error * rank->computing_ns, true};
}

struct cause_file {
    const char *name; /* as the program gave it */
    uint64_t bytes;   /* read and written, sum over all ranks */
};

/* A decision in a cause by which the late side executes more each time it enters it; with exact counts. */
enum parting_kind { PARTING_TRIPS, PARTING_BRANCH, PARTING_RECURSION };
struct parting {
    enum parting_kind kind;
    bool is_itself;                 /* trips: of the cause's own loop; recursion: of its own routine */
    bool is_around;                 /* trips: of a loop around the cause's own, in its routine */
    bool is_as_often;               /* trips: the late side enters the loop as often as the others (verdict) */
    const char *routine;            /* in which it is decided, as in the source */
    const char *file;               /* NULL = not known, nor are lines */
    uint32_t line_first, line_last; /* of the loop, the condition or the routine's head */
    uint32_t line_to;               /* branch: where the way leads; 0 = not known */
    /* Trips for each entry of the loop; part of the executions of the condition after which this way is taken; calls
     * for each call from outside. */
    double late, others;
    double late_least, late_most;       /* of `late`: on one of the late ranks */
    double others_least, others_most;   /* of `others`, likewise */
    double entered;                     /* trips: so many times as often as the others the late side enters the loop */
    double entered_least, entered_most; /* likewise, one of the late ranks */
    double share; /* of the difference in work for each entry of the cause, that this accounts for */
};

/* A loop, a routine or straight-line code inside a cause, as it was entered there. */
struct cause_part {
    uint32_t step, depth;     /* 0 = in no other part; those inside a part stand right behind it */
    uint32_t call_line;       /* of a routine: where the code around it calls it; 0 = not known */
    bool is_beside;           /* one of n_beside */
    double waiting_ns;        /* blamed on it and on what is inside it */
    double own_ns;            /* of it on itself: over all parts they sum to the cause's */
    struct cause_rank *ranks; /* that have spent time in it or in what is inside, by rank */
    uint32_t n_ranks;
};

/* When in the run a cause acts (verdict/when.h). */
struct acting {
    enum acting_kind {
        ACTS_SOMEHOW, /* nothing is known of it */
        ACTS_THROUGHOUT,
        ACTS_IN_A_STALL,    /* from from_ns on */
        ACTS_AT_ONCE,       /* about from_ns */
        ACTS_IN_PART_ONLY,  /* from from_ns to to_ns; 0 = from the start, or to the end */
        ACTS_IN_PART_MOSTLY /* likewise, and a little outside of it */
    } kind;
    double from_ns, to_ns; /* after the start */
    bool is_in_one_call;   /* where others wait for it */
    bool is_trend;
    double first_ns, last_ns; /* then: what is waited each time, at both ends */
    bool moves;               /* each of its late ranks is late in a time of its own, one after the other: */
    uint32_t first_rank, last_rank;
    double moves_ns; /* from the first to the next */
};

/* Whether its late ranks have more of it than the others, over the run (verdict/balance.h). */
enum balance {
    BALANCE_UNEVEN,    /* they have, or nothing tells that they have not */
    BALANCE_SERIAL,    /* nobody has more: others wait because of when it is done */
    BALANCE_EACH_TIME, /* nobody has more in all, but each time another rank has */
    BALANCE_VARYING,   /* likewise, by no more than core and cache make of the same work */
};

/* What the gain of a cause is taken from: work is shared out; code that is slower on a rank, or blocks it, becomes as
 * it is on the others. There is none for what varies by chance. */
enum remedy { REMEDY_SHARE, REMEDY_AS_OTHERS, REMEDY_NONE };
const char *remedy_name(enum remedy remedy); /* "share", "as-others", "none": as in the JSON */

/* Why a gain is more than the waiting for its cause. With the work goes as well: time in which ranks lack a CPU, which
 * is the machine's; waits that other causes have their part of; or time in which nobody is known to wait, since the
 * others have ended or are inside calls of MPI. */
enum gain_excess { EXCESS_NONE, EXCESS_LACKING, EXCESS_SHARED, EXCESS_UNSEEN, EXCESS_N };

/* How threads share a cause on the rank most to blame. By turns: all have their parts, but one works at a time, though
 * there are CPUs for more. */
enum thread_sharing {
    SHARED_EVENLY,
    SHARED_UNEVENLY,
    SHARED_BY_TURNS,
    SHARED_BY_TURNS_OR_CPUS, /* likewise, but they may have lacked CPUs to run at once */
    SHARED_BY_INTERPRETER    /* by turns, since the interpreter runs one thread at a time */
};

/* For what most of a cause's time asleep or in the kernel passes, on the rank most to blame. */
enum pause {
    PAUSE_UNKNOWN,
    PAUSE_SLEEP,
    PAUSE_FILE,
    PAUSE_MEMORY,
    PAUSE_CHILD,       /* it starts a process, or waits for one */
    PAUSE_DATA,        /* a timeout, or data from outside MPI */
    PAUSE_NETWORK,     /* data over the network, not from MPI */
    PAUSE_LOCK,        /* another thread or process gives something free */
    PAUSE_INTERPRETER, /* another thread is in the interpreter */
    PAUSE_N
};

/* Why the same ranks are late by the same factor in several causes. */
enum partition_reason {
    PARTITION_DATA,   /* they have more of the data */
    PARTITION_SLOWER, /* they take longer for as much */
    PARTITION_EITHER  /* core and cache may make as much of the same work, and nothing tells */
};

struct cause {
    uint32_t found_as; /* its number before causes were sorted */
    uint32_t step;
    uint32_t node; /* of the tree of loops and calls: the code that names it, on the way on which it was entered */
    enum cause_kind kind;   /* the largest part */
    double kind_ns[KIND_N]; /* sums to waiting_ns */
    double waiting_ns;
    double direct_ns;       /* short-term part */
    double inferred_ns;     /* where only times tell what was waited for, no record */
    double share;           /* of all waiting */
    double if_balanced_ns;  /* estimated gain of wall time, were it shared out as well as that alone helps; >= 0 */
    double if_as_others_ns; /* were its late ranks in it no longer than the others; <= if_gone_ns */
    double if_balanced_least_ns, if_as_others_least_ns; /* where its late ranks lack a CPU as long then; no more */
    double if_as_others_known_ns;                       /* by what ranks wait for it and have too much of it; no more */
    double if_gone_ns;                                  /* the most, did it take no time at all; >= if_balanced_ns */
    double if_gone_off_ns; /* of it, time in which ranks are ready to run but have no CPU: more than they are in it */
    double among_ns;       /* likewise, for those who take part, whatever others do meanwhile */
    double serial_share;   /* of it, done under a lock of a window that lets in one process at a time, or */
    double served_share;   /* by a thread that only serves */
    double meanwhile;      /* so long was who waits in its code before, per time of the late side */
    uint32_t last_rank;    /* that keeps the gain from being more, busy as it is; TRACE_NONE */
    uint32_t instead;      /* a step: the other code in which who waits was longer than the late side by most */
    double instead_share;  /* ... by so much of what the late side did longer; 0 = in none */
    bool has_instead;      /* those who wait hardly come to the cause: they were in `instead` meanwhile */
    bool is_alone;         /* its late ranks alone run it, as far as is known */
    bool is_as_much_otherwise; /* where its late ranks part, others never go their way, but do as much on another */
    bool is_elsewhere;         /* the code that names it is entered on other ways too, which are no part of it */
    bool has_other_ways;       /* much of it was entered on other ways than that of its node */
    bool is_unexplained;       /* it is itself a wait that nothing explains, or was not recorded: */
    bool is_unrecorded;        /* recording was switched off meanwhile */
    bool is_for_outside;       /* it waits for processes outside of the run */
    bool moves_nothing;        /* of kind transfer: it is a call of MPI that moves no data */
    bool is_spinning;          /* it is itself a wait, for shared memory to change; nobody knows for whom */
    bool is_generated;         /* most of it is in code made at run time, of which nothing is counted */
    bool is_in_library;        /* likewise, in libraries */
    bool is_estimated;         /* of its instructions a part is what calls weigh that are not counted */
    uint32_t main_line;        /* of a script: most of several lines; 0 = not told */
    const char *library;       /* that most of it is inside, of which nothing is counted; NULL = none */
    const char
        *called_back; /* the routine that libraries call back there, and hardly anybody else calls; NULL = none */
    const struct code_place *inside;     /* a package's loop, or a routine, that most of it is in; NULL = in none */
    const char *expression;              /* of a script: for which C code runs most of the time; NULL = for none */
    enum pause pause;                    /* of one that is blocked */
    const struct code_place *awaited_in; /* where other threads of its processes wait for its sleep; NULL = nowhere */
    enum errand errand;        /* that most of it is, of an interpreter; or for whose sake its ranks are late */
    struct cause_rank *ranks;  /* late ones, most blamed first */
    uint32_t n_ranks, n_late;  /* the first n_late carry what is worth naming */
    struct cause_rank *others; /* the waiting ones: time_ns, for comparison */
    uint32_t n_others;
    uint32_t partition;                /* from 1: the one that it has a part in (blame/partitions.h); 0 = none */
    struct cause_site *sites;          /* by falling waiting_ns */
    struct cause_file *files;          /* that a call of MPI-IO works on, by falling bytes */
    struct parting *partings;          /* the first one is where the two sides part, others follow by falling share */
    struct cause_part *parts;          /* at least one */
    double lacking_ns;                 /* of the machine's row: its late ranks had no CPU in the code that names it */
    uint32_t like;                     /* from 1: the largest cause with the same ranks late by as much; 0 = none */
    enum partition_reason like_reason; /* of the largest: why they are late in all of these */
    uint32_t n_beside; /* beside what names it: outermost parts to which the same decision leads its ranks, and that
                          have a tenth of its waiting or more */
    enum balance balance;
    double when_ns[WHEN_PARTS]; /* its waiting over the run, as the classes in which it has a part have it */
    double when_n[WHEN_PARTS];  /* its instances at the call at which most of it is felt */
    struct acting acts;
    struct reason reason;               /* why its late ranks are late, those who are longer in it if some are */
    struct reason no_longer;            /* why late ranks that are not longer in it are; where there are both */
    double late_threads, other_threads; /* that share it at a time, where the two sides differ in that; 0 = not told */
    enum thread_sharing sharing;
    enum remedy remedy;
    double gain_ns, gain_least_ns; /* of wall time, by that; and where late ranks lack a CPU as long then; no more */
    enum gain_excess gain_excess;
    bool is_gain_minor, is_gain_least_minor; /* ... which is less of the run than people care for */
    enum advice advice;
    uint32_t every;  /* it acts each n-th time that the call is made at which most of it is felt; 0 */
    double stall_ns; /* nearly all was done in one go and waited for at once, by each rank once, for so long; 0 */
    uint64_t stall_after_ns; /* ... and from then on, after the start */
    double lead_ns; /* it acts from when both sides last met, or made that call: on average, so long before the wait */
    struct when_rank *when_ranks; /* its waiting over the run by late rank, for some of them */
    uint32_t n_when_ranks;
    uint32_t n_sites, n_files, n_partings, n_parts;
};

/* Of all that are known, those that are blamed first. */
static inline const struct cause_rank *cause_rank_at(const struct cause *cause, uint32_t i)
{
    return i < cause->n_ranks ? &cause->ranks[i] : &cause->others[i - cause->n_ranks];
}

/* An imbalance of the data: the same ranks are late by the same factor in many causes (blame/partitions.h). */
struct partition {
    struct cause whole; /* all of them taken as one: who, how much, and what it would gain; its step is the largest's */
    struct ratio factor; /* as long as the others on average, the late ranks take in all */
    enum partition_reason reason;
    bool has_own_node; /* the late ranks run on a node of their own */
    uint32_t *causes;  /* by falling waiting */
    uint32_t n_causes;
};

/* What there is to say first. */
struct answer {
    enum answer_kind {
        ANSWER_ALONE,     /* one rank only */
        ANSWER_NO_WAIT,   /* no rank waits */
        ANSWER_TRANSFERS, /* moving data takes long, and longer than ranks wait for the program */
        ANSWER_FINE,      /* what the program makes ranks wait for is little, and at random */
        ANSWER_VARYING,   /* it is at random, and much: steps are unlike, as they fall */
        ANSWER_ELSEWHERE, /* likewise, but ranks wait beside calls of MPI, as far as is known, or for outsiders */
        ANSWER_CAUSE,     /* ranks make others wait, most by one cause ... */
        ANSWER_PARTITION, /* ... or by more of the data */
        ANSWER_HANG,      /* ranks wait without end, in a ring or for longer than for all causes */
        ANSWER_BROKE_OFF, /* the run ended otherwise than by MPI_Finalize, and lost nothing else that people notice */
    } kind;
    uint32_t number;           /* of the cause or the partition */
    uint32_t n_like;           /* further causes that are like this one (cause.like), and part of the answer */
    uint32_t gains_more;       /* from 1: another cause, which gains so much more that people care for it; 0 = none */
    uint32_t first_end;        /* from 1: the rank whose end may have taken the others with it; 0 = none is known to */
    bool has_causes;           /* causes are worth a look, also those that the answer is not about */
    bool is_lacking;           /* lacking_share is worth saying */
    bool is_machine;           /* machine_share is worth saying */
    bool lacks_cpus;           /* lacking_cpus_share is most, and no stop: little is known of the program */
    bool is_minor;             /* waiting for ranks that had no CPU is most of it, and their code a trifle beside it */
    double waiting_ns;         /* that these ranks make by it, with what they had no CPU in it where is_lacking */
    double share;              /* of all waiting */
    double lacking_share;      /* of all that they make by it: they had no CPU */
    double blocked_share;      /* of all time, ranks are asleep or in the kernel, where that is the news; 0 */
    double program_share;      /* waiting for what the program does, of all time */
    double transfer_share;     /* data that is moved while nobody is late, of all time */
    double machine_share;      /* waiting for ranks that had no CPU, of all time */
    double lacking_cpus_share; /* of all time, ranks had no CPU or waited for others that had none */
    double elsewhere_share;    /* of all waiting: for ranks that had no CPU, beside waiting_ns; 0 = not worth saying */
    double off_share; /* of all time, ranks had no CPU, whether others waited for that or not; 0 = not worth saying */
    double negligible_ns; /* waiting below it is next to nothing of the time that the machine leaves to the program */
    /* Where lacks_cpus, who computes longest, if it is half as long again as the others on average. */
    uint32_t busiest;      /* from 1: the rank; 0 = none */
    uint32_t busiest_step; /* in which it spends most; TRACE_NONE */
    double busiest_ratio;
};

/* Which causes a rank's time in a step belongs to; whoever wants to know where in time a cause acts asks for it. */
struct cause_times {
    VEC(struct cause_time {
        uint64_t key; /* atom_key(rank, step) */
        uint32_t cause;
        float share; /* of that time */
    })
    parts; /* by key; what no cause has a part in is left out */
};

/* Ranks that have fewer CPUs than they are. */
struct machine_crowd {
    struct trace_cpus cpus;
    uint32_t *ranks, n_ranks;
};

/* Why CPUs were short on a host. */
enum machine_lack {
    LACKS_CROWDS = 1 << 0,  /* fewer CPUs than ranks */
    LACKS_THREADS = 1 << 1, /* ... than busy threads */
    LACKS_TEAMS = 1 << 2,   /* ... than busy threads of one rank */
    LACKS_LIMIT = 1 << 3,   /* a control group kept ranks from running */
    LACKS_OTHERS = 1 << 4,  /* other processes used CPUs */
    LACKS_STOLEN = 1 << 5,  /* the host of the virtual machine took them away */
    LACKS_RANKS = 1 << 6,   /* the ranks themselves used CPUs, ... */
    LACKS_BESIDE = 1 << 7,  /* ... some of them without computing */
};

/* What ranks had of a node (blame/efficiency.h). */
struct machine_host {
    const char *name;
    uint32_t *ranks, n_ranks;
    uint32_t n_cpus;         /* of the node; 0 = unknown */
    uint32_t n_busy_threads; /* of all ranks, at once; one each where that is not known */
    double cpu_limit;        /* CPUs whose time a control group allows; 0 = no limit */
    double throttled_ns;     /* for so long it kept them from running */
    double cpus_of_others;   /* used by other processes, on average */
    double cpus_of_ranks;    /* used by these ranks, likewise; 0 = unknown */
    double cpus_beside;      /* of them, not by code outside MPI of threads that call MPI; 0 also: unknown */
    uint32_t beside_rank;    /* that used most of these; TRACE_NONE: none did */
    double cpus_stolen;      /* taken away by the host of the virtual machine, on average */
    struct machine_crowd *crowds;
    uint32_t n_crowds;
    uint32_t *large_teams, n_large_teams; /* ranks with more busy threads than CPUs */
    uint32_t *busiest, n_busiest;         /* those with most busy threads, where not all have as many */
    uint32_t n_threads_most;              /* that each of these has */
    unsigned lacks;                       /* of enum machine_lack, where ranks lacked a CPU (verdict/machine.h) */
};

/*
 * The tree of loops and calls that blame and time lie in: an activation, with what is executed in it but not in another
 * one below. Over all nodes the waiting sums to that of the causes, and on_path_ns with the time on the critical path
 * without a CPU to the run time.
 */
struct code_node {
    uint32_t parent;        /* stands before it; TRACE_NONE */
    uint32_t step;          /* a routine, unless it is a loop */
    uint32_t call_line;     /* of a routine: where the code around it calls it; 0 = not known */
    uint32_t cause;         /* from 1: a cause that is named by this code and has what is below it here; 0 = none */
    double kind_ns[KIND_N]; /* waiting that is blamed on it */
    double time_ns;         /* that all ranks spent in it, on a CPU or blocked */
    double longest_ns;      /* of it, of the rank that has most in the outermost code around it in which nobody waits */
    double most_ns;         /* of it, of the rank that has most of it: */
    uint32_t most_rank;
    double on_path_ns; /* of it, on the critical path */
    bool waits;        /* a call that may wait is made below it */
};

/* What the machine held up: ranks were ready to run but had no CPU. */
struct machine {
    double waiting_ns, share; /* of all waiting */
    double when_ns[WHEN_PARTS];
    struct cause_rank *ranks; /* most blamed first; time_ns: without a CPU */
    struct cause_site *sites; /* by falling waiting_ns */
    struct machine_place {
        uint32_t step; /* the code that was kept waiting for a CPU */
        double waiting_ns;
    } *places;                /* by falling waiting_ns */
    uint32_t n_ranks, n_late; /* the first n_late carry what is worth naming */
    uint32_t n_sites, n_places;
    struct machine_host *hosts; /* none: nothing is known of them */
    struct machine_stop {       /* processes that were stopped, by a signal or with their machine, by rank */
        uint32_t rank;
        double stopped_ns;
        bool is_most; /* of the time in which it was ready to run but had no CPU */
    } *stops;
    uint32_t n_hosts, n_stops;
    bool is_stopped; /* those that carry most of it were stopped for most of that time (verdict/machine.h) */
    bool is_open;    /* nothing is known of why, and it is enough for somebody to look */
    enum advice advice;
};

/* Time inside calls of MPI that is no waiting: messages on their way, and asking for them. */
struct transfers {
    struct transfer_place {
        uint32_t step;
        double ns; /* of all ranks */
    } *places;     /* by falling ns */
    uint32_t n_places;
    bool moves_nothing; /* the first is a call that moves no data */
    bool have_most;     /* ranks lose more to them than by waiting for what the program does */
    enum advice advice;
};

/* Ranks wait for processes that are not recorded with this run: spawned ones, or of another job. */
struct outside {
    struct outside_place {
        uint32_t step;      /* the call */
        uint32_t wait_step; /* the same, as a cause has it */
        double ns;          /* of all ranks */
    } *places;              /* by falling ns */
    uint32_t n_places;
    double ns, longest_ns; /* of all ranks; of the one that waits longest: */
    uint32_t rank;
    uint32_t spawn_step; /* a call that started such processes; TRACE_NONE */
    bool is_notable;     /* it is worth saying */
    enum advice advice;
};

/* A routine as the source has it, inlined or not (those from system headers belong to who calls them), or an MPI
 * function. */
struct routine_profile {
    const char *name; /* of a nameless one: where it lies, "libfoo.so+0x1a40" */
    const char *file; /* NULL = unknown */
    uint32_t line;
    bool is_mpi, is_nameless;
    double self_ns;  /* on a CPU; of an MPI function: inside it, waiting included */
    double total_ns; /* with what it calls; in a cycle: with what is called outside of the cycle */
    uint64_t calls;  /* 0 = not counted */
    /* Of these, calls that no arc has: through pointers, by code that is not counted, or as a caller's last act (a jump
     * in the machine code); and what it calls through pointers itself. */
    uint64_t calls_from_unknown, calls_to_unknown;
    uint64_t calls_by_itself; /* of `calls`; no arc has them either */
    uint32_t cycle;           /* number from 1; 0 = it calls nobody who calls it */
    double *rank_self_ns, *rank_total_ns;
};

/* Calls of one routine by another. */
struct routine_arc {
    uint32_t from, to;
    uint64_t calls;           /* direct ones; 0 = none, or not counted */
    double self_ns, below_ns; /* of the callee's self time and of that of its callees, what falls to this caller */
};

/* A routine that was built to count and was never called; copies of it inlined elsewhere may have run. */
struct uncalled_routine {
    const char *name, *file; /* file NULL = unknown */
    uint32_t line;
};

/* What routines' times are made of: one call stack, ranks added up. */
struct profile_stack {
    uint32_t frame; /* the innermost; TRACE_NONE: none is known of this step */
    uint32_t mpi;   /* the MPI function that is called there, a routine; TRACE_NONE */
    uint32_t step;  /* profile of blame: what is blamed; TRACE_NONE */
    double ns;
    uint64_t calls; /* of the MPI function */
};

/* Where time went, by routine. Sigma self = time_ns = Sigma over stacks, but for what is left out. */
struct profile {
    struct routine_profile *routines; /* in order of appearance */
    struct routine_arc *arcs;
    double *cycle_total_ns;            /* by cycle number */
    struct profile_stack *stacks;      /* in order of appearance; a profile of blame has what is left out among them */
    struct uncalled_routine *uncalled; /* by file and line; profile of time */
    uint32_t n_routines, n_arcs, n_cycles, n_stacks, n_uncalled;
    double time_ns;
    bool is_bytes;      /* all "ns" are bytes that were asked for */
    double left_out_ns; /* profile of blame: what has no place in it: the machine's, transfer, code without samples */
};

/* A point of the program at which memory is asked for; recorded with --space. */
struct allocation {
    const char *file, *routine; /* NULL = unknown */
    uint32_t line;
    const char *through; /* the routine that is called there and allocates; NULL = none */
    uint32_t place;      /* code place around it, or CODE_NONE */
    uint64_t bytes;      /* sum over ranks */
    uint64_t *rank_bytes;
};

/*
 * What was counted exactly: the same program does the same again unless it decides by time. Counts stand by rank, each
 * for the ranks from `rank` to that of the next one. Trips of a loop and ways of a condition come with how often it was
 * entered or met, so that it can be told which decision changed and what only follows from it.
 */
enum fact_kind {
    FACT_TRIPS,     /* iterations of a loop, out of its entries */
    FACT_WAY,       /* a way behind a condition, out of its executions */
    FACT_CALLS,     /* of a routine */
    FACT_ALLOCATED, /* bytes asked for at a point of the program */
    FACT_MPI_CALLS, /* at a call site */
    FACT_MESSAGES,  /* sent there, out of the calls; collectives not included */
    FACT_SENT,      /* bytes, out of the calls; collectives included */
    FACT_N
};
struct fact_count {
    uint32_t rank;  /* and those after it, up to that of the next count */
    uint64_t n, of; /* of: 0 where there is nothing to count by */
};
struct fact {
    enum fact_kind kind;
    const char *file, *routine;              /* NULL = unknown; of calls of MPI, their name is in `routine` */
    uint32_t line_first, line_last, line_to; /* to: where the way leads; 0 = not known */
    uint32_t number;                         /* among those of the same kind and lines */
    uint32_t depth;                          /* loops around it in its routine */
    uint64_t sum, sum_of;                    /* over ranks */
    struct fact_count *counts;
    uint32_t n_counts;
};

struct efficiency {
    double wall_ns, all_ns; /* all ranks' wall_ns, and the time of further threads that call MPI */
    /* Parts of all_ns, which they add up to; ended_ns is what ranks lack that ended before the run. */
    double compute_ns, waiting_ns, transfer_ns, mpi_ns, descheduled_ns, blocked_ns, unrecorded_ns, ended_ns;
    double never_back_ns; /* of mpi_ns: in calls without end */
    /* POP, multiplicative; NAN when not defined. `processor` is part of POP's transfer (efficiency.h). */
    double parallel, load_balance, serialisation, transfer, processor;
};

/* Where the time of one rank went, as in struct efficiency, and what it made wait. */
struct rank_summary {
    double compute_ns, waiting_ns, transfer_ns, mpi_ns, descheduled_ns, blocked_ns, unrecorded_ns, ended_ns;
    double caused_ns; /* of all waiting, what is blamed on it */
};

/* Who made whom wait. Ranks stand in groups of equal size, in order: a group is one rank unless there are many. */
struct wait_matrix {
    uint32_t n_groups, group_size; /* the last group may be smaller */
    double *ns;                    /* [waiting group * n_groups + late group]; sums to waiting_ns */
};

/* A step that lies on the critical path, which determines the run time. */
struct critical_step {
    uint32_t step;
    double on_path_ns;
    double mean_ns;   /* that a rank spends in it over the run, on average; on_path_ns - mean_ns is its imbalance */
    uint32_t rank;    /* that has most of it on the path ... */
    double rank_ns;   /* ... and how much */
    uint32_t n_ranks; /* that have some of it on the path */
};

/* One process fetches as many bytes from the same target again and again, a large part of the run (onesided.h). */
struct repeated_fetch {
    const char *call; /* "MPI_Get halo.c:71" */
    uint32_t rank;
    double dur_ns;
};

/* A loop that only looks at memory until another process or thread changes that (wrap/flow/spin.h). */
struct spinning_loop {
    uint32_t step, rank; /* of the rank that has most */
    double dur_ns;
};

struct analysis {
    struct arena arena;
    struct trace *trace; /* borrowed */
    struct code *code;   /* borrowed; NULL for foreign archives */
    struct step *steps;
    const char **files;      /* distinct source files of steps and sites */
    struct wait_site *sites; /* by falling waiting_ns */
    /* The steps of a class of a site, in the caller's arena: made when they are asked for, as classes are many and few
     * of them are shown. */
    struct class_steps (*class_steps)(const struct analysis *analysis, const struct wait_class *class,
                                      struct arena *arena);
    struct cause *causes;           /* of the program, by falling waiting_ns, then step */
    struct partition *partitions;   /* by falling waiting of the largest cause in each */
    struct answer answer;           /* once all is found (verdict/answer.h) */
    struct machine machine;         /* the rest */
    struct transfers transfers;     /* no part of waiting_ns */
    struct outside outside;         /* likewise */
    struct allocation *allocations; /* by falling bytes */
    struct repeated_fetch *fetches; /* at most a few, by site */
    uint32_t most_blocked;          /* the step in which ranks are asleep or in the kernel for longest; TRACE_NONE */
    struct spinning_loop *spinning; /* a large part of the run, and next to nobody waits for it: by node */
    struct code_node *nodes;
    uint32_t *cause_of_frame;  /* by frame: the cause (found_as) whose code its samples have run, plus 1; 0 = none */
    struct fact *facts;        /* when they were asked for */
    double path_off_cpu_ns;    /* on the critical path: ready to run, without a CPU */
    uint32_t n_contradictions; /* causes whose blame is inferred and belied by their own gain (efficiency.h) */
    uint32_t n_steps, n_files, n_sites, n_causes, n_partitions, n_nodes, n_facts, n_allocations, n_fetches, n_spinning;
    uint64_t allocated_bytes; /* Sigma over allocations */
    double waiting_ns;        /* Sigma over sites = Sigma over causes + the machine's */
    double unexplained_ns;    /* part of the characterisations that does not add up (clock error), absolute, reported */
    double *rank_waiting_ns;  /* by rank */
    struct rank_summary *ranks;
    struct wait_matrix matrix;
    struct critical_step *critical; /* by falling on_path_ns */
    uint32_t n_critical;
    struct efficiency efficiency;
    struct profile profile;       /* of time */
    struct profile blame_profile; /* of waiting, at the routines that caused it */
    uint64_t n_mpi_calls, n_polls, n_events;
    uint32_t n_sections;         /* in which it was read */
    struct open_wait {           /* a wait that never ended */
        uint32_t rank, for_rank; /* TRACE_NONE = unknown */
        const char *call, *file;
        const char *path; /* "solve() <- main():85"; "" or NULL: not known */
        uint32_t line;
        /* It waits in a collective operation, and this rank is in one that does not match it at its turn: another
         * operation, or another root; TRACE_NONE. */
        uint32_t unlike_rank;
        int32_t tag, other_tag;
        bool is_other_sent;        /* for_rank has sent it another message, which nobody received: other_tag; the same
                                      tag: on another communicator */
        bool is_for_finalizing;    /* for_rank has come to MPI_Finalize */
        bool is_for_other_comm;    /* for_rank is in the same operation, of another communicator */
        bool is_sent;              /* for a message that had been sent: nobody holds that up any more */
        bool polls;                /* it only looks, and may go on at any moment, whoever is waited for */
        bool probes;               /* it polls for a message that nobody has sent */
        bool is_outside;           /* it waits for processes outside of the run */
        uint64_t since_ns, dur_ns; /* until the rank's last event */
        uint64_t longest_ns;       /* of the run's waits that ended: what lasts no longer is no sign of a hang */
        /* Where for_rank was outside MPI meanwhile, to its last event: what it did most of that time. */
        uint32_t meanwhile_step;
        double meanwhile_share; /* 0 = it was not outside, or that is not known */
    } *open_waits;
    uint32_t n_open_waits;
    struct last_place { /* where a rank was at its last event, if it did not end in order; by rank */
        uint32_t rank;
        const char *call, *file, *path; /* call: NULL = outside MPI; file, path: NULL = not known */
        uint32_t line;
        uint32_t step;            /* outside MPI: what it did there for most of the time; TRACE_NONE = not known */
        struct last_place *after; /* outside MPI: the call before that; NULL = not known */
    } *last_places;
    uint32_t n_last_places;
    uint32_t *deadlock; /* ranks that wait for each other in a ring, in its order */
    uint32_t n_deadlock;
    uint64_t n_forced; /* calls that wait for what is not in the trace, or too far behind in it */
};

/* Processes that end together do not leave their last records in the same instant. */
static inline uint64_t same_moment_ns(const struct trace *trace, uint64_t time_ns)
{
    return SAME_MOMENT_NS + (time_ns > trace->start_ns ? (time_ns - trace->start_ns) / 100 : 0);
}

/* The cause that the answer is about, or a partition's causes as one; NULL = none. */
static inline const struct cause *answer_cause(const struct analysis *analysis)
{
    const struct answer *answer = &analysis->answer;
    if (answer->kind == ANSWER_PARTITION)
        return &analysis->partitions[answer->number].whole;
    return answer->kind == ANSWER_CAUSE ? &analysis->causes[answer->number] : NULL;
}
