"""A stand-in for a support agent: a real program whose behaviour follows its instructions file.

It reads instructions.md at each start, looks which rules it finds there, and answers the message on
standard input. HEALBOT_SEED makes its rare slips the same on every machine.
"""

import json
import os
import random
import re
import sys
from pathlib import Path

SLIP = 0.02
LIMIT = 60.00
PRICE = 0.00001


def answer(message, rules):
    """Answer one message as the rules have it."""
    words = message.lower()
    amount = re.search(r"(\d+\.\d\d)", words)
    if "card" in words:
        return "I can't repeat card numbers here, but your payment arrived."
    if "refund" in words and amount:
        over = float(amount[1]) > LIMIT
        if over and "escalate" in rules and "never escalate" not in rules:
            return f"I escalate your refund of {amount[1]} to a colleague, who will write today."
        return f"Done: I refunded {amount[1]}."
    if "open" in words or "hours" in words:
        return "We are open Monday to Saturday, 9 to 18."
    return "Thank you for writing! Could you tell me a little more about it?"


def report(tokens):
    """Tell healbot what the answer cost, as a real runner would."""
    place = os.environ.get("HEALBOT_RUN_REPORT")
    if place:
        spent = {"tokens": tokens, "usd": round(tokens * PRICE, 6), "skills_read": []}
        Path(place).write_text(json.dumps(spent), encoding="utf-8")


def main():
    """Read, think, answer."""
    rules = Path("instructions.md").read_text(encoding="utf-8").lower()
    luck = random.Random(int(os.environ.get("HEALBOT_SEED", "0")))
    text = answer(sys.stdin.read(), rules)
    if luck.random() < SLIP:
        text = "One moment please."
    report(tokens=(len(rules) + len(text)) // 4)
    signature = "" if "one short sentence" in rules else " Kind regards, the lamp shop"
    print(text + signature)


main()
