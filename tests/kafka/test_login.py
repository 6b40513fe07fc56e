"""Logging in over TLS, by password, with no more rights than the README says; and what is told when it does not work."""
import json
import time

import pytest
import stack as stacks
import verify
from access import grant, login
from jobs import QUICK_GROUP, QUICK_MODEL, demo_batch, drain, ends, expected_end, job
from stack import BUILD, Stack

SYSTEM, NEWER = f"{BUILD}/test/draftmill", f"{BUILD}/newer/draftmill"  # with the system's librdkafka, and with a newer one


@pytest.fixture(scope="module", params=["4.4.0", "3.9.2"])
def stack(request):
    with Stack() as started:
        started.settings.update(QUICK_GROUP)
        started.start_pg()
        started.start_broker(version=request.param)
        started.start_model(**QUICK_MODEL)
        started.migrate()
        grant(started.broker, "work", "submit")
        yield started


def run_with(monkeypatch, program):
    monkeypatch.setattr(stacks, "DRAFTMILL", program)


@pytest.mark.parametrize("mechanism", ["PLAIN", "SCRAM-SHA-256"])
@pytest.mark.parametrize("program", [SYSTEM, NEWER], ids=["system", "newer"])
def test_a_batch_with_only_the_rights_of_the_readme(stack, monkeypatch, program, mechanism):
    if (program, mechanism, stack.broker.version[0]) == (SYSTEM, "SCRAM-SHA-256", "4"):
        pytest.skip("librdkafka 2.0.2 cannot, see test_scram_against_kafka_4_names_the_library")
    run_with(monkeypatch, program)
    env = login(stack.broker, sasl_mechanism=mechanism)
    prefix = f"{mechanism}-{program == NEWER}-"
    batch = list(demo_batch(prefix))
    assert check_config(stack, env) == []
    stack.draftmill("submit", "--config", stack.config, "--profile", "customer-email", "-", env=env,
                    input="".join(json.dumps(one) + "\n" for one in batch))
    stack.produce("draftmill.jobs", b"no job")
    drain(stack, env=env)
    assert ends(stack, prefix) == {one["id"]: expected_end(one) for one in batch}
    assert verify.everything(stack).letters


def check_config(stack, env):
    """Problems, by `check config`."""
    done = stack.draftmill("check", "config", "--json", "--config", stack.config, env={"OPENAI_API_KEY": "test-key", **env}, check=False)
    return json.loads(done.stdout)["problems"]


def why_not(stack, env):
    """What `check config` and the worker say: it must be the same fault. The worker ends, and soon."""
    (problem,) = check_config(stack, env)
    start = time.monotonic()
    worker = stack.start_worker("--drain", env=env)
    assert worker.wait(40) == 75
    assert time.monotonic() - start < 30
    assert stack.broker.password not in worker.log() + problem
    return problem, worker.log()


# What is wrong, and the words that must be said of it.
FAULTS = {
    "a wrong password": (dict(sasl_password="wrong"), "sasl.password"),
    "an unknown CA": (dict(ssl_ca_location=None), "ssl.ca.location"),
    "another host name": (dict(brokers="127.0.0.1"), "127.0.0.1"),
    "no TLS": (dict(security_protocol="sasl_plaintext"), "security.protocol"),
    "TLS to the plain listener": (dict(brokers="plain"), "security.protocol"),
}


@pytest.mark.parametrize("program", [SYSTEM, NEWER], ids=["system", "newer"])
@pytest.mark.parametrize("fault", FAULTS)
def test_a_refusal_is_told_with_its_reason(stack, monkeypatch, program, fault):
    run_with(monkeypatch, program)
    options, word = FAULTS[fault]
    brokers = {"127.0.0.1": stack.broker.tls_brokers.replace("localhost", "127.0.0.1"), "plain": stack.broker.brokers}
    env = login(stack.broker, **{**options, "brokers": brokers.get(options.get("brokers"))})
    for told in why_not(stack, env):
        assert word in told


def test_scram_against_kafka_4_names_the_library(stack, monkeypatch):
    if stack.broker.version[0] == "3":
        pytest.skip("Kafka 3 lets every librdkafka in")
    run_with(monkeypatch, SYSTEM)
    for told in why_not(stack, login(stack.broker, sasl_mechanism="SCRAM-SHA-256")):
        assert "2.6.1" in told
