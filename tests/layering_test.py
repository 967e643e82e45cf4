"""The rules of layering.py hold in this tree, and each of them catches a planted breach."""
import pathlib
import sys

import pytest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
import layering  # noqa: E402  (the path must be set first)


def breaches(rule, path, text):
    return [(number, why) for _, number, why in layering.RULES[rule]({path: text})]


@pytest.mark.parametrize("rule", layering.RULES)
def test_tree_keeps_rule(rule):
    found = [f"{path}:{number}: {why}" for path, number, why in layering.RULES[rule](layering.read_tree())]
    assert not found, "\n" + "\n".join(found)


def test_tree_is_read():
    files = layering.read_tree()
    assert "src/domain/job.h" in files and "README.md" in files


def test_table_has_no_cycle():
    done = set()
    while len(done) < len(layering.LAYERS):
        ready = {layer for layer, below in layering.LAYERS.items() if layer not in done and below <= done}
        assert ready, f"a cycle among {set(layering.LAYERS) - done}"
        done |= ready


@pytest.mark.parametrize("path, include, why", [
    ("src/core/x/rule.cc", "control/loop.h", "core may not include control"),
    ("src/core/x/rule.cc", "ports/clock.h", "core may not include ports"),
    ("src/base/check.h", "domain/job.h", "base may not include domain"),
    ("src/wire/sigv4.cc", "domain/job.h", "wire may not include domain"),
    ("src/api/batch/jobs.cc", "adapters/launch_local/launcher.h", "api may not include adapters"),
    ("src/adapters/journal_sqlite/journal.cc", "adapters/launch_local/launcher.h",
     "adapters/journal_sqlite may not include adapters/launch_local"),
    ("src/domain/job.cc", "fmt/format.h", "write <fmt/format.h> for the header of a library"),
    ("src/core/x/rule.cc", "rule.h", 'write #include "folder/file.h" relative to src/, not "rule.h"'),
])
def test_wrong_include_is_caught(path, include, why):
    assert breaches("layers", path, f'// purpose\n#include "{include}"\n') == [(2, why)]


@pytest.mark.parametrize("path, include", [
    ("src/control/loop.cc", "core/state/state.h"),
    ("src/adapters/journal_sqlite/journal.cc", "adapters/journal_sqlite/journal.h"),
    ("src/core/x/rule_test.cc", "sim/world.h"),
    ("src/main.cc", "api/server.h"),
])
def test_right_include_passes(path, include):
    assert breaches("layers", path, f'#include "{include}"\n') == []


def test_folder_outside_the_table_is_caught():
    assert breaches("layers", "src/misc/x.cc", "") == [(1, "src/misc is not in the table of tests/layering.py")]


@pytest.mark.parametrize("line", [
    "#include <fstream>", "#include <thread>", "#include <filesystem>", "#include <sys/stat.h>",
    "std::random_device device;", "int r = rand();", 'auto* p = std::getenv("X");',
])
def test_impure_line_is_caught(line):
    assert [number for number, _ in breaches("purity", "src/core/x/rule.cc", f"int a;\n{line}\n")] == [2]
    assert breaches("purity", "src/api/rule.cc", f"{line}\n") == []


@pytest.mark.parametrize("line", [
    "auto now = std::chrono::system_clock::now();", "auto t = std::chrono::steady_clock::now();",
    "auto t = time(nullptr);", "auto t = std::time(0);",
])
@pytest.mark.parametrize("folder", ["core/x", "domain", "control", "sim"])
def test_clock_below_the_adapters_is_caught(line, folder):
    assert [number for number, _ in breaches("clocks", f"src/{folder}/rule.cc", f"int a;\n{line}\n")] == [2]
    assert breaches("clocks", "src/adapters/x/rule.cc", f"{line}\n") == []


@pytest.mark.parametrize("line", ["Duration time(int x);", "run_time(0);", "// the system_clock is not read here",
                                  "#include <chrono>", "job.time()"])
def test_pure_line_passes(line):
    assert breaches("purity", "src/core/x/rule.cc", f"{line}\n") == []
    assert breaches("clocks", "src/core/x/rule.cc", f"{line}\n") == []


@pytest.mark.parametrize("walk", ["for (const auto& [id, job] : jobs_) use(job);",
                                  "for (auto& [id, job] : state.jobs_) use(job);", "auto first = jobs_.begin();"])
def test_walk_over_a_hash_table_is_caught(walk):
    text = f"std::unordered_map<JobId, Job> jobs_;\n{walk}\n"
    assert [number for number, _ in breaches("purity", "src/core/x/state.cc", text)] == [2]
    assert breaches("purity", "src/core/x/state.cc", text.replace("unordered_map", "map")) == []


def test_long_file_is_caught():
    assert breaches("length", "src/api/x.cc", "int a;\n" * layering.MAX_LINES) == []
    assert [number for number, _ in breaches("length", "src/api/x.cc", "int a;\n" * (layering.MAX_LINES + 1))] == [451]


@pytest.mark.parametrize("word", ["TO" + "DO", "FIX" + "ME", "/ro" + "ot/data", "/wo" + "rk/main", "../sha" + "red"])
def test_forbidden_word_is_caught(word):
    assert [number for number, _ in breaches("words", "docs/x.md", f"fine\nsee {word} now\n")] == [2]
