"""How fast redaction is, and how right: ``python tests/measure/redaction.py [FOLDER]``.

Prints MB/s over 10 MB of plain text and of dense text, beside one plain pass of a regular
expression; recall and false alarms on a generated set; and with a folder what is taken out of each
kind in its files.
"""

import random
import re
import string
import sys
import time
from collections import Counter
from pathlib import Path

from healbot.rules.privacy import redact, redact_value

MEGABYTE = 1_000_000
SIZE = 10 * MEGABYTE
EACH = 200
WORDS = ("the", "order", "was", "refunded", "by", "support", "after", "a", "long", "call")


def keys(draw: random.Random) -> dict[str, str]:
    """Return one text of each kind that has to go."""
    letters = string.ascii_letters + string.digits
    word = "".join(draw.choices(letters, k=36)) + "7"
    digits = "".join(draw.choices(string.digits, k=7))
    name = draw.choice(["ana", "li.wei", "o_brien", "j-doe"]) + digits[:3]
    return {
        "github": f"ghp_{word}", "aws": "AKIA" + word[:16].upper(), "assigned": f"api_key={word}",
        "password": f"password: {name}!{digits[:2]}", "bearer": f"Authorization: Bearer {word}",
        "login": f"postgres://u:{word[:9]}@db/x", "email": f"{name}@mail.example.org",
        "phone": f"(415) {draw.randint(200, 999)}-{digits[:4]}", "card": card(draw),
        "ip": f"{draw.randint(41, 99)}.{draw.randint(33, 255)}.7.{draw.randint(1, 254)}",
        "home": "/ho" + f"me/{name}/src", "world": f"+49 30 9018{digits[:3]}",
    }  # fmt: skip


def card(draw: random.Random) -> str:
    """Return a card number whose check digit holds (Luhn)."""
    body = [4, *(draw.randrange(10) for _ in range(14))]
    total = sum(sum(divmod(2 * one, 10)) if at % 2 == 0 else one for at, one in enumerate(body))
    return "".join(map(str, [*body, -total % 10]))


def harmless(draw: random.Random) -> dict[str, str]:
    """Return one text of each kind that has to stay."""
    hexes = "".join(draw.choices("0123456789abcdef", k=40))
    number = draw.randrange(10**6)
    return {
        "sha": hexes, "short sha": hexes[:9], "version": f"v{number % 20}.{number % 7}.3",
        "uuid": f"{hexes[:8]}-{hexes[8:12]}-4{hexes[12:15]}-a{hexes[15:18]}-{hexes[18:30]}",
        "path": f"src/app{number}/main.py:{number % 900}", "price": f"${number}.20",
        "instant": f"2026-03-{number % 28 + 1:02}T09:30:00.{number:06}Z",
        "order": f"order {number}",
        "epoch": str(1_700_000_000_000 + number), "usage": f"total_tokens: {number}",
        "code": "token = get_token(user)", "long order": f"order {10**15 + number * 977}",
    }  # fmt: skip


def measured(text: str) -> float:
    """Return MB/s."""
    start = time.process_time()
    redact(text)
    return len(text) / MEGABYTE / (time.process_time() - start)


def say(text: str) -> None:
    """Print a line."""
    sys.stdout.write(text + "\n")


def main() -> None:
    """Measure and print."""
    draw = random.Random(7)  # noqa: S311 - a simulation
    missed, alarms = Counter[str](), Counter[str]()
    for _ in range(EACH):
        for kind, text in keys(draw).items():
            missed[kind] += redact(f"see {text} now") == f"see {text} now"
        for kind, text in harmless(draw).items():
            alarms[kind] += redact(f"see {text} now") != f"see {text} now"
    say(f"missed of {EACH} each: {dict(missed)}")
    say(f"false alarms of {EACH} each: {dict(alarms)}")
    for folder in sys.argv[1:]:
        totals = Counter[str]()
        for path in sorted(Path(folder).rglob("*")):
            if path.is_file():
                totals.update(redact_value(path.read_text(errors="replace")).counts)
        say(f"taken out in {folder}: {dict(totals)}")
    plain = " ".join(draw.choices(WORDS, k=SIZE // 5))[:SIZE]
    lines = "\n".join(
        f"{at}. " + " ".join(draw.choices(WORDS, k=24)) for at in range(MEGABYTE // 50)
    )
    dense = "\n".join(" ".join(keys(draw).values()) for _ in range(1500))
    start = time.process_time()
    re.findall(r"[\w.%+-]+@[\w.-]+", plain)
    spent = time.process_time() - start
    say(f"one plain pass of a pattern: {SIZE / MEGABYTE / spent:.1f} MB/s")
    say(f"plain text: {measured(plain):.1f} MB/s, half of it: {measured(plain[: SIZE // 2]):.1f}")
    say(f"numbered lines ({len(lines) / MEGABYTE:.1f} MB): {measured(lines):.1f} MB/s")
    say(f"dense text ({len(dense) / MEGABYTE:.1f} MB): {measured(dense):.1f} MB/s")


if __name__ == "__main__":
    main()
