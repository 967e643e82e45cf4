"""A teson server of one's own for the time of a demonstration: start, kill, start again, leave nothing running."""
import configparser
import json
import os
import pathlib
import signal
import subprocess
import time

import boto3
from botocore.config import Config
from botocore.credentials import Credentials

START_SECONDS = 20


def descendants(pid):
    """Every process below `pid`, from /proc at this moment."""
    children = {}
    for stat in pathlib.Path("/proc").glob("[0-9]*/stat"):
        try:
            fields = stat.read_text().rsplit(")", 1)[1].split()
        except OSError:
            continue  # it ended meanwhile
        children.setdefault(int(fields[1]), []).append(int(stat.parent.name))
    found, open_ends = [], [pid]
    while open_ends:
        below = children.get(open_ends.pop(), [])
        found += below
        open_ends += below
    return found


def kill_now(pids):
    for pid in pids:
        try:
            os.kill(pid, signal.SIGKILL)
        except ProcessLookupError:
            pass


class PrivateServer:
    """`teson serve` on a data directory and a free port of the loopback interface, with boto3 clients for it."""

    def __init__(self, program, data):
        self.program, self.data = program, data
        self.log = data.parent / "server.log"
        self.process = None
        self.endpoint = None

    @property
    def pid(self):
        return self.process.pid

    def start(self):
        """Returns once the server answers. Its keys are those that it wrote to <data>/credentials."""
        with open(self.log, "ab") as log:
            self.process = subprocess.Popen(
                [str(self.program), "serve", "--data", str(self.data), "--listen", "127.0.0.1:0"],
                stdin=subprocess.DEVNULL, stdout=log, stderr=subprocess.STDOUT, start_new_session=True)
        deadline = time.monotonic() + START_SECONDS
        while not self.is_ready():
            if self.process.poll() is not None:
                raise SystemExit(f"the server ended with {self.process.returncode}:\n{self.log_end()}")
            if time.monotonic() > deadline:
                raise SystemExit(f"the server was not ready after {START_SECONDS} s:\n{self.log_end()}")
            time.sleep(0.02)
        keys = configparser.ConfigParser()
        keys.read(self.data / "credentials")
        self.keys = Credentials(keys["default"]["aws_access_key_id"], keys["default"]["aws_secret_access_key"])
        session = boto3.Session(aws_access_key_id=self.keys.access_key, aws_secret_access_key=self.keys.secret_key,
                                region_name=self.ready.get("region", "us-east-1"))
        config = Config(retries={"max_attempts": 2}, connect_timeout=5, read_timeout=20)
        self.batch = session.client("batch", endpoint_url=self.endpoint, config=config)
        self.logs = session.client("logs", endpoint_url=self.endpoint, config=config)

    def is_ready(self):
        """server.json is of this process, not what a killed one left."""
        try:
            self.ready = json.loads((self.data / "server.json").read_text())
        except (OSError, ValueError):
            return False
        self.endpoint = self.ready.get("endpoint")
        return self.ready.get("pid") == self.process.pid

    def kill(self):
        """Ends the server as a power cut would; returns the process id it had."""
        self.process.kill()
        self.process.wait()
        return self.process.pid

    def agent_pid(self, job_id, attempt):
        return json.loads((self.data / "attempts" / job_id / str(attempt) / "lock").read_text())["pid"]

    def log_end(self, lines=15):
        try:
            return "\n".join(self.log.read_text(errors="replace").splitlines()[-lines:])
        except OSError:
            return "(it wrote none)"

    def close(self):
        """Stops the server and whatever attempts are alive: after it nothing of this data directory runs."""
        if self.process is not None and self.process.poll() is None:
            self.process.terminate()
            try:
                self.process.wait(timeout=10)
            except subprocess.TimeoutExpired:
                self.kill()
        for pid in self.live_agents():
            kill_now([pid, *descendants(pid)])

    def live_agents(self):
        """Agents of this data directory: processes whose command line names a directory below it."""
        mark = str(self.data / "attempts").encode()
        for cmdline in pathlib.Path("/proc").glob("[0-9]*/cmdline"):
            try:
                words = cmdline.read_bytes().split(b"\0")
            except OSError:
                continue
            if len(words) > 2 and words[1] == b"agent" and any(word.startswith(mark) for word in words[2:]):
                yield int(cmdline.parent.name)
