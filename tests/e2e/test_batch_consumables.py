"""Consumable resources on a real server. Debian's boto3 is older than they are: requests are sent as they are."""
import json

import pytest

from conftest import running_server, Jobs, wait_for


@pytest.fixture
def world():
    with running_server() as server:
        yield server, Jobs(server)


def call(server, operation, /, **body):
    status, _, answer = server.send(f"/v1/{operation.lower()}", body)
    assert status == 200, answer
    return json.loads(answer)


def submit(server, jobs, command, quantity, name="licence", **more):
    asks = {"consumableResourceList": [{"consumableResource": name, "quantity": quantity}]}
    return call(server, "SubmitJob", jobName="j", jobQueue="default", jobDefinition=jobs.register(command),
                consumableResourcePropertiesOverride=asks, **more)["jobId"]


def described(server, name="licence"):
    return call(server, "DescribeConsumableResource", consumableResource=name)


def test_a_licence_is_held_while_a_job_runs_and_over_a_kill_of_the_server(world, tmp_path):
    server, jobs = world
    call(server, "CreateConsumableResource", consumableResourceName="licence", totalQuantity=1)
    script = f"while [ ! -e {tmp_path}/end ]; do sleep 0.05; done"
    first = submit(server, jobs, script, 1)
    jobs.wait(first, "RUNNING")
    second = submit(server, jobs, "true", 1)
    assert "consumable resource 'licence': asked 1, free 0 of 1; held by" in jobs.describe(second)["statusReason"]
    server.kill9()
    server.start()
    assert described(server)["inUseQuantity"] == 1
    assert jobs.describe(second)["status"] == "RUNNABLE"
    listed = call(server, "ListJobsByConsumableResource", consumableResource="licence")["jobs"]
    assert [(job["jobArn"].rsplit("/", 1)[1], job["jobStatus"], job["quantity"]) for job in listed] == [
        (first, "RUNNING", 1), (second, "RUNNABLE", 1)]
    status, _, answer = server.send("/v1/deleteconsumableresource", {"consumableResource": "licence"})
    assert status == 400 and b"2 live jobs ask for consumable resource 'licence'" in answer
    (tmp_path / "end").touch()
    for job in (first, second):
        assert jobs.wait(job)["status"] == "SUCCEEDED"
    assert (described(server)["inUseQuantity"], described(server)["totalQuantity"]) == (0, 1)
    call(server, "DeleteConsumableResource", consumableResource="licence")


def test_tokens_are_used_up_and_who_asks_for_more_waits_in_nobodys_way(world):
    server, jobs = world
    call(server, "CreateConsumableResource", consumableResourceName="tokens", totalQuantity=3,
         resourceType="NON_REPLENISHABLE")
    assert jobs.wait(submit(server, jobs, "true", 2, "tokens"))["status"] == "SUCCEEDED"
    assert described(server, "tokens")["totalQuantity"] == 1
    more = submit(server, jobs, "true", 2, "tokens")
    assert jobs.describe(more)["statusReason"].startswith(
        "MISCONFIGURATION:JOB_RESOURCE_REQUIREMENT - consumable resource 'tokens': asked 2, left of it 1")
    assert jobs.wait(jobs.submit("true"))["status"] == "SUCCEEDED"
    call(server, "UpdateConsumableResource", consumableResource="tokens", operation="ADD", quantity=1)
    assert jobs.wait(more)["status"] == "SUCCEEDED"
    assert described(server, "tokens")["totalQuantity"] == 0


def test_an_array_never_runs_more_children_than_there_are_licences(world, tmp_path):
    server, jobs = world
    call(server, "CreateConsumableResource", consumableResourceName="licence", totalQuantity=2)
    # Each takes a place of two, or says that there was none.
    script = f"mkdir {tmp_path}/a 2>&- && t={tmp_path}/a || {{ mkdir {tmp_path}/b && t={tmp_path}/b; }} || exit 9;" \
             " sleep 0.05; rmdir $t"
    array = submit(server, jobs, script, 1, arrayProperties={"size": 12})
    assert jobs.wait(array)["status"] == "SUCCEEDED"
    wait_for("nothing in use", lambda: described(server)["inUseQuantity"] == 0)


@pytest.mark.parametrize("operation,body,said", [
    ("CreateConsumableResource", {"consumableResourceName": "a b"}, "consumableResourceName"),
    ("CreateConsumableResource", {"consumableResourceName": "a", "totalQuantity": -1}, "totalQuantity"),
    ("CreateConsumableResource", {"consumableResourceName": "a", "totalQuantity": 1e30}, "totalQuantity"),
    ("CreateConsumableResource", {"consumableResourceName": "a", "resourceType": "LENT"}, "resourceType"),
    ("DescribeConsumableResource", {"consumableResource": "../x"}, "consumableResource"),
    ("DescribeConsumableResource", {"consumableResource": "absent"}, "'absent' does not exist"),
    ("UpdateConsumableResource", {"consumableResource": "absent", "operation": "SET", "quantity": 1},
     "'absent' does not exist"),
    ("ListConsumableResources", {"nextToken": "x"}, "nextToken"),
    ("ListJobsByConsumableResource", {"consumableResource": "absent"}, "'absent' does not exist"),
    ("SubmitJob", {"jobName": "j", "jobQueue": "default", "jobDefinition": "d",
                   "consumableResourcePropertiesOverride": {"consumableResourceList": [
                       {"consumableResource": "a", "quantity": 1}, {"consumableResource": "a", "quantity": 2}]}},
     "asked for twice"),
])
def test_what_is_refused(server, operation, body, said):
    status, headers, answer = server.send(f"/v1/{operation.lower()}", body)
    assert (status, headers["x-amzn-errortype"].split(":")[0]) == (400, "ClientException"), answer
    assert said in json.loads(answer)["message"], answer


def test_a_job_that_names_one_that_is_not_there_is_refused(server, jobs):
    asks = {"consumableResourceList": [{"consumableResource": "nowhere", "quantity": 1}]}
    status, _, answer = server.send("/v1/submitjob", {
        "jobName": "j", "jobQueue": "default", "jobDefinition": jobs.register("true"),
        "consumableResourcePropertiesOverride": asks})
    assert status == 400 and b"Consumable resource 'nowhere' does not exist" in answer
