"""Groups, streams and events that clients make themselves, through the CloudWatch Logs API."""
import time
import uuid

import botocore.exceptions
import pytest


def now():
    return int(time.time() * 1000)


@pytest.fixture
def group(logs):
    name = f"/test/{uuid.uuid4().hex}"
    logs.create_log_group(logGroupName=name)
    yield name
    try:
        logs.delete_log_group(logGroupName=name)
    except logs.exceptions.ResourceNotFoundException:
        pass


@pytest.fixture
def stream(logs, group):
    logs.create_log_stream(logGroupName=group, logStreamName="s")
    return "s"


def put(logs, group, stream, *events, **arguments):
    return logs.put_log_events(logGroupName=group, logStreamName=stream, **arguments,
                               logEvents=[{"timestamp": t, "message": m} for t, m in events])


def get(logs, group, stream, **arguments):
    page = logs.get_log_events(logGroupName=group, logStreamName=stream, startFromHead=True, **arguments)
    return [(event["timestamp"], event["message"]) for event in page["events"]]


def code_of(call):
    with pytest.raises(botocore.exceptions.ClientError) as caught:
        call()
    return caught.value.response["Error"]["Code"]


def test_group_is_made_listed_and_deleted(logs):
    name = f"/made/{uuid.uuid4().hex}"
    before = now()
    logs.create_log_group(logGroupName=name, tags={"team": "vision"})
    assert code_of(lambda: logs.create_log_group(logGroupName=name)) == "ResourceAlreadyExistsException"
    (found,) = logs.describe_log_groups(logGroupNamePrefix=name)["logGroups"]
    assert found["logGroupName"] == name
    assert before - 1000 <= found["creationTime"] <= now() + 1000
    assert found["arn"].endswith(f":log-group:{name}:*")
    assert found["storedBytes"] == 0 and found["metricFilterCount"] == 0
    assert "retentionInDays" not in found
    pattern = name[3:20]
    assert [g["logGroupName"] for g in logs.describe_log_groups(logGroupNamePattern=pattern)["logGroups"]] == [name]
    logs.delete_log_group(logGroupName=name)
    assert logs.describe_log_groups(logGroupNamePrefix=name)["logGroups"] == []
    assert code_of(lambda: logs.delete_log_group(logGroupName=name)) == "ResourceNotFoundException"


def test_groups_are_paged_in_order(logs):
    prefix = f"/paged/{uuid.uuid4().hex}/"
    names = [f"{prefix}{i}" for i in range(7)]
    for name in names:
        logs.create_log_group(logGroupName=name)
    pages = list(logs.get_paginator("describe_log_groups").paginate(
        logGroupNamePrefix=prefix, PaginationConfig={"PageSize": 3}))
    assert [[g["logGroupName"] for g in page["logGroups"]] for page in pages] == [names[:3], names[3:6], names[6:]]
    for name in names:
        logs.delete_log_group(logGroupName=name)


def test_streams_are_made_listed_both_ways_and_deleted(logs, group):
    for name in ("b", "a", "c/d"):
        logs.create_log_stream(logGroupName=group, logStreamName=name)
    assert code_of(lambda: logs.create_log_stream(logGroupName=group, logStreamName="a")) == "ResourceAlreadyExistsException"

    def names(**arguments):
        pages = logs.get_paginator("describe_log_streams").paginate(
            logGroupName=group, PaginationConfig={"PageSize": 2}, **arguments)
        return [stream["logStreamName"] for page in pages for stream in page["logStreams"]]

    assert names() == ["a", "b", "c/d"]
    assert names(descending=True) == ["c/d", "b", "a"]
    assert names(logStreamNamePrefix="c") == ["c/d"]
    t = now()
    put(logs, group, "b", (t, "x"))
    put(logs, group, "a", (t + 5, "x"))
    assert names(orderBy="LastEventTime") == ["c/d", "b", "a"]
    assert names(orderBy="LastEventTime", descending=True) == ["a", "b", "c/d"]
    logs.delete_log_stream(logGroupName=group, logStreamName="b")
    assert names() == ["a", "c/d"]
    assert code_of(lambda: logs.delete_log_stream(logGroupName=group, logStreamName="b")) == "ResourceNotFoundException"
    assert code_of(lambda: logs.get_log_events(logGroupName=group, logStreamName="b")) == "ResourceNotFoundException"


def test_events_come_back_in_order_of_time(logs, group, stream):
    t = now()
    answer = put(logs, group, stream, (t, "first"), (t, "second"), (t + 10, "third ñ 𝄞"))
    assert "rejectedLogEventsInfo" not in answer
    put(logs, group, stream, (t + 5, "late"), sequenceToken=answer["nextSequenceToken"])
    put(logs, group, stream, (t + 20, "any token goes"), sequenceToken="whatever")
    everything = [(t, "first"), (t, "second"), (t + 5, "late"), (t + 10, "third ñ 𝄞"), (t + 20, "any token goes")]
    assert get(logs, group, stream) == everything
    assert get(logs, group, stream, startTime=t + 5, endTime=t + 20) == everything[2:4]
    (described,) = logs.describe_log_streams(logGroupName=group)["logStreams"]
    assert (described["firstEventTimestamp"], described["lastEventTimestamp"]) == (t, t + 20)
    assert described["uploadSequenceToken"]


def test_events_are_paged_both_ways_and_the_last_token_repeats(logs, group, stream):
    t = now() - 1000
    put(logs, group, stream, *[(t + i, f"{i}") for i in range(10)])
    arguments = {"logGroupName": group, "logStreamName": stream, "limit": 4}
    forward, token = [], {}
    while True:
        page = logs.get_log_events(startFromHead=True, **arguments, **token)
        forward.append([event["message"] for event in page["events"]])
        if token.get("nextToken") == page["nextForwardToken"]:
            break
        token = {"nextToken": page["nextForwardToken"]}
    assert forward == [["0", "1", "2", "3"], ["4", "5", "6", "7"], ["8", "9"], []]
    backward, token = [], {}
    while True:
        page = logs.get_log_events(**arguments, **token)
        backward.append([event["message"] for event in page["events"]])
        if token.get("nextToken") == page["nextBackwardToken"]:
            break
        token = {"nextToken": page["nextBackwardToken"]}
    assert backward == [["6", "7", "8", "9"], ["2", "3", "4", "5"], ["0", "1"], []]
    put(logs, group, stream, (now(), "more"))
    page = logs.get_log_events(**arguments, startFromHead=True, nextToken=page["nextForwardToken"])
    assert [event["message"] for event in page["events"]] == ["0", "1", "2", "3"]


def test_events_too_old_and_too_new_are_rejected_by_index(logs, group, stream):
    t = now()
    hour, day = 3_600_000, 86_400_000
    answer = put(logs, group, stream, (t - 15 * day, "old"), (t - 15 * day + 1, "old"))
    assert answer["rejectedLogEventsInfo"] == {"tooOldLogEventEndIndex": 2}
    answer = put(logs, group, stream, (t, "kept"), (t + hour, "kept too"), (t + 3 * hour, "new"))
    assert answer["rejectedLogEventsInfo"] == {"tooNewLogEventStartIndex": 2}
    assert [message for _, message in get(logs, group, stream)] == ["kept", "kept too"]
    logs.put_retention_policy(logGroupName=group, retentionInDays=1)
    answer = put(logs, group, stream, (t - day - hour, "expired"), (t - hour - 1, "not"))
    assert answer["rejectedLogEventsInfo"] == {"expiredLogEventEndIndex": 1}


def test_batches_have_limits(logs, group, stream):
    t = now()
    invalid = "InvalidParameterException"
    assert code_of(lambda: put(logs, group, stream, (t, "b"), (t - 1, "a"))) == invalid
    assert code_of(lambda: put(logs, group, stream, (t - 86_400_001, "a"), (t, "b"))) == invalid
    assert code_of(lambda: put(logs, group, stream, (t, "x" * (256 * 1024 - 26 + 1)))) == invalid
    put(logs, group, stream, (t, "x" * (256 * 1024 - 26)))
    # 1,048,576 bytes: 8 events of 131,046 characters and 26 bytes each.
    put(logs, group, stream, *[(t, "y" * 131_046)] * 8)
    assert code_of(lambda: put(logs, group, stream, *[(t, "y" * 131_046)] * 7, (t, "y" * 131_047))) == invalid
    put(logs, group, stream, *[(t, "z")] * 10_000)
    assert code_of(lambda: put(logs, group, stream, *[(t, "z")] * 10_001)) == invalid


def test_filter_goes_over_the_groups_streams(logs, group):
    t = now() - 1000
    for name in ("web-1", "web-2", "db"):
        logs.create_log_stream(logGroupName=group, logStreamName=name)
    put(logs, group, "web-1", (t, "GET /a"), (t + 2, "ERROR /b"))
    put(logs, group, "web-2", (t + 1, "GET /c"), (t + 3, "ERROR /d"))
    put(logs, group, "db", (t + 4, "ERROR lock"))

    def found(**arguments):
        pages = logs.get_paginator("filter_log_events").paginate(
            logGroupName=group, PaginationConfig={"PageSize": 2}, **arguments)
        return [(event["logStreamName"], event["message"]) for page in pages for event in page["events"]]

    assert found(logStreamNamePrefix="web") == [
        ("web-1", "GET /a"), ("web-2", "GET /c"), ("web-1", "ERROR /b"), ("web-2", "ERROR /d")]
    assert found(filterPattern="ERROR", logStreamNames=["web-1", "db"]) == [("web-1", "ERROR /b"), ("db", "ERROR lock")]
    assert found(startTime=t + 2, endTime=t + 3) == [("web-1", "ERROR /b"), ("web-2", "ERROR /d")]
    assert code_of(lambda: logs.filter_log_events(logGroupName=group, logStreamNames=["db"], logStreamNamePrefix="web")
                   ) == "InvalidParameterException"


def test_retention_is_set_and_lifted(logs, group):
    def retention():
        return logs.describe_log_groups(logGroupNamePrefix=group)["logGroups"][0].get("retentionInDays")

    logs.put_retention_policy(logGroupName=group, retentionInDays=14)
    assert retention() == 14
    assert code_of(lambda: logs.put_retention_policy(logGroupName=group, retentionInDays=2)) == "InvalidParameterException"
    assert retention() == 14
    logs.delete_retention_policy(logGroupName=group)
    assert retention() is None


def test_tags_by_arn_and_by_name(logs, group):
    arn = logs.describe_log_groups(logGroupNamePrefix=group)["logGroups"][0]["arn"]
    logs.tag_resource(resourceArn=arn[:-2], tags={"a": "1", "b": "2"})
    logs.tag_log_group(logGroupName=group, tags={"b": "3", "c": ""})
    expected = {"a": "1", "b": "3", "c": ""}
    assert logs.list_tags_for_resource(resourceArn=arn)["tags"] == expected
    assert logs.list_tags_log_group(logGroupName=group)["tags"] == expected
    logs.untag_resource(resourceArn=arn[:-2], tagKeys=["a", "unknown"])
    logs.untag_log_group(logGroupName=group, tags=["c"])
    assert logs.list_tags_log_group(logGroupName=group)["tags"] == {"b": "3"}
    assert code_of(lambda: logs.tag_resource(resourceArn=arn, tags={f"k{i}": "" for i in range(50)})) == "TooManyTagsException"
    missing = arn.replace(group, "/absent")
    assert code_of(lambda: logs.list_tags_for_resource(resourceArn=missing)) == "ResourceNotFoundException"


@pytest.mark.parametrize("name", ["", "with blank", "ñ", "a\nb", "a:b", "x" * 513])
def test_bad_group_names_are_refused(logs, name):
    # botocore itself refuses an empty name.
    with pytest.raises((botocore.exceptions.ClientError, botocore.exceptions.ParamValidationError)) as caught:
        logs.create_log_group(logGroupName=name)
    if isinstance(caught.value, botocore.exceptions.ClientError):
        assert caught.value.response["Error"]["Code"] == "InvalidParameterException"


def test_what_is_absent_is_not_found(logs, group):
    absent = "ResourceNotFoundException"
    assert code_of(lambda: logs.create_log_stream(logGroupName="/absent", logStreamName="s")) == absent
    assert code_of(lambda: logs.describe_log_streams(logGroupName="/absent")) == absent
    assert code_of(lambda: logs.filter_log_events(logGroupName="/absent")) == absent
    assert code_of(lambda: put(logs, group, "absent", (now(), "x"))) == absent
    assert code_of(lambda: put(logs, "/absent", "s", (now(), "x"))) == absent
    assert code_of(lambda: logs.put_retention_policy(logGroupName="/absent", retentionInDays=1)) == absent


def test_operation_that_is_not_offered_is_named(logs, group):
    with pytest.raises(botocore.exceptions.ClientError, match="StartQuery"):
        logs.start_query(logGroupName=group, startTime=0, endTime=1, queryString="fields @message")


def test_everything_outlives_a_group_of_its_name(logs, group, stream):
    put(logs, group, stream, (now(), "gone"))
    logs.delete_log_group(logGroupName=group)
    logs.create_log_group(logGroupName=group)
    assert logs.describe_log_streams(logGroupName=group)["logStreams"] == []


def test_cli_puts_and_gets(server, aws, group, stream):
    aws("logs", "put-log-events", "--log-group-name", group, "--log-stream-name", stream,
        "--log-events", f"timestamp={now()},message=hello")
    found = aws("logs", "filter-log-events", "--log-group-name", group)
    assert [event["message"] for event in found["events"]] == ["hello"]
    tail = server.aws("logs", "tail", group, "--format", "short", check=False)
    assert tail.returncode == 0 and tail.stdout.endswith(" hello\n"), tail
