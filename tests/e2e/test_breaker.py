"""The provider is down for longer than any job may take, wants another key, or bars one customer: what the other jobs notice."""
import contextlib
import datetime
import socket
import time

import pytest
import verify
from jobs import QUICK_GROUP, QUICK_MODEL, drain, ends, events, job, send, wait_ended
from stack import Stack, wait_until

PASSED = ("passed", "no_issues")
ACTIVE_MS = 3500  # of a job; a hung call takes 1,000
OUTAGE_S = 9


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


@contextlib.contextmanager
def started_stack():
    with Stack() as stack:
        stack.settings.update(QUICK_GROUP, DRAFTMILL_MODELS_DRAFTING_TIMEOUT_MS="1000", DRAFTMILL_MODELS_CRITIQUING_TIMEOUT_MS="1000")
        stack.start_pg()
        stack.start_broker()
        stack.migrate()
        stack.start_model(**QUICK_MODEL)
        yield stack


@pytest.fixture(scope="module")
def stack():
    """One worker lives through all."""
    with started_stack() as stack:
        stack.worker = stack.start_worker()
        send(stack, job("first"))
        wait_ended(stack, "first")
        yield stack


@pytest.fixture(autouse=True)
def undisturbed(stack):
    yield
    if stack.model.alive:
        stack.model.control("none", latency_ms=-1)


def n_jobs(stack, prefix):
    return stack.sql("SELECT count(*) FROM draftmill.job WHERE starts_with(id, %s)", [prefix])[0][0]


def of_log(stack, name, since=0):
    return events(stack.worker, name)[since:]


def moment(seconds):
    return (datetime.datetime.now(datetime.timezone.utc) + datetime.timedelta(seconds=seconds)).isoformat()


def ended_after_s(stack, id):
    """From intake to the end."""
    return stack.sql("SELECT extract(epoch FROM outcome.at - job.at)::float FROM draftmill.job JOIN draftmill.outcome USING (job_no) "
                     "WHERE id = %s", [id])[0][0]


class Outage:
    """In it every call fails so; `refused`: nobody listens."""

    def __init__(self, stack, fault):
        self.stack, self.fault = stack, fault

    def __enter__(self):
        if self.fault == "refused":
            self.port = self.stack.model.port
            self.stack.model.kill()
        else:
            self.stack.model.control(self.fault)

    def __exit__(self, *_):
        if self.fault == "refused":
            self.stack.start_model(port=self.port, **QUICK_MODEL)
        else:
            self.stack.model.control("none")


@pytest.mark.parametrize("fault", ["refused", "503", "529", "hang", "html"])
def test_an_outage_escalates_nothing_and_buys_nothing(stack, fault):
    """Jobs whose active time is far shorter than the outage; what comes while the breaker is open stays with Kafka."""
    n_open = len(of_log(stack, "breaker_open"))
    early, late = ([job(f"{fault}-{when}-{number}", limits={"active_ms": ACTIVE_MS}) for number in range(20)] for when in ("early", "late"))
    with Outage(stack, fault):
        start = time.monotonic()
        send(stack, *early)
        wait_until(lambda: of_log(stack, "breaker_open", n_open), what="an open breaker")
        time.sleep(1)
        n_taken = n_jobs(stack, fault)
        send(stack, *late)
        before = None if fault == "refused" else stack.model.stats()["requests"]
        time.sleep(OUTAGE_S - (time.monotonic() - start))
        assert n_jobs(stack, fault) == n_taken <= 20
        assert before is None or stack.model.stats()["requests"] - before <= 4
        assert ends(stack, fault) == {}
    got = wait_ended(stack, *(one["id"] for one in early + late))
    assert {id: end for id, end in got.items() if end != PASSED} == {}
    assert of_log(stack, "breaker_closed") and len(of_log(stack, "worker_ready")) == 1
    (active_ms,) = stack.sql("SELECT max(active_ms) FROM draftmill.outcome JOIN draftmill.job USING (job_no) WHERE starts_with(id, %s)", [fault])[0]
    assert active_ms < ACTIVE_MS
    verify.everything(stack, lost=False)  # no answer of the ledger is bought twice


@pytest.mark.parametrize("fault, class_", [("hang", "broken_off"), ("504", "broken_off"), ("drop", "broken_off"), ("html", "unreadable")])
def test_a_job_alone_outlives_an_outage(stack, fault, class_):
    """Longer than the job may take. What it may have cost is charged, and there is little of it."""
    n_open, before = len(of_log(stack, "breaker_open")), stack.model.stats()["requests"]
    with Outage(stack, fault):
        send(stack, job(f"alone-{fault}", limits={"active_ms": 1500}))
        time.sleep(7)
        assert 2 <= stack.model.stats()["requests"] - before <= 4
        assert len(of_log(stack, "breaker_open")) > n_open
    assert wait_ended(stack, f"alone-{fault}") == {f"alone-{fault}": PASSED}
    (n, active_ms, cost) = stack.sql("SELECT count(*), max(active_ms), max(cost_micro_usd) FROM draftmill.attempt JOIN draftmill.job USING (job_no) "
                                     "JOIN draftmill.outcome USING (job_no) WHERE id = %s AND why = %s", [f"alone-{fault}", class_])[0]
    assert active_ms < 1000 and cost > n * 1200 * 10  # the reserve of the output alone


def test_a_request_that_always_hangs_holds_up_no_other_job(stack):
    """Alone it looks like an outage; a second job is taken in all the same, and its answer tells."""
    stack.model.control("hang", of="R-lone")
    send(stack, job("lone"))
    time.sleep(4)
    assert ends(stack, "lone") == {}
    beside = [f"beside-{number}" for number in range(3)]
    send(stack, *(job(id) for id in beside))
    wait_until(lambda: len(ends(stack, "beside-")) == 3, 10)
    assert set(ends(stack, "beside-").values()) == {PASSED} and ends(stack, "lone") == {}
    stack.model.control("none")
    assert wait_ended(stack, "lone") == {"lone": PASSED}


@pytest.mark.parametrize("fault, status", [("401", 401), ("quota", 429)])
def test_a_refused_key_stops_intake_with_one_alarm_and_fails_no_job(stack, fault, status):
    n_told, n_failed = len(of_log(stack, "credentials_refused")), len(of_log(stack, "call_failed"))
    ids = [f"{fault}-{number}" for number in range(12)]
    with Outage(stack, fault):
        send(stack, job(ids[0]))
        wait_until(lambda: of_log(stack, "call_failed", n_failed), what="a refused key")
        send(stack, *(job(id) for id in ids[1:]))
        time.sleep(4)
        assert n_jobs(stack, fault) == 1 and ends(stack, fault) == {}
        assert len(of_log(stack, "call_failed", n_failed)) <= 3
        told = of_log(stack, "credentials_refused")
        assert len(told) <= n_told + 1 and told[-1]["level"] == "error"
        assert (told[0]["provider"], told[0]["model"]) == ("openai", "gpt-6.2-sol") and told[0]["http_status"] == 401
    assert set(wait_ended(stack, *ids).values()) == {PASSED}


def test_a_filter_ends_one_of_fifty(stack):
    n_open = len(of_log(stack, "breaker_open"))
    ids = [f"filter-{number}" for number in range(50)]
    stack.model.control("filter", count=1)
    send(stack, *(job(id) for id in ids))
    got = list(wait_ended(stack, *ids).values())
    assert got.count(("escalated", "refused")) == 1 and got.count(PASSED) == 49
    assert len(of_log(stack, "breaker_open")) == n_open


def test_none_comes_before_retry_after_and_then_not_all_at_once(stack):
    ids = [f"told-{number}" for number in range(60)]
    stack.model.control("429", count=60, retry_after="3")
    send(stack, *(job(id) for id in ids))
    assert set(wait_ended(stack, *ids).values()) == {PASSED}
    waits = [wait for (wait,) in stack.sql(
        "SELECT extract(epoch FROM min(attempt.at) - job.at)::float FROM draftmill.attempt JOIN draftmill.job USING (job_no) "
        "WHERE starts_with(id, 'told-') AND why = 'rate_limited' GROUP BY job_no, job.at")]
    assert len(waits) > 40 and min(waits) >= 3
    assert max(waits) - min(waits) > 0.8  # over 1.5 s


def test_a_job_told_to_wait_past_its_deadline_ends_at_once(stack):
    stack.model.control("429", retry_after="600")
    send(stack, job("told-600", not_after=moment(60)))
    assert wait_ended(stack, "told-600", timeout_s=10) == {"told-600": ("escalated", "expired")}
    assert ended_after_s(stack, "told-600") < 2


def test_a_parked_job_ends_at_its_deadline(stack):
    n_open = len(of_log(stack, "breaker_open"))
    with Outage(stack, "503"):
        send(stack, *(job(f"parked-{number}") for number in range(5)), job("parked-short", not_after=moment(4)))
        wait_until(lambda: of_log(stack, "breaker_open", n_open), what="an open breaker")
        wait_until(lambda: "parked-short" in ends(stack, "parked-"), 10)
        assert ends(stack, "parked-") == {"parked-short": ("escalated", "expired")}
        assert ended_after_s(stack, "parked-short") < 5.2
    wait_ended(stack, *(f"parked-{number}" for number in range(5)))


def test_at_the_end_all_is_kept_and_the_worker_was_one(stack):
    assert stack.worker.alive and stack.worker.terminate(30) == 0
    drain(stack)
    verify.everything(stack, lost=False)
    assert "Sanitizer" not in stack.worker.log()


def test_a_provider_that_is_down_leaves_the_other_alone(stack):
    """The critic has a provider of its own: drafts in hand are made and kept, no more jobs come, and each part is bought once."""
    port = free_port()
    other = [f"--providers.other.base_url=http://127.0.0.1:{port}/v1", "--providers.other.key_env=OPENAI_API_KEY",
             "--models.critiquing.provider=other"]
    ids = [f"critic-{number}" for number in range(8)]
    worker = stack.start_worker(*other)
    stack.model.reset()
    send(stack, *(job(id) for id in ids))
    wait_until(lambda: events(worker, "breaker_open"), what="an open breaker")
    time.sleep(1)
    n_taken = n_jobs(stack, "critic-")
    send(stack, job("critic-late"))
    time.sleep(3)
    assert {line["model"] for line in events(worker, "breaker_open")} == {"critiquing"}
    assert n_jobs(stack, "critic-") == n_taken == stack.model.stats()["answers"]
    drafts = stack.model
    stack.start_model(port=port, **QUICK_MODEL)
    assert set(wait_ended(stack, *ids, "critic-late").values()) == {PASSED}
    assert drafts.stats()["answers"] == 9 == stack.model.stats()["answers"]
    assert worker.terminate() == 0


def test_tokens_per_minute_are_kept(stack):
    """Ten drafts at 20,000 a minute; the last one is a debt that nobody pays any more."""
    stack.start_model(**QUICK_MODEL)
    send(stack, *(job(f"tokens-{number}") for number in range(10)))
    drain(stack, "--models.drafting.tokens_per_minute=20000")
    (tokens,) = stack.sql("SELECT sum(tokens_in + tokens_out)::int FROM draftmill.step JOIN draftmill.job USING (job_no) "
                          "WHERE starts_with(id, 'tokens-') AND role = 'generator'")[0]
    at = [at for (at,) in stack.sql("SELECT extract(epoch FROM step.at)::float FROM draftmill.step JOIN draftmill.job USING (job_no) "
                                    "WHERE starts_with(id, 'tokens-') AND step.role = 'generator' ORDER BY 1")]
    n_a_second = 20000 / 60
    assert at[-1] - at[0] >= (tokens * 0.8) / n_a_second - 1
    assert set(ends(stack, "tokens-").values()) == {PASSED}
