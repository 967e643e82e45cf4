"""C43 at length: the server and agents are killed with SIGKILL, again and again, under load.

Every program writes "<job> <attempt> <run>" with one append to one file as its first and its last deed, so the file says what
really ran: an attempt in it twice ran twice.
"""
import collections
import concurrent.futures
import contextlib
import json
import os
import random
import signal

import botocore.exceptions
import pytest

from conftest import Jobs, running_server, wait_for

ROUNDS = 200
SUBMITS_PER_ROUND = 4
SEED = 20261130

# A job is interrupted without using up its attempts, so that each must in the end succeed.
PROGRAM = 'echo "$AWS_BATCH_JOB_ID $AWS_BATCH_JOB_ATTEMPT begin" >> {ran}; sleep 0.0$1; ' \
          'echo "$AWS_BATCH_JOB_ID $AWS_BATCH_JOB_ATTEMPT end" >> {ran}'


@pytest.fixture
def crowded_server():
    with running_server("host: {vcpus: 8}\nretries: {interruptions_use_attempts: false}\n") as started:
        yield started


def submit_some(server, definition, acknowledged):
    """Submits until the server is gone; remembers only what was answered."""
    client = server.client("batch", retries={"max_attempts": 0})
    for _ in range(SUBMITS_PER_ROUND):
        try:
            acknowledged.append(client.submit_job(jobName="round", jobQueue="default", jobDefinition=definition)["jobId"])
        except (botocore.exceptions.ClientError, botocore.exceptions.BotoCoreError):
            return


def kill_an_agent(server, prng):
    """The agent itself, not the init beneath it: whoever kills that kills the program, and its 137 is the program's end."""
    running = server.processes()
    named = set()
    for lock in server.data.glob("attempts/*/*/lock"):
        with contextlib.suppress(OSError, ValueError):
            named.add(json.loads(lock.read_text()).get("pid"))
    agents = sorted(named & running.keys())
    if agents:
        with contextlib.suppress(ProcessLookupError):
            os.kill(prng.choice(agents), signal.SIGKILL)


def test_c43_two_hundred_kills_lose_and_double_no_job(crowded_server, tmp_path):
    server = crowded_server
    prng = random.Random(SEED)
    ran = tmp_path / "ran"
    ran.touch()
    jobs = Jobs(server)
    definitions = [jobs.register(["/bin/sh", "-c", PROGRAM.format(ran=ran), "job", str(tenth)]) for tenth in range(10)]
    acknowledged = []
    with concurrent.futures.ThreadPoolExecutor(1) as load:
        for number in range(ROUNDS):
            before = len(acknowledged)
            submitting = load.submit(submit_some, server, prng.choice(definitions), acknowledged)
            if number % 3 == 0:
                kill_an_agent(server, prng)
            # The kill falls between two answers, not at a time: so a slow machine tests the same.
            enough = before + prng.randint(0, SUBMITS_PER_ROUND - 1)
            wait_for("answers to submits", lambda enough=enough, submitting=submitting: len(acknowledged) >= enough or submitting.done())
            server.kill9()
            submitting.result()
            server.start()

    assert len(acknowledged) > ROUNDS, "the load hardly got through: the test shows nothing"
    assert len(set(acknowledged)) == len(acknowledged)

    def statuses():
        found = {}
        for start in range(0, len(acknowledged), 100):
            for job in server.batch.describe_jobs(jobs=acknowledged[start:start + 100])["jobs"]:
                found[job["jobId"]] = job
        return found
    last = {}

    def all_ended():
        last.update(statuses())
        return all(job["status"] in ("SUCCEEDED", "FAILED") for job in last.values())
    wait_for(lambda: collections.Counter(job["status"] for job in last.values()), all_ended, 180)

    assert sorted(last) == sorted(acknowledged), "an acknowledged job is gone"
    failed = [job for job in last.values() if job["status"] != "SUCCEEDED"]
    assert not failed, failed[:2]

    begun, ended = collections.Counter(), collections.Counter()
    for line in ran.read_text().splitlines():
        job, attempt, what = line.split()
        (begun if what == "begin" else ended)[job, attempt] += 1
    assert not [key for key, times in begun.items() if times > 1], "an attempt ran twice"
    for job in last.values():
        attempts = job["attempts"]
        completed = [number for number in range(1, len(attempts) + 1) if ended[job["jobId"], str(number)]]
        assert str(len(attempts)) in {str(n) for n in completed}, f"no completed run behind the success of {job}"
        # Only a lost attempt may be followed by another.
        for attempt in attempts[:-1]:
            assert attempt["statusReason"].startswith("Host EC2"), attempt
