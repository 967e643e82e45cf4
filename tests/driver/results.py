"""Reads what test programs leave behind, strictly: what did not run to its end and pass has failed."""
import dataclasses
import json
import re
import xml.etree.ElementTree


@dataclasses.dataclass
class Failure:
    test: str
    text: str


@dataclasses.dataclass
class Outcome:
    suite: str
    passed: int = 0
    failures: list = dataclasses.field(default_factory=list)

    def fail(self, test, text):
        self.failures.append(Failure(test, text))


def broken(suite, text):
    """A suite that could not run at all."""
    outcome = Outcome(suite)
    outcome.fail("(the suite)", text)
    return outcome


def settle(outcome, code, output):
    """Adds what a list of tests does not show: a bad end, a time limit, an empty list."""
    if code is None:
        outcome.fail("(the suite)", "did not end within its time limit\n" + output)
    elif code != 0 and not outcome.failures:
        ended = f"was killed by signal {-code}" if code < 0 else f"ended with exit code {code}"
        outcome.fail("(the suite)", f"{ended} although no test failed\n" + output)
    elif outcome.passed == 0 and not outcome.failures:
        outcome.fail("(the suite)", "ran no test\n" + output)
    return outcome


def read_gtest(suite, directory, output, code):
    """From GoogleTest's report.json; from the output where the program died before writing it."""
    outcome = Outcome(suite)
    try:
        report = json.loads((directory / "report.json").read_text())
    except (OSError, ValueError):
        return settle(read_gtest_output(outcome, output, code), code, output)
    for group in report["testsuites"]:
        for test in group["testsuite"]:
            name = f"{group['name']}.{test['name']}"
            if test.get("failures"):
                outcome.fail(name, "\n".join(failure["failure"] for failure in test["failures"]))
            elif test["status"] != "RUN" or test.get("result") != "COMPLETED":
                outcome.fail(name, "was skipped or is disabled: a test either holds or fails")
            else:
                outcome.passed += 1
    return settle(outcome, code, output)


def read_gtest_output(outcome, output, code):
    running = None
    for line in output.splitlines():
        match = re.match(r"\[ RUN      \] (\S+)|\[       OK \] (\S+)|\[  (?:FAILED|SKIPPED)[ ]+\] ([^\s,]+)", line)
        if not match:
            continue
        started, passed, failed = match.groups()
        if started:
            running = started
        elif passed and passed == running:
            outcome.passed += 1
            running = None
        elif failed and failed == running:
            outcome.fail(failed, output)
            running = None
    if running:
        ended = {None: "ran into the time limit"}.get(code, f"ended the program (code {code})")
        outcome.fail(running, f"{ended}\n{output}")
    return outcome


def read_junit(suite, directory, output, code):
    """From pytest's report.xml."""
    outcome = Outcome(suite)
    try:
        root = xml.etree.ElementTree.parse(directory / "report.xml").getroot()
    except (OSError, xml.etree.ElementTree.ParseError):
        return broken(suite, "left no report: it did not run\n" + output)
    for case in root.iter("testcase"):
        name = f"{case.get('classname')}.{case.get('name')}"
        bad = [child for child in case if child.tag in ("failure", "error", "skipped")]
        if bad:
            outcome.fail(name, "\n".join(f"{child.tag}: {child.text or child.get('message')}" for child in bad))
        else:
            outcome.passed += 1
    return settle(outcome, code, output)


def sums(outcomes):
    return sum(outcome.passed for outcome in outcomes), sum(len(outcome.failures) for outcome in outcomes)


def failure_list(outcomes, limit_lines):
    """Each failure with the end of its output; empty where there is none."""
    parts = []
    for outcome in outcomes:
        for failure in outcome.failures:
            lines = failure.text.strip().splitlines()
            if len(lines) > limit_lines:
                lines = [f"... {len(lines) - limit_lines} lines left out ..."] + lines[-limit_lines:]
            parts.append(f"\n--- {outcome.suite}: {failure.test}\n" + "".join(f"    {line}\n" for line in lines))
    return "".join(parts) + ("\n" if parts else "")
