#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Archives as other tools see them: otf2-print has nothing to warn of, and Python's otf2 module reads them to the end
and finds in them what the programs count themselves.

    archives.py --whywait W --mpirun M PROGRAM              counted.c or files, on 4 ranks
    archives.py --whywait W --mpirun M --dynamic R PROGRAM  dynamic.c: each world has a run of its own, and the report says
                                                            what it leaves out
    archives.py --whywait W --mpirun M PROGRAM CASE...      cases of the transparency suite, "all" for all of them
"""
import argparse
import collections
import glob
import json
import os
import re
import subprocess
import sys
import tempfile
import time

import otf2
from otf2 import events as ev
from otf2.enums import CollectiveOp, IoOperationFlag, IoOperationMode, IoParadigmClass, Paradigm, RegionRole

ENV = dict(os.environ, OMPI_ALLOW_RUN_AS_ROOT="1", OMPI_ALLOW_RUN_AS_ROOT_CONFIRM="1", OMPI_MCA_btl_vader_single_copy_mechanism="none",
           OMPI_MCA_osc="^ucx", OMPI_MCA_osc_rdma_priority="1", OMPI_MCA_rmaps_base_oversubscribe="1", OMPI_MCA_mpi_yield_when_idle="1", WHYWAIT_QUIET="1")
KINDS = {ev.MpiSend: "sends", ev.MpiIsend: "sends", ev.MpiRecv: "receives", ev.MpiIrecv: "receives",
         ev.MpiRequestCancelled: "cancelled", ev.MpiCollectiveEnd: "collectives",
         ev.NonBlockingCollectiveComplete: "nb_collectives", ev.RmaPut: "puts", ev.RmaGet: "gets", ev.RmaAtomic: "atomics",
         ev.CommCreate: "comms_made", ev.CommDestroy: "comms_freed", ev.IoCreateHandle: "io_opens", ev.IoDestroyHandle: "io_closes",
         ev.IoSeek: "io_seeks", ev.IoOperationIssued: "io_issued", ev.IoDeleteFile: "io_deletes"}
IO_KINDS = {IoOperationMode.READ: "io_reads", IoOperationMode.WRITE: "io_writes", IoOperationMode.FLUSH: "io_flushes"}


# Cases that send messages in functions that MPI calls back, and how many calls that are.
CALL_BACK = {"attributes": 4, "handler_calls": 8}


class Reading:
    """What one archive holds, by process."""

    def __init__(self, anchor):
        self.counts = collections.defaultdict(collections.Counter)
        self.calls = collections.defaultdict(collections.Counter)
        self.sent, self.received = collections.Counter(), collections.Counter()
        self.handles = collections.defaultdict(set)
        self.open, self.wrong = collections.Counter(), []
        self.sampled, self.entered = {}, {}
        with otf2.reader.open(anchor) as trace:
            self.sources = {os.path.basename(line.file) for line in trace.definitions.source_code_locations}
            for location, event in trace.events:
                self.take(int(location.group.name.split()[-1]), location, event)
        self.wrong += [f"{n} more {name} began than ended" for name, n in self.open.items() if n]

    def unwind(self, location, sample):
        """Readers leave the frames of the sample before until they come to what both share, and enter the rest."""
        path, at = [], sample.calling_context
        while at is not None:
            path.append(at)
            at = at.parent
        shared = path[sample.unwind_distance - 1:] if 1 <= sample.unwind_distance <= len(path) + 1 else None
        before = self.sampled.get(location, [])
        if shared is None or shared != before[len(before) - len(shared):]:
            self.wrong.append(f"a sample of {len(path)} frames has unwind distance {sample.unwind_distance} after one of {len(before)}")
        self.sampled[location] = path

    def take(self, rank, location, event):
        if isinstance(event, ev.CallingContextSample):
            self.unwind(location, event)
        kind = KINDS.get(type(event))
        if kind and not self.is_managing(location, event):
            self.counts[rank][kind] += 1
        if isinstance(event, ev.Enter):
            self.entered[location] = event.region
            self.calls[rank][event.region.name[len("MPI_"):]] += 1
            if event.region.paradigm == Paradigm.MPI and event.region.source_file != "MPI":
                self.wrong.append(f"{event.region.name} has its source in {event.region.source_file}: Scalasca takes it for no call of MPI")
        elif isinstance(event, (ev.MpiSend, ev.MpiIsend)):
            self.sent[self.message(rank, event.communicator, event.receiver, event, False)] += 1
        elif isinstance(event, (ev.MpiRecv, ev.MpiIrecv)):
            self.received[self.message(rank, event.communicator, event.sender, event, True)] += 1
        elif isinstance(event, (ev.IoOperationBegin, ev.IoOperationComplete)):
            self.count_io(rank, event)
        self.pairs(rank, location, event)

    def is_managing(self, location, event):
        """Makes or frees an object together with others: written as a barrier, the region tells the difference."""
        is_barrier = isinstance(event, ev.MpiCollectiveEnd) and event.collective_op == CollectiveOp.BARRIER
        return is_barrier and self.entered[location].region_role != RegionRole.BARRIER

    def count_io(self, rank, event):
        name = os.path.basename(event.handle.file.name)
        paradigm = event.handle.io_paradigm
        if (paradigm.identification, paradigm.io_paradigm_class) != ("MPI-IO", IoParadigmClass.PARALLEL):
            self.wrong.append(f"{name} is read and written by {paradigm}")
        if isinstance(event, ev.IoOperationComplete):
            self.counts[rank]["moved:" + name] += event.bytes_result
            return
        self.counts[rank][IO_KINDS[event.mode]] += 1
        self.counts[rank]["io_collective"] += bool(event.operation_flags & IoOperationFlag.COLLECTIVE)
        self.counts[rank]["asked:" + name] += event.bytes_request

    def message(self, rank, communicator, peer, event, is_receive):
        other = rank if communicator.name == "MPI_COMM_SELF" else communicator.group.members[peer]
        if hasattr(other, "group"):
            other = int(other.group.name.split()[-1])
        ends = (other, rank) if is_receive else (rank, other)
        return communicator._ref, ends, event.msg_tag, event.msg_length

    def pairs(self, rank, location, event):
        """Everything that begins ends, under the same id."""
        begins = {ev.MpiIsend: "sends", ev.MpiIrecvRequest: "receives", ev.NonBlockingCollectiveRequest: "collectives"}
        ends = {ev.MpiIsendComplete: "sends", ev.MpiIrecv: "receives", ev.NonBlockingCollectiveComplete: "collectives"}
        for table, step in (begins, 1), (ends, -1):
            if type(event) in table:
                self.open[f"requests of rank {rank}, id {event.request_id}"] += step
        if isinstance(event, ev.MpiRequestCancelled):
            self.open[f"requests of rank {rank}, id {event.request_id}"] -= 1
        if isinstance(event, (ev.RmaPut, ev.RmaGet, ev.RmaAtomic)):
            self.open[f"RMA operations of rank {rank}, id {event.matching_id}"] += 1
        if isinstance(event, (ev.RmaOpCompleteBlocking, ev.RmaOpCompleteNonBlocking, ev.RmaOpCompleteRemote)):
            self.open[f"RMA operations of rank {rank}, id {event.matching_id}"] -= 1
        if isinstance(event, (ev.ThreadCreate, ev.ThreadBegin)):
            self.open[f"threads {event.sequence_count} of rank {rank}"] += 1
        if isinstance(event, ev.ThreadEnd):
            self.open[f"threads {event.sequence_count} of rank {rank}"] -= 2
        self.io_pairs(rank, event)

    def io_pairs(self, rank, event):
        """Operations end on the handle that they began on, as long as it is open. A handle that was closed is used again."""
        if isinstance(event, (ev.IoCreateHandle, ev.IoDestroyHandle)):
            self.open[f"handles of rank {rank} on {event.handle.file.name}"] += 1 if isinstance(event, ev.IoCreateHandle) else -1
            self.handles[event.handle.file.name].add(event.handle._ref)
            if len(self.handles[event.handle.file.name]) > 1:
                self.wrong.append(f"{event.handle.file.name} has several handles")
        if isinstance(event, (ev.IoOperationBegin, ev.IoOperationIssued, ev.IoOperationComplete)):
            if not self.open[f"handles of rank {rank} on {event.handle.file.name}"]:
                self.wrong.append(f"rank {rank}: {event} on a file that is not open")
        if isinstance(event, (ev.IoOperationBegin, ev.IoOperationComplete)):
            step = 1 if isinstance(event, ev.IoOperationBegin) else -1
            self.open[f"I/O operations of rank {rank}, handle {event.handle._ref}, id {event.matching_id}"] += step


def record(options, ranks, arguments, directory):
    """The anchor of a run; None where there is none, as after a program that has no MPI_COMM_WORLD."""
    command = [options.mpirun, "-n", str(ranks), options.whywait, "record", options.program, *arguments]
    done = subprocess.run(command, cwd=directory, env=dict(ENV, CASE_FILES=directory, CASE_CALLS=directory), stdin=subprocess.DEVNULL,
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=100, check=False)
    runs = glob.glob(os.path.join(directory, "*.whywait"))
    if not runs:
        return None, done.stdout
    # Which makes the archive where the run did not come to it. A launcher may return before all processes are gone.
    for _ in range(50):
        said = subprocess.run([options.whywait, "report", runs[0]], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, check=False)
        if "still being recorded" not in said.stderr:
            break
        time.sleep(0.1)
    # Those are counted, but not recorded. Nothing else is missing, and the report says so.
    n_lost = sum(CALL_BACK.get(argument, 0) for argument in arguments)
    wanted = [f"note: Lost: {n_lost} calls of ranks 0,1, made within another call of MPI (by a function that MPI calls back)."] if n_lost else []
    if said.returncode != (2 if n_lost else 0) or [line for line in said.stdout.splitlines() if "Lost:" in line] != wanted:
        return None, f"whywait report: status {said.returncode}\n{said.stdout[-2000:]}{said.stderr}"
    return os.path.join(runs[0], "traces.otf2"), done.stdout


def printed(anchor):
    done = subprocess.run(["otf2-print", "-A", anchor], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, check=False)
    wrong = done.stderr.splitlines()[:3] + re.findall(r".*\bINVALID\b.*", done.stdout)[:3]
    return wrong or ([f"otf2-print: status {done.returncode}"] if done.returncode else [])


def stated(directory):
    """Counts by (rank, name) that the program wrote down; cases that run together may write of the same."""
    counts = collections.Counter()
    for path in glob.glob(os.path.join(directory, "[0-9]*")):
        if os.path.isfile(path):
            for line in open(path):
                name, n = line.split()
                counts[int(os.path.basename(path)), name] += int(n)
    return counts


def machine_told(anchor, ranks):
    """Every process says how many CPUs its node has, every thread that began on one which it might use."""
    definitions = subprocess.run(["otf2-print", "-G", anchor], stdout=subprocess.PIPE, text=True, check=True).stdout
    n_cpus = re.findall(r'LOCATION_GROUP_PROPERTY .*"WHYWAIT::NODE_CPUS".* Value: (\d+)', definitions)
    cpus = re.findall(r'LOCATION_PROPERTY .*"WHYWAIT::CPUS".* Value: "([-0-9,]*)"', definitions)
    wrong = [] if n_cpus == [str(os.sysconf("SC_NPROCESSORS_ONLN"))] * ranks else [f"CPUs of the nodes: {n_cpus}"]
    may_use = os.sched_getaffinity(0)
    for text in cpus:
        ends = [[int(end) for end in part.split("-")] for part in text.split(",")]
        if not {cpu for end in ends for cpu in range(end[0], end[-1] + 1)} <= may_use:
            wrong.append(f"a thread may use CPUs {text} of {may_use}")
    return wrong if len(cpus) >= ranks else wrong + [f"{len(cpus)} threads say which CPUs they may use"]


def check(options, ranks, cases):
    with tempfile.TemporaryDirectory(prefix="whywait-archive-") as directory:
        anchor, output = record(options, ranks, cases or [directory], directory)
        if not anchor:
            return [] if cases == ["session_alone"] else [f"no archive: {output}"]
        wrong, reading = printed(anchor), Reading(anchor)
        n_stated = 0
        for (rank, name), n in stated(directory).items():
            found = (reading.calls if cases else reading.counts)[rank][name]
            n_stated += 1
            if found != n and not name.startswith("WW_"):
                wrong.append(f"rank {rank}: {found} {name} in the archive, the program made {n}")
        source = os.path.basename(options.program).split("-")[0].split("_M")[0].split("_F")[0]
        if not {source + ".c", source + ".F90"} & reading.sources:
            wrong.append(f"no call stack leads to {source}: {sorted(reading.sources)}")
        wrong += machine_told(anchor, ranks)
        if not cases:
            wrong += reading.wrong + ([] if n_stated else ["the program stated nothing"])
            if reading.sent != reading.received:
                wrong.append(f"sent and not received: {reading.sent - reading.received}, received: {reading.received - reading.sent}")
        return wrong


def check_dynamic(options):
    """Two worlds of two processes, both recorded, as by a preload that the started processes inherit."""
    with tempfile.TemporaryDirectory(prefix="whywait-archive-") as directory:
        command = [options.mpirun, "-n", "2", "-x", "LD_PRELOAD=" + options.dynamic, options.program]
        done = subprocess.run(command, cwd=directory, env=ENV, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=100, check=False)
        runs = glob.glob(os.path.join(directory, "*.whywait"))
        wrong = [done.stdout] if done.returncode else []
        wrong += [] if len(runs) == 2 else [f"{len(runs)} runs"]
        for run in runs:
            anchor = os.path.join(run, "traces.otf2")
            calls = Reading(anchor).calls
            wrong += printed(anchor)
            report = json.loads(subprocess.run([options.whywait, "report", "--all", "--format", "json", run], stdout=subprocess.PIPE, check=True).stdout)
            if report["ranks"] != 2 or sorted(calls) != [0, 1] or any(of["Sendrecv"] != 5 for of in calls.values()):
                wrong.append(f"{report['ranks']} ranks, calls {dict(calls)}")
            if not any("outside MPI_COMM_WORLD" in note for note in report["notes"]):
                wrong.append(f"not said: {report['notes']}")
        return wrong


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--whywait", required=True)
    parser.add_argument("--mpirun", required=True)
    parser.add_argument("--dynamic", metavar="RECORDER")
    parser.add_argument("program", type=os.path.abspath)
    parser.add_argument("cases", nargs="*")
    options = parser.parse_args()
    if not options.cases:
        os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})  # so that what the archives say of it is known
    batches = {None: ([], 4)}
    if options.cases:
        batches = {}
        for line in subprocess.run([options.program, "--list"], stdout=subprocess.PIPE, text=True, check=True).stdout.splitlines():
            case, ranks, *life = line.split()
            if "all" in options.cases or case in options.cases:
                batches.setdefault(ranks if life == ["together"] else case, ([], int(ranks)))[0].append(case)
    n_bad = 0
    for cases, ranks in batches.values():
        wrong = check_dynamic(options) if options.dynamic else check(options, ranks, cases)
        n_bad += bool(wrong)
        for line in wrong:
            print(f"{' '.join(cases) or os.path.basename(options.program)}: {line}")
    print(f"{len(batches)} runs, {n_bad} failed")
    return 1 if n_bad or not batches else 0


sys.exit(main())
