"""attemptDurationSeconds: the least that Batch permits is a minute, so this file takes one."""


def test_timeout_ends_the_attempt_and_is_not_retried(jobs):
    definition = jobs.register("exit 1", timeout=100)
    slow = jobs.submit("sleep 600", timeout={"attemptDurationSeconds": 60}, retryStrategy={"attempts": 3})
    quick = jobs.submit(definition=definition, timeout={"attemptDurationSeconds": 60})
    job = jobs.wait(slow, "FAILED", seconds=90)
    assert len(job["attempts"]) == 1
    assert job["statusReason"] == "Job attempt duration exceeded timeout"
    assert job["timeout"] == {"attemptDurationSeconds": 60}
    # SIGTERM on time; nothing here makes the program outlive it.
    assert 59_500 <= job["stoppedAt"] - job["startedAt"] <= 65_000
    assert job["container"]["exitCode"] == 143
    assert jobs.wait(quick, "FAILED")["container"]["exitCode"] == 1
    assert jobs.describe(jobs.submit(definition=definition))["timeout"] == {"attemptDurationSeconds": 100}
