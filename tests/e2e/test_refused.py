"""What PostgreSQL or the broker does not take."""
import time

import verify
from jobs import drain, ends, job, send
from stack import wait_until


def test_a_job_whose_draft_is_refused_fails_alone_with_what_it_has_cost(stack):
    stack.sql("CREATE FUNCTION draftmill.refuse() RETURNS trigger LANGUAGE plpgsql AS "
              "$$ BEGIN RAISE EXCEPTION 'refused by the test' USING errcode = '22000'; END $$")
    stack.sql("GRANT EXECUTE ON FUNCTION draftmill.refuse() TO draftmill_worker")
    stack.sql("CREATE TRIGGER refuse BEFORE INSERT ON draftmill.draft FOR EACH ROW "
              "WHEN (new.body LIKE '%R-bad%') EXECUTE FUNCTION draftmill.refuse()")
    send(stack, job("bad"), job("good"), job("fine", "forbidden"))
    drain(stack)
    assert ends(stack) == {"bad": ("failed", "poison"), "good": ("passed", "no_issues"), "fine": ("passed", "no_issues")}
    ((steps, outcome),) = stack.sql("SELECT (SELECT sum(cost_micro_usd) FROM draftmill.step s WHERE s.job_no = o.job_no), cost_micro_usd "
                                    "FROM draftmill.outcome o WHERE outcome = 'failed'")
    assert steps == outcome > 0
    verify.everything(stack, lost=True)


def test_intake_waits_for_events_that_the_broker_does_not_take(stack):
    """A producer that may send nothing stands for it."""
    batch = [job(f"late-{number}") for number in range(30)]
    send(stack, *batch)
    in_flight = {"DRAFTMILL_WORKER_IN_FLIGHT": "5", "DRAFTMILL_WORKER_DRAIN_MS": "0"}
    worker = stack.start_worker(env={**in_flight, "DRAFTMILL_KAFKA_OPTIONS_MESSAGE_MAX_BYTES": "1000"})
    wait_until(lambda: len(ends(stack, "late-")) == 5, 30)
    time.sleep(3)
    assert len(ends(stack, "late-")) == 5
    assert worker.terminate() == 0
    drain(stack, env=in_flight)
    assert len(ends(stack, "late-")) == len(batch)
    verify.everything(stack, lost=True)
