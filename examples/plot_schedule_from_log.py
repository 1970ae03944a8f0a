"""
From a server's log to a draft-length schedule
==============================================

vLLM prints every ten seconds how many drafts it verified and how many of them passed at each position. That is the
acceptance of *its* traffic. The times of drafting and verifying come from a measured profile. Together they give the
best length for every batch size, and the setting by which the server follows it.

**Finding.** Alone, a sequence gains 35 % by drafts of 2 tokens; the 5 that the log's server drafts gain 14 %. With 3
to 5 sequences one token is best, and from 6 on this server, a processor's core, had better not draft at all.

**Setting.** Two intervals of a log, 5000 drafts of 5 tokens; times of the bundled profile qwen2.5-coder-0.5b-1.5b.
"""

import matplotlib.pyplot as plt
import numpy as np

import msopt
from msopt.measured.servers import read_server
from msopt.measured.verification_times import VerificationTimes
from msopt.serving.batch_lengths import schedule
from msopt.serving.vllm_config import speculative_config

plt.style.use("msopt.plain")

LOG = """\
INFO 05-11 20:12:38 [metrics.py:84] SpecDecoding metrics: Draft acceptance rate: 48.9%, Mean acceptance length: 3.44, \
Accepted: 7332 tokens, Drafted: 15000 tokens, Per-position acceptance rate: 0.751, 0.593, 0.464, 0.358, 0.278
INFO 05-11 20:12:48 [metrics.py:84] SpecDecoding metrics: Draft acceptance rate: 47.5%, Mean acceptance length: 3.38, \
Accepted: 4752 tokens, Drafted: 10000 tokens, Per-position acceptance rate: 0.742, 0.580, 0.452, 0.344, 0.258
"""

served = read_server(LOG)
law = served.law(1)
profile = msopt.read_profile(msopt.bundled.profile_path("qwen2.5-coder-0.5b-1.5b"))
found = schedule(law, VerificationTimes(profile).seconds, profile.server_draft_s, range(1, 21), 8)
config = speculative_config(profile, found.ranges, served=served)
print(config)

figure, (left, right) = plt.subplots(1, 2)
positions = np.arange(1, len(served.curve) + 1)
low, high = ([getattr(point, end) for point in served.curve] for end in ("low", "high"))
left.plot(positions, [point.survival for point in served.curve], label="as the log tells it")
left.fill_between(positions, low, high, alpha=0.3, linewidth=0)
left.plot(positions, served.curve[0].survival ** positions, label="were every token like the first")
left.set(
    xlabel="position l in the draft",
    ylabel="all of the first l accepted",
    ylim=(0.0, 1.0),
    title="Acceptance of the traffic",
)
left.set_xticks(positions)
left.legend()
for length in (0, 2, 4):
    right.plot(found.batch_sizes, found.goodput_by_length[:, length], label=f"{length} tokens always", marker="")
right.plot(
    found.batch_sizes,
    found.goodput,
    label="the schedule",
    color="0.5",
    linewidth=5,
    alpha=0.5,
    marker="",
    linestyle="-",
)
right.set(xlabel="sequences in the batch", ylabel="goodput [token/s]", title="What the schedule follows")
right.set_ylim(bottom=0.0)
right.legend()
figure.savefig("schedule_from_log.png")
