"""What survives the server: everything that was answered, and the jobs themselves."""
import signal
import socket
import urllib.parse

from conftest import Jobs, running_server, wait_for


def test_everything_is_there_after_a_restart(own_server, own_jobs):
    batch, jobs = own_server.batch, own_jobs
    definition = jobs.register("exit 4", name="d", tags={"t": "1"})
    ended = jobs.submit(definition=definition, name="ended", tags={"a": "b"})
    before = jobs.wait(ended, "FAILED")
    output = jobs.output(ended)
    environments = batch.describe_compute_environments()["computeEnvironments"]
    queues = batch.describe_job_queues()["jobQueues"]
    definitions = batch.describe_job_definitions()["jobDefinitions"]
    own_server.restart()
    batch = own_server.batch
    assert jobs.describe(ended) == before
    assert jobs.output(ended) == output
    assert batch.describe_job_queues()["jobQueues"] == queues
    assert batch.describe_job_definitions()["jobDefinitions"] == definitions

    def without_desired(found):  # instances come and go
        return [{**one, "computeResources": {k: v for k, v in one["computeResources"].items() if k != "desiredvCpus"}}
                for one in found]
    found = batch.describe_compute_environments()["computeEnvironments"]
    assert without_desired(found) == without_desired(environments)
    assert jobs.register("true", name="d").endswith(":2")


def test_jobs_go_on_while_the_server_is_dead(own_server, own_jobs, tmp_path):
    jobs = own_jobs
    go = tmp_path / "go"
    script = f"echo one; while [ ! -e {go} ]; do sleep 0.05; done; touch $0; echo two; exit $1"

    def submit(code):
        arguments = ["/bin/sh", "-c", script, str(tmp_path / f"done{code}"), str(code)]
        return jobs.submit(definition=jobs.register(arguments))
    running = {code: submit(code) for code in (0, 5, 7)}
    for job in running.values():
        jobs.wait(job, "RUNNING")
    waiting = jobs.submit("true", dependsOn=[{"jobId": running[0]}])
    own_server.kill9()
    go.touch()
    wait_for("the programs' ends", lambda: all((tmp_path / f"done{code}").exists() for code in running))
    own_server.restart()
    for code, job in running.items():
        description = jobs.wait(job)
        assert description["container"]["exitCode"] == code
        assert len(description["attempts"]) == 1
        assert jobs.output(job) == "one\ntwo"
    assert len(jobs.wait(waiting, "SUCCEEDED")["attempts"]) == 1


def test_every_answered_submit_survives_kill_9(own_server, own_jobs):
    jobs = own_jobs
    definition = jobs.register("true")
    hold = jobs.submit("sleep 600")
    answered = []
    for _ in range(3):
        answered += [jobs.submit(definition=definition, dependsOn=[{"jobId": hold}]) for _ in range(20)]
        own_server.end(signal.SIGKILL)
        own_server.start()
    found = own_server.batch.describe_jobs(jobs=answered)["jobs"]
    assert [job["jobId"] for job in found] == answered
    assert {job["status"] for job in found} == {"PENDING"}
    own_server.batch.terminate_job(jobId=hold, reason="done")
    jobs.wait(answered[-1], "FAILED")


def test_the_port_and_the_connections_die_with_the_server_and_not_with_its_jobs(own_server, own_jobs, tmp_path):
    """What agents inherited would stay open as long as they live: nobody else could listen, and clients would wait for ever."""
    at = urllib.parse.urlsplit(own_server.endpoint)
    clients = [socket.create_connection((at.hostname, at.port), timeout=20) for _ in range(20)]
    script = f"while [ ! -e {tmp_path}/go ]; do sleep 0.05; done"
    first = own_jobs.submit(script)
    own_jobs.wait(first, "RUNNING")
    clients += [socket.create_connection((at.hostname, at.port), timeout=20) for _ in range(20)]
    second = own_jobs.submit(script)
    own_jobs.wait(second, "RUNNING")
    own_server.kill9()
    for client in clients:
        try:
            assert client.recv(1) == b""
        except ConnectionResetError:
            pass
        client.close()
    own_server.port = at.port
    own_server.start()
    assert own_server.endpoint.endswith(f":{at.port}")
    (tmp_path / "go").touch()
    for job in (first, second):
        assert len(own_jobs.wait(job, "SUCCEEDED")["attempts"]) == 1


def test_c32_the_server_dies_after_20_of_50_trials(tmp_path):
    ran = tmp_path / "ran"
    ran.touch()
    with running_server("host: {vcpus: 4}\n") as server:
        jobs = Jobs(server)
        definition = jobs.register(["/bin/sh", "-c", 'echo "begin $1" >> $0; sleep 0.1; echo "end $1" >> $0', str(ran),
                                    "Ref::trial"], resourceRequirements=[{"type": "VCPU", "value": "1"},
                                                                         {"type": "MEMORY", "value": "16"}])
        trials = [jobs.submit(definition=definition, parameters={"trial": str(number)}) for number in range(50)]
        wait_for("20 that ended", lambda: ran.read_text().count("end") >= 20)
        server.kill9()
        server.start()
        for trial in trials:
            assert len(jobs.wait(trial, "SUCCEEDED")["attempts"]) == 1
    said = ran.read_text().splitlines()
    assert sorted(said) == sorted(f"{what} {number}" for what in ("begin", "end") for number in range(50))
    running = most = 0
    for line in said:
        running += 1 if line.startswith("begin") else -1
        most = max(most, running)
    assert most <= 4
