"""What is acknowledged must last, or must be refused aloud: backups, a journal that is missing, a directory that is taken away."""
import os
import shutil
import subprocess

import pytest

from conftest import BINARY, DEADLINE_SECONDS, Jobs, Server, wait_for


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


@pytest.mark.parametrize("kind", ["a directory", "a FIFO"])
@pytest.mark.parametrize("name", ["control.sock", "credentials", "lock", "logs.db", "server.json", "server.json.new", "teson.db"])
def test_what_lies_in_a_files_place_is_named_and_left_alone(tmp_path, name, kind):
    if kind == "a directory":
        (tmp_path / name).mkdir()
    else:
        os.mkfifo(tmp_path / name)
    serve = subprocess.run([BINARY, "serve", "--data", tmp_path, "--listen", "127.0.0.1:0"], capture_output=True, text=True,
                           timeout=DEADLINE_SECONDS)
    assert serve.returncode == 1
    last = serve.stderr.splitlines()[-1]
    assert last.startswith(f"teson serve: {tmp_path / name} is {kind}, but the server "), last
    assert last.endswith("move it away, or choose another data directory with --data")
    assert (tmp_path / name).is_dir() if kind == "a directory" else (tmp_path / name).is_fifo()


@pytest.mark.parametrize("name", ["credentials", "server.json", "server.log"])
def test_the_command_line_waits_for_no_fifo(tmp_path, name):
    os.mkfifo(tmp_path / name)
    run = subprocess.run([BINARY, "--data", tmp_path, "run", "--", "true"], capture_output=True, text=True, timeout=DEADLINE_SECONDS)
    assert run.returncode != 0
    assert f"{tmp_path / name} is a FIFO" in run.stderr
