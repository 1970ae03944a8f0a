"""Where the numbers of a profile come from: models, vocabularies, sampling, machine (design section 8)."""

from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field, StringConstraints, model_validator

Text = Annotated[str, StringConstraints(min_length=1, pattern=r"\S")]
Sha256 = Annotated[str, StringConstraints(pattern=r"^[0-9a-f]{64}$")]
Count = Annotated[int, Field(ge=0)]
Positive = Annotated[int, Field(ge=1)]
Share = Annotated[float, Field(ge=0.0, le=1.0)]
Day = Annotated[str, StringConstraints(pattern=r"^\d{4}-\d{2}-\d{2}$")]
Seconds = Annotated[float, Field(ge=0.0, le=1e30)]


class Part(BaseModel):
    """Whatever a profile consists of: every key known, every type exact, every number finite, nothing changed."""

    model_config = ConfigDict(extra="forbid", strict=True, frozen=True, allow_inf_nan=False)


class Model(Part):
    """One language model as it was run.

    Attributes
    ----------
    name, source : str
        What it is called; where it was loaded from: a Hugging Face id, a package, a file's name.
    quantisation : str or None
        How its stored weights are quantised ("Q4_K_M"); None: not at all.
    compute_type : str
        The type computed in ("float32", "bfloat16").
    file_sha256 : str or None
        SHA-256 of the weights' file, 64 hexadecimal digits; None where there is no one file.
    parameters : int
        How many parameters were run, those of left-out layers not counted.
    layers : int
        How many layers the model has before any is left out.
    layers_left_out : tuple of int
        Indices of the layers that were skipped, ascending from 0.
    random_weights : bool
        Whether only the architecture is the named model's.
    """

    name: Text
    source: Text
    quantisation: Text | None = None
    compute_type: Text
    file_sha256: Sha256 | None = None
    parameters: Positive
    layers: Positive
    layers_left_out: tuple[Count, ...] = ()
    random_weights: bool = False

    @model_validator(mode="after")
    def _check(self) -> "Model":
        left_out = self.layers_left_out
        if list(left_out) != sorted(set(left_out)) or (left_out and left_out[-1] >= self.layers):
            raise ValueError(f"layers_left_out holds ascending indices below layers = {self.layers}")
        return self


class Vocabulary(Part):
    """Sizes of the vocabularies, and the probability that a cut to the target's tokens leaves out.

    Attributes
    ----------
    tokenizer_entries : int
        Entries of the tokenizer, which the two models share [token].
    draft_entries, target_entries : int
        Width of each model's distribution, padding included [token].
    shared_entries : int
        The entries that both have a token for: drafts hold no other [token].
    draft_mass_outside, target_mass_outside : float or None
        Mean probability on what is cut off, padding and tokens of the draft alone [1]; None where it was not measured.
    """

    tokenizer_entries: Positive
    draft_entries: Positive
    target_entries: Positive
    shared_entries: Positive
    draft_mass_outside: Share | None = None
    target_mass_outside: Share | None = None

    @model_validator(mode="after")
    def _check(self) -> "Vocabulary":
        most = min(self.draft_entries, self.target_entries)
        if self.shared_entries > most:
            raise ValueError(f"shared_entries = {self.shared_entries} is above the smaller vocabulary, {most}")
        return self

    @property
    def token_bits(self) -> int:
        """Bits of one token's index: enough for every entry of the tokenizer [bit]."""
        return max(1, (self.tokenizer_entries - 1).bit_length())


class Sampling(Part):
    """How both models sampled, alike on both sides.

    Attributes
    ----------
    temperature : float
        0: the most probable token.
    top_k, top_p : int or None, float or None
        Filters [token], [1]; None: none.
    draft_length : int
        Tokens drafted in each measured round [token].
    tokens : int or None
        Tokens generated for each prompt at least, unless the text ended before [token]; None: not recorded.
    """

    temperature: Annotated[float, Field(ge=0.0)]
    top_k: Positive | None = None
    top_p: Annotated[float, Field(gt=0.0, le=1.0)] | None = None
    draft_length: Positive
    tokens: Positive | None = None


class Machine(Part):
    """What the times were measured on.

    Attributes
    ----------
    cpu : str
        Model of the processor.
    threads : int
        Threads computed with.
    gpu : str or None
        Model of the accelerator computed on; None: the processor.
    """

    cpu: Text
    threads: Positive
    gpu: Text | None = None

    @property
    def label(self) -> str:
        """What computed, in words."""
        return self.gpu or f"{self.cpu}, {self.threads} thread{'s' if self.threads > 1 else ''}"


class Origin(Part):
    """Where and when a part of a profile was measured that was not measured with the rest of it.

    Attributes
    ----------
    name : str
        The profile that it was first written to.
    machine : Machine
    versions : dict
        Library to version.
    date : str
        Day of the measurement, YYYY-MM-DD.
    """

    name: Text
    machine: Machine
    versions: dict[str, str]
    date: Day

    @property
    def label(self) -> str:
        """Which measurement it was, in words."""
        return f"{self.name}, on {self.machine.label}, {self.date}"
