# SPDX-License-Identifier: BSD-3-Clause
"""What programs in all languages are made of: lines with the places among them, and the numbers of a plan."""
import textwrap

import bodies


class Source:
    """Lines of a file. A place marks the lines that were added while it was open."""

    def __init__(self, name, fortran=None):
        self.name, self.lines, self.fortran = name, [], fortran
        self.linkage = 'extern "C" ' if name.endswith(".cc") else ""  # of what the library has

    def add(self, text, indent=0):
        self.lines += [" " * (4 * indent) + line if line else "" for line in textwrap.dedent(text).strip("\n").split("\n")]
        if text.endswith("\n"):
            self.lines.append("")

    def place(self, first, routine):
        return {"file": self.name, "first": first, "last": len(self.lines), "routine": routine}

    def next_line(self):
        return len(self.lines) + 1

    def loop(self, body, lines, count, indent, name, routine):
        """One loop: its body (what comes before, once, after) between the lines that make it; its place."""
        before, once, after = body
        if before:
            self.add(before, indent)
        first = self.next_line()
        head, tail = [text.replace("COUNT", count).replace("LINE", str(first)) for text in lines]
        self.add(head, indent)
        self.add(once.replace("HELPER", name + "_helper"), indent + 1)
        self.add(tail, indent)
        place = self.place(first, routine)
        if after:
            self.add(after, indent)
        return place

    def text(self):
        return "\n".join(self.lines) + "\n"


def works_of(plan):
    """All works with their names."""
    return [(phase["name"] + suffix, phase[key]) for phase in plan["phases"] for key, suffix in (("common", "_common"), ("cause", "_work")) if phase[key]]


def amount_of_all(plan, phase):
    """Iterations of the planted place in a step, of a late rank, of another one, and of all ranks together."""
    cause = phase["cause"]
    late, other = (bodies.n_iterations(cause["body"], cause[us]) for us in ("late_us", "other_us"))
    n_late = 1 if cause.get("turns") else len(cause["late"])
    return late, other, late * n_late + other * (plan["ranks"] - n_late)


def amounts(plan, phase):
    """Iterations of the planted place in a step, of late ranks and of the others, and shared out evenly."""
    if phase["cause"]["kind"] == "slower":
        return (bodies.n_iterations(phase["cause"]["body"], phase["cause"]["late_us"]),) * 3
    late, other, of_all = amount_of_all(plan, phase)
    return late, other, (of_all + plan["ranks"] // 2) // plan["ranks"]


def is_divisible(plan, phase):
    """Whether an even amount is as much as before, within a fiftieth."""
    _, _, of_all = amount_of_all(plan, phase)
    return abs(amounts(plan, phase)[2] * plan["ranks"] - of_all) <= 0.02 * of_all


def iterations(plan, phase):
    late, other, _ = amounts(plan, phase)
    if phase["cause"].get("turns"):
        return [plan["cycles"] * late * phase["cause"]["turns"].count(rank) for rank in range(plan["ranks"])]
    every, (first, end) = phase["cause"]["every"], phase["cause"].get("steps", [0, phase["steps"]])
    n_steps = sum(step % every == 0 for step in range(first, end)) * plan["cycles"]
    return [n_steps * (late if rank in phase["cause"]["late"] else other) for rank in range(plan["ranks"])]


def late_mask(phase):
    return sum(1 << rank for rank in (phase["cause"]["late"] if phase["cause"] else []))


def root_and_target(plan, phase):
    """Ranks in the phase's communicator: of one that is late, and of one that is not."""
    late = phase["cause"]["late"] if phase["cause"] else [plan["seed"] % plan["ranks"]]
    others = [rank for rank in range(plan["ranks"]) if rank not in late]
    half = phase["comm"] == "half"
    root = late[0] // 2 if half else late[0]
    target = next((rank // 2 if half else rank for rank in others if not half or rank // 2 != root), (root + 1) % (plan["ranks"] // (2 if half else 1)))
    return root, target


def amount_macros(k, late, other, even):
    """The preprocessor's lines that choose the amounts of phase K, for the others and for the late."""
    return ("#if defined GONE_%d\n#define AMOUNTS_%d 0, 0\n#elif defined EVEN_%d\n#define AMOUNTS_%d %d, %d\n#else\n#define AMOUNTS_%d %d, %d\n#endif"
            % (k, k, k, k, even, even, k, other, late))
