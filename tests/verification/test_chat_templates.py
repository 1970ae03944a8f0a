"""Chat templates are programs of strangers: what they make is used, what they do wrong is one line."""

import copy
import multiprocessing
from collections.abc import Iterator
from dataclasses import replace

import pytest
from tokenizers import processors

from msopt import ParameterError
from verification import chat_template
from verification.language_model import LanguageModel
from verification.pairs import Pair
from verification.reading import check_prompts


@pytest.fixture
def model(tiny: Pair) -> LanguageModel:
    """The tiny target with a tokenizer of its own, which knows chats once a test sets a template."""
    return replace(tiny.target, tokenizer=copy.deepcopy(tiny.target.tokenizer))


@pytest.fixture
def none_left_running() -> Iterator[None]:
    """Nothing runs after the test that did not before it: what other tests' pools keep alive is theirs."""
    before = set(multiprocessing.active_children())
    yield
    assert set(multiprocessing.active_children()) <= before


@pytest.mark.usefixtures("none_left_running")
def test_a_template_makes_the_prompt(model: LanguageModel, capfd: pytest.CaptureFixture[str]) -> None:
    plain = model.chat("hello")
    model.tokenizer.chat_template = (
        "{% for message in messages %}{{ message.role }}.{{ message.content }}{% endfor %}"
        "{% if add_generation_prompt %},{% endif %}"
    )
    assert model.chat("hello") == model.tokens("user.hello,")
    model.tokenizer.chat_template = {"default": "{{ messages[0].content }}"}
    assert model.chat("hello") == plain
    check_prompts(model)
    assert capfd.readouterr() == ("", "")


@pytest.mark.parametrize("template", [None, "{{ bos_token }}{{ messages[0].content }}", "{{ messages[0].content }}"])
def test_a_prompt_begins_with_one_token_of_beginning_or_none(template: str | None, model: LanguageModel) -> None:
    """The tokenizer adds one to plain text; a template that writes its own gets no second, one without gets none."""
    begin = model.tokenizer.unk_token_id
    model.tokenizer.add_special_tokens({"bos_token": model.tokenizer.unk_token})
    model.tokenizer.backend_tokenizer.post_processor = processors.TemplateProcessing(
        single=f"{model.tokenizer.bos_token} $A", special_tokens=[(model.tokenizer.bos_token, begin)]
    )
    model.tokenizer.chat_template = template
    found = model.chat("hello")
    assert found.count(begin) == (1 if template is None or "bos" in template else 0)
    assert begin not in found[1:]


WRONG = {
    "raises": ("{{ raise_exception('no \x1b[31msystem\x07 turn') }}", r"TemplateError: no system\\x07 turn"),
    "wants a system turn": (
        "{% if messages[0].role != 'system' %}{{ raise_exception('System role required') }}{% endif %}",
        "System role required",
    ),
    "divides by zero": ("{{ 1 // 0 }}", "ZeroDivisionError"),
    "undefined": ("{{ user.name }}", "UndefinedError: .*undefined"),
    "syntax": ("{% for %}", "TemplateSyntaxError"),
    "empty": ("", "it makes nothing of a prompt"),
    "no text": (3, "TypeError: "),
    "reaches for Python": ("{{ ''.__class__.__mro__ }}", "SecurityError"),
    "reads files": ("{% include '/etc/passwd' %}", "no loader"),
    "half a character": ("{{ messages[0].content }}\ud800", "surrogates not allowed"),
    "endless recursion": ("{% macro a() %}{{ a() }}{% endmacro %}{{ a() }}", "recursion"),
    "nested": ("{{ " + "(" * 3000 + "1" + ")" * 3000 + " }}", "recursion|ended without an answer"),
    "a long text": ("{{ 'x' * 300000 }}", "more than 200000 characters"),
    "a text beyond all memory": ("{{ 'x' * 10**11 }}", "more than 512 MiB of memory"),
    "a long number": ("{{ '%1000000000d' % 3 }}", "more than 512 MiB of memory"),
}


@pytest.mark.parametrize("kind", WRONG)
def test_a_template_that_goes_wrong_is_one_line(
    kind: str, model: LanguageModel, capfd: pytest.CaptureFixture[str]
) -> None:
    model.tokenizer.chat_template, said = WRONG[kind]
    with pytest.raises(ParameterError, match=f'^the chat template of "target" cannot be used: .*(?:{said})') as caught:
        model.chat("hello")
    assert str(caught.value).isprintable()
    assert capfd.readouterr() == ("", "")


@pytest.mark.usefixtures("none_left_running")
@pytest.mark.parametrize(
    "template",
    [
        "{% for a in range(99999) %}{% for b in range(99999) %}{% for c in range(99999) %}{% endfor %}{% endfor %}"
        "{% endfor %}",
        "{% set n = 9**99999999 %}",  # one operation, which nothing within Python can stop
    ],
    ids=["loop", "power"],
)
def test_a_template_without_an_end_is_ended(
    template: str, model: LanguageModel, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(chat_template, "TIME_LIMIT_S", 0.2)
    model.tokenizer.chat_template = template
    with pytest.raises(ParameterError, match=r"takes more than 0\.2 s"):
        model.chat("hello")


def test_a_template_that_makes_the_same_of_every_prompt_is_refused(model: LanguageModel) -> None:
    model.tokenizer.chat_template = "hello"
    with pytest.raises(ParameterError, match="the same of every prompt"):
        check_prompts(model)
