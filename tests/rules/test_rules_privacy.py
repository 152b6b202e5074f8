"""Redaction: what has to go goes, what names no person stays, and twice is once."""

import base64
import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from healbot.rules.privacy import redact, redact_value

A = "AKIA" + "IOSFODNN7EXAMPLE"
GITHUB = "ghp_" + "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"
JWT = "eyJhbGciOiJIUzI1NiJ9" + ".eyJzdWIiOiIxMjM0In0.c2lnbmF0dXJl"
BLOCK = "-----BEGIN RSA PRIVATE KEY-----\nMIIEow==\n-----END RSA PRIVATE KEY-----"
BOB = "/ho" + "me/bobby"
GONE = (
    A, GITHUB, JWT, BLOCK, "sk-ant-" + "api03-abcdefghijklmnop1234", "bob.smith@example.com",
    "4111 1111 1111 1111", "4111111111111111", "DE89 3704 0044 0532 0130 00",
    "0170/1234567", "(030) 901820", "jane.doe (at) example.com", "jane[at]example[dot]com",
    "ghp_\u200b" + GITHUB[4:], "\uff47\uff48\uff50_" + GITHUB[4:], "bob\u2060@example.com",
    "123-45-6789", "203.0.113.77", "+49 30 901820", "(212) 555-0123", "+14155550123",
)  # fmt: skip
SAID = (
    ("password=hunter2", "hunter2"), ('{"password": "swordfish"}', "swordfish"),
    ("my password is Tr0ub4dor", "Tr0ub4dor"), ("Authorization: Bearer abcDEF123456xyz", "abcDEF"),
    ("postgres://app:s3cr3t@db:5432/x", "s3cr3t"), (f"cd {BOB}/src", "bobby"),
    ("API_KEY = 'a8f5f167f44f4964e6c998dee827110c'", "a8f5f167"), ("phone: 030 901820", "901820"),
    ("curl -u admin:S3cretPass9 x.org", "S3cret"), ("mysql -uroot -pS3cretPass9", "S3cret"),
    ("curl --user 'admin:S3cretPass9'", "S3cret"), ("sshpass -p S3cretPass9 ssh h", "S3cret"),
    ("login --password S3cretPass9", "S3cret"), ("x --db-password 'S3cretPass9'", "S3cret"),
    ("--api-key Zx81kQ94mmPw02", "Zx81k"), ("<password>S3cretPass9</password>", "S3cret"),
    ("<db:password type='x'>swordfish</db:password>", "swordfish"),
    ("password%3DS3cretPass9", "S3cret"), ("Passwort: Tr0ub4dor&3", "Tr0ub"),
    ("contraseña=Tr0ub4dor3", "Tr0ub"), ("contrasen\u0303a: Tr0ub4dor3", "Tr0ub"),
    ("mot de passe : Tr0ub4dor3", "Tr0ub"), ("пароль: Tr0ub4dor3", "Tr0ub"),
    ("密码：Tr0ub4dor3", "Tr0ub"), ("Das Kennwort ist Tr0ub4dor3", "Tr0ub"),
    ("Telefon: 030 901820", "901820"), ("call 0170 1234567", "1234567"),
    (f"key\n{GITHUB[:20]}\n{GITHUB[20:]}\n", GITHUB[20:]),
    (r"C:\Users\carol\x", "carol"), ("token: Zx81kQ94mmPw02", "Zx81k"),
)  # fmt: skip
STAYS = (
    "96aca2c7d0b5d6f1e2a3b4c5d6e7f8a9b0c1d2e3", "550e8400-e29b-41d4-a716-446655440000", "v1.2.3.4",
    "2026-03-14T09:30:00Z", "1772443800000", "$61.20", "order 1001", "src/app/main.py:41",
    "max_tokens=4096", "tokens: 1204", "password: str", "the password is required", "10.0.0.1",
    "token = get_token()", "git@github.com:o/r.git", "icon@2x.png", "10:11:12", "Chrome/120.0.0.0",
    "password=${DB_PASSWORD}", "healbot==1.2.3", "sha256:" + "ab" * 32, "ORD-4111-2026-0001",
    "/ho" + "me/runner/work", "std::vector<int>",
    "docker run -u 1000:1000 curl", "docker run -p 8080:80 mysql", "mkdir -pv a/b", "1/1234567",
    "use --password to log in", "--password-stdin", "--token $TOKEN", "src/0170/1234567",
    "01/02/2026", "call 1234567", "tool call 10234567",
    "<label for=password>Password</label>", "<th>password</th>", "look at example.com", "0170/12",
    "sk-ui-component\nbutton-2-large", "f[at]x", "curl -u admin: x.org", "naïve … ½ café №5",
    "0170 1234567", "mysql -u root -p",
    '"sessionId": "c446acf2-4d3b-4ddf-9567-09b92aa23d70"', "+12 -3 lines", "key: 96aca2c7d0b5",
)  # fmt: skip


@pytest.mark.parametrize("text", GONE)
def test_secrets_and_personal_data_go_wherever_they_stand(text: str) -> None:
    for around in (f"{text}", f"see {text}, please", f"({text})", f'"{text}"', f"x\n{text}\ny"):
        assert text not in redact(around)


@pytest.mark.parametrize(("text", "value"), SAID)
def test_what_a_word_before_gives_away_goes_and_the_word_stays(text: str, value: str) -> None:
    assert value not in redact(text)
    assert redact(text)[:2] == text[:2]


@pytest.mark.parametrize("text", STAYS)
def test_what_names_no_person_and_opens_nothing_stays(text: str) -> None:
    assert redact(f"see {text} there") == f"see {text} there"


def test_a_value_has_one_placeholder_in_a_record_and_others_have_theirs() -> None:
    record = {"input": "from a@x.org to b@x.org", "output": ["b@x.org", {"mail": "a@x.org"}]}
    done = redact_value(record)
    assert done.value["input"] == "from [email-1] to [email-2]"
    assert done.value["output"] == ["[email-2]", {"mail": "[email-1]"}]
    assert done.counts == {"email": 4}


def test_a_placeholder_that_is_there_is_not_given_to_another_value() -> None:
    assert redact("[email-1] and c@x.org") == "[email-1] and [email-2]"


def test_a_value_is_looked_at_together_with_its_key() -> None:
    assert redact_value({"password": "correct", "size": "large"}).value == {
        "password": "[secret-1]",
        "size": "large",
    }


def test_a_card_is_found_as_a_whole_number_and_within_a_key() -> None:
    value = {"args": [4111111111111111, 1772443800000, 12, True, 10**40], "x 4111111111111111": 1}
    assert redact_value(value).value == {
        "args": ["[card-1]", 1772443800000, 12, True, 10**40],
        "x [card-1]": 1,
    }


def test_what_takes_no_width_goes_with_the_token_and_stays_elsewhere() -> None:
    text = f"a\u200bb … {GITHUB[:9]}\u200b{GITHUB[9:]}\u200b c"
    assert redact(text) == "a\u200bb … [secret-1]\u200b c"


PIECES = st.one_of(
    st.sampled_from([*GONE, *(text for text, _ in SAID), *STAYS, "[email-1]", "=", ":", " ", '"']),
    st.text(max_size=6),
)


@settings(max_examples=150, deadline=None)
@given(st.lists(PIECES, max_size=8).map("".join))
def test_redacting_twice_changes_nothing(text: str) -> None:
    once = redact(text)
    assert redact(once) == once


@pytest.mark.parametrize(
    "text", ["\ud800 a@x.org \udfff", "\x00" * 100, "a" * 50_000, "İ password=hunter22"]
)
def test_broken_text_and_long_lines_are_no_trouble(text: str) -> None:
    assert "a@x.org" not in redact(text)
    assert "hunter22" not in redact(text)


def test_a_generated_key_is_found_and_a_digest_is_not() -> None:
    for seed in range(50):
        raw = base64.b64encode(bytes((seed * 37 + at * 101) % 256 for at in range(30))).decode()
        assert raw not in redact(json.dumps({"client_secret": raw}))
