"""The settings of the two papers.

A preset is a table of numbers and two lists that say whose each number is: `stated` by the paper, or `ours`
where the paper states nothing or neglects it. The same lists become the comment at the head of the file.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace

from msopt.drawn.channel import MULTISPIN_CELL, ULDL_CELL, Cell


@dataclass(frozen=True, kw_only=True)
class Preset:
    """The setting of one model pair in one paper; its cell is in `msopt.drawn.channel`.

    Attributes
    ----------
    name, paper, pair : str
        The preset, its paper, and which model drafts for which.
    cell : Cell
        Radio.
    acceptance : tuple of (dataset, mean)
        Mean acceptance on each dataset [1].
    draft_mean_s, draft_spread : float, tuple of 2 float
        Draft time per token is uniform in this range [1] times the mean [s].
    server_draft_s_per_token, verify_base_s, verify_per_device_s : float
        Times at the server [s].
    token_bits, kept_entries, entry_bits, index_bits : int
        Payloads; a distribution is sent as `kept_entries` probabilities, each with its index [bit].
    max_draft_length : int
        Longest draft [token].
    stated, ours : tuples of str
        What the paper states and what is ours, as format strings of the preset `p`.
    """

    name: str
    paper: str
    pair: str
    cell: Cell
    acceptance: tuple[tuple[str, float], ...]
    draft_mean_s: float
    draft_spread: tuple[float, float]
    server_draft_s_per_token: float
    verify_base_s: float
    verify_per_device_s: float
    token_bits: int = 0
    kept_entries: int = 1024
    entry_bits: int = 16
    index_bits: int
    max_draft_length: int
    stated: tuple[str, ...]
    ours: tuple[str, ...]

    @property
    def distribution_bits(self) -> int:
        """One distribution as sent [bit]."""
        return self.kept_entries * (self.entry_bits + self.index_bits)

    @property
    def datasets(self) -> tuple[str, ...]:
        """The names of the datasets, in the paper's order."""
        return tuple(dataset for dataset, _ in self.acceptance)


ANY_DATASET = "law of the datasets: each device draws one of the four with equal probability; not stated"
TIMES_OF_THE_PAPER = (
    "times and payloads stay those of {p.pair} as above, on the paper's machines, whatever models and devices the "
    "acceptance is of: put those of your devices and of your server in their place"
)
_ONE_DISTRIBUTION = (
    "one distribution: {p.kept_entries} entries of {p.entry_bits} + {p.index_bits} bits, {p.distribution_bits} bits"
)
_VERIFICATION = (
    "verification on an A100: {p.verify_base_s:g} s + {p.verify_per_device_s:g} s for each device, nothing "
    "for each token"
)

_MULTISPIN = Preset(
    name="multispin-llama2",
    paper="[MS] Multi-SPIN (arXiv 2606.04581)",
    pair="TinyLlama-1.1B drafts for Llama-2-7B",
    cell=MULTISPIN_CELL,
    acceptance=(("MBPP+", 0.8582), ("GSM8K", 0.7390), ("MT-Bench", 0.7393), ("SQuAD", 0.7126)),
    draft_mean_s=0.025,
    draft_spread=(0.85, 1.15),
    server_draft_s_per_token=0.0196,
    verify_base_s=0.02268,
    verify_per_device_s=0.01272,
    index_bits=15,
    max_draft_length=25,
    stated=(
        _VERIFICATION + "; which of the two fitted numbers is which was read off the ranges of a figure's axes",
        "acceptance: the mean on the device's dataset in Table I, as a geometric law; the table's deviation "
        "over prompts is left out",
        _ONE_DISTRIBUTION,
        "draft time per token: between {p.draft_spread[0]:g} and {p.draft_spread[1]:g} times a mean",
        "longest draft: {p.max_draft_length}, the limit of the paper's searches",
    ),
    ours=(
        "mean draft time: {p.draft_mean_s:g} s a token, not stated; chosen, with the power of a device, to "
        "come near the paper's headline goodput: plausible, no more",
        "law of the draft times: uniform; the paper gives the range alone",
        ANY_DATASET,
        "server.draft_s_per_token: {p.server_draft_s_per_token:g} s, not stated; the A100 figure of [UD], "
        "arXiv 2608.29618, for its draft model nearest in size",
        "token_bits: {p.token_bits}; the paper neglects what a token costs beside its distribution",
    ),
)
_ULDL = Preset(
    name="uldl-qwen25",
    paper="[UD] Multi-Access Speculative Inference: Uplink or Downlink? (arXiv 2608.29618)",
    pair="Qwen2.5-0.5B drafts for Qwen2.5-14B",
    cell=ULDL_CELL,
    acceptance=(("HumanEval", 0.9453), ("GSM8K", 0.8580), ("MT-Bench", 0.8509), ("IFEval", 0.8816)),
    draft_mean_s=0.0152,
    draft_spread=(1.0, 1.15),
    server_draft_s_per_token=0.0152,
    verify_base_s=0.0428,
    verify_per_device_s=0.0076,
    index_bits=18,
    max_draft_length=20,
    stated=(
        _VERIFICATION,
        "acceptance: that of the device's dataset, as a geometric law",
        _ONE_DISTRIBUTION,
        "draft time per token: uniform between {p.draft_spread[0]:g} and {p.draft_spread[1]:g} times "
        "{p.draft_mean_s:g} s, measured on an A100",
    ),
    ours=(
        "longest draft: {p.max_draft_length}, the end of the paper's search over uniform lengths; it states "
        "no limit for the others",
        ANY_DATASET,
        "server.draft_s_per_token: {p.server_draft_s_per_token:g} s; the paper drafts at the devices only, "
        "this is its A100 figure for them",
        "token_bits: {p.token_bits}; the paper neglects the upload of tokens and their probabilities",
    ),
)
PRESETS: Mapping[str, Preset] = {
    preset.name: preset
    for preset in (
        _MULTISPIN,
        replace(
            _MULTISPIN,
            name="multispin-qwen35",
            pair="Qwen3.5-0.8B drafts for Qwen3.5-27B",
            acceptance=(("MBPP+", 0.8100), ("GSM8K", 0.9340), ("MT-Bench", 0.9318), ("SQuAD", 0.9650)),
            draft_mean_s=0.035,
            server_draft_s_per_token=0.0152,
            verify_base_s=0.07507,
            verify_per_device_s=0.01978,
            index_bits=18,
        ),
        _ULDL,
        replace(
            _ULDL,
            name="uldl-deepseek-r1",
            pair="DeepSeek-R1-Distill-Qwen-1.5B drafts for DeepSeek-R1-Distill-Qwen-32B",
            acceptance=(("HumanEval", 0.8691), ("GSM8K", 0.8618), ("MT-Bench", 0.8221), ("IFEval", 0.8323)),
            draft_mean_s=0.0196,
            server_draft_s_per_token=0.0196,
            verify_base_s=0.0693,
            verify_per_device_s=0.0091,
        ),
    )
}
"""The presets by name."""
