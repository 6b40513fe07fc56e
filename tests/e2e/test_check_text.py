"""`check text`: checks alone, on files and standard input, with nothing running and no key."""
import json
import os

import pytest
from jobs import job
from stack import ROOT, Stack

CONFIG = ["--config", "config/draftmill.yaml"]
LETTER = """Dear Baker,

the price of your plan Team stays as it is until May. You need not do anything. Your reference is R-2001. Write to us if you have a question.
"""


@pytest.fixture(scope="module")
def alone():
    with Stack() as nothing:
        yield nothing


@pytest.fixture
def check(alone, tmp_path):
    def check(*words, status=0, input=None, checks=None):
        if checks is not None:
            (tmp_path / "checks.json").write_text(json.dumps(checks))
            words = ("--checks", str(tmp_path / "checks.json"), *words)
        done = alone.draftmill("check", "text", *CONFIG, *words, input=input, check=False)
        assert done.returncode == status, done.stdout + done.stderr
        return done

    return check


NO_COMMA = {"name": "no-comma", "type": "punctuation:no_comma"}
SHORT = {"name": "short", "type": "words", "max": 3, "hard": False}


def test_each_check_is_told_with_its_place(check):
    done = check("-", input="One two\nthrée, four\n", checks=[NO_COMMA, SHORT], status=1)
    assert done.stdout == "-: 2 of 2 checks red\n  red  no-comma: has a comma, at 2:6\n  red  short (soft): 4 words, at most 3 wanted\n"


def test_only_a_hard_check_makes_the_status(check):
    assert check(input="one, two", checks=[NO_COMMA], status=1).stdout == "-: 1 of 1 checks red\n  red  no-comma: has a comma, at 1:4\n"
    assert check(input="a b c d", checks=[NO_COMMA, SHORT]).stdout == "-: 1 of 2 checks red\n  ok   no-comma\n  red  short (soft): 4 words, at most 3 wanted\n"


def test_json_is_a_line_for_each_text(check, tmp_path):
    (tmp_path / "good.txt").write_text("fine")
    (tmp_path / "bad.txt").write_text("日本, x")
    done = check("--json", str(tmp_path / "good.txt"), str(tmp_path / "bad.txt"), checks=[NO_COMMA], status=1)
    good, bad = map(json.loads, done.stdout.splitlines())
    told = {"name": "no-comma", "type": "punctuation:no_comma", "hard": True, "severity": 4}
    assert good == {"file": str(tmp_path / "good.txt"), "ok": True, "checks": [{**told, "ok": True}]}
    assert bad == {"file": str(tmp_path / "bad.txt"), "ok": False,
                   "checks": [{**told, "ok": False, "detail": "has a comma", "line": 1, "column": 3, "at": 6, "bytes": 1}]}


def test_a_profile_is_enough_and_a_job_gives_its_variables(check, tmp_path):
    done = check("--profile", "customer-letter", "--json", input=LETTER, status=1)
    lacking = [c for c in json.loads(done.stdout)["checks"] if not c["ok"]]
    assert [c["name"] for c in lacking] == ["named"] and "the job gives no value for" in lacking[0]["detail"]
    variables = {"customer": "Baker", "plan": "Team", "reference": "R-2001", "segment": "continuing"}
    path = tmp_path / "job.json"
    path.write_text(json.dumps({"task": "Tell it.", "variables": variables, "checks": [NO_COMMA]}))
    done = check("--profile", "customer-letter", "--job", str(path), input=LETTER, status=1)
    assert done.stdout.startswith("-: 1 of ") and "red  no-comma: has a comma, at 1:11" in done.stdout
    path.write_text(json.dumps({"profile": "customer-letter", "task": "Tell it.", "variables": variables}))
    assert check("--job", str(path), input=LETTER).stdout.startswith("-: 0 of ")


def test_a_row_of_ifeval_is_a_list_of_checks(check):
    row = {"instruction_id_list": ["punctuation:no_comma", "length_constraints:number_words"],
           "kwargs": [{}, {"relation": "at least", "num_words": 3}]}
    checks = [{"name": f"c{i}", "type": kind, **arguments}
              for i, (kind, arguments) in enumerate(zip(row["instruction_id_list"], row["kwargs"]))]
    assert check(input="one two three", checks=checks).stdout.startswith("-: 0 of 2")


@pytest.mark.parametrize("checks, said", [
    ({}, "must be a JSON array of checks"), ([NO_COMMA, NO_COMMA], '/1/name: stands there twice'),
    ([{"name": "x", "type": "keywords:existance", "keywords": ["a"]}], 'did you mean "keywords:existence"?'),
])
def test_checks_that_cannot_be_read_are_refused(check, checks, said):
    done = check(input="text", checks=checks, status=64)
    assert "checks.json: " in done.stderr and said in done.stderr and not done.stdout


def test_what_is_no_text_is_named_and_the_rest_is_checked(check, tmp_path):
    (tmp_path / "latin.txt").write_bytes(b"caf\xe9, x")
    (tmp_path / "bom.txt").write_bytes(b"\xef\xbb\xbfok")
    done = check(str(tmp_path / "latin.txt"), str(tmp_path / "none.txt"), str(tmp_path / "bom.txt"), checks=[NO_COMMA], status=65)
    assert "latin.txt: " in done.stderr and "none.txt: cannot be opened" in done.stderr
    assert done.stdout == f"{tmp_path}/bom.txt: 0 of 1 checks red\n  ok   no-comma\n"


def test_without_checks_or_with_an_unknown_profile_it_says_so(check):
    assert "takes --profile, --job or --checks" in check(input="x", status=64).stderr
    assert "customer-letter" in check("--profile", "customer-leter", input="x", status=64).stderr


def test_ten_megabytes_are_decided(check, tmp_path):
    path = tmp_path / "long.txt"
    path.write_text("Dear customer we are sorry that your order came late. " * 200000)
    assert os.path.getsize(path) > 10e6
    checks = [NO_COMMA, {"name": "sentences", "type": "length_constraints:number_sentences", "num_sentences": 200000, "relation": "at least"},
              {"name": "length", "type": "graphemes", "min": 1000000}, {"name": "terms", "type": "forbidden", "terms": ["rival", "copy"]},
              {"name": "pattern", "type": "regex", "pattern": "rival", "match": False}]
    done = check(str(path), checks=checks)
    assert ": 0 of 5 checks red" in done.stdout


def test_a_profile_with_fields_takes_them_as_json(check):
    mail = {"subject": "Your price stays", "body": "Dear Ms. Baker,\n\nyour plan Team is as it was, [Name]."}
    done = check("--profile", "customer-email", "--json", input=json.dumps(mail), status=1)
    red = {c["name"]: c for c in json.loads(done.stdout)["checks"] if not c["ok"]}
    assert set(red) == {"body-length", "named", "leftover"}
    assert red["body-length"]["detail"].startswith("53 characters")
    page = check("--profile", "customer-email", input=json.dumps(mail), status=1).stdout
    assert "red  body: body-length: 53 characters" in page and "ok   subject: subject-length" in page
    done = check("--profile", "customer-email", input="Your price stays\n\nDear Ms. Baker", status=65)
    assert 'write {"subject": text, ..}' in done.stderr
    done = check("--profile", "customer-email", input='{"subject": "x"}', status=65)
    assert 'has no text "body", a field of the profile' in done.stderr


def test_a_pipe_without_a_writer_is_not_waited_for(check, tmp_path):
    os.mkfifo(tmp_path / "job.json")
    done = check("--job", str(tmp_path / "job.json"), input="x", status=64)
    assert done.stderr.endswith("job.json: is a pipe that nobody writes to; give a file\n")
