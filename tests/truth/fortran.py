# SPDX-License-Identifier: BSD-3-Clause
"""A plan (plan.py) as a whole program in Fortran: program.F90 and library.f90, with MPI from mpi_f08, from the module mpi or from mpif.h.

It has the macros, the timers and the output of a program in C (emit.py). What a plan asks for that is not there in Fortran becomes what is most like it.
"""
import copy

import bodies
import patterns
import patterns_fortran
from source import Source, amount_macros, amounts, iterations, late_mask, root_and_target, works_of

LIBRARY_HEAD = """! What the program calls in a shared library.
module work
  use, intrinsic :: iso_c_binding
  implicit none
  real(c_double), volatile :: sink = 1
  real(c_double) :: row(1024) = 0
contains
"""

# How MPI comes into the program: a line before and a line after "implicit none", and the type of its handles.
MPI = {"mpi_f08": ("use mpi_f08", "", "type(MPI_%s)"), "mpi": ("use mpi", "", "integer"), "mpif.h": ("", "include 'mpif.h'", "integer")}

HEAD = """#define HANDLE_Comm COMM
#define HANDLE_Request REQUEST
module base
  use, intrinsic :: iso_c_binding
  USE
  implicit none
  INCLUDE
  type, bind(C) :: timespec
    integer(c_long) :: s, ns
  end type
  interface
    subroutine clock_gettime(clock, t) bind(C)
      import :: c_int, timespec
      integer(c_int), value :: clock
      type(timespec) :: t
    end subroutine
    subroutine usleep(us) bind(C)
      import :: c_int
      integer(c_int), value :: us
    end subroutine
    subroutine poll(list, n, ms) bind(C)
      import :: c_ptr, c_long, c_int
      type(c_ptr), value :: list
      integer(c_long), value :: n
      integer(c_int), value :: ms
    end subroutine
  end interface
  abstract interface
    subroutine work_routine(n)
      import :: c_long
      integer(c_long), value :: n
    end subroutine
  end interface
  integer, parameter :: N_PHASES = PHASES, COMMON_PART = 1, PLANTED_PART = 2, EXCHANGE_PART = 3
  integer(c_long) :: taken_ns(2, 3, 0:N_PHASES - 1) = 0, since_ns(2) = 0
  integer :: world_rank = 0, ierr
  real(c_double), volatile :: sink = 1
  real(c_double) :: row(1024) = 0, large_in(25000) = 0, large_out(25000) = 0
"""

TIMERS = """contains

  integer(c_long) function clock_ns(clock)
    integer(c_int), value :: clock
    type(timespec) :: t
    call clock_gettime(clock, t)
    clock_ns = t%s * 1000000000_c_long + t%ns
  end function

  subroutine timer_start()
    since_ns(1) = clock_ns(1_c_int)
    since_ns(2) = clock_ns(2_c_int)
  end subroutine

  ! What has passed since the last call goes to this part of the phase.
  subroutine timer_stop(phase, part)
    integer, intent(in) :: phase, part
    integer(c_long) :: before(2)
    before = since_ns
    call timer_start()
    taken_ns(:, part, phase) = taken_ns(:, part, phase) + since_ns - before
  end subroutine

  logical function is_late(ranks)
    integer, intent(in) :: ranks
    is_late = btest(ranks, world_rank)
  end function
"""

LOOPS = {
    "for": ("do i = 1, COUNT", "end do"),
    "while": ("i = COUNT\ndo while (i > 0)\n  i = i - 1", "end do"),
    "do": ("i = 0\nif (COUNT > 0) then\n  do", "    i = i + 1\n    if (i >= COUNT) exit\n  end do\nend if"),
    "goto": ("i = COUNT\nif (i > 0) then\n  LINE continue", "  i = i - 1\n  if (i > 0) goto LINE\nend if"),
    "nested": ("do outer = 0, 7\n  do i = outer * (COUNT) / 8, (outer + 1) * (COUNT) / 8 - 1", "  end do\nend do"),
}
SLEEPS = {"nap": "call usleep(500_c_int)", "usleep": "call usleep(1000_c_int)", "poll": "call poll(c_null_ptr, 0_c_long, 2_c_int)",
          "select": "call usleep(1500_c_int)"}
BODIES = dict(bodies.FORTRAN, helper=("x = sink", "x = HELPER(x)", "sink = x"), **{name: ("", text, "") for name, text in SLEEPS.items()})
BODY_LIKE = {"hash": "divide", "matrix": "row", "transform": "row"}
SHAPE_LIKE = {"inline": "routine", "auto": "routine", "callback": "pointer", "openmp": "repeat"}


def in_fortran(plan):
    """The plan with what there is in Fortran."""
    plan = copy.deepcopy(plan)
    for phase in plan["phases"]:
        phase["pattern"] = patterns_fortran.LIKE.get(phase["pattern"], phase["pattern"])
        cause = phase["cause"]
        if cause and cause["kind"] in ("slower", "preempted", "faults"):
            cause.update(kind="more", body="chain", other_us=min(cause["other_us"], cause["late_us"] // 2))
    for name, work in works_of(plan):
        work["body"] = BODY_LIKE.get(work["body"], work["body"])
        work["shape"] = SHAPE_LIKE.get(work["shape"], work["shape"])
        if work["shape"] == "library" and work["body"] not in bodies.FORTRAN:
            work["shape"] = "routine"
    return plan


def emit_library_routine(source, work, name):
    """A routine of its own, that C can call as well; its places."""
    before, once, after = bodies.FORTRAN[work["body"]]
    first = source.next_line()
    source.add("subroutine %s(n) bind(C)\n  integer(c_long), value :: n\n  integer(c_long) :: i\n  real(c_double) :: x" % name, 1)
    source.add(before, 2)
    loop_first = source.next_line()
    source.add("do i = 1, n", 2)
    source.add(once, 3)
    source.add("end do", 2)
    places = [source.place(loop_first, name)]
    source.add(after, 2)
    source.add("end subroutine", 1)
    places.append(source.place(first, name))
    source.lines.append("")
    return places


def emit_loop(source, work, count, indent, name, routine):
    lines = LOOPS["nested" if work["shape"] == "nested" else work["loop"]]
    return source.loop(BODIES[work["body"]], lines, count, indent, name, routine)


def emit_helper(source, name):
    first = source.next_line()
    source.add("real(c_double) function %s_helper(x)\n  real(c_double), intent(in) :: x\n  %s_helper = x * 0.999999d0 + 1d-6\nend function" % (name, name), 1)
    source.lines.append("")
    return source.place(first, name + "_helper")


def emit_routine(source, work, name, before=""):
    """A routine of its own around the loop; the places, innermost first. `before`: statements before the loop."""
    places = [emit_helper(source, name)] if work["body"] == "helper" else []
    first = source.next_line()
    source.add("%ssubroutine %s(n)\n  integer(c_long), value :: n\n  integer(c_long) :: i, outer\n  real(c_double) :: x" % ("recursive " if before else "", name), 1)
    if before:
        source.add(before, 2)
    places.insert(0, emit_loop(source, work, "n", 2, name, name))
    source.add("end subroutine", 1)
    places.append(source.place(first, name))
    source.lines.append("")
    return places


def emit_caller(source, name, text, is_loop):
    """A routine that calls others, in a loop or not; its places."""
    first = source.next_line()
    source.add("subroutine %s(n)\n  integer(c_long), value :: n\n  integer :: again" % name, 1)
    text_first = source.next_line()
    source.add(text, 2)
    places = [source.place(text_first, name)] if is_loop else []
    source.add("  sink = sink + 1\nend subroutine", 1)
    places.append(source.place(first, name))
    source.lines.append("")
    return places


def emit_work(program, library, work, name):
    """The routines that do this work: their places, and what to call with a number of iterations (None: the loop stands where it is needed)."""
    shape = work["shape"]
    if shape == "here":
        return [emit_helper(program, name)] if work["body"] == "helper" else [], None
    if shape == "library":
        return emit_library_routine(library, work, name), name
    if shape == "recursive":
        leaf = max(2, bodies.n_iterations(work["body"], work.get("us") or work.get("late_us")) // 6)
        return emit_routine(program, work, name, "if (n > %d) then\n  call %s(n / 2)\n  call %s(n - n / 2)\n  return\nend if" % (leaf, name, name)), name
    if shape == "repeat":
        places = emit_routine(program, work, name + "_first") + emit_routine(program, dict(work, loop="for"), name + "_second")
        text = "do again = 0, 3\n  call %s_first((n + again) / 8)\n  call %s_second((n + 4 + again) / 8)\nend do" % (name, name)
        return places + emit_caller(program, name, text, True), name
    if shape == "deep":
        places = emit_routine(program, work, name + "_1")
        for depth in range(2, 6):
            places += emit_caller(program, "%s_%d" % (name, depth), "call %s_%d(n)" % (name, depth - 1), False)
        return places, name + "_5"
    return emit_routine(program, work, name), name + "_chosen" if shape == "pointer" else name


def emit_exchange(program, plan, phase):
    root, target = root_and_target(plan, phase)
    name = phase["name"] + "_exchange"
    program.add("subroutine %s(comm, step)\n  HANDLE_Comm, intent(in) :: comm\n  integer, intent(in) :: step\n  HANDLE_Comm :: copy\n"
                "  HANDLE_Request :: request, requests(4)\n  integer :: me, size, left, right, i, at\n  logical :: done\n"
                "  real(c_double) :: item, other, many(0:7), more(0:7)" % name, 1)
    program.add("call MPI_Comm_rank(comm, me, ierr)\ncall MPI_Comm_size(comm, size, ierr)\nleft = modulo(me - 1, size)\nright = modulo(me + 1, size)\n"
                "item = step + me\nother = 0\nmany = 0\nmore = 0", 2)
    program.add(patterns_fortran.STEPS[phase["pattern"]].replace("ROOT", str(root)).replace("TARGET", str(target)), 2)
    program.add("sink = sink + other + many(0) + more(0) + item", 2)
    program.add("end subroutine", 1)
    program.lines.append("")
    return name


def emit_part(program, work, call, places, count, suffix, phase):
    """One call of the work, or its loop; its places."""
    if call:
        program.add("call %s(%s)" % (call, count), 3)
        return places
    program.add("n = %s" % count, 3)
    return [emit_loop(program, work, "n", 3, phase["name"] + suffix, phase["name"])] + places


def emit_phase(program, library, plan, k, phase):
    """The phase's routine and what it calls; the places of its common work, and its cause as truth.json has it, or None."""
    common, cause = phase["common"], phase["cause"]
    common_places, common_call = emit_work(program, library, common, phase["name"] + "_common")
    planted_places, planted_call = emit_work(program, library, cause, phase["name"] + "_work") if cause else (None, None)
    exchange = emit_exchange(program, plan, phase)
    program.add("! Phase %d: %s." % (k, phase["pattern"]), 1)
    program.add("subroutine %s()\n  HANDLE_Comm :: comm\n  integer :: step\n  integer(c_long) :: n, i, outer\n  real(c_double) :: x" % phase["name"], 1)
    program.add("call timer_start()", 2)
    program.add({"world": "comm = MPI_COMM_WORLD", "dup": "call MPI_Comm_dup(MPI_COMM_WORLD, comm, ierr)",
                 "half": "call MPI_Comm_split(MPI_COMM_WORLD, modulo(world_rank, 2), world_rank, comm, ierr)"}[phase["comm"]], 2)
    program.add("call timer_stop(%d, EXCHANGE_PART)\ndo step = 0, %d" % (k, phase["steps"] - 1), 2)
    amount = "%d_c_long" % bodies.n_iterations(common["body"], common["us"])
    common_places = emit_part(program, common, common_call, common_places, amount, "_common", phase)
    program.add("call timer_stop(%d, COMMON_PART)" % k, 3)
    if cause:
        first, end = cause.get("steps", [0, phase["steps"]])
        program.add("if (modulo(step, %d) == 0 .and. step >= %d .and. step < %d) then" % (cause["every"], first, end), 3)
        planted_places = emit_part(program, cause, planted_call, planted_places, "amounts_%d(merge(1, 0, is_late(%d)))" % (k, late_mask(phase)), "_work", phase)
        program.add("end if\ncall timer_stop(%d, PLANTED_PART)" % k, 3)
    program.add("call %s(comm, step)\ncall timer_stop(%d, EXCHANGE_PART)" % (exchange, k), 3)
    program.add("end do\ncall MPI_Barrier(MPI_COMM_WORLD, ierr)", 2)
    if phase["comm"] != "world":
        program.add("call MPI_Comm_free(comm, ierr)", 2)
    program.add("call timer_stop(%d, EXCHANGE_PART)" % k, 2)
    program.add("end subroutine", 1)
    program.lines.append("")
    return common_places, cause and {"phase": k, "kind": cause["kind"], "late": cause["late"], "places": planted_places, "iterations": iterations(plan, phase)}


def emit_declarations(program, plan):
    for k, phase in enumerate(plan["phases"]):
        if phase["cause"]:
            program.add(amount_macros(k, *amounts(plan, phase)))
            program.add("integer(c_long), volatile :: amounts_%d(0:1) = [integer(c_long) :: AMOUNTS_%d]" % (k, k), 1)
    for name, work in works_of(plan):
        if work["shape"] == "pointer":
            program.add("procedure(work_routine), pointer :: %s_chosen => null()" % name, 1)
        elif work["shape"] == "library":
            program.add("interface\n  subroutine %s(n) bind(C)\n    import :: c_long\n    integer(c_long), value :: n\n  end subroutine\nend interface" % name, 1)


def emit_main(program, plan):
    """The line of the first barrier."""
    program.add("end module\n")
    program.add("program main\n  use base\n  implicit none\n  integer(c_long) :: begin_ns, run_ns\n  integer :: cycle_number, k")
    for name, work in works_of(plan):
        if work["shape"] == "pointer":
            program.add("%s_chosen => %s" % (name, name), 1)
    program.add("call MPI_Init(ierr)\ncall MPI_Comm_rank(MPI_COMM_WORLD, world_rank, ierr)\ncall MPI_Barrier(MPI_COMM_WORLD, ierr)", 1)
    start_line = len(program.lines)
    program.add("begin_ns = clock_ns(1_c_int)\ndo cycle_number = 1, %d" % plan["cycles"], 1)
    program.add("\n".join("call %s()" % phase["name"] for phase in plan["phases"]), 2)
    program.add("end do\nrun_ns = clock_ns(1_c_int) - begin_ns\ncall MPI_Finalize(ierr)\ndo k = 0, N_PHASES - 1\n"
                "  print '(a,i0,a,i0,3(a,i0,1x,i0))', 'phase ', k, ' rank ', world_rank, ': common ', taken_ns(:, 1, k), ' planted ', &\n"
                "    taken_ns(:, 2, k), ' exchange ', taken_ns(:, 3, k)\nend do\nif (world_rank == 0) print '(a,i0)', 'run ', run_ns", 1)
    program.add("end program")
    return start_line


def emit(plan):
    """Sources by name, and the truth."""
    plan = in_fortran(plan)
    program, library = Source("program.F90"), Source("library.f90")
    use, include, handle = MPI[plan["mpi"]]
    head = HEAD.replace("COMM\n", (handle % "Comm" if "%" in handle else handle) + "\n", 1).replace("REQUEST\n", (handle % "Request" if "%" in handle else handle) + "\n", 1)
    program.add("! Generated by tests/truth/generate from seed %s: see truth.json for what a report of it has to say." % plan["seed"])
    program.add(head.replace("USE\n", use + "\n").replace("INCLUDE\n", include + "\n").replace("PHASES,", "%d," % len(plan["phases"])))
    library.add(LIBRARY_HEAD)
    emit_declarations(program, plan)
    program.add(TIMERS)
    common, causes = zip(*[emit_phase(program, library, plan, k, phase) for k, phase in enumerate(plan["phases"])])
    start_line = emit_main(program, plan)
    library.add("end module")
    build = {"program": program.name, "libraries": [], "flags": [plan["optimise"], "-fno-ipa-icf"]}
    sources = {"program.F90": program.text(), "library.f90": library.text(), "library.c": "/* The library is in library.f90. */\ntypedef int nothing;\n"}
    return sources, {"plan": plan, "build": build, "start_line": start_line, "common": common, "causes": [cause for cause in causes if cause]}
