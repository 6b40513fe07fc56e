"""crashes - what the crash tests share: a stack whose workers are missed soon, and what must be true after any of them."""
import contextlib
import os
import random

import verify
from jobs import QUICK_GROUP, QUICK_MODEL, ends, events, expected_end, job
from stack import Stack, wait_until

LEASE_MS = 2000


@contextlib.contextmanager
def crash_stack(lease_ms=LEASE_MS, proxied=None, **model):
    """PostgreSQL, broker, model, all private; @proxied: the application_name whose connections go through the proxy."""
    with Stack() as stack:
        stack.settings.update(QUICK_GROUP, DRAFTMILL_WORKER_STATE_DIR=f"{stack.folder}/state",
                              DRAFTMILL_WORKER_LEASE_MS=str(lease_ms))
        stack.start_pg()
        stack.start_broker()
        stack.start_model(**{**QUICK_MODEL, **model})
        stack.migrate()
        if proxied:
            stack.start_proxy(proxied)
        yield stack


def seeded():
    """A random source that SEED in the environment brings back."""
    seed = int(os.environ.get("SEED") or random.SystemRandom().randrange(1 << 32))
    print(f"SEED={seed}")
    return random.Random(seed)


def n_left(stack):
    return stack.sql("SELECT count(*) FROM draftmill.todo")[0][0]


def n_facts(stack, fact):
    return stack.sql("SELECT count(*) FROM draftmill.step WHERE fact = %s", [fact])[0][0]


def n_steps(stack):
    return stack.sql("SELECT count(*) FROM draftmill.step")[0][0]


def end(*workers):
    """In order, by SIGTERM: they have started, and nothing is left for them."""
    for worker in workers:
        wait_until(lambda: events(worker, "worker_ready"), 20, what="worker_ready")
        assert worker.terminate() == 0


def all_ended(stack, jobs):
    """Whether each has its outcome and every event is out."""
    return n_left(stack) == 0 and len(ends(stack)) >= len(jobs) and {one["id"] for one in jobs} <= set(ends(stack))


def wait_all_ended(stack, jobs, timeout_s=60):
    wait_until(lambda: all_ended(stack, jobs), timeout_s, 0.1, f"the end of {len(jobs)} jobs; in todo: {n_left(stack)}")


def assert_ends(stack, jobs):
    """Each ends as if nothing had happened."""
    got = ends(stack)
    assert {one["id"]: got.get(one["id"]) for one in jobs} == {one["id"]: expected_end(one) for one in jobs}


def assert_sound(stack, jobs, lost):
    """Nothing lost, nothing twice, and the trail stands; @lost: the most answers that may be lost since the stack began. Gives
    the trail."""
    assert_ends(stack, jobs)
    trail = verify.everything(stack, lost=lost > 0)
    n_intents = sum(sum(verify.intents(trail, one["job_no"])[0].values()) for one in trail.jobs)
    n_requests = stack.model.stats()["requests"]
    print(f"{trail.n_lost} answers lost, {lost} allowed; {n_requests} requests by {n_intents} intents; "
          f"{n_facts(stack, 'resumed')} times resumed")
    assert trail.n_lost <= lost and n_requests <= n_intents
    stack.consume("draftmill.jobs")  # asserts that the broker has kept all of it
    return trail


def jobs_of(prefix, *cases, **fields):
    return [job(f"{prefix}-{number}-{case}", case, **fields) for number, case in enumerate(cases)]
