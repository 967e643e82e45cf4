"""The unmodified AWS CLI from the first environment to the last clean-up."""
import json

from conftest import wait_for


def test_a_whole_day_with_the_aws_cli(aws, unique, tmp_path):
    def batch(*arguments):
        return aws("batch", *arguments)

    created = batch("create-compute-environment", "--compute-environment-name", unique, "--type", "MANAGED",
                    "--compute-resources", "type=EC2,minvCpus=0,maxvCpus=2,instanceTypes=host,subnets=subnet-1")
    assert created["computeEnvironmentName"] == unique
    batch("create-job-queue", "--job-queue-name", unique, "--priority", "5", "--compute-environment-order",
          f"order=1,computeEnvironment={created['computeEnvironmentArn']}")
    registered = batch("register-job-definition", "--job-definition-name", unique, "--type", "container",
                       "--container-properties", json.dumps({
                           "image": "host", "command": ["/bin/sh", "-c", "echo $GREETING Ref; echo \"$0\"", "Ref::who"],
                           "resourceRequirements": [{"type": "VCPU", "value": "0.25"},
                                                    {"type": "MEMORY", "value": "32"}]}))
    assert registered["revision"] == 1
    job = batch("submit-job", "--job-name", "cli", "--job-queue", unique, "--job-definition", unique,
                "--parameters", "who=world", "--tags", "team=a",
                "--container-overrides", "environment=[{name=GREETING,value=hello}]")["jobId"]

    def description():
        return batch("describe-jobs", "--jobs", job)["jobs"][0]
    wait_for("the job's end", lambda: description()["status"] in ("SUCCEEDED", "FAILED"))
    ended = description()
    assert ended["status"] == "SUCCEEDED"
    assert ended["tags"] == {"team": "a"}
    events = aws("logs", "get-log-events", "--log-group-name", "/aws/batch/job", "--log-stream-name",
                 ended["container"]["logStreamName"])["events"]
    assert [event["message"] for event in events] == ["hello Ref", "world"]
    assert [one["jobId"] for one in batch("list-jobs", "--job-queue", unique, "--job-status", "SUCCEEDED")[
        "jobSummaryList"]] == [job]

    failing = batch("submit-job", "--job-name", "cli2", "--job-queue", unique, "--job-definition", unique,
                    "--container-overrides", 'command=["sleep","600"]')["jobId"]
    batch("terminate-job", "--job-id", failing, "--reason", "over")
    wait_for("the second job's end",
             lambda: batch("describe-jobs", "--jobs", failing)["jobs"][0]["status"] == "FAILED")
    batch("tag-resource", "--resource-arn", registered["jobDefinitionArn"], "--tags", "a=b")
    assert batch("list-tags-for-resource", "--resource-arn", registered["jobDefinitionArn"])["tags"] == {"a": "b"}
    batch("untag-resource", "--resource-arn", registered["jobDefinitionArn"], "--tag-keys", "a")

    refusal = aws("batch", "delete-job-queue", "--job-queue", unique, check=False)
    assert refusal.returncode != 0 and "(ClientException)" in refusal.stderr and "DISABLED" in refusal.stderr
    batch("update-job-queue", "--job-queue", unique, "--state", "DISABLED")
    batch("delete-job-queue", "--job-queue", unique)
    wait_for("the queue's end", lambda: batch("describe-job-queues", "--job-queues", unique)["jobQueues"] == [])
    batch("update-compute-environment", "--compute-environment", unique, "--state", "DISABLED")
    batch("delete-compute-environment", "--compute-environment", unique)
    batch("deregister-job-definition", "--job-definition", registered["jobDefinitionArn"])
    active = batch("describe-job-definitions", "--job-definition-name", unique, "--status", "ACTIVE")
    assert active["jobDefinitions"] == []
