"""C41: /dev/shm is the host's, whatever sharedMemorySize says, and a bus error is explained."""
import os
import sys

import pytest

# A page of the mapping that its file no longer has.
BUS_ERROR = """
import mmap, os, tempfile
file = tempfile.TemporaryFile()
file.truncate(1 << 20)
memory = mmap.mmap(file.fileno(), 1 << 20)
file.truncate(0)
memory[70000] = 1
"""


def test_dev_shm_is_the_hosts_and_its_size_is_kept(jobs):
    definition = jobs.register("df -k --output=size /dev/shm | tail -1", linuxParameters={"sharedMemorySize": 64})
    job = jobs.submit(definition=definition)
    described = jobs.wait(job, "SUCCEEDED")
    shm = os.statvfs("/dev/shm")
    assert int(jobs.output(job)) == shm.f_blocks * shm.f_frsize // 1024
    assert described["container"]["linuxParameters"] == {"sharedMemorySize": 64}


@pytest.mark.parametrize("command, said", [
    ([sys.executable, "-c", BUS_ERROR], "killed by signal 7 (SIGBUS): bus error: /dev/shm"),
    (["/bin/sh", "-c", f'{sys.executable} -c "$0"; exit $?', BUS_ERROR], "135 is 128 + SIGBUS: bus error: /dev/shm")])
def test_a_bus_error_is_explained(jobs, command, said):
    job = jobs.submit(definition=jobs.register(command))
    container = jobs.wait(job, "FAILED")["container"]
    assert container["exitCode"] == 135
    assert container["reason"].startswith(said)
    assert "MiB free" in container["reason"] and "cut short" in container["reason"] and len(container["reason"]) <= 255


def test_a_program_that_chooses_its_end_is_not_explained_so(jobs):
    container = jobs.wait(jobs.submit("exit 134"), "FAILED")["container"]
    assert "bus error" not in container.get("reason", "")
