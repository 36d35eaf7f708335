#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Records each program and reads every export of the run with somebody else's reader.

    exports.py --whywait TOOL --mpirun MPIRUN [--notebook PYTHON SCRIPT] [--viewer NODE PACKAGE] -- PROGRAM...

CSV goes through Python's csv and is compared with the JSON report, value by value; the routine graph through Graphviz; folded stacks
through flamegraph.pl, where it is installed; callgrind's format through callgrind_annotate; trace events through the importer of chrome://tracing, where `bootstrap test` has fetched
it, and through Python's json, their fields against those that the Trace Event Format documents.
A program whose name ends in _counted was built to count.
"""
import argparse
import collections
import csv
import glob
import io
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile

RANKS = 3
faults = []


def expect(what, ok):
    if not ok:
        faults.append(what)


class Run:
    def __init__(self, arguments, program, folder):
        self.notebook, self.viewer = arguments.notebook, arguments.viewer
        self.tool, self.is_counted = arguments.whywait, program.endswith("_counted")
        environment = dict(os.environ, OMPI_ALLOW_RUN_AS_ROOT="1", OMPI_ALLOW_RUN_AS_ROOT_CONFIRM="1",
                           OMPI_MCA_rmaps_base_oversubscribe="1", OMPI_MCA_btl_vader_single_copy_mechanism="none",
                           OMPI_MCA_mpi_yield_when_idle="1")
        self.path = os.path.join(folder, os.path.basename(program) + ".whywait")
        subprocess.run([arguments.mpirun, "-n", str(RANKS), self.tool, "record", "-o", self.path, program], check=True, env=environment,
                       stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        self.report = json.loads(self.tool_output("report", "--all", "--format", "json", "--routines"))

    def tool_output(self, *words):
        return subprocess.run([self.tool, *words, self.path], check=True, capture_output=True, text=True).stdout

    def export(self, *words):
        return self.tool_output("export", "--format", *words)


def cell(value):
    """A value of the JSON report as it stands in a cell; None: it is no cell."""
    if isinstance(value, list):
        cells = [cell(item) for item in value]
        return " ".join(cells) if value and None not in cells else None
    if isinstance(value, dict):
        return None
    if isinstance(value, str) and value[:1] in ("=", "+", "-", "@"):
        return f"'{value}"  # no formula for a spreadsheet
    return {True: "true", False: "false", None: ""}[value] if value is None or isinstance(value, bool) else str(value)


def same_cell(text, value):
    if isinstance(value, float):
        return abs(float(text) - value) <= 1e-9 * max(1, abs(value))
    return text == cell(value)


def check_csv(run):
    report = run.report
    sites = report["sites"]
    tables = {"causes": report["causes"], "sites": sites, "ranks": report["by_rank"], "routines": report["routines"],
              "critical": report["critical_path"], "classes": [item for site in sites for item in site["classes"]],
              "steps": [item for site in sites for group in site["classes"] for item in group["steps"]],
              "causes.by_rank": [item for cause in report["causes"] for item in cause["by_rank"]], "efficiency": [report["efficiency"]]}
    for table, items in tables.items():
        rows = list(csv.DictReader(io.StringIO(run.export("csv", "--table", table))))
        expect(f"csv, {table}: {len(rows)} rows of {len(items)}", len(rows) == len(items) and rows)
        for row, item in zip(rows, items):
            wrong = [key for key, value in item.items() if cell(value) is not None and not same_cell(row.get(key, "?"), value)]
            expect(f"csv, {table}: {wrong} differ from the JSON report", not wrong)
            expect(f"csv, {table}: a row has too many cells", None not in row and None not in row.values())
    rows = list(csv.reader(io.StringIO(run.export("csv", "--table", "matrix"))))
    expect("csv, matrix: the sum is not all waiting", rows[0] == ["waiting", "late", "waiting_ns"] and
           abs(sum(int(row[2]) for row in rows[1:]) - report["waiting_ns"]) <= RANKS * RANKS)
    rows = list(csv.DictReader(io.StringIO(run.export("csv", "--table", "steps"))))
    expect("csv, steps: a row does not tell its site", {int(row["site"]) for row in rows} == {site["site"] for site in sites})
    several = subprocess.run([run.tool, "export", "--format", "csv", run.path, run.path], capture_output=True, text=True, check=True).stdout
    rows = list(csv.DictReader(io.StringIO(several)))
    expect("csv, two runs: rows do not tell their run, or are not those of each",
           len(rows) == 2 * len(report["causes"]) and {row["run"] for row in rows} == {run.path} and rows[0] == rows[len(rows) // 2])
    for table in ("nosuch", "causes.nosuch"):
        bad = subprocess.run([run.tool, "export", "--format", "csv", "--table", table, run.path], capture_output=True, text=True)
        expect(f"csv: a table {table} is not refused in one line", bad.returncode == 1 and bad.stderr.count("\n") == 1 and not bad.stdout)


def check_dot(run):
    routines = {item["routine"]: item for item in run.report["routines"]}
    for option in ((), ("--causing",)):
        text = run.export("dot", "--least", "0", *option)
        plain = subprocess.run(["dot", "-Tplain"], input=text, capture_output=True, text=True)
        expect(f"dot {option}: Graphviz says {plain.stderr}", plain.returncode == 0 and not plain.stderr)
        graph = json.loads(subprocess.run(["dot", "-Tdot_json"], input=text, capture_output=True, text=True).stdout)
        nodes = {item["_gvid"]: item["label"].split("(")[0] for item in graph["objects"] if "cluster" not in item["name"]}
        arcs = {(nodes[edge["tail"]], nodes[edge["head"]]) for edge in graph.get("edges", [])}
        expect(f"dot {option}: {sorted(arcs)} lacks the calls of work()", {("even", "work"), ("tree", "work")} <= arcs)
        boxes = [item for item in graph["objects"] if item["name"].startswith("cluster")]
        members = [{nodes[node] for node in box["nodes"]} for box in boxes]
        expect(f"dot {option}: cycles {members}", members == [{"even", "odd"}])
        if run.is_counted and not option:
            labels = {(nodes[edge["tail"]], nodes[edge["head"]]): edge["label"] for edge in graph["edges"]}
            for caller, calls in (("even", 180), ("tree", 900)):
                expect(f"dot: work() from {caller}() has {labels[caller, 'work']}",
                       labels[caller, "work"].endswith(f"{calls}/{routines['work']['calls']:,}"))


# What the Trace Event Format says of the phases that there may be: fields that an event must have, and may have.
PHASES = {"B": ({"name"}, {"cat", "args"}), "E": (set(), {"name", "cat", "args"}), "X": ({"name", "dur"}, {"cat", "args"}), "C": ({"name", "args"}, {"cat", "id"}),
          "s": ({"name", "cat", "id"}, {"args"}), "f": ({"name", "cat", "id"}, {"args", "bp"}), "M": ({"name", "args"}, {"cat"})}
METADATA = {"process_name": "name", "thread_name": "name", "process_labels": "labels", "process_sort_index": "sort_index", "thread_sort_index": "sort_index"}


def check_trace_events(trace, names):
    """Fields as the format's document has them, and times that stay in order for who computes with doubles."""
    expect(f"chrome: {set(trace)}", {"traceEvents"} <= set(trace) <= {"traceEvents", "displayTimeUnit", "otherData", "systemTraceEvents", "stackFrames", "samples", "metadata"}
           and trace.get("displayTimeUnit") in (None, "ms", "ns"))
    ends = {}
    for event in trace["traceEvents"]:
        phase = event.get("ph")
        must, may = PHASES.get(phase, (None, None))
        timed = {"pid", "tid"} | ({"ts"} if phase != "M" else set())
        fine = must is not None and must | timed <= set(event) <= must | may | timed | {"ph", "ts", "tts", "cname"} and \
            all(isinstance(event[key], int) for key in ("pid", "tid")) and isinstance(event.get("ts", 0), (int, float)) and event.get("ts", 0) >= 0 and \
            isinstance(event.get("args", {}), dict) and isinstance(event.get("name", ""), str) and isinstance(event.get("cat", ""), str) and \
            (phase != "M" or METADATA.get(event["name"]) in event["args"]) and event.get("bp", "e") == "e" and event.get("dur", 0) >= 0 and \
            (phase != "C" or all(isinstance(value, (int, float)) for value in event["args"].values()))
        expect(f"chrome: not as the format has it: {event}", fine)
        if phase in ("B", "X"):
            expect(f"chrome: a slice begins before the one before has ended: {event}", event["ts"] >= ends.get(event["tid"], 0))
            if phase == "X":
                ends[event["tid"]] = event["ts"] + event["dur"]
    processes, threads = ({key[0] for key in names if key[2] == what} for what in ("process_name", "thread_name"))
    expect(f"chrome: names of {processes} and {threads}", threads <= processes)


def check_chrome(run):
    """Python's json, and what Perfetto takes for granted: times rise, slices of a track lie in each other, arrows have two ends."""
    trace = json.loads(run.export("chrome"))
    events = [event for event in trace["traceEvents"] if event["ph"] != "M"]
    names = {(event["pid"], event["tid"], event["name"]): event["args"]["name"] for event in trace["traceEvents"] if event["ph"] == "M"}
    ns = lambda us: round(us * 1000)
    expect("chrome: times fall", all(a["ts"] <= b["ts"] for a, b in zip(events, events[1:])))
    expect("chrome: a track has no name", all((event["pid"], event["tid"], "thread_name") in names for event in events if event["ph"] in "XBE"))
    expect("chrome: a rank has no name", len([key for key in names if key[2] == "process_name"]) == RANKS + 1)

    check_trace_events(trace, names)

    # Two tracks a thread: what it did, cell by cell, and its calls.
    calls = {tid for (_, tid, what), name in names.items() if what == "thread_name" and name.endswith("calls")}
    open_slices, n_calls, cells = collections.defaultdict(list), 0, collections.defaultdict(list)
    for event in events:
        if event["ph"] == "B":
            expect("chrome: a cell within a cell", event["tid"] in calls or not open_slices[event["tid"]])
            open_slices[event["tid"]].append(event)
            n_calls += event["tid"] in calls
        elif event["ph"] == "E":
            expect("chrome: a slice ends that never began", open_slices[event["tid"]])
            begin = open_slices[event["tid"]].pop()
            # speedscope ends nothing whose name it has not been told again.
            expect(f"chrome: a slice {begin} ends as {event}", event.get("name") == begin["name"] or event.get("args", {}).get("unfinished"))
            if event["tid"] not in calls:
                cells[event["tid"]].append((ns(begin["ts"]), ns(event["ts"]), {**begin, "dur": event["ts"] - begin["ts"]}))
    expect(f"chrome: slices without end {dict(open_slices)}", not any(open_slices.values()))
    expect(f"chrome: {n_calls} calls, not {run.report['mpi_calls']}", n_calls == run.report["mpi_calls"])
    for track in cells.values():
        expect("chrome: slices of a track overlap", all(a[1] <= b[0] for a, b in zip(track, track[1:])))
    every = [event for track in cells.values() for _, _, event in track]
    waiting = sum(ns(event["dur"]) for event in every if event["cat"] == "waiting")
    expect(f"chrome: {waiting} ns of waiting, not {run.report['waiting_ns']}", waiting == run.report["waiting_ns"])
    parts = sum(part["us"] for event in every for part in event["args"]["parts"])
    expect("chrome: parts are not the whole", abs(parts - sum(event["dur"] for event in every)) < 1e-4 * parts)
    places = {cause["cause"]: {part["name"] for part in cause["parts"]} for cause in run.report["causes"]}
    acting = [(part["cause"], part["what"]) for event in every for part in event["args"]["parts"] if "cause" in part]
    expect("chrome: code of a cause that has no such part", acting and all(number in places for number, _ in acting) and
           any(what.split(", called ")[0] in places[number] and "work" in what for number, what in acting))

    begins = {event["id"]: event for event in events if event["ph"] == "s"}
    ends = {event["id"]: event for event in events if event["ph"] == "f"}
    expect(f"chrome: {len(begins)} arrows begin, {len(ends)} end", begins.keys() == ends.keys() and begins)
    waits = [event for event in every if event["cat"] == "waiting"]
    expect(f"chrome: {len(begins)} arrows for {len(waits)} waits", 0.9 * len(waits) <= len(begins) <= len(waits))
    for arrow in (*begins.values(), *ends.values()):
        at = ns(arrow["ts"])
        around = [event for begin, end, event in cells[arrow["tid"]] if begin <= at < end]
        expect("chrome: an arrow's end lies in no slice", len(around) == 1)
        expect("chrome: an arrow does not end in a wait", arrow["ph"] == "s" or around[0]["cat"] == "waiting")
    expect("chrome: an arrow goes back in time", all(begins[number]["ts"] <= ends[number]["ts"] for number in ends))
    expect("chrome: an arrow within one rank", all(begins[number]["pid"] != ends[number]["pid"] for number in ends))
    counters = {event["name"] for event in events if event["ph"] == "C"}
    expect(f"chrome: no counter of cause 1 among {counters}", any(name.startswith("1 ") for name in counters))
    expect("chrome: more ranks in a cause than there are", all(0 <= event["args"]["ranks"] <= RANKS + 1e-3 for event in events if event["ph"] == "C"))


def check_viewer(run):
    """What chrome://tracing's own importer makes of it: the same calls, waits, arrows and counters, and nothing that it complains about."""
    if not run.viewer or not os.path.isdir(run.viewer[1]):
        print("no importer of chrome://tracing (bootstrap test fetches it where there is npm): not tried")
        return
    path = run.path + ".json"
    subprocess.run([run.tool, "export", "--format", "chrome", "-o", path, run.path], check=True)
    script = os.path.join(os.path.dirname(os.path.abspath(__file__)), "viewer.cjs")
    done = subprocess.run([run.viewer[0], script, run.viewer[1], path], capture_output=True, text=True)
    expect(f"viewer: {done.stderr}", done.returncode == 0)
    if done.returncode:
        return
    model, report = json.loads(done.stdout), run.report
    # Of the clock it knows only what Chrome says of Windows' clocks.
    warnings = [warning for warning in model["warnings"] if warning["type"] != "low_resolution_timer"]
    expect(f"viewer: it warns of {warnings[:3]}", not warnings)
    ranks = [process for process in model["processes"] if process["name"].startswith("rank ")]
    threads = [thread for process in ranks for thread in process["threads"]]
    expect(f"viewer: {len(ranks)} ranks with {[thread['name'] for thread in threads]}", len(ranks) == RANKS and
           sorted(thread["name"] for thread in threads) == ["calls"] * RANKS + ["what it did"] * RANKS)
    calls = [item for thread in threads if thread["name"] == "calls" for item in thread["slices"]]
    cells = [item for thread in threads if thread["name"] == "what it did" for item in thread["slices"]]
    expect(f"viewer: {len(calls)} calls, not {report['mpi_calls']}", len(calls) == report["mpi_calls"])
    expect("viewer: slices without end, or cells within cells", not any(item["is_unfinished"] for item in calls + cells) and not any(item["depth"] for item in cells))
    waits = [item for item in cells if item["category"] == "waiting"]
    waited = sum(item["duration_ms"] for item in waits)
    expect(f"viewer: {waited} ms of waiting, not {report['waiting_ns'] / 1e6}", abs(waited - report["waiting_ns"] / 1e6) < 1e-6 * waited + 1e-3)
    whole = max(item["start_ms"] + item["duration_ms"] for item in cells)
    expect(f"viewer: the run ends at {whole} ms", abs(whole - report["duration_ns"] / 1e6) < 1e-3)
    ends = sum(item["ends_flows"] for item in waits)
    expect(f"viewer: {model['flows']} arrows, {ends} of them to waits", 0.9 * len(waits) <= ends == model["flows"])
    names = [counter["name"] for process in model["processes"] for counter in process["counters"]]
    expect(f"viewer: counters {names}", any(name.split(".")[-1].startswith("1 ") or name.startswith("1 ") for name in names))


def flamegraph():
    """Brendan Gregg's script, as Debian has it; None where it is not installed."""
    return next(iter(glob.glob("/usr/share/perl5/Devel/NYTProf/flamegraph.pl")), None)


def check_folded(run):
    text = run.export("folded")
    lines = [re.fullmatch(r"([^;]+(?:;[^;]+)*) ([1-9]\d*)", line) for line in text.splitlines()]
    expect(f"folded: not a line of folded stacks: {text}", lines and all(lines))
    stacks = {line[1]: int(line[2]) for line in lines if line}
    expect("folded: a stack comes twice", len(stacks) == len(lines))
    expect(f"folded: {sum(stacks.values())} us in all", abs(sum(stacks.values()) - run.report["waiting_ns"] / 1000) <= 1)
    paths = [stack.split(";") for stack in stacks]
    expect(f"folded: {list(stacks)} lacks the way to the cause",
           any(path[:2] == ["main", "even"] and "work" in path and path[-1].startswith("loop program.c:") for path in paths))
    if flamegraph():
        drawn = subprocess.run(["perl", flamegraph(), "--countname", "us", "--minwidth", "0"], input=text, capture_output=True, text=True)
        total = re.search(r"<title>all \(([\d,]+) us, 100%\)", drawn.stdout)
        expect(f"folded: flamegraph.pl: {drawn.stderr} {total}", not drawn.returncode and not drawn.stderr and total and
               int(total[1].replace(",", "")) == sum(stacks.values()))


def check_causing(run):
    """What the machine causes falls to no routine, and stands apart in folded stacks."""
    waiting, machine = run.report["waiting_ns"], run.report["machine"]["waiting_ns"]
    routines = json.loads(run.tool_output("report", "--routines", "--causing", "--format", "json"))["routines"]
    caused = sum(item["self_ns"] for item in routines)
    expect(f"causing: {caused} ns of routines, {machine} ns of the machine, {waiting} ns in all", 0 < caused <= waiting - machine + 1000)
    apart = sum(int(line.rsplit(" ", 1)[1]) for line in run.export("folded").splitlines() if "without a CPU in" in line)
    expect(f"folded: {apart} us without a CPU, {machine} ns are the machine's", abs(apart - machine / 1000) <= 1 + run.export("folded").count("\n"))


def annotated(path, *options):
    """callgrind_annotate's functions: name -> (Time, Blame, Executions); its totals under '', the sum of its rows under '+'."""
    text = subprocess.run(["callgrind_annotate", "--threshold=100", "--auto=no", "--show-percs=no", *options, path], check=True,
                          capture_output=True, text=True).stdout
    rows = re.findall(r"^ *([\d,.]+) +([\d,.]+) +([\d,.]+) +(?:\S*:)?(\S.*?)(?: \[.*\])?$", text, re.M)
    values = [(name, tuple(0 if n == "." else int(n.replace(",", "")) for n in costs)) for *costs, name in rows]
    found = {"" if name == "PROGRAM TOTALS" else name: costs for name, costs in values}
    found["+"] = tuple(sum(costs[k] for name, costs in values if name != "PROGRAM TOTALS") for k in range(3))
    return found


def check_callgrind(run):
    path = run.path + ".callgrind"
    subprocess.run([run.tool, "export", "--format", "callgrind", "-o", path, run.path], check=True)
    routines = {item["routine"]: item for item in run.report["routines"]}
    own, below = annotated(path), annotated(path, "--inclusive=yes")
    expect(f"callgrind: totals {own['']}", own[""][1] == run.report["waiting_ns"] or abs(own[""][1] - run.report["waiting_ns"]) < 100)
    expect(f"callgrind: time {own['']}", abs(own[""][0] - sum(item["self_ns"] for item in routines.values())) < 100)
    expect(f"callgrind: functions sum to {own['+']}, the whole is {own['']}", own["+"] == own[""])
    for name in ("work", "MPI_Barrier", "MPI_Recv"):
        expect(f"callgrind: {name} {own.get(name)}", abs(own[name][0] - routines[name]["self_ns"]) < 10)
    expect(f"callgrind: main {below['main']}", below["main"][0] == own[""][0])
    text = open(path).read()
    expect("callgrind: a name of the program is not there", re.search(r"^fl=/.*program\.c$", text, re.M))
    if run.is_counted:
        expect("callgrind: even() calls work() 180 times", re.search(r"fn=even\n(?:[^\n]+\n)*?cfn=work\ncalls=180 0\n", text))
        executed = sum(int(line.split(",")[1]) for line in run.export("lcov").splitlines() if line.startswith("DA:"))
        expect(f"callgrind: {own[''][2]} executions, lcov has {executed}", own[""][2] == executed > 0)
    else:
        expect("callgrind: executions of a program that does not count", own[""][2] == 0)


def check_graph(run):
    """Not an export, but the graph that `dot` draws as gprof's readers know it."""
    def report(*words):
        return run.tool_output("report", "--width", "200", "--routines", *words)

    def entry(text, name):
        """The lines of an entry: callers, own, callees, blanks squeezed."""
        for block in text.split("\n\n"):
            lines = [" ".join(line.split()) for line in block.splitlines()]
            own = [i for i, line in enumerate(lines) if re.match(r"\[\d+\] ", line) and re.search(rf" (\d\S* )?{re.escape(name)}( |$)", line)]
            if own:
                return lines[:own[0]], lines[own[0]], lines[own[0] + 1:]
        expect(f"graph: no entry of {name} in\n{text}", False)
        return [], "", []

    text = report("--graph", "--top", "0")
    above, own, below = entry(text, "<cycle 1 as a whole>")
    expect(f"graph: members of the cycle {below}", {line.split("()")[0].split()[-1] for line in below} == {"even", "odd"})
    expect(f"graph: callers of the cycle {above}", len(above) == 1 and "main()" in above[0])
    above, own, below = entry(text, "work()")
    expect(f"graph: callers of work() {above}", {"main()", "even()", "tree()"} <= {word for line in above for word in line.split()})
    if run.is_counted:
        expect(f"graph: {own}", " 1,320 work()" in own)
        expect(f"graph: {above}", any(" 900/1,320 tree()" in line for line in above) and any(" 180/1,320 even()" in line for line in above))
        expect("graph: self recursion of tree()", " 60+420 tree()" in entry(text, "tree()")[1])
        expect("graph: calls of the cycle", " 60+300 <cycle 1" in entry(text, "<cycle 1 as a whole>")[1])
        expect("graph: never() is not told as never called", "\nnever called: never() program.c:" in text)
        expect("graph: --routine never", "never called" in run.tool_output("report", "--routine", "never"))
        expect("graph: uncalled_routines", [item["routine"] for item in run.report["uncalled_routines"]] == ["never"])
    else:
        bad = subprocess.run([run.tool, "report", "--routine", "never", run.path], capture_output=True, text=True)
        expect("graph: who calls never() nobody knows without counts", bad.returncode == 1 and "was seen" in bad.stderr)

    def names(*words):
        """Routines of the list, in its order."""
        table = report("--top", "0", *words).split("\n\n")[1].splitlines()[1:]
        return [line.split()[0] for line in table if " x mean" in line]

    totals = {item["routine"]: item for item in run.report["routines"]}
    plain = lambda found: [name.removesuffix("()") for name in found]
    by_self = [totals[name]["self_ns"] for name in plain(names("--sort", "self"))]
    expect(f"graph: --sort self {by_self}", by_self == sorted(by_self, reverse=True) and by_self)
    expect("graph: --sort name", plain(names("--sort", "name")) == sorted(plain(names())))
    expect("graph: --match MPI_", set(names("--match", "MPI_")) == {name for name in names() if name.startswith("MPI_")})
    expect(f"graph: --descendants tree {names('--descendants', 'tree')}", {"tree()", "work()"} == set(names("--descendants", "tree")))
    up = set(names("--ancestors", "work"))
    expect(f"graph: --ancestors work {up}", {"work()", "tree()", "even()", "main()"} <= up and not any("MPI" in name for name in up))


def check_annotate(run):
    """The annotated source beside the same numbers elsewhere."""
    source = os.path.join(os.path.dirname(os.path.abspath(__file__)), "program.c")
    lines = {number: text for number, text in enumerate(open(source), 1)}
    at = {name: next(number for number, text in lines.items() if mark in text) for name, mark in (
        ("loop", "for (; n > 0; n--)"), ("body", "1664525u"), ("steps", "for (int i = 0; i < STEPS"), ("barrier", "MPI_Barrier"), ("never", "return work(seed, 1)"))}

    def shown(*words):
        text = subprocess.run([run.tool, "annotate", "--width", "200", *words, run.path], check=True, capture_output=True, text=True).stdout
        titles = next(line for line in text.splitlines() if line.endswith(" line"))
        end = titles.index(" line") + 5
        return titles, {int(line[:end].split()[-1]): (line[:end].split()[:-1], line[end + 2:], line[:end]) for line in text.splitlines()
                        if line[:end].split() and line[:end].split()[-1].isdigit() and "/program.c" not in line}

    titles, found = shown(f"program.c:{at['loop'] - 2}-{at['never']}")
    expect("annotate: other lines than asked for", sorted(found) == list(range(at["loop"] - 2, at["never"] + 1)))
    expect(f"annotate: titles {titles}", ("runs min" in titles and "ways %" in titles) == run.is_counted and "time" in titles)
    margin, text, _ = found[at["body"]]
    expect(f"annotate: the loop has no bracket: {text}", found[at["loop"]][1].lstrip().startswith("/") and text.lstrip().startswith("\\"))
    self_ns = {item["routine"]: item["self_ns"] for item in run.report["routines"]}["work"]
    # Nearly all is the body's, but a sample may hit any line of the routine.
    units = {"ns": 1, "us": 1e3, "ms": 1e6, "s": 1e9}
    right = titles.index("time") + len("time")
    cells = [found[number][2][:right].split() for number in range(at["loop"] - 1, at["body"] + 3) if found[number][2][right - 1:right + 1].strip()]
    told_ns = sum(float(words[-2]) * units[words[-1]] for words in cells if words[-1] in units)
    expect(f"annotate: {told_ns} ns in work(), not {self_ns}", abs(told_ns - self_ns) < 0.02 * self_ns)
    if run.is_counted:
        expect(f"annotate: executions of work() {margin}", margin[-3:] == ["12.0M", "43.0M", "105M"])
        expect(f"annotate: never() {found[at['never']]}", found[at["never"]][0] == ["0"])
        expect(f"annotate: ways {found[at['loop']]}", found[at["loop"]][0][-1] == "100/0")
    titles, found = shown()
    blamed = {part["line_first"] for cause in run.report["causes"] for part in cause["parts"]
              if part["own_ns"] > 0.02 * run.report["waiting_ns"] and (part["file"] or "").endswith("/program.c")}
    waited = {site["line"] for site in run.report["sites"] if site["waiting_ns"] > 0.02 * run.report["waiting_ns"]}
    expect(f"annotate: {sorted((blamed | waited) - set(found))} are not shown", blamed | waited <= set(found) and waited)
    lines_first, run_first = (subprocess.run([run.tool, "annotate", *words], capture_output=True, text=True)
                              for words in (("program.c:1-3", run.path), (run.path, "program.c:1-3")))
    expect(f"annotate: lines behind the run: {run_first}", run_first.returncode == 0 and run_first.stdout == lines_first.stdout)
    bad = subprocess.run([run.tool, "annotate", "nosuch.c:1-3", run.path], capture_output=True, text=True)
    expect(f"annotate: {bad}", bad.returncode == 1 and "nosuch.c" in bad.stdout + bad.stderr)


def check_notebook(run):
    """The page of Python in docs/notebook: three pictures, and sums that are the report's."""
    if not run.notebook:
        print("no Python with pandas and matplotlib: the notebook is not tried")
        return
    folder = run.path + ".notebook"
    os.mkdir(folder)
    with open(os.path.join(folder, "run.json"), "w") as out:
        json.dump(run.report, out)
    done = subprocess.run([*run.notebook, os.path.join(folder, "run.json"), folder], capture_output=True, text=True)
    expect(f"notebook: {done.stderr}", done.returncode == 0 and not done.stderr)
    for name in ("causes", "time", "ranks"):
        path = os.path.join(folder, name + ".png")
        expect(f"notebook: no {name}.png", os.path.isfile(path) and open(path, "rb").read(8) == b"\x89PNG\r\n\x1a\n" and os.path.getsize(path) > 5000)
    sums = re.search(r"waiting in all: ([\d.]+) s; causes ([\d.]+) s, the machine ([\d.]+) s; by rank ([\d.]+) s", done.stdout)
    expect(f"notebook: {done.stdout}", sums and all(abs(found - run.report["waiting_ns"] / 1e9) < 0.003 for found in (
        float(sums[1]), float(sums[2]) + float(sums[3]), float(sums[4]))))


def check_several(run):
    """One run twice: twice its counts and times."""
    def export(*words):
        return subprocess.run([run.tool, "export", "--format", *words, run.path, run.path], capture_output=True, text=True)

    path = run.path + ".twice.callgrind"
    with open(path, "w") as out:
        out.write(export("callgrind").stdout)
    once = {line.split()[0]: line.split()[1:] for line in run.export("callgrind").splitlines() if line.startswith("totals:")}
    twice = annotated(path)
    expect(f"several, callgrind: {twice['']} of two runs, {once} of one",
           all(abs(both - 2 * int(one)) < 1e-6 * both + 200 for both, one in zip(twice[""], once["totals:"])) and twice[""][0] > 0)
    if run.is_counted:
        expect("several, callgrind: even() calls work() 360 times in two runs", re.search(r"fn=even\n(?:[^\n]+\n)*?cfn=work\ncalls=360 0\n", open(path).read()))
        graph = json.loads(subprocess.run(["dot", "-Tdot_json"], input=export("dot", "--least", "0").stdout, capture_output=True, text=True).stdout)
        nodes = {item["_gvid"]: item["label"].split("(")[0] for item in graph["objects"] if "cluster" not in item["name"]}
        labels = {(nodes[edge["tail"]], nodes[edge["head"]]): edge["label"] for edge in graph["edges"]}
        expect(f"several, dot: {labels.get(('tree', 'work'))}", labels.get(("tree", "work"), "").endswith("1,800/2,640"))
        expect(f"several, dot: {sorted(nodes.values())}", len(set(nodes.values())) == len(nodes))
    for name in ("chrome", "otf2"):
        done = export(name)
        expect(f"several, {name}: {done.stderr}", done.returncode == 1 and done.stderr.count("\n") == 1 and "one run" in done.stderr and not done.stdout)


def check_otf2(run):
    anchor = run.export("otf2").strip()
    expect(f"otf2: {anchor} is no file", os.path.isfile(anchor))


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--whywait", required=True)
    parser.add_argument("--mpirun", required=True)
    parser.add_argument("--notebook", nargs=2, metavar=("PYTHON", "SCRIPT"))
    parser.add_argument("--viewer", nargs=2, metavar=("NODE", "PACKAGE"))
    parser.add_argument("programs", nargs="+")
    arguments = parser.parse_args()
    folder = tempfile.mkdtemp(prefix="whywait-exports.")
    try:
        for program in arguments.programs:
            run = Run(arguments, program, folder)
            for check in (check_csv, check_dot, check_chrome, check_viewer, check_folded, check_causing, check_callgrind, check_several, check_graph, check_annotate, check_notebook, check_otf2):
                check(run)
            faults[:] = [text if text.startswith("- ") else f"- {os.path.basename(program)}: {text}" for text in faults]
    finally:
        shutil.rmtree(folder)
    print("\n".join(faults[:40]))
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
