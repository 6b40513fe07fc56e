"""Tools through a worker: they look at every draft, and what they cannot say passes nothing."""
import json
import shutil
import subprocess
import time

import pytest
from jobs import drain, ends, events, job, send, wait_ended
from jsonschema import Draft202012Validator
from stack import ROOT, wait_until

NO_SANDBOX = subprocess.run(["bwrap", "--unshare-all", "--ro-bind", "/", "/", "true"], capture_output=True, text=True)
needs_bubblewrap = pytest.mark.skipif(NO_SANDBOX.returncode != 0, reason=f"bubblewrap cannot run here: {NO_SANDBOX.stderr.strip()}")

TONE = """
import json, sys
text = sys.stdin.read()
bad = "You should have read our last message"
print(json.dumps([{"severity": 5, "snippet": bad, "message": "no reproach"}] if bad in text else []))
"""
ALWAYS = """
import json, sys
print(json.dumps([{"severity": 4, "category": "sum", "message": "the sum is wrong"}] if sys.stdin.read() else []))
"""
FAILS = """
import sys
if sys.stdin.read():
    sys.exit("no schema")
print("[]")
"""
SLEEPS = """
import sys, time
if sys.stdin.read():
    time.sleep(float(sys.argv[1]))
print("[]")
"""


@pytest.fixture
def tools(stack, tmp_path):
    """Gives a function: the environment of a worker whose profile has these tools, (name, script, argument..)."""
    def make(*tools, **more):
        shutil.copytree(f"{ROOT}/config/profiles", tmp_path / "profiles", dirs_exist_ok=True)
        (tmp_path / "tools").mkdir(exist_ok=True)
        lines = ["tools:"]
        for name, script, *arguments in tools:
            (tmp_path / "tools" / f"{name}.py").write_text(script)
            command = ["/usr/bin/python3", "{tools}/" + f"{name}.py", *arguments]
            lines += [f"  - name: {name}", f"    command: {json.dumps(command)}", "    timeout_ms: 3000"]
        with open(tmp_path / "profiles/customer-letter.yaml", "a") as profile:
            profile.write("\n".join(lines) + "\n")
        return {"DRAFTMILL_PROFILES_DIR": str(tmp_path / "profiles"), "DRAFTMILL_TOOLS_DIR": str(tmp_path / "tools"), **more}

    return make


def steps(stack, id, columns):
    return stack.sql(f"SELECT {columns} FROM draftmill.step s JOIN draftmill.job j USING (job_no) WHERE id = %s ORDER BY step_no", [id])


def opened(stack, id):
    (payload,), = stack.sql("SELECT convert_from(b.payload, 'UTF8') FROM draftmill.outbox b JOIN draftmill.job j USING (job_no) "
                            "WHERE id = %s AND kind = 'opened'", [id])
    with open(f"{ROOT}/config/schema/review-opened.schema.json") as schema:
        Draft202012Validator(json.load(schema)).validate(json.loads(payload))
    return json.loads(payload)


@needs_bubblewrap
def test_each_draft_is_examined_before_the_critic(stack, tools):
    env = tools(("tone", TONE), ("sums", open(f"{ROOT}/config/tools/arithmetic.py").read()))
    shutil.copy(f"{ROOT}/config/tools/findings.py", env["DRAFTMILL_TOOLS_DIR"])
    send(stack, job("ground-tone", "tone"))
    drain(stack, env=env)
    assert ends(stack, "ground-tone") == {"ground-tone": ("passed", "no_issues")}
    assert steps(stack, "ground-tone", "role, model_asked, class, cost_micro_usd > 0, tokens_in IS NULL") == [
        (None, None, None, False, True),
        ("generator", "gpt-6.2-sol", "complete", True, False),
        ("tool", "tool:tone", "complete", False, True), ("tool", "tool:sums", "complete", False, True),
        ("critic", "gpt-6-luna", "complete", True, False),
        ("refiner", "gpt-6.2-sol", "complete", True, False),
        ("tool", "tool:tone", "complete", False, True), ("tool", "tool:sums", "complete", False, True),
        ("critic", "gpt-6-luna", "complete", True, False)]
    found = stack.sql("SELECT c.draft_no, i.category, i.severity, i.snippet, i.suggestion, i.at >= 0, c.verdict FROM draftmill.issue i "
                      "JOIN draftmill.critique c USING (job_no, step_no) JOIN draftmill.job j USING (job_no) "
                      "WHERE id = 'ground-tone' AND category LIKE 'tool:%'")
    assert found == [(0, "tool:tone", 5, "You should have read our last message", "no reproach", True, None)]
    page = stack.draftmill("show", "ground-tone", "--database.conninfo", stack.conninfo_of("draftmill_reader")).stdout
    assert "tool:tone on draft 0: 1 finding\n" in page and "tool:sums on draft 1: 0 findings\n" in page


@needs_bubblewrap
def test_a_finding_that_stays_goes_to_a_person(stack, tools):
    env = tools(("always", ALWAYS))
    send(stack, job("ground-always"))
    drain(stack, env=env)
    (outcome, reason), = ends(stack, "ground-always").values()
    assert outcome == "escalated" and reason in ("max_iterations", "no_progress")
    case = opened(stack, "ground-always")
    assert case["tools"][0] == {"tool": "always", "draft_no": 0, "valid": True, "issues": [
        {"category": "tool:always/sum", "severity": 4, "snippet": "", "suggestion": "the sum is wrong", "anchored": False}]}


@needs_bubblewrap
@pytest.mark.parametrize("name, script, argument, words", [
    ("fails", FAILS, "", "ended with status 1: no schema"), ("sleeps", SLEEPS, "60", "did not end within 3 s")])
def test_a_tool_without_an_answer_passes_nothing(stack, tools, name, script, argument, words):
    env = tools((name, script, argument))
    send(stack, job(f"ground-{name}"))
    worker, = drain(stack, env=env)
    assert ends(stack, f"ground-{name}") == {f"ground-{name}": ("escalated", "request_failed")}
    assert steps(stack, f"ground-{name}", "role, class")[2:] == [("tool", "rejected")]
    examination, = opened(stack, f"ground-{name}")["tools"]
    assert not examination["valid"] and words in examination["reasons"]
    assert words not in worker.log(), "what a tool says may quote the draft"
    assert [line["class"] for line in events(worker, "call_failed")] == ["rejected"]


@needs_bubblewrap
def test_a_killed_worker_leaves_no_tool_and_no_stored_answer_is_asked_for_again(stack, tools):
    env = tools(("quick", TONE), ("sleeps", SLEEPS, "2.5"))
    send(stack, job("ground-killed"))
    worker = stack.start_worker(env=env)
    wait_until(lambda: [row for row in steps(stack, "ground-killed", "action") if row == ("call tool 2",)], what="the second tool's call")
    time.sleep(0.5)
    worker.kill()
    left = subprocess.run(["pgrep", "-f", env["DRAFTMILL_TOOLS_DIR"]], capture_output=True, text=True).stdout
    assert not left, "a tool outlives its worker"
    drain(stack, env=env)
    assert ends(stack, "ground-killed") == {"ground-killed": ("passed", "no_issues")}
    asked = steps(stack, "ground-killed", "fact, model_asked, action")
    assert [row for row in asked if row[1] and row[1].startswith("tool:")] == [
        ("replied", "tool:quick", "call tool 2"), ("replied", "tool:sleeps", "call critic 3")]
    assert ("resumed", None, "call tool 2") in asked


@needs_bubblewrap
def test_many_jobs_share_few_tools(stack, tools):
    env = tools(("sleeps", SLEEPS, "0.05"))
    ids = [f"ground-many-{i}" for i in range(30)]
    send(stack, *(job(id) for id in ids))
    drain(stack, env=env)
    assert set(wait_ended(stack, *ids).values()) == {("passed", "no_issues")}


def test_no_tool_runs_without_its_sandbox(stack, tools, tmp_path):
    env = tools(("tone", TONE), DRAFTMILL_TOOLS_SANDBOX="false")
    done = stack.draftmill("check", "config", "--offline", env=env, check=False)
    assert done.returncode == 78
    assert ("customer-letter: tool tone does not answer an empty text; mend its command or tools.sandbox: "
            "the command false ended with status 1\n") in done.stdout
    worker = stack.start_worker("--drain", env=env)
    assert worker.wait() == 78 and "tool tone does not answer" in worker.log()


def test_another_sandbox_or_none_is_asked_for_by_name(stack, tools):
    env = tools(("tone", TONE), DRAFTMILL_TOOLS_SANDBOX="env")
    send(stack, job("ground-env"))
    drain(stack, env=env)
    assert ends(stack, "ground-env") == {"ground-env": ("passed", "no_issues")}
