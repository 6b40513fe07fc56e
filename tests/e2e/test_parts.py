"""A profile whose drafts have three named parts, from the job to the result, the review and the page of `show`."""
import json
import shutil

import pytest
import verify
from jobs import QUICK_GROUP, QUICK_MODEL, drain, ends, job, send
from stack import ROOT, Stack

PARTS = ("greeting", "middle", "close")
CHECKS = [  # the greeting is only in the first part, the signature only in the last
    {"name": "greets", "type": "must_include", "variables": ["customer"], "field": "greeting"},
    {"name": "signed", "type": "keywords:existence", "keywords": ["Customer Team"], "field": "close"},
]


@pytest.fixture(scope="module")
def stack(tmp_path_factory):
    folder = tmp_path_factory.mktemp("parts")
    shutil.copytree(f"{ROOT}/config", folder / "config")
    shutil.copytree(f"{ROOT}/sql", folder / "sql")
    text = (folder / "config/profiles/customer-letter.yaml").read_text()
    assert "name: customer-letter\n" in text
    (folder / "config/profiles/parts.yaml").write_text(
        text.replace("name: customer-letter\n", f"name: parts\nfields: [{', '.join(PARTS)}]\n"))
    with Stack(config=str(folder / "config/draftmill.yaml")) as stack:
        stack.start_pg()
        stack.migrate()
        stack.start_broker()
        stack.start_model(**QUICK_MODEL)
        # What the middle lacks is in the part behind it.
        lacking = {"name": "signed-early", "type": "keywords:existence", "keywords": ["Customer Team"], "field": "middle"}
        send(stack, {**job("whole"), "profile": "parts", "checks": CHECKS},
             {**job("lacking"), "profile": "parts", "checks": [*CHECKS, lacking], "limits": {"iterations": 1}})
        drain(stack, env=QUICK_GROUP)
        yield stack


def of(stack, topic, id):
    event, = [event for event in (json.loads(record.value) for record in stack.consume(topic)) if event["job"]["id"] == id]
    return event


def test_each_part_is_judged_alone(stack):
    assert ends(stack) == {"whole": ("passed", "no_issues"), "lacking": ("escalated", "max_iterations")}
    red = stack.sql("SELECT DISTINCT c ->> 'name' FROM draftmill.draft, json_array_elements(checks::json) c WHERE NOT (c ->> 'ok')::boolean")
    assert red == [("signed-early",)]


def test_the_parts_reach_result_and_review_whole(stack):
    for event, name in ((of(stack, "draftmill.results", "whole"), "fields"), (of(stack, "draftmill.results", "lacking"), "best_draft_fields"),
                        (of(stack, "draftmill.review", "lacking")["drafts"][0], "fields")):
        parts = event[name]
        assert tuple(parts) == PARTS
        assert parts["greeting"].startswith("Dear ") and "\n\n" not in parts["greeting"]
        assert "Dear " not in parts["middle"] and "Customer Team" not in parts["middle"]
        assert parts["close"].endswith("Customer Team") and "\n\n" not in parts["close"]
    whole = of(stack, "draftmill.results", "whole")
    assert whole["text"] == "\n\n".join(whole["fields"].values())


@pytest.mark.parametrize("id", ["whole", "lacking"])
def test_show_tells_the_parts_apart(stack, id):
    page = stack.draftmill("show", id).stdout.splitlines()
    heads = [page.index(f"  {name}:") for name in PARTS]
    assert heads == sorted(heads) and page[heads[0] + 1].startswith("  | Dear ") and heads[1] == heads[0] + 2
    assert page[heads[2] + 2].startswith("  | The Customer Team")


def test_the_trail_and_the_topics_hold_what_they_promise(stack):
    verify.everything(stack)
