"""Random operations of every kind on a few names, while jobs run and the server is killed: each answer is a success or a clear
refusal, the server lives, nothing answered is lost, parents' sums hold, and all that was submitted comes to an end.

Another seed and more operations: TESON_SEED, TESON_OPERATIONS.
"""
import collections
import os
import random

from botocore.exceptions import ClientError
from conftest import FINAL, Jobs, running_server, wait_for

SEED = int(os.environ.get("TESON_SEED", "20261201"))
OPERATIONS = int(os.environ.get("TESON_OPERATIONS", "900"))
KILL_EVERY = 150
ENVIRONMENTS, QUEUES, POLICIES = ("e1", "e2", "e3"), ("q1", "q2", "q3", "q4"), ("p1", "p2")
TINY = [{"type": "VCPU", "value": "0.25"}, {"type": "MEMORY", "value": "16"}]


def arn(kind, name):
    return f"arn:aws:batch:us-east-1:123456789012:{kind}/{name}"


class Monkey:
    def __init__(self, server):
        self.server, self.prng, self.jobs = server, random.Random(SEED), []
        short = Jobs(server)
        self.definitions = [short.register(script, resourceRequirements=TINY)
                            for script in ("true", "sleep 0.2", "exit 1", "exec sleep 30")]
        self.kinds = {self.environment: 3, self.change_environment: 4, self.queue: 3, self.change_queue: 2, self.policy: 2,
                      self.delete: 1, self.submit: 16, self.stop: 4, self.tag: 2, self.look: 3}

    def one(self, values):
        return self.prng.choice(values)

    def chance(self, part):
        return self.prng.random() < part

    def step(self):
        self.prng.choices(list(self.kinds), list(self.kinds.values()))[0](self.server.batch)

    def resources(self):
        return {"type": self.one(("EC2", "SPOT")), "maxvCpus": self.one((0, 1, 2, 4, 8)), "instanceRole": "r", "subnets": [],
                "instanceTypes": self.one((["host"], ["m5.large"], ["optimal"], ["m5"])), "securityGroupIds": []}

    def order(self):
        chosen = self.prng.sample(ENVIRONMENTS, self.prng.randrange(1, 4))
        return [{"order": number, "computeEnvironment": name} for number, name in enumerate(chosen)]

    def environment(self, batch):
        batch.create_compute_environment(computeEnvironmentName=self.one(ENVIRONMENTS), type="MANAGED",
                                         computeResources=self.resources())

    def change_environment(self, batch):
        whole = self.resources()
        changes = [{"state": self.one(("ENABLED", "ENABLED", "DISABLED"))},
                   {"computeResources": {"maxvCpus": whole["maxvCpus"]}},
                   {"computeResources": {"instanceTypes": whole["instanceTypes"]}}]
        batch.update_compute_environment(computeEnvironment=self.one(ENVIRONMENTS), **self.one(changes))

    def queue(self, batch):
        policy = {"schedulingPolicyArn": arn("scheduling-policy", self.one(POLICIES))} if self.chance(0.5) else {}
        batch.create_job_queue(jobQueueName=self.one(QUEUES), priority=self.one((1, 5)),
                               computeEnvironmentOrder=self.order(), **policy)

    def change_queue(self, batch):
        policy = {"schedulingPolicyArn": arn("scheduling-policy", self.one(POLICIES))} if self.chance(0.2) else {}
        state = self.one(("ENABLED",) * 5 + ("DISABLED",))
        batch.update_job_queue(jobQueue=self.one(QUEUES), state=state, computeEnvironmentOrder=self.order(), **policy)

    def policy(self, batch):
        shares = [{"shareIdentifier": "a", "weightFactor": self.one((0.0001, 1.0, 999.9999))}, {"shareIdentifier": "b*"}]
        fair = {"shareDecaySeconds": self.one((0, 1, 600)), "computeReservation": self.one((0, 50, 99)),
                "shareDistribution": shares}
        if self.chance(0.5):
            return batch.create_scheduling_policy(name=self.one(POLICIES), fairsharePolicy=fair)
        return batch.update_scheduling_policy(arn=arn("scheduling-policy", self.one(POLICIES)), fairsharePolicy=fair)

    def delete(self, batch):
        what = self.one(("environment", "policy", "queue"))
        if what == "environment":
            batch.delete_compute_environment(computeEnvironment=self.one(ENVIRONMENTS))
        elif what == "policy":
            batch.delete_scheduling_policy(arn=arn("scheduling-policy", self.one(POLICIES)))
        else:
            queue = self.one(QUEUES)
            batch.update_job_queue(jobQueue=queue, state="DISABLED")
            batch.delete_job_queue(jobQueue=queue)

    def any_job(self, suffixes=("",)):
        return (self.one(self.jobs[-30:]) if self.jobs else "3f2504e0-4f89-41d3-9a0c-0305e82c3301") + self.one(suffixes)

    def submit(self, batch):
        request, tags = {}, {}
        if self.chance(0.5):
            request["arrayProperties"] = {"size": self.one((3, 5, 5, 5))}
        policy = [queue.get("schedulingPolicyArn") for queue in batch.describe_job_queues()["jobQueues"]
                  if queue["jobQueueName"] == (name := self.one(QUEUES))]
        if policy and policy[0]:
            request["shareIdentifier"] = self.one(("a", "b1", "b2", "zz"))
        if self.chance(0.3):
            tags["teson:after"] = "any"
        if self.chance(0.3):
            tags["teson:array-throttle"] = self.one("0123")
        if self.chance(0.1):
            tags["teson:rerun-of"] = self.any_job()
        depends_on = [{"jobId": self.any_job(("", "", ":1")), **({"type": "N_TO_N"} if self.chance(0.4) else {})}
                      for _ in range(self.prng.randrange(3))]
        if self.chance(0.2):
            depends_on.append({"type": "SEQUENTIAL"})
        self.jobs.append(batch.submit_job(
            jobName="m", jobQueue=name, jobDefinition=self.one(self.definitions), dependsOn=depends_on, tags=tags,
            retryStrategy={"attempts": self.one((1, 2, 3))}, **request)["jobId"])

    def stop(self, batch):
        self.one((batch.terminate_job, batch.cancel_job))(jobId=self.any_job(("", "", ":0", ":4")), reason="stopped")

    def tag(self, batch):
        batch.tag_resource(resourceArn=arn("job", self.any_job()), tags={"teson:array-throttle": self.one("0124")})

    def look(self, batch):
        batch.list_jobs(jobQueue=self.one(QUEUES), jobStatus=self.one(("PENDING", "RUNNABLE", "STARTING", "RUNNING", "FAILED")))
        batch.list_jobs(arrayJobId=self.any_job(), jobStatus=self.one(("PENDING", "RUNNABLE", "RUNNING", "FAILED")))


def described(server, ids):
    return [job for start in range(0, len(ids), 100) for job in server.batch.describe_jobs(jobs=ids[start:start + 100])["jobs"]]


def check_sums(server, ids):
    for job in described(server, ids):
        properties = job.get("arrayProperties")
        if properties and "teson:rerun-of" not in job["tags"]:
            assert sum(properties["statusSummary"].values()) == properties["size"], job


def test_random_operations_and_kills():
    with running_server("host: {vcpus: 8}\ninstance_idle_seconds: 1\n") as server:
        monkey, answers = Monkey(server), collections.Counter()
        for number in range(1, OPERATIONS + 1):
            try:
                monkey.step()
                answers["good"] += 1
            except ClientError as error:
                assert error.response["ResponseMetadata"]["HTTPStatusCode"] in (400, 404), error.response
                assert error.response["Error"]["Message"]
                answers["refused"] += 1
            if number % 30 == 0:
                check_sums(server, monkey.jobs[-60:])
            if number % KILL_EVERY == 0:
                server.kill9()
                server.start()
                found = described(server, monkey.jobs)
                assert [job["jobId"] for job in found] == monkey.jobs, "an acknowledged job is gone"
                check_sums(server, monkey.jobs)
        assert answers["good"] > OPERATIONS / 3 and len(monkey.jobs) > OPERATIONS / 15, (answers, len(monkey.jobs))
        for job in monkey.jobs:
            server.batch.terminate_job(jobId=job, reason="over")
        left = lambda: [job for job in described(server, monkey.jobs) if job["status"] not in FINAL]
        wait_for(lambda: f"the end of {left()[:3]}", lambda: not left())
        check_sums(server, monkey.jobs)
        assert " critical " not in server.log.read_text()
