"""A thousand clients at once, and more of them or of attempts than there are file descriptors: each is answered or cleanly refused,
and jobs go on."""
import json
import resource
import select
import socket
import urllib.parse

import botocore.auth
import botocore.awsrequest
import botocore.credentials
import pytest
from conftest import DEADLINE_SECONDS, Jobs, running_server, wait_for

CLIENTS = 1000


@pytest.fixture(scope="module", autouse=True)
def enough_descriptors():
    """Of our own: each client is one."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if hard < 2 * CLIENTS + 200:
        pytest.skip(f"the limit of open files is {hard} here")
    resource.setrlimit(resource.RLIMIT_NOFILE, (max(soft, 2 * CLIENTS + 200), hard))
    yield
    resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))


def signed(server, operation, body):
    """The bytes of a request, which any connection may send."""
    keys = botocore.credentials.Credentials(server.environment["AWS_ACCESS_KEY_ID"],
                                            server.environment["AWS_SECRET_ACCESS_KEY"])
    data = json.dumps(body).encode()
    request = botocore.awsrequest.AWSRequest(method="POST", url=f"{server.endpoint}/v1/{operation}", data=data,
                                             headers={"Content-Type": "application/json"})
    botocore.auth.SigV4Auth(keys, "batch", "us-east-1").add_auth(request)
    host = urllib.parse.urlsplit(server.endpoint).netloc
    head = "".join(f"{name}: {value}\r\n" for name, value in request.headers.items())
    return f"POST /v1/{operation} HTTP/1.1\r\nHost: {host}\r\nContent-Length: {len(data)}\r\n{head}\r\n".encode() + data


class Client:
    def __init__(self, server):
        at = urllib.parse.urlsplit(server.endpoint)
        self.socket = socket.create_connection((at.hostname, at.port), timeout=DEADLINE_SECONDS)

    def send(self, request):
        try:
            self.socket.sendall(request)
        except (BrokenPipeError, ConnectionResetError):
            pass  # turned away before it asked: the answer says so

    def answer(self):
        """(status, body); (0, b"") if the connection ended without one."""
        got = b""
        try:
            while b"\r\n\r\n" not in got:
                more = self.socket.recv(65536)
                if not more:
                    return 0, got
                got += more
            head, _, body = got.partition(b"\r\n\r\n")
            length = next(int(line.split(b":")[1]) for line in head.split(b"\r\n")
                          if line.lower().startswith(b"content-length"))
            while len(body) < length:
                body += self.socket.recv(65536)
        except ConnectionResetError:
            return 0, got
        return int(head.split()[1]), body

    def ask(self, request):
        self.send(request)
        return self.answer()

    def close(self):
        self.socket.close()


def test_a_thousand_clients_are_all_answered(tmp_path):
    # A soft limit as login shells have it, below what is asked of the server.
    with running_server("host: {vcpus: 2}\n", descriptors="256:4096") as server:
        jobs = Jobs(server)
        go = tmp_path / "go"
        job = jobs.submit(f"ulimit -n; while [ ! -e {go} ]; do sleep 0.05; done")
        jobs.wait(job, "RUNNING")
        definition = jobs.register("true")
        look = signed(server, "describejobs", {"jobs": [job]})
        submit = signed(server, "submitjob", {"jobName": "one-of-many", "jobQueue": "default",
                                              "jobDefinition": definition, "dependsOn": [{"jobId": job}]})
        clients = [Client(server) for _ in range(CLIENTS)]
        try:
            for number, client in enumerate(clients):
                client.send(submit if number % 10 == 0 else look)
            answers = [client.answer() for client in clients]
            assert {status for status, _ in answers} == {200}
            made = {json.loads(body)["jobId"] for number, (_, body) in enumerate(answers) if number % 10 == 0}
            assert len(made) == CLIENTS // 10
            assert clients[-1].ask(look)[0] == 200, "the connections stay"
            go.touch()
            for one in sorted(made):
                jobs.wait(one, "SUCCEEDED")
            assert jobs.output(job) == "256", "programs have the limit that the server was started with"
        finally:
            for client in clients:
                client.close()


@pytest.mark.parametrize("limit", [256, 1024])
def test_more_clients_than_descriptors_are_refused_and_jobs_go_on(tmp_path, limit):
    with running_server("host: {vcpus: 4}\n", descriptors=limit) as server:
        jobs = Jobs(server)
        script = 'while [ ! -e $0 ]; do sleep 0.05; done'
        definition = jobs.register(["/bin/sh", "-c", script, str(tmp_path / "go")])
        look = signed(server, "describejobqueues", {})
        submit = signed(server, "submitjob", {"jobName": "in-the-crowd", "jobQueue": "default", "jobDefinition": definition,
                                              "arrayProperties": {"size": 16}})
        clients = [Client(server) for _ in range(CLIENTS + 500)]
        try:
            for client in clients:
                client.send(look)
            answers = [client.answer() for client in clients]
            served = [client for client, (status, _) in zip(clients, answers) if status == 200]
            refused = [(status, body) for status, body in answers if status != 200]
            assert len(served) >= limit // 4
            assert {status for status, _ in refused} == {503}, "refused, but not in words"
            assert all("Too many connections" in json.loads(body)["message"] for _, body in refused)

            # While they stay, jobs start, write and end.
            array = json.loads(served[0].ask(submit)[1])["jobId"]
            describe = signed(server, "describejobs", {"jobs": [array]})

            def state():
                return json.loads(served[1].ask(describe)[1])["jobs"][0]
            wait_for(lambda: f"all that run: {state()}",
                     lambda: state()["arrayProperties"]["statusSummary"]["RUNNING"] == 16)
            (tmp_path / "go").touch()
            wait_for(lambda: f"the end: {state()}", lambda: state()["status"] in ("SUCCEEDED", "FAILED"))
            assert state()["status"] == "SUCCEEDED"
            assert "Too many open files" not in server.log.read_text()
        finally:
            for client in clients:
                client.close()
        wait_for("room for a new client", lambda: Client(server).ask(look)[0] == 200)


def test_more_attempts_than_descriptors_wait_and_each_runs_once(tmp_path):
    ran, go = tmp_path / "ran", tmp_path / "go"
    with running_server("host: {vcpus: 64}\n", descriptors=128) as server:
        jobs = Jobs(server)
        script = 'echo $AWS_BATCH_JOB_ARRAY_INDEX >> $0; while [ ! -e $1 ]; do sleep 0.2; done'
        definition = jobs.register(["/bin/sh", "-c", script, str(ran), str(go)], resourceRequirements=[
            {"type": "VCPU", "value": "0.25"}, {"type": "MEMORY", "value": "16"}])
        array = jobs.submit(definition=definition, arrayProperties={"size": 80})

        def running():
            return jobs.describe(array)["arrayProperties"]["statusSummary"]["RUNNING"]
        wait_for(lambda: f"32 that run: {running()}", lambda: running() >= 32)  # 128 / 2, without 32 for the rest
        server.kill9()
        server.start()  # adopts them
        assert running() == 32
        go.touch()
        jobs.wait(array, "SUCCEEDED")
        children = [job for start in (0, 40) for job in jobs.batch.describe_jobs(
            jobs=[f"{array}:{index}" for index in range(start, start + 40)])["jobs"]]
        assert [len(job["attempts"]) for job in children] == [1] * 80
    assert sorted(map(int, ran.read_text().split())) == list(range(80))
