"""The shipped profiles end their samples as they say, a new one begins as whole as they are, and what differs is told. Nothing is started."""
import json
import re
import shutil
import subprocess
import xml.etree.ElementTree

import pytest
import yaml
from stack import ROOT, Stack

FOLDERS = ["profiles", "grounded"]


@pytest.fixture(scope="module")
def alone():
    with Stack() as nothing:
        yield nothing


@pytest.fixture
def run(alone, tmp_path):
    """Runs a command on a copy of the shipped profiles."""
    for folder in FOLDERS:
        shutil.copytree(f"{ROOT}/config/{folder}", tmp_path / folder)

    def run(*words, status=0, folder="profiles"):
        done = alone.draftmill(*words, "--config", f"{ROOT}/config/draftmill.yaml", "--profiles.dir", str(tmp_path / folder),
                               env={"OPENAI_API_KEY": "asked-nobody"}, check=False)
        assert done.returncode == status, f"{done.returncode}\n{done.stdout}\n{done.stderr}"
        assert "Sanitizer" not in done.stderr
        return done.stdout + done.stderr
    return run


@pytest.fixture
def edit(tmp_path):
    def edit(name, old, new, folder="profiles"):
        path = tmp_path / folder / name
        text = path.read_text()
        assert old in text
        path.write_text(text.replace(old, new, 1))
    return edit


@pytest.mark.parametrize("folder", FOLDERS)
def test_the_shipped_profiles_are_whole_and_end_their_samples_as_they_say(run, folder):
    assert "0 problems" in run("check", "config", "--offline", folder=folder)
    told = dict(re.findall(r"^([a-z-]+): (.*)$", run("profile", "test", folder=folder), re.M))
    assert told and all(re.fullmatch(r"(\d+) of \1 as expected", end) for end in told.values()), told


@pytest.mark.parametrize("model", ["customer-email", "customer-letter", "security-finding", "document", "../grounded/sql-answer"])
def test_a_new_profile_is_whole_and_overwrites_nothing(run, tmp_path, model):
    told = run("profile", "new", "mine", "--from", model)
    assert f"{tmp_path}/profiles/mine.yaml" in told
    n = len((tmp_path / "profiles/mine/jobs.jsonl").read_text().splitlines())
    assert n == 10 and f"mine: {n} of {n} as expected" in run("profile", "test", "mine")
    before = (tmp_path / "profiles/mine.yaml").read_bytes()
    assert "is there already" in run("profile", "new", "mine", status=65)
    assert (tmp_path / "profiles/mine.yaml").read_bytes() == before
    assert sorted(re.findall(r"^name: (.*)$", before.decode(), re.M)) == ["mine"]


@pytest.mark.parametrize("name", ["", "A", "../mine", "a" * 41, "mine.yaml"])
def test_a_name_that_is_none_makes_nothing(run, tmp_path, name):
    before = sorted(tmp_path.rglob("*"))
    assert "1 to 40 of a-z" in run("profile", "new", name, status=65)
    assert "nobody.yaml: cannot be opened" in run("profile", "new", "mine", "--from", "nobody", status=65)
    assert sorted(tmp_path.rglob("*")) == before


def test_a_rule_that_changes_shows_in_the_samples_and_in_the_report(run, edit, tmp_path):
    edit("customer-email.yaml", "terms: [Rivalware,", "terms: [Rival, Zeal,")
    told = run("profile", "test", "customer-email", "--junit", str(tmp_path / "report.xml"), status=1)
    (line,) = [line for line in told.splitlines() if ": en-competitor: " in line]
    assert re.match(r".*/expected.yaml:\d+: en-competitor: it ends passed no_issues, expected escalated max_iterations; 2 of 4 replies are not asked for", line)
    assert "customer-email: 9 of 10 as expected" in told
    (suite,) = xml.etree.ElementTree.parse(tmp_path / "report.xml").getroot()
    assert (suite.get("name"), suite.get("tests"), suite.get("failures"), suite.get("errors")) == ("customer-email", "10", "1", "0")
    failed = [case.get("name") for case in suite if case.find("failure") is not None]
    assert failed == ["en-competitor"] and "max_iterations" in suite.find("testcase/failure").text


def test_each_arm_is_played(run, edit, tmp_path):
    edit("customer-email.yaml", "pass_score: 80\n", "pass_score: 80\narms:\n  - {name: a, share: 1}\n  - {name: b, share: 1, pass_score: 93}\n")
    told = run("profile", "test", "customer-email", "--junit", str(tmp_path / "report.xml"), status=1)
    assert "customer-email/a: 10 of 10 as expected" in told and re.search(r"customer-email/b: [0-9] of 10 as expected", told)
    suites = xml.etree.ElementTree.parse(tmp_path / "report.xml").getroot()
    assert [suite.get("name") for suite in suites] == ["customer-email/a", "customer-email/b"]


def test_a_red_check_is_told_with_what_is_wrong(run, edit):
    edit("customer-email.yaml", "    max: 300\n", "    max: 210\n")
    assert "check body-length: " in run("profile", "test", "customer-email", status=1)


@pytest.mark.parametrize("old, new, words", [
    ("score: 92\n", "score: 91\n", "en-new: the score is 92, expected 91"),
    ("Welcome to the Team plan.", "Welcome to the Solo plan.", 'en-new: the text is "Welcome to your plan'),
    ("    - critic: ", "    - refiner: ", "en-new: the critic is asked (call 1), but reply 2 is the refiner's"),
])
def test_what_differs_is_named(run, edit, old, new, words):
    edit("customer-email/expected.yaml", old, new)
    assert words in run("profile", "test", "customer-email", status=1)


def test_who_sees_no_sources_is_not_asked_to_cite_them(run, edit, tmp_path):
    shutil.copytree(f"{ROOT}/config/prompts", tmp_path / "prompts")
    edit("en/critic-sources.txt", "{{sources}}\n", "", folder="prompts")
    told = run("check", "config", "--offline", "--prompts.dir", str(tmp_path / "prompts"), status=78)
    assert re.search(r"profiles/document\.yaml:\d+: cite_sources: the critic's prompt in en does not show \{\{sources\}\}; put it there", told)
    assert "prompt in ja" not in told


@pytest.mark.parametrize("old, new, words", [
    ("cites: S2\n", "cites: S1\n", 'wrong-figure: the issues cite "S2", expected "S1"'),
    ("outcome: escalated\n  stop_reason: high_stakes\n", "outcome: passed\n  stop_reason: no_issues\n",
     "for-the-regulator: it ends escalated high_stakes, expected passed no_issues; the stakes are high by stakes_rules[0] audience"),
    ("cites: no source\n", "cites: annual figures\n", 'cites-what-is-not-there: the issues cite "no source", expected "annual figures"'),
])
def test_another_citation_and_other_stakes_are_named(run, edit, old, new, words):
    edit("document/expected.yaml", old, new)
    assert words in run("profile", "test", "document", status=1)


@pytest.mark.parametrize("file, old, new, words", [
    ("expected.yaml", "outcome: passed", "outcome: direct", "outcome: that of no_issues is passed"),
    ("expected.yaml", "stop_reason: no_issues", "stop_reason: fine", "stop_reason: give one of"),
    ("expected.yaml", "  score: 92\n", "  points: 92\n", "points: unknown"),
    ("expected.yaml", "score: 92", "score: 920", "score: 0 to 100"),
    ("expected.yaml", "    - critic: ", "    - judge: ", "replies: give `ROLE: text`"),
    ("expected.yaml", "- id: en-wrong-date", "- id: en-new", "id: give each item that of another job"),
    ("expected.yaml", "- id: en-new", "- id: en-old", 'expects nothing of the job "en-new"'),
    ("jobs.jsonl", '"id": "en-short"', '"id": "en-new"', 'the id "en-new" is another job\'s'),
    ("jobs.jsonl", '"language": "en"', '"language": 7', "jobs.jsonl:1: "),
])
def test_samples_that_cannot_be_read_are_told_with_their_line(run, edit, tmp_path, file, old, new, words):
    edit(f"customer-email/{file}", old, new)
    told = run("profile", "test", "customer-email", "--junit", str(tmp_path / "report.xml"), status=65)
    assert any(words in line and re.search(r"\.(yaml|jsonl):\d+: ", line) for line in told.splitlines()), told
    (suite,) = xml.etree.ElementTree.parse(tmp_path / "report.xml").getroot()
    assert int(suite.get("errors")) >= 1 and suite.get("failures") == "0"


def test_a_profile_that_was_named_has_to_have_samples(run, tmp_path):
    shutil.rmtree(tmp_path / "profiles/customer-letter")
    assert "customer-letter: has no samples" in run("profile", "test")
    assert "expected.yaml: cannot be opened" in run("profile", "test", "customer-letter", status=65)
    assert "did you mean" in run("profile", "test", "dokument", status=65)


def test_what_is_recorded_of_the_sql_tool_is_what_it_says():
    """All but the one sample that is about a tool without an answer."""
    with open(f"{ROOT}/config/grounded/sql-answer/expected.yaml") as file:
        samples = yaml.safe_load(file)
    n = 0
    for sample in samples:
        draft = None
        for (role, text), in (reply.items() for reply in sample["replies"]):
            draft = text if role in ("generator", "refiner") else draft
            if role != "tool" or sample["stop_reason"] == "request_failed":
                continue
            done = subprocess.run(["/usr/bin/python3", "config/tools/sql_explain.py", "config/tools/shop.sql"], cwd=ROOT, input=draft, text=True,
                                  capture_output=True, check=True)
            said = [{key: finding[key] for key in finding if key in ("severity", "message", "snippet")} for finding in json.loads(done.stdout)]
            assert said == json.loads(text), sample["id"]
            n += 1
    assert n > 5
