# SPDX-License-Identifier: BSD-3-Clause
"""Judges a report by what is known of the program.

A planted cause makes others wait for as long as its place takes longer on the late ranks than on each of the others: its `due`, from the hand-placed
timers (CPU time for what computes, wall time for what sleeps, the time off the CPU for what is preempted). Since a barrier ends each phase, that holds
for every pattern of communication. What ranks lose elsewhere, off the CPU or on a slower core, and what all of them spend in communication beyond what
is due, is the `noise` of the phase, from the same timers: bounds are wider by it, and a run in which noise is large beside the causes is not judged by
amounts at all ("busy").

Criteria: of each cause that matters
    place   its place, or what contains it, has the waiting
    row     one row has nearly all of that; of a cause that is spread over many loops, one partition
    ranks   nearly all of it is blamed on the ranks that are late
    named   the row names these ranks, and only these
    kind    the kind is the planted one
    share   it has as much waiting as the timers say
    time    the time on a CPU that a rank is said to have spent in a place is that of the timers
    count   programs built to count: the executions are in the planted ratio
    factor  it takes so many times as long, and costs so many times as much, as told
    when    it has its waiting when it acts, and nothing else is said of that
    gone    "if it took no time" is what the run gains without it
    even    "if balanced" is what the run gains when it is shared out
and of the report
    top     the first row is a planted cause, one of the largest
    first   the first rows are the planted causes, as many as there are: row 1, or rows 1 and 2
    false   nothing else of the program has much waiting
    sums    everything adds up
    sense   no two numbers contradict each other
    levels  what steps, causes and ranks say of time on and off the CPU is the same
"""
import collections
import math
import os
import re

import bodies
import emit
import patterns

PROGRAM_KINDS = {"more-work", "slower", "more-time", "blocked"}
EXPECTED_KINDS = {("more", False): {"more-time"}, ("more", True): {"more-work"}, ("slower", False): {"more-time"}, ("slower", True): {"slower"},
                  ("sleep", False): {"blocked"}, ("sleep", True): {"blocked"}, ("faults", False): {"blocked", "more-time"}, ("faults", True): {"blocked", "more-work"}, ("preempted", False): {"descheduled"}, ("preempted", True): {"descheduled"}}
ON_REPORT, OF_CAUSE = ["top", "first", "false", "sums", "sense", "levels"], ["place", "row", "ranks", "named", "kind", "share", "time", "count", "factor", "when", "gone", "even"]
ALWAYS = {"time", "count", "factor", "sums", "sense", "levels"}  # however busy the machine is
CRITERIA = OF_CAUSE + ON_REPORT
PERIOD_NS = 4000000  # of samples, where they are not dear
SLACK_NS = 5000000  # that no margin is smaller than: a tick or two of the scheduler


class Verdict:
    """Which criteria were judged, and what was wrong."""

    def __init__(self):
        self.judged, self.misses = collections.Counter(), []

    def that(self, criterion, holds, *message):
        self.judged[criterion] += 1
        if not holds:
            self.misses.append((criterion, " ".join(str(part) for part in message)))


def ms(ns):
    return "%.1f ms" % (ns / 1e6)


class Due:
    """By the timers: how long others have to wait for a cause, and what may be added or lost by noise: of phases in which ranks do not spin, time that
    the report gives as without a CPU inside MPI, `late_to_leave` of all."""

    def __init__(self, cause, phase, parts, spins, late_to_leave):
        kind, ranks = cause["kind"], sorted(parts)
        part = "common" if kind == "preempted" else "planted"
        taken = [taken_ns(cause, phase, parts[rank][part]) for rank in ranks]
        turns = is_by_turns(phase)
        self.ns = sum(taken) * (len(ranks) - 1) if turns else sum(max(taken) - t for t in taken)
        off = [lost_ns(parts, rank, phase["common"]) for rank in ranks if kind != "preempted" or rank not in cause["late"]]
        off += [parts[rank]["planted"][0] - parts[rank]["planted"][1] / threads_of(phase) for rank in ranks if kind not in ("sleep", "preempted")]
        late_spread = 0 if turns else max(taken[rank] for rank in cause["late"]) - min(taken[rank] for rank in cause["late"])
        self.noise_ns = sum(max(0, t) for t in off) + uneven_ns(parts) + late_spread * len(ranks) + max(0, exchange_ns(parts) - self.ns, off_in_exchange_ns(parts) * (1 if spins else late_to_leave))


def is_by_turns(phase):
    return bool(phase["cause"] and phase["cause"].get("turns"))


def is_team(phase):
    return bool(phase["cause"] and phase["cause"]["shape"] in emit.TEAMS)


def threads_of(phase):
    """That may be at work in the planted place at once."""
    return 2 if phase["cause"] and phase["cause"]["shape"] in emit.SIDE_BY_SIDE else 1


def taken_ns(cause, phase, times):
    """How long others wait for a place that took (wall, CPU). Threads side by side use more of a CPU than of time."""
    wall_ns, cpu_ns = times
    if cause["kind"] == "sleep":
        return wall_ns
    if cause["kind"] == "preempted":
        return wall_ns - cpu_ns
    return min(wall_ns, cpu_ns) if is_team(phase) else cpu_ns


def lost_ns(parts, rank, common):
    """In the common work without a CPU; of naps, which are alike on all ranks, what they took longer than on the quickest."""
    wall_ns, cpu_ns = parts[rank]["common"]
    return wall_ns - (min(of_rank["common"][0] for of_rank in parts.values()) if common["body"] in bodies.SLEEPING else cpu_ns)


def exchange_ns(parts):
    return sum(of_rank["exchange"][0] for of_rank in parts.values())


def off_in_exchange_ns(parts):
    """Who gets no CPU to leave a call comes late to the next one, and waits less there."""
    return sum(max(0, wall - cpu) for wall, cpu in (of_rank["exchange"] for of_rank in parts.values()))


def uneven_ns(parts):
    """By how much the common work, alike on all ranks, took some of them longer on a CPU."""
    common = [of_rank["common"][1] for of_rank in parts.values()]
    return sum(max(common) - t for t in common)


def with_late(cause, plan, parts):
    """Which ranks reduce, and how often, is the library's choice: there the timers tell who is late."""
    if plan["phases"][cause["phase"]]["pattern"] not in patterns.OPERATIONS or cause["kind"] == "preempted":
        return cause
    taken = {rank: parts[rank]["planted"][0 if cause["kind"] == "sleep" else 1] for rank in parts}
    return dict(cause, late=[rank for rank in sorted(taken) if taken[rank] > 0.5 * max(taken.values())])


class Row:
    """A cause of the report, without what is felt at the program's first barrier: the start of the processes."""

    def __init__(self, cause, start_line):
        self.cause = cause
        start_ns = sum(site["waiting_ns"] for site in cause["sites"] if site["line"] == start_line and site["call"] == "MPI_Barrier")
        self.part = 1 - start_ns / cause["waiting_ns"] if cause["waiting_ns"] else 0
        self.program_ns = sum(ns for kind, ns in cause["kinds"].items() if kind in PROGRAM_KINDS) * self.part
        self.machine_ns = cause["kinds"].get("descheduled", 0) * self.part

    def ns(self, kind):
        return self.machine_ns if kind == "preempted" else self.program_ns

    def is_machine(self):
        return self.machine_ns > 0

    def lies_in(self, places):
        """Begins in a place: in the planted loop, or in a routine or loop around it. The compiler may put an instruction of the lines
        that follow into a loop, so where it ends says less."""
        file = os.path.basename(self.cause["file"] or "")
        return any(file == place["file"] and place["first"] <= self.cause["line_first"] <= place["last"] and self.is_of(place.get("caller")) for place in places)

    def is_of(self, caller):
        """What several callers share is told apart by its name."""
        return not caller or re.search(r"\b%s\b" % caller, self.cause["name"])


class Rows:
    """All rows of a cause that is spread over many loops, as one."""

    def __init__(self, rows):
        self.cause, self.program_ns = rows[0].cause, sum(row.program_ns for row in rows)

    lies_in, is_of = Row.lies_in, Row.is_of


class Judge:
    """`yields`: ranks that wait give up their CPU; where they do not, and do not nap either, who is off it in communication had none."""

    def __init__(self, truth, timers, report, counted, yields):
        self.truth, self.timers, self.report, self.counted = truth, timers, report, counted
        self.verdict = Verdict()
        machine = dict(report["machine"], name="the machine", file=None, kinds={"descheduled": report["machine"]["waiting_ns"]})
        self.rows = [Row(cause, truth["start_line"]) for cause in report["causes"] + [machine]]
        spins = [not yields and phase["pattern"] not in patterns.NAPS for phase in truth["plan"]["phases"]]
        late_to_leave = self.late_to_leave()
        causes = [with_late(cause, truth["plan"], timers.parts[cause["phase"]]) for cause in truth["causes"]]
        self.causes = [(cause, Due(cause, truth["plan"]["phases"][cause["phase"]], timers.parts[cause["phase"]], spins[cause["phase"]], late_to_leave))
                       for cause in causes]
        self.due_ns = sum(due.ns for _, due in self.causes)
        self.noise_ns = sum(due.noise_ns for _, due in self.causes) + self.noise_without_cause()

    def late_to_leave(self):
        """Of the time off the CPU in communication: how much is no waiting, as the report says. Who yields or naps while it waits is off the CPU for most
        of that, and timers do not tell when the wait was over."""
        said_ns = sum(rank["descheduled_ns"] for rank in self.report["by_rank"]) - sum(rank["descheduled_ns"] for rank in self.report["machine"]["by_rank"])
        off_ns = sum(off_in_exchange_ns(parts) for parts in self.timers.parts.values())
        return min(1, max(0, said_ns) / max(1, off_ns))

    def noise_without_cause(self):
        with_cause = {cause["phase"] for cause in self.truth["causes"]}
        return sum(exchange_ns(parts) + uneven_ns(parts) for phase, parts in self.timers.parts.items() if phase not in with_cause)

    def is_busy(self):
        return self.noise_ns > self.due_ns

    def is_quiet(self):
        return self.noise_ns < 0.3 * self.due_ns

    def open_ns(self):
        """Of all ranks: what the report says it cannot know, since switches were lost and CPU time does not tell."""
        told = [re.search(r"[Ss]witches .*were lost .*leaves ([\d.]+) % of the run open", note) for note in self.report["notes"]]
        return sum(float(each.group(1)) for each in told if each) / 100 * self.report["duration_ns"] * self.report["ranks"]

    def matter(self):
        """Causes large enough to be seen, with their due and rows, largest first."""
        found = [(cause, due, [row for row in self.rows if row.lies_in(cause["places"]) or (cause["kind"] == "preempted" and row.is_machine())])
                 for cause, due in self.causes if due.ns >= 0.15 * self.due_ns and due.noise_ns < due.ns and due.ns > 4 * SLACK_NS]
        return sorted(found, key=lambda item: -item[1].ns)

    def all(self):
        self.sums()
        self.sense()
        self.times()
        if not self.is_busy():
            for cause, due, rows in self.matter():
                self.cause(cause, due, rows)
            self.top()
        return self.verdict

    def cause(self, cause, due, rows):
        name, kind = "phase %d (%s)" % (cause["phase"], cause["kind"]), cause["kind"]
        blamed_ns, margin_ns = sum(row.ns(kind) for row in rows), due.noise_ns + SLACK_NS
        self.verdict.that("place", blamed_ns >= 0.7 * due.ns - margin_ns, name, "has", ms(blamed_ns), "of", ms(due.ns))
        self.verdict.that("share", abs(blamed_ns - due.ns) <= 0.15 * due.ns + margin_ns, name, "has", ms(blamed_ns), "but is due", ms(due.ns))
        rows = sorted(rows, key=lambda row: -row.ns(kind))
        if not rows or not rows[0].ns(kind):
            return
        if self.is_spread(cause):
            self.partition(name, cause, due, rows, blamed_ns)
            self.kind(name, cause, due, rows)
            return
        self.verdict.that("row", rows[0].ns(kind) >= 0.8 * blamed_ns, name, "is in", len(rows), "rows, the largest", ms(rows[0].ns(kind)), "of", ms(blamed_ns))
        self.ranks(name, cause, due, rows)
        self.kind(name, cause, due, rows)
        self.when(name, cause, due, rows[0].cause)

    def planted(self, cause):
        return self.truth["plan"]["phases"][cause["phase"]]["cause"]

    def is_spread(self, cause):
        return self.planted(cause)["shape"] == "spread"

    def partition(self, name, cause, due, rows, blamed_ns):
        """Noise makes a loop, which has a small part of all, as late as others are not."""
        found = [dict(each, own=[row for row in rows if row.cause.get("partition") == each["partition"]]) for each in self.report["partitions"]]
        largest = max(found, key=lambda each: sum(row.program_ns for row in each["own"]), default=None)
        own_ns = sum(row.program_ns for row in largest["own"]) if largest else 0
        self.verdict.that("row", own_ns >= 0.8 * blamed_ns - due.noise_ns - SLACK_NS, name, "is a partition of", ms(own_ns), "of", ms(blamed_ns))
        if own_ns and due.noise_ns + SLACK_NS < 0.1 * due.ns:
            self.verdict.that("named", set(largest["ranks"]) == set(cause["late"]), name, "names ranks", largest["ranks"], "late:", cause["late"])

    def together(self, rows):
        """Rows by falling time, those of a cause that is spread as one."""
        for cause in self.truth["causes"]:
            own = [row for row in rows if self.is_spread(cause) and row.lies_in(cause["places"])]
            rows = [row for row in rows if row not in own] + ([Rows(own)] if own else [])
        return sorted(rows, key=lambda row: -row.program_ns)

    def ranks(self, name, cause, due, rows):
        blame = collections.Counter()
        for row in rows:
            for rank in row.cause["by_rank"]:
                blame[rank["rank"]] += rank["blame_ns"] * (row.part if cause["kind"] == "preempted" or row.program_ns else 0)
        total_ns, right_ns = sum(blame.values()), sum(blame[rank] for rank in cause["late"])
        self.verdict.that("ranks", right_ns >= 0.9 * total_ns - due.noise_ns - SLACK_NS, name, "is blamed on", dict(blame), "late:", cause["late"])
        named, quiet = rows[0].cause["ranks"], due.noise_ns + SLACK_NS < 0.1 * due.ns
        is_from_one = self.truth["plan"]["phases"][cause["phase"]]["pattern"] in patterns.FROM_ONE
        told = {rank["rank"] for rank in rows[0].cause["by_rank"]} if is_from_one else set(cause["late"])
        late = set(cause["late"]) & told  # who is late now and then alone, for less than a tenth of it, may be left out
        often = {rank for rank in late if blame[rank] >= 0.1 * total_ns}
        right = often <= set(named) <= late if quiet else named[0] in cause["late"]
        self.verdict.that("named", right, name, "names ranks", named, "late:", cause["late"])

    def kind(self, name, cause, due, rows):
        kinds = collections.Counter()
        for row in rows:
            kinds.update({kind: ns for kind, ns in row.cause["kinds"].items() if cause["kind"] == "preempted" or kind in PROGRAM_KINDS})
        expected, phase = set(EXPECTED_KINDS[cause["kind"], self.counted]), self.planted(cause)
        if cause["kind"] == "more" and not self.counts_show(phase):
            expected = {"more-time"}  # counts of the calls are equal
        if cause["kind"] == "more" and phase["body"] in ("matrix", "transform", "eigen"):
            expected |= {"slower"} if phase["shape"] in ("recursive",) else set()
        if cause["kind"] != "preempted" or due.noise_ns < 0.2 * due.ns:
            self.verdict.that("kind", max(kinds, key=kinds.get) in expected, name, "is", dict(kinds))

    def times(self):
        """Also where the machine was busy: what a rank did on a CPU is its own. Rows may be missing where nobody waits for them."""
        for phase, places in enumerate(self.truth["common"]):
            self.time("common work of phase %d" % phase, places, phase, "common", False)
        for cause in self.truth["causes"]:
            if cause["kind"] != "preempted":
                work = self.truth["plan"]["phases"][cause["phase"]]["cause"]
                self.time("phase %d (%s)" % (cause["phase"], cause["kind"]), cause["places"], cause["phase"], "planted",
                          work["shape"] not in emit.TEAMS | {"repeat", "spread"}, cause["kind"])
                for row in self.rows:
                    if row.lies_in(cause["places"]) and row.cause["waiting_ns"] > SLACK_NS:
                        self.count("phase %d" % cause["phase"], cause, row.cause)
                        self.factors("phase %d" % cause["phase"], cause, row.cause)

    def time(self, name, places, phase, part, is_whole, kind=None):
        """Page faults are time in the kernel, on a CPU."""
        is_wall = kind == "sleep"
        told = collections.Counter()
        for row in self.rows:
            if row.lies_in(places):
                told.update({rank["rank"]: rank["time_ns" if kind in ("sleep", "faults") else "computing_ns"] for rank in row.cause["by_rank"]})
                if part == "common":
                    more_ns = row.cause["kinds"].get("more-work", 0)
                    self.verdict.that("kind", more_ns <= 0.1 * (row.cause["waiting_ns"] + self.noise_ns) + SLACK_NS, row.cause["name"], "is the same work, but has", ms(more_ns), "more work")
        for rank, told_ns in told.items():
            true_ns = self.timers.parts[phase][rank][part][0 if is_wall else 1]
            period_ns = PERIOD_NS * (1 if self.is_quiet() else 2)  # the ring of samples overflows where the recorder gets no CPU
            margin_ns = 0.15 * true_ns + 4 * (true_ns * period_ns) ** 0.5 + SLACK_NS + self.open_ns()
            is_all = is_whole and (not is_wall or self.is_quiet())  # who wakes up late on a busy machine had no CPU
            holds = told_ns <= true_ns + margin_ns and (told_ns >= true_ns - margin_ns or not is_all)
            self.verdict.that("time", holds, name, "rank", rank, "is there for" if is_wall else "computes for", ms(told_ns), "but", ms(true_ns), "is true")

    def count(self, name, cause, row):
        """Executions of a row that is the planted loop alone, in the planted ratio."""
        if not self.is_planted_loop(cause, row):
            return
        counts = {rank["rank"]: rank["executions"] for rank in row["by_rank"]}
        late = cause["late"][0]
        for rank, n in counts.items():
            planted = cause["iterations"][rank] / cause["iterations"][late]
            seen = n / counts[late] if counts.get(late) else 0
            self.verdict.that("count", abs(planted - seen) <= 0.03 * max(planted, 0.01) + 0.01, name, "rank", rank, "runs it", "%.3f" % seen, "times as often as",
                              late, "but", "%.3f" % planted, "is true")

    def counts_show(self, work):
        return self.counted and (work["shape"] != "library" or self.truth["plan"].get("library_is_counted", True))

    def is_planted_loop(self, cause, row):
        """And nothing around it, which may be executed as often on all ranks."""
        innermost, shape = cause["places"][0], self.planted(cause)["shape"]
        is_known = self.counts_show(self.planted(cause)) and cause["iterations"] is not None and row["loop"] and shape != "repeat"
        return is_known and innermost["first"] <= row["line_first"] <= row["line_last"] <= innermost["last"]

    def factors(self, name, cause, row):
        """Of time, by the timers, or of a team's work, by the plan; of executions, by the plan; of what one costs, by both."""
        named, late = set(row["ranks"]), {rank["rank"] for rank in row["by_rank"] if rank["late"]}
        sides = named, set(range(self.report["ranks"])) - named - late  # who is late but has no more of it is on neither side
        true = {"time": self.true_factor(sides, {rank: self.time_of(cause, rank) for rank in range(self.report["ranks"])})}
        if self.is_planted_loop(cause, row):
            true["executions"] = self.true_factor(sides, dict(enumerate(cause["iterations"])))
            true["cost"] = true["time"] / true["executions"] if true["time"] and true["executions"] else None
        for factor in row["reason"]["factors"]:
            if factor["of"] in true and true[factor["of"]] and factor["mean"] and (factor["doubt"] is not None or factor["of"] == "executions"):
                off, room = abs(math.log(factor["mean"] / true[factor["of"]])), 0.03 if factor["of"] == "executions" else 0.15 + 1.5 * factor["doubt"]
                self.verdict.that("factor", off <= room, name, row["name"], "has %.2f x the %s (+- %.0f %%)" % (factor["mean"], factor["of"], 100 * (factor["doubt"] or 0)),
                                  "but %.2f x is true" % true[factor["of"]])

    def time_of(self, cause, rank):
        """In the planted place; of a team, whose threads may get more or fewer CPUs, what it is given to do."""
        if is_team(self.truth["plan"]["phases"][cause["phase"]]) and cause["iterations"]:
            return cause["iterations"][rank]
        return self.timers.parts[cause["phase"]][rank]["planted"][0 if cause["kind"] == "sleep" else 1]

    @staticmethod
    def true_factor(sides, of_rank):
        """None where the others have next to nothing of it, or nobody is there to compare with."""
        of_late, of_others = [[of_rank[rank] for rank in side] for side in sides]
        if not of_late or not of_others or sum(of_others) * 20 < sum(of_rank.values()):
            return None
        return (sum(of_late) / len(of_late)) / (sum(of_others) / len(of_others))

    def when(self, name, cause, due, row):
        """The program says from when to when its planted place was entered, on the clock that the run is told by."""
        acts, span_ns, duration_ns = self.timers.acts.get(cause["phase"]), self.timers.span_ns, self.report["duration_ns"]
        if not acts or not span_ns or due.noise_ns > 0.1 * due.ns:
            return
        parts = len(row["when_ns"])
        acting = [any(begin - span_ns[0] < (i + 2) * duration_ns / parts and end - span_ns[0] > (i - 1) * duration_ns / parts for _, begin, end in acts) for i in range(parts)]
        away_ns = sum(ns for ns, is_acting in zip(row["when_ns"], acting) if not is_acting)
        self.verdict.that("when", away_ns <= 0.1 * row["waiting_ns"] + due.noise_ns + SLACK_NS, name, "has", ms(away_ns), "of", ms(row["waiting_ns"]), "when it does not act")
        quarters = [any(acting[i * parts // 4:(i + 1) * parts // 4]) for i in range(4)]
        self.verdict.that("when", not row["throughout"] or all(quarters), name, "is said to act all through, but acts in quarters", quarters)
        every = self.planted(cause)["every"]
        self.verdict.that("when", row["every"] in (0, 1, every), name, "is said to act every", row["every"], "th time, but", every, "is true")
        self.verdict.that("when", not re.search("growing|shrinking|close together|once, for", row["when"] or "") or len(acts) < 3, name, "is said to act", row["when"])

    def top(self):
        places = [place for cause in self.truth["causes"] for place in cause["places"]]
        strangers = [row for row in self.rows if not row.lies_in(places)]
        false_ns, bound_ns = sum(row.program_ns for row in strangers), 0.1 * self.due_ns + self.noise_ns + 2 * SLACK_NS
        largest = max(strangers, key=lambda row: row.program_ns, default=None)
        self.verdict.that("false", false_ns <= bound_ns, ms(false_ns), "is blamed elsewhere, most on", largest and largest.cause["name"])
        matter = [item for item in self.matter() if item[0]["kind"] != "preempted"]
        if not matter:
            return
        # Planted causes of which noise leaves open how large they are may come first, or not.
        large_ns, phases = 0.6 * matter[0][1].ns, {cause["phase"] for cause, _, _ in matter}
        open_places = [place for cause, due in self.causes if cause["phase"] not in phases and due.ns + due.noise_ns > large_ns for place in cause["places"]]
        known = self.together([row for row in self.rows if not row.lies_in(open_places)])
        large = [cause for cause, due, _ in matter if due.ns > large_ns]
        self.verdict.that("top", any(known[0].lies_in(cause["places"]) for cause in large), "the first row is", known[0].cause["name"])
        rows = known[:len(matter)]
        self.verdict.that("first", all(any(row.lies_in(cause["places"]) for row in rows) for cause, _, _ in matter),
                          len(matter), "causes were planted, the first rows are", ", ".join(row.cause["name"] for row in rows))

    def sums(self):
        report = self.report
        for what, rest_ns in ("causes", report["machine"]["waiting_ns"]), ("sites", 0):
            total = sum(x["waiting_ns"] for x in report[what]) + rest_ns
            self.verdict.that("sums", total == report["waiting_ns"], what, "add up to", total, "of", report["waiting_ns"])
        for state in "compute_ns", "waiting_ns", "transfer_ns", "mpi_ns", "descheduled_ns", "blocked_ns":
            of_ranks = sum(rank[state] for rank in report["by_rank"])
            self.verdict.that("sums", abs(of_ranks - report["efficiency"][state]) <= 2 * report["ranks"], state, "of ranks add up to", of_ranks, "of",
                              report["efficiency"][state])
        self.verdict.that("sums", report["lost"] == 0 and report["unexplained_ns"] == 0, report["lost"], "lost", report["unexplained_ns"], "unexplained")
        for cause in report["causes"]:
            felt, kinds = sum(site["waiting_ns"] for site in cause["sites"]), sum(cause["kinds"].values())
            self.verdict.that("sums", felt == cause["waiting_ns"], cause["name"], "is felt for", felt, "of", cause["waiting_ns"])
            self.verdict.that("sums", abs(kinds - cause["waiting_ns"]) <= len(cause["kinds"]) + 1, cause["name"], "kinds", kinds, "of", cause["waiting_ns"])
        for site in report["sites"]:
            members = sum(c["instances"] for c in site["classes"])
            self.verdict.that("sums", members == site["instances"], "classes have", members, "of", site["instances"], site["call"])

    def sense(self):
        report, mean_ns = self.report, self.report["waiting_ns"] / self.report["ranks"]
        that = self.verdict.that
        that("sense", sum(c["if_balanced_ns"] for c in report["causes"]) <= mean_ns * 1.001 + 1000, "all gains together are more than the mean waiting")
        for cause in report["causes"]:
            name, ns = cause["name"], cause["waiting_ns"]
            that("sense", 0 <= cause["if_balanced_ns"] <= cause["if_gone_ns"] + 1, name, "gains", cause["if_balanced_ns"], "balanced,", cause["if_gone_ns"], "gone")
            in_it_ns = sum(rank["time_ns"] for rank in cause["by_rank"])
            that("sense", cause["if_gone_ns"] - cause["if_gone_descheduled_ns"] <= 1.05 * in_it_ns + SLACK_NS, name, "gains", ms(cause["if_gone_ns"]), "but takes", ms(in_it_ns))
            if ns > 0.5 * report["waiting_ns"] and mean_ns > 0.1 * report["duration_ns"]:
                that("sense", cause["if_gone_ns"] > 0.1 * ns / report["ranks"], name, "has", ms(ns), "of the waiting and gains", ms(cause["if_gone_ns"]))
            that("sense", cause["direct_ns"] <= ns, name, "directly", cause["direct_ns"], "of", ns)
            self.kind_makes_sense(cause)
        self.states_make_sense()

    def kind_makes_sense(self, cause):
        late = [rank for rank in cause["by_rank"] if rank["late"]]
        others = [rank for rank in cause["by_rank"] if not rank["late"]]
        n_waiting = max(1, self.report["ranks"] - 1)
        on_cpu = sum(ns for kind, ns in cause["kinds"].items() if kind in ("more-work", "slower", "more-time"))
        computing_ns = sum(rank["computing_ns"] for rank in late)
        if on_cpu > 4 * SLACK_NS and cause["file"] and cause["kind"] in ("more-work", "slower", "more-time"):
            self.verdict.that("levels", on_cpu <= 1.3 * computing_ns * n_waiting + SLACK_NS, cause["name"], cause["kind"], ms(on_cpu), "but computes for", ms(computing_ns))
        if cause["kind"] == "more-work" and on_cpu > 4 * SLACK_NS and others and late[0]["executions"] and not late[0]["instructions"]:
            self.verdict.that("sense", late[0]["executions"] > min(rank["executions"] for rank in others), cause["name"], "is more work with",
                              late[0]["executions"], "executions, others", [rank["executions"] for rank in others])

    def states_make_sense(self):
        """What steps say of a state, and causes of a kind, is the same in all."""
        self.verdict.that("sense", self.report["contradictions"] == 0, self.report["contradictions"], "causes are inferred and belied by their own gain")
        by_state = collections.Counter()
        for site in self.report["sites"]:
            for each in site["classes"]:
                for step in each["steps"]:
                    by_state[step["state"]] += step["blame_ns"]
        for state in "descheduled", "blocked":
            of_kind = self.report["machine"]["waiting_ns"] if state == "descheduled" else sum(cause["kinds"].get(state, 0) for cause in self.report["causes"])
            self.verdict.that("levels", abs(by_state[state] - of_kind) <= 0.02 * self.report["waiting_ns"] + SLACK_NS, state, "steps have", ms(by_state[state]),
                              "causes", ms(of_kind))

    def gains(self, without):
        """`without[phase]`: how much sooner the run ended, with the cause gone, and shared out (None: not tried)."""
        if not self.is_quiet():
            return
        for cause, due, rows in self.matter():
            rows = sorted(rows, key=lambda row: -row.ns(cause["kind"]))
            if cause["phase"] not in without or not rows or rows[0].ns(cause["kind"]) < 0.9 * sum(row.ns(cause["kind"]) for row in rows):
                continue
            for which, field, measured_ns in zip(("gone", "even"), ("if_gone_ns", "if_balanced_ns"), without[cause["phase"]]):
                if measured_ns is not None:
                    told_ns = rows[0].cause[field]
                    self.verdict.that(which, abs(told_ns - measured_ns) <= 0.1 * self.timers.run_ns + due.noise_ns / self.report["ranks"],
                                      "phase %d (%s)" % (cause["phase"], cause["kind"]), "gains", ms(told_ns), "but", ms(measured_ns), "of", ms(self.timers.run_ns), "is true")
