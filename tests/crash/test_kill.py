"""kill -9 at random times during a batch, of one worker and of all at once."""
import time

import pytest
from crashes import all_ended, assert_sound, n_facts, n_left, seeded, wait_all_ended
from jobs import demo_batch, job, send
from stack import wait_until

IN_FLIGHT = 12  # of a worker: so that the batch outlasts the kills
LATENCY_MS = 250
N_STRIKES = 6  # at each, one worker or all of them


def start(stack):
    return stack.start_worker("--worker.in_flight", str(IN_FLIGHT))


def strike(stack, workers, random):
    """Kills one worker or all, each replaced at once; gives how many were killed."""
    victims = list(workers) if random.random() < 0.4 else [random.choice(workers)]
    for victim in victims:
        victim.kill()
    for victim in victims:
        workers[workers.index(victim)] = start(stack)
    return len(victims)


def await_moment(stack, random):
    """Mostly a moment at work; now and then one while the new workers start, register or join."""
    if random.random() < 0.75:
        wait_until(lambda: stack.model.stats()["in_flight"] > 0 or not n_left(stack), 30, what="work")
    time.sleep(random.uniform(0, 2))


@pytest.mark.parametrize("n_workers", [1, 2, 3])
def test_kills_lose_nothing_and_buy_nothing_twice(stack, n_workers):
    random = seeded()
    batch = [one for half in "ab" for one in demo_batch(f"kill{n_workers}{half}")]
    batch += [job(f"kill{n_workers}-slow-{number}", "slow") for number in range(6)]
    resumed_before, n_killed, n_struck_at_work = n_facts(stack, "resumed"), 0, 0
    stack.model.control(latency_ms=LATENCY_MS)
    send(stack, *batch)
    workers = [start(stack) for _ in range(n_workers)]
    wait_until(lambda: stack.model.stats()["in_flight"] > 0, 20)
    for _ in range(N_STRIKES):
        await_moment(stack, random)
        if all_ended(stack, batch):
            break
        n_struck_at_work += stack.model.stats()["in_flight"] > 0
        n_killed += strike(stack, workers, random)
    stack.model.control(latency_ms=20)
    wait_all_ended(stack, batch, 90)
    assert [worker.terminate() for worker in workers] == [0] * n_workers
    print(f"{n_killed} killed, {n_struck_at_work} strikes at work, {n_left(stack)} left")
    assert n_killed >= 4 and n_struck_at_work >= 3
    assert n_facts(stack, "resumed") > resumed_before
    trail = assert_sound(stack, batch, lost=3 * 3 * N_STRIKES * IN_FLIGHT)
    assert all(outcome["stop_reason"] != "poison" for outcome in trail.outcomes.values())
