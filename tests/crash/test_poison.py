"""Who crashes the worker each time is taken out of the way; who was only there when it was killed is not."""
import pytest
from crashes import assert_sound, end, jobs_of, wait_all_ended
from jobs import ends, send
from stack import wait_until

SIGABRT = -6


def crash_three_times(stack, failpoint):
    for _ in range(3):
        assert stack.start_worker(env={"DRAFTMILL_FAILPOINT": failpoint}).wait(30) == SIGABRT


@pytest.mark.parametrize("place", ["step", "reply"])
def test_a_job_that_crashes_three_times_fails_alone(stack, place):
    batch = jobs_of(place, "clean", "forbidden", "stubborn", "clean")
    bad, others = batch[1], [batch[0], *batch[2:]]
    send(stack, *batch)
    crash_three_times(stack, f"{place}:{bad['id']}")
    worker = stack.start_worker(env={"DRAFTMILL_FAILPOINT": f"{place}:{bad['id']}"})
    wait_all_ended(stack, batch, 30)
    end(worker)
    assert ends(stack)[bad["id"]] == ("failed", "poison")
    (last,) = stack.sql("SELECT s.fact, s.action, o.draft_no FROM draftmill.step s JOIN draftmill.outcome o USING (job_no) "
                        "JOIN draftmill.job j USING (job_no) WHERE j.id = %s ORDER BY step_no DESC LIMIT 1", [bad["id"]])
    assert last == ("stopped", "finish failed poison", None)
    assert_sound(stack, others, lost=20)


def test_a_job_that_crashes_its_first_step_is_a_dead_letter(stack):
    """It is never stored, so it is its message that is blamed."""
    batch = jobs_of("start", "clean", "forbidden", "clean")
    bad, others = batch[1], [batch[0], batch[2]]
    send(stack, *batch)
    crash_three_times(stack, f"start:{bad['id']}")
    worker = stack.start_worker(env={"DRAFTMILL_FAILPOINT": f"start:{bad['id']}"})
    wait_until(lambda: stack.sql("SELECT 1 FROM draftmill.dead_letter WHERE reason = 'poison' AND encode(value, 'escape') LIKE %s",
                                 [f"%{bad['id']}%"]), 30)
    wait_all_ended(stack, others, 30)
    end(worker)
    assert bad["id"] not in ends(stack)
    assert_sound(stack, others, lost=20)


def test_kills_during_slow_calls_poison_nobody(stack):
    batch = jobs_of("slow", *["slow"] * 10)
    send(stack, *batch)
    for _ in range(5):
        worker = stack.start_worker()
        wait_until(lambda: stack.model.stats()["in_flight"] == len(batch), 30, what="all calls in flight")
        worker.kill()
        wait_until(lambda: stack.model.stats()["in_flight"] == 0, 10)
    worker = stack.start_worker()
    wait_all_ended(stack, batch, 60)
    end(worker)
    assert not [1 for strike in stack.sql("SELECT what FROM draftmill.strike WHERE what NOT LIKE '%/%'")
                if strike[0] in {str(n) for (n,) in stack.sql("SELECT job_no FROM draftmill.job WHERE id LIKE 'slow-%'")}]
    assert_sound(stack, batch, lost=5 * len(batch) + 20)
