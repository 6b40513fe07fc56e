"""c_tests.py [TESTS.c] - compiles the blocks fenced as c, with the tests if any are given, and runs the program.

It has to end with status 0 within 5 seconds. What the compiler calls an error is a fault of severity 5, a warning one of 3.
"""
import ctypes
import re
import subprocess
import sys

from findings import answer, draft, fenced, finding

PR_SET_DUMPABLE = 4
PROGRAM, SOURCE = "/tmp/program", "/tmp/draft.c"
DIAGNOSTIC = re.compile(rf"^{SOURCE}:(\d+):\d+: (?:fatal )?(error|warning): (.*)", re.M)


def run(*command):
    """How it failed, if it did, and its output; a child that goes on for ever is ended."""
    try:
        done = subprocess.run(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=5)
    except subprocess.TimeoutExpired:
        return "did not end within 5 s", ""
    return done.returncode and f"ended with status {done.returncode}", done.stdout.decode("utf-8", "replace")


def faults(code):
    with open(SOURCE, "w", encoding="utf-8") as file:
        file.write(code)
    failed, said = run("gcc", "-std=c11", "-Wall", "-Wextra", "-O1", "-o", PROGRAM, SOURCE, *sys.argv[1:])
    lines = code.split("\n")
    found = [finding(5 if kind == "error" else 3, f"gcc: {kind}: {message}", lines[int(line) - 1])
             for line, kind, message in DIAGNOSTIC.findall(said)]
    if failed:
        return found if any(f["severity"] == 5 for f in found) else [*found, finding(5, f"gcc: {said.strip()}")]
    failed, said = run(PROGRAM)
    if failed:
        found.append(finding(5, f"the program {failed}: {said.strip()[-500:]}"))
    return found


ctypes.CDLL(None).prctl(PR_SET_DUMPABLE, 0)  # the program may not write an answer of its own into this process
text = draft()
blocks = fenced(text, "c")
answer(faults("\n".join(blocks)) if blocks else [finding(5, "there is no block fenced as c")] if text.strip() else [])
