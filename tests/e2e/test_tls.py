"""HTTPS: clients that verify the certificate, those that must refuse it, and what is no TLS at all."""
import json
import os
import signal
import socket
import ssl
import subprocess
import time

import boto3
import pytest
from botocore.config import Config
from botocore.exceptions import SSLError

from conftest import AWS_CLI, BINARY, DEADLINE_SECONDS, Jobs, running_server, wait_for

NAMES = "subjectAltName=IP:127.0.0.1,DNS:localhost"


def openssl(*arguments):
    subprocess.run(["openssl", *arguments], check=True, capture_output=True, timeout=DEADLINE_SECONDS)


class Authority:
    """A certification authority of a test's own, by the openssl program."""

    def __init__(self, directory, name):
        self.directory, self.certificate, self.key = directory, directory / f"{name}.pem", directory / f"{name}.key"
        openssl("req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-days", "2",
                "-subj", f"/CN={name}", "-addext", "keyUsage=keyCertSign", "-keyout", str(self.key),
                "-out", str(self.certificate))

    def issue(self, name, days="1", names=NAMES):
        """The paths of a certificate and its key. A negative number of days: expired."""
        certificate, key, request = (self.directory / f"{name}.{end}" for end in ("pem", "key", "csr"))
        extensions = self.directory / f"{name}.ext"
        extensions.write_text(names + "\n")
        openssl("req", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-subj", f"/CN={name}",
                "-keyout", str(key), "-out", str(request))
        openssl("x509", "-req", "-in", str(request), "-CA", str(self.certificate), "-CAkey", str(self.key),
                "-CAcreateserial", "-days", days, "-extfile", str(extensions), "-out", str(certificate))
        return certificate, key


@pytest.fixture(scope="module")
def authority(tmp_path_factory):
    return Authority(tmp_path_factory.mktemp("tls"), "authority")


@pytest.fixture(scope="module")
def secure(authority):
    certificate, key = authority.issue("server")
    former = os.environ.get("AWS_CA_BUNDLE")
    os.environ["AWS_CA_BUNDLE"] = str(authority.certificate)
    try:
        with running_server(f"tls: {{certificate: {certificate}, key: {key}}}\n") as server:
            yield server
    finally:
        os.environ.pop("AWS_CA_BUNDLE")
        if former is not None:
            os.environ["AWS_CA_BUNDLE"] = former


def address_of(server):
    return "127.0.0.1", int(server.endpoint.rsplit(":", 1)[1])


def impatient(server, **settings):
    return boto3.client("batch", region_name="us-east-1", endpoint_url=server.endpoint,
                        aws_access_key_id=server.environment["AWS_ACCESS_KEY_ID"],
                        aws_secret_access_key=server.environment["AWS_SECRET_ACCESS_KEY"],
                        config=Config(retries={"max_attempts": 0}), **settings)


def teson(server, *arguments, **variables):
    environment = {**os.environ, **variables}
    return subprocess.run([BINARY, "--data", str(server.data), *arguments], env=environment, capture_output=True,
                          text=True, timeout=DEADLINE_SECONDS)


def serve(data, *flags):
    return subprocess.run([BINARY, "serve", "--data", str(data), "--listen", "127.0.0.1:0", *flags],
                          capture_output=True, text=True, timeout=DEADLINE_SECONDS)


def test_boto3_runs_a_job(secure):
    assert secure.endpoint.startswith("https://127.0.0.1:")
    job, output = Jobs(secure).run("seq 1 3; echo done")
    assert (job["status"], output) == ("SUCCEEDED", "1\n2\n3\ndone")


def test_the_aws_cli_and_teson_speak_https(secure):
    assert secure.aws("batch", "describe-job-queues")["jobQueues"]
    ran = teson(secure, "run", "--", "echo", "by teson")
    assert ran.returncode == 0, ran.stderr
    assert "by teson" in ran.stdout
    variables = teson(secure, "env").stdout
    assert f"export AWS_ENDPOINT_URL={secure.endpoint}" in variables.replace("'", "")
    assert f"export AWS_CA_BUNDLE={os.environ['AWS_CA_BUNDLE']}" in variables.replace("'", "")


def test_bodies_larger_than_a_record_come_whole(secure):
    """A request and answers of many TLS records, on one connection."""
    values = [{"name": f"N{i}", "value": "x" * 900} for i in range(20)]
    jobs = Jobs(secure)
    definition = jobs.register("true", environment=values)
    name = definition.rsplit("/", 1)[1].rsplit(":", 1)[0]
    for _ in range(4):
        jobs.register("true", name=name, environment=values)
    found = secure.batch.describe_job_definitions(jobDefinitionName=name)["jobDefinitions"]
    assert [each["containerProperties"]["environment"] for each in found] == [values] * 5


def test_an_unknown_authority_is_refused_by_every_client(secure, authority):
    other = Authority(authority.directory, "stranger").certificate
    with pytest.raises(SSLError, match="CERTIFICATE_VERIFY_FAILED"):
        impatient(secure, verify=str(other)).describe_job_queues()
    environment = {**os.environ, **secure.environment, "AWS_CA_BUNDLE": str(other)}
    by_aws = subprocess.run([AWS_CLI, "--endpoint-url", secure.endpoint, "batch", "describe-job-queues"],
                            env=environment, capture_output=True, text=True, timeout=DEADLINE_SECONDS)
    assert by_aws.returncode != 0 and "SSL validation failed" in by_aws.stderr
    by_teson = teson(secure, "jobs", AWS_CA_BUNDLE=str(other))
    assert by_teson.returncode == 253
    assert f"the certificate of {secure.endpoint} is not trusted" in by_teson.stderr
    assert f"AWS_CA_BUNDLE, {other}" in by_teson.stderr
    without = teson(secure, "jobs", AWS_CA_BUNDLE="")
    assert without.returncode == 253 and "name that one's PEM file in AWS_CA_BUNDLE" in without.stderr


def test_a_certificate_for_another_name_is_refused_by_the_client(authority):
    """The host name is verified; a command that finds the server by its directory uses a name of the certificate."""
    certificate, key = authority.issue("elsewhere", names="subjectAltName=DNS:localhost")
    with running_server_trusting(authority, certificate, key) as server:
        assert server.endpoint.startswith("https://localhost:")
        assert teson(server, "jobs").returncode == 0
        wrong = teson(server, "jobs", "--endpoint", server.endpoint.replace("localhost", "127.0.0.1"))
        assert wrong.returncode == 253 and "is not trusted" in wrong.stderr


class running_server_trusting:
    def __init__(self, authority, certificate, key):
        self.bundle = str(authority.certificate)
        self.server = running_server(f"tls: {{certificate: {certificate}, key: {key}}}\n")

    def __enter__(self):
        self.former = os.environ.get("AWS_CA_BUNDLE")
        os.environ["AWS_CA_BUNDLE"] = self.bundle
        return self.server.__enter__()

    def __exit__(self, *what):
        try:
            return self.server.__exit__(*what)
        finally:
            os.environ.pop("AWS_CA_BUNDLE")
            if self.former is not None:
                os.environ["AWS_CA_BUNDLE"] = self.former


def test_an_expired_certificate_is_refused_and_a_new_one_taken_on_sighup(authority):
    """As after certbot: the files are replaced, the server is told, nothing is restarted."""
    certificate, key = authority.issue("renewed", days="-1")
    with running_server_trusting(authority, certificate, key) as server:
        assert "has expired" in server.log.read_text()
        by_teson = teson(server, "jobs")
        assert by_teson.returncode == 253 and "expired" in by_teson.stderr
        with pytest.raises(SSLError, match="expired"):
            impatient(server).describe_job_queues()

        good = certificate.read_text()
        certificate.write_text("no certificate\n")
        server.process.send_signal(signal.SIGHUP)
        wait_for("word of the bad file", lambda: "the former certificate stays in use" in server.log.read_text())
        with pytest.raises(SSLError, match="expired"):
            impatient(server).describe_job_queues()

        certificate.write_text(good)
        authority.issue("renewed")
        server.process.send_signal(signal.SIGHUP)
        wait_for("the new certificate", lambda: "were read again" in server.log.read_text())
        assert impatient(server).describe_job_queues()["jobQueues"]
        assert server.process.poll() is None


def test_plain_http_on_the_tls_port_is_told_so(secure):
    with socket.create_connection(address_of(secure), timeout=DEADLINE_SECONDS) as client:
        client.sendall(b"GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n")
        answer = b""
        while part := client.recv(4096):
            answer += part
    assert answer.startswith(b"HTTP/1.1 400 Bad Request\r\n")
    assert b"This port speaks TLS: use https://, not http." in answer
    with socket.create_connection(address_of(secure), timeout=DEADLINE_SECONDS) as client:
        client.sendall(b"\x00\xff" * 500)
        with pytest.raises((ConnectionResetError, StopIteration)):
            while client.recv(4096):
                pass
            raise StopIteration
    assert secure.batch.describe_job_queues()["jobQueues"]


def test_old_protocols_and_ciphers_are_refused(secure, authority):
    def offer(minimum, maximum, ciphers=None):
        context = ssl.create_default_context(cafile=str(authority.certificate))
        context.minimum_version, context.maximum_version = minimum, maximum
        if ciphers:
            context.set_ciphers(ciphers)
        with socket.create_connection(address_of(secure), timeout=DEADLINE_SECONDS) as raw:
            with context.wrap_socket(raw, server_hostname="127.0.0.1") as stream:
                return stream.version()
    version = ssl.TLSVersion
    assert offer(version.TLSv1_3, version.TLSv1_3) == "TLSv1.3"
    assert offer(version.TLSv1_2, version.TLSv1_2) == "TLSv1.2"
    with pytest.raises(ssl.SSLError):
        offer(version.TLSv1_1, version.TLSv1_1, "ALL:@SECLEVEL=0")
    with pytest.raises(ssl.SSLError):
        offer(version.TLSv1_2, version.TLSv1_2, "AES256-SHA256:ECDHE-ECDSA-AES256-SHA384")


def test_connections_without_a_handshake_hold_nobody_up(secure):
    """200 that say nothing: others are served at once, and each is closed after its ten seconds."""
    silent = [socket.create_connection(address_of(secure), timeout=DEADLINE_SECONDS) for _ in range(200)]
    try:
        began = time.monotonic()
        job, output = Jobs(secure).run("echo meanwhile")
        assert (job["status"], output) == ("SUCCEEDED", "meanwhile")
        assert time.monotonic() - began < 9, "the silent ones were waited for"
        for client in silent:
            assert client.recv(1) == b""
        assert time.monotonic() - began < 30
    finally:
        for client in silent:
            client.close()
    assert secure.process.poll() is None


def test_what_cannot_be_used_is_refused_at_the_start(tmp_path, authority):
    certificate, key = authority.issue("refused")
    other_key = authority.issue("another")[1]
    locked = tmp_path / "locked.key"
    openssl("ec", "-in", str(key), "-aes256", "-passout", "pass:secret", "-out", str(locked))
    text = tmp_path / "text.pem"
    text.write_text("hello\n")
    for given_certificate, given_key, expected in [
            (tmp_path / "none.pem", key, [f"'{tmp_path}/none.pem'", "No such file or directory"]),
            (certificate, tmp_path / "none.key", [f"'{tmp_path}/none.key'", "No such file or directory"]),
            (text, key, [f"the certificate '{text}'", "no start line"]),
            (certificate, text, [f"the key '{text}'", "without a passphrase"]),
            (certificate, locked, [f"the key '{locked}'", "without a passphrase"]),
            (certificate, other_key, [f"the key '{other_key}'", "key values mismatch"])]:
        refused = serve(tmp_path / "data", "--tls-certificate", str(given_certificate), "--tls-key", str(given_key))
        assert refused.returncode == 1
        for words in expected:
            assert words in refused.stderr, refused.stderr
    one = serve(tmp_path / "data", "--tls-certificate", str(certificate))
    assert one.returncode == 1 and "give both" in one.stderr
    config = tmp_path / "half.yaml"
    config.write_text(f"tls: {{certificate: {certificate}}}\n")
    half = serve(tmp_path / "data", "--config", str(config))
    assert half.returncode == 1 and "both certificate and key" in half.stderr


def test_an_address_for_others_needs_tls(tmp_path, authority):
    refused = subprocess.run([BINARY, "serve", "--data", str(tmp_path / "data"), "--listen", "0.0.0.0:0"],
                             capture_output=True, text=True, timeout=DEADLINE_SECONDS)
    assert refused.returncode == 1 and "there is no TLS" in refused.stderr
    certificate, key = authority.issue("public")
    server = subprocess.Popen([BINARY, "serve", "--data", str(tmp_path / "data"), "--listen", "0.0.0.0:0",
                               "--tls-certificate", str(certificate), "--tls-key", str(key)],
                              stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        file = tmp_path / "data" / "server.json"
        wait_for("its start", file.exists)
        assert json.loads(file.read_text())["endpoint"].startswith("https://localhost:")
    finally:
        server.terminate()
        assert server.wait(DEADLINE_SECONDS) == 0
