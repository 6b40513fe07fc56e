"""kill -9 at random times during a batch, of one worker and of all at once."""
import time

import pytest
from crashes import all_ended, assert_sound, end, seeded, wait_all_ended
from jobs import demo_batch, job, send
from stack import wait_until

IN_FLIGHT = 24  # of all workers together: so that the batch outlasts the kills
LATENCY_MS = 600
MOMENTS = ["at work"] * 4 + ["any time"] * 2  # at each, one worker is killed or all of them


def start(stack, n_workers):
    return stack.start_worker("--worker.in_flight", str(IN_FLIGHT // n_workers))


def strike(stack, workers, random):
    """Kills one worker or all, each replaced at once; gives how many were killed. Half of the strikes stop them first, so that the
    answers to all calls in flight are given and none is read."""
    victims = list(workers) if random.random() < 0.4 else [random.choice(workers)]
    if random.random() < 0.5:
        for victim in victims:
            victim.sigstop()
        time.sleep(LATENCY_MS / 1000)
    for victim in victims:
        victim.kill()
    for victim in victims:
        workers[workers.index(victim)] = start(stack, len(workers))
    return len(victims)


def await_work(stack, random):
    """A moment with calls in flight."""
    working = False
    while not working:
        wait_until(lambda: stack.model.stats()["in_flight"], 30, what="work")
        time.sleep(random.uniform(0, 0.8))
        working = stack.model.stats()["in_flight"]


@pytest.mark.parametrize("n_workers", [1, 2, 3])
def test_kills_lose_nothing_and_buy_nothing_twice(stack, n_workers):
    random = seeded()
    batch = [one for half in "ab" for one in demo_batch(f"kill{n_workers}{half}")]
    batch += [job(f"kill{n_workers}-slow-{number}", "slow") for number in range(6)]
    stack.model.control(latency_ms=LATENCY_MS)
    send(stack, *batch)
    workers, n_killed = [start(stack, n_workers) for _ in range(n_workers)], 0
    for moment in random.sample(MOMENTS, len(MOMENTS)):
        if moment == "at work":
            await_work(stack, random)
        else:  # while they start, register, join or already work
            time.sleep(random.uniform(0, 3))
        assert not all_ended(stack, batch), "the batch is too small for the storm"
        n_killed += strike(stack, workers, random)
    stack.model.control(latency_ms=20)
    wait_all_ended(stack, batch, 90)
    end(*workers)
    print(f"{n_killed} killed")
    trail = assert_sound(stack, batch, lost=n_workers * len(MOMENTS) * IN_FLIGHT)
    mine = {one["job_no"] for one in trail.jobs if one["id"].startswith(f"kill{n_workers}")}
    assert len({step["job_no"] for no in mine for step in trail.steps[no] if step["fact"] == "resumed"}) >= 3
