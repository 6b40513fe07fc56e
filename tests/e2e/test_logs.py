"""What a worker says on stderr, and what it never says."""
import json
import re

import pytest
import verify
from jobs import QUICK_GROUP, QUICK_MODEL, drain, ends, job, send
from stack import Stack

KEY, CUSTOMER, TASK, ID = "sk-canary-key-81c2", "Canaryname-4f7a", "canary-task-90bd", "evil\n\x1b[31m{\"level\":\"error\"}"


@pytest.fixture(scope="module")
def log():
    """All that a worker says at the most talkative, while it meets canaries in good jobs, bad messages and failed calls."""
    with Stack() as stack:
        stack.settings.update(QUICK_GROUP, DRAFTMILL_WORKER_STATE_DIR=f"{stack.folder}/state", DRAFTMILL_LOG_LEVEL="debug")
        stack.start_pg()
        stack.start_broker()
        stack.start_model(key=KEY, **QUICK_MODEL)
        stack.migrate()
        stack.model.control("401", count=1)
        canaries = {"customer": CUSTOMER}
        send(stack, *(job(f"canary-{case}", case, canaries, task=TASK) for case in ("clean", "forbidden", "nonsense", "rejected", "refused")))
        send(stack, job(ID, variables=canaries), job("x" * 500))
        stack.produce("draftmill.jobs", f'{{"id": {CUSTOMER}', json.dumps({"id": "a", "profile": TASK, CUSTOMER: TASK}),
                      json.dumps({"id": "b", "profile": TASK}), json.dumps({"id": TASK, "profile": [CUSTOMER]}))
        (worker,) = drain(stack)
        assert len(ends(stack)) == 7 and len(verify.everything(stack).letters) == 4
        drafts = [body for (body,) in stack.sql("SELECT body FROM draftmill.draft")]
        assert any(CUSTOMER in body for body in drafts)  # the canaries did reach the trail
        command = stack.draftmill("try", "--config", stack.config, "--profile", "customer-letter", "-", input=json.dumps(job("tried")),
                                  check=False)
        with open(worker.log_path, "rb") as file:
            said = file.read()
        return said, drafts, command.stdout + command.stderr


def test_every_line_is_one_object(log):
    lines = log[0].decode().splitlines()
    assert len(lines) > 10
    for line in lines:
        event = json.loads(line)
        assert {"at", "level", "event"} <= set(event) and event["level"] in ("debug", "info", "warn", "error")
        assert re.fullmatch(r"[a-z_]+", event["event"])


@pytest.mark.parametrize("canary", [KEY, CUSTOMER, TASK, "You are the", "Dear "])
def test_no_key_prompt_or_draft_is_logged(log, canary):
    assert canary.encode() not in log[0]


def test_no_sentence_of_a_draft_is_logged(log):
    sentences = {sentence.strip() for body in log[1] for sentence in re.split(r"[.\n]", body) if len(sentence.strip()) > 20}
    assert len(sentences) > 10
    assert not [sentence for sentence in sentences if sentence.encode() in log[0]]


def test_the_key_is_nowhere_in_what_a_command_says(log):
    assert KEY not in log[2]


def test_nothing_steers_a_terminal(log):
    assert not re.search(rb"[\x00-\x09\x0b-\x1f\x7f]", log[0])
