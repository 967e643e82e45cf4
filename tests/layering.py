#!/usr/bin/python3
"""Reads the sources and tells where they break the rules of the layers (ARCHITECTURE.md) and of the pure core.

    tests/layering.py        prints each breach as file:line: text; exit code 1 if there is one

layering_test.py runs the same on this tree and shows that each rule catches a planted breach.
"""
import pathlib
import re
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[1]
MAX_LINES = 450

# Folder of src/ -> folders that it may include. Only what is named: "control may include core" says nothing of domain.
LAYERS = {
    "base": set(),
    "wire": {"base"},
    "domain": {"base"},
    "codec": {"domain", "base"},
    "core": {"domain", "base"},
    "ports": {"domain", "base"},
    "attempt_dir": {"domain", "base"},
    "control": {"core", "ports", "domain", "base"},
    "adapters": {"ports", "wire", "codec", "attempt_dir", "domain", "base"},
    "agent": {"core", "ports", "wire", "attempt_dir", "domain", "base"},
    "sim": {"control", "core", "ports", "codec", "domain", "base"},
    "api": {"control", "core", "ports", "wire", "attempt_dir", "domain", "base"},
    "serve": {"api", "control", "core", "adapters", "agent", "attempt_dir", "codec", "ports", "wire", "domain", "base"},
    "cli": {"ports", "wire", "domain", "base"},
}

SHARED_ADAPTERS = {"sqlite"}  # what several adapters are built on; otherwise none knows another

PURE = ("core", "domain")  # no clock, file, thread, chance or hash order
PURE_RULES = [
    (r'#include <(fstream|filesystem|thread|mutex|shared_mutex|condition_variable|atomic|future|random|iostream|'
     r'unistd\.h|fcntl\.h|sys/[\w/]+\.h|time\.h|ctime|cstdio|stdio\.h)>', "a pure layer includes no such header"),
    (r'\brandom_device\b|\b(std::)?s?rand\s*\(|\bmt19937', "chance comes from named streams of base/prng.h"),
    (r'\bgetenv\b', "a pure layer reads no environment"),
]
TIMED = (*PURE, "codec", "control", "ports", "sim")  # time comes in; a simulated world has its own
CLOCK_RULES = [
    (r'\b(system_clock|steady_clock|high_resolution_clock|clock_gettime|gettimeofday)\b', "only adapters read a clock"),
    (r'(?<![\w.:>])(std::)?time\s*\(\s*(nullptr|NULL|0)?\s*\)', "only adapters read a clock"),
]
UNORDERED = re.compile(r'\bunordered_(?:map|set|multimap|multiset)\s*<[^;{()]*>\s+(\w+)\s*(?:;|=|\{)')

# Put together so that this file does not break its own rule.
FORBIDDEN = [
    (r'\b(TO' + r'DO|FIX' + r'ME|XX' + r'X|HA' + r'CK)\b', "unfinished work belongs in an issue, not in the source"),
    (r'/wo' + r'rk/(main|shared|build)|/ro' + r'ot/|\.\./sha' + r'red', "a path of one machine"),
]
TEXT_SUFFIXES = {".cc", ".h", ".py", ".md", ".txt", ".sh", ".cmake", ".json", ".yaml", ".yml", ""}
NO_TEXT_RULES = ("tests/golden/", "tests/fuzz/corpus", "LICENSE")


def read_tree(root=ROOT):
    """path -> text of every text file that git tracks or would track."""
    listed = subprocess.run(["git", "ls-files", "-co", "--exclude-standard", "-z"], cwd=root, text=True,
                            stdout=subprocess.PIPE, check=True).stdout.split("\0")
    files = {}
    for path in filter(None, listed):
        file = root / path
        if file.suffix in TEXT_SUFFIXES and file.is_file() and not path.startswith(NO_TEXT_RULES):
            files[path] = file.read_text(errors="replace")
    return files


def is_source(path):
    return path.startswith("src/") and path.endswith((".cc", ".h"))


def is_test(path):
    return path.endswith(("_test.cc", "_testing.cc", "_test.h", "_testing.h"))


def folder(path):
    """"src/core/x/y.h" -> "core"; None for src/main.cc, which wires everything."""
    parts = path.split("/")
    return parts[1] if len(parts) > 2 else None


def without_comments(line):
    return line.split("//", 1)[0]


def layer_breaches(files):
    for path, text in files.items():
        if not is_source(path) or is_test(path) or folder(path) is None:
            continue
        layer = folder(path)
        if layer not in LAYERS:
            yield path, 1, f"src/{layer} is not in the table of tests/layering.py"
            continue
        for number, line in enumerate(text.splitlines(), 1):
            match = re.match(r'\s*#\s*include\s+"([^"]+)"', line)
            if not match:
                continue
            target = match.group(1).split("/")
            if "/" not in match.group(1) or match.group(1).startswith("."):
                yield path, number, f'write #include "folder/file.h" relative to src/, not "{match.group(1)}"'
            elif target[0] not in LAYERS:
                yield path, number, f"write <{match.group(1)}> for the header of a library"
            elif target[0] != layer and target[0] not in LAYERS[layer]:
                yield path, number, f"{layer} may not include {target[0]}"
            elif target[0] == layer == "adapters" and target[1] not in {path.split("/")[2], *SHARED_ADAPTERS}:
                yield path, number, f"adapters/{path.split('/')[2]} may not include adapters/{target[1]}"


def purity_breaches(files):
    pure = {path: text for path, text in files.items()
            if is_source(path) and folder(path) in PURE and not is_test(path)}
    unordered = {name for text in pure.values() for name in UNORDERED.findall(text)}
    for path, text in pure.items():
        for number, line in enumerate(text.splitlines(), 1):
            code = without_comments(line)
            for pattern, why in PURE_RULES:
                if re.search(pattern, code):
                    yield path, number, f"{why}: {code.strip()}"
            walked = re.search(r'\bfor\s*\(.*:\s*[\w.>()*-]*?(\w+)(?:\(\))?\s*\)', code) or re.search(
                r'\b(\w+)\.c?begin\s*\(', code)
            if walked and walked.group(1) in unordered:
                yield path, number, f"the order of {walked.group(1)} (a hash table) is not fixed: do not walk it"


def clock_breaches(files):
    for path, text in files.items():
        if not is_source(path) or folder(path) not in TIMED or is_test(path):
            continue
        for number, line in enumerate(text.splitlines(), 1):
            for pattern, why in CLOCK_RULES:
                if re.search(pattern, without_comments(line)):
                    yield path, number, f"{why}: {line.strip()}"


def length_breaches(files):
    for path, text in files.items():
        lines = text.count("\n")
        if path.startswith(("src/", "tests/", "bench/", "tools/", "examples/")) and lines > MAX_LINES:
            if path.endswith((".cc", ".h", ".py")) or "." not in path.rsplit("/", 1)[-1]:
                yield path, lines, f"has {lines} lines; split it by concept (at most {MAX_LINES})"


def word_breaches(files):
    for path, text in files.items():
        for number, line in enumerate(text.splitlines(), 1):
            for pattern, why in FORBIDDEN:
                if re.search(pattern, line):
                    yield path, number, f"{why}: {line.strip()}"


RULES = {"layers": layer_breaches, "purity": purity_breaches, "clocks": clock_breaches,
         "length": length_breaches, "words": word_breaches}


def main():
    files = read_tree()
    found = [breach for rule in RULES.values() for breach in rule(files)]
    for path, number, text in found:
        print(f"{path}:{number}: {text}")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
