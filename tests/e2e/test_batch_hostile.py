"""Hostile JSON to every operation: each member of a good request in turn gets a wrong type, an impossible number, a deep nest,
control characters, a path, a mebibyte. The answer is a success (what is stored only, or as good as absent) or a 4xx whose
message names the member; never a 5xx, never silence.
"""
import copy
import json
import urllib.error
import urllib.request

import botocore.auth
import botocore.awsrequest
import botocore.credentials
import pytest
from conftest import running_server, wait_for

JOB = "3f2504e0-4f89-41d3-9a0c-0305e82c3301"


def nest(depth, open_with="[", close="]"):
    return open_with * depth + close * depth


# As JSON text, since Python's own writer could not say most of them.
HOSTILE = {
    "null": "null", "true": "true", "list": "[]", "object": "{}", "list of lists": "[[[]]]", "object in list": '[{"a": 1}]',
    "nulls": "[null]", "a number": "7", "minus one": "-1", "a half": "0.5", "negative zero": "-0.0",
    "2^31": "2147483648", "2^63": "9223372036854775808", "-2^63": "-9223372036854775808", "2^64": "18446744073709551616",
    "1e300": "1e300", "1e400": "1e400", "NaN": "NaN", "Infinity": "-Infinity", "hexadecimal": "0x10",
    "deep": nest(60), "too deep": nest(5000), "deep objects": nest(40, '{"a":', "}").replace(":}", ":1}", 1),
    "empty string": '""', "digits": '"7"', "path": '"../../etc/passwd"', "control characters": r'"\u0000\u0001\n\r\u001b[31m"',
    "lone surrogate": r'"\ud800"', "broken UTF-8": b'"\xff\xfe"', "a format": '"%s{}{0}%n"', "arn of nothing": '"arn:"',
    "other's arn": '"arn:aws:batch:us-east-1:999999999999:job-queue/default"', "child": f'"{JOB}:-1"', "star": '"*"',
    "a mebibyte": '"' + "x" * (1 << 20) + '"', "mebibyte of quotes": '"' + '\\"' * (1 << 19) + '"',
    "a hundred thousand": "[" + ",".join(["0"] * 100_000) + "]",
    "ten thousand members": "{" + ",".join(f'"k{i}": "v"' for i in range(10_000)) + "}",
    "control characters in a name": r'{"\u0000\n\u001b": 1}', "a long name": '{"' + "k" * 9000 + '": [1]}',
    "doubled member": '{"a": 1, "a": {"a": 2}}',
}

CONTAINER = {"image": "host", "command": ["true"], "environment": [{"name": "A", "value": "b"}],
             "resourceRequirements": [{"type": "VCPU", "value": "1"}, {"type": "MEMORY", "value": "64"}],
             "ulimits": [{"name": "nofile", "softLimit": 9, "hardLimit": 9}], "user": "u",
             "linuxParameters": {"sharedMemorySize": 64, "devices": []}, "privileged": False,
             "mountPoints": [{"sourceVolume": "v"}], "volumes": [{"name": "v"}], "secrets": [],
             "logConfiguration": {"logDriver": "awslogs", "options": {}}}
RETRY = {"attempts": 2, "evaluateOnExit": [{"action": "EXIT", "onReason": "x*", "onExitCode": "1", "onStatusReason": "y"}]}
FAIR = {"shareDecaySeconds": 60, "computeReservation": 5,
        "shareDistribution": [{"shareIdentifier": "a*", "weightFactor": 0.5}]}
LIMITS = [{"reason": "MISCONFIGURATION:JOB_RESOURCE_REQUIREMENT", "state": "RUNNABLE", "maxTimeSeconds": 600,
           "action": "CANCEL"}]
RESOURCES = {"type": "EC2", "minvCpus": 0, "maxvCpus": 4, "desiredvCpus": 0, "instanceTypes": ["m5"], "subnets": ["s"],
             "securityGroupIds": ["g"], "tags": {"a": "b"}, "bidPercentage": 50, "launchTemplate": {"launchTemplateName": "t"},
             "allocationStrategy": "BEST_FIT", "instanceRole": "r", "ec2Configuration": [{"imageType": "ECS_AL2"}]}

# Names of nothing, so that no request that is still good after its change does anything that lasts long.
GOOD = {
    "submitjob": {"jobName": "j", "jobQueue": "default", "jobDefinition": "hostile", "shareIdentifier": None,
                  "arrayProperties": {"size": 2}, "dependsOn": [{"jobId": JOB, "type": "N_TO_N"}],
                  "parameters": {"a": "b"}, "retryStrategy": RETRY, "propagateTags": True,
                  "timeout": {"attemptDurationSeconds": 60}, "schedulingPriorityOverride": 1,
                  "tags": {"teson:array-throttle": "2", "teson:after": "any", "teson:grace-seconds": "1",
                           "teson:working-directory": "/tmp", "teson:interruptions": "free", "teson:rerun-of": JOB},
                  "containerOverrides": {"command": ["true"], "environment": [{"name": "A", "value": "b"}], "vcpus": 1,
                                         "memory": 64, "instanceType": "m5.large",
                                         "resourceRequirements": [{"type": "GPU", "value": "1"}]},
                  "nodeOverrides": {}, "eksPropertiesOverride": {}, "ecsPropertiesOverride": {}},
    "describejobs": {"jobs": [JOB]},
    "listjobs": {"jobQueue": "default", "jobStatus": "FAILED", "maxResults": 5, "nextToken": "",
                 "filters": [{"name": "JOB_NAME", "values": ["x*"]}], "multiNodeJobId": None},
    "listjobs of children": {"arrayJobId": JOB, "jobStatus": "FAILED", "maxResults": 5, "nextToken": ""},
    "canceljob": {"jobId": JOB, "reason": "r"},
    "terminatejob": {"jobId": JOB, "reason": "r"},
    "registerjobdefinition": {"jobDefinitionName": "hostile", "type": "container", "containerProperties": CONTAINER,
                              "parameters": {"a": "b"}, "retryStrategy": RETRY, "timeout": {"attemptDurationSeconds": 60},
                              "tags": {"teson:array-throttle": "2"}, "schedulingPriority": 1, "propagateTags": False,
                              "platformCapabilities": ["EC2"], "nodeProperties": {}},
    "describejobdefinitions": {"jobDefinitions": ["hostile:1"], "status": "ACTIVE", "maxResults": 5, "nextToken": ""},
    "deregisterjobdefinition": {"jobDefinition": "nothing:1"},
    "createcomputeenvironment": {"computeEnvironmentName": "hostile", "type": "MANAGED", "state": "DISABLED",
                                 "computeResources": RESOURCES, "serviceRole": "r", "tags": {"a": "b"},
                                 "unmanagedvCpus": None},
    "describecomputeenvironments": {"computeEnvironments": ["local"], "maxResults": 5, "nextToken": ""},
    "updatecomputeenvironment": {"computeEnvironment": "scratch", "state": "DISABLED", "computeResources": RESOURCES,
                                 "serviceRole": "r", "unmanagedvCpus": None, "updatePolicy": {"terminateJobsOnUpdate": True}},
    "deletecomputeenvironment": {"computeEnvironment": "nothing"},
    "createjobqueue": {"jobQueueName": "hostile", "state": "DISABLED", "priority": 1, "tags": {"a": "b"},
                       "computeEnvironmentOrder": [{"order": 1, "computeEnvironment": "scratch"}],
                       "schedulingPolicyArn": None, "jobStateTimeLimitActions": LIMITS},
    "describejobqueues": {"jobQueues": ["default"], "maxResults": 5, "nextToken": ""},
    "updatejobqueue": {"jobQueue": "scratch", "state": "DISABLED", "priority": 1, "schedulingPolicyArn": None,
                       "computeEnvironmentOrder": [{"order": 1, "computeEnvironment": "scratch"}],
                       "jobStateTimeLimitActions": LIMITS},
    "deletejobqueue": {"jobQueue": "nothing"},
    "getjobqueuesnapshot": {"jobQueue": "default"},
    "createschedulingpolicy": {"name": "hostile", "fairsharePolicy": FAIR, "tags": {"a": "b"}, "quotaSharePolicy": None},
    "describeschedulingpolicies": {"arns": ["scratch"]},
    "listschedulingpolicies": {"maxResults": 5, "nextToken": ""},
    "updateschedulingpolicy": {"arn": "scratch", "fairsharePolicy": FAIR},
    "deleteschedulingpolicy": {"arn": "nothing"},
    "tags/arn:aws:batch:us-east-1:123456789012:job-queue/scratch": {"tags": {"a": "b"}},
    f"tags/arn:aws:batch:us-east-1:123456789012:job/{JOB}": {"tags": {"teson:array-throttle": "0"}},
    "../teson/v1/users/add": {"name": "hostile", "role": "user"},
    "../teson/v1/users/rotate": {"name": "nobody"},
    "../teson/v1/users/revoke": {"user": "nobody"},
    "../teson/v1/users/role": {"name": "nobody", "role": "user"},
}
MARK = "5d1f0e3c-mark"  # stands for the hostile value while JSON is written


def places(value, path=()):
    """Each place of a request, inner ones too."""
    inner = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, part in inner:
        yield (*path, key)
        yield from places(part, (*path, key))


def with_mark(request, path):
    request = copy.deepcopy(request)
    at = request
    for step in path[:-1]:
        at = at[step]
    at[path[-1]] = MARK
    return json.dumps(request).encode()


@pytest.fixture(scope="module")
def server():
    with running_server("host: {vcpus: 2}\n") as started:
        started.batch.register_job_definition(jobDefinitionName="hostile", type="container", containerProperties=CONTAINER)
        started.batch.create_compute_environment(computeEnvironmentName="scratch", type="MANAGED", state="DISABLED",
                                                 computeResources=RESOURCES)
        started.batch.create_job_queue(jobQueueName="scratch", state="DISABLED", priority=1, computeEnvironmentOrder=[
            {"order": 1, "computeEnvironment": "scratch"}])
        started.batch.create_scheduling_policy(name="scratch", fairsharePolicy=FAIR)
        yield started


@pytest.fixture(scope="module")
def send(server):
    credentials = botocore.credentials.Credentials(server.environment["AWS_ACCESS_KEY_ID"],
                                                   server.environment["AWS_SECRET_ACCESS_KEY"])

    def send(path, body, method="POST"):
        # "listjobs of children" is listjobs.
        url = server.endpoint + (path[2:] if path.startswith("..") else "/v1/" + path.split(" ")[0])
        request = botocore.awsrequest.AWSRequest(method=method, url=url, data=body,
                                                 headers={"Content-Type": "application/json"})
        botocore.auth.SigV4Auth(credentials, "batch", "us-east-1").add_auth(request)
        prepared = request.prepare()
        try:
            with urllib.request.urlopen(urllib.request.Request(prepared.url, data=body, headers=dict(prepared.headers),
                                                               method=method), timeout=60) as answer:
                return answer.status, answer.read()
        except urllib.error.HTTPError as error:
            return error.code, error.read()
    return send


def complaint(code, answer, path):
    """What is wrong with an answer; empty for nothing."""
    if code == 200:
        json.loads(answer)
        return ""
    if not 400 <= code < 500:
        return f"status {code}"
    message = json.loads(answer).get("message", "")
    if not message or any(ord(character) < 32 for character in message):
        return "no message, or one with control characters"
    if len(message) > 2000:
        return f"a message of {len(message)} characters"
    named = [str(step) for step in path if isinstance(step, str)]
    about = ("not valid JSON", "nested", "The request has", "does not exist", "already exists", "not supported",
             "there is no user", "'jobQueue'")
    return "" if any(word in message for word in (*named, *about)) else "the message names no member"


@pytest.mark.parametrize("operation", GOOD)
def test_each_member_may_hold_anything(server, send, operation):
    wrong, answers = [], {}
    for path in places(GOOD[operation]):
        marked = with_mark(GOOD[operation], path)
        for what, value in HOSTILE.items():
            body = marked.replace(json.dumps(MARK).encode(), value if isinstance(value, bytes) else value.encode())
            code, answer = send(operation, body)
            answers[code] = answers.get(code, 0) + 1
            if said := complaint(code, answer, path):
                wrong.append((".".join(map(str, path)), what, said, answer[:300]))
    assert not wrong, f"{len(wrong)}, of them: {wrong[:8]}"
    assert answers.get(400, 0) + answers.get(404, 0) >= 10, answers
    # What was let in can be shown again, to a client that is strict about shapes.
    server.batch.describe_job_queues()
    server.batch.describe_compute_environments()
    for page in server.batch.get_paginator("describe_job_definitions").paginate():
        assert page["jobDefinitions"]
    assert server.process.poll() is None


QUERIES = ("", "job=", "job=..%2F..%2Fetc%2Fpasswd", "job=%00", "job=%ff%fe", "job=" + "9" * 5000, "job=" + JOB + ":99999999999",
           "job=" + JOB + ":-1", "job=a&job=b", "%", "tagKeys=", "tagKeys=%00%0a", "tagKeys=teson:owner", "tagKeys=" + "k" * 5000,
           "&".join(f"tagKeys={i}" for i in range(1000)))


@pytest.mark.parametrize("method, path", [
    ("GET", "../teson/v1/explain"), ("DELETE", "tags/arn:aws:batch:us-east-1:123456789012:job-queue/default"),
    ("DELETE", f"tags/arn:aws:batch:us-east-1:123456789012:job/{JOB}"), ("GET", "tags/arn:aws:batch:us-east-1:1:job/.."),
    ("GET", "tags/" + "a" * 5000), ("GET", "tags/..%2f..%2f..%2fetc%2fpasswd"), ("GET", "tags/%00")])
def test_queries_and_paths_may_hold_anything(server, send, method, path):
    for query in QUERIES:
        code, answer = send(f"{path}?{query}", b"", method)
        assert code == 200 or 400 <= code < 500, (query[:80], code, answer[:300])
        assert isinstance(json.loads(answer), dict)
        if code != 200:
            message = json.loads(answer)["message"]
            assert message and len(message) < 2000 and not any(ord(character) < 32 for character in message), answer[:300]
    server.batch.describe_job_queues()


WRONG = {"structure": [], "list": {}, "map": [], "string": [7], "integer": "x", "long": "x", "boolean": 1}
READ = {"environment", "resourceRequirements", "instanceTypes", "tags"}  # not only kept; checked as strictly, elsewhere


def wrongs(shape, path=()):
    """(path, a value of a wrong type with all that leads to it) for each member within a shape of botocore's model."""
    for name, member in shape.members.items():
        if not path and name in READ:
            continue
        at = (*path, name)
        yield at, {name: WRONG[member.type_name]}
        inner = member.member if member.type_name == "list" else member
        if inner.type_name == "structure":
            for below, value in wrongs(inner, at):
                yield below, {name: [value] if member.type_name == "list" else value}


@pytest.mark.parametrize("operation, outer, good", [
    ("RegisterJobDefinition", "containerProperties", {"jobDefinitionName": "kept", "type": "container"}),
    ("CreateComputeEnvironment", "computeResources", {"computeEnvironmentName": "kept", "type": "MANAGED"}),
    ("UpdateComputeEnvironment", "computeResources", {"computeEnvironment": "scratch"})])
def test_each_member_that_is_only_kept_has_the_models_type(server, send, operation, outer, good):
    shape = server.batch.meta.service_model.operation_model(operation).input_shape.members[outer]
    base = CONTAINER if outer == "containerProperties" else RESOURCES
    tried = 0
    for path, wrong in wrongs(shape):
        code, answer = send(operation.lower(), json.dumps({**good, outer: {**base, **wrong}}).encode())
        assert code == 400 and path[-1] in json.loads(answer)["message"], (path, wrong, answer)
        tried += 1
    assert tried >= 20


def test_a_bad_definition_spoils_no_others_answer(server, send):
    """What each of these would have been: an answer that no SDK can read, to everybody."""
    for change in ({"ulimits": ["x"]}, {"volumes": [{"host": []}]}, {"linuxParameters": {"devices": {}}},
                   {"logConfiguration": {"options": []}}, {"secrets": [None]}, {"linuxParameters": {"sharedMemorySize": "1"}}):
        body = {"jobDefinitionName": "spoiled", "type": "container", "containerProperties": {**CONTAINER, **change}}
        code, answer = send("registerjobdefinition", json.dumps(body).encode())
        assert code == 400 and f"containerProperties.{next(iter(change))}" in json.loads(answer)["message"], answer
    # Members of a job's answer, planted in its definition.
    body = {"jobDefinitionName": "planted", "type": "container", "nodeProperties": [], "eksProperties": [],
            "containerProperties": {**CONTAINER, "exitCode": "none", "logStreamName": {}, "reason": 7, "taskArn": []}}
    assert send("registerjobdefinition", json.dumps(body).encode())[0] == 200
    definition = server.batch.describe_job_definitions(jobDefinitionName="planted")["jobDefinitions"][0]
    assert "nodeProperties" not in definition and "eksProperties" not in definition
    blocked = server.batch.submit_job(jobName="j", jobQueue="default", jobDefinition="planted", containerOverrides={
        "resourceRequirements": [{"type": "MEMORY", "value": "99999999"}]})["jobId"]
    container = server.batch.describe_jobs(jobs=[blocked])["jobs"][0]["container"]
    assert not {"exitCode", "logStreamName", "reason", "taskArn"} & set(container)
