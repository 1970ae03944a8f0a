"""Rounds played with real models: which device drafts with what for which prompts, and what is written of it."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from msopt import Control, ParameterError, PlayedRounds, Scenario
from msopt.emulation.assumptions import DraftRecord, token_effects, tokens_per_round
from msopt.emulation.drawn_rounds import FormulaClock
from msopt.emulation.left_out import FORMULA
from msopt.emulation.sources import RoundSources
from msopt.errors import describe
from msopt.files.profile_json import find_profile
from msopt.files.scenario_toml import load_toml
from msopt.files.whole_files import read_text
from msopt.measured.profile import Profile
from msopt.model.problems import KINDS, Problem
from msopt.model.validation import check_whole
from reports.cli.measure_command import require_models
from reports.shared.inputs import scenario_path
from reports.shared.rows import Row, finite_or_none
from reports.shared.words import between, number

if TYPE_CHECKING:
    from rich.console import Console

    from verification.pairs import Pair
    from verification.played_texts import Drafter, PlayedTexts
    from verification.sampling import SamplingRule

PlayedClock = Literal["profile", "measured"]
DraftModels = Annotated[
    list[str] | None,
    typer.Option(
        "--draft",
        metavar="MODEL",
        help="Play with models: a GGUF file, a folder, a Hugging Face id, smollm2, or skip-N; may be repeated. A "
        "device drafts with the one that its profile was measured with; without a profile devices take them in turn.",
    ),
]
PlayedClockOption = Annotated[
    PlayedClock, typer.Option("--clock", help="Steps take the scenario's times, or those measured here.")
]
Quiet = Annotated[bool, typer.Option("--quiet", help="Show no view of the play while it runs.")]
TEXT_TOKENS, PROMPTS = 96, 8
"""As `msopt measure` has them."""


@dataclass(frozen=True, kw_only=True)
class ModelOptions:
    """What the command line says of the models.

    Attributes
    ----------
    draft : tuple of str
        One for each draft model.
    target : str
    task : tuple of str
        Devices whose file names no task take them in turn; none: all that there are.
    first, prompts : int
        Which prompts of each task: so many from the one at a place on.
    tokens : int
        Of a text at most.
    temperature : float
    top_k, top_p : optional
    device, dtype : str
    threads : int or None
    clock : "profile" or "measured"
    """

    draft: tuple[str, ...]
    target: str = "smollm2"
    task: tuple[str, ...] = ()
    first: int = 0
    prompts: int = PROMPTS
    tokens: int = TEXT_TOKENS
    temperature: float = 1.0
    top_k: int | None = None
    top_p: float | None = None
    device: str = "cpu"
    dtype: str = "float32"
    threads: int | None = None
    clock: PlayedClock = "profile"

    def check(self) -> None:
        """Refuse what is out of range, and what no installation runs; no model is loaded for it."""
        require_models("models need")
        from verification.prompts import prompts_of

        check_whole("--tokens", self.tokens, 1)
        check_whole("--prompts", self.prompts, 1)
        _ = self.rule
        for task in self.task:
            prompts_of(task)

    def loaded(self) -> "list[Pair]":
        """Every draft with the target."""
        from verification.measurement import use_threads
        from verification.pairs import load_pairs

        use_threads(self.threads)
        return load_pairs(self.draft, self.target, dtype=self.dtype, device=self.device)

    @property
    def rule(self) -> "SamplingRule":
        """How tokens are drawn; ParameterError for numbers out of range."""
        from verification.sampling import SamplingRule

        return SamplingRule(self.temperature, self.top_k, self.top_p)


@dataclass(frozen=True)
class Role:
    """What a device drafts with and is asked, where that is said: the profile of its draft, a task."""

    profile: Profile | None = None
    task: str | None = None


def roles_of(file: str) -> list[Role]:
    """The roles of a scenario file's devices, by their keys `profile` and `task`."""
    path = scenario_path(file)
    return [
        Role(find_profile(one["profile"], path.parent) if "profile" in one else None, one.get("task"))
        for one in load_toml(read_text(path))["devices"]
    ]


class Models:
    """The loaded pairs of a scenario's devices.

    Parameters
    ----------
    scenario : Scenario
    roles : sequence of Role
    options : ModelOptions
    pairs : sequence of Pair, optional
        Those that the options name, where they are loaded.

    Raises
    ------
    ParameterError
        For numbers out of range, models that cannot be loaded, a profile whose draft is not among them, or prompts
        that there are not.
    """

    def __init__(
        self, scenario: Scenario, roles: Sequence[Role], options: ModelOptions, pairs: "Sequence[Pair] | None" = None
    ) -> None:
        options.check()
        from verification.prompts import all_prompts

        self.options = options
        known = options.task or tuple(all_prompts())
        self.tasks = [role.task or known[k % len(known)] for k, role in enumerate(roles)]
        self.prompts_of(options.first, options.prompts)
        pairs = options.loaded() if pairs is None else pairs
        self.pairs = [
            self._pair_of(role, pairs, name) or pairs[k % len(pairs)]
            for k, (role, name) in enumerate(zip(roles, scenario.device_names, strict=True))
        ]
        self._scenario = scenario
        self._roles = roles

    @property
    def others(self) -> list[str]:
        """A warning for each profile of other models than those that play in its place."""
        told: dict[str, None] = {}
        for role, pair in zip(self._roles, self.pairs, strict=True):
            if role.profile is not None:
                was, now = role.profile.label, f"{pair.draft.name} drafts for {pair.target.name}"
                told |= {} if was == now else {f"in profile {role.profile.name} {was}; here {now}": None}
        return list(told)

    def prompts_of(self, first: int, count: int) -> list[tuple[str, ...]]:
        """So many prompts for each device, from a place on."""
        from verification.prompts import prompts_of

        return [prompts_of(task, first + count)[first:] for task in self.tasks]

    @staticmethod
    def _pair_of(role: Role, pairs: Sequence["Pair"], name: str) -> "Pair | None":
        """The pair whose draft a profile was measured with; None where none is named, or one serves all."""
        if role.profile is None or len(pairs) == 1:
            return None
        for pair in pairs:
            if pair.draft.name == role.profile.draft.name:
                return pair
        given = ", ".join(pair.draft.name for pair in pairs)
        raise ParameterError(
            f"device {describe(name)}: its profile is of the draft {describe(role.profile.draft.name)}; "
            f"--draft gives {given}"
        )

    def drafters(self, first: int, count: int) -> "list[Drafter]":
        """The devices, with so many prompts from a place on."""
        from verification.played_texts import Drafter

        prompts = self.prompts_of(first, count)
        each = zip(self.pairs, self.tasks, prompts, range(len(self.pairs)), strict=True)
        return [Drafter(*one) for one in each]

    def texts(self, problem: Problem, seed: int, drafters: "Sequence[Drafter] | None" = None) -> "PlayedTexts":
        """The source of tokens for the devices, or for others of the same target."""
        from verification.played_texts import PlayedTexts, payload_of
        from verification.timing import Stopwatch

        options, target = self.options, self.pairs[0]
        return PlayedTexts(
            self.drafters(options.first, options.prompts) if drafters is None else drafters,
            options.rule,
            payload_of(self._scenario.distribution_bits, target.entries),
            every_token=KINDS[problem].sends_distribution,
            text_tokens=options.tokens,
            seed=seed,
            stopwatch=Stopwatch(target.target.device) if options.clock == "measured" else None,
        )

    def sources(self, texts: "PlayedTexts", rounds: int) -> RoundSources:
        """The sources of a play of so many rounds."""
        clock = texts if self.options.clock == "measured" else profile_clock(self._scenario)
        return RoundSources(texts, clock, shared_rounds(self.options.tokens, rounds))

    @property
    def record(self) -> Row:
        """What was played, for the record."""
        options = self.options
        return {
            "target": self.pairs[0].target.name,
            "drafts": [pair.draft.name for pair in self.pairs],
            "tasks": self.tasks,
            "prompts": options.prompts,
            "text_tokens": options.tokens,
            "temperature": options.temperature,
            "clock": options.clock,
        }


def played_by_models(scenario: Scenario, control: Control, played: PlayedRounds, record: DraftRecord) -> Row:
    """Tokens a round as realised and as predicted, by device and in all, and what each assumption is worth.

    What drafts that came through cannot tell is None, or left out.
    """
    means, reaches, reach = tokens_per_round(played, record)
    predicted = scenario.acceptance.expected_tokens(control.draft_length.astype(float))
    total, whole = float(means.sum()), float(predicted.sum())
    each = zip(scenario.device_names, means.tolist(), reaches.tolist(), predicted.tolist(), strict=True)
    effects = token_effects(scenario.acceptance, control.draft_length, played, record)
    return {
        "tokens_per_round": finite_or_none(total),
        "tokens_low": finite_or_none(total - reach),
        "tokens_high": finite_or_none(total + reach),
        "predicted_tokens": whole,
        "devices": [
            {
                "device": name,
                "tokens_per_round": finite_or_none(mean),
                "tokens_low": finite_or_none(mean - own),
                "tokens_high": finite_or_none(mean + own),
                "predicted_tokens": expected,
            }
            for name, mean, own, expected in each
        ],
        "assumptions": [
            {
                "assumption": one.assumption,
                "change": one.tokens / whole,
                "low": finite_or_none(one.low / whole),
                "high": finite_or_none(one.high / whole),
            }
            for one in effects
            if one.known
        ],
    }


def played_parquet(played: PlayedRounds, record: DraftRecord) -> bytes:
    """A row for each round and device, with the text, the prompt and the place in the text."""
    from reports.studies.sweep import parquet

    frame = played.to_frame()
    for name in ("text", "prompt", "place"):
        frame[name] = getattr(record, name).ravel()
    return parquet([{str(name): value for name, value in row.items()} for row in frame.to_dict("records")])


def show_model_play(console: "Console", record: Row) -> None:
    """Tokens a round beside those predicted, and the assumptions."""
    from reports.shared.table_terminal import show_table
    from reports.shared.text_table import Table, number_column, ratio_column, words_column

    ends = " to ".join(number(record[key], 4) for key in ("tokens_low", "tokens_high"))
    console.print(
        f"tokens a round: {number(record['tokens_per_round'], 4)} ({ends}); "
        f"by the formula {number(record['predicted_tokens'], 4)}"
    )
    columns = (
        words_column("device", "device"),
        number_column("tokens_per_round", "tokens", "/round", digits=4),
        number_column("predicted_tokens", "predicted", "/round", digits=4),
    )
    show_table(console, Table.of("", record["devices"], columns))
    if not record["assumptions"]:
        console.print("What each assumption is worth cannot be told: no whole draft of some device came through.")
        return
    rows = [row | {"ends": between(row["low"], row["high"])} for row in record["assumptions"]]
    console.print("What each assumption is worth, as a share of the predicted tokens:")
    effects = (
        words_column("assumption", "without it"),
        ratio_column("change", "tokens"),
        words_column("ends", "between", numeric=True),
    )
    show_table(console, Table.of("", rows, effects))


def profile_clock(scenario: Scenario) -> FormulaClock:
    """Steps take the scenario's times, which may be a profile's."""
    import numpy as np

    return FormulaClock(scenario, FORMULA, np.random.SeedSequence(0))


def shared_rounds(text_tokens: int, rounds: int) -> int:
    """Rounds that share a text, were two tokens won in each, and at most an eighth of the play."""
    return max(1, min(text_tokens // 2, rounds // 8))


def written_rows(texts: "PlayedTexts", models: Models) -> list[Row]:
    """Every text with its tokens, a row each."""
    return [
        {
            "device": text.device,
            "task": models.tasks[text.device],
            "prompt": models.options.first + text.prompt,
            "ended": text.ended,
            "tokens": list(text.tokens),
            "text": models.pairs[text.device].target.tokenizer.decode(text.tokens),
        }
        for text in texts.written
    ]
