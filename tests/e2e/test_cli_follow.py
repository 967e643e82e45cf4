"""C37 and C38 as a user meets them: `teson run` and `teson logs -f` on a real server, from another process, while the job runs."""
import os
import subprocess

import pytest
from botocore.exceptions import ClientError
from conftest import BINARY, DEADLINE_SECONDS

LINES = 50_000


def teson(server, *arguments, check=False):
    environment = {**os.environ, "TESON_DATA": str(server.data)}
    return subprocess.run([BINARY, *arguments], env=environment, capture_output=True, timeout=DEADLINE_SECONDS, check=check)


def test_c37_follow_shows_a_last_line_without_newline(server, jobs, tmp_path):
    go = tmp_path / "go"
    job = jobs.submit(f"echo first; while [ ! -e {go} ]; do sleep 0.02; done; printf 'last words'; exit 3")
    jobs.wait(job, "RUNNING")
    environment = {**os.environ, "TESON_DATA": str(server.data)}
    with subprocess.Popen([BINARY, "logs", "-f", job], env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as follower:
        assert follower.stdout.readline() == b"first\n"
        go.touch()
        rest, said = follower.communicate(timeout=DEADLINE_SECONDS)
    assert rest.rstrip(b"\n") == b"last words"
    assert b"FAILED" in said, "it ends by itself, with the job's state"


def test_c38_every_line_in_order_and_the_end_by_itself(server, jobs):
    job = jobs.submit(f"seq 1 {LINES}; exit 7")
    followed = teson(server, "logs", "-f", job)
    assert followed.stdout.split() == [str(number).encode() for number in range(1, LINES + 1)]
    assert b"FAILED" in followed.stderr


def test_run_passes_lines_and_exit_code_through(server):
    ran = teson(server, "run", "--", "sh", "-c", f"seq 1 {LINES}; printf end; exit 7")
    assert ran.returncode == 7
    assert ran.stdout.split() == [str(number).encode() for number in range(1, LINES + 1)] + [b"end"]


@pytest.mark.parametrize("replace, kind", [
    ("mkfifo", "a FIFO"), ("mkdir", "a directory"), ("ln -s /etc/passwd", "a symbolic link")])
def test_a_log_that_its_job_replaced_keeps_nobody_waiting(server, jobs, replace, kind):
    script = f"rm $TESON_DIR/stdout.log && {replace} $TESON_DIR/stdout.log; exit 7"
    ran = teson(server, "run", "--retries", "1", "--", "sh", "-c", script)
    assert ran.returncode == 7, ran.stderr
    for attempt in (1, 2):
        assert f"the log of attempt {attempt} cannot be read" in ran.stderr.decode()
    assert f"stdout.log is {kind}, put there" in ran.stderr.decode()
    assert b"root:" not in ran.stdout

    job = next(line.split()[-1] for line in ran.stderr.decode().splitlines() if " is job " in line)
    for arguments in (("logs", job), ("logs", "-f", job), ("logs", "--tail", "1", job)):
        logs = teson(server, *arguments)
        assert (logs.returncode, logs.stdout) == (254, b""), arguments
        assert f"is {kind}, put there".encode() in logs.stderr, arguments
    stream = jobs.describe(job)["attempts"][0]["container"]["logStreamName"]
    with pytest.raises(ClientError) as refused:
        server.logs.get_log_events(logGroupName="/aws/batch/job", logStreamName=stream)
    assert refused.value.response["Error"]["Code"] == "InvalidOperationException"
    assert refused.value.response["ResponseMetadata"]["HTTPStatusCode"] == 400
    listed = server.logs.describe_log_streams(logGroupName="/aws/batch/job", logStreamNamePrefix=stream)["logStreams"]
    assert [entry["logStreamName"] for entry in listed] == [stream]
