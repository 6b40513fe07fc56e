"""Critics of every form against the scripted model: what is asked of them, how their jobs end, and what a person is told of it."""
import json
import shutil

import pytest
import verify
from jobs import QUICK_GROUP, QUICK_MODEL, drain, ends, job, send
from jsonschema import Draft202012Validator
from stack import ROOT, Stack

FORMS = {  # profile: what differs from customer-letter
    "of-text": "critique: text\npass_rule: no_actionable_issues\n",
    "of-issues": "pass_rule: no_actionable_issues\n",
    "of-ten": "critique: plain_issues\n",
    "reflect": "",
}
CITING = "prompts: {critic: critic-sources}\ncite_sources: true\n"
RULES = {"id": "house-rules", "text": "Never reproach a customer; offer help."}


def profile(name, more):
    with open(f"{ROOT}/config/profiles/customer-letter.yaml") as file:
        text = file.read().replace("name: customer-letter", f"name: {name}")
    if name == "of-ten":
        text = text.replace("score_max: 100", "score_max: 10")
    if name == "reflect":
        text = text.replace("mode: critic_refiner", "mode: reflect").replace("  critic: critiquing\n", "")
    return text + more


@pytest.fixture(scope="module")
def stack(tmp_path_factory):
    folder = tmp_path_factory.mktemp("critics")
    shutil.copytree(f"{ROOT}/config", folder / "config")
    shutil.copytree(f"{ROOT}/sql", folder / "sql")
    for name, more in {**FORMS, "citing": CITING}.items():
        (folder / f"config/profiles/{name}.yaml").write_text(profile(name, more))
    with Stack(config=str(folder / "config/draftmill.yaml")) as stack:
        stack.start_pg()
        stack.migrate()
        stack.start_broker()
        stack.start_model(**QUICK_MODEL)
        send(stack, *({**job(f"citing-{cites}", case, {"cites": cites}, sources=[RULES]), "profile": "citing"} for cites, case in
                      (("house-rules", "tone"), ("style-guide", "nagging"))))
        send(stack, *({**job(f"{name}-{case}", case), "profile": name} for name in FORMS for case in ("clean", "tone")))
        drain(stack, env=QUICK_GROUP)
        yield stack


@pytest.mark.parametrize("name", FORMS)
def test_a_fault_is_found_mended_and_passed(stack, name):
    assert ends(stack, name) == {f"{name}-clean": ("passed", "no_issues"), f"{name}-tone": ("passed", "no_issues")}
    verdicts = stack.sql("SELECT verdict, score, n_issue, shape, n_unconsidered FROM draftmill.critique JOIN draftmill.job USING (job_no) "
                         "WHERE id = %s ORDER BY step_no", [f"{name}-tone"])
    scored = name in ("of-ten", "reflect")
    assert [verdict for verdict, *_ in verdicts] == ["fail", "pass"]
    assert all((score is not None) == scored for _, score, *_ in verdicts)
    assert [(n, shape, silent) for *_, n, shape, silent in verdicts] == [
        (1, "whole", 0), (0, "whole", 0)]
    if name == "of-ten":
        assert [score for _, score, *_ in verdicts] == [60, 90]


def test_an_issue_cites_a_source_of_the_job_or_counts_against_its_critic(stack):
    assert ends(stack, "citing") == {"citing-house-rules": ("passed", "no_issues"), "citing-style-guide": ("escalated", "repeated_critique")}
    cited = stack.sql("SELECT DISTINCT id, i.source, miscited FROM draftmill.issue i JOIN draftmill.job USING (job_no) "
                      "WHERE starts_with(id, 'citing') ORDER BY 1")
    assert cited == [("citing-house-rules", "house-rules", None), ("citing-style-guide", None, "style-guide")]
    reader = ("--database.conninfo", stack.conninfo_of("draftmill_reader"))
    assert ", source house-rules: \"You should have" in stack.draftmill("show", "citing-house-rules", *reader).stdout
    assert ", citing style-guide, which is no source of the job: " in stack.draftmill("show", "citing-style-guide", *reader).stdout
    n, = stack.sql("SELECT sum(n_miscited)::int FROM draftmill.v_critique WHERE profile = 'citing'")
    report = json.loads(stack.draftmill("report", "--json", *reader).stdout)
    assert report["critiques"]["n_miscited"] == n[0] > 0
    assert "issues that cite what is nowhere" in stack.draftmill("report", *reader).stdout
    (payload,), = stack.sql("SELECT convert_from(b.payload, 'UTF8') FROM draftmill.outbox b JOIN draftmill.job j USING (job_no) "
                            "WHERE id = 'citing-style-guide' AND kind = 'opened'")
    with open(f"{ROOT}/config/schema/review-opened.schema.json") as schema:
        Draft202012Validator(json.load(schema)).validate(json.loads(payload))
    issues = [issue for critique in json.loads(payload)["critiques"] for issue in critique["issues"]]
    verify.everything(stack)  # the chain knows what was cited
    assert issues and all(issue["miscited"] == "style-guide" and "source" not in issue for issue in issues)


def test_a_citation_is_told_as_it_comes(stack):
    for cites, words in ("house-rules", ", source house-rules: "), ("guide", ", citing guide, which is no source of the job: "):
        one = job("tried", "tone", {"cites": cites}, sources=[RULES])
        told = stack.draftmill("try", "--config", stack.config, "--profile", "citing", "-", input=json.dumps({**one, "profile": "citing"}))
        assert f'    4 tone{words}"You should have' in told.stdout


def test_what_a_verdict_of_ones_own_is_worth_is_said(stack):
    note, = json.loads(stack.draftmill("check", "config", "--config", stack.config, "--offline", "--json").stdout)["notes"]
    assert note.startswith("profile reflect: in mode reflect the writer judges itself")
    assert "judged by   the model that wrote it (mode reflect)" in stack.draftmill("show", "reflect-tone").stdout
    assert "judged by" not in stack.draftmill("show", "of-ten-tone").stdout
    report = stack.draftmill("report").stdout
    line, = [line for line in report.splitlines() if "(mode reflect)" in line]
    assert line.split() == "passed by their own writer alone 2 (mode reflect)".split()


def test_a_critique_without_a_score_is_shown_and_left_out_of_the_mean(stack):
    assert "fail, score not asked for" in stack.draftmill("show", "of-text-tone").stdout
    report = json.loads(stack.draftmill("report", "--json").stdout)["critiques"]
    assert (report["n_valid"], report["n_unscored"], report["n_invalid"]) == (16, 6, 0)
