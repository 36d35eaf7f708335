#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""A run's report in pandas: three plots to begin with.

    whywait report --format json >run.json
    python3 waits.py run.json [FOLDER]        # writes causes.png, time.png and ranks.png there, or here

Takes pandas and matplotlib (on Debian: python3-pandas, python3-matplotlib). In Jupyter, paste the parts between the
lines of dashes. The fields are described in json.md; all times are nanoseconds.
"""
import json
import pathlib
import sys

import matplotlib

matplotlib.use("Agg")  # files, no window; leave it out in Jupyter
import matplotlib.pyplot as plt
import pandas as pd

report = json.load(open(sys.argv[1]))
folder = pathlib.Path(sys.argv[2] if len(sys.argv) > 2 else ".")
SECOND = 1e9

# ---- the causes, and which kind of difference each is
causes = pd.json_normalize(report["causes"]).set_index("cause")
kinds = causes.filter(like="kinds.").rename(columns=lambda name: name.removeprefix("kinds.")).fillna(0) / SECOND
kinds.index = [f"{number} {name}" for number, name in causes["name"].items()]
figure, axes = plt.subplots(figsize=(10, 1 + 0.4 * len(kinds.head(12))))
kinds.head(12).iloc[::-1].plot.barh(stacked=True, ax=axes, title="What makes ranks wait")
axes.set_xlabel("waiting caused (s)")
figure.tight_layout()
figure.savefig(folder / "causes.png")

# ---- when each cause acted
when = pd.DataFrame({f"{number} {name}": parts for (number, name), parts in zip(causes["name"].items(), causes["when_ns"])}) / SECOND
when.index = (when.index + 0.5) * report["duration_ns"] / SECOND / len(when)
figure, axes = plt.subplots(figsize=(10, 5))
when.iloc[:, :6].plot.area(ax=axes, title="When they waited for it")
axes.set_xlabel("time (s)")
axes.set_ylabel("waiting (s)")
axes.legend(loc="upper center", bbox_to_anchor=(0.5, -0.18), ncol=2)  # below: it hides nothing
figure.tight_layout()
figure.savefig(folder / "time.png")

# ---- who waited, and who made the others wait
ranks = pd.DataFrame(report["by_rank"]).set_index("rank")
figure, axes = plt.subplots(figsize=(10, 4))
(ranks[["waiting_ns", "caused_ns"]] / SECOND).plot.bar(ax=axes, title="Ranks")
axes.set_ylabel("s")
axes.legend(["waited itself", "made others wait"])
figure.tight_layout()
figure.savefig(folder / "ranks.png")

# ---- the same as tables
print(causes[["name", "kind", "waiting_ns", "share", "remedy", "gain_ns"]].head(12).to_string())
print(f"\nwaiting in all: {report['waiting_ns'] / SECOND:.3f} s; causes {causes['waiting_ns'].sum() / SECOND:.3f} s, "
      f"the machine {report['machine']['waiting_ns'] / SECOND:.3f} s; by rank {ranks['waiting_ns'].sum() / SECOND:.3f} s")
