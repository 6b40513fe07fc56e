"""What the last worker of a job has spent, and what it ran under, is heeded by who takes the job over."""
import shutil

import pytest
from crashes import crash_stack, end, jobs_of, wait_all_ended
from jobs import ends, events, send
from stack import ROOT, wait_until


@pytest.fixture
def stack():
    with crash_stack(1000) as started:
        yield started


def start(stack):
    worker = stack.start_worker()
    wait_until(lambda: events(worker, "worker_ready"), 20)
    return worker


def n_requests(stack):
    return stack.model.stats()["requests"]


def test_attempts_that_broke_off_before_are_charged_as_well(stack):
    worker, batch = start(stack), jobs_of("broken", "clean")
    stack.model.control(fail="cut", count=2)
    send(stack, *batch)
    wait_until(lambda: n_requests(stack) == 1, 20, what="the first attempt")
    stack.model.control(latency_ms=8000)
    wait_until(lambda: n_requests(stack) == 3, 30, 0.01, "the third attempt")
    worker.kill()
    stack.model.control(latency_ms=20)
    worker = start(stack)
    wait_all_ended(stack, batch)
    end(worker)
    ((lost, cost, active_ms),) = stack.sql("SELECT lost, cost_micro_usd, active_ms FROM draftmill.step WHERE fact = 'resumed'")
    assert lost == 3 and cost > 0 and cost % 3 == 0
    assert active_ms == 0, "the model answered nobody meanwhile: their time is given back, their money is not"


def test_a_job_whose_model_is_gone_from_the_settings_goes_to_a_person(stack, tmp_path):
    worker, batch = start(stack), jobs_of("gone", "clean")
    stack.model.control(latency_ms=8000)
    send(stack, *batch)
    wait_until(lambda: stack.model.stats()["in_flight"] == 1, 20)
    worker.kill()
    stack.model.control(latency_ms=20)
    shutil.copytree(f"{ROOT}/config", tmp_path / "config")
    for path in (tmp_path / "config/draftmill.yaml", *(tmp_path / "config/profiles").glob("*.yaml")):
        path.write_text(path.read_text().replace("  drafting:", "  writing:").replace(": drafting", ": writing"))
    stack.config = str(tmp_path / "config" / "draftmill.yaml")
    worker = start(stack)
    wait_all_ended(stack, batch)
    end(worker)
    assert ends(stack) == {batch[0]["id"]: ("escalated", "diverged")}
    (told,) = events(worker, "job_diverged")
    assert "drafting" in told["why"]
