"""JSON as JavaScript reads it, and JSON Schema as promptfoo applies it.

Knows values only: nothing is fetched, and a schema's own patterns run within a time limit. What is
wrong with the schema can't score; only the document can fail.
"""

import json
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from healbot.records.record import canonical
from healbot.rules.patterns import Unscorable, checked, found

JSON_STARTS = 10_000
"""How many opening braces a text may hold before the search for JSON in it is given up."""

JSON_SCAN = 20_000_000
"""How many characters that search may read in all."""

_LONG_NUMBER = 300


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


_SUBSCHEMA = _words(
    "additionalItems additionalProperties contains contentSchema else if items not propertyNames "
    "then unevaluatedItems unevaluatedProperties"
)
_SUBSCHEMAS = _words("allOf anyOf items oneOf prefixItems")
_NAMED_SUBSCHEMAS = _words(
    "$defs definitions dependencies dependentSchemas patternProperties properties"
)
_PLAIN = _words(
    "$anchor $comment $dynamicAnchor $dynamicRef $id $recursiveAnchor $recursiveRef $ref $schema "
    "$vocabulary const contentEncoding contentMediaType default dependentRequired deprecated "
    "description enum example examples exclusiveMaximum exclusiveMinimum format id maxContains "
    "maxItems maxLength maxProperties maximum minContains minItems minLength minProperties minimum "
    "multipleOf nullable pattern readOnly required title type uniqueItems writeOnly"
)
KEYWORDS = _SUBSCHEMA | _SUBSCHEMAS | _NAMED_SUBSCHEMAS | _PLAIN
"""Every keyword; another one is refused as ajv's strict mode does: a typo would check nothing."""


class NotJsonError(ValueError):
    """The text is no JSON."""


def parsed(text: str) -> Any:
    """Parse a text as ``JSON.parse`` does: no NaN, no comments, nothing behind it.

    Raises:
        NotJsonError: It is no JSON.
        Unscorable: It is nested too deeply to tell.
    """
    try:
        return json.loads(text, parse_constant=_refuse, parse_int=_integer)
    except RecursionError as error:
        raise Unscorable("the output is JSON nested too deeply to be read") from error
    except ValueError as error:
        raise NotJsonError(str(error)) from error


def embedded(text: str) -> Iterator[Any]:
    """Yield the JSON objects in a text, outermost only, in order.

    promptfoo repairs broken JSON before it looks; here an object must be whole. An array counts by
    the objects in it, so that a footnote mark such as ``[1]`` is no JSON.

    Raises:
        Unscorable: The text holds too many beginnings, or is nested too deeply.
    """
    decoder = json.JSONDecoder(parse_constant=_refuse, parse_int=_integer)
    at, work = 0, 0
    for _ in range(JSON_STARTS):
        at = text.find("{", at)
        if at < 0:
            return
        try:
            value, end = decoder.raw_decode(text, at)
        except json.JSONDecodeError as error:
            work += max(error.pos - at, 1)
            at += 1
        except ValueError:
            at += 1
        except RecursionError as error:
            raise Unscorable("the output holds JSON nested too deeply to be read") from error
        else:
            yield value
            at = end
        if work > JSON_SCAN:
            break
    raise Unscorable("the output holds too many braces to look for JSON in it")


def misfit(schema: Any, value: Any) -> str | None:
    """Say where a value breaks a schema, or None where it conforms.

    Raises:
        Unscorable: The schema is invalid, refers to something outside itself, or its patterns run
            away.
    """
    validator = _validator(schema)
    try:
        error = next(iter(validator.iter_errors(value)), None)
    except Unscorable:
        raise
    except RecursionError as cause:
        raise Unscorable("the JSON schema refers to itself without end") from cause
    except Exception as cause:
        raise Unscorable(f"the JSON schema can't be applied ({type(cause).__name__})") from cause
    if error is None:
        return None
    where = "/".join(str(part) for part in error.absolute_path) or "the document"
    return f"{where[:80]} breaks {str(error.validator)[:40]!r}"


def sound(schema: Any) -> None:
    """Check that a schema can be applied.

    Raises:
        Unscorable: It can't; says why.
    """
    _validator(schema)


def _validator(schema: Any) -> Any:
    from jsonschema.exceptions import SchemaError  # noqa: PLC0415 - heavy, few cases need it
    from jsonschema.validators import (  # noqa: PLC0415 - heavy, few cases need it
        Draft7Validator,
        extend,
        validator_for,
    )
    from referencing import Registry  # noqa: PLC0415 - heavy, few cases need it

    if not isinstance(schema, (Mapping, bool)):
        raise Unscorable("the JSON schema must be an object, a boolean, or YAML text of one")
    try:
        json.dumps(schema)
        _refuse_unknown(schema)
        chosen = validator_for(schema, default=Draft7Validator)
        chosen.check_schema(schema)  # type: ignore[arg-type] # its types forget booleans
        schema = _undeclared(schema)
    except SchemaError as error:
        raise Unscorable(f"the JSON schema is invalid ({error.message[:120]})") from error
    except (RecursionError, TypeError, ValueError) as error:
        raise Unscorable("the JSON schema is no plain JSON, or nested too deeply") from error
    guarded = extend(chosen, _GUARDED)  # type: ignore[no-untyped-call] # theirs has no types
    empty: Registry[Any] = Registry()
    return guarded(schema, registry=empty, format_checker=chosen.FORMAT_CHECKER)


def _refuse_unknown(schema: Any) -> None:
    """Refuse keywords that don't exist, patterns that don't compile, and what can't be guarded."""
    if not isinstance(schema, Mapping):
        return
    unknown = sorted(str(word) for word in schema if word not in KEYWORDS)
    if unknown:
        raise Unscorable(f"the JSON schema has an unknown keyword {unknown[0][:60]!r}")
    if "unevaluatedProperties" in schema and "patternProperties" in schema:
        raise Unscorable("the JSON schema mixes unevaluatedProperties and patternProperties")
    if isinstance(schema.get("pattern"), str):
        checked(schema["pattern"])
    for child in _children(schema):
        if isinstance(child, Mapping) and "$schema" in child:
            raise Unscorable("the JSON schema declares another $schema inside")
        _refuse_unknown(child)


def _undeclared(schema: Any) -> Any:
    """Return a schema without its ``$schema``, by which the library would leave our keywords."""
    if isinstance(schema, Mapping):
        return {word: value for word, value in schema.items() if word != "$schema"}
    return schema


def _children(schema: Mapping[Any, Any]) -> Iterator[Any]:
    for word, value in schema.items():
        if word in _SUBSCHEMAS and isinstance(value, list):
            yield from value
        elif word in _NAMED_SUBSCHEMAS and isinstance(value, Mapping):
            yield from value.values()
        elif word in _SUBSCHEMA:
            yield value


def _pattern(_: Any, pattern: Any, value: Any, __: Any) -> Iterator[Any]:
    if isinstance(value, str) and not found(pattern, value):
        yield _error("does not match the pattern")


def _pattern_properties(validator: Any, patterns: Any, value: Any, _: Any) -> Iterator[Any]:
    if not isinstance(value, dict):
        return
    for pattern, child in patterns.items():
        for name, item in value.items():
            if found(pattern, name):
                yield from validator.descend(item, child, path=name, schema_path=pattern)


def _additional_properties(  # noqa: PLR0917 - the library's own calling order
    validator: Any, child: Any, value: Any, schema: Any
) -> Iterator[Any]:
    if not isinstance(value, dict):
        return
    named, patterns = schema.get("properties", {}), schema.get("patternProperties", {})
    for name, item in value.items():
        if name in named or any(found(pattern, name) for pattern in patterns):
            continue
        if child is False:
            yield _error("has a property that the schema does not know")
        else:
            yield from validator.descend(item, child, path=name)


def _unique_items(_: Any, wanted: Any, value: Any, __: Any) -> Iterator[Any]:
    if wanted and isinstance(value, list) and len(_plain_texts(value)) < len(value):
        yield _error("has items that are not unique")


_GUARDED = {
    "pattern": _pattern,
    "patternProperties": _pattern_properties,
    "additionalProperties": _additional_properties,
    "uniqueItems": _unique_items,
}


def _error(message: str) -> Any:
    from jsonschema.exceptions import ValidationError  # noqa: PLC0415 - heavy, few cases need it

    return ValidationError(message)


def _plain_texts(values: Iterable[Any]) -> set[str]:
    return {canonical(_numbers_alike(value)) for value in values}


def _numbers_alike(value: Any) -> Any:
    """Return a value in which 1.0 is written as 1, as JSON Schema compares numbers."""
    if isinstance(value, float) and value.is_integer():
        return int(value)
    if isinstance(value, list):
        return [_numbers_alike(item) for item in value]
    if isinstance(value, dict):
        return {name: _numbers_alike(item) for name, item in value.items()}
    return value


def _refuse(word: str) -> Any:
    raise NotJsonError(f"{word} is no JSON")


def _integer(digits: str) -> int | float:
    return int(digits) if len(digits) < _LONG_NUMBER else float(digits)
