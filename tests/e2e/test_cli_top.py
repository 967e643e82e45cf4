"""`teson top`: one frame for scripts; on a terminal a screen that leaves everything as it was."""
import contextlib
import fcntl
import json
import os
import pty
import re
import select
import signal
import struct
import subprocess
import termios
import time
import urllib.error
import urllib.request

import pytest

from conftest import BINARY, DEADLINE_SECONDS, Jobs, running_server, wait_for


def environment(server):
    return {**os.environ, "TESON_DATA": str(server.data), "TERM": "xterm"}


def top(server, *arguments):
    process = subprocess.run([BINARY, "top", *arguments], env=environment(server), capture_output=True, text=True,
                             timeout=DEADLINE_SECONDS)
    assert process.returncode == 0, process.stderr
    return process.stdout


def test_one_frame_shows_queues_instances_what_runs_and_what_is_next():
    with running_server("host: {vcpus: 1, memory_mib: 512}") as server:
        jobs = Jobs(server)
        runs = jobs.submit("sleep 100", name="runs", containerOverrides={
            "resourceRequirements": [{"type": "VCPU", "value": "1"}, {"type": "MEMORY", "value": "64"}]})
        jobs.wait(runs, "RUNNING")
        waits = [jobs.submit("true", name=f"waits-{number}") for number in range(7)]
        view = json.loads(top(server, "--output", "json"))
        queue, = [found for found in view["queues"] if found["jobQueueName"] == "default"]
        assert (queue["runnable"] + queue["starting"], queue["running"]) == (7, 1)
        job, = view["running"]
        assert (job["jobId"], job["jobName"], job["owner"], job["attempt"]) == (runs, "runs", "default", 1)
        assert job["used"] == {"gpus": 0, "memoryMiB": 64, "vcpus": 1}
        instance, = view["instances"]
        assert instance["instanceId"] == job["instanceId"] and instance["used"]["vcpus"] == 1
        assert view["host"]["has"]["vcpus"] == 1 and view["runningInAll"] == view["instancesInAll"] == 1
        assert set(found["jobId"] for found in view["next"]) <= set(waits) and len(view["next"]) <= 5
        assert all(found["jobName"].startswith("waits-") for found in view["next"])

        text = top(server)
        assert re.search(r"^default +ENABLED +\d+ +\d+ +\d+ +1$", text, re.M), text
        assert re.search(rf"^{runs[:8]} +runs +default +default +1 +\S+ +1 +64.0 MiB +0$", text, re.M), text
        assert "\x1b" not in text and text == text.expandtabs()


def test_a_key_is_needed_and_the_least_one_is_enough(own_server):
    with pytest.raises(urllib.error.HTTPError) as refused:
        urllib.request.urlopen(own_server.endpoint + "/teson/v1/overview", timeout=DEADLINE_SECONDS)
    assert refused.value.code == 403
    made = json.loads(subprocess.run([BINARY, "user", "add", "eve", "--role", "read-only", "--output", "json"],
                                     env=environment(own_server), capture_output=True, check=True,
                                     timeout=DEADLINE_SECONDS).stdout)
    process = subprocess.run(
        [BINARY, "top", "--endpoint", own_server.endpoint, "--output", "json"], capture_output=True, check=True,
        timeout=DEADLINE_SECONDS, env={**os.environ, "AWS_ACCESS_KEY_ID": made["accessKeyId"],
                                       "AWS_SECRET_ACCESS_KEY": made["secretAccessKey"]})
    assert [queue["jobQueueName"] for queue in json.loads(process.stdout)["queues"]] == ["default", "spot"]


class Terminal:
    """`teson top` on a pseudo-terminal of its own."""

    def __init__(self, server, lines=24, columns=80):
        self.master, self.slave = pty.openpty()
        self.resize(lines, columns)
        self.before = termios.tcgetattr(self.slave)
        self.process = subprocess.Popen([BINARY, "top", "--every", "1h"], env=environment(server), stdin=self.slave,
                                        stdout=self.slave, stderr=self.slave, start_new_session=True,
                                        preexec_fn=lambda: fcntl.ioctl(0, termios.TIOCSCTTY, 0))
        self.text = ""

    def resize(self, lines, columns):
        fcntl.ioctl(self.master, termios.TIOCSWINSZ, struct.pack("HHHH", lines, columns, 0, 0))

    def read_until(self, wanted):
        deadline = time.monotonic() + DEADLINE_SECONDS
        while not wanted(self.text):
            left = deadline - time.monotonic()
            assert left > 0, f"not shown: {self.text!r}"
            if select.select([self.master], [], [], min(left, 1))[0]:
                self.text += os.read(self.master, 65536).decode(errors="replace")
        return self.text

    def end(self):
        code = self.process.wait(DEADLINE_SECONDS)
        self.read_until(lambda text: text.endswith("\x1b[?25h\x1b[?1049l"))
        assert termios.tcgetattr(self.slave) == self.before
        return code

    def close(self):
        with contextlib.suppress(ProcessLookupError):
            self.process.kill()
        self.process.wait(DEADLINE_SECONDS)
        os.close(self.master)
        os.close(self.slave)


@pytest.fixture
def terminal(server):
    opened = Terminal(server)
    yield opened
    opened.close()


@pytest.mark.parametrize("way", ["q", "ctrl-c", "term"])
def test_the_terminal_is_as_it_was(terminal, way):
    terminal.read_until(lambda text: "QUEUE" in text and "\x1b[J" in text)
    assert terminal.text.startswith("\x1b[?1049h\x1b[?25l")
    assert not termios.tcgetattr(terminal.slave)[3] & (termios.ECHO | termios.ICANON)
    if way == "term":
        terminal.process.send_signal(signal.SIGTERM)
    else:
        os.write(terminal.master, b"q" if way == "q" else b"\x03")
    assert terminal.end() == 0


def test_a_new_size_is_drawn_at_once(terminal):
    terminal.read_until(lambda text: "\x1b[J" in text)
    terminal.text = ""
    terminal.resize(5, 30)
    frame = terminal.read_until(lambda text: "\x1b[J" in text)
    lines = re.sub(r"\x1b\[[^A-Za-z]*[A-Za-z]", "", frame[frame.rindex("\x1b[H"):]).replace("\r", "").split("\n")
    assert len(lines) <= 5 and max(map(len, lines)) <= 30, lines
    os.write(terminal.master, b"q")
    assert terminal.end() == 0


def test_a_frame_with_thousands_of_jobs_is_bounded(own_server, own_jobs):
    blocker = own_jobs.submit("sleep 100", arrayProperties={"size": 10_000})
    wait_for("the array is under way", lambda: own_jobs.describe(blocker)["arrayProperties"]["statusSummary"].get("RUNNING"))
    text = top(own_server, "--output", "json")
    top(own_server)
    assert len(text) < 200_000 and len(json.loads(text)["running"]) <= 200
