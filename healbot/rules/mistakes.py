"""What is wrong with a document, in sentences: where, which key, what to write instead.

Knows pydantic's errors and a document's lines, and no particular record. A value is quoted only
where it is short; what looks like a secret is never shown.
"""

import difflib
import re
import types
import typing
from collections.abc import Iterator, Mapping, Sequence

from pydantic import BaseModel, ValidationError

from healbot.rules.documents import Document, Step

SHOWN_MISTAKES = 5
"""How many mistakes are listed before the rest is counted."""
SHOWN_VALUE = 60
"""The longest value that is quoted, in characters."""
CLOSE_ENOUGH = 0.6
"""How alike a typo and a known word must be for a "did you mean" (difflib's ratio)."""

SECRET = re.compile(
    r"(?<![A-Za-z0-9])(sk-[A-Za-z0-9_-]{8,}|[spr]k_(live|test)_\w{8,}|gh[pousr]_[A-Za-z0-9]{16,}"
    r"|github_pat_\w{16,}|glpat-[\w-]{12,}|xox[abeoprs]-[\w-]{8,}|A(KIA|SIA)[0-9A-Z]{12,}"
    r"|AIza[\w-]{20,}|hf_[A-Za-z0-9]{16,}|eyJ[\w-]{10,}\.[\w-]{10,}|-----BEGIN [A-Z ]*PRIVATE KEY)"
)
"""Shapes that only credentials have."""
_URL_PASSWORD = re.compile(r"://[^/\s:@]+:[^/\s@]+@")
_EXPECTED = {
    **dict.fromkeys(("model_type", "model_attributes_type", "dict_type"), "a mapping is expected"),
    **dict.fromkeys(("tuple_type", "list_type"), "a list is expected"),
    **dict.fromkeys(("int_type", "int_parsing", "int_from_float"), "a whole number is expected"),
    **dict.fromkeys(("float_type", "float_parsing"), "a number is expected"),
    **dict.fromkeys(("bool_type", "bool_parsing"), "true or false is expected"),
    "int_parsing_size": "the number is too large",
    "string_type": "text is expected",
    "too_short": "at least one is needed",
}
_BOUNDS = {
    "greater_than": ("gt", "more than"),
    "greater_than_equal": ("ge", "at least"),
    "less_than": ("lt", "less than"),
    "less_than_equal": ("le", "at most"),
}
_QUOTED = re.compile(r"'([^']*)'")


def explain(
    error: ValidationError,
    document: Document,
    *,
    model: type[BaseModel],
    base: Sequence[Step] = (),
) -> list[str]:
    """Return one sentence for each mistake, ``file:line`` first, in the order of the lines.

    ``base`` is where the model's value stands in the document. One typo gives one sentence: what
    only follows from another mistake is left out.
    """
    items = error.errors(include_url=False)
    found: dict[tuple[str, str], tuple[int, str]] = {}
    for item in _causes(items, model):
        path = (*base, *item["loc"])
        line, key = document.line(path), key_of(document.known(path)[len(base) :])
        group = (key, str(path[-1]) if item["type"] == "missing" else "")
        if group not in found:
            text = _text(item, key, _model_at(model, item["loc"]))
            found[group] = (line, f"{document.name}:{line}: {text}")
    return [text for _, text in sorted(found.values(), key=lambda pair: pair[0])]


def _causes(items: Sequence[typing.Any], model: type[BaseModel]) -> Iterator[typing.Any]:
    """Leave out what follows from another mistake: an emptied list, a key that was mistyped."""
    meant = set()
    for item in items:
        inner = _model_at(model, item["loc"])
        if item["type"] == "extra_forbidden" and inner:
            near = _nearest(str(item["loc"][-1]), words(inner))
            meant.add((*item["loc"][:-1], near))
    for item in items:
        loc, kind = item["loc"], item["type"]
        deeper = any(one["loc"][: len(loc)] == loc and len(one["loc"]) > len(loc) for one in items)
        emptied = kind == "too_short" and (deeper or bool(item["input"]))
        mistyped = kind == "missing" and loc in meant
        other_branch = kind == "literal_error" and isinstance(item["input"], dict)
        if not (emptied or mistyped or other_branch):
            yield item


def listed(mistakes: Sequence[str]) -> str:
    """Join the first mistakes, one a line, and count the rest."""
    shown = list(mistakes[:SHOWN_MISTAKES])
    rest = len(mistakes) - len(shown)
    return "\n".join([*shown, f"and {rest} more."] if rest else shown)


def did_you_mean(word: str, known: Sequence[str]) -> str:
    """Return ``did you mean 'x'?`` for the nearest known word, or an empty text."""
    near = _nearest(word, known)
    return f"did you mean {near!r}?" if near else ""


def _nearest(word: str, known: Sequence[str]) -> str:
    by_fold = {one.casefold().replace("_", "-"): one for one in known}
    wanted = word.casefold().replace("_", "-")
    near = difflib.get_close_matches(wanted, list(by_fold), n=1, cutoff=CLOSE_ENOUGH)
    return by_fold[near[0]] if near else ""


def unknown_key(key: str, known: Sequence[str]) -> str:
    """Return a sentence on a key that nobody knows."""
    if "key_env" in known and any(word in key.casefold() for word in ("key", "token", "secret")):
        return f"unknown key {key!r}; name the variable that holds the key in key_env"
    return f"unknown key {key!r}; {did_you_mean(key, known) or 'known here: ' + ', '.join(known)}"


def words(model: type[BaseModel]) -> tuple[str, ...]:
    """Return a record's keys as users write them; those that no user writes are left out."""
    return tuple(
        field.alias or name for name, field in model.model_fields.items() if not field.exclude
    )


def secrets(value: object, path: tuple[Step, ...] = ()) -> Iterator[tuple[Step, ...]]:
    """Yield the path of every text in plain data that has the shape of a credential."""
    if isinstance(value, str) and (SECRET.search(value) or _URL_PASSWORD.search(value)):
        yield path
    if isinstance(value, dict):
        for key, inner in value.items():
            yield from secrets(inner, (*path, key))
    if isinstance(value, list):
        for index, inner in enumerate(value):
            yield from secrets(inner, (*path, index))


def key_of(path: Sequence[Step]) -> str:
    """Render a path as people write it: ``agents[0].run.command``."""
    parts = [f"[{step}]" if isinstance(step, int) else f".{step}" for step in path]
    return "".join(parts).lstrip(".")


def _text(item: typing.Any, key: str, model: type[BaseModel] | None) -> str:
    at = f"{key}: " if key else ""
    kind, last = item["type"], str(item["loc"][-1]) if item["loc"] else ""
    if kind == "extra_forbidden":
        parent = key.rpartition(".")[0]
        text = unknown_key(last, words(model) if model else ())
        return f"{parent + ': ' if parent else ''}{text}{'' if text.endswith('?') else '.'}"
    if kind in ("literal_error", "enum"):
        return at + _choice(item)
    if kind == "string_type" and isinstance(item["input"], (int, float)):
        return f"{at}text is expected; write it in quotes."
    if kind == "value_error":
        return f"{at}{str(item['msg']).removeprefix('Value error, ')}."
    if kind == "missing":
        return f"{at}the key {last!r} is missing."
    said = _bound(item) or _shape(item, last, model) or _EXPECTED.get(kind)
    message = str(item["msg"])
    said = said or f"{message[:1].lower()}{message[1:]}"
    return f"{at}{said}{_quoted(item['input'])}."


def _bound(item: Mapping[str, typing.Any]) -> str:
    if item["type"] not in _BOUNDS:
        return ""
    word, than = _BOUNDS[item["type"]]
    return f"must be {than} {item['ctx'][word]:,}"


def _shape(item: Mapping[str, typing.Any], last: str, model: type[BaseModel] | None) -> str:
    field = model.model_fields.get(last) if model else None
    if item["type"] != "string_pattern_mismatch" or field is None or not field.description:
        return ""
    return f"must be {field.description[:1].lower()}{field.description[1:].rstrip('.')}"


def _choice(item: Mapping[str, typing.Any]) -> str:
    expected = str(item.get("ctx", {}).get("expected", ""))
    choices = _QUOTED.findall(expected)
    if not choices and item["input"] == expected:
        return f"must be the number {expected}, without quotes."
    near = did_you_mean(str(item["input"]), choices) if isinstance(item["input"], str) else ""
    text = f"must be {expected}{_quoted(item['input'])}"
    return f"{text}; {near}" if near else f"{text}."


def _quoted(value: object) -> str:
    if not isinstance(value, (str, int, float)) or len(str(value)) > SHOWN_VALUE:
        return ""
    return "" if SECRET.search(str(value)) else f" (found {value!r})"


def _model_at(model: type[BaseModel], loc: Sequence[Step]) -> type[BaseModel] | None:
    """Return the record whose key the last step of a place is."""
    here: type[BaseModel] | None = model
    for step in loc[:-1]:
        if here is None or isinstance(step, int):
            continue
        fields = {field.alias or name: field for name, field in here.model_fields.items()}
        if step in fields:
            inner = list(_models(fields[step].annotation))
            here = inner[0] if inner else None
    return here


def _models(annotation: object) -> Iterator[type[BaseModel]]:
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        yield annotation
    if isinstance(annotation, types.GenericAlias | types.UnionType) or typing.get_origin(
        annotation
    ):
        for part in typing.get_args(annotation):
            yield from _models(part)
