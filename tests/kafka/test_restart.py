"""The broker goes away in the middle of a batch, in an orderly way or by kill -9, and comes back with its data."""
import time

import pytest
import verify
from jobs import demo_batch, ends, events, expected_end, send
from stack import wait_until


def all_ended(stack, batch):
    return len(ends(stack, batch[0]["batch"] + "-")) == len(batch) and not stack.sql("SELECT 1 FROM draftmill.todo LIMIT 1")


@pytest.mark.parametrize("mode", ["fast", "immediate"])
def test_a_restart_of_the_broker_loses_nothing(stack, mode):
    workers = [stack.start_worker() for _ in range(2)]
    wait_until(lambda: all(events(worker, "partition_assigned") for worker in workers))
    stack.model.control(latency_ms=1000)
    batch = list(demo_batch(mode))
    send(stack, *batch)
    wait_until(lambda: stack.model.stats()["in_flight"] > 20, what="calls in flight")
    stack.broker.stop(mode)
    time.sleep(3)
    assert all(worker.alive for worker in workers) and not all_ended(stack, batch)
    stack.broker.start()
    stack.model.control(latency_ms=-1)
    wait_until(lambda: all_ended(stack, batch), 60, 0.1, "the end of the batch")
    late = list(demo_batch(f"after-{mode}"))  # the group still works
    send(stack, *late)
    wait_until(lambda: all_ended(stack, late), 60, 0.1, "the end of the second batch")
    assert [worker.terminate() for worker in workers] == [0, 0]
    got = ends(stack)
    assert {one["id"]: got.get(one["id"]) for one in batch + late} == {one["id"]: expected_end(one) for one in batch + late}
    assert verify.everything(stack).n_lost == 0
