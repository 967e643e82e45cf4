"""Jobs that run as their user's Unix account: with its rights and no more. Needs root; and one test that needs none."""
import contextlib
import grp
import json
import os
import pathlib
import pwd
import shutil
import subprocess
import tempfile

import pytest
from botocore.exceptions import ClientError

from conftest import BINARY, DEADLINE_SECONDS, Jobs, is_alive, running_server, wait_for
from test_users import add, recorded, teson, user_json

ANA, BO = "games", "nobody"  # accounts that every Debian has
CONFIGURATION = f"system_accounts: [{ANA}, {BO}]\n"

needs_root = pytest.mark.skipif(os.geteuid() != 0, reason="only root may run jobs as others")


class OfPerson(Jobs):
    """Jobs that a person submits; the server's own clients look at them."""

    def __init__(self, server, person):
        super().__init__(server)
        self.person = person

    @property
    def batch(self):
        return self.person.batch


def person(server, name, account):
    made = add(server, name)
    if account:
        teson(server, "user", "account", name, account)
    return OfPerson(server, made)


@pytest.fixture(scope="module")
def shared():
    with running_server(CONFIGURATION) as server:
        yield server


@pytest.fixture(scope="module")
def ana(shared):
    return person(shared, "ana", ANA)


@pytest.fixture(scope="module")
def bo(shared):
    return person(shared, "bo", BO)


def refusal(call, *arguments, **request):
    with pytest.raises(ClientError) as caught:
        call(*arguments, **request)
    return caught.value.response["Error"]["Message"]


def owner_and_mode(path):
    info = os.lstat(path)
    return pwd.getpwuid(info.st_uid).pw_name, info.st_mode & 0o777


@needs_root
def test_a_job_is_its_users_account_in_every_respect(ana):
    entry = pwd.getpwnam(ANA)
    groups = sorted({entry.pw_gid} | {group.gr_gid for group in grp.getgrall() if ANA in group.gr_mem})
    job, output = ana.run("id -u; id -g; id -G | tr ' ' '\\n' | sort -n | tr '\\n' ' '; echo; echo $HOME $USER $LOGNAME;"
                          "grep -E '^(NoNewPrivs|CapEff|CapPrm):' /proc/self/status | tr -s '\\t\\n' '  '; echo;"
                          "echo by-stderr >> /dev/stderr; pwd; test $PWD = $TESON_WORK && echo there > mine; cat mine")
    assert job["status"] == "SUCCEEDED", (job, output)
    lines = output.split("\n")
    assert lines[:2] == [str(entry.pw_uid), str(entry.pw_gid)]
    assert lines[2].split() == [str(group) for group in groups]
    assert lines[3] == f"{entry.pw_dir} {ANA} {ANA}"
    assert lines[4].split() == ["CapPrm:", "0" * 16, "CapEff:", "0" * 16, "NoNewPrivs:", "1"]
    directory = ana.server.attempt_directory(job["jobId"])
    assert lines[5:] == ["by-stderr", f"{directory}/work", "there"]
    assert owner_and_mode(directory / "work") == (ANA, 0o700)
    assert owner_and_mode(directory / "work" / "mine") == (ANA, 0o644)
    assert owner_and_mode(directory.parent / "checkpoints") == (ANA, 0o700)
    assert owner_and_mode(directory / "stdout.log") == (ANA, 0o600)
    for trusted in ("spec.json", "lock", "result.json", "events.jsonl", "stdout.idx"):
        owner, mode = owner_and_mode(directory / trusted)
        assert owner == "root" and mode & 0o077 == 0, (trusted, owner, oct(mode))
    assert owner_and_mode(directory) == ("root", 0o711)


@needs_root
def test_a_job_reads_neither_the_servers_files_nor_anothers(shared, ana, bo):
    other = ana.submit("echo secret > $TESON_WORK/file; echo kept > $TESON_CHECKPOINTS/file; echo said")
    ana.wait(other, "SUCCEEDED")
    theirs = shared.attempt_directory(other)
    targets = [shared.data / name for name in ("credentials", "users.json", "teson.db", "logs.db", "audit.log", "server.json")]
    targets += [theirs / name for name in ("work/file", "../checkpoints/file", "stdout.log", "spec.json", "result.json",
                                           "lock", "events.jsonl")]
    assert all(path.exists() for path in targets)
    folders = [shared.data, shared.data / "attempts", shared.data / "snapshots", theirs, theirs / "work"]
    script = "".join(f"cat '{path}' && echo READ {path}; echo x >> '{path}' && echo WROTE {path};" for path in targets)
    script += "".join(f"ls '{path}' && echo LISTED {path}; touch '{path}/new' && echo MADE {path};" for path in folders)
    job, output = bo.run(script + "true")
    assert job["status"] == "SUCCEEDED"
    assert not [word for word in ("READ", "WROTE", "LISTED", "MADE") if word in output], output
    assert output.count("Permission denied") >= len(targets) * 2


@needs_root
def test_a_job_cannot_change_what_says_how_it_ended(ana):
    job, output = ana.run("for f in result.json result.new lock spec.json events.jsonl stop.json agent.sock; do"
                          "  echo forged > ../$f && echo WROTE $f; rm -f ../$f && [ ! -e ../$f ] && echo GONE $f;"
                          "  mv ../$f ../$f.mine && echo MOVED $f; done; mv ../work ../w && echo MOVED; exit 3")
    assert job["status"] == "FAILED" and job["attempts"][0]["container"]["exitCode"] == 3, output
    assert "WROTE" not in output and "MOVED" not in output, output
    assert (ana.server.attempt_directory(job["jobId"]) / "spec.json").exists()


@needs_root
@pytest.mark.parametrize("namespaces", ["1", "0"])
def test_a_job_signals_no_agent_and_a_stop_ends_all_of_it(namespaces):
    with running_server(CONFIGURATION, {"TESON_AGENT_PIDNS": namespaces}) as server:
        ana = person(server, "ana", ANA)
        job = ana.submit("trap '' TERM; (trap '' TERM; exec sleep 1000) & setsid sleep 1001 & echo ready > ready; wait; wait",
                         tags={"teson:grace-seconds": "1"})
        ready = server.attempt_directory(job) / "work" / "ready"
        wait_for("its start", ready.exists)
        agent = server.agent_pid(job)
        tried, output = ana.run(f"kill -9 {agent} {server.process.pid} && echo KILLED; true")
        assert tried["status"] == "SUCCEEDED" and "KILLED" not in output
        assert is_alive(agent) and is_alive(server.process.pid)
        mine = {pid for pid in server.processes() if os.stat(f"/proc/{pid}").st_uid == pwd.getpwnam(ANA).pw_uid}
        assert len(mine) >= 3
        stopped = teson(server, "stop", job, "--output", "json", check=False)
        assert stopped.returncode == 0, stopped.stderr
        ana.wait(job, "FAILED", seconds=90)
        wait_for("the end of all", lambda: not any(is_alive(pid) for pid in mine))


@needs_root
def test_a_retry_has_a_fresh_directory_and_the_same_checkpoints(ana):
    job = ana.submit("ls | wc -l; cat $TESON_CHECKPOINTS/n; echo again >> $TESON_CHECKPOINTS/n; touch left; exit 1",
                     retryStrategy={"attempts": 2})
    ana.wait(job, "FAILED")
    assert ana.output(job, 0).startswith("0\n")
    assert ana.output(job, 1) == "0\nagain"
    assert owner_and_mode(ana.server.attempt_directory(job, 2) / "work" / "left")[0] == ANA


@needs_root
def test_without_an_account_a_job_is_refused_and_the_first_users_runs_as_before(shared):
    chris = person(shared, "chris", None)
    message = refusal(chris.run, "true")
    assert message == ("user 'chris' has no Unix account to run jobs as: an admin gives one with 'teson user account chris "
                       "ACCOUNT'")
    job, output = Jobs(shared).run("id -u")
    assert (job["status"], output) == ("SUCCEEDED", "0")
    teson(shared, "user", "account", "chris", BO)
    assert chris.run("id -un")[1] == BO
    assert recorded(shared, action="teson:SetAccount", resource="user/chris", outcome="ok")
    listed = {user["name"]: user.get("account") for user in user_json(shared, "list")["users"]}
    assert listed["chris"] == BO and listed["default"] is None
    teson(shared, "user", "account", "chris", "--none")
    assert "has no Unix account" in refusal(chris.run, "true")


@needs_root
def test_where_accounts_are_required_they_are_so_of_the_first_user_too():
    with running_server(CONFIGURATION + "accounts: required\n") as server:
        jobs = Jobs(server)
        assert "user 'default' has no Unix account" in refusal(jobs.run, "true")
        teson(server, "user", "account", "default", ANA)
        assert jobs.run("id -un")[1] == ANA
        server.kill9()
        server.restart()
        assert jobs.run("id -un")[1] == ANA
        assert json.loads((server.data / "users.json").read_text())["format"] == 2


@needs_root
def test_root_and_accounts_of_the_system_are_no_accounts_for_jobs(shared, ana):
    for account, word in (("root", "jobs do not run as root"), ("daemon", "jobs do not run as accounts of the system"),
                          ("no-such-account", "there is no Unix account 'no-such-account'")):
        refused = teson(shared, "user", "account", "ana", account, check=False)
        assert refused.returncode == 254 and word in refused.stderr, refused.stderr
        made = teson(shared, "user", "add", "dora", "--account", account, check=False)
        assert made.returncode == 254 and word in made.stderr
    assert "dora" not in {user["name"] for user in user_json(shared, "list")["users"]}
    assert ana.run("id -un")[1] == ANA


@needs_root
def test_an_account_that_vanished_fails_the_launch_in_clear_words():
    """Submitted while it was there; at the launch nothing permits it any more."""
    with running_server(CONFIGURATION) as server:
        ana = person(server, "ana", ANA)
        server.batch.update_compute_environment(computeEnvironment="local", state="DISABLED")
        job = ana.submit("echo never", retryStrategy={"attempts": 1})
        server.configuration = f"system_accounts: [{BO}]\n"
        server.restart()
        server.batch.update_compute_environment(computeEnvironment="local", state="ENABLED")
        ended = Jobs(server).wait(job, "FAILED")
        reason = ended["attempts"][0]["container"]["reason"]
        assert reason.startswith(f"CannotStartContainerError: Unix account '{ANA}' has uid 5: jobs do not run as accounts")


@needs_root
def test_an_unreachable_data_directory_is_named_at_the_launch():
    folder = tempfile.mkdtemp()
    try:
        os.chmod(folder, 0o700)
        with running_server(CONFIGURATION, directory=folder) as server:
            ana = person(server, "ana", ANA)
            job = ana.wait(ana.submit("true", retryStrategy={"attempts": 1}), "FAILED")
            assert f"the account '{ANA}' cannot enter" in job["attempts"][0]["container"]["reason"]
    finally:
        shutil.rmtree(folder)


@needs_root
def test_an_ordinary_user_runs_the_server_through_a_job(tmp_path):
    """No root anywhere: jobs run as the account of the server."""
    entry = pwd.getpwnam(BO)
    folder = pathlib.Path(tempfile.mkdtemp())
    program = folder / "teson"
    shutil.copy(BINARY, program)
    data = folder / "data"
    data.mkdir(mode=0o700)
    for path in (folder, data):
        os.chown(path, entry.pw_uid, entry.pw_gid)
    os.chmod(program, 0o755)
    rights = ["setpriv", f"--reuid={entry.pw_uid}", f"--regid={entry.pw_gid}", "--clear-groups", "--no-new-privs",
              "--inh-caps=-all", "--bounding-set=-all"]
    environment = {"PATH": os.environ["PATH"], "HOME": str(folder)}
    server = subprocess.Popen([*rights, str(program), "serve", "--data", str(data), "--listen", "127.0.0.1:0"],
                              env=environment, stdout=subprocess.DEVNULL, stderr=open(folder / "log", "wb"))
    try:
        wait_for(lambda: (folder / "log").read_text(), (data / "server.json").exists)
        ran = subprocess.run([*rights, str(program), "run", "--data", str(data), "--", "sh", "-c", "id -un; pwd"],
                             env=environment, capture_output=True, text=True, timeout=DEADLINE_SECONDS)
        assert ran.returncode == 0, ran.stderr
        assert BO in ran.stdout.split("\n")
        # An account of another is refused at the submission, not run with the wrong rights.
        change = [*rights, str(program), "--data", str(data), "user", "account", "default", ANA]
        refused = subprocess.run(change, env=environment, capture_output=True, text=True,
                                 timeout=DEADLINE_SECONDS)
        assert refused.returncode == 254 and "jobs do not run as accounts of the system" in refused.stderr
    finally:
        with contextlib.suppress(ProcessLookupError):
            server.terminate()
        assert server.wait(DEADLINE_SECONDS) == 0
        shutil.rmtree(folder, ignore_errors=True)
