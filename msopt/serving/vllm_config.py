"""What msopt writes for a vLLM: its `speculative_config`.

`num_speculative_tokens_per_batch_size` is a list of inclusive ranges [first, last, tokens], the first from 1; a batch
size between two keeps the tokens before it, 0 is no draft, and all are clamped to `num_speculative_tokens`
(docs/features/speculative_decoding/dynamic_speculative_decoding.md of vLLM; a table with keys such as "1-16", as in a
comment on its pull request 32374, is refused by its validation). `synthetic_acceptance_rates` are unconditional:
entry i is the probability that the first i + 1 tokens are all accepted, S(i + 1).
"""

from collections.abc import Sequence
from typing import Any

import numpy as np

from msopt.measured.profile import Profile
from msopt.measured.served import Served
from msopt.model.acceptance import Acceptance


def synthetic_acceptance_rates(acceptance: Acceptance, length: int) -> list[float]:
    """S(1), ..., S(length) of the first device: what vLLM's sampler accepts by, whatever is drafted."""
    whole = np.arange(1.0, length + 1.0)[:, None]
    return [float(value) for value in acceptance.survival(whole + np.zeros(acceptance.mean.size))[:, 0]]


def speculative_config(
    profile: Profile,
    ranges: Sequence[tuple[int, int, int]],
    synthetic: Acceptance | None = None,
    served: Served | None = None,
) -> dict[str, Any] | None:
    """vLLM's `speculative_config` of a schedule, with synthetic acceptance where a law is given.

    Drafts are sampled as they were where the acceptance is from: in the profile by the draft's probabilities unless
    its temperature was 0; at the server that served it as its log says, and left at vLLM's default, its most
    probable token, where that does not say. None where nothing is ever drafted.
    """
    most = max(length for _, _, length in ranges)
    if most == 0:
        return None
    config: dict[str, Any] = {
        "method": "draft_model",
        "model": profile.draft.source,
        "num_speculative_tokens": most,
        "num_speculative_tokens_per_batch_size": [list(each) for each in ranges],
    }
    if served is not None:
        method = served.draft_sample_method
    else:
        method = "probabilistic" if profile.sampling is not None and profile.sampling.temperature > 0.0 else None
    if method is not None:
        config["draft_sample_method"] = method
    if synthetic is not None:
        config["rejection_sample_method"] = "synthetic"
        config["synthetic_acceptance_rates"] = synthetic_acceptance_rates(synthetic, most)
    return config
