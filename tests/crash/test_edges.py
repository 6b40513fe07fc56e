"""A worker is killed, or its connection cut, just before and after the n-th Sync of its trail connection and its answer."""
import concurrent.futures
import contextlib

import pytest
from crashes import assert_sound, crash_stack, end, jobs_of, n_facts, wait_all_ended
from jobs import events, send
from stack import wait_until

EDGES = ("before_sync", "after_sync", "before_answer", "after_answer")
LAST_SYNC = 12
CASES = ("clean", "forbidden", "stubborn")
N_LANES = 4
N_BATCHES = 5
LEASE_MS = 1000


def joined(worker):
    return events(worker, "partition_assigned")


class Lane:
    """A stack of its own, in which case follows case: who finishes the jobs of one is killed in the next."""

    def __init__(self, number, stack):
        self.number, self.stack, self.jobs, self.n_fired = number, stack, [], 0
        self.worker = stack.start_worker()

    def run(self, edge, n):
        """On a busy machine one Sync carries more, so the n-th may need further jobs."""
        stack = self.stack
        wait_until(lambda: joined(self.worker), 20, 0.1, "partitions")
        stack.proxy.arm("kill", edge, n, self.worker.pid)
        batch = []
        for attempt in range(N_BATCHES):
            more = jobs_of(f"{edge}-{n}-{attempt}", *CASES)
            send(stack, *more)
            batch += more
            wait_until(lambda: stack.proxy.has_fired() or self.idle(batch), 30, 0.02, f"{edge} {n}")
            if stack.proxy.has_fired():
                break
        assert stack.proxy.has_fired(), f"{edge} {n}: no such Sync in {len(batch)} jobs"
        stack.proxy.wait_fired()
        assert self.worker.wait(5) == -9
        self.n_fired += 1
        self.worker = stack.start_worker()
        stack.proxy.arm("none")
        wait_all_ended(stack, batch, 30)
        self.jobs += batch

    def idle(self, batch):
        """All is done, and the n-th Sync has not come."""
        with contextlib.suppress(AssertionError):
            wait_all_ended(self.stack, batch, 0)
            return True

    def run_all(self, cases):
        for edge, n in cases:
            self.run(edge, n)
        end(self.worker)
        assert_sound(self.stack, self.jobs, lost=len(CASES) * len(cases))


@pytest.fixture(scope="module")
def lanes():
    with contextlib.ExitStack() as opened:
        stacks = [opened.enter_context(crash_stack(LEASE_MS, proxied="draftmill-trail")) for _ in range(N_LANES)]
        yield [Lane(number, stack) for number, stack in enumerate(stacks)]


def test_a_kill_at_each_edge_of_each_sync(lanes):
    cases = [(edge, n) for n in range(1, LAST_SYNC + 1) for edge in EDGES]
    shares = [cases[number::N_LANES] for number in range(N_LANES)]
    with concurrent.futures.ThreadPoolExecutor(N_LANES) as threads:
        list(threads.map(Lane.run_all, lanes, shares))
    n_fired = sum(lane.n_fired for lane in lanes)
    print(f"{n_fired} of {len(cases)} kills fired")
    assert n_fired == len(cases)
    assert sum(n_facts(lane.stack, "resumed") for lane in lanes) >= n_fired // 2
