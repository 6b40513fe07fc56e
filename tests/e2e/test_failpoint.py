"""A message that crashes its worker is not tried for ever. Needs the test build's failpoint."""
import os
import signal

import pytest
import verify
from jobs import drain, ends, job, send
from stack import DRAFTMILL, wait_until

CRASH = {"DRAFTMILL_FAILPOINT": "parse:CRASH-HERE"}

pytestmark = pytest.mark.skipif(b"DRAFTMILL_FAILPOINT" not in open(DRAFTMILL, "rb").read() if os.path.exists(DRAFTMILL) else False,
                                reason=f"{DRAFTMILL} has no failpoints")


def strikes(stack):
    return stack.sql("SELECT what, count(*) FROM draftmill.strike GROUP BY what")


def test_a_message_that_crashes_three_times_is_buried_unparsed(stack):
    send(stack, job("before"), job("crasher", task="CRASH-HERE"), job("after"), partition=0)
    send(stack, job("elsewhere"), partition=1)
    for n in (1, 2, 3):
        worker = stack.start_worker(env=CRASH)
        assert worker.wait(30) == -signal.SIGABRT
        assert strikes(stack) == ([("draftmill.jobs/0/1", n - 1)] if n > 1 else [])
    drain(stack, env=CRASH)
    assert strikes(stack) == [("draftmill.jobs/0/1", 3)]
    assert ends(stack) == {id: ("passed", "no_issues") for id in ("before", "after", "elsewhere")}
    trail = verify.everything(stack, lost=True)
    (letter,) = trail.letters
    assert (letter["reason"], letter["part"], letter["offset"], letter["id"]) == ("poison", 0, 1, None)
    assert b"CRASH-HERE" in letter["value"]


def test_a_kill_while_calls_are_open_blames_nobody(stack):
    stack.model.control(latency_ms=5000)
    worker = stack.start_worker("--worker.lease_ms=3000")
    send(stack, *(job(f"killed-{number}") for number in range(5)))
    wait_until(lambda: stack.model.stats()["in_flight"] == 5)
    worker.kill()
    stack.model.control(latency_ms=-1)
    before = strikes(stack)
    drain(stack)
    assert strikes(stack) == before
    assert set(ends(stack, "killed-").values()) == {("passed", "no_issues")}
    verify.everything(stack, lost=True)


def test_a_crash_within_a_replay_loses_nothing(stack):
    """Taken over, and lost again between two of its stored steps: a third goes on where the first was."""
    before = dict(strikes(stack))
    stack.model.control(latency_ms=1000)
    first = stack.start_worker("--worker.lease_ms=3000")
    send(stack, job("halfway", "missing"))
    wait_until(lambda: stack.sql("SELECT count(*) FROM draftmill.step JOIN draftmill.job USING (job_no) WHERE id = 'halfway'")[0][0] >= 3)
    first.kill()
    stack.model.control(latency_ms=-1)
    second = stack.start_worker("--worker.lease_ms=3000", env={"DRAFTMILL_FAILPOINT": "replay:halfway"})
    assert second.wait(60) == -signal.SIGABRT
    assert ends(stack, "halfway") == {}
    drain(stack)
    new = {what: n for what, n in strikes(stack) if what not in before}
    assert list(new.values()) == [1]
    assert ends(stack, "halfway") == {"halfway": ("passed", "no_issues")}
    verify.everything(stack, lost=True)
