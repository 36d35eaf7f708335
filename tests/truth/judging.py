# SPDX-License-Identifier: BSD-3-Clause
"""Builds a generated program, records it, and judges the report by what is known of the program (verdict.py)."""
import statistics

import patterns
import source
import verdict


def measured_gains(program, judge, pairs, counted):
    """Medians of how much sooner the changed phase ends in the really changed programs, run by turns with the original. Barriers part the phases: what the
    others take in these runs differs by nothing but the machine's doing. A machine that is faster or slower now than it was in the recorded run is so for all
    of the phase. How often each rank reduces is the library's choice, so an even amount a reduction is not as much as before in all; nor is an even amount
    of so few iterations that it had to be rounded."""
    found = {}
    for cause, _, _ in judge.matter():
        if cause["kind"] == "preempted":
            continue
        phase = program.truth["plan"]["phases"][cause["phase"]]
        can_be_even = cause["kind"] != "slower" and phase["pattern"] not in patterns.OPERATIONS and source.is_divisible(program.truth["plan"], phase)
        recorded_ns = judge.timers.phase_ns(cause["phase"])
        variants = ["GONE_%d" % cause["phase"]] + ["EVEN_%d" % cause["phase"]] * can_be_even
        gains = {variant: [] for variant in variants}
        for _ in range(pairs):
            before_ns = program.time("", counted).phase_ns(cause["phase"])
            for variant in variants:
                gains[variant].append(recorded_ns * (1 - program.time(variant, counted).phase_ns(cause["phase"]) / before_ns))
        medians = [statistics.median(gains[variant]) for variant in variants]
        found[cause["phase"]] = medians + [None] * (2 - len(medians))
    return found


def judge_once(program, counted, pairs, keep=None):
    timers, report = program.record(counted, keep)
    judge = verdict.Judge(program.truth, timers, report, counted, program.yields)
    result = judge.all()
    if pairs and judge.is_quiet():
        judge.gains(measured_gains(program, judge, pairs, counted))
    return judge, result


def judge_program(program, counted=False, pairs=0, keep=None, tries=3):
    judge, result = judge_once(program, counted, pairs, keep)
    for _ in range(1, tries):
        if not judge.is_busy():
            break
        judge, result = judge_once(program, counted, pairs, keep)
    return judge, result


def judge_steadily(program, counted=False, pairs=0, keep=None, retry=1, known=(), tries=3):
    """As judge_program; only the criteria that every recording was wrong in are missed, and not those that are known to be. Also gives these criteria."""
    judge, result = judge_program(program, counted, pairs, keep, tries)
    missed = {criterion for criterion, _ in result.misses} - set(known)
    for _ in range(retry):
        if missed:
            again, more = judge_program(program, counted, pairs if missed & {"gone", "even"} else 0, None, tries)
            missed &= {criterion for criterion, _ in more.misses}
    result.misses = [miss for miss in result.misses if miss[0] in missed or miss[0] in known]
    return judge, result, missed


def line_of(judge, result, counted, missed):
    plan = judge.truth["plan"]
    what = " ".join("%s:%s" % (phase["pattern"], "/".join(phase["cause"][key] or "-" for key in ("kind", "body", "shape")) if phase["cause"] else "-")
                    for phase in plan["phases"])
    state = "WRONG" if missed else "busy" if judge.is_busy() else "right"
    wrong = "".join("\n    %-6s %s" % miss for miss in result.misses)
    return "%-5s seed %s, %d ranks, %s, noise %.0f %%: %s%s" % (state, plan["seed"], plan["ranks"], "counted" if counted else "plain",
                                                            100 * judge.noise_ns / max(1, judge.due_ns), what, wrong)
