"""Personal data in a text: addresses, numbers that name a person or their money, home folders.

Pure; every pattern takes time linear in the text, and numbers count only where their own check
digits hold or a word before says what they are. Public network addresses count as a person's;
private ones, versions, digests and instants do not.
"""

import re
from collections.abc import Iterator
from ipaddress import IPv6Address, ip_network

from healbot.rules.folding import chunks, lowered, stands
from healbot.rules.secrets import Span

_DOMAIN = re.compile(
    r"(?:[\w-]{1,63}\.){1,8}"
    r"(?!(?:png|jpe?g|gif|svg|webp|ico|js|ts|tsx|css|json|ya?ml|txt|html)\b)[A-Za-z]{2,24}(?![\w[-])"
)
_CARD = re.compile(
    r"\d(?<![\w.\]-].)"
    r"(?:\d{12,18}|\d{3}([ -])\d{4}\1\d{4}\1\d{4}|\d{3}([ -])\d{6}\2\d{5})(?![\w[-]|\.\d)"
)
_BRANDS = re.compile(
    r"(?:4\d{12}(?:\d{3}){0,2}|5[1-5]\d{14}|2[2-7]\d{14}|3[47]\d{13}|6(?:011|5\d\d|4[4-9]\d)\d{12}"
    r"|35\d{14}|3(?:0[0-5]|[68]\d)\d{11})$"
)
_IBAN = re.compile(
    r"[A-Z](?<![A-Za-z0-9\]].)[A-Z]\d{2}(?: ?[A-Z0-9]{4}){2,7}(?: ?[A-Z0-9]{1,3})?(?![A-Za-z0-9[])"
)
_IBAN_LENGTHS = {
    one[:2]: int(one[2:])
    for one in [
        *[
            "AD24",
            "AE23",
            "AT20",
            "BE16",
            "BG22",
            "BR29",
            "CH21",
            "CY28",
            "CZ24",
            "DE22",
            "DK18",
            "EE20",
            "ES24",
            "FI18",
            "FR27",
            "GB22",
            "GR27",
        ],
        *[
            "HR21",
            "HU28",
            "IE22",
            "IL23",
            "IS26",
            "IT27",
            "LI21",
            "LT20",
            "LU20",
            "LV21",
            "MC27",
            "MT31",
            "NL18",
            "NO15",
            "PL28",
            "PT25",
            "RO24",
        ],
        *["SA24", "SE24", "SI19", "SK24", "SM27", "TR26", "UA29"],
    ]
}
_IDS = re.compile(
    r"(?=[\dA-Z])(?<![\w\]-])(?:(?P<ssn>(?!000|666|9)\d{3}-(?!00)\d\d-(?!0000)\d{4})"
    r"|(?P<nino>[A-CEGHJ-PR-TW-Z][A-CEGHJ-NPR-TW-Z] ?\d\d ?\d\d ?\d\d ?[A-D])"
    r"|(?P<cpf>\d{3}\.\d{3}\.\d{3}-\d\d)|(?P<dni>\d{8}-?[A-HJ-NP-TV-Z])"
    r"|(?P<cf>[A-Z]{6}\d\d[A-EHLMPRST]\d\d[A-Z]\d{3}[A-Z])"
    r"|(?P<nir>[12] ?\d\d ?(?:0[1-9]|1[0-2]) ?\d\d ?\d{3} ?\d{3} ?\d\d))(?![\w[-])"
)
_IPV4 = re.compile(
    r"\d(?<![\w.@\]-].)(?<!\w/.)(?<!==.)(?<!ersion .)\d{0,2}(?:\.\d{1,3}){3}(?![\w[-]|\.\d)"
)
_IPV6 = re.compile(
    r"[23](?<![\w:.\]].)[0-9A-Fa-f]{3}:(?:[0-9A-Fa-f]{0,4}:){1,6}[0-9A-Fa-f]{0,4}(?![\w:[])"
)
_OURS = (
    *("0.0.0.0/8", "10.0.0.0/8", "100.64.0.0/10", "127.0.0.0/8", "169.254.0.0/16"),
    *("172.16.0.0/12", "192.168.0.0/16", "224.0.0.0/3"),
)
SMALLEST_HOST = 32
"""Four numbers that all lie below this are read as a version, not as an address."""
_WORLD = re.compile(
    r"\+(?<![\w+.\]-].)\d{1,3}[ .-]?(?:\(\d{1,4}\)[ .-]?)?\d[\d .-]{4,18}\d(?![\w[-])"
)
_AMERICAN = re.compile(
    r"[2-9(](?<![\w.+/\]].)(?:(?<=\()[2-9]\d\d\) ?|(?<!\()(?<!\d-.)\d\d[ .-])"
    r"[2-9]\d\d[.-]\d{4}(?![\w[-]|\.\d)"
)
_NATIONAL = re.compile(
    r"(?:0(?<![\w./\]-].)[1-9]\d{1,3}/ ?\d{6,8}|\((?<![\w./\]-].)0\d{2,4}\) ?\d{3,4}[ -]?\d{3,5})"
    r"(?![\w/[-]|\.\d)"
)
"""A number with its trunk zero, and a slash or brackets at the area code; no date, no fraction."""
_CALLED = (
    *("phone", "fon", "tel", "tél", "mobil", "móvil", "movil", "cell", "handy", "whatsapp"),
    *("call me", "text me", "call 0"),
)
_SAID = re.compile(
    r"(?:t[ée]l[ée](?:ph|f)one?|phone|fon|tel|mobile?|m[óo]vil|cell|handy|whatsapp"
    r"|call(?= 0[1-9])|(?:call|text) me (?:at|on))"
    r"[^\w\n+[\]]{0,3}(?:(?:number|no|nr|is)[^\w\n+[\]]{1,3}){0,2}"
    r"(\+?\(?\d[\d ()./-]{5,18}\d)(?![\w[-])",
    re.IGNORECASE,
)
SHORTEST_PHONE, LONGEST_PHONE = 7, 15
"""Digits of a telephone number; the longest is ITU-T E.164's."""
_MASKED_AT = re.compile(r"[(\[{] ?at ?[)\]}]", re.IGNORECASE)
_DIGITS = "0123456789"
FEWEST_DIGITS = 4
"""A line with fewer digits holds no number that is looked for."""
_MASKED = ("at)", "at]", "at}", "at )", "at ]", "at }")
_MASKED_DOMAIN = re.compile(
    r" ?[\w-]{1,63}(?:(?:\.| ?[(\[{] ?dot ?[)\]}] ?)[\w-]{1,63}){0,7}"
    r"(?:\.| ?[(\[{] ?dot ?[)\]}] ?)[A-Za-z]{2,24}(?![\w[-])",
    re.IGNORECASE,
)
_FOLDERS = (
    re.compile(r"/(?<![\w.\]-].)(?:var/)?(?:home|Users)/([^\W_][\w.-]{0,63})"),
    re.compile(r":[\\/]{1,4}Users[\\/]{1,4}([^\W_][\w.-]{0,63})"),
    re.compile(r"-(?<![\w\]-].)(?:home|Users)-([^\W_][\w.]{0,63})(?=-\w)"),
)
_NOBODY = frozenset(
    [
        *[
            "user",
            "users",
            "username",
            "ubuntu",
            "debian",
            "runner",
            "root",
            "vscode",
            "node",
            "admin",
            "administrator",
            "app",
        ],
        *[
            "ec2-user",
            "circleci",
            "shared",
            "public",
            "default",
            "jovyan",
            "codespace",
            "vsts",
            "you",
            "me",
            "name",
            "linuxbrew",
        ],
        *[
            "git",
            "agent",
            "sandbox",
            "dev",
            "developer",
            "test",
            "build",
            "docker",
            "claude",
            "codex",
            "jenkins",
            "gitlab-runner",
        ],
        *["vagrant", "pi", "guest"],
    ]
)
_DNI = "TRWAGMYFPDXBNJZSQVHLCKE"


def personal(text: str) -> Iterator[Span]:
    """Yield the personal data of a text; spans may overlap."""
    yield from _emails(text)
    for start, end in chunks(text):
        if any(digit in text[start:end] for digit in _DIGITS) and _may_hold(text[start:end]):
            yield from _numbers(text, start, end)
    yield from _users(text)


def _may_hold(part: str) -> bool:
    return any(sum(map(line.count, _DIGITS)) >= FEWEST_DIGITS for line in part.split("\n"))


def _numbers(text: str, start: int, end: int) -> Iterator[Span]:
    """Yield what is made of digits within a part of a text that begins and ends with a line."""
    for one in _CARD.finditer(text, start, end):
        if is_card(one.group()):
            yield Span(*one.span(), "card")
    for one in _IBAN.finditer(text, start, end):
        length = _iban_length(one.group())
        if length:
            yield Span(one.start(), one.start() + length, "iban")
    for one in _IDS.finditer(text, start, end):
        if _is_id(one):
            yield Span(*one.span(), "id")
    yield from _addresses(text, start, end)
    yield from _phones(text, start, end)


def _users(text: str) -> Iterator[Span]:
    if "home" not in text and "Users" not in text:
        return
    for folder in _FOLDERS:
        for one in folder.finditer(text):
            name = one.group(1).rstrip(".-")
            if name.lower() not in _NOBODY:
                yield Span(one.start(1), one.start(1) + len(name), "user")


def _emails(text: str) -> Iterator[Span]:
    at = text.find("@")
    while at >= 0:
        domain = _DOMAIN.match(text, at + 1)
        start = at
        while domain and start and (text[start - 1].isalnum() or text[start - 1] in "_.%+-"):
            start -= 1
        bare = text[start:at].strip(".%+-")
        if domain and bare and bare != "git" and text[start - 1 : start] != "]":
            yield Span(start, domain.end(), "email")
        at = text.find("@", at + 1)
    yield from _masked(text)


def _masked(text: str) -> Iterator[Span]:
    """Yield addresses written as ``jane.doe (at) example.com``."""
    small = lowered(text)
    for at in _MASKED_AT.finditer(text) if any(one in small for one in _MASKED) else ():
        domain = _MASKED_DOMAIN.match(text, at.end())
        end = at.start() - (text[at.start() - 1 : at.start()] == " ")
        start = end
        while domain and start > 0 and (text[start - 1].isalnum() or text[start - 1] in "_.%+-"):
            start -= 1
        if domain and text[start:end].strip(".%+-") and text[start - 1 : start] != "]":
            yield Span(start, domain.end(), "email")


def _addresses(text: str, start: int, end: int) -> Iterator[Span]:
    for one in _IPV4.finditer(text, start, end):
        parts = [int(part) for part in one.group().split(".")]
        if max(parts) > 255 or max(parts) < SMALLEST_HOST:  # noqa: PLR2004 - a byte
            continue
        address = int.from_bytes(bytes(parts))
        nets = (ip_network(net) for net in _OURS)
        if not any(int(net.network_address) == address & int(net.netmask) for net in nets):
            yield Span(*one.span(), "ip")
    for one in _IPV6.finditer(text, start, end):
        try:
            host = IPv6Address(one.group())
        except ValueError:
            continue
        if host in ip_network("2000::/3"):
            yield Span(*one.span(), "ip")


def _phones(text: str, start: int, end: int) -> Iterator[Span]:
    for one in _WORLD.finditer(text, start, end):
        if _is_world(one.group()):
            yield Span(*one.span(), "phone")
    trunk = text.find("(0", start, end) >= 0 or text.find("/", start, end) >= 0
    for local in (_AMERICAN, _NATIONAL) if trunk else (_AMERICAN,):
        yield from (Span(*one.span(), "phone") for one in local.finditer(text, start, end))
    for at in stands(_CALLED, lowered(text[start:end])):
        said = _SAID.match(text, start + at)
        digits = sum(letter.isdigit() for letter in said.group(1)) if said else 0
        if said and SHORTEST_PHONE <= digits <= LONGEST_PHONE:
            yield Span(*said.span(1), "phone")


def _is_world(number: str) -> bool:
    """Say whether an international number can be dialled, or is at least written as one."""
    import phonenumbers  # noqa: PLC0415 - costs 0.1 s, and few texts hold a candidate

    try:
        parsed = phonenumbers.parse("+" + number.removeprefix("+"), None)
    except phonenumbers.NumberParseException:
        return False
    grouped = any(one in " ().-" for one in number)
    return phonenumbers.is_valid_number(parsed) or (
        grouped and phonenumbers.is_possible_number(parsed)
    )


def is_card(text: str) -> bool:
    """Say whether digits, with or without spaces, are a card's: its brand's lead, and Luhn."""
    digits = text.replace(" ", "").replace("-", "")
    return _BRANDS.match(digits) is not None and _luhn(digits)


def _luhn(digits: str) -> bool:
    doubled = (sum(divmod(2 * int(one), 10)) for one in digits[-2::-2])
    return (sum(map(int, digits[-1::-2])) + sum(doubled)) % 10 == 0


def _iban_length(text: str) -> int:
    """Return how many characters of a text are an IBAN (ISO 13616: mod 97 is 1), or 0."""
    wanted = _IBAN_LENGTHS.get(text[:2])
    kept = [at for at, one in enumerate(text) if one != " "]
    if wanted is None or len(kept) < wanted:
        return 0
    plain = text.replace(" ", "")[:wanted]
    number = int("".join(str(int(one, 36)) for one in plain[4:] + plain[:4]))
    end = kept[wanted - 1] + 1
    return end if number % 97 == 1 and text[end : end + 1] in ("", " ") else 0


def _is_id(one: re.Match[str]) -> bool:
    digits = re.sub(r"[ .-]", "", one.group())
    match one.lastgroup:
        case "cpf":
            return all(_cpf_digit(digits[:at]) == digits[at] for at in (9, 10))
        case "dni":
            return _DNI[int(digits[:8]) % 23] == digits[8]
        case "nir":
            return 97 - int(digits[:13]) % 97 == int(digits[13:])
        case _:
            return True


def _cpf_digit(digits: str) -> str:
    weights = range(len(digits) + 1, 1, -1)
    rest = sum(int(one) * weight for one, weight in zip(digits, weights, strict=True)) * 10 % 11
    return str(rest % 10)
