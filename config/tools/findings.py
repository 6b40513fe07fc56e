"""What the tools of this folder share: the draft, its fenced blocks, and the answer."""
import json
import re
import sys


def draft():
    return sys.stdin.buffer.read().decode("utf-8")


def fenced(text, language):
    """The contents of the Markdown blocks fenced as ```language."""
    return re.findall(rf"^```{language}[ \t]*\n(.*?)^```[ \t]*$", text, re.M | re.S)


def finding(severity, message, snippet=None):
    found = {"severity": severity, "message": message[:2000]}
    if snippet and snippet.strip():
        found["snippet"] = snippet.strip()
    return found


def answer(found):
    json.dump(found[:50], sys.stdout, ensure_ascii=False)
