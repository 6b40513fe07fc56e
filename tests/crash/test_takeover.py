"""Who takes over is killed itself, at an edge of each Sync of its control connection: while it registers, reads, adopts, loads."""
import concurrent.futures
import contextlib
import time

import pytest
from crashes import assert_sound, crash_stack, end, jobs_of, wait_all_ended
from jobs import events, send
from stack import TOPICS, wait_until

EDGES = ("before_sync", "after_sync")  # it is not committed; it is, and nobody has heard
SYNCS = range(6, 18)  # before these it registers, see test_cut.py
LEASE_MS = 1000
N_LANES = 4
CASES = ("clean", "forbidden", "stubborn")


def has_all_partitions(worker):
    """A real broker may leave some with a killed member until its session ends."""
    return len({line["partition"] for line in events(worker, "partition_assigned")}) == TOPICS["draftmill.jobs"]


def run_lane(stack, cases):
    """Who finishes the jobs of one case leaves those of the next behind."""
    done, worker = [], stack.start_worker()
    stack.model.control(latency_ms=300)
    for edge, n in cases:
        batch = jobs_of(f"{edge}-{n}", *CASES)
        wait_until(lambda: has_all_partitions(worker), 20, what="partitions")
        send(stack, *batch)
        wait_until(lambda: stack.model.stats()["in_flight"] == len(batch), 20, 0.01, "all calls in flight")
        worker.kill()
        time.sleep(LEASE_MS / 1000)  # so that the heir finds it dead at once
        heir = stack.start_worker()
        stack.proxy.arm("kill", edge, n, heir.pid)
        stack.proxy.wait_fired()
        assert heir.wait(5) == -9
        worker = stack.start_worker()
        wait_all_ended(stack, batch, 30)
        done += batch
    end(worker)
    assert_sound(stack, done, lost=2 * len(done))


@pytest.fixture(scope="module")
def stacks():
    with contextlib.ExitStack() as opened:
        yield [opened.enter_context(crash_stack(LEASE_MS, proxied="draftmill-control")) for _ in range(N_LANES)]


def test_a_kill_at_each_edge_of_a_take_over(stacks):
    cases = [(edge, n) for n in SYNCS for edge in EDGES]
    with concurrent.futures.ThreadPoolExecutor(N_LANES) as threads:
        list(threads.map(run_lane, stacks, [cases[lane::N_LANES] for lane in range(N_LANES)]))
