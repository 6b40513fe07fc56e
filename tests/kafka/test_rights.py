"""A right or a topic that is missing is named, with the command that mends it."""
import json

import pytest
import verify
from access import grant, login, problems
from jobs import ends, events, job, send, wait_ended
from stack import wait_until


@pytest.fixture(scope="module")
def env(stack):
    grant(stack.broker, "work")
    return login(stack.broker)


@pytest.fixture
def without(stack):
    """Takes rights away until the test is over."""
    taken = []

    def take(operation, *resource):
        taken.append(([operation], list(resource)))
        stack.broker.change_acls("--remove", *taken[-1])

    yield take
    for operations, resource in taken:
        stack.broker.change_acls("--add", operations, resource)


@pytest.mark.parametrize("operation, kind, name", [
    ("Read", "topic", "draftmill.jobs"), ("Read", "group", "draftmill"), ("Write", "topic", "draftmill.jobs.dlq"),
])
def test_a_missing_right_is_named_with_the_command(stack, env, without, operation, kind, name):
    assert problems(stack, env) == []
    without(operation, f"--{kind}", name)
    (problem,) = problems(stack, env)
    assert f"kafka-acls --bootstrap-server {stack.broker.tls_brokers} --add --allow-principal User:{stack.broker.user} " \
           f"--operation {operation} --{kind} {name}`" in problem


def test_a_missing_topic_is_named_with_the_command(stack, env):
    (problem,) = problems(stack, {"DRAFTMILL_KAFKA_JOB_TOPICS": "jobs,nowhere"})
    assert "draftmill.nowhere" in problem and "draftmill topics --create" in problem


def test_submit_without_its_right_says_which(stack, env):
    done = stack.draftmill("submit", "--config", stack.config, "--profile", "customer-letter", "-", input=json.dumps(job("denied")), env=env, check=False)
    assert done.returncode != 0
    assert "stdin:1: not delivered: Broker: Topic authorization failed; let this user read or write the topic by kafka-acls" in done.stderr


def test_an_event_that_may_not_be_written_waits_for_the_right(stack, env, without):
    without("Write", "--topic", "draftmill.results")
    worker = stack.start_worker(env=env)
    send(stack, job("waits"))
    wait_until(lambda: any(told["topic"] == "draftmill.results" for told in events(worker, "event_not_delivered")))
    assert "TOPIC_AUTHORIZATION_FAILED" in worker.log()
    assert ends(stack, "waits") and not stack.consume("draftmill.results")
    stack.broker.change_acls("--add", ["Write"], ["--topic", "draftmill.results"])
    wait_ended(stack, "waits")
    assert worker.terminate() == 0
    verify.everything(stack)
