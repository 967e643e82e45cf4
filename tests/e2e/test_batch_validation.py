"""Bad requests, as they come over the wire: past the checks that boto3 makes by itself."""
import json

import pytest

from conftest import ROOT


@pytest.fixture
def raw(server):
    return server.send


def refused(answer, said, status=400, kind="ClientException"):
    code, headers, body = answer
    assert code == status, body
    assert headers["x-amzn-errortype"].split(":")[0] == kind
    assert said in json.loads(body)["message"], body


def submit_body(**changes):
    return {"jobName": "j", "jobQueue": "default", "jobDefinition": "d", **changes}


@pytest.mark.parametrize("body", [b"{", b"", b"[]", b'"x"', b"nul", b'{"jobName": "a"', b'{"jobName": "\xff"}',
                                  b"{} {}", b'{"jobName": ' + b"[" * 5000 + b"]" * 5000 + b"}", b"\x00" * 100])
def test_malformed_json(raw, body):
    status, headers, answer = raw("/v1/submitjob", body)
    assert status == 400
    assert headers["x-amzn-errortype"].split(":")[0] == "ClientException"
    assert json.loads(answer)["message"]


def test_ten_mebibytes(raw):
    status, _, _ = raw("/v1/submitjob", b'{"jobName": "' + b"x" * (10 << 20) + b'"}')
    assert status in (400, 413)
    refused(raw("/v1/submitjob", submit_body(jobName="a b")), "jobName")  # and the server goes on


@pytest.mark.parametrize("changes,said", [
    ({"jobName": "x" * 129}, "'jobName'"),
    ({"jobName": ""}, "'jobName'"),
    ({"jobName": "a\nb"}, "'jobName'"),
    ({"jobName": "niño"}, "'jobName'"),
    ({"jobName": "-a"}, "letter or digit"),
    ({"jobName": None}, "'jobName'"),
    ({"jobName": ["a"]}, "'jobName'"),
    ({"jobQueue": "no such queue"}, "'jobQueue'"),
    ({"jobQueue": "arn:aws:batch:eu-west-9:123456789012:job-queue/default"}, "'jobQueue'"),
    ({"jobDefinition": "d:0"}, "'jobDefinition'"),
    ({"tags": {f"k{i}": "" for i in range(51)}}, "'tags'"),
    ({"tags": {"k" * 129: ""}}, "tags"),
    ({"tags": {"k": "v" * 257}}, "tags"),
    ({"tags": {"teson:grace-seconds": "soon"}}, "teson:grace-seconds"),
    ({"tags": {"teson:interruptions": "often"}}, "teson:interruptions"),
    ({"tags": {"teson:working-directory": "here"}}, "teson:working-directory"),
    ({"retryStrategy": {"attempts": 11}}, "'retryStrategy.attempts'"),
    ({"retryStrategy": {"attempts": 0}}, "'retryStrategy.attempts'"),
    ({"retryStrategy": {"evaluateOnExit": [{"action": "RETRY", "onReason": "x"}]}}, "'retryStrategy.attempts'"),
    ({"retryStrategy": {"attempts": 2, "evaluateOnExit": [{"action": "EXIT"}] * 6}}, "'retryStrategy.evaluateOnExit'"),
    ({"retryStrategy": {"attempts": 2, "evaluateOnExit": [{"action": "RETRY", "onExitCode": "x"}]}}, "digits"),
    ({"timeout": {"attemptDurationSeconds": 59}}, "'timeout.attemptDurationSeconds'"),
    ({"schedulingPriorityOverride": 10_000}, "'schedulingPriorityOverride'"),
    ({"schedulingPriorityOverride": 2**63}, "less than or equal to 9999"),
    ({"schedulingPriorityOverride": 1e300}, "less than or equal to 9999"),
    ({"schedulingPriorityOverride": -1e300}, "greater than or equal to 0"),
    ({"dependsOn": [{"jobId": "3f2504e0-4f89-41d3-9a0c-0305e82c3301"}] * 21}, "'dependsOn'"),
    ({"dependsOn": [{"type": "N_TO_N", "jobId": "3f2504e0-4f89-41d3-9a0c-0305e82c3301"}]}, "for array jobs"),
    ({"dependsOn": [{"type": "SEQUENTIAL"}]}, "for array jobs"),
    ({"arrayProperties": {"size": 2}, "dependsOn": [{"type": "SEQUENTIAL", "jobId": "3f2504e0-4f89-41d3-9a0c-0305e82c3301"}]},
     "leave jobId out"),
    ({"arrayProperties": {"size": 1}}, "'arrayProperties.size' is 1: an array job has 2 to 10000 children"),
    ({"arrayProperties": {"size": 10_001}}, "'arrayProperties.size' is 10001"),
    ({"arrayProperties": {"size": -1}}, "'arrayProperties.size' is -1"),
    ({"arrayProperties": {"size": 2.5}}, "'arrayProperties.size'"),
    ({"tags": {"teson:array-throttle": "10001"}}, "from 1 to 10000, or 0 for no limit"),
    ({"tags": {"teson:array-throttle": "-1"}}, "from 1 to 10000, or 0 for no limit"),
    ({"tags": {"teson:array-throttle": ""}}, "teson:array-throttle"),
    ({"tags": {"teson:after": "failure"}}, "any or success"),
    ({"tags": {"teson:rerun-of": "3f2504e0-4f89-41d3-9a0c-0305e82c3301:4"}}, "id of an array job"),
    ({"nodeOverrides": {"numNodes": 2}}, "multi-node jobs are not supported"),
    ({"shareIdentifier": "a-b"}, "shareIdentifier"),
    ({"shareIdentifier": "a" * 256}, "shareIdentifier"),
    ({"containerOverrides": {"environment": [{"name": "AWS_BATCH_JOB_ID", "value": "x"}]}}, "reserved"),
    ({"containerOverrides": {"environment": [{"name": "A=B", "value": "x"}]}}, "'='"),
    ({"containerOverrides": {"environment": [{"value": "x"}]}}, "environment[0].name"),
    ({"containerOverrides": {"command": ["a", 1]}}, "command[1]"),
    ({"containerOverrides": {"command": ["a\0b"]}}, "NUL"),
    ({"containerOverrides": {"resourceRequirements": [{"type": "MEMORY", "value": "3"}]}}, "at least 4"),
    ({"containerOverrides": {"resourceRequirements": [{"type": "VCPU", "value": "0.3"}]}}, "VCPU"),
    ({"containerOverrides": {"memory": 3}}, "'containerOverrides.memory'"),
    ({"parameters": {"a": 1}}, "parameters"),
    ({"somethingNew": {"is": "ignored"}}, "Job definition 'd' does not exist"),
])
def test_what_submit_refuses(raw, changes, said):
    refused(raw("/v1/submitjob", submit_body(**changes)), said)


def test_submit_takes_30_kib_and_no_more(raw):
    def body(size):
        empty = json.dumps(submit_body(parameters={"p": ""})).encode()
        return empty.replace(b'"p": ""', b'"p": "' + b"x" * (size - len(empty)) + b'"')
    assert len(body(30 * 1024)) == 30 * 1024
    refused(raw("/v1/submitjob", body(30 * 1024)), "Job definition 'd' does not exist")
    refused(raw("/v1/submitjob", body(30 * 1024 + 1)), "30 KiB")


def test_definition_takes_24_kib_and_no_more(raw, unique):
    def body(size):
        whole = {"jobDefinitionName": unique, "type": "container", "parameters": {"p": ""},
                 "containerProperties": {"image": "host", "command": ["true"], "vcpus": 1, "memory": 32}}
        empty = json.dumps(whole).encode()
        return empty.replace(b'"p": ""', b'"p": "' + b"x" * (size - len(empty)) + b'"')
    status, _, answer = raw("/v1/registerjobdefinition", body(24 * 1024))
    assert status == 200 and json.loads(answer)["revision"] == 1
    refused(raw("/v1/registerjobdefinition", body(24 * 1024 + 1)), "24 KiB")


@pytest.mark.parametrize("changes,said", [
    ({"image": None}, "'containerProperties.image'"),
    ({"image": "two words"}, "image name"),
    ({"vcpus": None}, "VCPU"),
    ({"memory": None}, "MEMORY"),
    ({"memory": 3}, "'containerProperties.memory'"),
    ({"resourceRequirements": [{"type": "VCPU", "value": "1"}]}, "both given"),
    ({"environment": [{"name": "AWS_BATCH_X", "value": ""}]}, "reserved"),
    ({"volumes": "all"}, "'containerProperties.volumes'"),
])
def test_what_register_refuses(raw, changes, said):
    container = {"image": "host", "command": ["true"], "vcpus": 1, "memory": 32, **changes}
    refused(raw("/v1/registerjobdefinition", {"jobDefinitionName": "d", "type": "container",
                                              "containerProperties": container}), said)


def test_kinds_of_job_that_are_not_supported_yet(raw):
    refused(raw("/v1/registerjobdefinition", {"jobDefinitionName": "d", "type": "multinode",
                                              "nodeProperties": {"numNodes": 2}}), "multi-node jobs are not supported")
    refused(raw("/v1/registerjobdefinition", {"jobDefinitionName": "d", "type": "container",
                                              "eksProperties": {"podProperties": {"a": 1}}}), "EKS")


def test_a_share_for_a_queue_without_a_policy(raw, jobs):
    refused(raw("/v1/submitjob", submit_body(jobDefinition=jobs.register("true"), shareIdentifier="a")),
            "'shareIdentifier' must not be given")


# [botocore 1.43.67, batch/2016-08-10]
OPERATIONS = """CancelJob CreateComputeEnvironment CreateConsumableResource CreateJobQueue CreateQuotaShare
CreateSchedulingPolicy CreateServiceEnvironment DeleteComputeEnvironment DeleteConsumableResource DeleteJobQueue
DeleteQuotaShare DeleteSchedulingPolicy DeleteServiceEnvironment DeregisterJobDefinition DescribeComputeEnvironments
DescribeConsumableResource DescribeJobDefinitions DescribeJobQueues DescribeJobs DescribeQuotaShare
DescribeSchedulingPolicies DescribeServiceEnvironments DescribeServiceJob GetJobQueueSnapshot ListConsumableResources
ListJobs ListJobsByConsumableResource ListQuotaShares ListSchedulingPolicies ListServiceJobs ListTagsForResource
RegisterJobDefinition SubmitJob SubmitServiceJob TagResource TerminateJob TerminateServiceJob UntagResource
UpdateComputeEnvironment UpdateConsumableResource UpdateJobQueue UpdateQuotaShare UpdateSchedulingPolicy
UpdateServiceEnvironment UpdateServiceJob""".split()


def test_the_page_of_operations_tells_of_all_45_what_the_server_does(raw, batch):
    here = {}
    for line in (ROOT / "docs" / "batch-operations.md").read_text().splitlines():
        cells = [cell.strip() for cell in line.strip("|").split("|")]
        if len(cells) == 3 and cells[1] in ("yes", "not yet", "no"):
            here |= {operation.strip(): cells[1] == "yes" for operation in cells[0].split(",")}
    assert len(OPERATIONS) == 45 and sorted(here) == OPERATIONS
    assert set(batch.meta.service_model.operation_names) <= set(OPERATIONS)
    for operation in OPERATIONS:
        if operation in ("TagResource", "UntagResource", "ListTagsForResource"):
            continue  # paths of their own, tested elsewhere
        status, _, answer = raw(f"/v1/{operation.lower()}", {})
        missing = f"{operation} is not supported by this version of teson" in answer.decode()
        assert missing != here[operation], (operation, status, answer)


def test_unknown_operations_and_unsigned_requests(raw):
    assert raw("/v1/launchrocket", {})[0] == 404
    assert raw("/v1/submitjob", submit_body(), sign=False)[0] == 403
