# SPDX-License-Identifier: BSD-3-Clause
"""What a generated program does, as plain data: drawn from a seed here, made smaller by `shrink`, turned into C by emit.py.

    {"seed", "ranks", "optimise", "cycles", "caller", "phases": [phase, ...], "language", "library": the language of the shared library, "mpi"}
    phase   {"name", "steps", "pattern", "comm", "call", "common": work, "cause": cause or None}
    work    {"body", "shape", "loop", "us"}: what one step does on each rank
    cause   {"kind", "body", "shape", "loop", "late": [rank, ...], "late_us", "other_us", "every", "steps": [first, last + 1]}

The phases run one after the other, `cycles` times; a barrier of all ranks ends each. In a step every rank does the common work, then the ranks
in `late` take `late_us` and the others `other_us` in the planted place (every `every`-th step of `steps`), then they communicate.
"""
import random

import bodies
import patterns

WORDS = ("advect relax project smooth coarsen prolong gather_flux limit_slopes react diffuse sweep_rows assemble precondition deposit push_particles "
         "filter_modes couple remap trace_rays refine balance_cells update_ghosts collide stream_cells scatter_charge integrate").split()
CALLS = ["plain", "plain", "noinline", "table", "nested"]
LOOPS = ["for", "for", "while", "do", "goto"]
SHAPES = {"routine": 3, "inline": 2, "auto": 2, "here": 2, "nested": 2, "recursive": 1, "pointer": 1, "library": 2, "callback": 1, "repeat": 2, "deep": 1,
          "openmp": 1}
# A cause of the kind "slower" has data of its own in the program, a sleep needs no helpers.
SHAPES_OF = {"slower": ["routine", "inline", "auto", "here", "nested", "pointer", "deep"],
             "faults": ["routine", "inline", "auto", "here", "recursive", "pointer", "library", "callback", "repeat", "deep"],
             "sleep": ["routine", "inline", "auto", "here", "recursive", "pointer", "library", "callback", "repeat", "deep"]}


def draw_shape(rng, kind, body, ranks):
    names = [name for name in SHAPES_OF.get(kind, SHAPES) if not (name == "openmp" and (ranks > 2 or body not in bodies.ALONE)) and
             not (name == "library" and body in bodies.LIBRARIES)]
    return rng.choices(names, [SHAPES[name] for name in names])[0]


def draw_common(rng, ranks, kind):
    us = rng.randint(100, 300) if ranks > 2 else rng.randint(3000, 6000) if kind == "preempted" else rng.randint(500, 3000)
    shapes = [name for name in SHAPES if name not in ("openmp", "callback")]
    return {"body": rng.choice(bodies.COMPUTING), "shape": rng.choice(shapes), "loop": rng.choice(LOOPS), "us": us}


def draw_late(rng, ranks):
    n_late = 1 if ranks == 2 or rng.random() < 0.7 else 2
    return sorted(rng.sample(range(ranks), n_late))


def draw_cause(rng, ranks, kind, pattern):
    late = draw_late(rng, ranks) if pattern != "token" else [0]
    late_us = rng.randint(5000, 12000)
    other_us = 0 if rng.random() < 0.4 else int(late_us * rng.uniform(0.1, 0.5))
    if ranks > 2:
        other_us = min(other_us, 500) if kind != "sleep" else other_us
    body = {"more": rng.choice(bodies.COMPUTING + bodies.LIBRARIES), "slower": rng.choice(bodies.SLOWER), "sleep": rng.choice(bodies.SLEEPING),
            "faults": "touch"}.get(kind)
    return {"kind": kind, "body": body, "shape": draw_shape(rng, kind, body, ranks), "loop": rng.choice(LOOPS), "late": late, "late_us": late_us,
            "other_us": other_us, "every": rng.choice([1, 1, 1, 2, 3])}


def draw_phase(rng, name, ranks, has_cause):
    kinds = ["more", "more", "slower", "sleep", "faults"] + (["preempted"] if ranks == 2 else [])
    kind = rng.choice(kinds) if has_cause else None
    pattern = rng.choice(patterns.names())
    comm = rng.choice(["world", "world", "dup"] + (["half"] if ranks > 2 else []))
    return {"name": name, "steps": rng.randint(16, 28), "pattern": pattern, "comm": comm, "call": rng.choice(CALLS),
            "common": draw_common(rng, ranks, kind), "cause": draw_cause(rng, ranks, kind, pattern) if has_cause else None}


def draw(seed):
    """The plan of this seed: always the same one."""
    rng = random.Random(seed)
    ranks = 4 if rng.random() < 0.35 else 2
    n_phases = rng.randint(1, 4)
    n_causes = min(n_phases, rng.choice([1, 1, 2, 3]))
    with_cause = set(rng.sample(range(n_phases), n_causes))
    names = rng.sample(WORDS, n_phases)
    phases = [draw_phase(rng, name, ranks, i in with_cause) for i, name in enumerate(names)]
    phases = with_one_competitor(phases)
    plan = {"seed": seed, "ranks": ranks, "optimise": rng.choice(["-O1", "-O2", "-O2", "-O3"]), "cycles": rng.choice([1, 1, 2]),
            "caller": rng.choice(["main", "driver", "table"]), "phases": [in_part(rng, phase) for phase in shortened(phases)], "language": rng.choice(["c", "c", "c++"]),
            "library": rng.choice(["c", "fortran"]), **drawn_late(rng)}
    plan = dict(plan, phases=[with_naps(rng, phase) for phase in plan["phases"]])
    return with_newer_kinds(random.Random("%d newer" % seed), plan)


def with_one_competitor(phases):
    """A report has one row for all that had no CPU: what it says of two phases cannot be told apart."""
    taken = [phase for phase in phases if phase["cause"] and phase["cause"]["kind"] == "preempted"]
    return [dict(phase, cause=None) if phase in taken[1:] else phase for phase in phases]


TEAMS = ["schedule", "tasks", "critical", "one_thread", "handed"]
EVERYONE = ["barrier", "allreduce", "allgather", "alltoall", "ibarrier_wait", "iallreduce_wait", "iallreduce_poll", "comm_dup", "split"]


def with_newer_kinds(rng, plan):
    """Half of the programs in C and C++ have causes of further kinds, whatever was drawn before: teams of threads, a lambda in a template of several
    callers, a library that is not counted, a cause spread over loops as a partition's is, ranks that are late by turns."""
    if plan["language"] == "fortran" or rng.random() < 0.4:
        return plan
    plan = dict(plan, waits=rng.choice(["passive", "passive", None]), communicates=rng.choice(["main", "thread"]), library_is_counted=rng.random() < 0.5,
                each=rng.choice(["static inline", "__attribute__((noinline)) static", "__attribute__((always_inline)) static inline"]))
    phases = [with_newer_kind(rng, plan, phase) for phase in plan["phases"]]
    if not any(phase["cause"] and phase["cause"]["shape"] == "handed" for phase in phases):
        plan.update(communicates="main")
    return dict(plan, phases=phases)


def with_newer_kind(rng, plan, phase):
    cause, two = phase["cause"], plan["ranks"] == 2
    if not cause or phase["pattern"] in patterns.OPERATIONS or cause["kind"] == "preempted" or rng.random() < 0.2:
        return phase
    if cause["kind"] == "sleep":
        return taking_turns(rng, plan, phase)
    cause, body = dict(cause, kind="more"), rng.choice(bodies.ALONE)
    phase = dict(phase, cause=dict(cause, body=body))
    kinds = ["outside", "spread", "turns"] + ["each", "each"] * (plan["language"] == "c++") + TEAMS * two
    kind = rng.choice(kinds)
    if kind == "turns":
        return taking_turns(rng, plan, phase)
    cause = dict(phase["cause"], shape=kind, loop="for" if kind == "each" else cause["loop"])
    if kind == "spread":
        cause.update(other_us=cause["other_us"] or cause["late_us"] // 2)
    common = dict(phase["common"], shape="each", body=rng.choice(bodies.ALONE)) if kind == "each" else phase["common"]
    return dict(phase, cause=cause, common=common)


def taking_turns(rng, plan, phase):
    """In some of its steps one rank is late, now one and now another, and all wait for it."""
    ranks = range(plan["ranks"])
    turns = [rng.choice(ranks) if rng.random() < 0.5 else -1 for _ in range(phase["steps"])]
    turns[:plan["ranks"]] = ranks
    cause = dict(phase["cause"], turns=turns, late=list(ranks), other_us=0, every=1, steps=[0, phase["steps"]])
    return dict(phase, cause=cause, pattern=rng.choice(EVERYONE), comm="world" if phase["comm"] == "half" else phase["comm"])


def with_naps(rng, phase):
    """Of the causes that sleep half do so in an interval in which every rank has slept elsewhere, once or several times."""
    if not phase["cause"] or phase["cause"]["kind"] != "sleep" or rng.random() < 0.5:
        return phase
    body = rng.choice(bodies.SLEEPING)
    naps = {"body": body, "shape": rng.choice([name for name in SHAPES_OF["sleep"] if name != "callback"]), "us": round(rng.choice([1, 1, 2, 3]) * bodies.BODIES[body][0] / 1000)}
    return dict(phase, common=dict(phase["common"], **naps))


def drawn_late(rng):
    """One in five is a whole program in Fortran, whatever was drawn before."""
    mpi = rng.choice(["mpi_f08", "mpi", "mpif.h"])
    return {"language": "fortran", "library": "fortran", "mpi": mpi} if rng.random() < 0.2 else {}


def shortened(phases):
    """At most a second in all: the steps of long phases are fewer."""
    def phase_us(phase):
        return phase["steps"] * (phase["common"]["us"] + (phase["cause"]["late_us"] if phase["cause"] else 0))
    factor = min(1, 1000000 / sum(phase_us(phase) for phase in phases))
    return [dict(phase, steps=max(8, int(phase["steps"] * factor))) for phase in phases]


def in_part(rng, phase):
    """One cause in four acts in the first or in the second half of its phase only."""
    n, part = phase["steps"], rng.choice(["all", "all", "all", rng.choice(["first", "second"])])
    steps = {"all": [0, n], "first": [0, n // 2], "second": [n // 2, n]}[part]
    cause = phase["cause"]
    if not cause:
        return phase
    cause = dict(cause, steps=steps)
    if phase["pattern"] in patterns.OPERATIONS and cause["kind"] != "preempted":
        cause.update(every=1, steps=[0, n], shape="routine" if cause["shape"] == "here" else cause["shape"])
        if cause["kind"] == "slower":  # who reduces is the library's choice: not all ranks do the same
            cause.update(kind="more", body="chain", other_us=min(cause["other_us"], cause["late_us"] // 2))
    if cause["shape"] == "openmp" and phase["pattern"] in patterns.OPERATIONS:
        cause["shape"] = "routine"
    return dict(phase, cause=cause)
