"""What happens to topics on a real broker: made anew, grown, cut by retention, written in transactions, with a limit of bytes."""
import json
import time

import confluent_kafka
import pytest
import verify
from jobs import drain, ends, events, job, send, wait_ended
from stack import RECORD_BYTES_MAX, wait_until

PASSED = ("passed", "no_issues")


def topic(stack, name, n_partitions=1):
    """A job topic of the test's own; gives the words for a worker."""
    stack.broker.make_topics({f"draftmill.{name}": n_partitions})
    return f"--kafka.job_topics={name}", f"--kafka.group={name}"


def send_to(stack, name, *ids, **where):
    stack.produce(f"draftmill.{name}", *(json.dumps(job(id)) for id in ids), **where)


def names(prefix, n):
    return [f"{prefix}-{number}" for number in range(n)]


def passed(stack, *ids):
    """These have ended, and nothing else of their prefix."""
    return ends(stack, ids[0].split("-")[0] + "-") == {id: PASSED for id in ids}


# --- made anew


def test_a_topic_made_anew_is_read_from_its_beginning(stack):
    """Its marks in the database are those of the old one, and higher than its end."""
    words = topic(stack, "anew")
    send_to(stack, "anew", *names("old", 5))
    drain(stack, *words)
    stack.broker.delete_topic("draftmill.anew")
    topic(stack, "anew")
    send_to(stack, "anew", *names("new", 3))
    worker = stack.start_worker(*words)
    wait_ended(stack, *names("new", 3))
    assert worker.terminate() == 0
    assert passed(stack, *names("new", 3))
    verify.everything(stack)


@pytest.mark.parametrize("n_new", [3, 5])
def test_a_drain_of_a_topic_made_anew_waits_for_its_records(stack, n_new):
    """The marks are over its end, or at it, and a member that does not poll holds up the join: nothing is done before it is read."""
    late = f"late{n_new}"
    words = topic(stack, late)
    send_to(stack, late, *names(f"old{n_new}", 5))
    drain(stack, *words)
    stack.broker.delete_topic(f"draftmill.{late}")
    topic(stack, late)
    send_to(stack, late, *names(late, n_new))
    idle = confluent_kafka.Consumer({"bootstrap.servers": stack.brokers, "group.id": late, "partition.assignment.strategy": "range"})
    idle.subscribe([f"draftmill.{late}"])
    wait_until(lambda: idle.poll(0.1) or idle.assignment())
    worker = stack.start_worker("--drain", *words)
    wait_until(lambda: events(worker, "worker_ready"))
    time.sleep(3)
    assert worker.alive, worker.log()
    idle.close()
    assert worker.wait(30) == 0
    assert passed(stack, *names(late, n_new))
    verify.everything(stack)


def test_a_topic_made_anew_under_a_running_worker_is_read_from_its_beginning(stack):
    words = topic(stack, "under")
    worker = stack.start_worker(*words)
    send_to(stack, "under", *names("before", 5))
    wait_ended(stack, *names("before", 5))
    stack.broker.delete_topic("draftmill.under")
    topic(stack, "under")
    send_to(stack, "under", *names("after", 3))
    wait_ended(stack, *names("after", 3))
    drain(stack, *words)  # of which the old mark is known to say nothing, though the worker has nothing more to read
    assert worker.terminate() == 0
    verify.everything(stack)


# --- grown


def test_a_partition_added_under_a_running_worker_is_read_from_its_beginning(stack):
    words = topic(stack, "grown", 2)
    worker = stack.start_worker(*words)
    send_to(stack, "grown", "grown-0", partition=0)
    wait_ended(stack, "grown-0")
    stack.broker.grow_topic("draftmill.grown", 3)
    send_to(stack, "grown", "grown-1", "grown-2", partition=2)
    wait_ended(stack, "grown-1", "grown-2")
    assert worker.terminate() == 0
    verify.everything(stack)


# --- cut by retention


def test_what_retention_took_before_it_was_read_is_gone_and_told(stack):
    """Of one partition a part is gone, of the other all; a drain does not wait for either."""
    words = topic(stack, "gap", 2)
    for partition in (0, 1):
        send_to(stack, "gap", f"seen-{partition}", partition=partition)
    drain(stack, *words)
    for partition in (0, 1):
        send_to(stack, "gap", *names(f"gap-{partition}", 6), partition=partition)
    stack.broker.delete_records("draftmill.gap", 0, before=4)
    stack.broker.delete_records("draftmill.gap", 1, before=7)
    (worker,) = drain(stack, *words)
    assert passed(stack, "gap-0-3", "gap-0-4", "gap-0-5")
    assert "offset" in worker.log().lower()
    verify.everything(stack)


# --- written in transactions


@pytest.fixture(scope="module")
def transactional(stack):
    producer = confluent_kafka.Producer({"bootstrap.servers": stack.brokers, "transactional.id": "test"})
    producer.init_transactions(30)
    return producer


def write(stack, producer, name, *ids):
    producer.begin_transaction()
    for id in ids:
        producer.produce(f"draftmill.{name}", json.dumps(job(id)), partition=0)
    assert producer.flush(30) == 0


def test_what_was_aborted_is_not_read_and_a_marker_at_the_end_holds_up_nobody(stack, transactional):
    words = topic(stack, "marked")
    write(stack, transactional, "marked", "kept-0", "kept-1")
    transactional.commit_transaction(30)
    write(stack, transactional, "marked", "dropped-0", "dropped-1")
    transactional.abort_transaction(30)
    drain(stack, *words, timeout_s=40)
    assert passed(stack, "kept-0", "kept-1") and not ends(stack, "dropped-")
    write(stack, transactional, "marked", "dropped-2")
    transactional.abort_transaction(30)
    drain(stack, *words, timeout_s=40)  # nothing but what was aborted
    assert not ends(stack, "dropped-")
    verify.everything(stack)


def test_what_is_not_committed_yet_is_read_when_it_is(stack, transactional):
    words = topic(stack, "open")
    send_to(stack, "open", "first-0")
    write(stack, transactional, "open", "open-0")
    drain(stack, *words, timeout_s=40)  # does not wait for a writer
    assert passed(stack, "first-0") and not ends(stack, "open-")
    transactional.commit_transaction(30)
    drain(stack, *words, timeout_s=40)
    assert passed(stack, "open-0")
    verify.everything(stack)


# --- with a limit of bytes


@pytest.fixture
def limit(stack):
    """Sets a topic's largest record; all is as before after the test."""
    limited = set()

    def limit(name, n_bytes):
        limited.add(name)
        stack.broker.set_topic(name, max_message_bytes=n_bytes)

    yield limit
    for name in limited:
        limit(name, RECORD_BYTES_MAX)


def test_a_dead_letter_over_the_limit_is_sent_without_its_value(stack, limit):
    limit("draftmill.jobs.dlq", 100_000)
    large = b"no job " * 30_000
    stack.produce("draftmill.jobs", large, key=b"k", headers=[("trace", b"t")])
    send(stack, job("beside"))
    drain(stack)
    record = next(record for record in stack.consume("draftmill.jobs.dlq") if ("value_omitted", b"true") in record.headers)
    assert (record.value, record.key, record.headers[0]) == (None, b"k", ("trace", b"t"))
    assert stack.sql("SELECT value FROM draftmill.dead_letter WHERE length(value) = %s", [len(large)])
    assert ends(stack, "beside") == {"beside": PASSED}
    verify.everything(stack)


def test_submit_says_of_a_record_over_the_limit_what_mends_it(stack, limit):
    topic(stack, "small")
    limit("draftmill.small", 5000)
    lines = "\n".join(json.dumps(job(f"small-{n}", task="Confirm. " * n)) for n in (1, 1000))

    def submit(**options):
        words = ["submit", "--config", stack.config, "--profile", "customer-letter", "--topic", "draftmill.small", "-"]
        return stack.draftmill(*words, input=lines, check=False, env=options).stderr

    told = "not delivered: Broker: Message size too large; raise the topic's max.message.bytes"
    assert f"stdin:2: {told}" in submit()
    few = submit(DRAFTMILL_KAFKA_OPTIONS_BATCH_SIZE="4000")
    assert f"stdin:2: {told}" in few and "stdin:1:" not in few


def test_an_event_over_the_limit_waits_until_the_topic_takes_it(stack, limit):
    limit("draftmill.review", 500)
    worker = stack.start_worker()
    send(stack, job("large-review", "stubborn"), job("small"))
    wait_until(lambda: events(worker, "event_not_delivered"), what="an event that is refused")
    wait_until(lambda: ends(stack, "small"))
    told = events(worker, "event_not_delivered")[0]
    assert told["topic"] == "draftmill.review" and "MSG_SIZE_TOO_LARGE" in worker.log()
    limit("draftmill.review", RECORD_BYTES_MAX)
    wait_ended(stack, "large-review", "small")
    assert worker.terminate() == 0
    verify.everything(stack)
