#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Makes pages of the runs that tests of known causes have kept (../known), and looks at them in a browser without a window.

    page.py --whywait TOOL --mpirun MPIRUN --runs KEPT [--axe FILE] [--counted PROGRAM SOURCE] [--bare PROGRAM SOURCE] [--threads CALLING NOT_CALLING] [--many GENERATE] PROGRAM SOURCE [PROGRAM SOURCE ...]

Of each program: the page carries the JSON report byte for byte, asks nobody for anything, has nothing to say on the console; what
stands in it are the report's numbers; and each view shows the known cause, which the head of the source tells (`ranks:`, `loop=`,
`rank=`, `call=`; see ../known/known). Of the first also: moving in time by mouse, wheel, touch and keys, addresses, search, links,
narrow windows, print, and a comparison of two runs. Of a counted program (branches) executions and ways beside its lines; of a bare one
(no_debug), which has no lines, the loops of its machine code; with the generator of archives a thousand ranks. With --axe nothing of that, but the checks of axe-core (which `bootstrap test`
fetches), in light and dark, wide and narrow. Ends with 77 where there is no browser, or no axe-core.
"""
import argparse
import base64
import glob
import json
import math
import os
import re
import shutil
import subprocess
import sys
import tempfile
import zlib
from decimal import ROUND_HALF_UP, Decimal

from browser import Browser, programs

SKIPPED = 77
faults = []


def expect(what, ok, *seen):
    if not ok:
        faults.append(what)
        print("FAILED:", what, *seen)


def duration(ns, digits=3):
    """As analyze/out/amount.c: whole nanoseconds, halves away from zero."""
    whole = Decimal(ns).quantize(1, ROUND_HALF_UP)
    size = abs(whole)
    if size < 1:
        return "0 s"
    unit, scale = next((unit, scale) for limit, unit, scale in ((1e3, "ns", 0), (999.5e3, "us", 3), (999.5e6, "ms", 6), (math.inf, "s", 9)) if size < limit)
    for after in range(min(digits - 1, scale), -1, -1):
        value = whole.scaleb(-scale).quantize(Decimal(1).scaleb(-after), ROUND_HALF_UP)
        if after == 0 or abs(value) < 10 ** (digits - after):
            return f"{value} {unit}"


def share(part):
    percent = 100 * part
    return "0 %" if not percent > 0 else "<0.1 %" if percent < 0.05 else f"{percent:.{1 if percent < 9.95 else 0}f} %"


def calls_with_waits(n, with_waits):
    return "the only call with waits" if with_waits == 1 else "both calls with waits" if n == with_waits == 2 else f"all {with_waits:,} calls with waits" if n == with_waits else f"{n:,} of {with_waits:,} calls with waits"


class Known:
    """What the head of a source says must be found."""

    def __init__(self, source):
        text = open(source).read()
        self.path, self.source = source, os.path.basename(source)
        self.ranks = int(re.search(r"ranks: (\d+)", text)[1])
        self.loop, self.rank = re.search(r"loop=(\w+)", text)[1], int(re.search(r"\brank=(\d+)", text)[1])
        self.calls = re.search(r"call=([\w|]+)", text)[1].split("|")
        lines = text.splitlines()
        self.first = next(i for i, line in enumerate(lines, 1) if f"begin {self.loop} " in line)
        self.last = next(i for i, line in enumerate(lines, 1) if f"end {self.loop} " in line)

    def cause(self, report):
        """Of the causes in that place and of that rank the first."""
        return next((cause for cause in report["causes"] if os.path.basename(cause["file"] or "") == self.source and
                     self.first <= cause["line_first"] <= self.last and self.rank in cause["ranks"]), None)


def kept(arguments, program, folder):
    """A copy of the run that the test of that program has kept: pages are made beside it, and its files moved."""
    run, = glob.glob(os.path.join(arguments.runs, os.path.basename(program), "*.whywait"))
    return shutil.copytree(run, os.path.join(folder, os.path.basename(run)), symlinks=True)


class Run:
    def __init__(self, arguments, known, path):
        self.tool, self.known, self.path = arguments.whywait, known, path
        self.json = self.output("report", "--format", "json", path)
        self.report = json.loads(self.json)
        self.cause = known.cause(self.report)

    def output(self, *words):
        return subprocess.run([self.tool, *words], check=True, capture_output=True, text=True).stdout

    def page(self, *others):
        file = self.path + ".html"
        self.output("html", "-o", file, self.path, *others)
        return file


def data_of(page):
    """What a page carries, by name."""
    text = open(page).read()
    return {name: zlib.decompress(base64.b64decode(data)).decode(errors="replace")
            for name, data in re.findall(r'<script type="application/octet-stream" id="([\w-]+)">([^<]*)</script>', text) if not name.startswith("cells")}


def check_quiet(browser, name):
    expect(f"{name}: nothing on the console", not (said := browser.problems()), said)
    expect(f"{name}: nobody is asked for anything", not (asked := browser.requests()), asked)


def text_of(browser, selector):
    return browser.run("return [...document.querySelectorAll(arguments[0])].map((node) => node.textContent.trim())", selector)


def plural(n, word):
    return f"{n:,} {word}{'' if n == 1 else 's'}"


def check_source_numbers(browser, name, report):
    """Beside the lines that are shown: what is caused there, and what is waited there."""
    caused, waited = {}, {}
    for cause in report["causes"]:
        for part in cause["parts"]:
            if part["file"] and part["line_first"] and part["own_ns"] > 0:
                caused.setdefault((os.path.basename(part["file"]), part["line_first"]), []).append(f"{cause['cause']} {duration(part['own_ns'])}")
    for site in report["sites"]:
        if site["file"] and site["line"]:
            at = (os.path.basename(site["file"]), site["line"])
            waited[at] = waited.get(at, 0) + site["waiting_ns"]
    shown = browser.run("""return [...document.querySelectorAll('table.code tr[id]')].map((row) => [row.id, [...row.cells[0].querySelectorAll('div')].map((div) => div.textContent),
                                                                                          row.cells[1].textContent])""")
    for line, causes, waiting in shown:
        _, file, number = line.split("-", 1)[0], *line.split("-", 1)[1].rsplit("-", 1)
        at = (file, int(number))
        expect(f"{name}: what {at} causes", causes == caused.get(at, []), causes, caused.get(at))
        expect(f"{name}: what is waited at {at}", waiting == (duration(waited[at]) if at in waited else ""), waiting, waited.get(at))
    expect(f"{name}: numbers beside the source", shown)


def check_waiting_over_time(browser, name, report):
    """Over the run each cause has what it has in all, and the most that is told is that of all causes together."""
    for cause in report["causes"]:
        expect(f"{name}: cause {cause['cause']} over the run", sum(cause["when_ns"]) == cause["waiting_ns"], cause["when_ns"], cause["waiting_ns"])
    sums = [sum(parts) for parts in zip(*(cause["when_ns"] for cause in report["causes"]))]
    words = text_of(browser, "#time .words")
    expect(f"{name}: the most at a time", words and f": {duration(max(sums))}, of all ranks together." in words[0], words, max(sums))
    titles = browser.run("return [...document.querySelectorAll(`#time svg[aria-label='Waiting by cause over the run'] title`)].map((title) => title.textContent)")
    for cause in report["causes"][:1]:
        told = [title for title in titles if title.startswith(f"cause {cause['cause']}: ")]
        expect(f"{name}: its bars", told == [f"cause {cause['cause']}: {cause['name']}, {duration(ns)}" for ns in cause["when_ns"] if ns > 0], told, cause["when_ns"])


def check_numbers(browser, name, run):
    """What stands on the page, and what the text report prints or the JSON has."""
    report, text = run.report, run.output("report", "--top", "0", "--width", "400", run.path)
    browser.run("[...document.querySelectorAll('p.rest button')].forEach((more) => more.click())")
    head = [piece for piece in re.split(r" {2,}", text.splitlines()[1].strip()) if piece]
    expect(f"{name}: the head line", text_of(browser, "#head > *") == head, text_of(browser, "#head > *"), head)
    factors = re.findall(r"\d\.\d\d", next(line for line in text.splitlines() if line.startswith("parallel efficiency")))
    expect(f"{name}: the efficiency", text_of(browser, ".factor .value") == factors)
    for cause in report["causes"]:
        expect(f"{name}: the text report has cause {cause['cause']}", any(line.startswith(f"{cause['cause']} {cause['name']}  ") for line in text.splitlines()))
        figures = [duration(cause["waiting_ns"]), share(cause["share"]), cause["gain_text"], cause["gain_share_text"]]
        expect(f"{name}: the text report has the gain of cause {cause['cause']}", any(
            line.startswith(f"{cause['cause']} {cause['name']}  ") and f"  {cause['gain_text']}" in line for line in text.splitlines()))
        item = f"#cause-{cause['cause']}"
        expect(f"{name}: the figures of cause {cause['cause']}", text_of(browser, f"{item} .figure") == figures, text_of(browser, f"{item} .figure"), figures)
        expect(f"{name}: why, and what to do about cause {cause['cause']}", all(cause[key] is None or cause[key] in text_of(browser, item)[0]
                                                                               for key in ("name", "explanation", "when")) and
               re.split("--", re.sub(r"`whywait report --cause \d+`", "Classes below", cause["next"]))[0] in text_of(browser, item)[0])
    told = text_of(browser, "#causes .figures")
    wanted = [f"{calls_with_waits(site['instances_blamed'], site['calls'])}" for cause in report["causes"] for site in cause["sites"][:3]]
    expect(f"{name}: of the calls with waits, those for each cause", len(told) == len(wanted) and all(want in text for want, text in zip(wanted, told)), told, wanted)
    gains = sum(bool(cause["gain_share_text"]) for cause in report["causes"])
    expect(f"{name}: gains are not to be added up", any("do not add up" in text for text in text_of(browser, ".hint")) == (gains > 1), gains)
    choices = text_of(browser, "option")
    expect(f"{name}: one word for a rank without a CPU", "no CPU" in choices and "descheduled" not in choices, choices)
    rows = browser.run("return [...document.querySelectorAll('table.ranks tbody tr')].map((row) => [...row.cells].map((cell) => cell.textContent))")
    for rank, row in zip(report["by_rank"], rows):
        times = [duration(rank[key]) for key in ("compute_ns", "waiting_ns", "caused_ns")]
        expect(f"{name}: rank {rank['rank']}'s row", row[0] == f"rank {rank['rank']}" and row[2:5] == times, row, times)
    expect(f"{name}: a row for each rank", len(rows) == report["ranks"])
    matrix = browser.run("return [...document.querySelectorAll('table.matrix tbody tr')].map((row) => [...row.cells].slice(1).map((cell) => cell.textContent))")
    expect(f"{name}: who waits for whom", all(matrix[waiting][late] == duration(ns) for waiting, late, ns in report["who_waits_for_whom"]["pairs"]))
    for site in report["sites"]:
        expect(f"{name}: site {site['site']} says why it waits", f"{site['wait']}: {site['wait_text']}" in text_of(browser, f"#site-{site['site']} .hint"))
        heading = text_of(browser, f"#site-{site['site']} h3")
        expect(f"{name}: site {site['site']}", heading and site["call"] in heading[0] and duration(site["waiting_ns"]) in heading[0], heading)
        classes = [f"class {c['number']} {plural(c['instances'], 'call')}, {duration(c['waiting_ns'])}" for c in site["classes"][:12]]
        expect(f"{name}: classes of site {site['site']}", text_of(browser, f"#site-{site['site']} .class h4") == classes, classes)
    if report["machine"]["share"] >= 0.0005:
        expect(f"{name}: the machine", f"Others waited {duration(report['machine']['waiting_ns'])} for that" in text_of(browser, "#machine")[0] and
               (report["machine"]["next"] or "") in text_of(browser, "#machine")[0])
    check_source_numbers(browser, name, report)
    check_waiting_over_time(browser, name, report)
    sums = browser.run("""const {t} = whywait.timelines[0], sums = {};
        t.rows.forEach((row, i) => sums[row.rank] = (sums[row.rank] || 0) + whywait.addSums(t, i, 0, t.durationNs, new Float64Array(32))[whywait.PAINT.waiting]);
        return sums""")
    for rank in report["by_rank"]:
        waited = sums[str(rank["rank"])]
        expect(f"{name}: the timeline's waiting of rank {rank['rank']}", abs(waited - rank["waiting_ns"]) <= 1e-3 * rank["waiting_ns"] + 1e4, waited, rank["waiting_ns"])


def check_rounding(browser):
    """The page rounds as the text report does, halves too: whatever the number, there is one text for it."""
    sizes = [*range(1, 1000), *(n * 10 ** k + d for k in range(0, 10) for n in (3625, 3635, 9995, 9994, 33350, 99950, 999500, 125, 1005) for d in (-1, 0, 1))]
    for digits in (3, 2):
        seen = browser.run("return arguments[0].map((ns) => whywait.duration(ns, arguments[1]))", sizes, digits)
        wrong = [(ns, text, duration(ns, digits)) for ns, text in zip(sizes, seen) if text != duration(ns, digits)]
        expect(f"the page rounds to {digits} digits as the report does", not wrong, wrong[:5])


def check_views(browser, name, run, page):
    """The known cause, once it is chosen, in each of them."""
    known, cause = run.known, run.cause
    number = cause["cause"]
    browser.open(page, f"#answer&cause={number}")
    chosen = text_of(browser, "li.cause.is-chosen")
    expect(f"{name}: the answer shows it", len(chosen) == 1 and cause["name"] in chosen[0], chosen)
    lit = browser.run("""const view = whywait.timelines[0], ink = new Set(view.tiles[view.lit]);
        return [view.pixels.reduce((n, pixel) => n + ink.has(pixel), 0), view.t.kinds.filter((kind) => kind.cause === arguments[0] - 1).length]""", number)
    expect(f"{name}: the timeline shows it", lit[0] > 0 and lit[1] > 0, lit)
    waits = browser.run("""const view = whywait.timelines[0], {t} = view, sums = new Float64Array(32), ink = new Set(view.tiles[whywait.PAINT.caused]);
        t.rows.forEach((row, i) => whywait.addSums(t, i, 0, t.durationNs, sums));
        return [view.pixels.reduce((n, pixel) => n + ink.has(pixel), 0), sums[whywait.PAINT.caused], sums[whywait.PAINT.waiting]]""")
    # About as much as it causes: which part of a wait is whose is an estimate of the page, that of the machine included.
    stated, machine = cause["waiting_ns"], run.report["machine"]["waiting_ns"]
    lit_up = waits[0] > 0 and max(0, stated - machine) / 4 < waits[1] < 4 * (stated + machine)
    expect(f"{name}: the waits that it causes light up", lit_up, waits, stated, machine)
    expect(f"{name}: the sum is all waiting", abs(sum(waits[1:]) - run.report["waiting_ns"]) <= 1e-2 * run.report["waiting_ns"] + 1e5, waits)
    expect(f"{name}: the legend is in the colours of the picture", browser.run("""const {tiles} = whywait.timelines[0];
        return [...document.querySelectorAll('#timeline ul.legend li')].every((item) => {
          const seen = new Uint32Array(item.querySelector('canvas').getContext('2d').getImageData(0, 0, 24, 24).data.buffer);
          return tiles[item.dataset.paint].every((word, i) => word === seen[i]);
        })"""))
    expect(f"{name}: the legend names them", any(f"waiting for cause {number}" in text for text in text_of(browser, "ul.legend li")))
    check_communicators(browser, name, run, page)
    blame = next(rank["blame_ns"] for rank in cause["by_rank"] if rank["rank"] == known.rank)
    cell = browser.run("""const table = document.querySelector('table.heattable:not(.matrix)');
        const column = [...table.tHead.rows[0].cells].findIndex((cell) => cell.textContent === `cause ${arguments[0]}`);
        return [...table.tBodies[0].rows].find((row) => row.cells[0].textContent === `rank ${arguments[1]}`).cells[column].textContent""", number, known.rank)
    expect(f"{name}: the ranks show it", cell == duration(blame), cell, duration(blame))
    most = [text for text in text_of(browser, "#ranks .words") if text.startswith("Most on ")]
    expect(f"{name}: the rank that spends most in it is named", len(most) == 1 and most[0].startswith(f"Most on rank {known.rank}, "), most)
    steps = [text for text in text_of(browser, "#time .words") if "told apart by" in text]
    row = browser.run("""const t = whywait.page.runs[0].timeline, ns = t.rows.map(() => 0);
        for (const piece of whywait.criticalPath(t)) ns[piece.row] += piece.to - piece.from;
        return [whywait.findSteps(whywait.page.runs[0])?.row, t.rows.map((row, i) => [row.name, ns[i]])]""")
    expect(f"{name}: steps of the loop are those of a rank on the critical path", not steps or f"rank {row[0]}'s calls" in steps[0] and dict(row[1])[row[0]] > 0, steps, row)
    most = max(run.report["sites"], key=lambda site: site["waiting_ns"])
    expect(f"{name}: of calls as rare, steps are told apart by that at which ranks wait longest", name != "jacobi" or steps and f"calls of {most['call']} {os.path.basename(most['file'])}:{most['line']}." in steps[0], steps, most["call"])
    expect(f"{name}: time shows it", browser.run("return document.querySelectorAll('#time svg rect:not(.is-pale)').length") > 0)
    sites = text_of(browser, "article.site.is-chosen h3")
    expect(f"{name}: the classes show it", any(call in site for site in sites for call in known.calls), sites)
    lines = [int(line) for line in text_of(browser, "table.code tr.is-chosen td.line")]
    expect(f"{name}: the source shows it", lines and any(known.first <= line <= known.last for line in lines), lines)
    words = text_of(browser, "#source article")
    expect(f"{name}: the source is there", any(known.source in text for text in words))


def check_communicators(browser, name, run, page):
    """Ranks by communicator, where there are others than of all ranks: a line each, with the means of its ranks."""
    comms = json.loads(data_of(page)["timeline-0"])["comms"]
    expect(f"{name}: communicators of a program that splits", bool(comms) == ("MPI_Comm_split" in open(run.known.path).read()), comms)
    if not comms:
        return
    browser.run("const order = document.querySelector('#ranks select'); order.value = 'comm-0'; order.dispatchEvent(new Event('change'))")
    rows = browser.run("return [...document.querySelectorAll('table.ranks tbody tr')].map((row) => [...row.cells].map((cell) => cell.textContent))")
    mean = lambda ranks: sum(run.report["by_rank"][rank]["waiting_ns"] for rank in ranks) / len(ranks)
    for comm, ranks in comms:
        row = next((row for row in rows if row[0].startswith(f"{comm}: rank")), None)
        expect(f"{name}: {comm} has a line", row and duration(mean(ranks)) in row, row, duration(mean(ranks)))
    browser.run("const order = document.querySelector('#ranks select'); order.value = 'rank'; order.dispatchEvent(new Event('change'))")


def view_range(browser):
    return browser.run("return [whywait.rangeFrom(), whywait.rangeTo()]")


def check_moving(browser, name, run, page):
    canvas = "canvas.time"
    browser.open(page, "#timeline")
    whole = view_range(browser)

    def after(what, action, holds):
        before = view_range(browser)
        action()
        try:
            browser.until("return String([whywait.rangeFrom(), whywait.rangeTo()]) !== arguments[0]", ",".join(str(round(ns)) for ns in before), seconds=10)
        except AssertionError:
            pass
        now = view_range(browser)
        expect(f"{name}: {what}", holds(before, now), before, now)

    length = lambda span: span[1] - span[0]
    closer = lambda before, now: length(now) < 0.9 * length(before)
    after("the button zooms", lambda: browser.click("#zoom-in"), closer)
    browser.run("document.querySelector('canvas.time').focus()")
    after("a key zooms", lambda: browser.keys("+"), closer)
    after("Ctrl and the wheel zoom", lambda: browser.wheel(canvas, 100, 20, -200, control=True), closer)
    moved = lambda before, now: now[0] != before[0] and abs(length(now) - length(before)) <= 2
    after("a key moves", lambda: browser.keys("Right"), lambda before, now: now[0] > before[0] and moved(before, now))
    after("the mouse moves", lambda: browser.drag(canvas, 0, 10, 150, 10), lambda before, now: now[0] < before[0] and moved(before, now))
    after("touch moves", lambda: browser.drag(canvas, 100, 10, -100, 10, pointer="touch"), lambda before, now: now[0] > before[0] and moved(before, now))
    # The address follows when nothing has moved for a moment.
    browser.until("const t = /t=([0-9.]+)\\.\\.([0-9.]+)/.exec(location.hash);"
                  "return t && Math.round(t[1] * 1e9) === whywait.rangeFrom() && Math.round(t[2] * 1e9) === whywait.rangeTo()")
    shown = view_range(browser)
    address = browser.run("return location.hash")
    browser.open(page, address)
    expect(f"{name}: an address shows the same again", view_range(browser) == shown, address, shown)
    browser.run("document.querySelector('canvas.time').focus()")
    after("0 shows the whole run", lambda: browser.keys("0"), lambda _, now: now == whole)
    lengths = browser.run("""const seen = new Set(), length = 2000000.5;
        for (let from = 0.3; from < 1e6; from += 33333.1) {
          whywait.setRange(from, from + length);
          seen.add(whywait.rangeTo() - whywait.rangeFrom());
        }
        whywait.setRange(0, arguments[0]);
        return [...seen]""", whole[1])
    expect(f"{name}: who moves keeps the length", len(lengths) == 1, lengths)
    # From rank to rank and wait to wait by keys, told in words.
    waiting = max((pair for pair in run.report["who_waits_for_whom"]["pairs"] if pair[1] == run.known.rank), key=lambda pair: pair[2])[0]
    browser.keys(*["Down"] * waiting)
    words = ""
    for _ in range(40):
        browser.keys("n")
        words = " ".join(text_of(browser, ".chosen"))
        if f"released by rank {run.known.rank}" in words and f"cause {run.cause['cause']}" in words:
            break
    expect(f"{name}: a wait tells who released it", f"rank {waiting} waits" in words and f"released by rank {run.known.rank}" in words, words)
    expect(f"{name}: and what that did meanwhile", f"cause {run.cause['cause']}" in words, words)
    after("Enter shows the whole explanation", lambda: browser.keys("Enter"), lambda before, now: length(now) < length(whole))
    after("and there is a way back", lambda: browser.keys("Backspace"), lambda before, now: now != before)
    browser.run("document.querySelector('#timeline details').open = true")
    browser.until("return document.querySelectorAll('#timeline details tbody tr').length === arguments[0]", run.report["ranks"])


def check_finding(browser, name, run, page):
    browser.open(page)
    browser.keys("/")
    browser.type("#search", run.cause["sites"][0]["call"])
    browser.until("return /^[1-9]\\d* found/.test(document.getElementById('found').textContent)")
    n_found = int(browser.run("return document.getElementById('found').textContent").split()[0])
    for turn in range(n_found + 1):
        browser.keys("Enter")
        browser.until("return document.getElementById('found').textContent === arguments[0]", f"{turn % n_found + 1} of {n_found}")
    browser.keys("Escape")
    browser.run("document.activeElement.blur()")
    browser.keys("g")
    browser.keys(*str(run.known.rank), "Enter")
    browser.until("return location.hash.startsWith('#timeline') && whywait.state.rank === arguments[0]", run.known.rank)
    browser.keys("/")
    browser.keys("Escape")
    browser.type("#search", "nosuchthing")
    browser.until("return document.getElementById('found').textContent === '0 found'")
    browser.keys("Escape")
    browser.until("return document.getElementById('found').textContent === ''")
    browser.run("document.activeElement.blur()")
    browser.keys("c")
    browser.until("return whywait.state.cause === 1 && location.hash.includes('cause=1')")
    browser.keys("Escape")
    browser.until("return whywait.state.cause === 0")
    browser.click(f"#cause-{run.cause['cause']} .links a[href^='#timeline']")
    browser.until("return location.hash.startsWith('#timeline') && whywait.state.cause === arguments[0]", run.cause["cause"])
    browser.command("POST", "/back", {})
    browser.until("return !location.hash.includes('cause=')")
    expect(f"{name}: back takes the choice back", browser.run("return whywait.state.cause") == 0)


def check_pale(browser, name, page):
    """What fills the picture can be made pale: by the legend, by a key, by the address."""
    browser.open(page, "#timeline")
    pale = lambda: browser.run("return whywait.state.pale")

    def strength(state):
        browser.until("return whywait.timelines[0].tiles !== null")  # they are made anew for the next picture
        return browser.run("""const view = whywait.timelines[0], bytes = (word) => [word & 255, word >> 8 & 255, word >> 16 & 255];
            const [ink, paper] = [bytes(view.tiles[whywait.PAINT[arguments[0]]][0]), bytes(view.tiles[whywait.PAINT.unknown][0])];
            return ink.reduce((sum, value, i) => sum + Math.abs(value - paper[i]), 0)""", state)

    full = {state: strength(state) for state in ("computing", "descheduled", "waiting")}
    item = f"#timeline ul.legend li[data-paint='{browser.run('return whywait.PAINT.computing')}'] button"
    browser.click(item)
    browser.until("return location.hash.includes('pale=computing')")
    expect(f"{name}: the legend makes a state pale", 0 < strength("computing") < full["computing"] / 3 and strength("waiting") == full["waiting"], full, strength("computing"))
    expect(f"{name}: who went there by keys is still there", browser.run("return document.activeElement === document.querySelector(arguments[0]) && document.activeElement.ariaPressed", item) == "true")
    browser.keys("m")
    browser.until("return location.hash.includes('pale=computing,descheduled')")
    expect(f"{name}: a key makes the machine pale", strength("descheduled") < full["descheduled"] / 3)
    address = browser.run("return location.hash")
    browser.open(page, address)
    expect(f"{name}: the address tells it", pale() == ["computing", "descheduled"] and strength("computing") < full["computing"] / 3, pale())
    browser.keys("m")
    browser.click(item)
    browser.until("return !whywait.state.pale.length")
    expect(f"{name}: what was pale is as it was", all(strength(state) == value for state, value in full.items()))


def check_colours(browser, name, run, page):
    """Routines instead of causes have the colours: that of the known loop too; until a cause is chosen."""
    browser.open(page, "#timeline")
    choose = "const of = [...document.querySelectorAll('#timeline select')].find((select) => [...select.options].some((option) => option.value === 'routines'));"
    browser.run(choose + "of.value = 'routines'; of.dispatchEvent(new Event('change'))")
    browser.until("return location.hash.includes('colours=routines')")
    named = lambda: browser.run("return [...document.querySelectorAll('#timeline ul.legend li')].map((item) => [Number(item.dataset.paint), item.textContent.trim()])")
    paint = next((paint for paint, text in named() if text.split("(")[0] == run.cause["routine"].split("(")[0]), None)
    expect(f"{name}: the legend has the routine", paint is not None, named())
    sums = browser.run("""const {t} = whywait.timelines[0], sums = new Float64Array(32), own = (kind) => kind.state === 'computing' && kind.routine === arguments[1];
        t.rows.forEach((row, i) => whywait.addSums(t, i, 0, t.durationNs, sums));
        return [sums[arguments[0]], t.kind.reduce((ns, kind, i) => ns + (own(t.kinds[kind]) ? t.ns[i] : 0), 0)]""", paint, next((text for at, text in named() if at == paint), ""))
    expect(f"{name}: its colour is for all that it computes", sums[0] > 0 and abs(sums[0] - sums[1]) <= 1e-3 * sums[1], sums)
    browser.open(page, browser.run("return location.hash"))
    expect(f"{name}: the address tells it", paint in dict(named()) and dict(named())[paint].split("(")[0] == run.cause["routine"].split("(")[0], named())
    browser.run("whywait.chooseCause(arguments[0])", run.cause["cause"])
    expect(f"{name}: a chosen cause has its colour", f"cause {run.cause['cause']}" in dict(named()).values(), named())
    expect(f"{name}: and the choice says so", browser.run(choose + "return of.value") == "causes")


def check_pointer(browser, name, run, page):
    """The call path of a wait is under the pointer."""
    browser.open(page, "#timeline")
    site = next(site for site in run.report["sites"] if site["path"])
    tip = browser.run("""const view = whywait.timelines[0], {t} = view, wait = t.waits.find((other) => other.site === arguments[0] && !other.isSeveral);
        const row = t.rows.findIndex((other) => wait.cell < other.end), begin = t.begin[wait.cell], end = t.end[wait.cell];
        whywait.setRange(begin - (end - begin), end + (end - begin));
        view.drawNow();
        const band = view.bandAt.get(row), box = view.canvas.getBoundingClientRect();
        const x = 64 + ((begin + end) / 2 - whywait.rangeFrom()) / (whywait.rangeTo() - whywait.rangeFrom()) * (view.width - 64);
        view.canvas.dispatchEvent(new PointerEvent('pointermove', {clientX: box.left + x, clientY: box.top + band.y + band.height / 2, bubbles: true}));
        return view.tip.hidden ? '' : view.tip.textContent""", site["site"])
    expect(f"{name}: the call path is under the pointer", site["call"] in tip and f"in {site['path']}" in tip, tip, site["path"])


def check_many(browser, arguments, folder):
    """Of a thousand ranks the late one has a band of its own, and its cause is in full colours nowhere else."""
    archive, page = os.path.join(folder, "many"), os.path.join(folder, "many.html")
    truth = json.loads(subprocess.run([arguments.many, "stencil", archive, "1024", "400000", "ours"], check=True, capture_output=True, text=True).stdout)
    subprocess.run([arguments.whywait, "html", "-o", page, os.path.join(archive, "traces.otf2")], check=True, stdout=subprocess.DEVNULL)
    browser.open(page, "#timeline")
    bands = browser.run("""const view = whywait.timelines[0], {t, image, pixels, scale} = view, {paint} = t.kinds.find((kind) => kind.cause === 0 && kind.state === 'computing');
        const full = new Set(view.tiles[paint]);
        return view.bands.map((band) => {
          let n = 0;
          for (let y = Math.round(band.y * scale); y < Math.round((band.y + band.height) * scale); y++)
            for (let x = 0; x < image.width; x++) n += full.has(pixels[y * image.width + x]);
          return [band.rows.map((row) => t.rows[row].rank), band.height, n];
        })""")
    own = [band for band in bands if band[0] == truth["late_ranks"]]
    expect("many: the late rank has a band of its own, high enough to be seen", len(own) == 1 and own[0][1] >= 12, own)
    expect("many: its cause is in full colours there", own and own[0][2] > 1000, own)
    expect("many: and nowhere else", not (others := [band[0] for band in bands if band[2] and band not in own]), others)
    expect("many: all ranks are there", sorted(rank for band in bands for rank in band[0]) == list(range(1024)))
    check_quiet(browser, "many")


def check_widths(browser, name, page):
    for width in (1280, 800, 400):
        browser.size(width, 900)
        browser.open(page, "#answer&cause=1")
        expect(f"{name}: {width} pixels are wide enough", browser.run("return document.documentElement.scrollWidth") <= width)
        cut = browser.run("const nav = document.getElementById('nav'); return nav.scrollWidth > nav.clientWidth + 1")
        expect(f"{name}: at {width} pixels all views can be chosen", not cut or width < 500)
    browser.size(1280, 900)
    dark = lambda: browser.run("return getComputedStyle(document.body).backgroundColor")
    before = dark()
    browser.click("#theme")
    expect(f"{name}: dark and light differ", dark() != before)
    browser.run("document.documentElement.dataset.theme = 'dark'; addEventListener('beforeprint', () => { window.printed = document.documentElement.dataset.theme; })")
    paper = base64.b64decode(browser.command("POST", "/goog/cdp/execute", {"cmd": "Page.printToPDF", "params": {}})["data"])
    n_pages = len(re.findall(rb"/Type\s*/Page\b", paper))
    expect(f"{name}: paper is light", browser.run("return [window.printed, document.documentElement.dataset.theme]") == ["light", "dark"])
    expect(f"{name}: it prints to a few pages", 1 <= n_pages <= 12, n_pages)


def check_sources(browser, name, run, program):
    """The run has kept its sources as they were when it was recorded; without them, what was written to later is told as changed."""
    def shown(words):
        page = run.page()
        browser.open(page, "#source")
        file = next(file for file in json.loads(data_of(page)["sources-0"])["files"] if os.path.basename(file["file"]) == run.known.source)
        warnings = [text for text in text_of(browser, "#source article")  if "after the program was built" in text and run.known.source in text]
        expect(f"{name}: page and annotate tell a source as changed or not, {words}",
               bool(warnings) == ("after the program was built" in " ".join(run.output("annotate", "--file", run.known.source, run.path).split())) == (file["state"] == "changed"))
        return file["file"], file["state"], json.dumps(file["pieces"])

    file, state, text = shown("as recorded")
    kept = glob.glob(run.path + "/source/*-" + run.known.source)
    expect(f"{name}: the run keeps its source", len(kept) == 1 and open(kept[0]).read() == open(file).read(), kept)
    if not kept or not os.access(file, os.W_OK):
        return
    stamp = os.stat(file)
    expect(f"{name}: with its date", abs(os.stat(kept[0]).st_mtime - stamp.st_mtime) < 1e-3)
    try:
        os.utime(file)
        expect(f"{name}: a later change of the file does not matter", shown("touched")[1:] == (state, text))
        os.rename(kept[0], kept[0] + ".away")
        expect(f"{name}: without the copy it is told as changed", shown("touched, not kept")[1] == "changed")
        os.utime(file, ns=(stamp.st_atime_ns, min(stamp.st_mtime_ns, os.stat(program).st_mtime_ns - 1)))
        expect(f"{name}: a source of before the build is not", shown("old, not kept")[1] == "same")
        os.rename(kept[0] + ".away", kept[0])
    finally:
        os.utime(file, ns=(stamp.st_atime_ns, stamp.st_mtime_ns))


def page_of(arguments, program, folder):
    """The run and its page, of which nothing is expected yet."""
    path = kept(arguments, program, folder)
    subprocess.run([arguments.whywait, "html", "-o", path + ".html", path], check=True, stdout=subprocess.DEVNULL)
    return path, path + ".html"


def check_counted(browser, arguments, folder):
    """Margins of the page's source are those of annotate: executions on a rank, and the ways of a condition."""
    program, source = arguments.counted
    name = os.path.basename(source)
    path, page = page_of(arguments, program, folder)
    browser.open(page, "#source&cause=1")
    rows = browser.run("""const table = [...document.querySelectorAll('#source article')].find((one) => one.textContent.includes(arguments[0])).querySelector('table.code');
        return [...table.tBodies[0].rows].map((row) => [row.querySelector('.line')?.textContent, row.querySelector('.runs')?.textContent, row.querySelector('.ways')?.textContent,
                                                        row.querySelector('.brackets')?.textContent])""", name)
    shown = {int(line): (runs or "", ways or "", loops or "") for line, runs, ways, loops in rows if line}
    text = subprocess.run([arguments.whywait, "annotate", "--file", name, "--width", "250", path], check=True, capture_output=True, text=True).stdout
    lines = {number: line for number, line in enumerate(open(source).read().splitlines(), 1)}
    condition = next(number for number, line in lines.items() if "if (flag[i])" in line)
    for number, (runs, ways, loops) in shown.items():
        row = next((row for row in text.splitlines() if re.search(rf" {number}  .*{re.escape(lines[number].strip())}$", row) and lines[number].strip()), None)
        words = row.split(f" {number}  ")[0].split() if row else []
        expect(f"counted: line {number}, {words}", not row or all(word in words for word in runs.split(", ") + [ways] if word), runs, ways)
    expect("counted: the condition goes both ways", re.fullmatch(r"\d+/\d+", shown[condition][1]) and shown[condition][2].strip() == "│", shown[condition])
    expect("counted: ranks differ behind it", len(shown[condition + 1][0].split(", ")) == 3, shown[condition + 1])
    check_quiet(browser, "counted")


def check_threads(browser, arguments, folder):
    """Threads that call MPI have rows, by names that say so. Of those that do not a hint tells where their work is."""
    for program, is_caller in zip(arguments.threads, (True, False)):
        name, (path, page) = os.path.basename(program), page_of(arguments, program, folder)
        browser.open(page, "#timeline")
        names = browser.run("return whywait.timelines[0].t.rows.map((row) => row.name)")
        expect(f"{name}: names of rows", names == (["0", "0 thread 1", "1", "1 thread 1"] if is_caller else ["0", "1"]), names)
        hint = any("Threads that never call MPI have no row" in text for text in text_of(browser, "#timeline .hint"))
        workers = json.loads(data_of(page)["timeline-0"])["workers"]  # MPI's own threads too, if they ran at all
        expect(f"{name}: threads without a row are told", hint == (workers > 0) and (is_caller or hint), hint, workers)
        browser.run("const view = whywait.timelines[0]; view.canvas.focus()")
        browser.keys("Down", "n")
        words = " ".join(text_of(browser, ".chosen"))
        expect(f"{name}: what is chosen says whose it is", f"rank {names[1]}" in words, words)
        check_quiet(browser, name)


def check_bare(browser, arguments, folder):
    """Loops of the machine code, where no line is known, with what they cause."""
    program, source = arguments.bare
    path, page = page_of(arguments, program, folder)
    browser.open(page, "#source&cause=1")
    cause = json.loads(subprocess.run([arguments.whywait, "report", "--format", "json", path], check=True, capture_output=True, text=True).stdout)["causes"][0]
    chosen = text_of(browser, "table.bare tr.is-chosen")
    offset = re.search(r"\+0x[0-9a-f]+", cause["name"])
    own = cause["parts"][0]["own_ns"]
    expect("bare: the loop has no line", not cause["file"] and offset, cause["name"])
    expect("bare: the loop is there with what it causes", len(chosen) == 1 and offset and offset[0] in chosen[0] and duration(own) in chosen[0], chosen, cause["name"], duration(own))
    check_quiet(browser, "bare")


def record(arguments, program, ranks, folder):
    environment = dict(os.environ, OMPI_ALLOW_RUN_AS_ROOT="1", OMPI_ALLOW_RUN_AS_ROOT_CONFIRM="1", OMPI_MCA_rmaps_base_oversubscribe="1",
                       OMPI_MCA_btl_vader_single_copy_mechanism="none", OMPI_MCA_mpi_yield_when_idle="1")
    subprocess.run([arguments.mpirun, "-n", str(ranks), arguments.whywait, "record", "-q", "-o", folder, program], check=True,
                   env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    return next(iter(glob.glob(folder + "/*.whywait")), folder)


def check_comparison(browser, arguments, run, program, folder):
    other = Run(arguments, run.known, record(arguments, program, run.known.ranks, os.path.join(folder, "again.whywait")))
    page, compared = run.page(other.path), run.output("diff", "--format", "json", run.path, other.path)
    data = data_of(page)
    expect("the comparison is that of diff", data["comparison"] == compared)
    expect("both reports are there", data["report-0"] == run.json and data["report-1"] == other.json)
    browser.open(page)
    rows = browser.run("return [...document.querySelectorAll('table.compare tbody tr')].map((row) => [...row.cells].map((cell) => cell.textContent))")
    known = json.loads(compared)
    wanted = [row for group in ("run_time", "computing", "program", "mpi", "machine") if known.get(group) for row in [known[group], *known[group]["causes"]]]
    expect("a row each", [row[0] for row in rows] == [row["name"] for row in wanted], [row[0] for row in rows])
    for row, want in zip(rows, wanted):
        expect(f"the row of {want['name']}", row[1:3] == [duration(want["before_ns"]), duration(want["after_ns"])] and
               row[3].lstrip("+") == duration(want["change_ns"]), row, want)
        noise = "" if want["noise_ns"] is None else f"± {duration(want['noise_ns'])}"
        expect(f"noise and verdict of {want['name']}", row[4] == noise and row[6].replace(" ", "-") in (want["verdict"], f"within-{want['verdict']}"), row, want)
    reports = [run.report, other.report]
    rows = browser.run("return [...[...document.querySelectorAll('#comparison table')].pop().tBodies[0].rows].map((row) => [...row.cells].map((cell) => cell.textContent))")
    expect("the runs", [row[2:5] for row in rows] == [[str(report["ranks"]), duration(report["duration_ns"]), duration(report["waiting_ns"])] for report in reports], rows)
    expect("two timelines at one scale", browser.run("return whywait.timelines.length") == 2)
    browser.size(400, 900)
    browser.open(page)
    name_width = browser.run("return document.querySelector('table.compare tbody th').clientWidth")
    cut = browser.run("""const inView = (cell) => cell.getBoundingClientRect().right <= innerWidth, row = (table) => document.querySelector(`${table} tbody tr`).cells;
        return [...[...row('table.compare')].slice(0, 4), ...[...row('table.ranks')].slice(0, 5)].filter((cell) => !inView(cell)).map((cell) => cell.textContent)""")
    expect("before, after and change, and who makes wait, are in view on a narrow page", not cut, cut)
    expect("names of causes can be read on a narrow page", name_width > 120 and browser.run("return document.documentElement.scrollWidth") <= 400, name_width)
    browser.size(1280, 900)
    check_quiet(browser, "comparison")


def check_accessibility(browser, name, page, axe):
    source = open(axe).read()
    for width, theme in ((1280, "light"), (1280, "dark"), (400, "light")):
        browser.size(width, 900)
        browser.open(page, "#timeline&cause=1")
        browser.run("document.documentElement.dataset.theme = arguments[0] === 'dark' ? 'light' : 'dark'; document.getElementById('theme').click();"
                    "[...document.querySelectorAll('p.rest button')].forEach((more) => more.click());"
                    "[...document.querySelectorAll('details')].forEach((more) => { more.open = true; })", theme)
        browser.run(source)
        found = browser.run_async("const done = arguments[arguments.length - 1]; axe.run().then((found) => done(found.violations.map((v) => "
                                  "[v.impact, v.id, v.help, v.nodes.slice(0, 4).map((node) => node.html.slice(0, 160))])))")
        for impact, rule, words, nodes in found:
            print(f"{name}, {width}, {theme}: {impact}: {rule}: {words}: {nodes}")
        serious = [rule for impact, rule, *_ in found if impact in ("serious", "critical")]
        expect(f"{name}, {width}, {theme}: no serious finding", not serious, serious)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--whywait", required=True)
    parser.add_argument("--mpirun", required=True)
    parser.add_argument("--runs", required=True, help="folder with a folder of each program's run")
    parser.add_argument("--axe")
    parser.add_argument("--counted", nargs=2, metavar=("PROGRAM", "SOURCE"))
    parser.add_argument("--bare", nargs=2, metavar=("PROGRAM", "SOURCE"))
    parser.add_argument("--threads", nargs=2, metavar=("CALLING", "NOT_CALLING"))
    parser.add_argument("--many", metavar="GENERATE")
    parser.add_argument("programs", nargs="*")
    arguments = parser.parse_args()
    if not programs():
        print("skipped: no browser (chromium and chromedriver)")
        return SKIPPED
    if arguments.axe and not os.path.exists(arguments.axe):
        print("skipped: no axe-core (bootstrap test fetches it where there is npm)")
        return SKIPPED
    pairs = list(zip(arguments.programs[::2], arguments.programs[1::2]))
    with tempfile.TemporaryDirectory() as folder, Browser() as browser:
        for turn, (program, source) in enumerate(pairs):
            name = os.path.basename(program)
            run = Run(arguments, Known(source), kept(arguments, program, folder))
            expect(f"{name}: the known cause is found", run.cause)
            if not run.cause:
                continue
            page = run.page()
            browser.size(1280, 900)
            if arguments.axe:
                check_accessibility(browser, name, page, arguments.axe)
                continue
            expect(f"{name}: the page has the JSON report", data_of(page)["report-0"] == run.json)
            browser.open(page)
            check_numbers(browser, name, run)
            check_views(browser, name, run, page)
            if turn == 0:
                check_rounding(browser)
                check_moving(browser, name, run, page)
                check_finding(browser, name, run, page)
                check_pale(browser, name, page)
                check_colours(browser, name, run, page)
                check_pointer(browser, name, run, page)
                check_widths(browser, name, page)
                check_sources(browser, name, run, program)
                check_comparison(browser, arguments, run, program, folder)
            check_quiet(browser, name)
        for check, is_wanted in ((check_counted, arguments.counted), (check_bare, arguments.bare), (check_threads, arguments.threads), (check_many, arguments.many)):
            if is_wanted:
                check(browser, arguments, folder)
    print(f"{len(faults)} faults" if faults else "all is well")
    return 1 if faults else 0


sys.exit(main())
