"""Secrets in a text: keys, tokens, passwords, by their public shapes or by the word before them.

Pure; every pattern takes time linear in the text. Knows shapes only, and asks nobody whether a
secret is in force. The shapes are those that the issuers publish for secret scanners.
"""

import re
from collections import Counter
from collections.abc import Iterator
from math import log2
from typing import NamedTuple

from healbot.rules.folding import chunks, lowered


class Span(NamedTuple):
    """A part of a text that has to go, and what it is."""

    start: int
    end: int
    kind: str


_BODY = r"(?:[\sA-Za-z0-9+/=\\:,.]++|-(?!----))*+"
_HEAD = r"-----BEGIN (?:[A-Z0-9]{1,12} ){0,3}PRIVATE KEY(?: BLOCK)?-----"
_BLOCKS = re.compile(
    rf"{_HEAD}{_BODY}-----END [A-Z0-9 ]{{0,50}}-----"
    rf"|{_HEAD}(?:\s|\\[nr])*+[A-Za-z0-9+/=]{{40}}[A-Za-z0-9+/=\s\\]*+"
)
_SHAPES = (
    r"AKIA[A-Z0-9]{16}(?![A-Za-z0-9])",
    r"A[SBC][IC]A[A-Z0-9]{16}(?![A-Za-z0-9])",
    r"gh[pousr]_[A-Za-z0-9]{30,}+",
    r"github_pat_[A-Za-z0-9_]{22,}+",
    r"gl(?:pat|dt|rt|cbt|ptt|ft)-[\w-]{20,}+",
    r"xox[abeoprs]-[A-Za-z0-9-]{10,}+",
    r"xapp-\d-[A-Za-z0-9-]{10,}+",
    r"sk_(?:live|test)_[A-Za-z0-9]{10,}+",
    r"rk_(?:live|test)_[A-Za-z0-9]{10,}+",
    r"pk_(?:live|test)_[A-Za-z0-9]{10,}+",
    r"whsec_[A-Za-z0-9+/=]{16,}+",
    r"sk-(?:ant|proj|svcacct|admin|or)-[\w-]{16,}+",
    r"sk-(?=[\w-]{0,80}\d)[A-Za-z0-9_-]{20,}+",
    *(
        rf"{lead}[A-Za-z0-9_-]{{20,}}+"
        for lead in [
            *[
                "gsk_",
                "xai-",
                "pplx-",
                "r8_",
                "hf_",
                "nvapi-",
                "lin_api_",
                "ntn_",
                "tvly-",
                "npm_",
                "pypi-",
                "dckr_pat_",
            ],
        ]
    ),
    r"AIza[\w-]{35}(?![\w-])",
    r"ya29\.[\w-]{20,}+",
    r"GOCSPX-[\w-]{20,}+",
    r"SG\.[\w-]{16,64}\.[\w-]{16,}+",
    r"SK[0-9a-f]{32}(?![0-9A-Za-z])",
    r"AC[0-9a-f]{32}(?![0-9A-Za-z])",
    r"do[opr]_v1_[0-9a-f]{64}",
    r"shp(?:at|ca|pa|ss)_[0-9a-fA-F]{32}",
    r"dapi[0-9a-f]{32}",
    r"hv[sb]\.[A-Za-z0-9_-]{24,}+",
    r"ATATT3[\w=-]{30,}+",
    r"key-[0-9a-f]{32}(?![0-9A-Za-z])",
    r"AGE-SECRET-KEY-1[A-Z0-9]{50,}+",
    r"eyJ(?<![\w-]eyJ)[\w-]{8,}+\.eyJ[\w-]{8,}+(?:\.[\w-]*+)?",
)
_TOKENS = re.compile("|".join(_SHAPES))
_BOT = re.compile(r"\d{8,10}:AA[\w-]{32,34}(?![\w-])")
_HOOKS = re.compile(r"hooks\.slack\.com/services/([\w/]{20,}+)|/api/webhooks/(\d+/[\w-]{30,}+)")
_LOGIN = re.compile(r"://([^\s:/@\"'<>\[\]]{0,128}+:[^\s/@\"'<>]{1,256}+)@")
_PLACEHOLDER = r"(?!\[(?:secret|email|phone|card|iban|id|ip|user)-\d)"
_HEADER = re.compile(
    rf"(?:bearer|basic|token)\s{{1,3}}{_PLACEHOLDER}([A-Za-z0-9._~+/=-]{{12,}}+)", re.IGNORECASE
)
_AUTHORIZATION = re.compile(
    rf"(?:authorization|x-api-key|(?:set-)?cookie)\\?[\"']?\s{{0,3}}[:=]\s{{0,3}}\\?[\"']?"
    rf"(?:[A-Za-z]{{3,12}} )?{_PLACEHOLDER}([^\s\"'\\,]{{6,}}+)",
    re.IGNORECASE,
)
_STRONG = (
    r"passwords?|passwd|passphrase|pwd|secrets?|passwort|kennwort|passord|mot de passe|motdepasse|"
    r"contrase(?:ñ|n\u0303|n)a|senha|wachtwoord|parola|hasło|haslo|heslo|lösenord|losenord|"
    r"adgangskode|şifre|sifre|пароль|密码|密碼|パスワード|비밀번호|pass(?=[\"'=:]|\\?[\"'])"
)
_KEYS = (
    r"api[_-]?keys?|apikey|access[_-]?keys?|account[_-]?key|private[_-]?key|auth[_-]?key|"
    r"tokens?|credentials?|signature|auth|key|sig|otp|pin"
)
_IS = "is|ist|lautet|es|est|é|è"
_VERBS = frozenset(_IS.split("|"))
_ASSIGNED = re.compile(
    rf"(?:(?P<strong>{_STRONG})|(?P<weak>{_KEYS}))(?P<rest>[\w-]{{0,24}}+)\\?[\"']?\s{{0,3}}"
    rf"(?P<sign>=>|:=|==?|:|%3[ad]|\s(?:{_IS})\s)\s{{0,3}}(?P<quote>\\?[\"'`])?{_PLACEHOLDER}"
    r"(?P<value>(?(quote)[^\"'`\\\r\n]{1,400}+|(?:[^\s\"'`\\,;&<>(){}]|&(?!\w{1,40}=)){1,400}+))(?P<after>\(?)",
    re.IGNORECASE,
)
_ASCII_WORDS = (
    *("pass", "secret", "pwd", "api", "access", "account", "private", "auth", "token"),
    *("credential", "sig", "key", "otp", "pin", "bearer", "basic", "cookie", "x-api-key"),
    *("kennwort", "mot de passe", "motdepasse", "contrase", "senha", "wachtwoord", "parola"),
    *("haslo", "heslo", "losenord", "adgangskode", "sifre"),
)
_OTHER_WORDS = ("hasło", "lösenord", "şifre", "пароль", "密码", "密碼", "パスワード", "비밀번호")
_WORDS = re.compile("|".join((*_ASCII_WORDS, *_OTHER_WORDS)))
_PLAIN_WORDS = re.compile("|".join(_ASCII_WORDS))
_ELEMENT = re.compile(
    rf"(?P<name>(?:{_STRONG}|{_KEYS})[\w-]{{0,24}}+)(?:\s[^<>]{{0,100}}+)?>\s{{0,3}}{_PLACEHOLDER}"
    r"(?P<value>[^<>\s]{4,400}+)\s{0,3}</[\w:.-]{0,40}?(?P=name)>",
    re.IGNORECASE,
)
_FLAG = re.compile(
    rf"(?:(?P<strong>{_STRONG}|pass)|(?P<weak>{_KEYS}))(?![\w-])[ \t]{{1,3}}(?P<quote>[\"'])?"
    rf"{_PLACEHOLDER}(?P<value>(?(quote)[^\"'\\\r\n]{{4,400}}+|[^\s\"'`\\,;<>(){{}}-]"
    r"[^\s\"'`\\,;<>(){}]{3,400}+))",
    re.IGNORECASE,
)
_SWITCH = re.compile(r"--?(?:[A-Za-z][\w]{0,20}-){0,3}$")
_OPTION = re.compile(
    rf"\s(?:(?P<login>-u[ =]?|--(?:proxy-)?user[ =])[\"']?[^\s:\"'\[]{{1,128}}+:"
    rf"|(?P<glued>-p)|(?P<apart>-[pa] ))[\"']?{_PLACEHOLDER}(?P<value>[^\s\"'`:|;&<>]{{3,256}}+)"
)
_LOGINS = re.compile(r"\b(?:curl|wget|https?|xh)\s")
_GLUERS = re.compile(r"\b(?:mysql\w*|mariadb[\w-]*|sshpass)\s")
_APART = re.compile(r"\b(?:sshpass|mongo\w*|redis-cli)\s")
_COMMAND_NAMES = (
    *("curl ", "wget ", "http ", "https ", "xh ", "mysql", "mariadb", "sshpass", "mongo"),
    "redis-cli",
)
_COMMANDS = {"login": _LOGINS, "glued": _GLUERS, "apart": _APART}
COMMAND_BEFORE = 200
"""Characters before an option of a command in which the command's own name is looked for."""
_LEAD = re.compile(
    r"(?<![\w\]-])(?:gh[pousr]_|github_pat_|gl(?:pat|dt|rt)-|xox[abeoprs]-|sk-|AIza"
    r"|[sr]k_(?:live|test)_|A[KS]IA|npm_|hf_|eyJ)[\w.-]{0,200}$"
)
_BREAK = re.compile(r"\r?\n(?=[\w.-]{6,200}+(?:[\r\n]|\Z))")
_REST = re.compile(r"[\w.-]+")
LONGEST_LINE = 200
"""Characters of a line that may be the first piece of a token broken in two."""
_LONG_WORD, _LONG_PROSE = 11, 20
"""No token is shorter than the one, and none of letters alone is shorter than the other."""
_NO_VALUE = frozenset(
    (
        *[
            "none",
            "null",
            "true",
            "false",
            "str",
            "string",
            "text",
            "bytes",
            "int",
            "bool",
            "any",
            "required",
            "optional",
            "undefined",
        ],
        *[
            "nil",
            "missing",
            "invalid",
            "incorrect",
            "wrong",
            "empty",
            "hidden",
            "redacted",
            "masked",
            "changed",
            "reset",
            "expired",
        ],
        *[
            "unknown",
            "value",
            "secret",
            "password",
            "token",
            "example",
            "changeme",
            "yourpassword",
            "yes",
            "no",
            "not",
            "the",
            "a",
            "an",
        ],
        *[
            "and",
            "or",
            "in",
            "is",
            "to",
            "for",
            "from",
            "with",
            "must",
            "should",
            "this",
            "that",
            "your",
            "my",
            "stored",
            "protected",
            "field",
        ],
        *["input", "default", "type", "self", "auto", "test", "optional[str]", "secretstr"],
    )
)
_REFERENCE = re.compile(
    r"[$<{*%@]|\.{2,}|(?:os|process|env|self|settings|config|secrets|args|this|request)[.\[]"
    r"|https?://|/|x{4,}|\*{3,}|\w+\.\w+\.|[A-Z][A-Z0-9]*_[A-Z0-9_]*$"
)
SHORTEST_PASSWORD = 4
SHORTEST_KEY = 12
RANDOM_BITS = 3.0
"""Shannon entropy per character, in bits, from which a value is random."""


def secrets(text: str) -> Iterator[Span]:
    """Yield the secrets of a text; spans may overlap."""
    if "PRIVATE KEY" in text:
        yield from (Span(*one.span(), "secret") for one in _BLOCKS.finditer(text))
    for start, end in chunks(text, at=" "):
        if _may_hold_token(text[start:end]):
            for one in _TOKENS.finditer(text, start, end):
                if starts_word(text, one.start()):
                    yield Span(*one.span(), "secret")
    yield from _broken(text)
    if ":AA" in text:
        yield from (Span(*one.span(), "secret") for one in _BOT.finditer(text))
    if "/services/" in text or "/api/webhooks/" in text:
        found = _HOOKS.finditer(text)
        yield from (Span(*one.span(one.lastindex or 0), "secret") for one in found)
    if "://" in text:
        yield from (Span(*one.span(1), "secret") for one in _LOGIN.finditer(text))
    yield from _options(text)
    yield from _named(text)


def _may_hold_token(text: str) -> bool:
    long = [word for word in text.split() if len(word) >= _LONG_WORD]
    return any(len(word) >= _LONG_PROSE or not word.isalpha() for word in long)


def _broken(text: str) -> Iterator[Span]:
    """Yield tokens that a line break cuts in two, where the second piece is a line of its own."""
    for cut in _BREAK.finditer(text) if "\n" in text else ():
        at = cut.start()
        line = max(at - LONGEST_LINE, text.rfind("\n", 0, at) + 1)
        lead = _LEAD.search(text[line:at])
        rest = _REST.match(text, cut.end())
        if not lead or not rest or _TOKENS.match(lead.group()) or not _mixed(rest.group()):
            continue
        whole = _TOKENS.fullmatch(lead.group() + rest.group())
        if whole and is_random(whole.group()):
            yield Span(line + lead.start(), rest.end(), "secret")


def _options(text: str) -> Iterator[Span]:
    """Yield passwords in the short options of commands that take them so."""
    if not any(name in text for name in _COMMAND_NAMES):
        return
    for one in _OPTION.finditer(text):
        kind = one.lastgroup and next(name for name in _COMMANDS if one.group(name))
        before = text[max(0, one.start() - COMMAND_BEFORE) : one.start() + 1]
        named = _COMMANDS[kind or "login"].search(before[before.rfind("\n") + 1 :])
        if named and not _REFERENCE.match(one.group("value")):
            yield Span(*one.span("value"), "secret")


def _named(text: str) -> Iterator[Span]:
    """Yield what a word before it calls a secret."""
    passed = 0
    words = _PLAIN_WORDS if text.isascii() else _WORDS
    for word in words.finditer(lowered(text)):
        at = word.start()
        if at < passed:  # inside of a value that was just read
            continue
        if one := _in_header(text, at):
            yield Span(*one.span(1), "secret")
        elif one := _assigned(text, at) or _after_flag(text, at) or _in_element(text, at):
            yield Span(*one.span("value"), "secret")
            passed = one.end("value")


def _assigned(text: str, at: int) -> re.Match[str] | None:
    one = _ASSIGNED.match(text, at)
    return one if one and _is_value(one) else None


def _after_flag(text: str, at: int) -> re.Match[str] | None:
    """Return what follows ``--password`` and its like as a word of its own."""
    if text[at - 1 : at] != "-" or not _SWITCH.search(text[max(0, at - 64) : at]):
        return None
    one = _FLAG.match(text, at)
    if not one or one.group("value").lower() in _NO_VALUE or _REFERENCE.match(one.group("value")):
        return None
    value = one.group("value")
    return one if (_odd(value) if one.group("strong") else is_random(value)) else None


def _in_element(text: str, at: int) -> re.Match[str] | None:
    """Return what stands between ``<password>`` and its end."""
    one = _ELEMENT.match(text, at)
    if not one or one.group("value").lower() in _NO_VALUE or _REFERENCE.match(one.group("value")):
        return None
    strong = re.match(_STRONG, one.group("name"), re.IGNORECASE)
    return one if strong or is_random(one.group("value")) else None


def _in_header(text: str, at: int) -> re.Match[str] | None:
    one = _AUTHORIZATION.match(text, at)
    if one and _is_authorization(one.group(1)):
        return one
    one = _HEADER.match(text, at)
    return one if one and is_random(one.group(1)) else None


def starts_word(text: str, at: int) -> bool:
    """Say whether nothing before a place runs into it; a placeholder runs into what follows."""
    before = text[at - 1] if at else " "
    return not (before.isalnum() or before in "_]")


def is_random(value: str) -> bool:
    """Say whether a value looks drawn at random: letters and digits, and no word of prose."""
    if len(value) < SHORTEST_KEY or not _mixed(value):
        return False
    return entropy(value) >= RANDOM_BITS


def entropy(value: str) -> float:
    """Return the Shannon entropy of a text's characters, in bits per character."""
    counts = Counter(value).values()
    return -sum(count / len(value) * log2(count / len(value)) for count in counts)


def _mixed(value: str) -> bool:
    return any(one.isdigit() for one in value) and any(one.isalpha() for one in value)


def _is_authorization(value: str) -> bool:
    return value.lower() not in _NO_VALUE and not _REFERENCE.match(value) and _odd(value)


def _is_value(one: re.Match[str]) -> bool:
    value, word = one.group("value").rstrip("."), (one.group("strong") or "").lower()
    if not value or value.lower() in _NO_VALUE or _REFERENCE.match(value) or one.group("after"):
        return False
    if not word:
        weak = one.group("weak").lower()
        if weak in ("key", "sig", "auth", "signature") and _is_digest(value):
            return False  # a digest under a plain word for keys names content, and opens nothing
        return is_random(value) and " " not in value
    rest = one.group("rest").lower()
    if rest.endswith(("_file", "_path", "_env", "_name", "_id", "_arn", "_url", "_length", "_at")):
        return False
    if one.group("sign").strip().lower() in _VERBS or not one.group("quote"):
        loose = one.group("sign").strip().lower() in (*_VERBS, ":")
        return len(value) >= SHORTEST_PASSWORD and (not loose or _odd(value))
    return len(value) >= SHORTEST_PASSWORD and (" " not in value or _odd(value))


def _is_digest(value: str) -> bool:
    return re.fullmatch(r"(?:sha\d+[:-])?[0-9a-fA-F-]{7,128}", value) is not None


def _odd(value: str) -> bool:
    """Say whether a value is no plain word: a digit, a sign, or both cases inside it."""
    plain = value.strip(".,!?:")
    return not plain.isalpha() or not (plain.islower() or plain.isupper() or plain.istitle())
