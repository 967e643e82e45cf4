#!/usr/bin/env python3
"""Writes sigv4.json beside this file: requests as botocore signs and sends them, at a fixed time.

Run it with a Python that has botocore (Debian: /usr/bin/python3 with python3-botocore) when a case is added. The C++
tests read only the JSON. Every entry is what goes over the wire, so the verifier sees what a server sees.
"""
import datetime
import json
import pathlib
from unittest import mock
from urllib.parse import urlsplit

import botocore
import botocore.auth
from botocore.awsrequest import AWSRequest
from botocore.credentials import Credentials
from botocore.utils import percent_encode_sequence

NOW = datetime.datetime(2026, 3, 14, 15, 9, 26)
KEY = "AKIDEXAMPLE"
SECRET = "wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY"

CASES = [
    # name, signer, service, method, url, params, headers, body
    ("batch-submit", "header", "batch", "POST", "http://127.0.0.1:8790/v1/submitjob", None,
     {"Content-Type": "application/json"}, b'{"jobName":"a","jobQueue":"default","jobDefinition":"d"}'),
    ("batch-tags-arn", "header", "batch", "GET",
     "http://127.0.0.1:8790/v1/tags/arn%3Aaws%3Abatch%3Aus-east-1%3A123456789012%3Ajob-queue%2Fdefault", None, {}, b""),
    # botocore's serialiser puts lists into the URL itself; blanks are %20 there, and '+' for what goes through params.
    ("batch-untag", "header", "batch", "DELETE", "http://127.0.0.1:8790/v1/tags/x?" + percent_encode_sequence(
        {"tagKeys": ["a b", "c+d", "é/&=", ""]}), None, {}, b""),
    ("query-plus", "header", "batch", "GET", "http://127.0.0.1:8790/v1/x", {"a": "b c+d", "A": "é"}, {}, b""),
    ("logs-target", "header", "logs", "POST", "http://127.0.0.1:8790/", None,
     {"X-Amz-Target": "Logs_20140328.GetLogEvents", "Content-Type": "application/x-amz-json-1.1",
      "User-Agent": "aws-cli/2.0"}, b'{"logStreamName":"d/default/1"}'),
    ("header-blanks", "header", "batch", "POST", "http://localhost:1/v1/x", None,
     {"X-Amz-Meta-A": "  a   b  ", "My-Header": "x"}, b"{}"),
    ("ipv6-host", "header", "batch", "POST", "http://[::1]:8790/v1/listjobs", None, {}, b"{}"),
    ("path-dots", "header", "batch", "GET", "http://localhost/v1/./a//b/../c/", None, {}, b""),
    ("utf8-path", "header", "batch", "GET", "http://localhost/v1/%E1%88%B4%20x", None, {}, b""),
    ("token", "header-token", "batch", "POST", "http://localhost/v1/listjobs", None, {}, b"{}"),
    ("s3-put", "s3", "s3", "PUT", "http://localhost:8790/bucket/a%20b/%C3%A9%2B%26.txt", None, {}, b"hello"),
    ("s3-list", "s3", "s3", "GET", "http://localhost:8790/bucket", {"list-type": "2", "prefix": "a b/", "delimiter": "/"},
     {}, b""),
    ("s3-dots", "s3", "s3", "GET", "http://localhost:8790/bucket/a//b/../c", None, {}, b""),
    ("s3-presigned", "s3-query", "s3", "GET", "http://localhost:8790/bucket/key%20with%20blank", None, {}, b""),
    ("presigned", "query", "batch", "GET", "http://localhost:8790/v1/describe", {"a": "b c"}, {}, b""),
]


class FixedDatetime(datetime.datetime):
    @classmethod
    def utcnow(cls):
        return NOW

    @classmethod
    def now(cls, tz=None):
        return NOW.replace(tzinfo=datetime.timezone.utc) if tz else NOW


def signer_of(kind, service):
    credentials = Credentials(KEY, SECRET, "TOKEN/123==" if kind == "header-token" else None)
    if kind in ("header", "header-token"):
        return botocore.auth.SigV4Auth(credentials, service, "us-east-1")
    if kind == "query":
        return botocore.auth.SigV4QueryAuth(credentials, service, "us-east-1", expires=900)
    if kind == "s3":
        return botocore.auth.S3SigV4Auth(credentials, service, "us-east-1")
    return botocore.auth.S3SigV4QueryAuth(credentials, service, "us-east-1", expires=900)


def entry(name, kind, service, method, url, params, headers, body):
    request = AWSRequest(method=method, url=url, params=params or {}, headers=headers, data=body)
    request.context["payload_signing_enabled"] = True
    signer_of(kind, service).add_auth(request)
    prepared = request.prepare()
    parts = urlsplit(prepared.url)
    sent = [[k, v.decode() if isinstance(v, bytes) else v] for k, v in prepared.headers.items()]
    if "host" not in [k.lower() for k, _ in sent]:
        sent.append(["Host", parts.netloc])
    return {"name": name, "kind": kind, "service": service, "method": method, "path": parts.path, "query": parts.query,
            "headers": sent, "body": body.decode()}


def main():
    patches = [mock.patch("botocore.auth.datetime.datetime" if hasattr(botocore.auth, "datetime") and
                          hasattr(botocore.auth.datetime, "datetime") else "botocore.auth.datetime", FixedDatetime)]
    if hasattr(botocore.auth, "get_current_datetime"):
        patches = [mock.patch("botocore.auth.get_current_datetime", lambda remove_tzinfo=True: NOW)]
    for patch in patches:
        patch.start()
    out = {"botocore": botocore.__version__, "now": NOW.strftime("%Y%m%dT%H%M%SZ"), "access_key_id": KEY,
           "secret_access_key": SECRET, "requests": [entry(*case) for case in CASES]}
    path = pathlib.Path(__file__).with_name("sigv4.json")
    path.write_text(json.dumps(out, indent=1, ensure_ascii=False) + "\n")


if __name__ == "__main__":
    main()
