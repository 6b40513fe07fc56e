"""What goes wrong around a worker: the model, the database, the broker. One worker lives through most of it."""
import datetime
import email.utils
import socket
import time

import pytest
import verify
from jobs import QUICK_GROUP, QUICK_MODEL, drain, ends, events, job, send, wait_ended
from stack import Stack, wait_until

PASSED = ("passed", "no_issues")


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


@pytest.fixture(scope="module")
def world():
    """A worker with short time limits whose model is not there yet."""
    with Stack() as stack:
        stack.settings.update(QUICK_GROUP, DRAFTMILL_WORKER_STATE_DIR=f"{stack.folder}/state", OPENAI_API_KEY="test-key",
                              DRAFTMILL_MODELS_DRAFTING_TIMEOUT_MS="1500", DRAFTMILL_MODELS_CRITIQUING_TIMEOUT_MS="1500")
        stack.start_pg()
        stack.start_broker()
        stack.migrate()
        stack.port = free_port()
        stack.settings["DRAFTMILL_PROVIDERS_OPENAI_BASE_URL"] = f"http://127.0.0.1:{stack.port}/v1"
        stack.worker = stack.start_worker()
        send(stack, job("early"))
        wait_until(lambda: events(stack.worker, "call_failed"), what="a call that finds no model server")
        yield stack


@pytest.fixture(scope="module")
def stack(world):
    """The same with its model."""
    world.refused_n = len(world.sql("SELECT 1 FROM draftmill.attempt WHERE why = 'unsent'"))
    world.start_model(port=world.port, **QUICK_MODEL)
    wait_ended(world, "early")
    return world


@pytest.fixture(autouse=True)
def undisturbed(stack):
    yield
    stack.model.control("none", latency_ms=-1)


def run(stack, id, timeout_s=60, **fields):
    """Sends one job and waits for its end."""
    send(stack, job(id, **fields))
    return wait_ended(stack, id, timeout_s=timeout_s)[id]


def attempts(stack, id):
    """Why and when each further attempt was made, and the status of the one before."""
    return stack.sql("SELECT why, http_status, extract(epoch FROM attempt.at)::float FROM draftmill.attempt JOIN draftmill.job USING "
                     "(job_no) WHERE id = %s ORDER BY call_no, attempt_no", [id])


def outcome(stack, id):
    columns = "n_calls, tokens_in, tokens_out, cost_micro_usd, draft_no, active_ms"
    (row,) = stack.sql(f"SELECT {columns} FROM draftmill.outcome JOIN draftmill.job USING (job_no) WHERE id = %s", [id])
    return dict(zip(columns.split(", "), row))


def test_a_model_that_was_not_there_was_asked_until_it_was(stack):
    assert ends(stack, "early") == {"early": PASSED}
    assert outcome(stack, "early")["n_calls"] == 2 and outcome(stack, "early")["active_ms"] < 1000
    assert {why for why, _, _ in attempts(stack, "early")} == {"unsent"}


def test_retry_after_is_a_floor(stack):
    stack.model.control("429", count=2, retry_after="2")
    start = time.time()
    assert run(stack, "wait-2") == PASSED
    tries = attempts(stack, "wait-2")
    assert [(why, status) for why, status, _ in tries] == [("rate_limited", 429)] * 2
    assert tries[0][2] - start >= 1.9 and tries[1][2] - tries[0][2] >= 1.9
    assert outcome(stack, "wait-2")["active_ms"] < 1500  # waiting is not counted


def ago(seconds):
    return email.utils.formatdate(time.time() - seconds, usegmt=True)


@pytest.mark.parametrize("text", [None, "0", "-1", ago(10)], ids=["absent", "zero", "negative", "past"])
def test_a_retry_after_that_says_nothing_is_as_if_it_were_not_there(stack, text):
    """Own backoff: requests after 0, 0.25-0.5, 0.75-1.5, 1.75-3.5, 3.75-7.5 and 7.75-15.5 seconds, and the time that they take."""
    before = stack.model.stats()["requests"]
    stack.model.control("429", retry_after=text)
    id = f"nothing {text}"
    send(stack, job(id))
    wait_until(lambda: stack.model.stats()["requests"] > before)
    time.sleep(10)
    assert 5 <= stack.model.stats()["requests"] - before <= 6
    stack.model.control("none")
    assert wait_ended(stack, id)[id] == PASSED


def test_server_errors_are_outlived(stack):
    stack.model.control("500", count=4)
    assert run(stack, "burst") == PASSED
    assert [(why, status) for why, status, _ in attempts(stack, "burst")] == [("server_error", 500)] * 4
    assert outcome(stack, "burst")["n_calls"] == 2


def test_the_breaker_spares_a_model_that_is_down(stack):
    stack.model.control("503")
    before = stack.model.stats()["requests"]
    send(stack, *(job(f"down-{number}") for number in range(20)))
    wait_until(lambda: any(line["model"] == "drafting" for line in events(stack.worker, "breaker_open")), what="an open breaker")
    time.sleep(4)
    assert stack.model.stats()["requests"] - before <= 20 + 6  # each once, then probes
    stack.model.control("none")
    ids = [f"down-{number}" for number in range(20)]
    assert set(wait_ended(stack, *ids).values()) == {PASSED}


@pytest.mark.parametrize("fault, class_", [("cut", "unreadable"), ("html", "unreadable"), ("garbage", "unreadable"), ("drop", "broken_off")])
def test_what_may_be_billed_is_charged_and_tried_again(stack, fault, class_):
    plain = stack.sql("SELECT cost_micro_usd FROM draftmill.outcome JOIN draftmill.job USING (job_no) WHERE id = 'early'")[0][0]
    stack.model.control(fault, count=1)
    assert run(stack, fault) == PASSED
    assert [why for why, _, _ in attempts(stack, fault)] == [class_]
    assert outcome(stack, fault)["cost_micro_usd"] > plain + 1200 * 10  # the reserve of the output alone


def run_beside_others(stack, id, **fields):
    """Sends one job, and when it is with the model one more each half second until it has ended."""
    before = stack.model.stats()["requests"]
    send(stack, job(id, **fields))
    wait_until(lambda: stack.model.stats()["requests"] > before, every_s=0.02)
    beside = []
    while id not in ends(stack, id):
        beside.append(f"beside {id} {len(beside)}")
        send(stack, job(beside[-1]))
        time.sleep(0.5)
        assert len(beside) < 120
    assert set(wait_ended(stack, *beside).values()) == {PASSED}
    return ends(stack, id)[id]


def test_a_request_that_hangs_while_others_are_answered_is_given_up_at_the_third_time(stack):
    stack.model.control("hang", of="R-poison")
    assert run_beside_others(stack, "poison") == ("escalated", "request_failed")
    assert [why for why, _, _ in attempts(stack, "poison")] == ["broken_off"] * 2
    assert outcome(stack, "poison")["active_ms"] >= 3 * 1400
    assert outcome(stack, "poison")["draft_no"] is None


def test_a_model_that_hangs_costs_no_active_time(stack):
    stack.model.control("hang", count=1)
    start = time.monotonic()
    assert run(stack, "hang") == PASSED
    assert time.monotonic() - start < 8
    assert [why for why, _, _ in attempts(stack, "hang")] == ["broken_off"]
    assert outcome(stack, "hang")["active_ms"] < 1000


@pytest.mark.parametrize("fault, status", [("401", 401), ("quota", 429)])
def test_a_wrong_key_or_an_empty_account_fails_no_job(stack, fault, status):
    stack.model.control(fault)
    send(stack, *(job(f"{fault}-{number}") for number in range(3)))
    wait_until(lambda: [line for line in events(stack.worker, "call_failed")
                        if (line["class"], line["http_status"]) == ("credentials", status)], what=fault)
    time.sleep(2)
    assert ends(stack, f"{fault}-") == {}
    stack.model.control("none")
    assert set(wait_ended(stack, *(f"{fault}-{number}" for number in range(3))).values()) == {PASSED}


def test_a_filter_ends_its_own_job_alone(stack):
    before = stack.model.stats()["requests"]
    stack.model.control("filter", count=1)
    assert run(stack, "filtered") == ("escalated", "refused")
    assert stack.model.stats()["requests"] - before == 1
    rows = stack.sql("SELECT class, http_status FROM draftmill.step JOIN draftmill.job USING (job_no) WHERE id = 'filtered' AND call_no = 0")
    assert rows == [("blocked", 400)]
    assert run(stack, "beside") == PASSED


def test_a_request_that_is_rejected_is_not_asked_again(stack):
    before = stack.model.stats()["requests"]
    assert run(stack, "rejected", case="rejected") == ("escalated", "request_failed")
    assert stack.model.stats()["requests"] - before == 1


def test_caps_hold_before_a_call_is_sent(stack):
    before = stack.model.stats()["requests"]
    assert run(stack, "cap-none", limits={"tokens": 600}) == ("escalated", "budget")
    assert run(stack, "cap-money", limits={"micro_usd": 100}) == ("escalated", "budget")
    japanese = "お客様へのご案内を丁寧に書いてください。" * 150
    assert run(stack, "cap-japanese", task=japanese, language="ja", limits={"tokens": 3000}) == ("escalated", "budget")
    assert stack.model.stats()["requests"] == before
    assert outcome(stack, "cap-none") == {"n_calls": 0, "tokens_in": 0, "tokens_out": 0, "cost_micro_usd": 0, "draft_no": None, "active_ms": 0}
    assert run(stack, "cap-one", limits={"tokens": 3600}) == ("escalated", "budget")
    one = outcome(stack, "cap-one")
    assert one["n_calls"] == 1 and one["draft_no"] == 0 and one["tokens_in"] + one["tokens_out"] <= 3600


def test_time_with_a_call_open_is_limited(stack):
    stack.model.control("hang", of="R-time")
    assert run_beside_others(stack, "time", limits={"active_ms": 2000}) == ("escalated", "timeout")
    assert 1200 <= outcome(stack, "time")["active_ms"] <= 1900  # three eighths are for what would follow the draft: 1250 ms
    assert outcome(stack, "time")["draft_no"] is None and attempts(stack, "time") == []
    assert run_beside_others(stack, "time-1", limits={"active_ms": 1600, "iterations": 1}) == ("escalated", "timeout")
    assert 1150 <= outcome(stack, "time-1")["active_ms"] <= 1590  # one quarter is for a critique: 1200 ms


def test_a_model_that_answers_too_late_for_a_job_is_not_down(stack):
    stack.model.control(latency_ms=700)
    assert run(stack, "in time") == PASSED
    n_open = len(events(stack.worker, "breaker_open"))
    assert run(stack, "late", limits={"active_ms": 500}) == ("escalated", "timeout")
    assert attempts(stack, "late") == [] and len(events(stack.worker, "breaker_open")) == n_open


def moment(seconds):
    return (datetime.datetime.now(datetime.timezone.utc) + datetime.timedelta(seconds=seconds)).isoformat()


def test_a_deadline_that_has_passed_buys_nothing(stack):
    before = stack.model.stats()["requests"]
    assert run(stack, "past", not_after=moment(-60)) == ("escalated", "expired")
    assert stack.model.stats()["requests"] == before


def test_a_deadline_ends_a_job_that_waits(stack):
    stack.model.control("429", retry_after="600")
    assert run(stack, "deadline", not_after=moment(2)) == ("escalated", "expired")
    assert outcome(stack, "deadline")["draft_no"] is None


def test_answers_that_come_while_their_jobs_are_stopped(stack):
    """All at once by a deadline, so many that some are answered before their turn to end has come."""
    stack.model.control(latency_ms=1000)
    end, ids = moment(2), [f"late-{number}" for number in range(400)]
    for first in range(0, len(ids), 100):
        send(stack, *(job(id, not_after=end) for id in ids[first:first + 100]))
    wait_until(lambda: not stack.worker.alive or len(ends(stack, "late-")) == len(ids), 60, 0.2, "the end of all")
    assert stack.worker.alive, stack.worker.log()[-300:]
    assert {why for _, why in ends(stack, "late-").values()} <= {"expired", "no_issues"}


def test_what_broke_off_before_a_deadline_is_charged(stack):
    before = stack.model.stats()["requests"]
    stack.model.control("cut", count=1, latency_ms=500)
    send(stack, job("broken", not_after=moment(3)))
    wait_until(lambda: stack.model.stats()["requests"] == before + 1, every_s=0.02)
    stack.model.control("429", retry_after="600")
    assert wait_ended(stack, "broken") == {"broken": ("escalated", "expired")}
    assert [why for why, *_ in attempts(stack, "broken")] == ["unreadable"]
    assert outcome(stack, "broken")["cost_micro_usd"] > 0


def test_postgresql_away_for_a_while_costs_nothing(stack):
    stack.model.control(latency_ms=400)
    ids = [f"pg-{number}" for number in range(40)]
    send(stack, *(job(id) for id in ids))
    wait_until(lambda: len(ends(stack, "pg-")) >= 3, every_s=0.02)
    stack.stop_pg()
    time.sleep(2)
    before = stack.model.stats()["requests"]
    time.sleep(4)
    assert stack.model.stats()["requests"] == before  # nothing is bought that could not be stored
    stack.start_pg()
    assert set(wait_ended(stack, *ids).values()) == {PASSED}
    verify.everything(stack, lost=False)  # every answer given was kept until it was stored


def test_a_connection_cut_now_and_then_costs_nothing(stack):
    stack.model.control(latency_ms=100)
    ids = [f"cut-{number}" for number in range(60)]
    send(stack, *(job(id) for id in ids))
    for _ in range(6):
        time.sleep(0.3)
        stack.sql("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE usename = 'draftmill_worker'")
    assert set(wait_ended(stack, *ids).values()) == {PASSED}
    verify.everything(stack, lost=False)


def test_a_broker_that_stands_still_costs_nothing(stack):
    stack.model.control(latency_ms=300)
    ids = [f"broker-{number}" for number in range(20)]
    send(stack, *(job(id) for id in ids))
    wait_until(lambda: len(ends(stack, "broker-")) >= 1, every_s=0.02)
    stack.broker.sigstop()
    time.sleep(6)
    assert len(ends(stack, "broker-")) >= 10  # what is in memory goes on
    stack.broker.sigcont()
    assert set(wait_ended(stack, *ids).values()) == {PASSED}
    send(stack, job("broker-after"))
    wait_ended(stack, "broker-after")


def test_after_all_this_nothing_is_lost_and_nothing_bought_twice(stack):
    assert stack.worker.alive and stack.worker.terminate(30) == 0
    drain(stack)
    trail = verify.everything(stack, lost=True)
    assert trail.n_lost == 0 and len(trail.outcomes) == len(trail.jobs)
    assert "Sanitizer" not in stack.worker.log()


@pytest.mark.parametrize("role, words, status", [
    ("broker", ["--kafka.brokers=127.0.0.1:1"], 75),
    ("partition.assignment.strategy", ["--kafka.options.partition.assignment.strategy=cooperative-sticky"], 78),
    ("state_dir", ["--worker.state_dir=/proc/none"], 78),
    ("NO_SUCH_KEY", ["--providers.openai.key_env=NO_SUCH_KEY"], 78),
])
def test_a_worker_that_cannot_start_says_why(stack, role, words, status):
    worker = stack.start_worker("--drain", *words)
    assert worker.wait(40) == status
    assert role in worker.log() and "Sanitizer" not in worker.log()


# --- the end of a worker, when what it says goodbye to is not there


def test_a_worker_without_its_database_says_so_and_ends(stack):
    worker = stack.start_worker("--database.conninfo=host=127.0.0.1 port=1 user=x")
    assert worker.wait(15) == 75
    (end,) = events(worker, "worker_cannot_start")
    assert end["why"].startswith("database.conninfo: ")
    assert "Sanitizer" not in worker.log()


def test_a_worker_without_a_schema_names_the_command(stack):
    stack.sql("CREATE DATABASE bare")
    conninfo = stack.settings["DRAFTMILL_DATABASE_CONNINFO"].replace("dbname=postgres", "dbname=bare")
    assert "bare" in conninfo
    worker = stack.start_worker(f"--database.conninfo={conninfo}")
    assert worker.wait(15) == 78
    (end,) = events(worker, "worker_cannot_start")
    assert "draftmill migrate" in end["why"]


def test_sigterm_at_any_moment_of_the_start(stack):
    for delay in (0, 0.02, 0.05, 0.1, 0.3):
        worker = stack.start_worker()
        wait_until(lambda: events(worker, "worker_starting"), every_s=0.005)
        time.sleep(delay)
        assert worker.terminate(15) == 0
        assert "Sanitizer" not in worker.log()


def test_sigterm_while_the_database_is_away(stack):
    worker = stack.start_worker("--worker.drain_ms=500", "--worker.lease_ms=3000")
    wait_until(lambda: events(worker, "worker_ready"))
    stack.model.control(latency_ms=1000)
    send(stack, *(job(f"away-{number}") for number in range(5)))
    wait_until(lambda: stack.model.stats()["in_flight"] == 5)
    stack.stop_pg()
    try:
        assert worker.terminate(15) == 0
    finally:
        stack.start_pg()
    assert "Sanitizer" not in worker.log()
    stack.model.control(latency_ms=-1)
    drain(stack)
    assert set(ends(stack, "away-").values()) == {PASSED}
    verify.everything(stack, lost=True)


def test_sigterm_while_the_broker_stands_still(stack):
    worker = stack.start_worker("--worker.drain_ms=1500")
    wait_until(lambda: events(worker, "worker_ready"))
    stack.model.control(latency_ms=500)
    send(stack, *(job(f"still-{number}") for number in range(5)))
    wait_until(lambda: stack.model.stats()["in_flight"] == 5)
    stack.broker.sigstop()
    try:
        worker.send(15)
        wait_until(lambda: events(worker, "worker_leaving"))
    finally:
        stack.broker.sigcont()  # delivery reports come while it leaves
    assert worker.wait(20) == 0
    assert "Sanitizer" not in worker.log()
    drain(stack)
    verify.everything(stack, lost=True)


def test_sigterm_ends_also_when_the_broker_never_comes_back(stack):
    worker = stack.start_worker("--worker.drain_ms=500")
    wait_until(lambda: events(worker, "worker_ready"))
    send(stack, job("gone-1"))
    wait_ended(stack, "gone-1")
    stack.broker.sigstop()
    try:
        assert worker.terminate(25) == 0
    finally:
        stack.broker.sigcont()
    assert "Sanitizer" not in worker.log()
