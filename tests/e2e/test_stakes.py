"""Stakes by rules of a profile through a worker: what they make of a job, where it is told, and that it stays so."""
import json
import shutil
import time

import pytest
import verify
from jobs import drain, ends, job, send
from jsonschema import Draft202012Validator
from stack import ROOT, wait_until

RULES = """
stakes_rules:
  - {variable: segment, equals: churn-risk, stakes: high}
  - {variable: amount, at_least: 10000, stakes: high, absent: normal}
  - {variable: note, matches: '(?i)lawyer|弁護士', stakes: high}
"""


@pytest.fixture
def ruled(stack, tmp_path):
    """The environment of a worker whose profile has these rules."""
    shutil.copytree(f"{ROOT}/config/profiles", tmp_path / "profiles")
    path = tmp_path / "profiles/customer-letter.yaml"
    path.write_text(path.read_text() + RULES)
    return {"DRAFTMILL_PROFILES_DIR": str(tmp_path / "profiles")}


def stakes(stack, prefix):
    return dict((id, (stakes, by)) for id, stakes, by in stack.sql(
        "SELECT id, stakes, stakes_by FROM draftmill.job WHERE starts_with(id, %s)", [prefix]))


def test_the_highest_of_job_profile_and_rules_holds_and_the_trail_says_which(stack, ruled):
    person, passed = ("escalated", "high_stakes"), ("passed", "no_issues")
    expected = {  # id: variables, fields, stakes, by, end
        "none": ({"amount": "12"}, {}, "normal", "profile", passed),
        "low": ({"amount": "12"}, {"stakes": "low"}, "normal", "profile", passed),
        "own": ({"amount": "12"}, {"stakes": "high"}, "high", "job", person),
        "segment": ({"segment": "Churn-Risk"}, {"stakes": "low"}, "high", "stakes_rules[0] segment", person),
        "amount": ({"amount": "10000.00"}, {}, "high", "stakes_rules[1] amount", person),
        "words": ({"amount": "ten"}, {}, "high", "stakes_rules[1] amount, not judged", person),
        "lawyer": ({"note": "My LAWYER will call."}, {}, "high", "stakes_rules[2] note", person),
        "both": ({"amount": "99999", "note": "lawyer"}, {"stakes": "high"}, "high", "job", person),
    }
    send(stack, *(job(f"stakes-{id}", variables=variables, **fields) for id, (variables, fields, *_) in expected.items()))
    drain(stack, env=ruled)
    assert ends(stack, "stakes-") == {f"stakes-{id}": end for id, (*_, end) in expected.items()}
    assert stakes(stack, "stakes-") == {f"stakes-{id}": (level, by) for id, (_, _, level, by, _) in expected.items()}
    verify.everything(stack)  # they are in the chain
    shown = stack.draftmill("show", "stakes-words", "--database.conninfo", stack.conninfo_of("draftmill_reader")).stdout
    assert "  stakes      high\n  set by      stakes_rules[1] amount, not judged\n" in shown
    (payload,), = stack.sql("SELECT convert_from(b.payload, 'UTF8') FROM draftmill.outbox b JOIN draftmill.job j USING (job_no) "
                            "WHERE id = 'stakes-segment' AND kind = 'opened'")
    case = json.loads(payload)
    with open(f"{ROOT}/config/schema/review-opened.schema.json") as schema:
        Draft202012Validator(json.load(schema)).validate(case)
    assert (case["stakes"], case["stakes_by"]) == ("high", "stakes_rules[0] segment")


def test_a_worker_that_takes_the_job_over_keeps_them(stack, ruled):
    send(stack, job("taken-over", "slow", variables={"amount": "twelve"}))
    worker = stack.start_worker(env=ruled)
    wait_until(lambda: stakes(stack, "taken-over"), what="the job")
    time.sleep(0.1)
    worker.kill()
    drain(stack)  # under the profile that it came with
    assert ends(stack, "taken-over") == {"taken-over": ("escalated", "high_stakes")}
    assert stack.sql("SELECT count(*) FROM draftmill.step JOIN draftmill.job USING (job_no) WHERE id = 'taken-over' AND fact = 'resumed'") == [(1,)]
    verify.everything(stack, lost=True)


def test_a_rule_that_is_none_and_a_variable_that_nobody_gives_are_named(stack, ruled, tmp_path):
    def check(old, new, status):
        path = tmp_path / "profiles/customer-letter.yaml"
        text = path.read_text()
        assert old in text
        path.write_text(text.replace(old, new))
        done = stack.draftmill("check", "config", "--offline", env=ruled, check=False)
        path.write_text(text)
        assert done.returncode == status
        line = text.split(old)[0].count("\n") + 1
        return done.stdout.replace(f"{path}:{line}: ", "HERE: ")

    assert "HERE: stakes_rules[0].equal: unknown; leave it out\n" in check("equals: churn", "equal: churn", 78)
    assert "HERE: stakes_rules[1].at_least: give an integer, or a decimal as a string: \"0.5\"\n" in check("10000", "10 000", 78)
    assert "HERE: stakes_rules[2].matches: " in check("弁護士'", "(弁護士'", 78)
    assert ('note: profile customer-letter: stakes_rules[0].variable: no sample job gives "segmnt"; did you mean segment\n'
            in check("variable: segment", "variable: segmnt", 0))
