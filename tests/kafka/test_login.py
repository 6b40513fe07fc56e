"""Logging in over TLS, by password, with no more rights than the README says; and what is told when it does not work."""
import json

import pytest
import stack as stacks
import verify
from access import grant, login, problems
from jobs import QUICK_GROUP, QUICK_MODEL, demo_batch, drain, ends, events, expected_end
from stack import BUILD, Stack

SYSTEM, NEWER = f"{BUILD}/test/draftmill", f"{BUILD}/newer/draftmill"  # with the system's librdkafka, and with a newer one


def shown(word):
    return {SYSTEM: "system", NEWER: "newer"}.get(word, word)


@pytest.fixture(scope="module")
def stack(request):
    with Stack() as started:
        started.settings.update(QUICK_GROUP)
        started.start_pg()
        started.start_broker(version=request.param)
        started.start_model(**QUICK_MODEL)
        started.migrate()
        grant(started.broker, "work", "submit")
        yield started


@pytest.mark.parametrize("stack, program, mechanism", [
    ("3.9.2", SYSTEM, "PLAIN"), ("3.9.2", SYSTEM, "SCRAM-SHA-256"), ("4.4.0", SYSTEM, "PLAIN"),
    ("4.4.0", NEWER, "PLAIN"), ("4.4.0", NEWER, "SCRAM-SHA-256"),
], indirect=["stack"], ids=shown)
def test_a_batch_with_only_the_rights_of_the_readme(stack, monkeypatch, program, mechanism):
    monkeypatch.setattr(stacks, "DRAFTMILL", program)
    env = login(stack.broker, sasl_mechanism=mechanism)
    prefix = f"{mechanism}-{program == NEWER}-"
    batch = list(demo_batch(prefix))
    assert problems(stack, env) == []
    stack.draftmill("submit", "--config", stack.config, "--profile", "customer-email", "-", env=env,
                    input="".join(json.dumps(one) + "\n" for one in batch))
    stack.produce("draftmill.jobs", b"no job")
    drain(stack, env=env)
    assert ends(stack, prefix) == {one["id"]: expected_end(one) for one in batch}
    assert verify.everything(stack).letters


OLD_LIBRARY = "SCRAM to Kafka 4 with an old library"
# What is wrong, and what is to be mended.
FAULTS = {
    "a wrong password": ({"sasl_password": "wrong"}, "sasl.password"),
    "an unknown CA": ({"ssl_ca_location": None}, "ssl.ca.location"),
    "another host name": ({"brokers": "127.0.0.1"}, "as its certificate does"),
    "no TLS": ({"security_protocol": "sasl_plaintext"}, "security.protocol"),
    "TLS to the plain listener": ({"brokers": "plain"}, "security.protocol"),
    OLD_LIBRARY: ({"sasl_mechanism": "SCRAM-SHA-256"}, "too old for SCRAM to Kafka 4"),
}


@pytest.mark.parametrize("stack, program, fault", [
    ("4.4.0", program, fault) for fault in FAULTS for program in (SYSTEM, NEWER) if (program, fault) != (NEWER, OLD_LIBRARY)
], indirect=["stack"], ids=shown)
def test_a_refusal_is_told_with_its_mend(stack, monkeypatch, program, fault):
    """By `check config`, and by the worker, which ends."""
    monkeypatch.setattr(stacks, "DRAFTMILL", program)
    options, mend = FAULTS[fault]
    if (program, fault) == (NEWER, "no TLS"):
        mend = "kafka.brokers"  # librdkafka 2.12 knows only that it was hung up on, and tells only its log
    brokers = {"127.0.0.1": stack.broker.tls_brokers.replace("localhost", "127.0.0.1"), "plain": stack.broker.brokers}
    env = login(stack.broker, **{**options, "brokers": brokers.get(options.get("brokers"))})
    worker = stack.start_worker(env=env)
    (problem,) = problems(stack, env)
    assert mend in problem
    assert worker.wait(30) == 75
    (end,) = events(worker, "worker_cannot_start")
    assert mend in end["why"] and stack.broker.password not in worker.log()
