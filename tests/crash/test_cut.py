"""A worker's connection is cut, or held up, at each edge of each Sync: the same worker goes on and loses nothing."""
import pytest
from crashes import assert_sound, crash_stack, end, jobs_of, n_facts, wait_all_ended
from jobs import events, send
from stack import wait_until

EDGES = ("before_sync", "after_sync", "before_answer", "after_answer")
LAST_SYNC = 7
CASES = ("clean", "forbidden", "stubborn")


@pytest.fixture(scope="module")
def stack():
    with crash_stack(3000, proxied="draftmill-trail") as started:
        yield started


@pytest.fixture(scope="module")
def control_stack():
    with crash_stack(3000, proxied="draftmill-control") as started:
        yield started


def run_cases(stack, strike, prefix):
    """One worker through all of it; gives the jobs and how often the proxy struck."""
    worker = stack.start_worker()
    wait_until(lambda: events(worker, "partition_assigned"), 20)
    done, n_fired = [], 0
    for n in range(1, LAST_SYNC + 1):
        for edge in EDGES:
            batch = jobs_of(f"{prefix}-{edge}-{n}", *CASES)
            stack.proxy.arm(strike, edge, n, ms=300)
            send(stack, *batch)
            done += batch
            wait_all_ended(stack, batch, 30)
            n_fired += stack.proxy.has_fired()
            if stack.proxy.has_fired():
                stack.proxy.wait_fired()
            stack.proxy.arm("none")
    assert worker.alive
    end(worker)
    return done, n_fired


@pytest.mark.parametrize("strike", ["cut", "hold"])
def test_the_trail_is_cut_off_and_nothing_is_lost(stack, strike):
    jobs, n_fired = run_cases(stack, strike, strike)
    assert n_fired >= len(EDGES) * LAST_SYNC // 2
    assert_sound(stack, jobs, lost=0)
    assert n_facts(stack, "resumed") == 0


@pytest.mark.parametrize("edge", EDGES)
def test_a_start_survives_cuts_of_its_control_connection(control_stack, edge):
    """Registration, numbers, marks, first heartbeats: each of them is cut once."""
    stack = control_stack
    for n in range(1, 7):
        stack.proxy.arm("cut", edge, n)
        worker = stack.start_worker()
        stack.proxy.wait_fired(15)
        wait_until(lambda: events(worker, "worker_ready"), 15)
        end(worker)
    worker, batch = stack.start_worker(), jobs_of(f"control-{edge}", *CASES)
    send(stack, *batch)
    wait_all_ended(stack, batch, 30)
    end(worker)
    assert_sound(stack, batch, lost=0)
