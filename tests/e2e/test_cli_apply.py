"""`teson apply` on a real server: creates, changes only what differs, and a second time changes nothing."""
import json
import os
import subprocess

import botocore.session
import pytest

from conftest import BINARY, DEADLINE_SECONDS

EVERYTHING = """\
kind: Job
jobName: hello
jobQueue: apply-q
jobDefinition: apply-d
---
kind: JobDefinition
jobDefinitionName: apply-d
type: container
parameters: {switch: on, code: 010}
retryStrategy: {attempts: 2, evaluateOnExit: [{onExitCode: 1, action: retry}]}
containerProperties:
  image: host
  command: [echo, Ref::switch, Ref::code]
  resourceRequirements:
  - {type: VCPU, value: 0.25}
  - {type: MEMORY, value: 32}
---
kind: JobQueue
jobQueueName: apply-q
priority: 3
schedulingPolicyArn: POLICY
computeEnvironmentOrder:
- {order: 1, computeEnvironment: apply-e}
---
kind: ComputeEnvironment
computeEnvironmentName: apply-e
type: MANAGED
tags: {team: a}
computeResources: {type: FARGATE, maxvCpus: 4, subnets: [], securityGroupIds: []}
---
kind: SchedulingPolicy
name: apply-p
fairsharePolicy: {shareDecaySeconds: 600, shareDistribution: [{shareIdentifier: a, weightFactor: 0.5}, {shareIdentifier: b}]}
"""
# A fair-share queue wants a share of each job.
EVERYTHING = EVERYTHING.replace("POLICY", "arn:aws:batch:us-east-1:123456789012:scheduling-policy/apply-p").replace(
    "jobQueue: apply-q", "jobQueue: apply-q\nshareIdentifier: a")


def apply(server, text, *arguments, check=0):
    process = subprocess.run([BINARY, "apply", "-f", "-", *arguments], input=text, capture_output=True, text=True,
                             env={**os.environ, "TESON_DATA": str(server.data)}, timeout=DEADLINE_SECONDS)
    assert process.returncode == check, process.stdout + process.stderr
    return process


def actions(server, text, *arguments, check=0):
    answer = json.loads(apply(server, text, "--output", "json", *arguments, check=check).stdout)
    return {f"{found['kind']}/{found['name']}": found for found in answer["documents"]}


def account(server):
    return server.batch.describe_job_queues()["jobQueues"][0]["jobQueueArn"].split(":")[4]


@pytest.fixture
def text(own_server):
    return EVERYTHING.replace("123456789012", account(own_server))


def words(found):
    return {name: document["action"] for name, document in found.items()}


def test_a_file_is_made_once_and_then_unchanged(own_server, own_jobs, text):
    planned = apply(own_server, text, "--dry-run").stdout
    assert planned.startswith("SchedulingPolicy/apply-p (standard input:32): create\n+  name: apply-p\n")
    assert "JobQueue/apply-q (standard input:19): create\n" in planned and "+  priority: 3\n" in planned
    assert planned.endswith("5 to create, 0 to change, 0 unchanged; nothing was changed (--dry-run)\n")
    assert not own_server.batch.describe_job_queues(jobQueues=["apply-q"])["jobQueues"]

    done = apply(own_server, text).stdout.splitlines()
    assert done[:4] == ["SchedulingPolicy/apply-p created", "ComputeEnvironment/apply-e created", "JobQueue/apply-q created",
                        "JobDefinition/apply-d created, revision 1"]
    job = done[4].removeprefix("Job/hello submitted: ")
    assert own_jobs.wait(job)["status"] == "SUCCEEDED"
    assert own_jobs.output(job) == "on 010"

    again = actions(own_server, text)
    assert set(words(again).values()) == {"unchanged"}, again
    assert again["Job/hello"]["jobId"] == job
    assert len(own_server.batch.list_jobs(jobQueue="apply-q", jobStatus="SUCCEEDED")["jobSummaryList"]) == 1


def test_only_what_differs_is_changed(own_server, text):
    apply(own_server, text)
    changed = text.replace("priority: 3", "priority: 4").replace("maxvCpus: 4", "maxvCpus: 8").replace(
        "team: a", "team: b").replace("attempts: 2", "attempts: 3").replace("shareDecaySeconds: 600, ", "")
    planned = apply(own_server, changed, "--dry-run").stdout
    for line in ("-  priority: 3\n+  priority: 4\n", "-  computeResources.maxvCpus: 4\n+  computeResources.maxvCpus: 8\n",
                 "-  tags.team: a\n+  tags.team: b\n", "-  retryStrategy.attempts: 2\n+  retryStrategy.attempts: 3\n",
                 "-  fairsharePolicy.shareDecaySeconds: 600\n"):
        assert line in planned
    assert planned.endswith("0 to create, 4 to change, 1 unchanged; nothing was changed (--dry-run)\n")

    found = actions(own_server, changed)
    assert words(found) == {"SchedulingPolicy/apply-p": "change", "ComputeEnvironment/apply-e": "change",
                            "JobQueue/apply-q": "change", "JobDefinition/apply-d": "change", "Job/hello": "unchanged"}
    assert found["JobDefinition/apply-d"]["arn"].endswith(":2")
    environment = own_server.batch.describe_compute_environments(computeEnvironments=["apply-e"])["computeEnvironments"][0]
    assert (environment["computeResources"]["maxvCpus"], environment["tags"]) == (8, {"team": "b"})
    assert own_server.batch.describe_job_queues(jobQueues=["apply-q"])["jobQueues"][0]["priority"] == 4
    assert set(words(actions(own_server, changed)).values()) == {"unchanged"}


def test_nothing_is_changed_where_one_document_is_wrong(own_server, text):
    process = apply(own_server, text + "---\nkind: JobQueue\njobQueueName: x\npriority: high\n", check=252)
    assert "standard input:38:11: priority: 'high' is given: a whole number in digits is expected" in process.stderr
    assert not own_server.batch.describe_job_queues(jobQueues=["apply-q"])["jobQueues"]


def test_a_failure_half_way_says_what_is_left_and_the_next_run_goes_on(own_server, text):
    wrong = text.replace("computeEnvironment: apply-e", "computeEnvironment: apply-x")
    process = apply(own_server, wrong, "--output", "json", check=254)
    assert "JobQueue/apply-q: CreateJobQueue: ClientException: " in process.stderr
    assert "2 documents were done before it; not done: JobQueue/apply-q, JobDefinition/apply-d, Job/hello." in process.stderr
    assert [found["done"] for found in json.loads(process.stdout)["documents"]] == [True, True, False, False, False]
    assert list(words(actions(own_server, text)).values()) == ["unchanged", "unchanged", "create", "create", "create"]


def test_an_unknown_queue_is_said_before_anything_is_done(own_server):
    process = apply(own_server, "kind: Job\njobName: j\njobQueue: nowhere\njobDefinition: d\n", check=254)
    assert process.stderr.startswith("teson: standard input:1:1: Job/j: ListJobs: ")


def test_files_that_cannot_be_read_are_said(own_server, tmp_path):
    def run(*arguments):
        process = subprocess.run([BINARY, "apply", *arguments], capture_output=True, text=True, timeout=DEADLINE_SECONDS,
                                 env={**os.environ, "TESON_DATA": str(own_server.data)})
        assert process.returncode == 252, process.stderr
        return process.stderr
    assert "cannot read" in run("-f", str(tmp_path / "none.yaml"))
    (tmp_path / "empty.yaml").write_text("# nothing\n---\n")
    assert "there is no document" in run("-f", str(tmp_path / "empty.yaml"))
    assert "given twice" in run("-f", str(tmp_path / "empty.yaml"), "-f", str(tmp_path / "empty.yaml"))
    assert "--file" in run()


KINDS = {"ComputeEnvironment": "CreateComputeEnvironment", "JobQueue": "CreateJobQueue",
         "JobDefinition": "RegisterJobDefinition", "SchedulingPolicy": "CreateSchedulingPolicy", "Job": "SubmitJob"}


def sample(shape):
    if shape.type_name == "structure":
        return {name: sample(member) for name, member in shape.members.items()}
    if shape.type_name == "list":
        return [sample(shape.member)]
    if shape.type_name == "map":
        return {"k": sample(shape.value)}
    if shape.type_name == "string":
        return shape.enum[0] if shape.enum else "x"
    return {"boolean": True, "float": 0.5, "double": 0.5}.get(shape.type_name, 7)


@pytest.mark.parametrize("kind", KINDS)
def test_every_field_of_awss_own_model_is_taken(own_server, kind):
    model = botocore.session.get_session().get_service_model("batch").operation_model(KINDS[kind]).input_shape
    document = {"kind": kind, **{name: sample(member) for name, member in model.members.items()}}
    process = apply(own_server, json.dumps(document), "--dry-run", check=254 if kind == "Job" else 0)
    assert "there is no field" not in process.stderr
    if kind == "Job":  # queue x is nowhere
        assert "ListJobs" in process.stderr
