"""dependsOn: order, chains, failure that spreads, dependencies that ended long ago."""
import pytest
from botocore.exceptions import ClientError


def after(*ids):
    return [{"jobId": job} for job in ids]


def test_a_job_waits_for_all_it_depends_on(jobs, tmp_path):
    go = tmp_path / "go"
    slow = jobs.submit(f"while [ ! -e {go} ]; do sleep 0.05; done")
    quick = jobs.submit("true")
    last = jobs.submit("true", dependsOn=after(slow, quick))
    jobs.wait(quick, "SUCCEEDED")
    description = jobs.describe(last)
    assert description["status"] == "PENDING"
    assert slow in description["statusReason"]
    assert {one["jobId"] for one in description["dependsOn"]} == {slow, quick}
    go.touch()
    last_description = jobs.wait(last, "SUCCEEDED")
    assert jobs.describe(slow)["stoppedAt"] <= last_description["startedAt"]


def test_twenty_links_run_in_order(jobs, tmp_path):
    definition = jobs.register(["/bin/sh", "-c", 'echo "$0" >> "$1"', "Ref::number", str(tmp_path / "order")])
    chain = []
    for number in range(20):
        chain.append(jobs.submit(definition=definition, parameters={"number": str(number)},
                                 dependsOn=after(*chain[-1:])))
    jobs.wait(chain[-1], "SUCCEEDED")
    assert (tmp_path / "order").read_text().split() == [str(number) for number in range(20)]


def test_c15_a_failure_runs_down_the_chain_and_names_its_origin(jobs, tmp_path):
    go = tmp_path / "go"
    first = jobs.submit(f"while [ ! -e {go}$AWS_BATCH_JOB_ATTEMPT ]; do sleep 0.05; done; exit 1",
                        retryStrategy={"attempts": 2})
    second = jobs.submit("true", dependsOn=after(first))
    third = jobs.submit("true", dependsOn=after(second))
    jobs.wait(first, "RUNNING")
    (tmp_path / "go1").touch()
    jobs.wait_for_attempt(first, 2)
    assert jobs.describe(second)["status"] == "PENDING"  # the first still has an attempt
    assert jobs.describe(third)["status"] == "PENDING"
    (tmp_path / "go2").touch()
    jobs.wait(first, "FAILED")
    for job in (second, third):
        description = jobs.wait(job, "FAILED")
        assert first in description["statusReason"]
        assert description["attempts"] == []
        assert "startedAt" not in description


def test_dependencies_that_ended_before_the_submit(jobs):
    good, bad = jobs.submit("true"), jobs.submit("false")
    jobs.wait(good, "SUCCEEDED")
    jobs.wait(bad, "FAILED")
    jobs.wait(jobs.submit("true", dependsOn=after(good)), "SUCCEEDED")
    failed = jobs.wait(jobs.submit("true", dependsOn=after(good, bad)), "FAILED")
    assert bad in failed["statusReason"]


def test_a_dependency_that_never_was_is_refused(jobs):
    with pytest.raises(ClientError, match="does not exist"):
        jobs.submit("true", dependsOn=after("3f2504e0-4f89-41d3-9a0c-0305e82c3301"))


def test_terminating_a_dependency_fails_its_dependent(jobs, batch):
    first = jobs.submit("sleep 600")
    second = jobs.submit("true", dependsOn=after(first))
    jobs.wait(first, "RUNNING")
    batch.terminate_job(jobId=first, reason="stop it")
    assert first in jobs.wait(second, "FAILED")["statusReason"]
