"""`teson explain`, `wait` and `history` on a real server; statusReason says the same as explain."""
import json
import os
import subprocess

from conftest import BINARY, DEADLINE_SECONDS, Jobs, running_server, wait_for


def teson(server, *arguments):
    environment = {**os.environ, "TESON_DATA": str(server.data)}
    return subprocess.run([BINARY, *arguments], env=environment, capture_output=True, text=True, timeout=DEADLINE_SECONDS)


def asking(mib):
    return {"resourceRequirements": [{"type": "VCPU", "value": "0.25"}, {"type": "MEMORY", "value": str(mib)}]}


def explained(server, job):
    return json.loads(teson(server, "explain", "--output", "json", job).stdout)


def test_c1_and_who_holds_what_and_places(tmp_path):
    with running_server("host: {vcpus: 1, memory_mib: 256}") as server:
        jobs = Jobs(server)
        huge = jobs.submit(containerOverrides=asking(32_000))
        reason = jobs.wait(huge, "RUNNABLE")["statusReason"]
        assert reason.startswith("MISCONFIGURATION:COMPUTE_ENVIRONMENT_MAX_RESOURCE - memory: asked 32000 MiB, largest 256 MiB")
        go = tmp_path / "go"
        holder = jobs.submit(f"while [ ! -e {go} ]; do sleep 0.02; done", name="holder", containerOverrides=asking(200),
                             timeout={"attemptDurationSeconds": 600})
        jobs.wait(holder, "RUNNING")
        first = jobs.submit(containerOverrides=asking(128))
        second = jobs.submit(containerOverrides=asking(64))
        assert jobs.describe(first)["statusReason"] == (
            "CAPACITY:INSUFFICIENT_INSTANCE_CAPACITY - first of 2 in queue 'default': memory: asked 128 MiB, free 56 of "
            f"256 MiB; held by {holder[:8]} (holder, 200 MiB)")
        assert "place 2 of 2" in jobs.describe(second)["statusReason"]
        why = explained(server, first)
        assert why["sentence"] == jobs.describe(first)["statusReason"] and why["status"] == "RUNNABLE"
        held = [line for line in why["lines"] if line.startswith(f"held by {holder} (holder): 200 MiB since ")]
        assert len(held) == 1 and held[0].endswith("at the latest")
        assert explained(server, holder)["sentence"].startswith("Runs since ")
        go.touch()
        for job in (holder, first, second):
            jobs.wait(job, "SUCCEEDED")
        assert explained(server, holder)["sentence"] == "Succeeded at attempt 1: exit code 0"
        jobs.batch.terminate_job(jobId=huge, reason="too large")
        jobs.wait(huge, "FAILED")
        assert explained(server, huge)["sentence"] == "Stopped before it started: too large"


def test_what_ended_a_job(server, jobs):
    failed = jobs.submit("exit 3", retryStrategy={"attempts": 2})
    dependent = jobs.submit("true", dependsOn=[{"jobId": failed}])
    jobs.wait(failed)
    jobs.wait(dependent)
    why = explained(server, failed)
    assert why["sentence"].startswith("The program ended with exit code 3")
    assert sum(line.startswith("attempt ") for line in why["lines"]) == 2
    assert f"what ended that one: teson explain {failed}" in explained(server, dependent)["lines"]
    said = teson(server, "explain", failed)
    assert said.returncode == 0 and said.stdout.startswith(f"test ({failed[:8]}) is FAILED: The program ended with exit code 3")
    assert teson(server, "explain", "00000000-0000-4000-8000-000000000000").returncode == 254


def test_wait_survives_a_restart_and_history_lists_the_end(own_server, own_jobs, tmp_path):
    go = tmp_path / "go"
    good = own_jobs.submit("true", name="good")
    bad = own_jobs.submit(f"while [ ! -e {go} ]; do sleep 0.02; done; exit 7", name="bad")
    assert teson(own_server, "wait", "--any", good, bad).returncode == 0
    assert teson(own_server, "wait", "--timeout", "1s", good, bad).returncode == 124
    own_jobs.wait(bad, "RUNNING")
    environment = {**os.environ, "TESON_DATA": str(own_server.data)}
    with subprocess.Popen([BINARY, "wait", good, bad], env=environment, stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE, text=True) as waiting:
        assert waiting.stderr.readline() == "1 of 2 jobs have ended, 0 failed, 1 running\n"
        own_server.restart()
        go.touch()
        out, said = waiting.communicate(timeout=DEADLINE_SECONDS)
        assert waiting.returncode == 7 and "FAILED" in out, said
    listed = json.loads(teson(own_server, "history", "--output", "json", "--since", "1h").stdout)["jobs"]
    assert [job["jobName"] for job in listed] == ["bad", "good"]
    assert [job["jobName"] for job in json.loads(
        teson(own_server, "history", "--output", "json", "--name", "GO*").stdout)["jobs"]] == ["good"]
    table = teson(own_server, "history", "--status", "failed").stdout.splitlines()
    assert len(table) == 2 and "bad" in table[1] and "exit code 7" in table[1]
