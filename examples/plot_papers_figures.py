"""
A paper's figure, drawn again
=============================

[MS] Fig. 7 shows goodput against the bandwidth for four schemes. The report draws every figure of both papers. Each
is a study that can be taken out, made smaller or larger, and run by itself, with its intervals.

**Finding.** As the paper says goodput saturates and the gain narrows as the band grows: over the fixed scheme from
109 to 40 % (Llama-2) and from 70 to 31 % (Qwen3.5). Six draws leave the first of these uncertain; the paper has up to
88 %.

**Setting.** The study behind the figure, K = 20, with 6 draws in place of the report's 100.
"""

from pathlib import Path
from tempfile import TemporaryDirectory

import matplotlib.pyplot as plt
import pandas as pd

from reports.studies.effort import EFFORTS
from reports.studies.paper_figures import STUDIED, figure_table, studies, with_pairs
from reports.studies.sweep import sweep

plt.style.use("msopt.plain")

NAME, DRAWS = "ms_fig7", 6

study = studies(EFFORTS["quick"], seed=0)[NAME].model_copy(update={"draws": DRAWS})
with TemporaryDirectory() as folder:
    draws = with_pairs(pd.read_parquet(sweep(study, Path(folder), jobs=1).results))
means = figure_table(STUDIED[NAME], draws)

figure, panels = plt.subplots(1, 2)
for axes, (pair, of_pair) in zip(panels, means.groupby("pair", sort=False), strict=True):
    for scheme, row in of_pair.groupby("scheme", sort=False):
        (line,) = axes.plot(row["bandwidth_hz"] / 1e6, row["mean"], label=scheme)
        axes.fill_between(row["bandwidth_hz"] / 1e6, row["low"], row["high"], color=line.get_color(), alpha=0.13)
    axes.set(xlabel="uplink band [MHz]", ylabel="goodput, 95 % interval [token/s]", title=pair)
    axes.set_ylim(bottom=0.0)
panels[1].legend(loc="lower right")
figure.savefig("papers_figures.png")
