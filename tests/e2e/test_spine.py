"""A batch goes from Kafka to stored, published outcomes, by one worker or by several."""
import time

import pytest
import verify
from jobs import demo_batch, drain, ends, events, expected_end, job, send
from stack import wait_until


def test_a_batch_ends_as_its_cases_say(stack):
    batch = list(demo_batch("one"))
    send(stack, *batch)
    (worker,) = drain(stack)
    assert ends(stack, "one-") == {one["id"]: expected_end(one) for one in batch}
    trail = verify.everything(stack)
    assert len(trail.outcomes) == len(batch) == 72
    (last,) = events(worker, "worker_ended")
    assert (last["n_job"], last["n_ended"], last["n_duplicate"], last["n_dead_letter"], last["n_unpublished"]) == (72, 72, 0, 0, 0)


def test_a_refiner_changes_only_what_was_flagged(stack):
    """One answers with a sentence, one with a fence and a preamble, one with other sentences made better too."""
    cases = {"fragment": "Dear ", "wrapped": "Dear ", "meddling": "within two working days"}
    send(stack, *(job(f"merge-{case}", case) for case in cases))
    (worker,) = drain(stack)
    assert set(ends(stack, "merge-").values()) == {("passed", "no_issues")}
    rows = stack.sql("SELECT variables ->> 'case', before.body, after.body, n_kept, n_reverted, rejected FROM draftmill.job j "
                     "JOIN draftmill.draft before USING (job_no) JOIN draftmill.draft after USING (job_no) "
                     "JOIN draftmill.step s ON s.job_no = j.job_no AND s.step_no = after.step_no, "
                     "LATERAL (SELECT convert_from(payload, 'UTF8')::json -> 'variables' AS variables) p "
                     "WHERE j.id LIKE 'merge-%' AND before.draft_no = 0 AND after.draft_no = 1")
    assert len(rows) == 3
    bad, good = "You should have read our last message before asking again.", "We are glad to go through the details with you once more."
    for case, before, after, n_kept, n_reverted, rejected in rows:
        assert after == before.replace(bad, good) and cases[case] in after, case
        assert n_kept >= 1 and (n_reverted > 0 or case != "meddling") and rejected is None
    verify.everything(stack)


def test_cases_that_the_batch_has_not(stack):
    jobs = [job(f"more-{case}", case) for case in ("loop", "truncated", "truncated_once", "rejected")]
    send(stack, *jobs)
    drain(stack)
    assert ends(stack, "more-") == {one["id"]: expected_end(one) for one in jobs}
    verify.everything(stack)


def test_writer_and_critic_speak_other_formats(stack):
    """Gemini drafts, Anthropic judges: paths, headers, bodies, finish reasons, usage and prices, against the real ends of a batch."""
    batch = list(demo_batch("formats"))
    send(stack, *batch)
    drain(stack, env={"DRAFTMILL_MODELS_DRAFTING_WIRE": "gemini", "DRAFTMILL_MODELS_CRITIQUING_WIRE": "anthropic"})
    assert ends(stack, "formats-") == {one["id"]: expected_end(one) for one in batch}
    verify.everything(stack)
    told = stack.sql("SELECT DISTINCT role, finish_reason FROM draftmill.step JOIN draftmill.job USING (job_no) "
                     "WHERE batch = 'formats' AND class = 'complete'")
    assert set(told) == {("generator", "STOP"), ("critic", "end_turn"), ("refiner", "STOP")}


def test_another_model_that_answers_is_told_once_and_priced_as_itself(stack):
    """The writer's id is an alias: the critic's model answers. verify.everything() prices each reply by the row of its name."""
    send(stack, *(job(f"alias-{number}") for number in range(3)))
    (worker,) = drain(stack, env={"DRAFTMILL_MODELS_DRAFTING_ID": "alias-gpt-6-luna"})
    (told,) = events(worker, "other_model")
    assert (told["asked"], told["answered"]) == ("alias-gpt-6-luna", "gpt-6-luna")
    rows = stack.sql("SELECT DISTINCT model_asked, model FROM draftmill.step JOIN draftmill.job USING (job_no) WHERE id LIKE 'alias-%' "
                     "AND role = 'generator'")
    assert rows == [("alias-gpt-6-luna", "gpt-6-luna")]
    verify.everything(stack)


def test_drain_with_nothing_to_do_ends(stack):
    before = len(stack.model.ledger())
    start = time.monotonic()
    drain(stack)
    assert time.monotonic() - start < 20
    assert len(stack.model.ledger()) == before


@pytest.mark.parametrize("n", [2, 3])
def test_several_workers_share_a_batch(stack, n):
    batch = list(demo_batch(f"by{n}"))
    stack.model.control(latency_ms=100)  # so that it lasts until all have joined
    send(stack, *batch)
    drain(stack, n=n)
    stack.model.control(latency_ms=-1)
    assert ends(stack, f"by{n}-") == {one["id"]: expected_end(one) for one in batch}
    verify.everything(stack)


def test_all_workers_of_a_running_group_work(stack):
    workers = [stack.start_worker() for _ in range(2)]
    wait_until(lambda: all(events(worker, "worker_ready") for worker in workers))
    jobs = [job(f"both-{number}") for number in range(40)]

    def both_worked():
        send(stack, jobs.pop())
        return all(events(worker, "job_ended") for worker in workers)

    wait_until(both_worked, 30, 1)
    assert [worker.terminate() for worker in workers] == [0, 0]
    drain(stack)
    verify.everything(stack)


def start_slow_jobs(stack, prefix, *words):
    """A worker with ten jobs in flight, each with a reply three seconds away."""
    worker = stack.start_worker(*words)
    send(stack, *(job(f"{prefix}-{number}", "slow") for number in range(10)))
    wait_until(lambda: stack.model.stats()["in_flight"] == 10, what="ten calls in flight")
    return worker


def test_sigterm_stores_the_open_calls_and_begins_none(stack):
    worker = start_slow_jobs(stack, "term", "--worker.in_flight=10")  # the late job waits: it is not to begin before the signal
    send(stack, job("term-late"))
    before = stack.model.stats()["requests"]
    assert worker.terminate(30) == 0
    assert stack.model.stats()["requests"] == before
    assert stack.sql("SELECT count(*) FROM draftmill.step WHERE fact = 'replied'")[0][0] >= 10
    stack.model.control(latency_ms=5)
    drain(stack)
    stack.model.control(latency_ms=-1)
    assert set(ends(stack, "term-").values()) == {("passed", "no_issues")} and len(ends(stack, "term-")) == 11
    verify.everything(stack)  # no answer was lost, none bought twice


def test_sigterm_leaves_to_others_what_takes_too_long(stack):
    worker = start_slow_jobs(stack, "limit", "--worker.drain_ms=500")
    start = time.monotonic()
    assert worker.terminate(10) == 0
    assert time.monotonic() - start < 6  # also under a sanitizer
    assert ends(stack, "limit-") == {}
    stack.model.control(latency_ms=5)
    drain(stack)
    stack.model.control(latency_ms=-1)
    assert set(ends(stack, "limit-").values()) == {("passed", "no_issues")} and len(ends(stack, "limit-")) == 10
    verify.everything(stack, lost=True)


def test_a_second_sigterm_ends_at_once(stack):
    worker = start_slow_jobs(stack, "twice", "--worker.lease_ms=3000")
    worker.send(15)
    wait_until(lambda: events(worker, "worker_stopping"))
    start = time.monotonic()
    assert worker.terminate(5) == 75
    assert time.monotonic() - start < 1
    stack.model.control(latency_ms=5)
    drain(stack)
    stack.model.control(latency_ms=-1)
    assert set(ends(stack, "twice-").values()) == {("passed", "no_issues")} and len(ends(stack, "twice-")) == 10
    verify.everything(stack, lost=True)


def test_limits_of_a_worker_and_of_its_models_hold(stack):
    """Three jobs at once, one draft at a time, three requests a second; a call that had to wait has an intent of its own."""
    stack.model.reset()
    stack.model.control(latency_ms=50)
    send(stack, *(job(f"slot-{number}") for number in range(12)))
    start = time.monotonic()
    drain(stack, "--worker.in_flight=3", "--models.drafting.concurrency=1", "--models.critiquing.requests_per_minute=180")
    assert time.monotonic() - start > 3
    stats = stack.model.stats()
    assert stats["max_in_flight"] <= 4  # three calls, and this question
    times = [line["at_ms"] for line in stack.model.ledger() if line["role"] == "critic"]
    for first in range(12):  # a second's worth may come at once
        for last in range(first, 12):
            assert last - first + 1 <= 4 + 3 * (times[last] - times[first]) / 1000
    assert set(ends(stack, "slot-").values()) == {("passed", "no_issues")}
    waited = stack.sql("SELECT count(*) FROM draftmill.attempt JOIN draftmill.job USING (job_no) WHERE starts_with(id, 'slot-') AND why = 'waited'")
    assert waited[0][0] > 0
    verify.everything(stack)


@pytest.mark.parametrize("table, column, value", [
    ("job", "stakes", "'low'"), ("job", "stakes_by", "'rule'"), ("job", "payload", "'{}'"), ("step", "cost_micro_usd", "cost_micro_usd + 1"), ("step", "reply", "reply || ' '"),
    ("draft", "body", "body || '.'"), ("draft", "checks", "'[]'"), ("critique", "score", "99"), ("critique", "reasons", "reasons || '.'"),
    ("issue", "severity", "1"), ("issue", "suggestion", "'nothing'"), ("outcome", "stop_reason", "'oneshot'"),
])
def test_a_row_changed_by_the_owner_is_found(stack, table, column, value):
    """The checker itself can fail: one row of an ended job is another, and it says which job."""
    (job_no,) = stack.sql(f"SELECT job_no FROM draftmill.{table} WHERE {column} IS NOT NULL ORDER BY job_no LIMIT 1")[0]
    one = f"ctid = (SELECT ctid FROM draftmill.{table} WHERE job_no = {job_no} AND {column} IS NOT NULL LIMIT 1) AND job_no = {job_no}"
    (before,) = stack.sql(f"SELECT {column} FROM draftmill.{table} WHERE {one}")[0]
    (key,) = stack.sql(f"UPDATE draftmill.{table} SET {column} = {value} WHERE {one} RETURNING ctid::text")[0]
    faults = verify.Faults()
    verify.check_trail(stack, verify.Trail(stack), faults)
    stack.sql(f"UPDATE draftmill.{table} SET {column} = %s WHERE ctid = %s AND job_no = {job_no}", [before, key])
    assert any(str(job_no) in str(fault) for fault in faults)
    faults = verify.Faults()
    verify.check_trail(stack, verify.Trail(stack), faults)
    assert not faults
