#!/usr/bin/python3
"""What `make demo` shows: a training that loses its machine, and its control plane, and finishes all the same.

It starts a private server, submits train.py through the AWS Batch API with boto3, kills the attempt's whole process tree
half way as a lost machine would, kills the server too, starts it again, and watches the second attempt go on from the
checkpoint. Exit code 0 only if attempt 2 resumed and more than 97 % of the held-out digits are classified correctly.

    demo.py [--teson build/teson] [--epochs 20]
"""
import argparse
import pathlib
import re
import signal
import sys
import tempfile
import time

sys.dont_write_bytecode = True
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
from private_server import PrivateServer, descendants, kill_now  # noqa: E402  (the path must be set first)
import show  # noqa: E402

TRAIN = pathlib.Path(__file__).resolve().parent / "train.py"
SILENCE_SECONDS = 180  # without one new line of output: a slow machine still prints epochs, what hangs does not
WANTED_ACCURACY = 0.97
STARTED_AGAIN = "Host EC2*"  # the status reason of an attempt whose machine was lost, as on AWS


class DemoFailed(Exception):
    """Something did not happen as it should; the message says what."""


class Follower:
    """Prints a job's log as it grows, through CloudWatch Logs, across attempts."""

    def __init__(self, job_id):
        self.job_id = job_id
        self.lines = []       # of all attempts
        self.seen = {}        # stream -> token of the next page

    def poll(self, server):
        """Prints what is new and returns the job's description."""
        job = server.batch.describe_jobs(jobs=[self.job_id])["jobs"][0]
        streams = [attempt["container"].get("logStreamName") for attempt in job.get("attempts", [])]
        streams.append(job.get("container", {}).get("logStreamName"))
        for stream in filter(None, dict.fromkeys(streams)):
            self.read(server, stream)
        return job

    def read(self, server, stream):
        if stream not in self.seen:
            show.note(f"log stream {stream}")
            self.seen[stream] = None
        while True:
            token = {"nextToken": self.seen[stream]} if self.seen[stream] else {"startFromHead": True}
            page = server.logs.get_log_events(logGroupName="/aws/batch/job", logStreamName=stream, **token)
            for event in page["events"]:
                self.lines.append(event["message"])
                show.log_line(event["message"])
            if page["nextForwardToken"] == self.seen[stream]:
                return
            self.seen[stream] = page["nextForwardToken"]

    def epochs_done(self):
        found = [re.match(r"epoch (\d+)/", line) for line in self.lines]
        return max((int(match.group(1)) for match in found if match), default=0)


def follow_until(follower, server, condition, what):
    """Polls until condition(job) holds and returns the job."""
    lines, changed = -1, 0
    while True:
        job = follower.poll(server)
        if len(follower.lines) != lines:
            lines, changed = len(follower.lines), time.monotonic()
        if condition(job):
            return job
        if job["status"] == "FAILED":
            raise DemoFailed(f"the job failed while {what}: {job.get('statusReason', 'no reason given')}")
        if time.monotonic() - changed > SILENCE_SECONDS:
            reason = job.get("statusReason") or "no reason given"
            raise DemoFailed(f"nothing new for {SILENCE_SECONDS} s while {what}; the job is {job['status']} ({reason})")
        time.sleep(0.2)


def submit(server, model_directory, epochs):
    definition = server.batch.register_job_definition(
        jobDefinitionName="digits", type="container",
        containerProperties={
            "image": "host",
            "command": ["/usr/bin/python3", str(TRAIN), "--model", str(model_directory), "--epochs", str(epochs)],
            "resourceRequirements": [{"type": "VCPU", "value": "1"}, {"type": "MEMORY", "value": "1024"}],
        },
        retryStrategy={"attempts": 3, "evaluateOnExit": [
            {"onStatusReason": STARTED_AGAIN, "action": "RETRY"}, {"onReason": "*", "action": "EXIT"}]},
    )
    job = server.batch.submit_job(jobName="digits", jobQueue="spot", jobDefinition=definition["jobDefinitionArn"])
    show.note(f"definition {definition['jobDefinitionName']}:{definition['revision']}, queue spot, job {job['jobId']}")
    return job["jobId"]


def lose_the_machine(server, job_id):
    """Kills the attempt's agent and all that it started, at once: nobody gets to say goodbye."""
    agent = server.agent_pid(job_id, 1)
    tree = descendants(agent)
    kill_now([agent, *tree])
    show.note(f"killed agent {agent} and its {len(tree)} processes with SIGKILL")


def check(job, follower, epochs):
    """The model's accuracy, once everything that was promised is seen to have happened."""
    attempts = job["attempts"]
    if job["status"] != "SUCCEEDED" or len(attempts) != 2:
        raise DemoFailed(f"expected SUCCEEDED after 2 attempts, got {job['status']} after {len(attempts)}")
    if not attempts[0].get("statusReason", "").startswith(STARTED_AGAIN.rstrip("*")):
        raise DemoFailed(f"attempt 1 should have ended as a lost host, but: {attempts[0].get('statusReason')!r}")
    resumed = [re.match(r"resuming from .*: (\d+) of", line) for line in follower.lines]
    resumed = [int(match.group(1)) for match in resumed if match]
    if not resumed or resumed[0] < epochs // 2:
        raise DemoFailed(f"attempt 2 did not go on from the checkpoint of epoch {epochs // 2} or later")
    accuracy = [re.match(r"held-out accuracy (\S+)", line) for line in follower.lines]
    accuracy = [float(match.group(1)) for match in accuracy if match]
    if not accuracy or accuracy[-1] <= WANTED_ACCURACY:
        raise DemoFailed(f"the held-out accuracy is {accuracy}, not above {WANTED_ACCURACY}")
    return accuracy[-1], resumed[0]


def print_attempts(job):
    show.table(["attempt", "ran for", "exit code", "why it ended"], [
        [str(number), show.seconds((attempt["stoppedAt"] - attempt["startedAt"]) / 1000),
         str(attempt["container"].get("exitCode", "-")), attempt.get("statusReason", "")]
        for number, attempt in enumerate(job["attempts"], 1)])


def run(server, directory, epochs, began):
    model = directory / "model"

    show.step("Starting a private server")
    server.start()
    show.note(f"{server.endpoint}, process {server.pid}, data in {server.data}")

    show.step("Submitting examples/digits/train.py through the AWS Batch API (boto3)")
    job_id = submit(server, model, epochs)
    follower = Follower(job_id)
    follow_until(follower, server, lambda job: follower.epochs_done() >= epochs // 2, "training")

    show.step(f"Half way: the machine is lost ({follower.epochs_done()} of {epochs} epochs are done)")
    lose_the_machine(server, job_id)
    show.step("... and so is the control plane")
    show.note(f"killed the server, process {server.kill()}, with SIGKILL")

    show.step("Starting the server again on the same data")
    server.start()
    show.note(f"{server.endpoint}, process {server.pid}")
    job = follow_until(follower, server, lambda job: job["status"] == "SUCCEEDED", "finishing")
    job = follower.poll(server)

    show.step("Done")
    accuracy, resumed_at = check(job, follower, epochs)
    print_attempts(job)
    show.result(f"held-out accuracy {accuracy:.4f}; attempt 2 went on after epoch {resumed_at} instead of from the start; "
                f"{time.monotonic() - began:.0f} s in all")
    show.note(f"logs         {server.data}/attempts/{job_id}/1/stdout.log and .../2/stdout.log")
    show.note(f"checkpoints  {server.data}/attempts/{job_id}/checkpoints")
    show.note(f"model        {model}/model.pt")
    show.note(f"all of it    {directory}  (yours to look at, and to remove)")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--teson", type=pathlib.Path, default=TRAIN.parents[2] / "build" / "teson", metavar="PROGRAM")
    parser.add_argument("--epochs", type=int, default=20)
    arguments = parser.parse_args()
    if not arguments.teson.is_file():
        parser.error(f"{arguments.teson} does not exist: run make build first")

    began = time.monotonic()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(128 + signal.SIGTERM))
    directory = pathlib.Path(tempfile.mkdtemp(prefix="teson-demo-"))
    server = PrivateServer(arguments.teson.resolve(), directory / "data")
    try:
        run(server, directory, arguments.epochs, began)
        return 0
    except DemoFailed as failure:
        show.error(f"the demo failed: {failure}")
        show.error(f"the server's log: {server.log}\n{server.log_end()}")
        return 1
    finally:
        server.close()


if __name__ == "__main__":
    sys.exit(main())
