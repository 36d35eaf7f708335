# SPDX-License-Identifier: BSD-3-Clause
"""A plan (plan.py) as C, C++ or Fortran (fortran.py): the program, library.c and library.f90, and truth.json, what a report of it has to say.

The program takes these macros, K being the number of a phase:
    GONE_K      the planted place of phase K takes no time on any rank
    EVEN_K      it takes the same time on all ranks, in all as much as before
Every rank prints at its end one line for each phase, with what its hand-placed timers say (times in ns):
    phase K rank R: common WALL CPU planted WALL CPU exchange WALL CPU
and rank 0 "run WALL", from the first barrier to the last.

    truth.json  {"plan", "build": {"program": its file, "libraries", "flags"}, "start_line": of the first barrier, "causes": [cause, ...], "common": [places of phase 0, ...]}
    cause       {"phase", "kind", "late": ranks, "places": [place, ...], "iterations": [of each rank] or None}
    place       {"file", "first", "last", "routine"}: the planted loop first, then what repeats and contains it
"""
import copy
import json
import os

import bodies
import fortran
import patterns
from source import Source, amount_macros, amounts, iterations, late_mask, root_and_target

HEAD = r"""
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <math.h>
#include <mpi.h>
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/select.h>
#include <time.h>
#include <unistd.h>
"""

# In both files: what the bodies of loops work on.
WORK_DATA = r"""
static volatile double sink = 1;
static volatile unsigned long bits = 88172645463325252UL;
static double row[1024];
static char pages[1 << 26];
"""

TIMERS = r"""
enum { COMMON, PLANTED, EXCHANGE, PARTS };
static long long taken_ns[N_PHASES][PARTS][2], since_ns[2], acts_ns[N_PHASES][N_CYCLES][2], span_ns[2];
static int cycle;
static int world_rank, world_size;
static double large_in[25000], large_out[25000];

static long long clock_ns(clockid_t clock)
{
    struct timespec t;
    clock_gettime(clock, &t);
    return t.tv_sec * 1000000000LL + t.tv_nsec;
}

__attribute__((noinline)) static void timer_start(void)
{
    since_ns[0] = clock_ns(CLOCK_MONOTONIC);
    since_ns[1] = clock_ns(CLOCK_PROCESS_CPUTIME_ID);
}

/* What has passed since the last call goes to this part of the phase. */
__attribute__((noinline)) static void timer_stop(int phase, int part)
{
    long long before[2] = {since_ns[0], since_ns[1]};
    timer_start();
    for (int i = 0; i < 2; i++)
        taken_ns[phase][part][i] += since_ns[i] - before[i];
}
"""

ACTED = r"""
/* The planted place of the phase was entered at the last look at the clock, and left now. */
__attribute__((noinline)) static void acted(int phase)
{
    long long *acts = acts_ns[phase][cycle];
    acts[0] = acts[0] ? acts[0] : since_ns[0];
    acts[1] = clock_ns(CLOCK_MONOTONIC);
}
"""

LINKS = r"""
enum { N_LINKS = 1 << 24 };
static unsigned *links_near, *links_far;
static unsigned char flags_near[65536], flags_far[65536];

/* Made before MPI_Init: the same work on all ranks. */
static void make_links(void)
{
    links_near = (unsigned *)malloc(N_LINKS * sizeof *links_near);
    links_far = (unsigned *)malloc(N_LINKS * sizeof *links_far);
    for (unsigned i = 0; i < N_LINKS; i++) {
        links_near[i] = (i + 1) % N_LINKS;
        links_far[i] = (i + 20261121u) % N_LINKS;
    }
    unsigned h = 12345;
    for (unsigned i = 0; i < 65536; i++) {
        flags_near[i] = i / 256 % 2;
        h = h * 1664525u + 1013904223u;
        flags_far[i] = h >> 31;
    }
}
"""

COMPETITOR = r"""
static pid_t competitor;
static cpu_set_t all_cores;

static void use_core(int core)
{
    cpu_set_t cores;
    CPU_ZERO(&cores);
    CPU_SET(core, &cores);
    sched_setaffinity(0, sizeof cores, &cores);
}

/* A process that computes on the core of the rank given whenever it is told to go on. Begun before MPI_Init. */
static void make_competitor(int core)
{
    pid_t parent = getpid();
    sched_getaffinity(0, sizeof all_cores, &all_cores);
    competitor = fork();
    if (competitor)
        return;
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    use_core(core);
    kill(getpid(), SIGSTOP);
    while (getppid() == parent)
        for (volatile long i = 0; i < 1000000; i++)
            ;
    _exit(0);
}

static void compete(int is_on, int is_late)
{
    if (is_late)
        kill(competitor, is_on ? SIGCONT : SIGSTOP);
    if (is_on)
        use_core(world_rank);
    else
        sched_setaffinity(0, sizeof all_cores, &all_cores);
}
"""

# One thread of each rank computes what another one hands over, who sleeps meanwhile.
HANDS = r"""
static pthread_mutex_t hand_lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t hand_moved = PTHREAD_COND_INITIALIZER;
static void (*hand_work)(long);
static long hand_n;
static int hands_end;

__attribute__((noinline)) static void hand(void (*work)(long), long n)
{
    pthread_mutex_lock(&hand_lock);
    hand_work = work;
    hand_n = n;
    pthread_cond_broadcast(&hand_moved);
    while (hand_work)
        pthread_cond_wait(&hand_moved, &hand_lock);
    pthread_mutex_unlock(&hand_lock);
}

static void *work_for_others(void *unused)
{
    pthread_mutex_lock(&hand_lock);
    while (!hands_end) {
        while (!hand_work && !hands_end)
            pthread_cond_wait(&hand_moved, &hand_lock);
        if (!hand_work)
            break;
        pthread_mutex_unlock(&hand_lock);
        hand_work(hand_n);
        pthread_mutex_lock(&hand_lock);
        hand_work = NULL;
        pthread_cond_broadcast(&hand_moved);
    }
    pthread_mutex_unlock(&hand_lock);
    return unused;
}

static void end_hands(void)
{
    pthread_mutex_lock(&hand_lock);
    hands_end = 1;
    pthread_cond_broadcast(&hand_moved);
    pthread_mutex_unlock(&hand_lock);
}
"""

# The text of EACH is a template that several callers use, each with a lambda of its own.
EACH = """template <class One>
WHERE void each(long n, One one)
{
    for (long i = 0; i < n; i++)
        one();
}
"""

LIBRARY_DATA = {
    "matrix": "#include <cblas.h>\nstatic double left_matrix[96 * 96], right_matrix[96 * 96], product[96 * 96];\n",
    "eigen": "#include <Eigen/Dense>\nstatic Eigen::MatrixXd eigen_left = Eigen::MatrixXd::Constant(96, 96, 0.01), eigen_right = eigen_left, eigen_product(96, 96);\n",
    "transform": "#include <fftw3.h>\nstatic double signal_in[8192];\nstatic fftw_complex signal_out[4097];\nstatic fftw_plan transform_plan;\n",
}


# The text of a loop before and after its body, which goes round COUNT times.
LOOPS = {
    "for": ("for (long i = 0; i < COUNT; i++) {", "}"),
    "while": ("long i = COUNT;\nwhile (i-- > 0) {", "}"),
    "do": ("long i = 0;\nif (COUNT > 0)\n    do {", "    } while (++i < COUNT);"),
    "goto": ("long i = COUNT;\nif (i > 0) {\nagain_LINE:;", "    if (--i > 0)\n        goto again_LINE;\n}"),
    "nested": ("for (long outer = 0; outer < 8; outer++)\n    for (long i = outer * (COUNT) / 8; i < (outer + 1) * (COUNT) / 8; i++) {", "    }"),
}


def emit_loop(source, work, count, indent, name, routine):
    """One loop over the body of the work; its place."""
    lines = LOOPS["nested" if work["shape"] == "nested" else work["loop"]]
    return source.loop(bodies.BODIES[work["body"]][1:], lines, count, indent, name, routine)


def emit_helper(source, name):
    first = source.next_line()
    source.add("__attribute__((noinline)) static double %s_helper(double x)\n{\n    return x * 0.999999 + 1e-6;\n}" % name)
    place = source.place(first, name + "_helper")
    source.lines.append("")
    return place


def emit_routine(source, head, work, name, suffix="", count="n", around=None):
    """A routine of its own around the loop; the places, innermost first. `around`: text before and after the loop."""
    places, routine = [], name + suffix
    if work["body"] == "helper":
        places.append(emit_helper(source, routine))
    first = source.next_line()
    source.add("%s void %s(long n)\n{" % (head, routine))
    if around:
        source.add(around[0], 1)
    places.insert(0, emit_loop(source, work, count, 1, routine, routine))
    if around:
        source.add(around[1], 1)
    source.add("}")
    places.append(source.place(first, routine))
    source.lines.append("")
    return places


NOINLINE = "__attribute__((noinline)) static"


def shape_routine(program, library, work, name, typical):
    return emit_routine(program, NOINLINE, work, name), name


def shape_inline(program, library, work, name, typical):
    return emit_routine(program, "static inline __attribute__((always_inline))", work, name), name


def shape_auto(program, library, work, name, typical):
    return emit_routine(program, "static", work, name), name


def shape_recursive(program, library, work, name, typical):
    leaf = max(2, typical // 6)
    # A compiler that knew it would make so few iterations a straight line, whose last call is a jump.
    split = "volatile long leaf = %d;\nif (n > leaf) {\n    %s(n / 2);\n    %s(n - n / 2);\n    return;\n}" % (leaf, name, name)
    return emit_routine(program, NOINLINE, work, name, around=(split, "")), name


def shape_pointer(program, library, work, name, typical):
    places = emit_routine(program, "static", work, name)
    program.add("static void (*volatile %s_chosen)(long) = %s;\n" % (name, name))
    return places, name + "_chosen"


def shape_library(program, library, work, name, typical):
    program.add("%svoid %s(long n);\n" % (program.linkage, name))
    if library.fortran and work["body"] in bodies.FORTRAN:
        return fortran.emit_library_routine(library.fortran, work, name), name
    return emit_routine(library, "", work, name), name


def shape_template(program, library, work, name, typical):
    return emit_routine(program, "template <int N>\n%s" % NOINLINE, work, name), name + "<3>"


def shape_lambda(program, library, work, name, typical):
    first = program.next_line()
    program.add("template <class Each>\n%s void %s_with(long n, Each each)\n{\n    each(n);\n}" % (NOINLINE, name))
    applies = program.place(first, name + "_with")
    program.lines.append("")
    return emit_routine(program, "static", work, name, around=("%s_with(n, [](long n) {" % name, "});")) + [applies], name


def shape_virtual(program, library, work, name, typical):
    program.add("struct %s_base {\n    virtual void %s(long n) = 0;\n};\nstruct %s_kind : %s_base {" % (name, name, name, name))
    places = emit_routine(program, "", work, name)
    program.add("};\nstatic %s_kind %s_object;\nstatic %s_base *volatile %s_chosen = &%s_object;\n" % (name, name, name, name, name))
    return places, "%s_chosen->%s" % (name, name)


def shape_callback(program, library, work, name, typical):
    places = emit_routine(program, "static", work, name)
    first = library.next_line()
    library.add("void %s_each(void (*each)(long), long n)\n{\n    for (long part = 0; part < 4; part++)\n        each((part + 1) * n / 4 - part * n / 4);\n}\n"
                % name)
    program.add("%svoid %s_each(void (*each)(long), long n);\n" % (program.linkage, name))
    program.add("#define %s_all(n) %s_each(%s, n)\n" % (name, name, name))
    return places + [library.place(first, name + "_each")], name + "_all"


def shape_repeat(program, library, work, name, typical):
    """A loop that repeats two routines with a loop each."""
    places = emit_routine(program, "static", work, name, "_first")
    places += emit_routine(program, NOINLINE, dict(work, loop="for"), name, "_second")
    first = program.next_line()
    program.add("%s void %s(long n)\n{" % (NOINLINE, name))
    loop_first = program.next_line()
    program.add("for (int again = 0; again < 4; again++) {\n    %s_first((n + again) / 8);\n    %s_second((n + 4 + again) / 8);\n}" % (name, name), 1)
    places.append(program.place(loop_first, name))
    program.add("}")
    places.append(program.place(first, name))
    program.lines.append("")
    return places, name


def shape_deep(program, library, work, name, typical):
    places = emit_routine(program, NOINLINE, work, name, "_1")
    for depth in range(2, 6):
        first = program.next_line()
        program.add("%s void %s_%d(long n)\n{\n    %s_%d(n);\n    sink += 1;\n}\n" % (NOINLINE, name, depth, name, depth - 1))
        places.append(program.place(first, "%s_%d" % (name, depth)))
    return places, name + "_5"


def team(head, count):
    """What a team of two threads does with a loop: the text around it, and how often the loop goes round for each time that it is entered."""
    def shape(program, library, work, name, typical):
        return emit_routine(program, NOINLINE, work, name, count=count, around=(head.replace("NAME", name), "}")), name
    return shape


TEAM = "#pragma omp parallel num_threads(2)\n"
PARTS = "for (int part = 0; part < 8; part++)"
shape_openmp = team(TEAM + "{", "n / 2")
shape_schedule = team("#pragma omp parallel for schedule(dynamic, 1) num_threads(2)\n%s {" % PARTS, "n / 8")
shape_tasks = team(TEAM + "#pragma omp single\n%s\n#pragma omp task\n{" % PARTS, "n / 8")
shape_critical = team(TEAM + "%s\n#pragma omp critical(NAME_lock)\n{" % PARTS, "n / 16")
shape_one_thread = team(TEAM + "{", "(omp_get_thread_num() == 1 ? n - n / 16 : n / 16)")


def shape_handed(program, library, work, name, typical):
    """Another thread does it (HANDS)."""
    places = emit_routine(program, "static", work, name)
    program.add("%s void %s_handed(long n)\n{\n    hand(%s, n);\n}\n" % (NOINLINE, name, name))
    return places, name + "_handed"


def shape_outside(program, library, work, name, typical):
    """A loop of the program over a routine of the library."""
    program.add("%svoid %s_part(long n);\n" % (program.linkage, name))
    inside = emit_routine(library, "", work, name + "_part")
    first = program.next_line()
    program.add("%s void %s(long n)\n{" % (NOINLINE, name))
    loop_first = program.next_line()
    program.add("for (long part = 0; part < n / 16; part++)\n    %s_part(16);" % name, 1)
    places = [program.place(loop_first, name)] + inside
    program.add("}")
    places.append(program.place(first, name))
    program.lines.append("")
    return places, name


def shape_each(program, library, work, name, typical):
    """A lambda in a template that takes lambdas of several callers (EACH): the loop is the template's, told apart by the caller."""
    before, once, after = bodies.BODIES[work["body"]][1:]
    first = program.next_line()
    program.add("%s void %s(long n)\n{" % (NOINLINE, name))
    program.add(before, 1)
    lambda_first = program.next_line()
    program.add("each(n, [&]() {", 1)
    program.add(once, 2)
    program.add("});", 1)
    place = program.place(lambda_first, name)
    program.add(after, 1)
    program.add("}")
    places = [place, program.place(first, name)]
    program.lines.append("")
    return places + [dict(program.shared, caller=name)], name


SPREAD = 12  # loops


def shape_spread(program, library, work, name, typical):
    """Loops behind each other over a part of the data each, and all ranks meet behind each: late ranks have more of the data."""
    places, first = [], program.next_line()
    program.add("%s void %s(long n)\n{" % (NOINLINE, name))
    for part in range(SPREAD):
        program.add("{", 1)
        places.append(emit_loop(program, work, "(n + %d) / %d" % (part, SPREAD), 2, name, name))
        program.add("}\ntimer_stop(%s_phase, PLANTED);\nMPI_Barrier(MPI_COMM_WORLD);\ntimer_stop(%s_phase, EXCHANGE);" % (name, name), 1)
    program.add("}")
    places.append(program.place(first, name))
    program.lines.append("")
    return places, name


SHAPES = {"routine": shape_routine, "nested": shape_routine, "inline": shape_inline, "auto": shape_auto, "recursive": shape_recursive,
          "pointer": shape_pointer, "library": shape_library, "callback": shape_callback, "repeat": shape_repeat, "deep": shape_deep,
          "openmp": shape_openmp, "schedule": shape_schedule, "tasks": shape_tasks, "critical": shape_critical, "one_thread": shape_one_thread,
          "handed": shape_handed, "outside": shape_outside, "each": shape_each, "spread": shape_spread, "template": shape_template, "lambda": shape_lambda, "virtual": shape_virtual}
# What a shape is in a program in C++.
SIDE_BY_SIDE = {"openmp", "schedule", "tasks"}
TEAMS = SIDE_BY_SIDE | {"critical", "one_thread"}
IN_CPLUSPLUS = {"routine": "template", "auto": "lambda", "pointer": "virtual"}


def emit_each(program, plan):
    first = program.next_line()
    program.add(EACH.replace("WHERE", plan["each"]))
    program.shared = program.place(first, "each")
    program.lines.append("")


def emit_work(program, library, work, name):
    """The routines that do this work: their places, and what to call with a number of iterations (None: the loop stands where it is needed)."""
    if work["shape"] == "here":
        return [emit_helper(program, name)] if work["body"] == "helper" else [], None
    return SHAPES[work["shape"]](program, library, work, name, bodies.n_iterations(work["body"], work.get("us") or work.get("late_us")))


def emit_amount(program, plan, k, phase):
    """As if read from input: what compilers make of a number that they know (a straight line where a loop goes round once) is another program."""
    late, other, even = amounts(plan, phase)
    program.add(amount_macros(k, late, other, even))
    program.add("static const volatile long amounts_%d[2] = {AMOUNTS_%d};\n#define AMOUNT_%d amounts_%d[IS_LATE_%d]" % (k, k, k, k, k))


def is_late(phase):
    if phase["cause"] and phase["cause"].get("turns"):
        return "(%s_turns[step] == world_rank)" % phase["name"]
    return "((0x%x >> world_rank) & 1)" % late_mask(phase)


def is_inside(phase):
    """The planted place is in a reduction, which MPI calls."""
    return phase["pattern"] in patterns.OPERATIONS and phase["cause"] and phase["cause"]["kind"] != "preempted"


def emit_reduction(program, k, phase, planted_call):
    """The timers part its time from that of the communication that it is called in."""
    name = phase["name"]
    program.add("static void %s_reduce(void *in, void *in_out, int *n, MPI_Datatype *type)\n{" % name)
    if is_inside(phase):
        program.add("timer_stop(%d, EXCHANGE);\n%s(AMOUNT_%d);\ntimer_stop(%d, PLANTED);" % (k, planted_call, k, k), 1)
    program.add("for (int j = 0; j < *n; j++)\n    ((double *)in_out)[j] += ((double *)in)[j];\n(void)type;", 1)
    program.add("}\nstatic MPI_Op %s_op;\n" % name)


def emit_exchange(program, plan, k, phase):
    root, target = root_and_target(plan, phase)
    text = patterns.STEPS[phase["pattern"]].replace("ROOT", str(root)).replace("TARGET", str(target)).replace("PHASE", phase["name"])
    name = phase["name"] + "_exchange"
    program.add("static void %s(MPI_Comm comm, int step)\n{" % name)
    program.add("int me = 0, size = 1;\nMPI_Comm_rank(comm, &me);\nMPI_Comm_size(comm, &size);\n"
                "int left = (me + size - 1) % size, right = (me + 1) % size;\n"
                "double item = step + me, other = 0, many[8] = {0}, more[8] = {0};", 1)
    program.add(text, 1)
    program.add("sink += other + many[0] + more[0] + item + left + right;", 1)
    program.add("}\n")
    return name


MAKE_DATA = """static MPI_Request kept[2];
static double kept_in, kept_out, *memory;
static MPI_Comm ring;
static MPI_Win window;
static MPI_Group everyone, neighbours;
"""


def emit_made(program, phase, which):
    if phase["pattern"] in patterns.MAKE:
        program.add(patterns.MAKE[phase["pattern"]][which].replace("PHASE", phase["name"]), 1)


def emit_planted(program, phase, k, call, indent):
    """The planted place in a step; the places that stand in the phase's own routine."""
    cause = phase["cause"]
    if cause["kind"] == "slower":
        pick = {"scattered": "const unsigned *links = IS_LATE_%d ? links_far : links_near;", "unforeseen": "const unsigned char *flags = IS_LATE_%d ? flags_far : flags_near;"}
        if not call:
            program.add(pick[cause["body"]] % k, indent)
    if call:
        program.add("%s(AMOUNT_%d);" % (call, k), indent)
        return []
    program.add("long n = AMOUNT_%d;" % k, indent)
    return [emit_loop(program, cause, "n", indent, phase["name"] + "_work", phase["name"])]


def emit_phase(program, library, plan, k, phase):
    """The phase's routine and what it calls; the places of its common work, and its cause as truth.json has it, or None."""
    program.add("/* Phase %d: %s. */\n#define IS_LATE_%d %s" % (k, phase["pattern"], k, is_late(phase)))
    common, cause = phase["common"], phase["cause"]
    planted = cause and cause["kind"] != "preempted"
    if planted:
        emit_amount(program, plan, k, phase)
    if planted and cause.get("turns"):
        program.add("static const volatile signed char %s_turns[] = {%s};" % (phase["name"], ", ".join(str(rank) for rank in cause["turns"])))
    if planted and cause["shape"] == "spread":
        program.add("enum { %s_work_phase = %d };" % (phase["name"], k))
    program.lines.append("")
    common_places, common_call = emit_work(program, library, common, phase["name"] + "_common")
    planted_places, planted_call = None, None
    if planted:
        slower = {"scattered": "static const unsigned *links;\n", "unforeseen": "static const unsigned char *flags;\n"}
        if cause["kind"] == "slower" and cause["shape"] != "here":
            chosen = "%s_data" % phase["name"]
            program.add(slower[cause["body"]].replace("links;", chosen + ";").replace("flags;", chosen + ";"))
            program.add("#define %s %s" % ("links" if cause["body"] == "scattered" else "flags", chosen))
        planted_places, planted_call = emit_work(program, library, cause, phase["name"] + "_work")
        if cause["kind"] == "slower" and cause["shape"] != "here":
            program.add("#undef %s" % ("links" if cause["body"] == "scattered" else "flags"))
    if phase["pattern"] in patterns.OPERATIONS:
        emit_reduction(program, k, phase, planted_call)
    exchange = emit_exchange(program, plan, k, phase)
    return emit_steps(program, plan, k, phase, (common_places, common_call), (planted_places, planted_call), exchange)


def condition_of(phase):
    """In which steps the planted place is entered."""
    cause, conditions = phase["cause"], []
    first, end = cause.get("steps", [0, phase["steps"]])
    if cause["every"] > 1:
        conditions.append("step %% %d == 0" % cause["every"])
    if first > 0:
        conditions.append("step >= %d" % first)
    if end < phase["steps"]:
        conditions.append("step < %d" % end)
    if cause.get("turns"):
        conditions.append("%s_turns[step] >= 0" % phase["name"])
    return "if (%s) {" % " && ".join(conditions) if conditions else "{"


def emit_steps(program, plan, k, phase, common, planted, exchange):
    cause, preempted = phase["cause"], phase["cause"] and phase["cause"]["kind"] == "preempted"
    (common_places, common_call), (planted_places, planted_call) = common, planted
    attribute = "__attribute__((noinline)) " if phase["call"] != "plain" else ""
    program.add("%sstatic void %s(void)\n{" % (attribute, phase["name"]))
    make_comm = {"world": "MPI_Comm comm = MPI_COMM_WORLD;", "dup": "MPI_Comm comm;\nMPI_Comm_dup(MPI_COMM_WORLD, &comm);",
                 "half": "MPI_Comm comm;\nMPI_Comm_split(MPI_COMM_WORLD, world_rank % 2, world_rank, &comm);"}
    program.add("timer_start();", 1)
    program.add(make_comm[phase["comm"]], 1)
    if phase["pattern"] in patterns.MAKE:
        program.add("int me = 0, size = 1;\nMPI_Comm_rank(comm, &me);\nMPI_Comm_size(comm, &size);\n"
                    "int left = (me + size - 1) % size, right = (me + 1) % size;", 1)
        emit_made(program, phase, 0)
        program.add("(void)left, (void)right;", 1)
    if preempted:
        program.add("compete(1, IS_LATE_%d);" % k, 1)
    if cause and cause["kind"] == "slower" and cause["shape"] != "here":
        near, far = ("links_near", "links_far") if cause["body"] == "scattered" else ("flags_near", "flags_far")
        program.add("%s_data = IS_LATE_%d ? %s : %s;" % (phase["name"], k, far, near), 1)
    program.add("timer_stop(%d, EXCHANGE);\nfor (int step = 0; step < %d; step++) {" % (k, phase["steps"]), 1)
    if common_call:
        program.add("%s(%dL);" % (common_call, bodies.n_iterations(phase["common"]["body"], phase["common"]["us"])), 2)
    else:
        program.add("{", 2)
        amount = "%dL" % bodies.n_iterations(phase["common"]["body"], phase["common"]["us"])
        common_places = [emit_loop(program, phase["common"], amount, 3, phase["name"] + "_common", phase["name"])] + common_places
        program.add("}", 2)
    program.add("timer_stop(%d, COMMON);" % k, 2)
    if cause and not preempted and not is_inside(phase):
        program.add(condition_of(phase), 2)
        planted_places = emit_planted(program, phase, k, planted_call, 3) + planted_places
        program.add("acted(%d);" % k, 3)
        program.add("}\ntimer_stop(%d, PLANTED);" % k, 2)
    program.add("%s(comm, step);\ntimer_stop(%d, EXCHANGE);" % (exchange, k), 2)
    program.add("}", 1)
    if preempted:
        program.add("compete(0, IS_LATE_%d);" % k, 1)
    program.add("MPI_Barrier(MPI_COMM_WORLD);", 1)
    emit_made(program, phase, 1)
    if phase["comm"] != "world":
        program.add("MPI_Comm_free(&comm);", 1)
    program.add("timer_stop(%d, EXCHANGE);" % k, 1)
    program.add("}\n")
    if not cause:
        return common_places, None
    return common_places, {"phase": k, "kind": cause["kind"], "late": cause["late"], "places": common_places if preempted else planted_places,
            "iterations": None if preempted or is_inside(phase) else iterations(plan, phase)}


def emit_callers(program, plan):
    """How main comes to the phases; the text of its calls."""
    calls = []
    for phase in plan["phases"]:
        name = phase["name"]
        if phase["call"] == "nested":
            program.add("%s void %s_begin(void)\n{\n    sink += 1;\n    %s();\n    sink += 1;\n}\n" % (NOINLINE, name, name))
            name += "_begin"
        elif phase["call"] == "table":
            program.add("static void (*volatile %s_pointer)(void) = %s;\n" % (name, name))
            name += "_pointer"
        calls.append(name)
    if plan["caller"] == "table":
        plain = [call if not call.endswith("_pointer") else call[:-len("_pointer")] for call in calls]
        program.add("static void (*const all_phases[])(void) = {%s};\n" % ", ".join(plain))
        return "for (int i = 0; i < N_PHASES; i++)\n    all_phases[i]();"
    text = "\n".join(call + "();" for call in calls)
    if plan["caller"] == "driver":
        program.add("%s void run_phases(void)\n{" % NOINLINE)
        program.add(text, 1)
        program.add("}\n")
        return "run_phases();"
    return text


def emit_cycles(program, plan, call_text):
    """All phases, from the first barrier to the end: for main or for a thread that makes the calls of MPI. Gives the barrier's line."""
    program.add("static long long run_ns;\n\n%s void *all_cycles(void *unused)\n{\n    MPI_Barrier(MPI_COMM_WORLD);" % NOINLINE)
    start_line = len(program.lines)
    program.add("long long begin_ns = clock_ns(CLOCK_MONOTONIC);", 1)
    program.add("for (cycle = 0; cycle < %d; cycle++) {" % plan["cycles"], 1)
    program.add(call_text, 2)
    program.add("}\nrun_ns = clock_ns(CLOCK_MONOTONIC) - begin_ns;", 1)
    if plan.get("communicates") == "thread":
        program.add("end_hands();", 1)
    program.add("return unused;\n}\n".replace("return", "    return"))
    return start_line


def emit_main(program, plan, used):
    call_text = emit_callers(program, plan)
    start_line = emit_cycles(program, plan, call_text)
    program.add("static int rank_before_start(void)\n{\n    const char *text = getenv(\"OMPI_COMM_WORLD_RANK\") ? getenv(\"OMPI_COMM_WORLD_RANK\") : getenv(\"PMI_RANK\");\n"
                "    return text ? atoi(text) : 0;\n}\n")
    program.add("int main(int argc, char **argv)\n{\n    world_rank = rank_before_start();")
    if "slower" in used:
        program.add("make_links();", 1)
    if "preempted" in used:
        late = [k for k, phase in enumerate(plan["phases"]) if phase["cause"] and phase["cause"]["kind"] == "preempted"]
        program.add("if (%s)\n    make_competitor(world_rank);" % " || ".join("IS_LATE_%d" % k for k in late), 1)
        program.add("else\n    sched_getaffinity(0, sizeof all_cores, &all_cores);", 1)
    if "matrix" in used:
        program.add("for (int i = 0; i < 96 * 96; i++)\n    left_matrix[i] = right_matrix[i] = 1.0 / (i + 1);", 1)
    if "transform" in used:
        program.add("transform_plan = fftw_plan_dft_r2c_1d(8192, signal_in, signal_out, FFTW_ESTIMATE);", 1)
    in_thread = plan.get("communicates") == "thread"
    init = "int level;\nMPI_Init_thread(&argc, &argv, MPI_THREAD_SERIALIZED, &level);" if "handed" in used else "MPI_Init(&argc, &argv);"
    program.add("%s\nspan_ns[0] = clock_ns(CLOCK_MONOTONIC);\nMPI_Comm_rank(MPI_COMM_WORLD, &world_rank);\nMPI_Comm_size(MPI_COMM_WORLD, &world_size);" % init, 1)
    if "handed" in used:
        program.add("pthread_t other;\npthread_create(&other, NULL, %s, NULL);" % ("all_cycles" if in_thread else "work_for_others"), 1)
        program.add("%s(NULL);\n%spthread_join(other, NULL);" % (("work_for_others", "") if in_thread else ("all_cycles", "end_hands();\n")), 1)
    else:
        program.add("all_cycles(NULL);", 1)
    program.add("span_ns[1] = clock_ns(CLOCK_MONOTONIC);\nMPI_Finalize();", 1)
    program.add("for (int k = 0; k < N_PHASES; k++)\n"
                "    printf(\"phase %d rank %d: common %lld %lld planted %lld %lld exchange %lld %lld\\n\", k, world_rank, taken_ns[k][0][0],\n"
                "           taken_ns[k][0][1], taken_ns[k][1][0], taken_ns[k][1][1], taken_ns[k][2][0], taken_ns[k][2][1]);\n"
                "for (int k = 0; k < N_PHASES; k++)\n    for (cycle = 0; cycle < N_CYCLES; cycle++)\n        if (acts_ns[k][cycle][1])\n"
                "            printf(\"acts %d rank %d: %lld %lld\\n\", k, world_rank, acts_ns[k][cycle][0], acts_ns[k][cycle][1]);\n"
                "printf(\"span rank %d: %lld %lld\\n\", world_rank, span_ns[0], span_ns[1]);\n"
                "if (world_rank == 0)\n    printf(\"run %lld\\n\", run_ns);", 1)
    if "preempted" in used:
        program.add("if (competitor > 0)\n    kill(competitor, SIGKILL);", 1)
    program.add("return 0;", 1)
    program.add("}")
    return start_line


def used_by(plan):
    """Kinds, bodies and shapes that occur."""
    works = [phase["common"] for phase in plan["phases"]] + [phase["cause"] for phase in plan["phases"] if phase["cause"]]
    return {work[key] for work in works for key in ("body", "shape", "kind") if work.get(key)}


def in_language(plan):
    """The plan with the bodies and shapes that its language has for those drawn."""
    if plan.get("language") != "c++":
        return plan
    plan = copy.deepcopy(plan)
    for work in [phase[key] for phase in plan["phases"] for key in ("common", "cause") if phase[key]]:
        if work["body"]:
            work["body"] = bodies.IN_CPLUSPLUS.get(work["body"], work["body"])
            work["shape"] = IN_CPLUSPLUS.get(work["shape"], work["shape"])
    return plan


def emit(plan):
    """Sources by name, and the truth."""
    if plan.get("language") == "fortran":
        return fortran.emit(plan)
    plan = in_language(plan)
    program = Source("program.cc" if plan.get("language") == "c++" else "program.c")
    library, used = Source("library.c", Source("library.f90") if plan.get("library") == "fortran" else None), used_by(plan)
    if library.fortran:
        library.fortran.add(fortran.LIBRARY_HEAD)
    program.add("/* Generated by tests/truth/generate from seed %s: see truth.json for what a report of it has to say. */" % plan["seed"])
    program.add(HEAD)
    program.add("#define N_PHASES %d\n#define N_CYCLES %d" % (len(plan["phases"]), plan["cycles"]))
    if "one_thread" in used:
        program.add("#include <omp.h>")
    for name, text in LIBRARY_DATA.items():
        if name in used:
            program.add(text)
    program.add(WORK_DATA + TIMERS + ACTED + (LINKS if "slower" in used else "") + (COMPETITOR if "preempted" in used else ""))
    if "handed" in used:
        program.add(HANDS)
    if "each" in used:
        emit_each(program, plan)
    program.add(MAKE_DATA)
    library.add("/* What program.c calls in a shared library. */\n#define _GNU_SOURCE\n#include <math.h>\n#include <poll.h>\n#include <sys/mman.h>\n#include <sys/select.h>\n"
                "#include <time.h>\n#include <unistd.h>")
    library.add(WORK_DATA)
    common, causes = zip(*[emit_phase(program, library, plan, k, phase) for k, phase in enumerate(plan["phases"])])
    start_line = emit_main(program, plan, used)
    if library.fortran:
        library.fortran.add("end module")
    build = {"program": program.name, "libraries": [lib for name, lib in (("matrix", "-lopenblas"), ("transform", "-lfftw3")) if name in used],
             "flags": [plan["optimise"], "-fno-ipa-icf"] + (["-fopenmp"] if used & TEAMS else []),  # equal loops stay two
             "environment": {"OMP_WAIT_POLICY": plan["waits"]} if plan.get("waits") else {}, "library_is_counted": plan.get("library_is_counted", True)}
    sources = {source.name: source.text() for source in (program, library, library.fortran) if source}
    return sources, {"plan": plan, "build": build, "start_line": start_line, "common": common,
                                            "causes": [cause for cause in causes if cause]}


def write(plan, directory):
    os.makedirs(directory, exist_ok=True)
    sources, truth = emit(plan)
    for name, text in [*sources.items(), ("truth.json", json.dumps(truth, indent=1) + "\n")]:
        with open(os.path.join(directory, name), "w") as file:
            file.write(text)
    return truth
