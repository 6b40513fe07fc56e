"""The queue is lost with all workers dead in the middle of a batch, and built again from the trail."""
import time

from crashes import LEASE_MS, assert_sound, end, n_left, wait_all_ended
from jobs import demo_batch, ends, send
from stack import wait_until


def test_an_emptied_queue_is_rebuilt_from_the_trail(stack):
    batch = list(demo_batch("rebuild"))
    stack.model.control(latency_ms=300)
    workers = [stack.start_worker() for _ in range(2)]
    send(stack, *batch)
    wait_until(lambda: len(ends(stack)) > 10, 60, what="some outcomes, and more to come")
    for worker in workers:
        worker.kill()
    before = set(stack.sql("SELECT job_no, what FROM draftmill.todo"))
    assert len(before) > 10 and len(ends(stack)) < len(batch)
    stack.sql("DELETE FROM draftmill.todo")
    time.sleep(LEASE_MS / 1000)  # until then it is refused: they might be alive
    (n_made,) = stack.sql("SELECT draftmill.requeue()")[0]
    assert n_made == len(before) and set(stack.sql("SELECT job_no, what FROM draftmill.todo")) == before
    stack.model.control(latency_ms=10)
    worker = stack.start_worker()
    wait_all_ended(stack, batch, 60)
    end(worker)
    assert n_left(stack) == 0
    assert_sound(stack, batch, lost=len(batch))
