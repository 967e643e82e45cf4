"""/aws/batch/job: the attempts' own output through CloudWatch Logs, with boto3 and the AWS CLI, running and ended."""
import itertools
import os
import subprocess
import threading
import time

import botocore.exceptions
import pytest

import conftest
from conftest import DEADLINE_SECONDS, wait_for

GROUP = "/aws/batch/job"


def submit(jobs, command, name=None):
    """A job whose stream's name begins with `name`."""
    return jobs.submit(definition=jobs.register(command, name=name))


def stream_of(jobs, job):
    return wait_for("a log stream", lambda: jobs.describe(job)["container"].get("logStreamName"))


def run(jobs, command, name=None):
    """Runs the job to its end and returns its stream's name."""
    return jobs.wait(submit(jobs, command, name), "SUCCEEDED")["container"]["logStreamName"]


def forward(logs, stream, **arguments):
    """Every event, as clients read them: until the forward token repeats."""
    events, token = [], None
    while True:
        page = logs.get_log_events(logGroupName=GROUP, logStreamName=stream, startFromHead=True,
                                   **arguments, **({"nextToken": token} if token else {}))
        events += page["events"]
        if page["nextForwardToken"] == token:
            assert page["events"] == []
            return events
        token = page["nextForwardToken"]


def messages(events):
    return [event["message"] for event in events]


def test_output_and_errors_come_in_order_with_times_that_never_go_back(jobs, logs):
    before = int(time.time() * 1000)
    stream = run(jobs, "echo one; echo two >&2; sleep 0.5; echo three")
    after = int(time.time() * 1000)
    events = forward(logs, stream)
    assert messages(events) == ["one", "two", "three"]
    times = [event["timestamp"] for event in events]
    assert times == sorted(times)
    assert before - 1000 <= times[0] and times[-1] <= after + 1000
    assert all(event["ingestionTime"] >= event["timestamp"] for event in events)


def test_unterminated_last_line_is_there_after_the_end(jobs, logs):
    assert messages(forward(logs, run(jobs, "echo first; printf last"))) == ["first", "last"]


def test_unterminated_line_is_no_event_while_the_job_runs(jobs, logs, tmp_path):
    job = submit(jobs, f"echo whole; printf part; while [ ! -e {tmp_path}/go ]; do sleep 0.05; done; echo ial")
    stream = stream_of(jobs, job)
    wait_for("the first line", lambda: messages(forward(logs, stream)) == ["whole"])
    (tmp_path / "go").touch()
    jobs.wait(job)
    assert messages(forward(logs, stream)) == ["whole", "partial"]


def test_log_is_followed_while_the_job_runs(jobs, logs, tmp_path):
    job = submit(jobs, f"echo one; while [ ! -e {tmp_path}/go ]; do sleep 0.05; done; echo two")
    stream = stream_of(jobs, job)
    seen, token = [], {}

    def poll():
        page = logs.get_log_events(logGroupName=GROUP, logStreamName=stream, startFromHead=True, **token)
        token["nextToken"] = page["nextForwardToken"]
        seen.extend(messages(page["events"]))
        return seen

    wait_for("the first line", lambda: poll() == ["one"])
    assert jobs.describe(job)["status"] == "RUNNING"
    (tmp_path / "go").touch()
    wait_for("the second line", lambda: poll() == ["one", "two"])


def test_fifty_thousand_lines_and_an_immediate_end(jobs, logs):
    stream = run(jobs, "seq 0 49999")
    expected = [str(i) for i in range(50_000)]
    assert messages(forward(logs, stream)) == expected

    newest_first, token = [], {}
    while True:
        page = logs.get_log_events(logGroupName=GROUP, logStreamName=stream, **token)
        if not page["events"]:
            assert page["nextBackwardToken"] == token["nextToken"]
            break
        newest_first = messages(page["events"]) + newest_first
        token = {"nextToken": page["nextBackwardToken"]}
    assert newest_first == expected

    found = [event for page in logs.get_paginator("filter_log_events").paginate(
        logGroupName=GROUP, logStreamNames=[stream]) for event in page["events"]]
    assert messages(found) == expected
    assert len({event["eventId"] for event in found}) == 50_000


def test_long_lines_bytes_that_are_not_text_and_progress_bars(jobs, logs):
    stream = run(jobs, r"head -c 600000 /dev/zero | tr '\0' x; echo; printf 'a\377b\n'; printf '1%%\r2%%\r\n'; echo; echo end")
    events = messages(forward(logs, stream))
    assert "".join(events[:-4]) == "x" * 600_000
    assert len(events) > 5 and all(len(text) <= 256 * 1024 for text in events)
    assert events[-4:] == ["a\ufffdb", "1%\r2%", "", "end"]


def test_times_bound_what_is_returned(jobs, logs):
    stream = run(jobs, "echo a; sleep 1; echo b; sleep 1; echo c")
    a, b, c = forward(logs, stream)
    assert a["timestamp"] < b["timestamp"] < c["timestamp"]
    page = logs.get_log_events(logGroupName=GROUP, logStreamName=stream, startFromHead=True,
                               startTime=b["timestamp"], endTime=c["timestamp"])
    assert messages(page["events"]) == ["b"]
    page = logs.filter_log_events(logGroupName=GROUP, logStreamNames=[stream],
                                  startTime=b["timestamp"], endTime=c["timestamp"])
    assert messages(page["events"]) == ["b", "c"]


def test_tokens_of_another_stream_are_refused(jobs, logs):
    one, other = run(jobs, "echo 1"), run(jobs, "echo 2")
    token = logs.get_log_events(logGroupName=GROUP, logStreamName=one)["nextForwardToken"]
    for bad in (token, "f/0", "x"):
        with pytest.raises(logs.exceptions.InvalidParameterException):
            logs.get_log_events(logGroupName=GROUP, logStreamName=other, nextToken=bad)


def test_filter_finds_terms_phrases_and_exclusions(jobs, logs):
    stream = run(jobs, "echo 'epoch 1 loss=0.5'; echo 'WARN slow disk'; echo 'epoch 2 loss=0.4'; echo 'ERROR slow disk'")

    def found(pattern):
        return messages(logs.filter_log_events(logGroupName=GROUP, logStreamNames=[stream],
                                               filterPattern=pattern)["events"])

    assert found("epoch") == ["epoch 1 loss=0.5", "epoch 2 loss=0.4"]
    assert found('"epoch 2"') == ["epoch 2 loss=0.4"]
    assert found('"slow disk" -WARN') == ["ERROR slow disk"]
    assert found("?WARN ?ERROR") == ["WARN slow disk", "ERROR slow disk"]
    assert found("nowhere") == []
    with pytest.raises(logs.exceptions.InvalidParameterException, match="JSON"):
        found('{ $.level = "x" }')


def test_filter_by_prefix_interleaves_streams_by_time(jobs, logs, tmp_path, unique):
    one = submit(jobs, f"echo a1; while [ ! -e {tmp_path}/one ]; do sleep 0.05; done; echo a2", unique)
    wait_for("its first line", lambda: messages(forward(logs, stream_of(jobs, one))) == ["a1"])
    run(jobs, "sleep 1; echo b1", unique)
    time_of_b1 = time.time()
    wait_for("a later second", lambda: time.time() > time_of_b1 + 1)
    (tmp_path / "one").touch()
    jobs.wait(one)
    pages = list(logs.get_paginator("filter_log_events").paginate(
        logGroupName=GROUP, logStreamNamePrefix=unique + "/", PaginationConfig={"PageSize": 1}))
    assert messages(itertools.chain.from_iterable(page["events"] for page in pages)) == ["a1", "b1", "a2"]
    assert all(len(page["events"]) <= 1 for page in pages)


def test_streams_are_described_with_their_times(jobs, logs, unique):
    streams = sorted(run(jobs, "echo x", unique) for _ in range(3))
    answer = logs.describe_log_streams(logGroupName=GROUP, logStreamNamePrefix=unique + "/")
    assert "nextToken" not in answer
    assert [stream["logStreamName"] for stream in answer["logStreams"]] == streams
    for stream in answer["logStreams"]:
        event = forward(logs, stream["logStreamName"])[0]
        assert stream["firstEventTimestamp"] == stream["lastEventTimestamp"] == event["timestamp"]
        assert stream["lastIngestionTime"] == event["ingestionTime"]
        assert stream["creationTime"] <= event["timestamp"]
        assert stream["storedBytes"] == 0
        assert stream["arn"].endswith(f":log-group:{GROUP}:log-stream:{stream['logStreamName']}")
    pages = logs.get_paginator("describe_log_streams").paginate(
        logGroupName=GROUP, logStreamNamePrefix=unique + "/", PaginationConfig={"PageSize": 1})
    assert [stream["logStreamName"] for page in pages for stream in page["logStreams"]] == streams


def test_latest_stream_is_found_by_time(jobs, logs):
    run(jobs, "echo earlier")
    latest = run(jobs, "sleep 1; echo latest")
    answer = logs.describe_log_streams(logGroupName=GROUP, orderBy="LastEventTime", descending=True, limit=1)
    assert [stream["logStreamName"] for stream in answer["logStreams"]] == [latest]
    assert "nextToken" in answer
    with pytest.raises(logs.exceptions.InvalidParameterException):
        logs.describe_log_streams(logGroupName=GROUP, orderBy="LastEventTime", logStreamNamePrefix="x")


def test_group_is_always_there_and_is_not_for_clients_to_change(jobs, logs):
    groups = logs.describe_log_groups(logGroupNamePrefix=GROUP)["logGroups"]
    assert [group["logGroupName"] for group in groups] == [GROUP]
    assert groups[0]["arn"].endswith(f":log-group:{GROUP}:*")
    stream = run(jobs, "echo kept")
    with pytest.raises(logs.exceptions.ResourceAlreadyExistsException):
        logs.create_log_group(logGroupName=GROUP)
    refused = [
        lambda: logs.delete_log_group(logGroupName=GROUP),
        lambda: logs.create_log_stream(logGroupName=GROUP, logStreamName="mine"),
        lambda: logs.delete_log_stream(logGroupName=GROUP, logStreamName=stream),
        lambda: logs.put_log_events(logGroupName=GROUP, logStreamName=stream,
                                    logEvents=[{"timestamp": int(time.time() * 1000), "message": "forged"}]),
    ]
    for call in refused:
        with pytest.raises(botocore.exceptions.ClientError) as caught:
            call()
        assert caught.value.response["Error"]["Code"] == "InvalidOperationException"
    assert messages(forward(logs, stream)) == ["kept"]


def test_unknown_stream_is_not_found(logs):
    with pytest.raises(logs.exceptions.ResourceNotFoundException):
        logs.get_log_events(logGroupName=GROUP, logStreamName="no/such/stream")
    with pytest.raises(logs.exceptions.ResourceNotFoundException):
        logs.filter_log_events(logGroupName=GROUP, logStreamNames=["no/such/stream"])


def test_cli_gets_events(jobs, aws):
    stream = run(jobs, "echo through the command line")
    page = aws("logs", "get-log-events", "--log-group-name", GROUP, "--log-stream-name", stream)
    assert messages(page["events"]) == ["through the command line"]


def test_cli_tails(jobs, server):
    stream = run(jobs, "seq 1 5")
    done = server.aws("logs", "tail", GROUP, "--log-stream-names", stream, "--format", "short", check=False)
    assert done.returncode == 0, done.stderr
    assert [line.split(" ", 1)[1] for line in done.stdout.splitlines()] == ["1", "2", "3", "4", "5"]


def test_cli_tail_follows_a_running_job_without_a_gap_or_a_double(jobs, server, tmp_path, unique):
    job = submit(jobs, f"i=0; while [ ! -e {tmp_path}/go ]; do echo line $i; i=$((i+1)); sleep 0.02; done; echo end", unique)
    stream_of(jobs, job)
    environment = {**os.environ, **server.environment, "PYTHONUNBUFFERED": "1", "AWS_CONFIG_FILE": "/dev/null",
                   "AWS_SHARED_CREDENTIALS_FILE": "/dev/null"}
    command = [conftest.AWS_CLI, "--endpoint-url", server.endpoint, "logs", "tail", GROUP, "--follow", "--since", "1h",
               "--format", "short", "--log-stream-name-prefix", unique + "/"]
    tail = subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    guard = threading.Timer(DEADLINE_SECONDS, tail.kill)
    guard.start()
    try:
        lines = []
        for text in tail.stdout:
            lines.append(text.rstrip("\n").split(" ", 1)[1])
            # The tail asks every 5 s: so many lines take it more than one look.
            if len(lines) == 400:
                (tmp_path / "go").touch()
            if lines[-1] == "end":
                break
        assert lines == [f"line {i}" for i in range(len(lines) - 1)] + ["end"]
        assert len(lines) > 400
    finally:
        guard.cancel()
        tail.kill()
        tail.wait()
        (tmp_path / "go").touch()
        jobs.wait(job)
