"""Logging in over TLS, by password, with no more rights than the README says."""
import json

import pytest
import stack as stacks
import verify
from access import NEWER, SYSTEM, grant, login, problems, shown
from jobs import QUICK_GROUP, QUICK_MODEL, demo_batch, drain, ends, expected_end
from stack import Stack


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
    stack.draftmill("submit", "--config", stack.config, "--profile", "customer-letter", "-", env=env,
                    input="".join(json.dumps(one) + "\n" for one in batch))
    stack.produce("draftmill.jobs", b"no job")
    drain(stack, env=env)
    assert ends(stack, prefix) == {one["id"]: expected_end(one) for one in batch}
    assert verify.everything(stack).letters
