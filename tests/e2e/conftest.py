"""A teson server of its own for the end-to-end tests, driven by unmodified boto3 and AWS CLI.

TESON_BINARY names the program, else <repository>/build/teson; TESON_AWS_CLI another AWS CLI than Debian's. Fixtures:

    server, batch, logs, aws     one server for the whole session: for tests that leave it running
    own_server                   one for the test alone, which may restart or kill it
    jobs, own_jobs               short forms for registering, submitting and waiting, on either
"""
import configparser
import contextlib
import json
import os
import pathlib
import re
import shutil
import signal
import subprocess
import tempfile
import time
import urllib.error
import urllib.request
import uuid

import boto3
import botocore.auth
import botocore.awsrequest
import botocore.credentials
import pytest
from botocore.config import Config

ROOT = pathlib.Path(__file__).resolve().parents[2]
BINARY = os.environ.get("TESON_BINARY", str(ROOT / "build" / "teson"))
AWS_CLI = os.environ.get("TESON_AWS_CLI", "/usr/bin/aws")
DEADLINE_SECONDS = 60
POLL_SECONDS = 0.03
FINAL = ("SUCCEEDED", "FAILED")


def wait_for(what, condition, seconds=DEADLINE_SECONDS):
    """Asks again and again until the answer is true, and returns it. Fails at the deadline, with `what`."""
    deadline = time.monotonic() + seconds
    while True:
        answer = condition()
        if answer:
            return answer
        assert time.monotonic() < deadline, f"not within {seconds} s: {what() if callable(what) else what}"
        time.sleep(POLL_SECONDS)


def is_alive(pid):
    try:
        stat = pathlib.Path(f"/proc/{pid}/stat").read_text()
    except OSError:
        return False
    return stat.rsplit(")", 1)[1].split()[0] not in "ZX"


class Server:
    """`teson serve` on a data directory of its own. Survives restarts on the same directory."""

    def __init__(self, configuration="", variables=None, directory=None, descriptors=None):
        assert os.access(BINARY, os.X_OK), f"{BINARY} is not there: build it, or name it in TESON_BINARY"
        self.data = pathlib.Path(tempfile.mkdtemp(prefix="teson-e2e-", dir=directory))
        self.configuration = configuration
        self.variables = variables or {}
        self.limits = ["prlimit", f"--nofile={descriptors}"] if descriptors else []
        self.port = 0  # any
        self.process = None
        self.log = self.data / "server.log"

    # ---- life ----

    def start(self):
        (self.data / "server.json").unlink(missing_ok=True)
        command = [*self.limits, BINARY, "serve", "--data", str(self.data), "--listen", f"127.0.0.1:{self.port}"]
        if self.configuration:
            config = self.data / "test.yaml"
            config.write_text(self.configuration)
            command += ["--config", str(config)]
        with open(self.log, "ab") as log:
            self.process = subprocess.Popen(command, stdout=log, stderr=log, stdin=subprocess.DEVNULL,
                                            env={**os.environ, **self.variables})
        wait_for(self._start_failure, self._is_up)
        self._read_endpoint()
        return self

    def _is_up(self):
        assert self.process.poll() is None, self._start_failure()
        with contextlib.suppress(FileNotFoundError, ValueError):
            return json.loads((self.data / "server.json").read_text())["pid"] == self.process.pid
        return False

    def _start_failure(self):
        return f"the server does not start:\n{self.log.read_text()}"

    def _read_endpoint(self):
        self.endpoint = json.loads((self.data / "server.json").read_text())["endpoint"]
        keys = configparser.ConfigParser()
        keys.read(self.data / "credentials")
        self.environment = {
            "AWS_ENDPOINT_URL": self.endpoint,
            "AWS_ACCESS_KEY_ID": keys["default"]["aws_access_key_id"],
            "AWS_SECRET_ACCESS_KEY": keys["default"]["aws_secret_access_key"],
            "AWS_DEFAULT_REGION": "us-east-1",
        }
        self.batch = self.client("batch")
        self.logs = self.client("logs")

    def end(self, number):
        self.process.send_signal(number)
        self.process.wait(DEADLINE_SECONDS)

    def kill9(self):
        self.end(signal.SIGKILL)

    def stop(self):
        self.end(signal.SIGTERM)
        assert self.process.returncode == 0, self.log.read_text()

    def restart(self):
        if self.process.poll() is None:
            self.stop()
        return self.start()

    def close(self):
        """Ends what still runs and asserts that not one process is left."""
        try:
            if self.process.poll() is not None:
                self.start()
            self._end_all_jobs()
            self.stop()
            left = {pid: text for pid, text in self.processes().items() if is_alive(pid)}
            for pid in left:
                with contextlib.suppress(ProcessLookupError):
                    os.kill(pid, signal.SIGKILL)
            assert not left, f"left over: {left}"
        finally:
            if self.process.poll() is None:
                self.kill9()
            shutil.rmtree(self.data, ignore_errors=True)

    def _end_all_jobs(self):
        attempts = self.data / "attempts"
        ids = [path.name.replace(".", ":") for path in attempts.iterdir()] if attempts.is_dir() else []
        live = [job["jobId"] for start in range(0, len(ids), 100)
                for job in self.batch.describe_jobs(jobs=ids[start:start + 100])["jobs"] if job["status"] not in FINAL]
        # What waits goes first, so that nothing starts in the place of what is ended.
        for queue in self.batch.describe_job_queues()["jobQueues"]:
            for status in ("PENDING", "RUNNABLE"):
                pages = self.batch.get_paginator("list_jobs").paginate(jobQueue=queue["jobQueueName"], jobStatus=status)
                for page in pages:
                    for job in page["jobSummaryList"]:
                        self.batch.terminate_job(jobId=job["jobId"], reason="the tests are over")
        for job in live:
            self.batch.terminate_job(jobId=job, reason="the tests are over")
        for start in range(0, len(live), 100):
            part = live[start:start + 100]
            wait_for("the end of the last jobs", lambda part=part: all(
                job["status"] in FINAL for job in self.batch.describe_jobs(jobs=part)["jobs"]))
        wait_for(lambda: f"the end of {self.processes()}", lambda: not self.processes())

    # ---- what runs ----

    def processes(self):
        """pid -> command line, of every agent and every program of this server's attempts."""
        attempts = self.data / "attempts"
        jobs = {path.name.replace(".", ":") for path in attempts.iterdir()} if attempts.is_dir() else set()
        found = {}
        for entry in pathlib.Path("/proc").iterdir():
            if not entry.name.isdigit() or int(entry.name) in (os.getpid(), self.process.pid):
                continue
            with contextlib.suppress(OSError):
                marker = re.search(rb"TESON_ATTEMPT_ID=([0-9a-f-]{36}(?::[0-9]+)?)/", (entry / "environ").read_bytes())
                command = (entry / "cmdline").read_bytes().replace(b"\0", b" ").decode(errors="replace")
                if (marker and marker[1].decode() in jobs) or f"{self.data}/attempts/" in command:
                    if is_alive(int(entry.name)):
                        found[int(entry.name)] = command
        return found

    def attempt_directory(self, job, number=1):
        return self.data / "attempts" / job.replace(":", ".") / str(number)

    def agent_pid(self, job, number=1):
        def read():
            with contextlib.suppress(OSError, ValueError):
                return json.loads((self.attempt_directory(job, number) / "lock").read_text()).get("pid")
            return None
        return wait_for(f"the agent of attempt {number} of {job}", read)

    def lose_machine(self, job, number=1):
        """As if the attempt's machine had died: its agent is killed, and has no chance to say anything."""
        os.kill(self.agent_pid(job, number), signal.SIGKILL)

    # ---- clients ----

    def client(self, service, **settings):
        return boto3.client(
            service, region_name="us-east-1", endpoint_url=self.endpoint,
            aws_access_key_id=self.environment["AWS_ACCESS_KEY_ID"],
            aws_secret_access_key=self.environment["AWS_SECRET_ACCESS_KEY"], config=Config(**settings))

    def send(self, path, body, method="POST", sign=True):
        """Sends a signed request as it is, past what boto3 knows and checks; returns (status, headers, body)."""
        credentials = botocore.credentials.Credentials(self.environment["AWS_ACCESS_KEY_ID"],
                                                       self.environment["AWS_SECRET_ACCESS_KEY"])
        data = body if isinstance(body, bytes) else json.dumps(body).encode()
        request = botocore.awsrequest.AWSRequest(method=method, url=self.endpoint + path, data=data,
                                                 headers={"Content-Type": "application/json"})
        if sign:
            botocore.auth.SigV4Auth(credentials, "batch", "us-east-1").add_auth(request)
        prepared = request.prepare()
        try:
            with urllib.request.urlopen(urllib.request.Request(
                    prepared.url, data=data, headers=dict(prepared.headers), method=method), timeout=60) as answer:
                return answer.status, answer.headers, answer.read()
        except urllib.error.HTTPError as error:
            return error.code, error.headers, error.read()

    def aws(self, *arguments, check=True):
        """Runs the AWS CLI; returns what it printed as JSON (None for nothing), or with check=False the process."""
        environment = {**os.environ, **self.environment, "AWS_PAGER": "", "AWS_CONFIG_FILE": "/dev/null",
                       "AWS_SHARED_CREDENTIALS_FILE": "/dev/null", "AWS_EC2_METADATA_DISABLED": "true"}
        # Debian's CLI is older than AWS_ENDPOINT_URL.
        command = [AWS_CLI, "--endpoint-url", self.endpoint, "--output", "json", *arguments]
        process = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=DEADLINE_SECONDS)
        if not check:
            return process
        assert process.returncode == 0, process.stderr
        return json.loads(process.stdout) if process.stdout.strip() else None


class Jobs:
    """Short forms over a server's Batch and Logs clients. Small by default, so that many run side by side."""

    SMALL = [{"type": "VCPU", "value": "0.25"}, {"type": "MEMORY", "value": "32"}]

    def __init__(self, server):
        self.server = server

    @property
    def batch(self):
        return self.server.batch

    def register(self, command, name=None, tags=None, parameters=None, retry=None, timeout=None, **container):
        """Registers a definition (a shell script, or a list of arguments) and returns its ARN."""
        arguments = ["/bin/sh", "-c", command] if isinstance(command, str) else command
        request = {"jobDefinitionName": name or f"d-{uuid.uuid4().hex[:12]}", "type": "container", "tags": tags or {},
                   "parameters": parameters or {},
                   "containerProperties": {"image": "host", "command": arguments, "resourceRequirements": self.SMALL,
                                           **container}}
        if retry:
            request["retryStrategy"] = retry
        if timeout:
            request["timeout"] = {"attemptDurationSeconds": timeout}
        return self.batch.register_job_definition(**request)["jobDefinitionArn"]

    def submit(self, command="true", name="test", queue="default", definition=None, **request):
        """Submits a definition, or makes one of `command` first. Returns the job's id."""
        definition = definition or self.register(command)
        return self.batch.submit_job(jobName=name, jobQueue=queue, jobDefinition=definition, **request)["jobId"]

    def describe(self, job):
        found = self.batch.describe_jobs(jobs=[job])["jobs"]
        assert len(found) == 1, f"job {job} is not there"
        return found[0]

    def wait(self, job, *statuses, seconds=DEADLINE_SECONDS):
        """Waits until the job has one of the statuses (else: has ended), and returns its description."""
        wanted = statuses or FINAL
        last = {}

        def reached():
            last.update(self.describe(job))
            if last["status"] in FINAL and last["status"] not in wanted:
                pytest.fail(f"job {job} became {last['status']}, not one of {wanted}: {last}")
            return last["status"] in wanted
        wait_for(lambda: f"{wanted}: {last}", reached, seconds)
        return self.describe(job)

    def wait_for_attempt(self, job, number):
        """Waits until that attempt runs."""
        self.wait_past(job, number - 1)
        return self.wait(job, "RUNNING")

    def wait_past(self, job, ended):
        wait_for(lambda: f"{ended} ended attempts: {self.describe(job)}",
                 lambda: len(self.describe(job)["attempts"]) >= ended)

    def output(self, job, attempt=-1):
        """What an ended attempt printed, out of its log stream."""
        stream = self.describe(job)["attempts"][attempt]["container"]["logStreamName"]
        events, token = [], None
        while True:
            more = {"nextToken": token} if token else {}
            page = self.server.logs.get_log_events(logGroupName="/aws/batch/job", logStreamName=stream,
                                                   startFromHead=True, **more)
            events += [event["message"] for event in page["events"]]
            if page["nextForwardToken"] == token:
                return "\n".join(events)
            token = page["nextForwardToken"]

    def run(self, command, **request):
        """Submits, waits for the end, and returns (description, output)."""
        job = self.submit(command, **request)
        return self.wait(job), self.output(job)


@contextlib.contextmanager
def running_server(configuration="", variables=None, directory=None, descriptors=None):
    server = Server(configuration, variables, directory, descriptors)
    try:
        server.start()
        yield server
    finally:
        if server.process is not None:
            server.close()


@pytest.fixture(scope="session")
def server():
    with running_server() as started:
        yield started


@pytest.fixture
def own_server():
    with running_server() as started:
        yield started


@pytest.fixture(scope="session")
def batch(server):
    return server.batch


@pytest.fixture(scope="session")
def logs(server):
    return server.logs


@pytest.fixture(scope="session")
def aws(server):
    return server.aws


@pytest.fixture(scope="session")
def jobs(server):
    return Jobs(server)


@pytest.fixture
def own_jobs(own_server):
    return Jobs(own_server)


@pytest.fixture
def unique():
    """A name that no other test uses."""
    return f"t-{uuid.uuid4().hex[:12]}"
