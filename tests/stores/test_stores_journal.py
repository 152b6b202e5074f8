"""The journal of one clone: whole records only, and the first one stays."""

import os
import threading
from datetime import UTC, datetime
from pathlib import Path

from healbot.records.record import digest_bytes
from healbot.records.run import Run, RunKey
from healbot.stores.journal import FileJournal

KEY = RunKey(revision="r", case="c", runner="w", repeat=0)


def run(text: str = "hello", key: RunKey = KEY) -> Run:
    at = datetime(2026, 1, 1, tzinfo=UTC)
    return Run(key=key, case_id="x", started_at=at, duration_seconds=1, ended="exited", stdout=text)


def kept(folder: Path) -> list[Path]:
    return [path for path in folder.rglob("*") if path.is_file()]


def test_a_finished_run_is_found_again_by_its_address_alone(tmp_path: Path) -> None:
    FileJournal(tmp_path).put(run("überall \x00 �"))
    assert FileJournal(tmp_path).find(KEY) == run("überall \x00 �")
    assert FileJournal(tmp_path).find(KEY.model_copy(update={"repeat": 1})) is None


def test_the_first_record_of_a_run_stays(tmp_path: Path) -> None:
    journal = FileJournal(tmp_path)
    journal.put(run("first"))
    journal.put(run("second"))
    assert journal.find(KEY) == run("first")
    assert len(kept(tmp_path)) == 1


def test_a_damaged_record_is_no_record_and_gives_way_to_a_whole_one(tmp_path: Path) -> None:
    journal = FileJournal(tmp_path)
    for damage in (b"", b"{", b"[]", run().model_dump_json()[:-9].encode()):
        journal.put(run("first"))
        (path,) = kept(tmp_path)
        path.write_bytes(damage)
        assert journal.find(KEY) is None
        journal.put(run("again"))
        assert journal.find(KEY) == run("again"), damage
        path.unlink()


def test_a_record_under_another_run_s_address_is_none(tmp_path: Path) -> None:
    journal = FileJournal(tmp_path)
    other = KEY.model_copy(update={"repeat": 9})
    journal.put(run("other", other))
    (path,) = kept(tmp_path)
    place = tmp_path / "runs" / KEY.digest[:2] / KEY.digest
    place.parent.mkdir(parents=True, exist_ok=True)
    path.rename(place)
    assert journal.find(KEY) is None


def test_starts_that_never_finished_are_counted_even_once_the_run_is_kept(tmp_path: Path) -> None:
    journal = FileJournal(tmp_path)
    assert journal.lost(KEY) == 0
    for _ in range(3):
        journal.begin(KEY)
    assert journal.lost(KEY) == 3
    journal.put(run())
    assert journal.lost(KEY) == 2
    other = KEY.model_copy(update={"repeat": 1})
    journal.begin(other)
    journal.put(run(key=other))
    assert journal.lost(other) == 0


def test_content_comes_back_by_its_digest_and_damaged_content_does_not(tmp_path: Path) -> None:
    journal = FileJournal(tmp_path)
    content = b"\x00 an edit \xff"
    assert journal.save(content) == digest_bytes(content)
    assert journal.save(content) == digest_bytes(content)
    assert journal.load(digest_bytes(content)) == content
    assert journal.load(digest_bytes(b"other")) is None
    (path,) = kept(tmp_path)
    path.write_bytes(b"edited")
    assert journal.load(digest_bytes(content)) is None


def test_many_writers_of_one_run_leave_one_whole_record(tmp_path: Path) -> None:
    texts = [f"{number}" * 5000 for number in range(8)]
    threads = [threading.Thread(target=FileJournal(tmp_path).put, args=(run(t),)) for t in texts]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    found = FileJournal(tmp_path).find(KEY)
    assert found is not None
    assert found.stdout in texts
    assert len(kept(tmp_path)) == 1


def test_a_settled_run_is_found_redacted_and_no_raw_text_of_it_is_left(tmp_path: Path) -> None:
    journal = FileJournal(tmp_path)
    other = KEY.model_copy(update={"repeat": 1})
    journal.put(run("mail a@x.org"))
    journal.put(run("mail a@x.org", other))
    assert journal.settle(lambda key: key == KEY) == 1
    assert journal.settle(lambda key: key == KEY) == 0
    assert journal.find(KEY) == run("mail [email-1]")
    assert journal.find(other) == run("mail a@x.org", other)
    journal.put(run("mail a@x.org"))
    assert sum(b"a@x.org" in path.read_bytes() for path in kept(tmp_path)) == 1
    assert journal.lost(KEY) == 0


def test_runs_kept_before_an_instant_are_dropped_settled_or_not(tmp_path: Path) -> None:
    journal = FileJournal(tmp_path)
    keys = [KEY.model_copy(update={"repeat": number}) for number in range(3)]
    for key in keys:
        journal.put(run(key=key))
    for path in kept(tmp_path):
        aged = 1000 if path.name != keys[2].digest else 3000
        os.utime(path, (aged, aged))
    edit = journal.save(b"an edit")
    journal.settle(lambda key: key == keys[0])
    assert journal.drop_before(datetime.fromtimestamp(2000, UTC)) == 2
    assert [journal.find(key) is not None for key in keys] == [False, False, True]
    assert journal.load(edit) == b"an edit"
