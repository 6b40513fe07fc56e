"""An A/B comparison: which arm a job gets, that it keeps it whatever the settings become, and the arms side by side."""
import hashlib
import json
import shutil

import pytest
import verify
from jobs import QUICK_GROUP, QUICK_MODEL, drain, job, send, wait_ended
from stack import ROOT, Stack, wait_until

ARMS = """
arms:
  - {name: plain, share: 50}
  - name: strict
    share: 50
    pass_score: 85
    prompts: {critic: critic-sources}
"""
IDS = [f"mail-{i}" for i in range(24)]


def arm_of(id):
    """By the rule of include/core/arm.h, written anew."""
    fields = b"".join(len(text).to_bytes(4, "big") + text for text in (b"draftmill/arm/1", b"customer-letter", id.encode()))
    return ("plain", "strict")[int.from_bytes(hashlib.sha256(fields).digest()[:8], "big") % 100 >= 50]


def profile_of(stack):
    return f"{stack.folder}/config/profiles/customer-letter.yaml"


def change(path, old, new):
    with open(path) as file:
        text = file.read()
    assert text.count(old) == 1
    with open(path, "w") as file:
        file.write(text.replace(old, new))


@pytest.fixture(scope="module")
def stack():
    with Stack() as stack:
        stack.config = f"{stack.folder}/config/draftmill.yaml"
        shutil.copytree(f"{ROOT}/config", f"{stack.folder}/config")
        shutil.copytree(f"{ROOT}/sql", f"{stack.folder}/sql")
        with open(profile_of(stack), "a") as file:
            file.write(ARMS)
        stack.settings.update(QUICK_GROUP, DRAFTMILL_WORKER_LEASE_MS="1000", DRAFTMILL_WORKER_STATE_DIR=f"{stack.folder}/state")
        stack.start_pg()
        stack.start_broker()
        stack.start_model(**QUICK_MODEL)
        stack.migrate()
        jobs = [job(id, "tone" if i % 3 == 0 else "clean", batch="ab") for i, id in enumerate(IDS)]
        send(stack, *jobs, *jobs[:5])  # some come twice
        drain(stack, n=2)
        yield stack


def figures(stack, *words):
    return json.loads(stack.draftmill("report", "--json", *words).stdout)["arms"]


def test_a_job_has_the_arm_of_its_id(stack):
    given = dict(stack.sql("SELECT id, arm FROM draftmill.job WHERE batch = 'ab'"))
    assert given == {id: arm_of(id) for id in IDS} and set(given.values()) == {"plain", "strict"}
    verify.everything(stack)


def test_each_step_names_the_version_that_it_was_made_under(stack):
    versions = dict(stack.sql("SELECT DISTINCT arm, encode(s.profile_sha, 'hex') FROM draftmill.step s JOIN draftmill.job USING (job_no) WHERE batch = 'ab'"))
    assert len(set(versions.values())) == len(versions) == 2
    for arm, sha in versions.items():
        ((body,),) = stack.sql("SELECT body FROM draftmill.profile WHERE encode(profile_sha, 'hex') = %s", [sha])
        assert hashlib.sha256(body.encode()).hexdigest() == sha
        assert json.loads(body)["pass_score"] == (85 if arm == "strict" else 80)
        assert ("apart into its claims" in json.loads(body)["prompts"]["en"]["critic"]) == (arm == "strict")


def test_arms_stand_side_by_side(stack):
    plain, strict = figures(stack, "--batch", "ab")
    assert [(a["profile"], a["arm"], a["n_jobs"], a["n_passed"]) for a in (plain, strict)] == [
        ("customer-letter", arm, sum(arm_of(id) == arm for id in IDS), sum(arm_of(id) == arm for id in IDS)) for arm in ("plain", "strict")]
    assert plain["version"] != strict["version"]
    for a in (plain, strict):
        assert a["delivered_permille"] == a["delivered_high"] == 1000 > a["delivered_low"] > 600
        assert a["tokens_in"] > a["tokens_out"] > 0 and a["cost_micro_usd_per_job"] > 0 and a["p95_ms"] > 0
    assert sum(a["n_red_before"] for a in (plain, strict)) == stack.sql(
        "SELECT count(*) FROM draftmill.v_violation WHERE batch = 'ab' AND first_n_failed > 0")[0][0]
    text = stack.draftmill("report", "--batch", "ab").stdout
    assert "ARMS" in text and f"customer-letter    strict   {strict['version'][:6]}" in text
    assert f"arm         {arm_of('mail-0')}" in stack.draftmill("show", "mail-0").stdout
    for role in ("draftmill_reader", "draftmill_worker"):
        assert stack.sql("SELECT count(*) FROM draftmill.v_arm", role=role) == [(2,)]


def test_what_the_critic_reads_is_told_against_its_baseline(stack):
    rows = json.loads(stack.draftmill("report", "--json", "--batch", "ab").stdout)["critic_input"]
    assert [row["arm"] for row in rows] == ["plain", "strict"] and rows[0]["baseline"] < rows[1]["baseline"]  # its prompt is longer
    for row in rows:
        read = [n for n, in stack.sql("SELECT tokens_in FROM draftmill.step WHERE role = 'critic' AND encode(profile_sha, 'hex') = %s "
                                      "ORDER BY job_no, step_no", [row["version"]])]
        first = read[:20]
        assert row["n_calls"] == len(read) and abs(row["baseline"] - sum(first) / len(first)) <= 0.5
        assert abs(row["growth_permille"] - 1000 * row["last_day_mean"] / row["baseline"]) <= 0.5
    assert "CRITIC'S INPUT" in stack.draftmill("report").stdout
    assert stack.sql("SELECT count(*) FROM draftmill.v_critic_input", role="draftmill_reader") == [(2,)]
    stack.sql("SELECT draftmill.note_baselines()", role="draftmill_worker")
    assert stack.sql("SELECT count(*) FROM draftmill.critic_baseline")[0][0] == sum(row["n_calls"] >= 20 for row in rows)


def test_a_job_taken_over_keeps_its_arm_and_version_though_the_settings_have_changed(stack):
    """Its worker is killed; the arms' names change places and the critic's prompt is another before the next one starts."""
    ids = [f"moved-{i}" for i in range(8)]
    stack.model.control(latency_ms=4000)
    worker = stack.start_worker()
    send(stack, *(job(id, batch="moved") for id in ids))
    wait_until(lambda: stack.model.stats()["in_flight"] == len(ids), 30, what="their first calls")
    before = stack.sql("SELECT id, arm, profile_sha FROM draftmill.job WHERE batch = 'moved' ORDER BY id")
    worker.kill()
    path = profile_of(stack)
    change(path, "name: plain", "name: was-plain")
    change(path, "name: strict", "name: plain")
    change(path, "name: was-plain", "name: strict")
    change(f"{stack.folder}/config/prompts/en/critic.txt", "Judge the draft.", "Judge the draft with care.")
    stack.model.control(fail="filter", of="with care", latency_ms=-1)  # so that who asks by the new prompt is refused
    worker = stack.start_worker()
    assert set(wait_ended(stack, *ids).values()) == {("passed", "no_issues")}
    send(stack, *(job(id, batch="moved") for id in ids))  # delivered again, under other settings: no second job, no other arm
    new = next(f"new-{i}" for i in range(20) if arm_of(f"new-{i}") == "plain")
    send(stack, job(new, batch="moved"))
    assert wait_ended(stack, new)[new] == ("escalated", "refused")
    stack.model.control()
    assert stack.sql("SELECT id, arm, profile_sha FROM draftmill.job WHERE id LIKE 'moved-%%' ORDER BY id") == before
    assert dict((id, arm) for id, arm, _ in before) == {id: arm_of(id) for id in ids}
    assert stack.sql("SELECT count(*) FROM draftmill.step WHERE fact = 'resumed'")[0][0] == len(ids)
    assert {arm for _, arm, _ in before} == {"plain", "strict"}
    assert stack.sql("SELECT arm FROM draftmill.job WHERE id = %s", [new]) == [("strict",)]
    worker.terminate()
    verify.everything(stack, lost=True)


def test_try_takes_the_arm_that_it_is_told(stack):
    """Their names have changed places meanwhile."""
    stack.model.control(fail="filter", of="apart into its claims")
    words = ["try", "--config", stack.config]
    try:
        for arm, status in (("strict", 0), ("plain", 1)):
            done = stack.draftmill(*words, "--arm", arm, input=json.dumps(job(f"tried-{arm}")), check=False)
            assert done.stdout.startswith(f"under the arm {arm}\n")
            assert done.returncode == status and ("refused" in done.stdout) == (arm == "plain"), done.stdout + done.stderr
    finally:
        stack.model.control()
    done = stack.draftmill(*words, "--arm", "strikt", input=json.dumps(job("tried")), check=False)
    assert done.returncode == 64 and '--arm: no profile has an arm "strikt"; did you mean "strict"?' in done.stderr


def test_faults_are_told_with_place_and_mend(stack):
    change(profile_of(stack), "share: 50\n    pass_score", "share: 0\n    pass_score")
    told = stack.draftmill("check", "config", "--config", stack.config, "--offline", check=False).stdout
    assert "customer-letter.yaml:" in told and "arms[1].share: give an integer from 1 to 1000000" in told
    change(f"{stack.folder}/config/prompts/ja/rubric.txt", "4: ", "４： ")
    told = stack.draftmill("check", "config", "--config", stack.config, "--offline", check=False).stdout
    assert 'prompts/ja/rubric.txt: line 2: the rubric is five lines, 5 to 1; give this one as "4: .. 例: .."' in told
