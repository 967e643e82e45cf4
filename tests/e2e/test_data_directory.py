"""What is acknowledged must last, or must be refused aloud: backups, a journal that is missing, a directory that is taken away."""
import shutil

import pytest

from conftest import DEADLINE_SECONDS, Jobs, Server, wait_for


def test_the_backup_of_the_docs_holds_everything(own_server, own_jobs):
    ended = [own_jobs.submit("exit 4") for _ in range(6)]
    for job in ended:
        own_jobs.wait(job, "FAILED")
    own_server.stop()
    copy = Server()
    shutil.copy(own_server.data / "teson.db", copy.data)
    shutil.copytree(own_server.data / "snapshots", copy.data / "snapshots")
    try:
        copy.start()
        assert [Jobs(copy).describe(job)["container"]["exitCode"] for job in ended] == [4] * 6
    finally:
        copy.close()


@pytest.mark.parametrize("damage", ["removed", "emptied"])
def test_a_used_directory_without_its_journal_is_refused_and_left_alone(own_server, own_jobs, damage):
    job = own_jobs.submit("true")
    own_jobs.wait(job, "SUCCEEDED")
    own_server.stop()
    journal, kept = own_server.data / "teson.db", own_server.data / "kept"
    shutil.copy(journal, kept)
    if damage == "removed":
        journal.unlink()
    else:
        journal.write_bytes(b"")
    with pytest.raises(AssertionError, match="missing or empty, but this data directory has been used"):
        own_server.start()
    assert own_server.process.wait(DEADLINE_SECONDS) == 1
    assert not journal.exists() or journal.stat().st_size == 0
    shutil.move(kept, journal)
    own_server.start()
    assert own_jobs.describe(job)["status"] == "SUCCEEDED"


def test_a_server_whose_directory_is_taken_away_stops(own_server):
    away = own_server.data.with_name(own_server.data.name + "-away")
    own_server.data.rename(away)
    try:
        assert own_server.process.wait(DEADLINE_SECONDS) == 1
        wait_for("the reason", lambda: "removed or replaced under the running server" in (away / "server.log").read_text())
    finally:
        if own_server.data.exists():
            shutil.rmtree(own_server.data)
        away.rename(own_server.data)
