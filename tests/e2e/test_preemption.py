"""On-demand work takes its room from spot work: notice, SIGTERM, grace, retry, resume; `teson interrupt`."""
import json
import os
import re
import subprocess

import pytest

from conftest import BINARY, DEADLINE_SECONDS, Jobs, running_server, wait_for
from test_users import add

WHOLE_HOST = {"resourceRequirements": [{"type": "VCPU", "value": "1"}, {"type": "MEMORY", "value": "64"}]}
RULES = {"attempts": 3, "evaluateOnExit": [{"onStatusReason": "Host EC2*", "action": "RETRY"},
                                           {"onReason": "*", "action": "EXIT"}]}
LOST = re.compile(r"Host EC2 \(instance i-[0-9a-f]{17}\) terminated\.")


@pytest.fixture
def small():
    """A server whose host is one vCPU: one job fills it."""
    with running_server("host: {vcpus: 1, memory_mib: 512}") as server:
        yield server


def teson(server, *arguments):
    environment = {**os.environ, "TESON_DATA": str(server.data)}
    return subprocess.run([BINARY, *arguments], env=environment, capture_output=True, text=True,
                          timeout=DEADLINE_SECONDS)


def explained(server, job):
    return json.loads(teson(server, "explain", "--output", "json", job).stdout)


def submit(jobs, queue, script, name, grace=30, retry=None):
    more = {"retryStrategy": retry} if retry else {}
    return jobs.submit(script, queue=queue, name=name, containerOverrides=WHOLE_HOST,
                       tags={"teson:grace-seconds": str(grace)}, **more)


def until(path, before=""):
    return f"{before}while [ ! -e {path} ]; do sleep 0.02; done"


def lost_attempt(jobs, job, number=1):
    jobs.wait_past(job, number)
    attempt = jobs.describe(job)["attempts"][number - 1]
    assert LOST.fullmatch(attempt["statusReason"]), attempt
    return attempt


def test_spot_gives_way_and_resumes_from_its_checkpoint(small, tmp_path):
    jobs = Jobs(small)
    go, done = tmp_path / "go", tmp_path / "done"
    spot = submit(jobs, "spot", f"""
        n=$(cat $TESON_CHECKPOINTS/n 2>/dev/null || echo 0)
        echo from $n
        trap 'echo $n > $TESON_CHECKPOINTS/n; exit 143' TERM
        while [ ! -e {go} ]; do n=$((n + 1)); echo $n > {tmp_path}/seen; sleep 0.02; done""", "training", retry=RULES)
    wait_for("steps of the training", lambda: (tmp_path / "seen").exists() and (tmp_path / "seen").read_text() > "")
    urgent = submit(jobs, "default", until(done), "urgent")
    jobs.wait(urgent, "RUNNING")
    attempt = lost_attempt(jobs, spot)
    assert attempt["container"]["exitCode"] == 143
    assert attempt["container"]["reason"].startswith(f"interrupted for on-demand job {urgent} (urgent)")
    assert jobs.describe(spot)["status"] == "RUNNABLE"
    lines = explained(small, spot)["lines"]
    assert any(f"taken back: {attempt['statusReason']} interrupted for on-demand job {urgent}" in line
               for line in lines), lines
    done.touch()
    jobs.wait(urgent, "SUCCEEDED")
    jobs.wait_for_attempt(spot, 2)
    go.touch()
    assert len(jobs.wait(spot, "SUCCEEDED")["attempts"]) == 2
    resumed = int(jobs.output(spot).split()[-1])
    assert resumed >= 1, "it began anew"


def test_a_program_that_ends_with_zero_in_its_grace_has_succeeded(small):
    jobs = Jobs(small)
    spot = submit(jobs, "spot", "trap 'exit 0' TERM; while :; do sleep 0.02; done", "tidy", retry=RULES)
    jobs.wait(spot, "RUNNING")
    wait_for_trap(small, spot)
    assert jobs.wait(submit(jobs, "default", "true", "urgent"))["status"] == "SUCCEEDED"
    assert jobs.wait(spot)["status"] == "SUCCEEDED"


def wait_for_trap(server, job):
    """Until the program catches SIGTERM."""
    def catches():
        for pid, command in server.processes().items():
            if "trap" not in command or "while" not in command or "agent" in command:
                continue
            with open(f"/proc/{pid}/status", encoding="ascii") as status:
                fields = dict(line.split(":\t", 1) for line in status if ":\t" in line)
            if (int(fields["SigCgt"], 16) | int(fields["SigIgn"], 16)) >> 14 & 1:
                return True
        return False
    wait_for(f"the trap of {job}", catches)


def test_who_ignores_sigterm_is_killed_at_the_end_of_the_grace(small):
    jobs = Jobs(small)
    spot = submit(jobs, "spot", "trap '' TERM; while :; do sleep 0.02; done", "stubborn", grace=2, retry=RULES)
    jobs.wait(spot, "RUNNING")
    wait_for_trap(small, spot)
    urgent = submit(jobs, "default", "true", "urgent")
    reason = jobs.wait(urgent, "RUNNABLE")["statusReason"]
    assert f"interrupts spot work of {spot[:8]} (stubborn), room by " in reason
    assert "is being interrupted for on-demand job" in explained(small, spot)["sentence"]
    ended = jobs.wait(urgent, "SUCCEEDED")
    attempt = lost_attempt(jobs, spot)
    assert attempt["container"]["exitCode"] == 137
    assert attempt["container"]["reason"].endswith("did not stop within 2 s of SIGTERM: killed")
    assert ended["startedAt"] - ended["createdAt"] >= 2000
    jobs.wait_for_attempt(spot, 2)


@pytest.mark.parametrize("server_is_up_again", [True, False])
def test_kill_9_of_the_server_within_the_grace(small, tmp_path, server_is_up_again):
    jobs = Jobs(small)
    told, finish, done = tmp_path / "told", tmp_path / "finish", tmp_path / "done"
    spot = submit(jobs, "spot", f"trap 'touch {told}' TERM; " + until(finish) + "; exit 3", "slow", retry=RULES)
    jobs.wait(spot, "RUNNING")
    wait_for_trap(small, spot)
    urgent = submit(jobs, "default", until(done), "urgent")
    wait_for("SIGTERM", told.exists)
    small.kill9()
    if server_is_up_again:
        small.start()
        assert "interrupts spot work" in jobs.wait(urgent, "RUNNABLE")["statusReason"]
    finish.touch()
    if not server_is_up_again:
        wait_for("the end of the program", lambda: not small.processes())
        small.start()
    jobs.wait(urgent, "RUNNING")
    attempt = lost_attempt(jobs, spot)
    assert attempt["container"]["exitCode"] == 3
    assert attempt["container"]["reason"].startswith(f"interrupted for on-demand job {urgent}")
    assert jobs.describe(spot)["status"] == "RUNNABLE"
    done.touch()
    jobs.wait(urgent, "SUCCEEDED")
    # Nobody interrupts the second attempt: its 3 is its own.
    assert [a["statusReason"] for a in jobs.wait(spot, "FAILED")["attempts"]] == [
        attempt["statusReason"], "Essential container in task exited"]


def test_kill_9_of_the_server_does_not_lengthen_the_grace(small):
    jobs = Jobs(small)
    spot = submit(jobs, "spot", "trap '' TERM; while :; do sleep 0.02; done", "stubborn", grace=4, retry=RULES)
    jobs.wait(spot, "RUNNING")
    wait_for_trap(small, spot)
    urgent = submit(jobs, "default", "true", "urgent")
    jobs.wait(urgent, "RUNNABLE")
    small.kill9()
    small.start()
    ended = jobs.wait(urgent, "SUCCEEDED")
    assert 4000 <= ended["startedAt"] - ended["createdAt"] < 15_000
    assert lost_attempt(jobs, spot)["container"]["exitCode"] == 137


def test_preemption_can_be_turned_off(tmp_path):
    with running_server("host: {vcpus: 1, memory_mib: 512}\npreemption: false") as server:
        jobs = Jobs(server)
        go = tmp_path / "go"
        spot = submit(jobs, "spot", until(go), "training")
        jobs.wait(spot, "RUNNING")
        urgent = submit(jobs, "default", "true", "urgent")
        assert f"held by {spot[:8]} (training, 1 vCPU)" in jobs.wait(urgent, "RUNNABLE")["statusReason"]
        go.touch()
        assert len(jobs.wait(spot, "SUCCEEDED")["attempts"]) == 1
        jobs.wait(urgent, "SUCCEEDED")


def test_teson_interrupt(small):
    jobs = Jobs(small)
    spot = submit(jobs, "spot", "trap 'exit 9' TERM; while :; do sleep 0.02; done", "training", retry=RULES)
    jobs.wait(spot, "RUNNING")
    wait_for_trap(small, spot)
    ben = add(small, "ben")
    refused = ben.teson("interrupt", spot)
    assert refused.returncode == 254 and "is not authorized to perform: teson:Interrupt" in refused.stderr
    done = teson(small, "interrupt", spot[:8], "--reason", "a drill", "--output", "json")
    assert done.returncode == 0, done.stderr
    instance, = json.loads(done.stdout)["instances"]
    attempt = lost_attempt(jobs, spot)
    assert instance in attempt["statusReason"]
    assert attempt["container"]["reason"].startswith("interrupted by default: a drill")
    jobs.wait_for_attempt(spot, 2)
    again = re.search(r"on instance (i-\S+)", " ".join(explained(small, spot)["lines"]))[1]
    assert again != instance
    wait_for_trap(small, spot)
    assert teson(small, "interrupt", again).returncode == 0
    lost_attempt(jobs, spot, 2)
    gone = teson(small, "interrupt", instance)
    assert gone.returncode == 254 and f"Instance '{instance}' does not exist" in gone.stderr


def test_on_demand_work_is_interrupted_by_force_alone(small):
    jobs = Jobs(small)
    job = submit(jobs, "default", "trap 'exit 9' TERM; while :; do sleep 0.02; done", "important", retry=RULES)
    jobs.wait(job, "RUNNING")
    wait_for_trap(small, job)
    refused = teson(small, "interrupt", job)
    assert refused.returncode == 254 and "only spot work is preemptible: with --force" in refused.stderr
    assert jobs.describe(job)["status"] == "RUNNING"
    assert teson(small, "interrupt", job, "--force").returncode == 0
    lost_attempt(jobs, job)
    jobs.wait_for_attempt(job, 2)
