"""The database, the model, the connections or a fellow go away in the middle of a batch, and come back."""
import time

import pytest
from crashes import assert_sound, crash_stack, end, n_facts, wait_all_ended
from jobs import demo_batch, events, send
from stack import wait_until


@pytest.fixture(scope="module")
def stack():
    with crash_stack(3000) as started:
        yield started


@pytest.fixture
def batch(stack, request):
    """A batch whose calls take a while; the model is quick again after the test."""
    stack.model.control(latency_ms=1500)
    batch = list(demo_batch(request.node.name.replace("_", "-")[5:]))
    send(stack, *batch)
    yield batch
    stack.model.control(latency_ms=-1)


def at_work(stack):
    wait_until(lambda: stack.model.stats()["in_flight"] > 20, 30, what="calls in flight")


def n_requests(stack):
    return stack.model.stats()["requests"]


def test_all_connections_are_ended_every_two_seconds(stack, batch):
    workers = [stack.start_worker() for _ in range(2)]
    at_work(stack)
    n_ended = 0
    for _ in range(5):
        n_ended += stack.sql("SELECT count(pg_terminate_backend(pid)) FROM pg_stat_activity "
                             "WHERE usename = 'draftmill_worker'")[0][0]
        time.sleep(2)
    stack.model.control(latency_ms=20)
    wait_all_ended(stack, batch, 60)
    assert n_ended >= 5 * 2
    end(*workers)
    assert_sound(stack, batch, lost=0)


def test_a_fellow_comes_and_goes_every_four_seconds(stack, batch):
    worker = stack.start_worker()
    at_work(stack)
    for _ in range(4):
        fellow = stack.start_worker()
        time.sleep(4)
        assert fellow.terminate() == 0
    stack.model.control(latency_ms=20)
    wait_all_ended(stack, batch, 60)
    end(worker)
    assert_sound(stack, batch, lost=0)


def test_the_broker_says_nothing_for_eight_seconds(stack, batch):
    """It falls silent while a fellow joins, so that committed offsets are asked for and long not told. The mock then forgets who waits to join;
    these ask again after max.poll.interval.ms."""
    asks_again = {"DRAFTMILL_KAFKA_OPTIONS_MAX_POLL_INTERVAL_MS": "6000"}
    workers = [stack.start_worker(env=asks_again)]
    at_work(stack)
    workers.append(stack.start_worker(env=asks_again))
    wait_until(lambda: events(workers[1], "worker_ready"), 20)
    time.sleep(1)
    stack.broker.sigstop()
    time.sleep(8)
    stack.broker.sigcont()
    stack.model.control(latency_ms=20)
    wait_all_ended(stack, batch, 60)
    end(*workers)
    assert_sound(stack, batch, lost=0)


@pytest.mark.parametrize("n_workers", [1, 2])
def test_the_database_is_down_for_longer_than_a_lease(stack, batch, n_workers):
    resumed = n_facts(stack, "resumed")
    workers = [stack.start_worker("--worker.lease_ms=8000") for _ in range(n_workers)]
    at_work(stack)
    stack.stop_pg("immediate")
    time.sleep(2)
    requests = n_requests(stack)
    time.sleep(8)
    assert n_requests(stack) == requests  # nothing is bought that could not be stored
    stack.start_pg()
    stack.model.control(latency_ms=20)
    wait_all_ended(stack, batch, 60)
    end(*workers)  # they are there when the database comes back, so they keep what they have
    assert n_facts(stack, "resumed") == resumed
    assert_sound(stack, batch, lost=0)


def test_the_model_is_killed_and_started_again(stack, batch):
    worker = stack.start_worker()
    at_work(stack)
    port, lost = stack.model.port, stack.model.stats()["in_flight"]
    stack.model.kill()
    time.sleep(3)
    stack.start_model(generator_ms=5, critic_ms=3, refiner_ms=4, port=port)
    wait_all_ended(stack, batch, 90)
    end(worker)
    assert events(worker, "breaker_open")
    assert_sound(stack, batch, lost=lost + len(batch))


def test_a_worker_with_parked_jobs_is_killed_while_the_model_is_down(stack, batch):
    """What waited in its memory for an open breaker is taken over as any other, and waits again."""
    before = stack.model.stats()["answers"]
    stack.model.control("503", latency_ms=5)
    first = stack.start_worker()
    wait_until(lambda: events(first, "breaker_open"), 30, what="an open breaker")
    first.kill()
    heir = stack.start_worker()
    wait_until(lambda: events(heir, "job_taken_over") and events(heir, "breaker_open"), 30, what="an heir at the same closed door")
    assert stack.model.stats()["answers"] == before
    stack.model.control("none", latency_ms=5)
    wait_all_ended(stack, batch, 90)
    end(heir)
    assert_sound(stack, batch, lost=len(batch))
