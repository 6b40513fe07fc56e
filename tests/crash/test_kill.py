"""kill -9 at random times during a batch, of one worker and of all at once."""
import time

import pytest
from crashes import all_ended, assert_sound, end, n_left, seeded, wait_all_ended
from jobs import demo_batch, job, send
from stack import wait_until

IN_FLIGHT = 30  # of all workers together: so that the batch outlasts the kills
LATENCY_MS = 600
N_STRIKES = 6  # at each, one worker or all of them


def start(stack, n_workers):
    return stack.start_worker("--worker.in_flight", str(IN_FLIGHT // n_workers))


def strike(stack, workers, random):
    """Kills one worker or all, each replaced at once; gives how many were killed."""
    victims = list(workers) if random.random() < 0.4 else [random.choice(workers)]
    for victim in victims:
        victim.kill()
    for victim in victims:
        workers[workers.index(victim)] = start(stack, len(workers))
    return len(victims)


def await_moment(stack, random):
    """Mostly a moment at work; now and then one while the new workers start, register or join."""
    if random.random() < 0.75:
        wait_until(lambda: stack.model.stats()["in_flight"] > 0 or not n_left(stack), 30, what="work")
    time.sleep(random.uniform(0, 1.5))


@pytest.mark.parametrize("n_workers", [1, 2, 3])
def test_kills_lose_nothing_and_buy_nothing_twice(stack, n_workers):
    random = seeded()
    batch = [one for half in "ab" for one in demo_batch(f"kill{n_workers}{half}")]
    batch += [job(f"kill{n_workers}-slow-{number}", "slow") for number in range(6)]
    n_killed, n_struck_at_work = 0, 0
    stack.model.control(latency_ms=LATENCY_MS)
    send(stack, *batch)
    workers = [start(stack, n_workers) for _ in range(n_workers)]
    wait_until(lambda: stack.model.stats()["in_flight"] > 0, 20)
    for _ in range(N_STRIKES):
        await_moment(stack, random)
        if all_ended(stack, batch):
            break
        n_struck_at_work += stack.model.stats()["in_flight"] > 0
        n_killed += strike(stack, workers, random)
    stack.model.control(latency_ms=20)
    wait_all_ended(stack, batch, 90)
    end(*workers)
    print(f"{n_killed} killed, {n_struck_at_work} strikes at work, {n_left(stack)} left")
    assert n_killed >= 4 and n_struck_at_work >= 3
    trail = assert_sound(stack, batch, lost=N_STRIKES * IN_FLIGHT)
    mine = {one["job_no"] for one in trail.jobs if one["id"].startswith(f"kill{n_workers}")}
    assert len({step["job_no"] for no in mine for step in trail.steps[no] if step["fact"] == "resumed"}) >= 10
