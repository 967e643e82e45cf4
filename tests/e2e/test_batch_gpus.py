"""GPUs, on a host that has one by NVIDIA's stand-in library: who has it, who waits, and that it is free when it is given on.

A lock on a file named after CUDA_VISIBLE_DEVICES stands for the device's memory: a program that lives on holds it.
"""
import fcntl
import subprocess
import time

import pytest

from conftest import ROOT, Jobs, is_alive, running_server, wait_for

WORKERS = 8
GRACE_SECONDS = 1
ONE_GPU = {"resourceRequirements": [*Jobs.SMALL, {"type": "GPU", "value": "1"}]}

# Workers in sessions of their own which ignore SIGTERM, and whose children hold the lock too.
HOLDER = """
for i in $(seq {workers}); do
  setsid sh -c 'trap "" TERM HUP; exec 9>>{folder}/gpu-$CUDA_VISIBLE_DEVICES; flock -s 9
                echo $$ > {folder}/worker.'$i'.new; mv {folder}/worker.'$i'.new {folder}/worker.'$i'; sleep 3600' &
done
echo "$CUDA_VISIBLE_DEVICES"
wait
"""
TAKER = """
exec 9>>{folder}/gpu-$CUDA_VISIBLE_DEVICES
flock -n 9 || {{ echo "GPU $CUDA_VISIBLE_DEVICES is held by another"; exit 9; }}
echo "$CUDA_VISIBLE_DEVICES"
"""


# How attempts are kept apart: as this machine permits, or by nothing but the tree of processes.
APART = {"as permitted": {}, "by nothing": {"TESON_AGENT_PIDNS": "0", "TESON_AGENT_CGROUP": "none"}}


@pytest.fixture
def gpu_server(request, tmp_path):
    """A server whose host has one GPU; a parameter names one of APART."""
    library = tmp_path / "libnvidia-ml.so.1"
    subprocess.run(["c++", "-shared", "-fPIC", "-o", library, ROOT / "tests" / "stubs" / "nvml_stub.cc"], check=True)
    apart = APART[getattr(request, "param", "as permitted")]
    with running_server("host:\n  gpus: 1\n", {"TESON_NVML_LIBRARY": str(library), **apart}) as server:
        yield server


def is_held(lock):
    with open(lock, "ab") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return True
    return False


@pytest.mark.parametrize("gpu_server", APART, indirect=True)
def test_c20_the_next_job_takes_the_gpu_of_one_whose_workers_would_not_go(gpu_server, tmp_path):
    jobs = Jobs(gpu_server)
    holder = jobs.submit(HOLDER.format(workers=WORKERS, folder=tmp_path), name="holder", containerOverrides=ONE_GPU,
                         tags={"teson:grace-seconds": str(GRACE_SECONDS)})
    files = [tmp_path / f"worker.{number}" for number in range(1, WORKERS + 1)]
    wait_for("the workers", lambda: all(file.exists() for file in files))
    assert is_held(tmp_path / "gpu-0"), "they have the GPU that the host counts as 0"

    taker = jobs.submit(TAKER.format(folder=tmp_path), name="taker", containerOverrides=ONE_GPU)
    waiting = wait_for("why the second waits", lambda: jobs.describe(taker).get("statusReason"))
    assert "GPU" in waiting, waiting
    assert jobs.describe(taker)["status"] == "RUNNABLE"

    mine = {pid for pid in gpu_server.processes() if is_alive(pid)}
    assert len(mine) > 2 * WORKERS, "the workers and their children"
    asked = time.time()
    gpu_server.batch.terminate_job(jobId=holder, reason="enough")
    ended = jobs.wait(holder, "FAILED")
    assert not [pid for pid in mine if is_alive(pid)], "none outlives the job's end"
    assert ended["stoppedAt"] / 1000 - asked < GRACE_SECONDS + 1
    started = jobs.wait(taker, "SUCCEEDED")
    assert started["startedAt"] >= ended["stoppedAt"]
    assert jobs.output(taker) == jobs.output(holder) == "0"
    assert not is_held(tmp_path / "gpu-0")


def test_two_gpu_jobs_never_share_the_one_gpu(gpu_server, tmp_path):
    jobs = Jobs(gpu_server)
    definition = jobs.register(TAKER.format(folder=tmp_path) + "sleep 0.2", **ONE_GPU)
    for job in [jobs.submit(definition=definition) for _ in range(6)]:
        jobs.wait(job, "SUCCEEDED")
        assert jobs.output(job) == "0"


def test_more_gpus_than_the_host_has_is_said_at_once(gpu_server):
    jobs = Jobs(gpu_server)
    two = {"resourceRequirements": [*Jobs.SMALL, {"type": "GPU", "value": "2"}]}
    job = jobs.submit(containerOverrides=two)
    reason = wait_for("the reason", lambda: jobs.describe(job).get("statusReason"))
    assert "GPU" in reason, reason
    jobs.batch.terminate_job(jobId=job, reason="seen")
    jobs.wait(job, "FAILED")
