"""/metrics by the rules of Prometheus' text format 0.0.4, and who may read it."""
import re
import urllib.error
import urllib.request

import pytest
from botocore.auth import SigV4Auth
from botocore.awsrequest import AWSRequest
from botocore.credentials import Credentials
from conftest import Jobs, running_server

NAME = r"[a-zA-Z_:][a-zA-Z0-9_:]*"
SAMPLE = re.compile(rf"({NAME})(?:\{{(.*)\}})? (\S+)$")
LABEL = re.compile(r'([a-zA-Z_][a-zA-Z0-9_]*)="((?:[^"\\\n]|\\["\\n])*)"(?:,|$)')
TYPES = {"counter", "gauge", "histogram"}


def parse(text):
    """{name: {labels: value}}, having checked the format: each family once, HELP and TYPE before its samples."""
    assert text.endswith("\n")
    types, helped, samples, family = {}, set(), {}, None
    for line in text[:-1].split("\n"):
        if line.startswith("# HELP "):
            family = line.split(" ", 3)[2]
            assert family not in helped
            helped.add(family)
        elif line.startswith("# TYPE "):
            _, _, name, kind = line.split(" ")
            assert name == family and name not in types and kind in TYPES
            types[name] = kind
        else:
            name, labels, value = SAMPLE.match(line).groups()
            suffixes = ("_bucket", "_sum", "_count") if types[family] == "histogram" else ("",)
            assert name in {family + suffix for suffix in suffixes}, line
            found = LABEL.findall(labels or "")
            assert "".join(f'{key}="{text}",' for key, text in found) == (labels + "," if labels else "")
            key = tuple(sorted(found))
            assert key not in samples.setdefault(name, {}), line
            samples[name][key] = float(value)
    for name, kind in types.items():
        if kind == "counter":
            assert name.endswith("_total")
        if kind == "histogram":
            buckets = sorted((float(dict(key)["le"]), value) for key, value in samples[name + "_bucket"].items())
            assert [value for _, value in buckets] == sorted(value for _, value in buckets)
            assert buckets[-1] == (float("inf"), samples[name + "_count"][()])
    return samples


def get(url, headers=None):
    with urllib.request.urlopen(urllib.request.Request(url, headers=headers or {}), timeout=30) as answer:
        assert answer.headers["content-type"] == "text/plain; version=0.0.4; charset=utf-8"
        return parse(answer.read().decode())


def labels(**pairs):
    return tuple(sorted(pairs.items()))


def test_metrics_tell_what_happened(tmp_path):
    with running_server("host: {vcpus: 2, memory_mib: 512}\nmetrics_without_key: true") as server:
        jobs = Jobs(server)
        jobs.wait(jobs.submit("true"), "SUCCEEDED")
        jobs.wait(jobs.submit("exit 3"), "FAILED")
        go = tmp_path / "go"
        running = jobs.submit(f"while [ ! -e {go} ]; do sleep 0.02; done")
        jobs.wait(running, "RUNNING")
        huge = jobs.submit(containerOverrides={"resourceRequirements": [{"type": "VCPU", "value": "0.25"},
                                                                        {"type": "MEMORY", "value": "9999"}]})
        jobs.wait(huge, "RUNNABLE")
        after = jobs.submit("true", dependsOn=[{"jobId": running}])
        array = jobs.submit("true", arrayProperties={"size": 7}, dependsOn=[{"jobId": running}])
        found = get(server.endpoint + "/metrics")
        assert found["teson_jobs_submitted_total"][()] == 6
        assert found["teson_attempts_started_total"][()] == 3
        assert found["teson_attempts_ended_total"][labels(cause="exited")] == 2
        assert found["teson_attempts_ended_total"][labels(cause="lost")] == 0
        assert found["teson_jobs"][labels(queue="default", status="PENDING")] == 2
        assert found["teson_jobs"][labels(queue="default", status="RUNNING")] == 1
        assert found["teson_jobs"][labels(queue="default", status="RUNNABLE")] == 1
        assert found["teson_queue_live_jobs"][labels(queue="default")] == 4
        assert found["teson_queue_unplaceable_jobs"][labels(queue="default")] == 1
        assert found["teson_vcpus"] == {labels(of="host"): 2, labels(of="jobs"): 0.25}
        assert found["teson_memory_bytes"] == {labels(of="host"): 512 << 20, labels(of="jobs"): 32 << 20}
        assert sum(found["teson_instances"].values()) == 1
        assert 0 < found["teson_commit_seconds_count"][()] <= found["teson_facts_total"][()]
        assert found["teson_http_requests_total"][labels(family="batch", status="2xx")] > 8
        assert found["process_resident_memory_bytes"][()] > 1 << 20
        assert found["process_open_fds"][()] > 5
        assert found["teson_journal_bytes"][labels(file="teson.db")] > 0
        go.touch()
        for job in (running, after, array):
            jobs.wait(job, "SUCCEEDED")
        server.restart()
        found = get(server.endpoint + "/metrics")
        assert found["teson_jobs"][labels(queue="default", status="PENDING")] == 0
        jobs.batch.terminate_job(jobId=huge, reason="seen")


def test_metrics_want_a_key_unless_the_configuration_says_otherwise(server):
    with pytest.raises(urllib.error.HTTPError) as refused:
        get(server.endpoint + "/metrics")
    assert refused.value.code == 403
    request = AWSRequest("GET", server.endpoint + "/metrics")
    keys = Credentials(server.environment["AWS_ACCESS_KEY_ID"], server.environment["AWS_SECRET_ACCESS_KEY"])
    SigV4Auth(keys, "batch", "us-east-1").add_auth(request)
    assert get(server.endpoint + "/metrics", dict(request.headers))["teson_up"][()] == 1
