"""Rules of the source tree that need no compiler: layout, scripts, package list, documents."""
import pathlib
import re
import subprocess

ROOT = pathlib.Path(__file__).resolve().parents[1]


def tracked(*patterns):
    listed = subprocess.run(["git", "ls-files", "-co", "--exclude-standard", "-z", "--", *patterns], cwd=ROOT,
                            text=True, stdout=subprocess.PIPE, check=True).stdout.split("\0")
    return [path for path in listed if path and (ROOT / path).is_file()]


def check(command):
    ended = subprocess.run(command, cwd=ROOT, text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=False)
    assert ended.returncode == 0, ended.stdout


def test_cpp_layout_is_clang_formats():
    check(["clang-format-19", "--dry-run", "-Werror", *tracked("*.cc", "*.h")])


def test_shell_scripts_pass_shellcheck():
    scripts = [path for path in tracked("tools", ".ci", "bench", "tests", "examples")
               if (ROOT / path).read_bytes()[:40].split(b"\n")[0] in (b"#!/bin/bash", b"#!/bin/sh", b"#!/usr/bin/env bash")]
    assert "tools/deps" in scripts
    check(["shellcheck", *scripts])


def test_python_compiles_without_warnings():
    for path in tracked("*.py") + ["tests/run"]:
        compile((ROOT / path).read_text(), path, "exec")


def test_package_list_is_a_package_and_a_reason_a_line():
    lines = [line for line in (ROOT / "tools/deps.txt").read_text().splitlines() if line and not line.startswith("#")]
    names = []
    for line in lines:
        match = re.fullmatch(r"([a-z0-9][a-z0-9+.-]+)\s+# \S.*", line)
        assert match, line
        names.append(match.group(1))
    assert len(names) == len(set(names))


def test_every_source_folder_says_what_belongs_there():
    folders = {"/".join(path.split("/")[:2]) for path in tracked("src") if path.count("/") > 1}
    assert "src/base" in folders
    assert [folder for folder in sorted(folders) if not (ROOT / folder / "README.md").exists()] == []


def test_headers_begin_with_their_purpose():
    bad = [path for path in tracked("src/*.h") if not (ROOT / path).read_text().startswith("// ")]
    assert bad == []


def slug(heading):
    return re.sub(r"[^\w\- ]", "", heading.strip().lower()).replace(" ", "-")


def anchors(path):
    return {slug(line.lstrip("#")) for line in path.read_text().splitlines() if re.match(r"#+ ", line)}


def test_links_between_documents_lead_somewhere():
    dead = []
    for path in tracked("*.md"):
        for target in re.findall(r"\]\(([^)\s]+)\)", (ROOT / path).read_text()):
            if re.match(r"[a-z]+:", target):
                continue
            file, _, anchor = target.partition("#")
            found = (ROOT / path).parent / file if file else ROOT / path
            if not found.exists() or (anchor and slug(anchor) not in anchors(found)):
                dead.append(f"{path}: {target}")
    assert dead == []


def test_spanish_readme_has_the_same_parts():
    english, spanish = ((ROOT / name).read_text() for name in ("README.md", "README.es.md"))
    for part in (r"^#+ ", r"^\| ", r"^```", r"^- "):
        assert len(re.findall(part, english, re.M)) == len(re.findall(part, spanish, re.M)), part
    assert re.findall(r"^```\w*\n(.*?)^```", english, re.M | re.S) == re.findall(r"^```\w*\n(.*?)^```", spanish,
                                                                                re.M | re.S)
