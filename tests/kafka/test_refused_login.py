"""What `check config` and a worker say when the broker does not let them in."""
import pytest
import stack as stacks
from access import NEWER, SYSTEM, login, problems, shown
from jobs import events

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


@pytest.mark.parametrize("program, fault", [
    (program, fault) for fault in FAULTS for program in (SYSTEM, NEWER) if (program, fault) != (NEWER, OLD_LIBRARY)
], ids=shown)
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
