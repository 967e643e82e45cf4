"""Attempts: which ends are retried, what the job is in the end, and what each attempt leaves behind."""
import os
import signal

import pytest

from conftest import wait_for

HOST_LOST_ELSE_EXIT = {"attempts": 3, "evaluateOnExit": [{"onStatusReason": "Host EC2*", "action": "RETRY"},
                                                         {"onReason": "*", "action": "EXIT"}]}


def codes(job):
    return [attempt["container"].get("exitCode") for attempt in job["attempts"]]


# ---- C33: workers that vanish, and slow ones ----

def test_c33_a_vanished_worker_is_noticed_and_a_slow_one_is_not_failed(jobs, server, tmp_path):
    slow = jobs.submit(f"while [ ! -e {tmp_path}/go ]; do sleep 0.02; done; touch {tmp_path}/done; exit 4")
    vanishes = jobs.submit("sleep 600")
    jobs.wait(slow, "RUNNING")
    jobs.wait(vanishes, "RUNNING")
    agent = server.agent_pid(slow)
    os.kill(agent, signal.SIGSTOP)
    try:
        server.lose_machine(vanishes)
        lost = jobs.wait(vanishes, "FAILED", seconds=10)
        assert lost["attempts"][0]["statusReason"].startswith("Host EC2 (instance i-")
        (tmp_path / "go").touch()
        wait_for("the slow one's program", (tmp_path / "done").exists)
        assert jobs.describe(slow)["status"] == "RUNNING"
    finally:
        os.kill(agent, signal.SIGCONT)
    late = jobs.wait(slow, "FAILED")
    assert codes(late) == [4] and late["statusReason"] == "Essential container in task exited"


# ---- C5: rules ----

def test_c5a_a_failure_that_a_rule_exits_on_is_not_retried(jobs):
    job = jobs.wait(jobs.submit("exit 1", retryStrategy=HOST_LOST_ELSE_EXIT), "FAILED")
    assert codes(job) == [1]
    assert job["retryStrategy"]["evaluateOnExit"] == HOST_LOST_ELSE_EXIT["evaluateOnExit"]


def test_c5b_a_lost_machine_is_retried(jobs, server, tmp_path):
    job = jobs.submit(f'[ "$AWS_BATCH_JOB_ATTEMPT" = 2 ] && exit 0; touch {tmp_path}/up; sleep 600',
                      retryStrategy=HOST_LOST_ELSE_EXIT)
    jobs.wait(job, "RUNNING")
    server.lose_machine(job)
    description = jobs.wait(job, "SUCCEEDED")
    assert len(description["attempts"]) == 2
    lost, last = description["attempts"]
    assert lost["statusReason"].startswith("Host EC2 (instance i-")
    assert lost["statusReason"].endswith(") terminated.")
    assert "exitCode" not in lost["container"]
    assert last["container"]["exitCode"] == 0


def test_c5c_what_no_rule_matches_is_retried(jobs):
    strategy = {"attempts": 3, "evaluateOnExit": HOST_LOST_ELSE_EXIT["evaluateOnExit"][:1]}
    assert codes(jobs.wait(jobs.submit("exit 1", retryStrategy=strategy), "FAILED")) == [1, 1, 1]


@pytest.mark.parametrize("script,strategy,expected", [
    ("exit 9", None, [9]),
    ("exit 9", {"attempts": 2}, [9, 9]),
    ("exit 0", {"attempts": 5}, [0]),
    ("exit $AWS_BATCH_JOB_ATTEMPT",
     {"attempts": 10, "evaluateOnExit": [{"onExitCode": "3", "action": "EXIT"}]}, [1, 2, 3]),
    ("exit 137", {"attempts": 4, "evaluateOnExit": [{"onExitCode": "13*", "action": "exit"}]}, [137]),
    ("exit 1", {"attempts": 3, "evaluateOnExit": [{"onExitCode": "1", "action": "RETRY"},
                                                  {"onExitCode": "*", "action": "EXIT"}]}, [1, 1, 1]),
    ("exit 1", {"attempts": 3, "evaluateOnExit": [
        {"onExitCode": "1", "onStatusReason": "Host*", "action": "RETRY"},
        {"onExitCode": "1", "onStatusReason": "Essential*", "action": "EXIT"}]}, [1]),
])
def test_attempts_and_rules(jobs, script, strategy, expected):
    request = {"retryStrategy": strategy} if strategy else {}
    job = jobs.wait(jobs.submit(script, **request))
    assert codes(job) == expected
    assert job["status"] == ("SUCCEEDED" if expected[-1] == 0 else "FAILED")
    assert job["container"]["exitCode"] == expected[-1]


def test_the_submits_strategy_replaces_the_definitions(jobs):
    definition = jobs.register("exit 5", retry={"attempts": 3})
    by_definition = jobs.submit(definition=definition)
    by_submit = jobs.submit(definition=definition, retryStrategy={"attempts": 1})
    assert codes(jobs.wait(by_definition, "FAILED")) == [5, 5, 5]
    assert codes(jobs.wait(by_submit, "FAILED")) == [5]


# ---- C7: two budgets ----

def lose_three_machines(jobs, server, tags):
    job = jobs.submit('[ "$AWS_BATCH_JOB_ATTEMPT" -ge 4 ] && exit 3; sleep 600',
                      retryStrategy={"attempts": 2}, tags=tags)
    for number in (1, 2, 3):
        jobs.wait_for_attempt(job, number)
        server.lose_machine(job, number)
        if number == 2 and tags == {}:
            break
    return jobs.wait(job, "FAILED")


def test_c7_interruptions_do_not_use_the_programs_attempts_where_they_are_free(jobs, server):
    job = lose_three_machines(jobs, server, {"teson:interruptions": "free"})
    assert codes(job) == [None, None, None, 3, 3]
    for attempt in job["attempts"][:3]:
        assert attempt["statusReason"].startswith("Host EC2 (instance ")
    for attempt in job["attempts"][3:]:
        assert attempt["statusReason"] == "Essential container in task exited"


def test_c7_interruptions_count_by_default_as_on_aws(jobs, server):
    job = lose_three_machines(jobs, server, {})
    assert codes(job) == [None, None]
    assert job["statusReason"].startswith("Host EC2 (instance ")


# ---- C8: later success wins ----

def test_c8_the_job_is_what_its_last_attempt_was(jobs):
    job = jobs.wait(jobs.submit('[ "$AWS_BATCH_JOB_ATTEMPT" = 1 ] && exit 143; exit 0', retryStrategy={"attempts": 2}))
    assert job["status"] == "SUCCEEDED"
    assert job["container"]["exitCode"] == 0
    assert codes(job) == [143, 0]


# ---- C10: a dirty retry ----

def test_c10_each_attempt_has_a_fresh_directory_and_the_old_one_is_kept(jobs, server):
    script = """
        if [ -n "$(ls -A)" ]; then echo not empty; exit 9; fi
        echo attempt "$AWS_BATCH_JOB_ATTEMPT"
        if [ "$AWS_BATCH_JOB_ATTEMPT" = 1 ]; then touch out.tmp; printf half > result.csv; exit 1; fi
    """
    job = jobs.submit(script, retryStrategy={"attempts": 2})
    assert codes(jobs.wait(job)) == [1, 0]
    assert jobs.output(job, 0) == "attempt 1"
    assert jobs.output(job, 1) == "attempt 2"
    kept = server.attempt_directory(job, 1) / "work"
    assert sorted(path.name for path in kept.iterdir()) == ["out.tmp", "result.csv"]
    assert (kept / "result.csv").read_text() == "half"
    streams = {attempt["container"]["logStreamName"] for attempt in jobs.describe(job)["attempts"]}
    assert len(streams) == 2
