"""Steps, notes and tables on a terminal; plain text where there is none or NO_COLOR is set."""
import os
import sys
import time

COLOURS = {"blue": "1;34", "green": "1;32", "red": "1;31", "grey": "2"}
BEGAN = time.monotonic()


def paint(colour, text):
    if not sys.stdout.isatty() or os.environ.get("NO_COLOR"):
        return text
    return f"\033[{COLOURS[colour]}m{text}\033[0m"


def step(text):
    print(paint("blue", f"[{time.monotonic() - BEGAN:5.1f} s] {text}"), flush=True)


def note(text):
    print(f"          {text}", flush=True)


def log_line(text):
    print(paint("grey", f"          | {text}"), flush=True)


def result(text):
    print(paint("green", f"          {text}"), flush=True)


def error(text):
    print(paint("red", text), file=sys.stderr, flush=True)


def seconds(value):
    return f"{value:.1f} s"


def table(head, rows):
    widths = [max(len(row[column]) for row in [head, *rows]) for column in range(len(head))]
    for row in [head, *rows]:
        note("  ".join(cell.ljust(width) for cell, width in zip(row, widths)).rstrip())
