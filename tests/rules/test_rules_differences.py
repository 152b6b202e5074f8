"""Line differences: what came, what went, where, and as a diff."""

import subprocess
from pathlib import Path

from healbot.rules.differences import changed_lines, lines_of, unified


def test_lines_end_where_git_and_old_macs_end_them_and_nowhere_else() -> None:
    assert lines_of("a\r\nb\rc\u2028d\x0ce\n\nf") == ["a\r\n", "b\r", "c\u2028d\x0ce\n", "\n", "f"]
    assert lines_of("") == []


def test_added_and_removed_lines_come_without_their_line_ends() -> None:
    change = changed_lines(b"one\r\ntwo\r\nthree\r\n", b"one\r\n2\r\nthree\r\nfour\r\n")
    assert change == (("2", "four"), ("two",), 2)


def test_a_line_that_only_went_is_placed_at_the_line_after_it() -> None:
    assert changed_lines(b"one\ntwo\nthree\n", b"one\nthree\n") == ((), ("two",), 2)
    assert changed_lines(b"one\n", b"one\n") == ((), (), 1)


def test_a_changed_line_end_counts_as_a_changed_line() -> None:
    assert changed_lines(b"one\n", b"one\r\n") == (("one",), ("one",), 1)


def test_bytes_that_are_no_text_survive_as_surrogates() -> None:
    assert changed_lines(b"a\n", b"a\n\xff\n").added == ("\udcff",)


def test_the_unified_diff_is_one_that_git_applies(tmp_path: Path) -> None:
    before = b"".join(b"line %d\n" % number for number in range(20)) + b"--last"
    after = before.replace(b"line 3\n", b"line three\n").replace(b"--last", b"--very last")
    (tmp_path / "a.md").write_bytes(before)
    diff = unified(before, after, "a.md")
    assert diff.startswith("--- a/a.md\n+++ b/a.md\n@@ -1,7 +1,7 @@\n")
    subprocess.run(["git", "apply", "-"], input=diff.encode(), cwd=tmp_path, check=True)
    assert (tmp_path / "a.md").read_bytes() == after
    assert unified(before, before, "a.md") == ""
