"""Two candidates for the first draft, against the scripted model: both are bought once, compared in both orders, and the loop goes on with one."""
import json
import shutil

import pytest
import verify
from jobs import QUICK_GROUP, QUICK_MODEL, drain, job, send
from stack import ROOT, Stack, wait_until

PROFILE = f"{ROOT}/config/profiles/customer-letter.yaml"
CASES = ("clean", "forbidden", "stubborn", "nonsense", "truncated")


@pytest.fixture(scope="module")
def config(tmp_path_factory):
    folder = tmp_path_factory.mktemp("candidates")
    shutil.copytree(f"{ROOT}/config", folder / "config")
    shutil.copytree(f"{ROOT}/sql", folder / "sql")
    with open(folder / "config/profiles/customer-letter.yaml", "a") as file:
        file.write("candidates: 2\n")
    return folder / "config"


@pytest.fixture(scope="module")
def stack(config):
    with Stack(config=str(config / "draftmill.yaml")) as stack:
        stack.settings.update(QUICK_GROUP, DRAFTMILL_WORKER_LEASE_MS="1000")
        stack.start_pg()
        stack.migrate()
        stack.start_broker()
        stack.start_model(**QUICK_MODEL)
        send(stack, *(job(f"{case}-{language}", case, language=language, variables={} if language == "en" else {"customer": "佐藤"})
                      for case in CASES for language in ("en", "ja")))
        drain(stack)
        yield stack


def test_the_trail_and_the_topics_hold_what_they_promise(stack):
    verify.everything(stack)


def test_each_job_has_two_drafts_and_says_which_one_it_went_on_with(stack):
    rows = stack.sql("SELECT id, chosen_draft_no, chosen_by, (SELECT count(*) FROM draftmill.draft d WHERE d.job_no = s.job_no AND from_draft_no IS NULL), "
                     "(SELECT count(*) FROM draftmill.step c WHERE c.job_no = s.job_no AND better IS NOT NULL) "
                     "FROM draftmill.step s JOIN draftmill.job USING (job_no) WHERE chosen_by IS NOT NULL")
    assert {id for id, *_ in rows} == {f"{case}-{language}" for case in CASES if case != "truncated" for language in ("en", "ja")}
    for id, chosen, why, n_draft, n_comparison in rows:
        assert n_draft == 2 and chosen in (0, 1), id
        assert (why, n_comparison) in (("equal", 0), ("checks", 0), ("both_orders", 2), ("tie_rule", 2)), (id, why, n_comparison)


def test_a_candidate_that_cannot_be_had_twice_ends_the_job_by_its_own_reason(stack):
    ends = stack.sql("SELECT DISTINCT outcome, stop_reason, n_calls FROM draftmill.v_job WHERE id LIKE 'truncated-%'")
    assert ends == [("escalated", "truncated", 4)]


def test_the_critique_and_the_refinement_are_of_the_chosen_one(stack):
    assert not stack.sql("SELECT c.job_no FROM draftmill.critique c JOIN draftmill.step s ON s.job_no = c.job_no AND chosen_by IS NOT NULL "
                         "WHERE c.draft_no < 2 AND c.draft_no <> chosen_draft_no")
    assert not stack.sql("SELECT d.job_no FROM draftmill.draft d JOIN draftmill.step s ON s.job_no = d.job_no AND chosen_by IS NOT NULL "
                         "WHERE from_draft_no < 2 AND from_draft_no <> chosen_draft_no")


def test_a_person_is_shown_both_and_why(stack):
    id = stack.sql("SELECT id FROM draftmill.job JOIN draftmill.step USING (job_no) WHERE chosen_by IS NOT NULL AND id LIKE 'stubborn-en'")[0][0]
    text = stack.draftmill("show", id).stdout
    assert "DRAFT 0" in text and "DRAFT 1" in text and "CHOSEN: draft " in text
    ((payload,),) = stack.sql("SELECT outbox.payload FROM draftmill.outbox JOIN draftmill.job USING (job_no) WHERE id = %s AND kind = 'opened'", [id])
    event = json.loads(bytes(payload))
    assert event["candidates"]["chosen_draft_no"] in (0, 1) and len(event["drafts"]) >= 2


def test_a_worker_killed_between_two_comparisons_buys_neither_draft_nor_the_first_again(stack):
    stack.model.control(latency_ms=400)
    worker = stack.start_worker()
    jobs = [job(f"killed-{i}", "clean") for i in range(6)]
    send(stack, *jobs)

    def compared():
        return stack.sql("SELECT count(*) FROM draftmill.step s JOIN draftmill.job USING (job_no) WHERE id LIKE 'killed-%%' AND fact = 'replied' "
                         "AND action LIKE 'call critic%%'")[0][0] >= 3

    wait_until(compared, 30, 0.02, "some comparisons")
    worker.kill()
    stack.model.control(latency_ms=-1)
    drain(stack)
    asked = stack.sql("SELECT id, count(*) FILTER (WHERE role = 'generator'), count(*) FILTER (WHERE better IS NOT NULL) "
                      "FROM draftmill.step JOIN draftmill.job USING (job_no) WHERE id LIKE 'killed-%%' GROUP BY 1")
    assert len(asked) == 6 and all(n_draft == 2 and n_compared in (0, 2) for _, n_draft, n_compared in asked), asked
    verify.everything(stack, lost=True)


@pytest.mark.parametrize("more, told", [
    ("mode: oneshot\n", "candidates: in mode oneshot there is no critic"),
    ("gate_permille: 900\n", "candidates: a gate passes a draft that no critic has seen"),
    ("prompts: {approach_1: approach-2}\n", "approach_2: the same as approach_1"),
    ("prompts: {generator: critic}\n", "{{approach}} is not shown"),
    ("prompts: {compare: critic}\n", "{{other}} is not shown"),
])
def test_what_does_not_fit_two_candidates_is_told_with_its_place(stack, config, tmp_path, more, told):
    shutil.copytree(config.parent, tmp_path / "c", dirs_exist_ok=True)
    path = tmp_path / "c/config/profiles/customer-letter.yaml"
    key = more.split(":")[0]
    lines = [line for line in path.read_text().splitlines(True) if not line.startswith(f"{key}:")]
    path.write_text("".join(lines) + more)
    ran = stack.draftmill("check", "config", "--config", str(tmp_path / "c/config/draftmill.yaml"), check=False)
    assert ran.returncode == 78 and told in ran.stdout + ran.stderr and "customer-letter.yaml:" in ran.stdout + ran.stderr, ran.stdout + ran.stderr
