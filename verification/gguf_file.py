"""Looking through a GGUF file before it is loaded: libraries believe the lengths that it gives."""

from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

from verification.whole_weights import check_layers

MOST_ENTRIES = 2**22
"""Of a list in the header. A vocabulary has some hundred thousand; each entry is read singly."""


def check_gguf(file: Path) -> str:
    """Read a GGUF file's header and say in which quantisation most of its weights are.

    Raises
    ------
    ValueError or others
        Where the file is cut, not a GGUF file, or says of itself what cannot be.
    """
    reader = _reader(file.resolve())
    architecture = reader.get_field("general.architecture")
    if architecture is None or not reader.tensors:
        raise ValueError("it holds no model")
    layers = reader.get_field(f"{architecture.contents()}.block_count")
    check_layers(None if layers is None else layers.contents())
    sizes: dict[str, int] = {}
    for tensor in reader.tensors:
        sizes[tensor.tensor_type.name] = sizes.get(tensor.tensor_type.name, 0) + int(tensor.n_elements)
    return f"GGUF, mostly {max(sizes, key=lambda name: sizes[name])}"


@contextmanager
def headers_read_once() -> Iterator[None]:
    """Where transformers has gguf read a file's header, for each part of a model anew, it is given that of `_reader`.

    The names of the weights, which it has listed for each part of the network, are listed once, too.
    """
    import gguf

    before = {name: getattr(gguf, name) for name in ("GGUFReader", "get_tensor_name_map")}
    gguf.GGUFReader = lambda file: _reader(Path(file).resolve())
    gguf.get_tensor_name_map = cache(gguf.get_tensor_name_map)
    try:
        yield
    finally:
        for name, own in before.items():
            setattr(gguf, name, own)
        _reader.cache_clear()


@cache
def _reader(file: Path) -> Any:
    """A reader that stays within the file, where gguf's own takes what lies behind the end for empty and reads on."""
    from gguf.gguf_reader import GGUFReader, GGUFValueType

    class Within(GGUFReader):  # type: ignore[misc]
        @property
        def data(self) -> Any:
            return self._data

        @data.setter
        def data(self, mapped: Any) -> None:
            self._data = np.asarray(mapped)  # a plain array on the same file: slices of it take a fifth of the time

        def _get(self, offset: int, dtype: Any, count: int = 1, **more: Any) -> Any:
            if not 0 <= offset + np.dtype(dtype).itemsize * int(count) <= len(self.data):
                raise ValueError("the file is cut, or its header damaged")
            return super()._get(offset, dtype, count, **more)

        def _get_field_parts(self, start: int, kind: int) -> Any:
            if kind == GGUFValueType.ARRAY and self._get(start + 4, np.uint64)[0] > MOST_ENTRIES:
                raise ValueError(f"a list in it is longer than {MOST_ENTRIES} entries")
            return super()._get_field_parts(start, kind)

    return Within(file)
