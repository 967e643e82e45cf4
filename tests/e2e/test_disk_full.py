"""C42: the disk of the data directory fills up. On a small file system of its own, so it needs root (as CI has)."""
import contextlib
import os
import pathlib
import subprocess
import tempfile

import botocore.exceptions
import pytest

from conftest import Jobs, Server, wait_for

SIZE_MIB = 48
RESERVE_MIB = 16


@pytest.fixture
def small_disk():
    mount = pathlib.Path(tempfile.mkdtemp(prefix="teson-disk-"))
    subprocess.run(["mount", "-t", "tmpfs", "-o", f"size={SIZE_MIB}m,mode=0700", "tmpfs", str(mount)], check=True)
    try:
        yield mount
    finally:
        subprocess.run(["umount", str(mount)], check=True)
        mount.rmdir()


@pytest.fixture
def small_server(small_disk):
    server = Server(f"disk_reserve_mib: {RESERVE_MIB}\n")
    server.data.rmdir()
    server.data = small_disk / "data"
    server.data.mkdir(mode=0o700)
    server.log = small_disk / "server.log"
    try:
        yield server.start()
    finally:
        with contextlib.suppress(FileNotFoundError):
            (small_disk / "filler").unlink()
        server.close()


def fill(disk, leave_bytes):
    """Takes all free room but so much."""
    filler = disk / "filler"
    with open(filler, "ab") as file:
        free = os.statvfs(disk)
        take = free.f_bavail * free.f_frsize - leave_bytes
        if take > 0:
            os.posix_fallocate(file.fileno(), file.seek(0, os.SEEK_END), take)
    return filler


def test_c42_low_space_holds_new_starts_with_the_reason_and_goes_on_after(small_server, small_disk):
    jobs = Jobs(small_server)
    filler = fill(small_disk, (RESERVE_MIB - 4) << 20)
    # The disk is looked at once a second: a job that is submitted in between may still start.
    waiting = []

    def held():
        waiting.append(jobs.submit("true"))
        description = jobs.describe(waiting[-1])
        return description["status"] == "RUNNABLE" and "nothing new starts" in description.get("statusReason", "")
    wait_for("a start to be held", held)
    reason = jobs.describe(waiting[-1])["statusReason"]
    assert f"less than disk_reserve_mib {RESERVE_MIB}" in reason and str(small_server.data) in reason
    filler.unlink()
    for job in waiting:
        jobs.wait(job, "SUCCEEDED")


def test_c42_a_full_disk_loses_no_running_job_and_tears_nothing(small_server, small_disk, tmp_path):
    jobs = Jobs(small_server)
    go = tmp_path / "go"
    running = jobs.submit(f"while [ ! -e {go} ]; do sleep 0.05; done; exit 7")
    jobs.wait(running, "RUNNING")
    definition = jobs.register("true")
    filler = fill(small_disk, 0)
    client = small_server.client("batch", retries={"max_attempts": 0})

    def refused():
        try:
            client.submit_job(jobName="x" * 100, jobQueue="default", jobDefinition=definition,
                              containerOverrides={"environment": [{"name": "FILL", "value": "y" * 20000}]})
        except botocore.exceptions.ClientError as error:
            return error.response
        return None
    response = wait_for("a submit to be refused", refused)
    assert response["ResponseMetadata"]["HTTPStatusCode"] == 503
    assert "journal cannot be written" in response["Error"]["Message"]
    # The job ends while there is no room to write a byte; it must neither be lost nor run again.
    go.touch()
    result = small_server.attempt_directory(running) / "result.json"
    wait_for("the result, into the room that its agent had reserved", result.exists)
    assert os.statvfs(small_disk).f_bavail == 0, "there was room: the test shows nothing"
    small_server.kill9()
    filler.unlink()
    small_server.start()
    ended = Jobs(small_server).wait(running, "FAILED")
    assert ended["container"]["exitCode"] == 7
    assert len(ended["attempts"]) == 1
    after = Jobs(small_server).submit("true")
    Jobs(small_server).wait(after, "SUCCEEDED")


def test_c42_a_full_disk_needs_no_restart(small_server, small_disk, tmp_path):
    jobs = Jobs(small_server)
    go = tmp_path / "go"
    running = jobs.submit(f"while [ ! -e {go} ]; do sleep 0.05; done; exit 7")
    jobs.wait(running, "RUNNING")
    filler = fill(small_disk, 0)
    go.touch()
    wait_for("the result", (small_server.attempt_directory(running) / "result.json").exists)
    assert os.statvfs(small_disk).f_bavail == 0, "there was room: the test shows nothing"
    filler.unlink()
    ended = jobs.wait(running, "FAILED")
    assert (ended["container"]["exitCode"], len(ended["attempts"])) == (7, 1)
    jobs.wait(jobs.submit("true"), "SUCCEEDED")
