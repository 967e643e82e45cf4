"""The driver never takes for passed what did not run to its end and pass."""
import json
import pathlib
import sys

import pytest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
import results  # noqa: E402  (the path must be set first)


def gtest_report(directory, **tests):
    cases = [{"name": name, "status": "RUN", "result": "COMPLETED", **more} for name, more in tests.items()]
    (directory / "report.json").write_text(json.dumps({"testsuites": [{"name": "Rule", "testsuite": cases}]}))


def failed_tests(outcome):
    return [failure.test for failure in outcome.failures]


def test_passed_and_failed_are_counted(tmp_path):
    gtest_report(tmp_path, holds={}, also={}, breaks={"failures": [{"failure": "expected 2, was 3"}]})
    outcome = results.read_gtest("core", tmp_path, "", 1)
    assert outcome.passed == 2
    assert [(f.test, f.text) for f in outcome.failures] == [("Rule.breaks", "expected 2, was 3")]


@pytest.mark.parametrize("more", [{"result": "SKIPPED"}, {"status": "NOTRUN", "result": "SUPPRESSED"}])
def test_skip_and_disabled_are_failures(tmp_path, more):
    gtest_report(tmp_path, holds={}, skipped=more)
    outcome = results.read_gtest("core", tmp_path, "", 0)
    assert (outcome.passed, failed_tests(outcome)) == (1, ["Rule.skipped"])


def test_program_without_tests_fails(tmp_path):
    (tmp_path / "report.json").write_text('{"testsuites": []}')
    assert failed_tests(results.read_gtest("core", tmp_path, "", 0)) == ["(the suite)"]


def test_bad_exit_after_good_tests_fails(tmp_path):
    gtest_report(tmp_path, holds={})
    outcome = results.read_gtest("core", tmp_path, "WARNING: ThreadSanitizer: data race", 66)
    assert outcome.passed == 1
    assert "exit code 66" in outcome.failures[0].text and "data race" in outcome.failures[0].text


def test_crash_is_blamed_on_the_test_that_ran(tmp_path):
    output = ("[ RUN      ] Rule.first\n[       OK ] Rule.first (0 ms)\n"
              "[ RUN      ] Rule.second\nsecond: broken invariant\n")
    outcome = results.read_gtest("core", tmp_path, output, -6)
    assert (outcome.passed, failed_tests(outcome)) == (1, ["Rule.second"])
    assert "code -6" in outcome.failures[0].text


def test_crash_before_any_test_fails(tmp_path):
    outcome = results.read_gtest("core", tmp_path, "no such library", 127)
    assert (outcome.passed, failed_tests(outcome)) == (0, ["(the suite)"])


def test_crash_between_tests_fails(tmp_path):
    outcome = results.read_gtest("core", tmp_path, "[ RUN      ] Rule.a\n[       OK ] Rule.a (0 ms)\n", -11)
    assert (outcome.passed, failed_tests(outcome)) == (1, ["(the suite)"])


def test_time_limit_fails_with_its_name(tmp_path):
    outcome = results.read_gtest("core", tmp_path, "[ RUN      ] Rule.hangs\n", None)
    assert "Rule.hangs" in failed_tests(outcome)
    assert "time limit" in outcome.failures[0].text


def junit_report(directory, cases):
    (directory / "report.xml").write_text(f"<testsuites><testsuite>{cases}</testsuite></testsuites>")


def test_pytest_report_is_read(tmp_path):
    junit_report(tmp_path, '<testcase classname="e2e" name="a"/>'
                           '<testcase classname="e2e" name="b"><failure message="m">assert 1 == 2</failure></testcase>'
                           '<testcase classname="e2e" name="c"><skipped type="pytest.xfail" message="later"/></testcase>'
                           '<testcase classname="e2e" name="d"><error message="fixture">boom</error></testcase>')
    outcome = results.read_junit("end to end", tmp_path, "", 1)
    assert outcome.passed == 1
    assert failed_tests(outcome) == ["e2e.b", "e2e.c", "e2e.d"]


def test_pytest_without_tests_fails(tmp_path):
    junit_report(tmp_path, "")
    assert failed_tests(results.read_junit("end to end", tmp_path, "collected 0 items", 5)) == ["(the suite)"]


def test_pytest_without_report_fails(tmp_path):
    outcome = results.read_junit("end to end", tmp_path, "No module named pytest", 1)
    assert "No module named pytest" in outcome.failures[0].text


def test_sums_and_failure_list(tmp_path):
    good = results.Outcome("good", passed=3)
    bad = results.broken("bad", "\n".join(f"line {n}" for n in range(10)))
    assert results.sums([good, bad]) == (3, 1)
    text = results.failure_list([good, bad], limit_lines=4)
    assert "--- bad: (the suite)" in text and "... 6 lines left out ..." in text
    assert "line 9" in text and "line 5\n" not in text
    assert results.failure_list([good], 4) == ""
