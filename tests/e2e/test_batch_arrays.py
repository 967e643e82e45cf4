"""Array jobs: C12, C13, C14 and C16, N_TO_N, the end of an array whose children start, and the death of its server.

The children prove what they do: each appends to a file, or holds one while it runs.
"""
import collections
import json
import os
import pathlib
import random
import shutil
import subprocess

import pytest
from botocore.exceptions import ClientError
from conftest import BINARY, DEADLINE_SECONDS, FINAL, Jobs, running_server, wait_for

SEED = 20261207
TINY = [{"type": "VCPU", "value": "0.25"}, {"type": "MEMORY", "value": "16"}]
# Thousands of attempts are tens of thousands of files: on a busy disk their removal alone takes minutes. What a killed
# process had written is there all the same.
MEMORY = pathlib.Path("/dev/shm")
DIRECTORY = MEMORY if MEMORY.is_dir() and shutil.disk_usage(MEMORY).free > 1 << 30 else None
WAITING = ("SUBMITTED", "PENDING", "RUNNABLE")
LIVE = ("STARTING", "RUNNING")


@pytest.fixture(scope="module")
def server():
    with running_server("host: {vcpus: 8}\n", directory=DIRECTORY) as started:
        yield started


@pytest.fixture(scope="module")
def jobs(server):
    return Jobs(server)


@pytest.fixture(scope="module", autouse=True)
def timed_out_child(jobs):
    """Begins first, since the least timeout is a minute: one child at a time, and the first outlives its timeout."""
    script = "[ $AWS_BATCH_JOB_ARRAY_INDEX = 1 ] || exec sleep 600"
    return jobs.submit(script, arrayProperties={"size": 2}, timeout={"attemptDurationSeconds": 60},
                       tags={"teson:array-throttle": "1"})


def submit_array(jobs, script, size, *arguments, **request):
    """`script` sees its index as $i and the further arguments as $1, $2 and so on."""
    command = ["/bin/sh", "-c", f"i=$AWS_BATCH_JOB_ARRAY_INDEX; {script}", "sh", *(str(one) for one in arguments)]
    definition = jobs.register(command, resourceRequirements=TINY)
    return jobs.submit(definition=definition, arrayProperties={"size": size}, **request)


def summary(jobs, array):
    return jobs.describe(array)["arrayProperties"]["statusSummary"]


def count(found, statuses):
    return sum(found[status] for status in statuses)


def children(server, array, status):
    pages = server.batch.get_paginator("list_jobs").paginate(arrayJobId=array, jobStatus=status)
    return [job for page in pages for job in page["jobSummaryList"]]


def refusal(call, **request):
    with pytest.raises(ClientError) as refused:
        call(**request)
    assert refused.value.response["Error"]["Code"] == "ClientException"
    return refused.value.response["Error"]["Message"]


def teson(server, *arguments):
    environment = {**os.environ, "TESON_DATA": str(server.data)}
    return subprocess.run([BINARY, *arguments], env=environment, capture_output=True, text=True,
                          timeout=DEADLINE_SECONDS)


# ---- C12 ----

def test_c12_sizes_2_to_10000(server, jobs):
    definition = jobs.register("sleep 600")
    request = {"jobName": "sizes", "jobQueue": "default", "jobDefinition": definition}
    for size in (1, 10_001):
        message = refusal(server.batch.submit_job, **request, arrayProperties={"size": size})
        assert f"is {size}" in message and "2 to 10000" in message
    large = server.batch.submit_job(**request, arrayProperties={"size": 10_000})["jobId"]
    found = jobs.describe(large)["arrayProperties"]
    assert found["size"] == 10_000 and sum(found["statusSummary"].values()) == 10_000
    assert jobs.describe(f"{large}:9999")["arrayProperties"] == {"size": 10_000, "index": 9999}
    assert server.batch.describe_jobs(jobs=[f"{large}:10000"])["jobs"] == []
    server.batch.terminate_job(jobId=large, reason="seen enough")
    ended = jobs.wait(large, "FAILED")
    assert ended["arrayProperties"]["statusSummary"]["FAILED"] == 10_000
    assert ended["statusReason"] == "seen enough"


def test_c12_children_ids_and_their_listing(server, jobs, tmp_path):
    script = 'echo "$AWS_BATCH_JOB_ID $i" >> $1; [ $i -ge 5 ]'
    array = submit_array(jobs, script, 120, tmp_path / "ran")
    pair = jobs.submit("true", arrayProperties={"size": 2})
    assert jobs.wait(array, "FAILED")["statusReason"] == "Array Child Job failed"
    assert jobs.wait(pair, "SUCCEEDED")["arrayProperties"]["statusSummary"]["SUCCEEDED"] == 2
    said = [line.split() for line in (tmp_path / "ran").read_text().splitlines()]
    assert sorted(said, key=lambda words: int(words[1])) == [[f"{array}:{i}", str(i)] for i in range(120)]

    succeeded = children(server, array, "SUCCEEDED")  # two pages of at most 100
    assert [job["jobId"] for job in succeeded] == [f"{array}:{i}" for i in range(5, 120)]
    assert [job["arrayProperties"]["index"] for job in succeeded] == list(range(5, 120))
    failed = server.aws("batch", "list-jobs", "--array-job-id", array, "--job-status", "FAILED")["jobSummaryList"]
    assert [(job["jobId"], job["container"]["exitCode"]) for job in failed] == [(f"{array}:{i}", 1) for i in range(5)]
    in_queue = {job["jobId"] for page in server.batch.get_paginator("list_jobs").paginate(
        jobQueue="default", jobStatus="FAILED") for job in page["jobSummaryList"]}
    assert array in in_queue and f"{array}:0" not in in_queue


# ---- C13 ----

BROKEN = (0, 13, 200, 201, 500, 777, 999)


def test_c13_rerun_of_the_seven_that_failed(server, jobs, tmp_path):
    ran, broken = tmp_path / "ran", tmp_path / "broken"
    broken.mkdir()
    for index in BROKEN:
        (broken / str(index)).touch()
    script = 'echo "$AWS_BATCH_JOB_ID" >> $1; [ ! -e $2/$i ] || exit 9'
    array = submit_array(jobs, script, 1000, ran, broken, name="sweep", tags={"team": "a"})
    looks = 0
    while True:
        job = jobs.describe(array)
        assert sum(job["arrayProperties"]["statusSummary"].values()) == 1000
        looks += 1
        if job["status"] in FINAL:
            break
    assert looks > 10
    assert job["arrayProperties"]["statusSummary"] == {
        "SUBMITTED": 0, "PENDING": 0, "RUNNABLE": 0, "STARTING": 0, "RUNNING": 0, "SUCCEEDED": 993, "FAILED": 7}
    assert [child["arrayProperties"]["index"] for child in children(server, array, "FAILED")] == list(BROKEN)

    still = teson(server, "rerun", "--failed", array[:18])
    assert still.returncode == 9, still.stderr
    assert "7 of 7 ended, 7 failed" in still.stderr and f":{BROKEN[1]}  " in still.stderr
    for index in BROKEN:
        (broken / str(index)).unlink()
    ran.unlink()
    detached = teson(server, "rerun", "--failed", array, "--detach")
    again = detached.stdout.strip()
    assert jobs.wait(again, "SUCCEEDED")["tags"] == {"team": "a", "teson:rerun-of": array}
    assert sorted(ran.read_text().split()) == sorted(f"{again}:{index}" for index in BROKEN)
    assert summary(jobs, again)["SUCCEEDED"] == 7
    nothing = teson(server, "rerun", "--failed", again)
    assert nothing.returncode == 254 and "nothing to run again" in nothing.stderr


# ---- C14 ----

def test_c14_throttle_of_eight_and_its_change(server, jobs, tmp_path):
    held, told, phase = tmp_path / "held", tmp_path / "told", tmp_path / "phase"
    held.mkdir()
    phase.write_text("1\n")
    script = 'read phase < $3; : > $1/$i; echo "$phase $(ls $1 | wc -l)" >> $2; sleep 0.05; rm $1/$i'
    array = submit_array(jobs, script, 100, held, told, phase, tags={"teson:array-throttle": "8"})
    wait_for("the first children", lambda: summary(jobs, array)["SUCCEEDED"] >= 30)
    changed = teson(server, "throttle", array, "2")
    assert changed.returncode == 0, changed.stderr
    wait_for("the throttle of 2", lambda: count(summary(jobs, array), LIVE) <= 2)
    phase.write_text("2\n")
    wait_for("children two by two", lambda: told.read_text().count("2 ") >= 10)
    phase.write_text("3\n")
    server.batch.tag_resource(resourceArn=jobs.describe(array)["jobArn"], tags={"teson:array-throttle": "8"})
    jobs.wait(array, "SUCCEEDED")
    most = collections.defaultdict(int)
    lines = told.read_text().splitlines()
    for line in lines:
        during, together = line.split()
        most[during] = max(most[during], int(together))
    assert len(lines) == 100
    assert most["1"] <= 8 and most["2"] <= 2 and most["3"] <= 8
    assert most["1"] > 2 and most["3"] > 2, f"{dict(most)}: the throttle let pass less than it says"


def test_c14_a_throttle_of_0_is_none_and_one_of_the_definition_outlives_other_tags(server, jobs, tmp_path):
    script = f"while [ ! -e {tmp_path}/go ]; do sleep 0.05; done"
    definition = jobs.register(script, resourceRequirements=TINY, tags={"teson:array-throttle": "2"})
    request = {"definition": definition, "arrayProperties": {"size": 6}}
    throttled = jobs.submit(**request)
    free = jobs.submit(**request, tags={"teson:array-throttle": "0"})
    wait_for("all of the free one", lambda: summary(jobs, free)["RUNNING"] == 6)
    wait_for("two of the other", lambda: summary(jobs, throttled)["RUNNING"] == 2)
    arn = jobs.describe(throttled)["jobArn"]
    server.batch.tag_resource(resourceArn=arn, tags={"team": "a"})
    server.batch.untag_resource(resourceArn=arn, tagKeys=["team", "teson:array-throttle"])
    # One that comes later starts: children that may start would have gone before it.
    later = jobs.submit(script)
    jobs.wait(later, "RUNNING")
    assert count(summary(jobs, throttled), LIVE) == 2
    server.batch.tag_resource(resourceArn=arn, tags={"teson:array-throttle": "3"})
    wait_for("three", lambda: summary(jobs, throttled)["RUNNING"] == 3)
    assert "teson:array-throttle" in refusal(server.batch.tag_resource, resourceArn=arn, tags={"teson:array-throttle": "-3"})
    server.batch.untag_resource(resourceArn=arn, tagKeys=["teson:array-throttle"])
    wait_for("all", lambda: summary(jobs, throttled)["RUNNING"] == 6)
    (tmp_path / "go").touch()
    for job in (throttled, free, later):
        jobs.wait(job, "SUCCEEDED")


# ---- Dependencies ----

def test_no_dependency_can_close_a_circle(server, jobs, tmp_path):
    """A job may only wait for what is there already, and what it waits for never changes afterwards."""
    script = f"while [ ! -e {tmp_path}/go ]; do sleep 0.05; done"
    array = submit_array(jobs, script, 3)
    definition = jobs.register("true")
    request = {"jobName": "n", "jobQueue": "default", "jobDefinition": definition}
    for absent in (f"{array}:3", f"{array}:10000", "3f2504e0-4f89-41d3-9a0c-0305e82c3301", f"{array[:-4]}0000"):
        assert "does not exist" in refusal(server.batch.submit_job, **request, dependsOn=[{"jobId": absent}])
    for size in (2, 3):
        said = refusal(server.batch.submit_job, **request, arrayProperties={"size": size},
                       dependsOn=[{"jobId": f"{array}:1", "type": "N_TO_N"}])
        assert "is not an array job" in said
    # Of both kinds at once, of itself (SEQUENTIAL) and of another, and of one child.
    second = submit_array(jobs, "echo $i >> $1", 3, tmp_path / "ran", dependsOn=[
        {"type": "SEQUENTIAL"}, {"jobId": array, "type": "N_TO_N"}, {"jobId": f"{array}:2"}, {"jobId": array}])
    third = jobs.submit("true", dependsOn=[{"jobId": second}, {"jobId": f"{second}:1"}])
    assert jobs.describe(third)["status"] == "PENDING"
    (tmp_path / "go").touch()
    jobs.wait(third, "SUCCEEDED")
    assert (tmp_path / "ran").read_text().split() == ["0", "1", "2"]


# ---- C16 ----

def test_c16_after_any_end(jobs, tmp_path):
    fails = jobs.submit("exit 3")
    strict = jobs.submit(f"touch {tmp_path}/strict", dependsOn=[{"jobId": fails}])
    any_end = jobs.submit("true", dependsOn=[{"jobId": fails}], tags={"teson:after": "any"})
    array = submit_array(jobs, "echo $i >> $1", 3, tmp_path / "ran", dependsOn=[{"jobId": fails}],
                         tags={"teson:after": "any"})
    assert jobs.wait(any_end, "SUCCEEDED")["attempts"]
    jobs.wait(array, "SUCCEEDED")
    assert sorted((tmp_path / "ran").read_text().split()) == ["0", "1", "2"]
    assert "Dependent job failed" in jobs.wait(strict, "FAILED")["statusReason"]
    assert not (tmp_path / "strict").exists()


@pytest.mark.parametrize("after, ran, failed", [("any", "0 1 2 3", "1"), ("success", "0 1", "1 2 3")])
def test_c16_sequential_goes_on_only_if_asked(server, jobs, tmp_path, after, ran, failed):
    array = submit_array(jobs, "echo $i >> $1; [ $i != 1 ]", 4, tmp_path / "ran", dependsOn=[{"type": "SEQUENTIAL"}],
                         tags={"teson:after": after})
    jobs.wait(array, "FAILED")
    assert (tmp_path / "ran").read_text().split() == ran.split(), "in order"
    found = [str(job["arrayProperties"]["index"]) for job in children(server, array, "FAILED")]
    assert found == failed.split()


# ---- N_TO_N ----

def test_n_to_n_pairs_children_and_wants_one_size(server, jobs, tmp_path):
    first = submit_array(jobs, "touch $1/a$i; [ $i != 2 ]", 5, tmp_path, dependsOn=[{"type": "SEQUENTIAL"}],
                         tags={"teson:after": "any"})
    second = submit_array(jobs, "[ -e $1/a$i ] && touch $1/b$i", 5, tmp_path,
                          dependsOn=[{"jobId": first, "type": "N_TO_N"}])
    definition = jobs.register("true")
    request = {"jobName": "n", "jobQueue": "default", "jobDefinition": definition,
               "dependsOn": [{"jobId": first, "type": "N_TO_N"}]}
    for size in (4, 6):
        message = refusal(server.batch.submit_job, **request, arrayProperties={"size": size})
        assert "N_TO_N" in message and f"has {size} children" in message and "has 5" in message
    assert "array jobs" in refusal(server.batch.submit_job, **request)
    jobs.wait(second, "FAILED")
    assert sorted(path.name for path in tmp_path.glob("b*")) == ["b0", "b1", "b3", "b4"]
    assert f"{first}:2" in jobs.describe(f"{second}:2")["statusReason"]
    # Of an array that is over it is the same.
    assert "has 5" in refusal(server.batch.submit_job, **request, arrayProperties={"size": 4})


# ---- Ends ----

def test_an_array_terminated_while_its_children_start(server, jobs, tmp_path):
    array = submit_array(jobs, 'echo "$i" >> $1; exec sleep 600', 500, tmp_path / "begun")
    wait_for("some that run", lambda: summary(jobs, array)["RUNNING"] >= 3)
    server.batch.terminate_job(jobId=array, reason="changed my mind")
    ended = jobs.wait(array, "FAILED")
    assert ended["statusReason"] == "changed my mind"
    assert ended["arrayProperties"]["statusSummary"]["FAILED"] == 500
    begun = sorted(int(index) for index in (tmp_path / "begun").read_text().split())
    assert len(begun) == len(set(begun)) and 3 <= len(begun) < 500
    assert not [text for text in server.processes().values() if str(tmp_path) in text]
    assert jobs.describe(f"{array}:{begun[0]}")["container"]["exitCode"] == 143
    last = jobs.describe(f"{array}:499")
    assert last["attempts"] == [] and last["statusReason"] == "changed my mind"


def test_an_array_cancelled_while_its_children_start(server, jobs, tmp_path):
    array = submit_array(jobs, 'echo "$i" >> $1; while [ ! -e $2 ]; do sleep 0.05; done', 500, tmp_path / "begun",
                         tmp_path / "go")
    wait_for("some that run", lambda: summary(jobs, array)["RUNNING"] >= 3)
    server.batch.cancel_job(jobId=array, reason="no more of them")
    # What has begun goes on, as on AWS; what waits is over.
    wait_for("the end of those that wait", lambda: count(summary(jobs, array), WAITING) == 0)
    (tmp_path / "go").touch()
    ended = jobs.wait(array, "FAILED")
    found = ended["arrayProperties"]["statusSummary"]
    begun = (tmp_path / "begun").read_text().split()
    assert len(begun) == len(set(begun)) == found["SUCCEEDED"]
    assert found["SUCCEEDED"] + found["FAILED"] == 500 and found["SUCCEEDED"] >= 3


@pytest.mark.parametrize("stop", ["cancel_job", "terminate_job"])
def test_an_array_stopped_while_it_waits_for_others(server, jobs, stop):
    first = submit_array(jobs, "exec sleep 600", 5)
    plain = submit_array(jobs, "true", 5, dependsOn=[{"jobId": first}])
    paired = submit_array(jobs, "true", 5, dependsOn=[{"jobId": first, "type": "N_TO_N"}, {"type": "SEQUENTIAL"}])
    last = submit_array(jobs, "true", 5, dependsOn=[{"jobId": paired, "type": "N_TO_N"}])
    for array in (plain, paired):
        getattr(server.batch, stop)(jobId=array, reason="not wanted")
        ended = jobs.wait(array, "FAILED")
        assert ended["statusReason"] == "not wanted" and ended["arrayProperties"]["statusSummary"]["FAILED"] == 5
        assert jobs.describe(f"{array}:4")["statusReason"] == "not wanted"
    assert f"{paired}:3" in jobs.describe(f"{last}:3")["statusReason"]
    jobs.wait(last, "FAILED")
    server.batch.terminate_job(jobId=first, reason="over")
    jobs.wait(first, "FAILED")


@pytest.mark.parametrize("stop", ["cancel_job", "terminate_job"])
def test_an_array_of_short_children_stopped_in_full_run(server, jobs, tmp_path, stop):
    """Most of them wait behind a sibling, placed but not begun, when the stop comes."""
    array = submit_array(jobs, 'echo "$i" >> $1', 3000, tmp_path / "ran")
    wait_for("some that ended", lambda: summary(jobs, array)["SUCCEEDED"] >= 200)
    getattr(server.batch, stop)(jobId=array, reason="enough")
    ended = jobs.wait(array, "FAILED")
    found = ended["arrayProperties"]["statusSummary"]
    assert found["SUCCEEDED"] + found["FAILED"] == 3000 and 200 <= found["SUCCEEDED"] < 3000
    ran = [int(index) for index in (tmp_path / "ran").read_text().split()]
    assert len(ran) == len(set(ran)) and found["SUCCEEDED"] <= len(ran) < 3000
    succeeded = {job["arrayProperties"]["index"] for job in children(server, array, "SUCCEEDED")}
    assert succeeded <= set(ran)
    jobs.wait(submit_array(jobs, "true", 20), "SUCCEEDED", seconds=20)  # their places are free again


def test_a_cancelled_array_ends_though_its_running_children_have_attempts_left(server, jobs, tmp_path):
    array = submit_array(jobs, 'echo "$i" >> $1; while [ ! -e $2 ]; do sleep 0.05; done; exit 1', 4, tmp_path / "begun",
                         tmp_path / "go", retryStrategy={"attempts": 3}, tags={"teson:array-throttle": "2"})
    wait_for("two that run", lambda: summary(jobs, array)["RUNNING"] == 2)
    server.batch.cancel_job(jobId=array, reason="no more of them")
    (tmp_path / "go").touch()
    ended = jobs.wait(array, "FAILED", seconds=20)
    assert ended["arrayProperties"]["statusSummary"]["FAILED"] == 4
    assert ended["statusReason"] == "no more of them"


def test_the_command_line_follows_an_array_and_stops_one_child(server, jobs, tmp_path):
    script = 'echo "child $AWS_BATCH_JOB_ARRAY_INDEX"; [ $AWS_BATCH_JOB_ARRAY_INDEX != 2 ] || exit 5'
    ran = teson(server, "run", "--memory", "16MiB", "--vcpus", "0.25", "--array", "0-4%2", "--", "sh", "-c", script)
    assert ran.returncode == 5, ran.stderr
    array = next(line.split()[-1] for line in ran.stderr.splitlines() if " is job " in line)
    short = array[:18]
    assert "5 of 5 ended, 1 failed, 0 running, 0 waiting" in ran.stderr
    assert f"{array[:8]}:2         1     5  exit code 5" in ran.stderr
    assert teson(server, "logs", f"{short}:3").stdout == "child 3\n"
    assert json.loads(teson(server, "show", f"{short}:2", "--output", "json").stdout)["container"]["exitCode"] == 5
    listed = teson(server, "jobs", "--array", short, "--status", "FAILED", "--output", "json").stdout
    assert [job["jobId"] for job in json.loads(listed)["jobs"]] == [f"{array}:2"]

    waiting = submit_array(jobs, "while [ ! -e $1 ]; do sleep 0.05; done", 3, tmp_path / "go")
    stopped = teson(server, "stop", f"{waiting}:1", "--wait")
    assert stopped.returncode == 0 and stopped.stdout.endswith(":1): FAILED\n"), stopped.stderr
    (tmp_path / "go").touch()
    jobs.wait(waiting, "FAILED")
    assert [job["jobId"] for job in children(server, waiting, "FAILED")] == [f"{waiting}:1"]


# ---- kill -9 ----

CHILDREN = 2000
KILLS = 6


def test_kill_9_in_the_middle_of_an_array_loses_and_doubles_no_child(tmp_path):
    prng = random.Random(SEED)
    ran = tmp_path / "ran"
    with running_server("host: {vcpus: 8}\n", directory=DIRECTORY) as server:
        jobs = Jobs(server)
        array = submit_array(jobs, "echo $i >> $1", CHILDREN, ran)
        for kill in range(1, KILLS + 1):
            goal = CHILDREN * kill // (KILLS + 1) + prng.randrange(-20, 20)
            wait_for(f"child number {goal}", lambda goal=goal: ran.exists() and ran.read_text().count("\n") >= goal)
            server.kill9()
            server.start()
            found = summary(jobs, array)
            assert sum(found.values()) == CHILDREN and found["FAILED"] == 0
        assert jobs.wait(array, "SUCCEEDED", "FAILED")["status"] == "SUCCEEDED"
        assert summary(jobs, array)["SUCCEEDED"] == CHILDREN
        attempts = [len(job["attempts"]) for first in range(0, CHILDREN, 100) for job in server.batch.describe_jobs(
            jobs=[f"{array}:{index}" for index in range(first, first + 100)])["jobs"]]
        assert attempts == [1] * CHILDREN
    assert sorted(int(index) for index in ran.read_text().split()) == list(range(CHILDREN))


# ---- C12, the end of what began first ----

def test_c12_the_timeout_is_each_childs_and_not_the_parents(jobs, timed_out_child):
    array = jobs.wait(timed_out_child, "FAILED", seconds=120)
    assert array["statusReason"] == "Array Child Job failed"
    assert array["arrayProperties"]["statusSummary"]["SUCCEEDED"] == 1, "the parent was past a minute, and it ran"
    late = jobs.describe(f"{timed_out_child}:0")
    assert late["statusReason"] == "Job attempt duration exceeded timeout"
    assert 59_500 <= late["stoppedAt"] - late["startedAt"] <= 65_000
    assert late["timeout"] == {"attemptDurationSeconds": 60}
