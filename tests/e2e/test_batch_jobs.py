"""What a job is given, what it does with it, and what DescribeJobs tells about it."""
import json
import time

import pytest
from botocore.exceptions import ClientError

from conftest import wait_for

UUID_CHARACTERS = set("0123456789abcdef-")


def test_job_succeeds_and_everything_about_it_can_be_read(jobs, batch, unique):
    definition = jobs.register("echo hello; echo oops >&2", name=unique, tags={"on": "definition"})
    before = int(time.time() * 1000)
    submitted = batch.submit_job(jobName="first_Job-1", jobQueue="default", jobDefinition=definition,
                                 tags={"team": "a"})
    assert submitted["jobName"] == "first_Job-1"
    assert submitted["jobArn"].endswith(f":job/{submitted['jobId']}")
    job = jobs.wait(submitted["jobId"])
    after = int(time.time() * 1000)

    assert job["status"] == "SUCCEEDED"
    assert job["statusReason"] == "Essential container in task exited"
    assert job["jobName"] == "first_Job-1"
    assert job["jobArn"] == submitted["jobArn"]
    assert job["jobQueue"].endswith(":job-queue/default")
    assert job["jobDefinition"] == definition
    assert job["tags"] == {"team": "a"}
    assert before <= job["createdAt"] <= job["startedAt"] <= job["stoppedAt"] <= after
    container = job["container"]
    assert container["exitCode"] == 0
    assert container["image"] == "host"
    assert container["command"] == ["/bin/sh", "-c", "echo hello; echo oops >&2"]
    assert container["logStreamName"].startswith(f"{unique}/default/")
    assert {(r["type"], r["value"]) for r in container["resourceRequirements"]} == {("VCPU", "0.25"), ("MEMORY", "32")}
    assert len(job["attempts"]) == 1
    attempt = job["attempts"][0]
    assert attempt["startedAt"] == job["startedAt"] and attempt["stoppedAt"] == job["stoppedAt"]
    assert attempt["container"]["exitCode"] == 0
    assert attempt["container"]["logStreamName"] == container["logStreamName"]
    assert set(jobs.output(submitted["jobId"]).split("\n")) == {"hello", "oops"}


def test_exit_code_of_a_failed_job(jobs):
    job = jobs.wait(jobs.submit("exit 42"), "FAILED")
    assert job["container"]["exitCode"] == 42
    assert job["statusReason"] == "Essential container in task exited"
    assert [attempt["container"]["exitCode"] for attempt in job["attempts"]] == [42]


def test_death_by_signal_is_128_and_its_number(jobs):
    assert jobs.wait(jobs.submit("kill -SEGV $$"), "FAILED")["container"]["exitCode"] == 139


def test_environment_that_batch_sets(jobs):
    job, output = jobs.run("env")
    variables = dict(line.split("=", 1) for line in output.split("\n") if "=" in line)
    assert variables["AWS_BATCH_JOB_ID"] == job["jobId"]
    assert variables["AWS_BATCH_JOB_ATTEMPT"] == "1"
    assert variables["AWS_BATCH_JQ_NAME"] == "default"
    assert variables["AWS_BATCH_CE_NAME"] == "local"


def test_overrides_and_parameters(jobs):
    definition = jobs.register(["/usr/bin/printf", "%s|", "Ref::a", "Ref::b", "Ref::c", "in Ref::a"],
                               parameters={"a": "from definition", "b": "default"},
                               environment=[{"name": "KEEP", "value": "1"}, {"name": "CHANGE", "value": "old"}])
    plain = jobs.submit(definition=definition)
    given = jobs.submit(definition=definition, parameters={"b": "Ref::a"})
    script = jobs.submit(definition=definition, containerOverrides={
        "command": ["/bin/sh", "-c", 'echo "$KEEP $CHANGE $NEW"; exit 3'],
        "environment": [{"name": "NEW", "value": "sp ace"}, {"name": "CHANGE", "value": "new"}],
        "resourceRequirements": [{"type": "MEMORY", "value": "64"}]})
    jobs.wait(plain, "SUCCEEDED")
    assert jobs.output(plain) == "from definition|default|Ref::c|in Ref::a|"
    job = jobs.wait(given, "SUCCEEDED")
    assert jobs.output(given) == "from definition|Ref::a|Ref::c|in Ref::a|"
    assert job["parameters"] == {"a": "from definition", "b": "Ref::a"}
    job = jobs.wait(script, "FAILED")
    assert jobs.output(script) == "1 new sp ace"
    assert job["container"]["exitCode"] == 3
    assert {r["type"]: r["value"] for r in job["container"]["resourceRequirements"]} == {"VCPU": "0.25", "MEMORY": "64"}
    assert {e["name"]: e["value"] for e in job["container"]["environment"]} == {
        "KEEP": "1", "CHANGE": "new", "NEW": "sp ace"}


def test_arguments_reach_the_program_byte_for_byte(jobs):
    arguments = ["", " ", "a\nb", "ñandú 🚀", "'; exit 9 #", "$(exit 9)", "*", "\t\x7f", "--", "\\"]
    code = "import json, os, sys; print(json.dumps(sys.argv[1:] + [os.environ['V']]))"
    job = jobs.submit(definition=jobs.register(["/usr/bin/python3", "-c", code, *arguments],
                                               environment=[{"name": "V", "value": "ü\n$HOME"}]))
    assert jobs.wait(job, "SUCCEEDED")["container"]["command"][3:] == arguments
    assert json.loads(jobs.output(job)) == arguments + ["ü\n$HOME"]


def test_command_of_almost_30_kib(jobs):
    text = "x" * 29_000
    code = "import sys; print(len(sys.argv[1]))"
    job = jobs.submit(containerOverrides={"command": ["/usr/bin/python3", "-c", code, text]})
    jobs.wait(job, "SUCCEEDED")
    assert jobs.output(job) == "29000"
    with pytest.raises(ClientError, match="30 KiB"):
        jobs.submit(containerOverrides={"command": ["/bin/true", "x" * 31_000]})


def test_absent_executable_is_an_attempt_without_exit_code(jobs):
    job = jobs.wait(jobs.submit(definition=jobs.register(["/no/such/program"])), "FAILED")
    assert job["statusReason"] == "Task failed to start"
    assert "/no/such/program" in job["attempts"][0]["container"]["reason"]
    assert "exitCode" not in job["container"]
    assert "exitCode" not in job["attempts"][0]["container"]


def test_absent_working_directory_is_an_attempt_without_exit_code(jobs, tmp_path):
    where = str(tmp_path / "nowhere")
    job = jobs.wait(jobs.submit("pwd", tags={"teson:working-directory": where}), "FAILED")
    assert job["statusReason"] == "Task failed to start"
    assert where in job["attempts"][0]["container"]["reason"]
    assert "exitCode" not in job["attempts"][0]["container"]


def test_working_directory_by_tag_on_the_definition_or_the_submit(jobs, tmp_path):
    here, there = tmp_path / "here", tmp_path / "t h e r e"
    here.mkdir()
    there.mkdir()
    definition = jobs.register("pwd", tags={"teson:working-directory": str(here)})
    first = jobs.submit(definition=definition)
    second = jobs.submit(definition=definition, tags={"teson:working-directory": str(there)})
    jobs.wait(first, "SUCCEEDED")
    assert jobs.output(first) == str(here)
    assert jobs.wait(second, "SUCCEEDED")["tags"] == {"teson:working-directory": str(there)}
    assert jobs.output(second) == str(there)


def test_image_without_a_runtime_is_held_with_the_reason(jobs, batch):
    definition = jobs.register("true", image="registry.example/train:1")
    job = jobs.submit(definition=definition)
    description = jobs.wait(job, "RUNNABLE")
    assert description["statusReason"].startswith("MISCONFIGURATION:")
    assert "registry.example/train:1" in description["statusReason"]
    other = jobs.submit("true")
    jobs.wait(other, "SUCCEEDED")  # it holds up nobody
    batch.cancel_job(jobId=job, reason="no such image")
    assert jobs.wait(job, "FAILED")["attempts"] == []


def test_c4_job_larger_than_the_machine_is_held_and_never_started(jobs, batch):
    needs = [{"type": "VCPU", "value": "4000"}, {"type": "MEMORY", "value": "31000000"}]
    job = jobs.submit(definition=jobs.register("true", resourceRequirements=needs))
    description = jobs.wait(job, "RUNNABLE")
    reason = description["statusReason"]
    assert reason.startswith("MISCONFIGURATION:")
    assert "31000000 MiB" in reason and "4000" in reason
    jobs.wait(jobs.submit("true"), "SUCCEEDED")
    description = jobs.describe(job)
    assert description["status"] == "RUNNABLE" and description["attempts"] == []
    batch.terminate_job(jobId=job, reason="too large")
    assert jobs.wait(job, "FAILED")["statusReason"] == "too large"


def test_terminate_gives_the_grace_and_keeps_the_reason(jobs, batch, tmp_path):
    ready, told = tmp_path / "ready", tmp_path / "told"
    job = jobs.submit(f"trap 'touch {told}; exit 7' TERM; touch {ready}; while :; do sleep 0.05; done",
                      retryStrategy={"attempts": 3})
    jobs.wait(job, "RUNNING")
    wait_for("the program's trap", ready.exists)
    batch.terminate_job(jobId=job, reason="enough")
    description = jobs.wait(job, "FAILED")
    assert told.exists()
    assert description["statusReason"] == "enough"
    assert description["container"]["exitCode"] == 7
    assert len(description["attempts"]) == 1  # stopped jobs are not retried


def test_grace_by_tag_ends_what_does_not_listen(jobs, batch, tmp_path):
    ready = tmp_path / "ready"
    job = jobs.submit(f"trap '' TERM; touch {ready}; while :; do sleep 0.05; done", tags={"teson:grace-seconds": "1"})
    wait_for("the program's trap", ready.exists)
    batch.terminate_job(jobId=job, reason="enough")
    description = jobs.wait(job, "FAILED", seconds=20)
    assert description["container"]["exitCode"] == 137


def test_cancel_leaves_a_running_job_alone_and_fails_a_waiting_one(jobs, batch, tmp_path):
    go = tmp_path / "go"
    running = jobs.submit(f"while [ ! -e {go} ]; do sleep 0.05; done")
    waiting = jobs.submit("true", dependsOn=[{"jobId": running}])
    jobs.wait(running, "RUNNING")
    assert jobs.describe(waiting)["status"] == "PENDING"
    batch.cancel_job(jobId=running, reason="no")
    batch.cancel_job(jobId=waiting, reason="not needed")
    description = jobs.wait(waiting, "FAILED")
    assert description["statusReason"] == "not needed"
    assert "startedAt" not in description and description["attempts"] == []
    assert jobs.describe(running)["status"] == "RUNNING"
    go.touch()
    jobs.wait(running, "SUCCEEDED")
    batch.terminate_job(jobId=running, reason="too late")  # a finished job: nothing happens
    assert jobs.describe(running)["status"] == "SUCCEEDED"


def test_stopping_an_unknown_job_is_an_error(batch):
    for stop in (batch.cancel_job, batch.terminate_job):
        with pytest.raises(ClientError, match="does not exist") as caught:
            stop(jobId="3f2504e0-4f89-41d3-9a0c-0305e82c3301", reason="x")
        assert caught.value.response["Error"]["Code"] == "ClientException"
        assert caught.value.response["ResponseMetadata"]["HTTPStatusCode"] == 400


def test_describe_leaves_unknown_jobs_out(jobs, batch):
    job = jobs.submit("true")
    found = batch.describe_jobs(jobs=["3f2504e0-4f89-41d3-9a0c-0305e82c3301", job, "nonsense"])["jobs"]
    assert [one["jobId"] for one in found] == [job]
    assert set(job) <= UUID_CHARACTERS
    jobs.wait(job, "SUCCEEDED")
