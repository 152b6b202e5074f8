"""A table of tests (CSV with promptfoo's column names) as the tests that its rows are.

Knows the columns: ``__expected`` (also numbered) is an assertion in one line, ``__description``,
``__metric``, ``__threshold``, ``__prefix``, ``__suffix``, ``__metadata:key`` and ``key[]``; any
other column is a variable. Opens no file.
"""

import csv
import io
import re
from collections.abc import Mapping
from typing import Any

from healbot.rules.documents import Document, Node, decode, list_node, map_node, refuse

LISTS = frozenset({"contains-all", "contains-any", "icontains-all", "icontains-any"})
LIMITS = {"similar": 0.8}
LIMITED = frozenset(
    {
        "answer-relevance", "classifier", "context-faithfulness", "context-recall",
        "context-relevance", "cost", "latency", "levenshtein", "perplexity", "perplexity-score",
        "rouge-n", "similar", "starts-with",
    }
)  # fmt: skip
"""Types that get a threshold from ``type(0.8): value``; without one, 0.75 or what LIMITS says."""
USUAL_LIMIT = 0.75
_LEGACY = {"fn": "javascript", "eval": "javascript", "grade": "llm-rubric"}
_SCRIPTS = {"py": "python", "js": "javascript", "ts": "javascript", "mjs": "javascript"}
_TYPED = re.compile(r"((?:not-)?[a-z][a-z0-9:-]*?)(?:\((\d+(?:\.\d+)?)\))?(?::(?!//)([\s\S]*))?")
_COMMA = re.compile(r"(?<!\\),")


def parse_rows(text: str | bytes, name: str, types: frozenset[str]) -> Document:
    """Read a CSV table as a list of tests; ``types`` are the assertion types that are known.

    Raises:
        InputError: It is no table, or a row has more cells than the header.
    """
    reader = csv.reader(io.StringIO(decode(text, name), newline=""))
    nodes: list[Node] = []
    try:
        header = [column.strip() for column in next(reader, [])]
        line = reader.line_num + 1
        for cells in reader:
            if any(cells):
                if len(cells) > len(header):
                    refuse(name, line, "has more cells than the header has columns")
                test = _test(dict(zip(header, cells, strict=False)), types)
                nodes.append(_node(test, line, name))
            line = reader.line_num + 1
    except csv.Error as error:
        refuse(name, reader.line_num, f"is no CSV ({error})")
    return Document(name, list_node(1, nodes, name))


def assertion_of(text: str, types: frozenset[str]) -> dict[str, Any]:
    """Return the assertion that ``type: value`` in a cell means; a mere value is ``equals``."""
    ending = re.fullmatch(r"file://\S+\.(py|js|ts|mjs)(?::\w+)?", text.strip())
    if ending:
        return {"type": _SCRIPTS[ending[1]], "value": text.strip()}
    match = _TYPED.fullmatch(text.strip())
    kind = _LEGACY.get(match[1], match[1]) if match else ""
    if match is None or kind.removeprefix("not-") not in types:
        return {"type": "equals", "value": text}
    base, value = kind.removeprefix("not-"), (match[3] or "").strip()
    found: dict[str, Any] = {"type": kind}
    if base in LISTS:
        found["value"] = [part.strip() for part in value.split(",")]
    elif value:
        found["value"] = value
    if base in LIMITED:
        found["threshold"] = float(match[2]) if match[2] else LIMITS.get(base, USUAL_LIMIT)
    return found


def _test(row: Mapping[str, str], types: frozenset[str]) -> dict[str, Any]:
    test: dict[str, Any] = {"vars": {}, "assert": [], "options": {}, "metadata": {}}
    for column, value in row.items():
        word, _, key = column.partition(":")
        if re.fullmatch(r"__expected\d*", column):
            if value.strip():
                test["assert"].append(assertion_of(value, types))
        elif column in ("__prefix", "__suffix"):
            test["options"][column[2:]] = value
        elif column in ("__description", "__threshold", "__providerOutput") or word == "__config":
            if value.strip():
                test[column[2:]] = value.strip()
        elif word == "__metadata":
            _put(test["metadata"], key, value)
        elif column and column != "__metric":
            test["vars"][column] = value
    if metric := row.get("__metric", "").strip():
        test["assert"] = [{**one, "metric": metric} for one in test["assert"]]
    return test


def _put(metadata: dict[str, Any], key: str, value: str) -> None:
    if key.endswith("[]"):
        parts = [part.strip().replace("\\,", ",") for part in _COMMA.split(value)]
        metadata[key[:-2]] = [part for part in parts if part]
    elif key and value.strip():
        metadata[key] = value.strip()


def _node(value: Any, line: int, name: str) -> Node:
    """Return plain data as a node, every part of which stands in one line."""
    if isinstance(value, dict):
        return map_node(
            line, {key: (line, _node(one, line, name)) for key, one in value.items()}, name
        )
    if isinstance(value, list):
        return list_node(line, [_node(one, line, name) for one in value], name)
    return Node(line, value)
