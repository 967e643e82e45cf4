"""Compute environments, job queues, job definitions and tags: life cycles, references by name and ARN, pages."""
import contextlib
import uuid

import pytest
from botocore.exceptions import ClientError

from conftest import wait_for


def resources(**changes):
    return {"type": "EC2", "maxvCpus": 8, "instanceTypes": ["m5"], "subnets": ["subnet-1"],
            "securityGroupIds": ["sg-1"], "instanceRole": "ecsInstanceRole", **changes}


@pytest.fixture
def environment(batch, unique):
    batch.create_compute_environment(computeEnvironmentName=unique, type="MANAGED", state="ENABLED",
                                     computeResources=resources(), serviceRole="batch-role", tags={"a": "1"})
    yield unique
    with contextlib.suppress(ClientError):
        batch.update_compute_environment(computeEnvironment=unique, state="DISABLED")
    batch.delete_compute_environment(computeEnvironment=unique)


@pytest.fixture
def queue(batch, environment):
    name = f"{environment}-queue"
    batch.create_job_queue(jobQueueName=name, priority=3, tags={"b": "2"},
                           computeEnvironmentOrder=[{"order": 10, "computeEnvironment": environment}])
    yield name
    remove_queue(batch, name)


def remove_queue(batch, name):
    with contextlib.suppress(ClientError):
        batch.update_job_queue(jobQueue=name, state="DISABLED")
    batch.delete_job_queue(jobQueue=name)
    wait_for(f"the end of queue {name}", lambda: not batch.describe_job_queues(jobQueues=[name])["jobQueues"])


def environment_of(batch, name):
    return batch.describe_compute_environments(computeEnvironments=[name])["computeEnvironments"][0]


def queue_of(batch, name):
    return batch.describe_job_queues(jobQueues=[name])["jobQueues"][0]


def refused(call, said, **request):
    with pytest.raises(ClientError, match=said) as caught:
        call(**request)
    assert caught.value.response["Error"]["Code"] == "ClientException"
    assert caught.value.response["ResponseMetadata"]["HTTPStatusCode"] == 400


# ---- Compute environments ----

def test_a_fresh_server_has_environments_and_queues(own_server):
    batch = own_server.batch
    environments = {one["computeEnvironmentName"]: one
                    for one in batch.describe_compute_environments()["computeEnvironments"]}
    assert set(environments) == {"local", "local-spot"}
    assert environments["local"]["computeResources"]["type"] == "EC2"
    assert environments["local-spot"]["computeResources"]["type"] == "SPOT"
    assert {one["jobQueueName"] for one in batch.describe_job_queues()["jobQueues"]} == {"default", "spot"}


def test_environment_is_returned_as_given(batch, environment):
    found = environment_of(batch, environment)
    assert found["computeEnvironmentArn"].endswith(f":compute-environment/{environment}")
    assert (found["state"], found["status"], found["type"]) == ("ENABLED", "VALID", "MANAGED")
    assert found["statusReason"] == "ComputeEnvironment Healthy"
    assert found["serviceRole"] == "batch-role"
    assert found["tags"] == {"a": "1"}
    assert found["computeResources"] == resources(minvCpus=0, desiredvCpus=0)
    assert environment_of(batch, found["computeEnvironmentArn"])["computeEnvironmentName"] == environment


def test_environment_is_changed(batch, environment):
    batch.update_compute_environment(computeEnvironment=environment, state="DISABLED",
                                     computeResources={"maxvCpus": 16, "subnets": ["subnet-2"]})
    found = environment_of(batch, environment)
    assert found["state"] == "DISABLED"
    assert found["computeResources"]["maxvCpus"] == 16
    assert found["computeResources"]["subnets"] == ["subnet-2"]
    assert found["computeResources"]["instanceTypes"] == ["m5"]
    refused(batch.update_compute_environment, "minvCpus", computeEnvironment=environment,
            computeResources={"minvCpus": 17})
    refused(batch.update_compute_environment, "does not exist", computeEnvironment="nowhere", state="DISABLED")


def test_environment_that_cannot_be_made(batch, environment, unique):
    def create(said, name=unique + "-x", **changes):
        refused(batch.create_compute_environment, said, computeEnvironmentName=name, type="MANAGED",
                computeResources=resources(**changes))
    create("already exists", name=environment)
    create("near ones: m5.large", instanceTypes=["m5.larg"])
    create("minvCpus", minvCpus=9)
    create("FARGATE", type="FARGATE")
    create("name", name="not good")


def test_environment_in_use_cannot_be_deleted(batch, environment, queue):
    refused(batch.delete_compute_environment, "DISABLED", computeEnvironment=environment)
    batch.update_compute_environment(computeEnvironment=environment, state="DISABLED")
    refused(batch.delete_compute_environment, queue, computeEnvironment=environment)


def test_unmanaged_environment_is_this_machine(batch, jobs, unique):
    batch.create_compute_environment(computeEnvironmentName=unique, type="UNMANAGED")
    batch.create_job_queue(jobQueueName=unique, priority=1,
                           computeEnvironmentOrder=[{"order": 1, "computeEnvironment": unique}])
    assert environment_of(batch, unique)["type"] == "UNMANAGED"
    jobs.wait(jobs.submit("true", queue=unique), "SUCCEEDED")
    remove_queue(batch, unique)


def test_fargate_environment_runs_a_job(batch, jobs, unique):
    batch.create_compute_environment(
        computeEnvironmentName=unique, type="MANAGED",
        computeResources={"type": "FARGATE", "maxvCpus": 1, "subnets": ["s"], "securityGroupIds": ["g"]})
    batch.create_job_queue(jobQueueName=unique, priority=1,
                           computeEnvironmentOrder=[{"order": 1, "computeEnvironment": unique}])
    jobs.wait(jobs.submit("true", queue=unique), "SUCCEEDED")
    assert "instanceTypes" not in environment_of(batch, unique)["computeResources"]
    remove_queue(batch, unique)


# ---- Job queues ----

def test_queue_is_returned_as_given_and_changed(batch, environment, queue):
    found = queue_of(batch, queue)
    assert found["jobQueueArn"].endswith(f":job-queue/{queue}")
    assert (found["state"], found["status"], found["priority"]) == ("ENABLED", "VALID", 3)
    assert found["tags"] == {"b": "2"}
    arn = environment_of(batch, environment)["computeEnvironmentArn"]
    assert found["computeEnvironmentOrder"] == [{"order": 10, "computeEnvironment": arn}]
    batch.update_job_queue(jobQueue=found["jobQueueArn"], priority=7, computeEnvironmentOrder=[
        {"order": 2, "computeEnvironment": "local"}, {"order": 1, "computeEnvironment": arn}])
    found = queue_of(batch, queue)
    assert found["priority"] == 7
    assert [one["computeEnvironment"].rsplit("/", 1)[1] for one in found["computeEnvironmentOrder"]] == [
        environment, "local"]


def test_queue_that_cannot_be_made(batch, environment, queue, unique):
    def create(said, order, **changes):
        refused(batch.create_job_queue, said,
                **{"jobQueueName": unique + "-x", "priority": 1, "computeEnvironmentOrder": order, **changes})
    one = {"order": 1, "computeEnvironment": environment}
    create("already exists", [one], jobQueueName=queue)
    create("does not exist", [{"order": 1, "computeEnvironment": "nowhere"}])
    create("given twice", [one, {"order": 2, "computeEnvironment": environment}])
    create("given twice", [one, {"order": 1, "computeEnvironment": "local"}])
    create("does not exist", [one], schedulingPolicyArn="arn:aws:batch:us-east-1:123456789012:scheduling-policy/x")
    create("computeEnvironmentOrder", [])


def test_disabled_queue_takes_no_jobs_but_finishes_those_it_has(batch, jobs, queue, tmp_path):
    batch.update_job_queue(jobQueue=queue, computeEnvironmentOrder=[{"order": 1, "computeEnvironment": "local"}])
    go = tmp_path / "go"
    job = jobs.submit(f"while [ ! -e {go} ]; do sleep 0.05; done", queue=queue)
    jobs.wait(job, "RUNNING")
    batch.update_job_queue(jobQueue=queue, state="DISABLED")
    refused(batch.submit_job, "DISABLED", jobName="x", jobQueue=queue,
            jobDefinition=jobs.describe(job)["jobDefinition"])
    go.touch()
    jobs.wait(job, "SUCCEEDED")


def test_deleting_a_queue_needs_it_disabled_and_ends_its_jobs(batch, jobs, environment, unique):
    name = unique + "-gone"
    batch.create_job_queue(jobQueueName=name, priority=1,
                           computeEnvironmentOrder=[{"order": 1, "computeEnvironment": "local"}])
    running = jobs.submit("sleep 600", queue=name)
    jobs.wait(running, "RUNNING")
    refused(batch.delete_job_queue, "DISABLED", jobQueue=name)
    remove_queue(batch, name)
    assert jobs.wait(running, "FAILED")["statusReason"] == "Job queue deleted"
    refused(batch.submit_job, "does not exist", jobName="x", jobQueue=name,
            jobDefinition=jobs.describe(running)["jobDefinition"])


# ---- Job definitions ----

def test_revisions_count_up_and_are_deregistered(batch, jobs, unique):
    arns = [jobs.register(f"exit {number}", name=unique) for number in (1, 2, 3)]
    assert [arn.rsplit(":", 1)[1] for arn in arns] == ["1", "2", "3"]
    assert jobs.wait(jobs.submit(definition=unique))["container"]["exitCode"] == 3
    assert jobs.wait(jobs.submit(definition=f"{unique}:1"))["container"]["exitCode"] == 1
    assert jobs.wait(jobs.submit(definition=arns[1]))["container"]["exitCode"] == 2
    batch.deregister_job_definition(jobDefinition=f"{unique}:3")
    assert jobs.wait(jobs.submit(definition=unique))["container"]["exitCode"] == 2
    with pytest.raises(ClientError, match="INACTIVE"):
        jobs.submit(definition=f"{unique}:3")
    statuses = {one["revision"]: one["status"]
                for one in batch.describe_job_definitions(jobDefinitionName=unique)["jobDefinitions"]}
    assert statuses == {1: "ACTIVE", 2: "ACTIVE", 3: "INACTIVE"}
    assert jobs.register("true", name=unique).endswith(":4")


def test_definition_is_returned_as_given(batch, unique):
    given = {
        "jobDefinitionName": unique, "type": "container", "parameters": {"p": "q"},
        "retryStrategy": {"attempts": 4, "evaluateOnExit": [{"onReason": "x*", "action": "RETRY"}]},
        "timeout": {"attemptDurationSeconds": 77}, "tags": {"t": "ü"}, "propagateTags": True,
        "platformCapabilities": ["EC2"],
        "containerProperties": {
            "image": "host", "command": ["echo", "Ref::p"], "vcpus": 1, "memory": 64,
            "jobRoleArn": "arn:aws:iam::1:role/r",
            "volumes": [{"name": "v", "host": {"sourcePath": "/data"}}],
            "mountPoints": [{"containerPath": "/mnt", "readOnly": True, "sourceVolume": "v"}],
            "ulimits": [{"hardLimit": 1024, "name": "nofile", "softLimit": 512}],
            "linuxParameters": {"sharedMemorySize": 64, "initProcessEnabled": True},
            "logConfiguration": {"logDriver": "awslogs", "options": {"awslogs-group": "g"}},
            "environment": [{"name": "A", "value": "1"}], "user": "nobody", "privileged": False},
    }
    batch.register_job_definition(**given)
    found = batch.describe_job_definitions(jobDefinitions=[f"{unique}:1"])["jobDefinitions"][0]
    for member in set(given) - {"containerProperties"}:
        assert found[member] == given[member], member
    for member, value in given["containerProperties"].items():
        assert found["containerProperties"][member] == value, member


# ---- Tags ----

def test_tags_on_all_four_kinds(batch, jobs, environment, queue):
    job = jobs.submit("sleep 600", tags={"a": "0"})
    arns = [jobs.describe(job)["jobArn"], jobs.describe(job)["jobDefinition"], queue_of(batch, queue)["jobQueueArn"],
            environment_of(batch, environment)["computeEnvironmentArn"]]
    for arn in arns:
        batch.untag_resource(resourceArn=arn, tagKeys=["a", "b", "c d&e=f"])
        batch.tag_resource(resourceArn=arn, tags={"a": "1", "c d&e=f": "ñ\n"})
        assert batch.list_tags_for_resource(resourceArn=arn)["tags"] == {"a": "1", "c d&e=f": "ñ\n"}
        batch.tag_resource(resourceArn=arn, tags={"a": "2"})
        batch.untag_resource(resourceArn=arn, tagKeys=["c d&e=f", "never"])
        assert batch.list_tags_for_resource(resourceArn=arn)["tags"] == {"a": "2"}
        refused(batch.tag_resource, "50", resourceArn=arn, tags={f"k{i}": "" for i in range(50)})
        refused(batch.tag_resource, "aws:", resourceArn=arn, tags={"aws:x": "y"})
    assert jobs.describe(job)["tags"] == {"a": "2"}
    assert queue_of(batch, queue)["tags"] == {"a": "2"}
    refused(batch.list_tags_for_resource, "does not exist", resourceArn=arns[2] + "x")
    batch.terminate_job(jobId=job, reason="done")


# ---- Pages ----

def test_pages_of_environments_queues_and_definitions(batch, jobs, unique):
    names = sorted(f"{unique}-{number}" for number in range(5))
    for name in names:
        batch.create_compute_environment(computeEnvironmentName=name, type="MANAGED", computeResources=resources())
        batch.create_job_queue(jobQueueName=name, priority=1,
                               computeEnvironmentOrder=[{"order": 1, "computeEnvironment": name}])
        jobs.register("true", name=name)

    def paged(operation, member, name_member, **request):
        pages = list(batch.get_paginator(operation).paginate(PaginationConfig={"PageSize": 2}, **request))
        assert all(len(page[member]) <= 2 for page in pages)
        found = [one[name_member] for page in pages for one in page[member]]
        assert len(found) == len(set(found))
        return [name for name in found if name.startswith(unique)]
    assert paged("describe_compute_environments", "computeEnvironments", "computeEnvironmentName") == names
    assert paged("describe_job_queues", "jobQueues", "jobQueueName") == names
    definitions = batch.get_paginator("describe_job_definitions").paginate(
        PaginationConfig={"PageSize": 2}, status="ACTIVE")
    assert [one["jobDefinitionName"] for page in definitions for one in page["jobDefinitions"]
            if one["jobDefinitionName"].startswith(unique)] == names
    for name in names:
        remove_queue(batch, name)
        batch.update_compute_environment(computeEnvironment=name, state="DISABLED")
        batch.delete_compute_environment(computeEnvironment=name)


def test_list_jobs_pages_filters_and_orders(batch, jobs, unique):
    definition = jobs.register("exit $N", name=unique)
    ids = [jobs.submit(definition=definition, name=f"{unique}-{number}",
                       containerOverrides={"environment": [{"name": "N", "value": str(number % 2)}]})
           for number in range(7)]
    for job in ids:
        jobs.wait(job)

    def listed(size=3, **request):
        pages = batch.get_paginator("list_jobs").paginate(
            jobQueue="default", PaginationConfig={"PageSize": size}, **request)
        return [job["jobId"] for page in pages for job in page["jobSummaryList"]]
    newest_first = ids[::-1]
    by_name = [{"name": "JOB_NAME", "values": [unique.upper() + "-*"]}]
    assert listed(filters=by_name) == newest_first
    assert listed(filters=[{"name": "JOB_NAME", "values": [f"{unique}-3"]}]) == [ids[3]]
    assert listed(filters=[{"name": "JOB_DEFINITION", "values": [unique]}]) == newest_first
    assert listed(filters=[{"name": "JOB_DEFINITION", "values": [unique[:-1] + "*"]}]) == newest_first
    assert listed(filters=[{"name": "JOB_DEFINITION", "values": [definition]}]) == newest_first
    assert [job for job in listed(size=100, jobStatus="FAILED") if job in ids] == [ids[5], ids[3], ids[1]]
    assert [job for job in listed(size=100, jobStatus="SUCCEEDED") if job in ids] == [ids[6], ids[4], ids[2], ids[0]]
    middle = jobs.describe(ids[3])["createdAt"]
    older = listed(size=100, filters=[{"name": "BEFORE_CREATED_AT", "values": [str(middle)]}])
    newer = listed(size=100, filters=[{"name": "AFTER_CREATED_AT", "values": [str(middle)]}])
    assert ids[0] in older and ids[6] in newer and not set(older) & set(newer)
    assert ids[3] not in older and ids[3] not in newer

    first = batch.list_jobs(jobQueue="default", filters=by_name, maxResults=2)
    late = jobs.submit(definition=definition, name=f"{unique}-late", containerOverrides={
        "environment": [{"name": "N", "value": "0"}]})
    second = batch.list_jobs(jobQueue="default", filters=by_name, maxResults=2, nextToken=first["nextToken"])
    assert [job["jobId"] for job in first["jobSummaryList"] + second["jobSummaryList"]] == newest_first[:4]
    summary = second["jobSummaryList"][0]
    assert summary["container"]["exitCode"] == jobs.describe(summary["jobId"])["container"]["exitCode"]
    jobs.wait(late, "SUCCEEDED")


def test_list_jobs_without_a_status_lists_running_ones(batch, jobs):
    job = jobs.submit("sleep 600")
    jobs.wait(job, "RUNNING")
    assert job in [one["jobId"] for one in batch.list_jobs(jobQueue="default")["jobSummaryList"]]
    batch.terminate_job(jobId=job, reason="done")
    jobs.wait(job, "FAILED")
    assert job not in [one["jobId"] for one in batch.list_jobs(jobQueue="default")["jobSummaryList"]]


def test_a_token_from_elsewhere_is_refused(batch):
    for call, request in ((batch.list_jobs, {"jobQueue": "default"}), (batch.describe_job_queues, {}),
                          (batch.describe_job_definitions, {}), (batch.describe_compute_environments, {})):
        refused(call, "nextToken", nextToken=f"{uuid.uuid4().hex}", **request)
