"""A worker that was stopped past its lease writes nothing and sends nothing more."""
import time

import pytest
from crashes import LEASE_MS, assert_sound, end, jobs_of, wait_all_ended
from jobs import events, send
from stack import wait_until

CONCURRENCY = 4  # of each model: so that some calls are in flight and others wait for a slot
LATENCY_MS = 1500


@pytest.fixture(autouse=True)
def slow_model(stack):
    stack.model.control(latency_ms=LATENCY_MS)
    yield
    stack.model.control(latency_ms=-1)


def start(stack, concurrency=CONCURRENCY):
    worker = stack.start_worker(env={"DRAFTMILL_MODELS_DRAFTING_CONCURRENCY": str(concurrency)})
    wait_until(lambda: events(worker, "worker_ready"), 20)
    return worker


def written_by(stack, worker):
    """How many rows of each table are this worker's."""
    (ready,) = events(worker, "worker_ready")
    tables = ("job", "step", "attempt", "outcome", "dead_letter")
    return {table: stack.sql(f"SELECT count(*) FROM draftmill.{table} WHERE worker_id = %s", [ready["worker_id"]])[0][0]
            for table in tables}


def n_events(stack):
    return sum(len(stack.consume(topic)) for topic in ("draftmill.results", "draftmill.review", "draftmill.jobs.dlq"))


def stop_at_work(stack, prefix, n=12):
    """A worker stopped with calls in flight and jobs that wait; the jobs."""
    worker, batch = start(stack), jobs_of(prefix, *["clean", "forbidden", "stubborn"] * (n // 3))
    send(stack, *batch)
    wait_until(lambda: stack.model.stats()["in_flight"] == CONCURRENCY, 20, what="calls in flight")
    wait_until(lambda: written_by(stack, worker)["job"] == n, 20, what="jobs that wait")
    worker.sigstop()
    return worker, batch


def assert_ends_and_does_nothing(stack, worker):
    before, requests, published = written_by(stack, worker), stack.model.stats()["requests"], n_events(stack)
    worker.sigcont()
    assert worker.wait(5) == 75
    time.sleep(1)
    assert written_by(stack, worker) == before
    assert stack.model.stats()["requests"] == requests
    assert n_events(stack) == published


def test_another_has_finished_its_jobs(stack):
    stopped, batch = stop_at_work(stack, "finished")
    other = start(stack, concurrency=100)
    stack.model.control(latency_ms=20)
    wait_all_ended(stack, batch, 60)
    assert_ends_and_does_nothing(stack, stopped)
    end(other)
    assert_sound(stack, batch, lost=CONCURRENCY)


def test_another_is_at_work_on_its_jobs(stack):
    """It wakes while the one who took over has calls out: none of the model's requests and no step is of the one who woke."""
    stopped, batch = stop_at_work(stack, "at-work")
    other = start(stack, concurrency=100)
    wait_until(lambda: events(other, "job_taken_over"), 20)
    before = written_by(stack, stopped)
    stopped.sigcont()
    assert stopped.wait(5) == 75
    stack.model.control(latency_ms=20)
    wait_all_ended(stack, batch, 60)
    assert written_by(stack, stopped) == before
    end(other)
    assert_sound(stack, batch, lost=2 * CONCURRENCY)


def test_nobody_was_there_to_take_over(stack):
    """Nobody has marked it dead: it knows by its own clock."""
    stopped, batch = stop_at_work(stack, "alone")
    time.sleep(LEASE_MS / 1000 + LATENCY_MS / 1000)
    assert_ends_and_does_nothing(stack, stopped)
    stack.model.control(latency_ms=20)
    other = start(stack, concurrency=100)
    wait_all_ended(stack, batch, 60)
    end(other)
    assert_sound(stack, batch, lost=3 * CONCURRENCY)


def test_a_stop_shorter_than_the_lease_is_nothing(stack):
    worker, batch = stop_at_work(stack, "short")
    time.sleep(LEASE_MS / 1000 / 4)
    worker.sigcont()
    stack.model.control(latency_ms=20)
    wait_all_ended(stack, batch, 60)
    end(worker)
    assert not stack.sql("SELECT 1 FROM draftmill.step JOIN draftmill.job USING (job_no) "
                         "WHERE starts_with(id, 'short-') AND fact = 'resumed'")
    assert_sound(stack, batch, lost=3 * CONCURRENCY)
