"""
A sweep on a cluster
====================

A study is a few lines: presets, draws, what is varied, methods. Here it runs on a Dask cluster inside this process;
with the address of a real one it runs there, and `msopt sweep study.toml --dask ADDRESS` is the same from a shell.
The results are a table with a row for each draw and method, the same bytes whatever ran them; a run that is
interrupted goes on.

**Finding.** In multispin-qwen35 one length for all keeps 97.8 % of the optimum where all devices accept alike, and
94.2 % where their differences are doubled; in multispin-llama2, whose devices differ little, 99 % at every spread. An
equal split of the band keeps 96 to 98 % in both, whatever the spread.

**Setting.** K = 10, 4 draws; the spread multiplies the deviations of the acceptance, in log-odds.
"""

from pathlib import Path
from tempfile import TemporaryDirectory

import matplotlib.pyplot as plt
from distributed import LocalCluster

from reports.studies.study import parse_study
from reports.studies.sweep import sweep

plt.style.use("msopt.plain")

STUDY = """
presets = ["multispin-llama2", "multispin-qwen35"]
methods = ["optimum", "homogeneous", "equal-bandwidth"]
draws = 4
[fixed]
devices = 10
[axes]
acceptance_spread = [0.0, 0.5, 1.0, 1.5, 2.0]
"""

with (
    TemporaryDirectory() as folder,
    LocalCluster(n_workers=1, threads_per_worker=1, processes=False, dashboard_address=None) as cluster,
):
    swept = sweep(parse_study(STUDY), Path(folder), dask=cluster.scheduler_address)
    rows = swept.to_frame()
goodput = rows.pivot_table("goodput_tokens_per_s", ["base", "draw", "acceptance_spread"], "scheme")
kept = goodput.div(goodput["optimum"], axis=0).groupby(["base", "acceptance_spread"]).agg(["mean", "min"])

figure, panels = plt.subplots(1, 2, sharey=True)
for axes, (preset, of_preset) in zip(panels, kept.groupby("base"), strict=True):
    spread = of_preset.index.get_level_values("acceptance_spread")
    for scheme in ("homogeneous", "equal-bandwidth"):
        (line,) = axes.plot(spread, 100.0 * of_preset[scheme, "mean"], label=scheme)
        axes.fill_between(
            spread,
            100.0 * of_preset[scheme, "min"],
            100.0 * of_preset[scheme, "mean"],
            color=line.get_color(),
            alpha=0.15,
        )
    axes.set(xlabel="spread of the acceptance [1 = as measured]", title=f"{preset}; bands down to the worst draw")
panels[0].set_ylabel("part of the optimum [%]")
panels[0].legend(loc="lower left")
figure.savefig("sweep_on_dask.png")
