"""``healbot report``: the ledger's own numbers, a file that is whole and ours, a calm browser."""

import html
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path

import pytest
from fakes import Said, hire, support
from sandbox import commit_all, make_repository
from telling import SETTINGS, answered, call, lines_of

from healbot.errors import Exit

CHROMIUM = next(
    filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), ""
)
PHONE = 360
NOWHERE = "http://127.0.0.1:9/x.png"
MEASURE = """<!doctype html><body style="margin:0">
<iframe id="page" style="width:{width}px;height:900px;border:0" srcdoc="{page}"></iframe>
<script>page.onload = () => {{
  document.title = "wide " + page.contentDocument.documentElement.scrollWidth;
}}</script>"""
CURT = """\
proposals:
- {summary: a, hunks: [{path: instructions.md, op: append, text: Escalate all.}]}
"""


def curt(texts: Mapping[str, str], task: str, draw: float) -> Said:
    """Escalate whatever comes, where the instructions say so."""
    return Said("I escalate") if "all" in texts["instructions.md"] else support(texts, task, draw)


@pytest.fixture(scope="module")
def repo(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """Make a repository with a merge, a healthy cycle, a rollback and a refusal behind it."""
    with pytest.MonkeyPatch.context() as patch:
        hire(patch, curt)
        more = "pulls: {per_week: 9}\nwatch: {cooldown_hours: 0}\n"
        folder = make_repository(tmp_path_factory.mktemp("page") / "repo", more=more)
        for words in (("cycle",), ("cycle", "--mode", "observe"), ("rollback", "--why", "no")):
            assert call(folder, *words).code == 0
        (folder / "e.yml").write_text(CURT)
        place = folder / SETTINGS
        place.write_text(place.read_text() + "editors: [{scripted: e.yml}]\n")
        commit_all(folder, "Another editor")
        assert call(folder, "cycle").code == 0
        yield folder


def test_every_number_reconciles_with_the_ledger(repo: Path) -> None:
    facts = answered(repo, "report")
    (agent,) = facts["agents"]
    entries = lines_of(repo, "audit")
    spent = sum(entry["spent"]["runs"] for entry in entries)
    runs, rows = agent["runs"], agent["revisions"]
    assert spent == runs["spent"] == sum(one["spent"]["runs"] for one in agent["cycles"])
    assert spent == sum(runs[key] for key in ("rated", "chosen", "never_live", "no_decision"))
    assert runs["rated"] == sum(row["pass"] + row["fail"] + row["none"] for row in rows)
    assert [row["how"] for row in rows] == ["found", "merge of 1", "revert of 1"]
    used = [one for entry in entries for one in entry["body"].get("used", ())]
    assert sum(len(one["repeats"]) for one in used) == spent - runs["no_decision"]
    judged = [entry for entry in entries if entry["body"]["kind"] in ("gated", "canaried")]
    told = [row for row in agent["verdicts"] if row["stage"] in ("gate", "canary")]
    assert len(judged) == sum(row["times"] for row in told)
    assert {row["rule"]: row["broke"] for row in told}["heldout-drop"] == 1
    assert facts["budget"]["day"]["spent"]["runs"] == spent
    live = [row for row in rows if row["revision"] == agent["revision"]]
    assert sum(case["pass"] + case["fail"] for case in agent["cases"]) == sum(
        row["pass"] + row["fail"] for row in live
    )


def test_it_writes_over_its_own_page_and_over_nothing_else(repo: Path, tmp_path: Path) -> None:
    out = tmp_path / "page.html"
    for _ in range(2):
        assert call(repo, "report", "--out", str(out)).code == 0
    assert [path.name for path in tmp_path.iterdir()] == ["page.html"]
    out.write_text("my notes")
    refused = call(repo, "report", "--out", str(out))
    assert refused.code == Exit.INPUT
    assert "is no report of healbot" in refused.err
    assert out.read_text() == "my notes"
    assert call(repo, "report", "--out", str(out), "--force").code == 0
    assert out.read_text().startswith("<!doctype html>")
    for bad in (tmp_path, tmp_path / "nowhere" / "page.html"):
        assert call(repo, "report", "--out", str(bad)).code == Exit.INPUT


def test_without_the_extra_it_has_tables_alone_and_names_the_command(
    repo: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "pygal", None)
    done = call(repo, "report", "--out", str(tmp_path / "page.html"))
    assert done.code == 0
    assert "pip install 'healbot[report]'" in done.err
    assert "<svg" not in (tmp_path / "page.html").read_text()


def test_before_the_first_cycle_there_is_a_page_as_well(tmp_path: Path) -> None:
    folder = make_repository(tmp_path / "repo")
    assert call(folder, "report", "--out", str(tmp_path / "page.html")).code == 0
    assert "No edit has been judged yet." in (tmp_path / "page.html").read_text()


@pytest.mark.skipif(not CHROMIUM, reason="no chromium is here to look at the page with")
def test_in_a_browser_a_phone_scrolls_down_only_and_nothing_is_asked_of_the_network(
    repo: Path, tmp_path: Path
) -> None:
    out, net = tmp_path / "page.html", tmp_path / "net.json"
    assert call(repo, "report", "--out", str(out)).code == 0
    frame = tmp_path / "frame.html"
    page = html.escape(out.read_text(), quote=True)
    frame.write_text(MEASURE.format(width=PHONE, page=page))
    measured = browse(frame, "--dump-dom", home=tmp_path)
    (wide,) = re.findall(r"<title>wide (\d+)</title>", measured.stdout)
    assert int(wide) <= PHONE
    seen = browse(out, "--dump-dom", f"--log-net-log={net}", home=tmp_path)
    assert "CONSOLE" not in seen.stderr + measured.stderr
    assert asked_of(net) == set()
    asking = tmp_path / "asking.html"
    asking.write_text(f'<img src="{NOWHERE}">')
    browse(asking, "--dump-dom", f"--log-net-log={net}", home=tmp_path)
    assert asked_of(net) == {NOWHERE}  # a page that does ask is seen to


def asked_of(log: Path) -> set[str]:
    """Return the addresses that a page itself asked for; a browser has errands of its own."""
    return set(re.findall(r'{site=file://[^}]*}","url":"(https?:[^"]+)"', log.read_text()))


def browse(file: Path, *words: str, home: Path) -> subprocess.CompletedProcess[str]:
    """Open a file in a browser without a window, to the end of its loading."""
    return subprocess.run(
        (
            CHROMIUM, "--headless", "--no-sandbox", "--disable-gpu", "--enable-logging=stderr",
            "--disable-background-networking", "--disable-component-update", "--no-first-run",
            f"--user-data-dir={home / 'profile'}", *words, file.as_uri(),
        ),
        check=True, capture_output=True, text=True, timeout=60,
    )  # fmt: skip
