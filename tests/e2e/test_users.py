"""Several users: whose jobs are whose, what a role may, revoking, and the record of who did what."""
import configparser
import contextlib
import json
import os
import pathlib
import stat
import subprocess
import threading

import boto3
import pytest
from botocore.config import Config
from botocore.exceptions import ClientError

from conftest import AWS_CLI, BINARY, DEADLINE_SECONDS, Jobs, is_alive, running_server, wait_for


@pytest.fixture
def own_server():
    """Where the tests run as root, these users' jobs do so too: what accounts do is in test_unix_accounts.py."""
    with running_server("accounts: off\n") as started:
        yield started


class Person:
    """A user of a server: their key, and clients that sign with it."""

    def __init__(self, server, name, key, secret):
        self.server, self.name, self.key, self.secret = server, name, key, secret
        self.batch, self.logs = self.client("batch"), self.client("logs")

    def client(self, service):
        return boto3.client(service, region_name="us-east-1", endpoint_url=self.server.endpoint,
                            aws_access_key_id=self.key, aws_secret_access_key=self.secret,
                            config=Config(retries={"max_attempts": 0}, parameter_validation=False))

    @property
    def variables(self):
        return {**os.environ, "TESON_ENDPOINT": self.server.endpoint, "AWS_ACCESS_KEY_ID": self.key,
                "AWS_SECRET_ACCESS_KEY": self.secret, "AWS_DEFAULT_REGION": "us-east-1",
                "AWS_SHARED_CREDENTIALS_FILE": "/dev/null", "AWS_CONFIG_FILE": "/dev/null",
                "AWS_EC2_METADATA_DISABLED": "true", "AWS_PAGER": ""}

    def teson(self, *arguments):
        return subprocess.run([BINARY, *arguments], env=self.variables, capture_output=True, text=True,
                              timeout=DEADLINE_SECONDS)

    def aws(self, *arguments):
        return subprocess.run([AWS_CLI, "--endpoint-url", self.server.endpoint, *arguments], env=self.variables,
                              capture_output=True, text=True, timeout=DEADLINE_SECONDS)


def teson(server, *arguments, check=True):
    process = subprocess.run([BINARY, *arguments, "--data", str(server.data)], capture_output=True, text=True,
                             timeout=DEADLINE_SECONDS)
    assert not check or process.returncode == 0, process.stderr
    return process


def user_json(server, *arguments):
    return json.loads(teson(server, "user", *arguments, "--output", "json").stdout)


def add(server, name, role="user"):
    made = user_json(server, "add", name, "--role", role)
    return Person(server, name, made["accessKeyId"], made["secretAccessKey"])


def refused(call, **request):
    with pytest.raises(ClientError) as caught:
        call(**request)
    return caught.value.response


def audit(server):
    lines = []
    for path in sorted(server.data.glob("audit.log*")):
        lines += [json.loads(line) for line in path.read_text().splitlines()]
    return lines


def recorded(server, **wanted):
    """The records that match, once there is one."""
    def matching():
        return [line for line in audit(server) if all(line[name] == value for name, value in wanted.items())]
    return wait_for(lambda: f"{wanted} in {audit(server)}", matching)


@pytest.fixture
def people(own_server):
    return add(own_server, "ana"), add(own_server, "bo"), add(own_server, "chief", "admin")


def submit_as(person, command="sleep 100", **request):
    """A job of that person's, with a definition of their own."""
    helper = Jobs(person.server)
    definition = f"{person.name}-{abs(hash(command)) % 10**9}"
    person.batch.register_job_definition(
        jobDefinitionName=definition, type="container",
        containerProperties={"image": "host", "command": ["/bin/sh", "-c", command],
                             "resourceRequirements": helper.SMALL})
    return person.batch.submit_job(jobName="j", jobQueue="default", jobDefinition=definition, **request)["jobId"]


def test_a_user_stopping_anothers_job_is_refused_and_the_job_goes_on(own_server, own_jobs, people):
    ana, bo, chief = people
    job = submit_as(ana)
    own_jobs.wait(job, "RUNNING")
    pid = own_server.agent_pid(job)

    error = refused(bo.batch.terminate_job, jobId=job, reason="mine now")
    assert error["Error"]["Code"] == "AccessDeniedException"
    assert error["ResponseMetadata"]["HTTPStatusCode"] == 403
    assert error["Error"]["Message"] == (
        f"User: bo is not authorized to perform: batch:TerminateJob on resource: job/{job} because it is ana's: "
        "ask ana or an admin to do it")
    process = bo.aws("batch", "cancel-job", "--job-id", job, "--reason", "mine now")
    assert process.returncode == 254 and "AccessDeniedException" in process.stderr, process.stderr
    process = bo.teson("stop", job)
    assert process.returncode == 254 and "because it is ana's" in process.stderr, process.stderr
    arn = own_jobs.describe(job)["jobArn"]
    assert refused(bo.batch.tag_resource, resourceArn=arn, tags={"a": "b"})["Error"]["Code"] == "AccessDeniedException"

    # Everybody sees it, and it has not been touched.
    seen = bo.batch.describe_jobs(jobs=[job])["jobs"][0]
    assert (seen["status"], seen.get("statusReason", "")) == ("RUNNING", "")
    assert seen["tags"] == {"teson:owner": "ana"}
    assert is_alive(pid)

    ana.batch.tag_resource(resourceArn=arn, tags={"a": "b"})
    ana.batch.terminate_job(jobId=job, reason="enough")
    assert own_jobs.wait(job, "FAILED")["statusReason"] == "enough"
    assert own_jobs.describe(job)["tags"] == {"a": "b", "teson:owner": "ana"}  # the finished one too
    another = submit_as(ana)
    chief.batch.terminate_job(jobId=another, reason="an admin's word")
    own_jobs.wait(another, "FAILED")


def test_nobody_touches_anothers_array_or_its_children(own_server, own_jobs, people):
    ana, bo, _ = people
    array = submit_as(ana, "exec sleep 600", arrayProperties={"size": 3}, tags={"teson:array-throttle": "1"})
    wait_for("the first child", lambda: own_jobs.describe(f"{array}:0")["status"] == "RUNNING")
    arn = own_jobs.describe(array)["jobArn"]
    for call, request in ((bo.batch.terminate_job, {"jobId": f"{array}:0", "reason": "r"}),
                          (bo.batch.cancel_job, {"jobId": f"{array}:2", "reason": "r"}),
                          (bo.batch.terminate_job, {"jobId": array, "reason": "r"}),
                          (bo.batch.tag_resource, {"resourceArn": arn, "tags": {"teson:array-throttle": "3"}}),
                          (bo.batch.untag_resource, {"resourceArn": arn, "tagKeys": ["teson:array-throttle"]})):
        error = refused(call, **request)["Error"]
        assert error["Code"] == "AccessDeniedException" and "ana's" in error["Message"], error
    process = bo.teson("throttle", array, "3")
    assert process.returncode == 254 and "because it is ana's" in process.stderr, process.stderr
    found = own_jobs.describe(array)
    assert found["tags"] == {"teson:array-throttle": "1", "teson:owner": "ana"}
    assert (found["arrayProperties"]["statusSummary"]["RUNNING"], found["arrayProperties"]["statusSummary"]["FAILED"]) == (1, 0)
    ana.batch.cancel_job(jobId=f"{array}:2", reason="not this one")
    assert own_jobs.describe(f"{array}:2")["statusReason"] == "not this one"
    ana.batch.terminate_job(jobId=array, reason="enough")
    own_jobs.wait(array, "FAILED")


def test_people_see_whose_a_job_is(own_server, own_jobs, people):
    ana, bo, _ = people
    first = own_jobs.submit("true")
    own_jobs.wait(first)
    assert "OWNER" not in teson(own_server, "jobs").stdout
    assert own_jobs.describe(first)["tags"] == {}
    job = submit_as(ana, "true")
    own_jobs.wait(job)
    for process in (teson(own_server, "jobs"), bo.teson("jobs")):
        rows = {line.split()[0]: line.split() for line in process.stdout.splitlines()}
        assert rows["ID"][:3] == ["ID", "NAME", "OWNER"]
        owners = {found: row[2] for found, row in rows.items()}
        assert next(owner for found, owner in owners.items() if job.startswith(found)) == "ana"
        assert next(owner for found, owner in owners.items() if first.startswith(found)) == "default"
    assert "owner        ana\n" in bo.teson("show", job).stdout
    assert bo.teson("user", "whoami").stdout == "bo (user)\n"
    assert teson(own_server, "user", "whoami").stdout == "default (admin)\n"


def test_a_rerun_belongs_to_who_asks_for_it(own_server, own_jobs, people):
    ana, bo, _ = people
    array = submit_as(ana, "exit $AWS_BATCH_JOB_ARRAY_INDEX", arrayProperties={"size": 2}, tags={"team": "x"})
    assert own_jobs.wait(array)["tags"] == {"team": "x", "teson:owner": "ana"}
    for person in (ana, bo):
        process = person.teson("rerun", "--failed", "--detach", array)
        assert process.returncode == 0, process.stderr
        again = own_jobs.wait(process.stdout.strip())
        assert again["tags"] == {"team": "x", "teson:owner": person.name, "teson:rerun-of": array}


def least(shape, name=""):
    """The smallest value that a shape of botocore's model takes."""
    kind = shape.type_name
    if kind == "structure":
        return {member: least(shape.members[member], member) for member in shape.required_members}
    if kind == "list":
        return [least(shape.member, name)]
    if kind == "map":
        return {"k": "v"}
    if kind == "string":
        return shape.enum[0] if shape.enum else "arn:aws:batch:us-east-1:123456789012:job-queue/default" \
            if "arn" in name.lower() else "x"
    return {"boolean": True}.get(kind, 1)


def is_read(operation):
    return operation.startswith(("Describe", "List", "Get", "Filter"))


def test_a_read_only_user_is_refused_each_changing_operation(own_server, own_jobs):
    reader = add(own_server, "reader", "read-only")
    job = own_jobs.submit("sleep 100")
    changing = {"batch": 0, "logs": 0}
    for service, client in (("batch", reader.batch), ("logs", reader.logs)):
        for operation in client.meta.service_model.operation_names:
            model = client.meta.service_model.operation_model(operation)
            call = getattr(client, [name for name, method in client.meta.method_to_api_mapping.items()
                                    if method == operation][0])
            if is_read(operation) or operation in ("StartLiveTail", "TestMetricFilter", "StartQuery", "StopQuery"):
                continue
            error = refused(call, **least(model.input_shape) if model.input_shape else {})["Error"]
            if error["Code"] in ("UnknownOperationException", "404") or "not supported by this version" in error["Message"]:
                continue  # not one that the server has
            assert error["Code"] == "AccessDeniedException", (operation, error)
            assert f"User: reader is not authorized to perform: {service}:{operation} " in error["Message"]
            changing[service] += 1
    # Batch: Submit-, Cancel-, TerminateJob; Register-, DeregisterJobDefinition; Create, Update, Delete of environments,
    # queues and policies; TagResource, UntagResource. Logs: see src/api/logs/service.cc.
    assert changing == {"batch": 3 + 2 + 9 + 2, "logs": 11}
    for operation in ("add", "revoke", "role", "rotate", "list"):
        process = reader.teson("user", operation, *{"list": [], "role": ["x", "user"]}.get(operation, ["x"]))
        assert process.returncode == 254 and "AccessDeniedException" in process.stderr, process.stderr
    # What reads goes on.
    assert reader.batch.describe_jobs(jobs=[job])["jobs"][0]["jobId"] == job
    assert [found["jobId"] for status in ("STARTING", "RUNNING", "RUNNABLE") for found in
            reader.batch.list_jobs(jobQueue="default", jobStatus=status)["jobSummaryList"]] == [job]
    assert reader.logs.describe_log_groups()["logGroups"][0]["logGroupName"] == "/aws/batch/job"
    assert own_jobs.describe(job)["status"] != "FAILED"


def test_a_user_changes_neither_environments_nor_others_definitions(own_server, own_jobs, people):
    ana, bo, chief = people
    for call, request in ((ana.batch.update_compute_environment, {"computeEnvironment": "local", "state": "DISABLED"}),
                          (ana.batch.update_job_queue, {"jobQueue": "default", "state": "DISABLED"}),
                          (ana.batch.delete_job_queue, {"jobQueue": "default"}),
                          (ana.batch.create_scheduling_policy, {"name": "p"})):
        assert "only admins may" in refused(call, **request)["Error"]["Message"]
    definition = own_jobs.register("true", name="shared")
    assert refused(ana.batch.deregister_job_definition, jobDefinition=definition)["Error"]["Code"] == "AccessDeniedException"
    ana.batch.submit_job(jobName="j", jobQueue="default", jobDefinition=definition)  # but may be used
    chief.batch.update_job_queue(jobQueue="default", state="ENABLED")
    # Log groups of clients' own need a user.
    ana.logs.create_log_group(logGroupName="anas")
    ana.logs.delete_log_group(logGroupName="anas")
    # An old script's tag, and what was described, submitted again.
    error = refused(bo.batch.submit_job, jobName="j", jobQueue="default", jobDefinition=definition,
                    tags={"teson:owner": "ana"})["Error"]
    assert error["Code"] == "ClientException" and "teson:owner" in error["Message"]


def test_a_revoked_key_is_refused_in_mid_stream(own_server, own_jobs, people):
    ana, bo, _ = people
    job = submit_as(bo, "while :; do echo tick; sleep 0.1; done")
    own_jobs.wait(job, "RUNNING")
    assert ana.batch.describe_jobs(jobs=[job])["jobs"]  # the connection stays open
    pools = ana.batch._endpoint.http_session._manager.pools
    pool = pools[list(pools.keys())[0]]
    assert (pool.num_connections, pool.num_requests) == (1, 1)

    follower = subprocess.Popen([BINARY, "logs", "-f", job], env=ana.variables, stdout=subprocess.PIPE,
                                stderr=subprocess.PIPE, text=True)
    try:
        assert follower.stdout.readline() == "tick\n"
        said = teson(own_server, "user", "revoke", "ana").stdout
        assert said == "ana: user, no key left: every request is refused from now on\n"
        error = refused(ana.batch.describe_jobs, jobs=[job])
        assert error["Error"]["Code"] == "UnrecognizedClientException"
        assert error["ResponseMetadata"]["HTTPStatusCode"] == 403
        assert (pool.num_connections, pool.num_requests) == (1, 2), "it was the same connection"
        _, complaint = follower.communicate(timeout=DEADLINE_SECONDS)
    finally:
        with contextlib.suppress(ProcessLookupError):
            follower.kill()
    assert follower.returncode == 254
    assert f"the access key {ana.key} is not, or no longer, one of this server's" in complaint
    assert own_jobs.describe(job)["status"] == "RUNNING"
    assert recorded(own_server, key=ana.key, outcome="UnrecognizedClientException")[0]["user"] == ""
    # The others' keys are as before, and ana may come back: a new key, the same user.
    assert bo.batch.describe_jobs(jobs=[job])["jobs"]
    again = add(own_server, "ana")
    assert again.key != ana.key and again.teson("user", "whoami").stdout == "ana (user)\n"


def test_rotation_and_roles_hold_at_once(own_server, people):
    ana, _, _ = people
    made = user_json(own_server, "rotate", "ana")
    assert refused(ana.batch.describe_job_queues)["Error"]["Code"] == "UnrecognizedClientException"
    fresh = Person(own_server, "ana", made["accessKeyId"], made["secretAccessKey"])
    assert fresh.batch.describe_job_queues()["jobQueues"]
    teson(own_server, "user", "role", "ana", "admin")
    fresh.batch.create_scheduling_policy(name="of-ana")
    teson(own_server, "user", "role", "ana", "read-only")
    assert refused(fresh.batch.create_scheduling_policy, name="p")["Error"]["Code"] == "AccessDeniedException"
    listed = {user["name"]: user for user in user_json(own_server, "list")["users"]}
    assert sorted(listed) == ["ana", "bo", "chief", "default"]
    assert listed["ana"]["role"] == "read-only"
    assert [key["accessKeyId"] for key in listed["ana"]["keys"]] == [fresh.key]
    assert "secret" not in json.dumps(listed).lower()
    process = teson(own_server, "user", "revoke", "default", check=False)
    assert process.returncode == 254 and "credentials" in process.stderr


def test_what_was_answered_survives_a_kill(own_server):
    for number in range(3):
        kept, gone = add(own_server, f"kept{number}", "read-only"), add(own_server, f"gone{number}")
        teson(own_server, "user", "revoke", gone.name)
        own_server.kill9()
        own_server.restart()
        kept, gone = (Person(own_server, person.name, person.key, person.secret) for person in (kept, gone))
        assert kept.batch.describe_job_queues()["jobQueues"]
        assert kept.teson("user", "whoami").stdout == f"kept{number} (read-only)\n"
        assert refused(gone.batch.describe_job_queues)["Error"]["Code"] == "UnrecognizedClientException"
    fresh = add(own_server, "last")
    own_server.kill9()
    own_server.restart()
    assert Person(own_server, "last", fresh.key, fresh.secret).batch.describe_job_queues()["jobQueues"]


def test_a_new_key_is_printed_as_clients_read_it(own_server):
    text = teson(own_server, "user", "add", "ana").stdout
    ini = configparser.ConfigParser()
    profile = text.split("# For ~/.aws/credentials:\n")[1].split("\n# Or")[0]
    ini.read_string(profile)
    key, secret = ini["ana"]["aws_access_key_id"], ini["ana"]["aws_secret_access_key"]
    exports = "\n".join(line for line in text.splitlines() if line.startswith("export "))
    shell = subprocess.run(["/bin/sh", "-c", exports + f"\n{BINARY} user whoami"], capture_output=True, text=True,
                           env={"PATH": os.environ["PATH"], "HOME": "/nonexistent"}, timeout=DEADLINE_SECONDS)
    assert shell.stdout == "ana (user)\n", shell.stderr
    assert f"export AWS_ACCESS_KEY_ID={key}\n" in text.replace("'", "")
    assert Person(own_server, "ana", key, secret).batch.describe_job_queues()["jobQueues"]


def test_who_did_what_is_recorded_without_secrets(own_server, own_jobs):
    ana = add(own_server, "ana")
    seen = set()
    stop = threading.Event()

    def watch():
        while not stop.is_set():
            for path in pathlib.Path("/proc").glob("[0-9]*/cmdline"):
                with contextlib.suppress(OSError):
                    seen.add(path.read_bytes())
    watcher = threading.Thread(target=watch)
    watcher.start()
    try:
        job = submit_as(ana, "echo in-the-command-line", containerOverrides={
            "environment": [{"name": "TOKEN", "value": "in-the-environment"}]})
        own_jobs.wait(job)
        bo = add(own_server, "bo")
        refused(bo.batch.create_scheduling_policy, name="p")
        made = user_json(own_server, "rotate", "bo")
        teson(own_server, "user", "revoke", "bo")
    finally:
        stop.set()
        watcher.join()
    submitted, = recorded(own_server, action="batch:SubmitJob")
    assert {name: submitted[name] for name in ("user", "key", "resource", "outcome")} == {
        "user": "ana", "key": ana.key, "resource": f"job/{job}", "outcome": "ok"}
    assert submitted["source"].startswith("127.0.0.1:") and submitted["time"].endswith("Z")
    denied, = recorded(own_server, action="batch:CreateSchedulingPolicy")
    assert (denied["user"], denied["outcome"]) == ("bo", "AccessDeniedException")
    assert [line["resource"] for line in recorded(own_server, action="teson:AddUser")] == ["user/ana", "user/bo"]
    assert recorded(own_server, action="teson:RevokeKeys")[0]["user"] == "default"
    actions = {line["action"] for line in audit(own_server)}
    assert not [action for action in actions if is_read(action.split(":")[1])], actions

    secrets = [ana.secret, bo.secret, made["secretAccessKey"], own_server.environment["AWS_SECRET_ACCESS_KEY"]]
    log, record = own_server.log.read_text(), (own_server.data / "audit.log").read_text()
    for secret in secrets:
        assert secret not in log and secret not in record
        assert not any(secret.encode() in line for line in seen)
    assert "in-the-command-line" not in record and "in-the-environment" not in record
    for name in ("users.json", "audit.log", "credentials"):
        assert stat.S_IMODE((own_server.data / name).stat().st_mode) == 0o600, name
    assert any(b"/proc" not in line and b"teson" in line for line in seen)  # the watcher saw something


def test_service_goes_on_where_the_audit_log_cannot_be_written(own_server, own_jobs):
    record = own_server.data / "audit.log"
    own_jobs.register("true")
    recorded(own_server, action="batch:RegisterJobDefinition")
    record.unlink()
    record.mkdir()
    own_jobs.wait(own_jobs.submit("true"), "SUCCEEDED")
    wait_for("the server's log says so", lambda: "the audit log is not written" in own_server.log.read_text())
    record.rmdir()
    own_jobs.register("true")
    lost = recorded(own_server, action="teson:AuditLog")[0]
    assert lost["outcome"].endswith("records before this were lost")
