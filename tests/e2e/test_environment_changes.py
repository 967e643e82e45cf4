"""Compute environments that shrink, are disabled, change their types or go while jobs run on them: what runs goes on, what
waits obeys the new word, and says what it waits for."""
import pytest
from botocore.exceptions import ClientError
from conftest import Jobs, running_server, wait_for


@pytest.fixture(scope="module")
def server():
    with running_server("host: {vcpus: 4, memory_mib: 2048}\ninstance_idle_seconds: 1\n") as started:
        yield started


@pytest.fixture(scope="module")
def jobs(server):
    return Jobs(server)


@pytest.fixture
def place(server, unique):
    """An environment of up to 4 vCPUs and its queue, by one name."""
    server.batch.create_compute_environment(
        computeEnvironmentName=unique, type="MANAGED",
        computeResources={"type": "EC2", "maxvCpus": 4, "instanceTypes": ["host"], "subnets": [], "instanceRole": "r",
                          "securityGroupIds": []})
    server.batch.create_job_queue(jobQueueName=unique, priority=1,
                                  computeEnvironmentOrder=[{"order": 1, "computeEnvironment": unique}])
    return unique


def one_vcpu(jobs, script):
    return jobs.register(script, resourceRequirements=[{"type": "VCPU", "value": "1"}, {"type": "MEMORY", "value": "64"}])


def until(path):
    return f"while [ ! -e {path} ]; do sleep 0.02; done"


def test_a_disabled_environment_starts_nothing_and_ends_nothing(server, jobs, place, tmp_path):
    definition = one_vcpu(jobs, until(tmp_path / "go"))
    array = jobs.submit(definition=definition, queue=place, arrayProperties={"size": 6})
    summary = lambda: jobs.describe(array)["arrayProperties"]["statusSummary"]
    wait_for("four that run", lambda: summary()["RUNNING"] == 4)
    server.batch.update_compute_environment(computeEnvironment=place, state="DISABLED")
    assert summary()["RUNNING"] == 4
    (tmp_path / "go").touch()
    wait_for("the end of those that ran", lambda: summary()["SUCCEEDED"] == 4)
    late = jobs.submit(definition=definition, queue=place)
    reason = wait_for("a reason", lambda: jobs.describe(late).get("statusReason"))
    assert f"every compute environment of queue '{place}' is disabled or gone" in reason
    found = summary()
    assert (found["SUCCEEDED"], found["RUNNING"] + found["STARTING"]) == (4, 0)
    server.batch.update_compute_environment(computeEnvironment=place, state="ENABLED")
    jobs.wait(array, "SUCCEEDED")
    jobs.wait(late, "SUCCEEDED")


def test_one_that_shrinks_below_what_runs_lets_it_run_and_starts_no_more(server, jobs, place, tmp_path):
    """On instances of two vCPUs each."""
    def resize(vcpus):
        server.batch.update_compute_environment(computeEnvironment=place, computeResources={"maxvCpus": vcpus})
    server.batch.update_compute_environment(computeEnvironment=place, computeResources={"instanceTypes": ["m5.large"]})
    running = [jobs.submit(definition=one_vcpu(jobs, until(tmp_path / f"go{i}")), queue=place) for i in range(4)]
    for job in running:
        jobs.wait(job, "RUNNING")
    resize(2)
    two = jobs.register(until(tmp_path / "end"), resourceRequirements=[{"type": "VCPU", "value": "2"},
                                                                       {"type": "MEMORY", "value": "64"}])
    waits = jobs.submit(definition=two, queue=place)
    (tmp_path / "go0").touch()
    (tmp_path / "go1").touch()
    for job in running[:2]:
        jobs.wait(job, "SUCCEEDED")
    # Its room on one instance is free, which the environment may not have any more beside the other.
    assert [jobs.describe(job)["status"] for job in running[2:]] == ["RUNNING"] * 2
    assert jobs.describe(waits)["status"] == "RUNNABLE"
    for name in ("go2", "go3"):
        (tmp_path / name).touch()
    jobs.wait(waits, "RUNNING")
    another = jobs.submit(definition=one_vcpu(jobs, "true"), queue=place)
    resize(0)
    reason = wait_for("a reason", lambda: "MISCONFIGURATION" in (said := jobs.describe(another).get("statusReason", ""))
                      and said)
    assert reason.startswith("MISCONFIGURATION:COMPUTE_ENVIRONMENT_MAX_RESOURCE") and "maxvCpus 0" in reason, reason
    assert jobs.describe(waits)["status"] == "RUNNING"
    resize(4)
    jobs.wait(another, "SUCCEEDED")
    (tmp_path / "end").touch()
    jobs.wait(waits, "SUCCEEDED")


def test_other_instance_types_leave_what_runs_and_family_names_are_understood(server, jobs, place, tmp_path):
    definition = one_vcpu(jobs, until(tmp_path / "go"))
    running = jobs.submit(definition=definition, queue=place)
    jobs.wait(running, "RUNNING")
    for types in (["m5"], ["optimal"], ["c5.large", "m5"]):
        server.batch.update_compute_environment(computeEnvironment=place, computeResources={"instanceTypes": types})
        shown = server.batch.describe_compute_environments(computeEnvironments=[place])["computeEnvironments"][0]
        assert shown["computeResources"]["instanceTypes"] == types
        another = jobs.submit(definition=one_vcpu(jobs, "true"), queue=place)
        jobs.wait(another, "SUCCEEDED")
    with pytest.raises(ClientError, match="m5.huge.*no known instance type or family"):
        server.batch.update_compute_environment(computeEnvironment=place, computeResources={"instanceTypes": ["m5.huge"]})
    assert jobs.describe(running)["status"] == "RUNNING"
    (tmp_path / "go").touch()
    jobs.wait(running, "SUCCEEDED")


def test_one_in_use_cannot_be_deleted_and_the_queue_of_a_running_job_can(server, jobs, place, tmp_path):
    running = jobs.submit(definition=one_vcpu(jobs, until(tmp_path / "never")), queue=place)
    array = jobs.submit(definition=one_vcpu(jobs, until(tmp_path / "never")), queue=place, arrayProperties={"size": 9})
    jobs.wait(running, "RUNNING")
    batch = server.batch
    with pytest.raises(ClientError, match="DISABLED first"):
        batch.delete_compute_environment(computeEnvironment=place)
    batch.update_compute_environment(computeEnvironment=place, state="DISABLED")
    with pytest.raises(ClientError, match="relationship"):
        batch.delete_compute_environment(computeEnvironment=place)
    batch.update_job_queue(jobQueue=place, state="DISABLED")
    batch.delete_job_queue(jobQueue=place)
    for job in (running, array):
        assert jobs.wait(job, "FAILED")["statusReason"] == "Job queue deleted"
    wait_for("the queue's end", lambda: not batch.describe_job_queues(jobQueues=[place])["jobQueues"])
    batch.delete_compute_environment(computeEnvironment=place)
    assert not batch.describe_compute_environments(computeEnvironments=[place])["computeEnvironments"]
