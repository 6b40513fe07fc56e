"""Drafts under a schema made from the checks, against the scripted model: what it is sent, what becomes of its JSON, and what a report says of it."""
import json
import re
import shutil

import jsonschema
import pytest
from jobs import QUICK_GROUP, QUICK_MODEL, drain, ends, job, send
from stack import ROOT, Stack

PROFILES = {  # name: mode, draft_schema
    "plain": ("critic_refiner", "off"),
    "mended": ("critic_refiner", "refine"),
    "drafted": ("critic_refiner", "always"),
    "control": ("oneshot", "always"),
}


def profile(name, mode, draft_schema):
    with open(f"{ROOT}/config/profiles/customer-letter.yaml") as file:
        text = file.read()
    for old, new in (("name: customer-letter", f"name: {name}"), ("mode: critic_refiner", f"mode: {mode}")):
        assert old in text
        text = text.replace(old, new)
    return text + f"draft_schema: {draft_schema}\n"


@pytest.fixture(scope="module")
def config(tmp_path_factory):
    folder = tmp_path_factory.mktemp("schema")
    shutil.copytree(f"{ROOT}/config", folder / "config")
    shutil.copytree(f"{ROOT}/sql", folder / "sql")
    for name, keys in PROFILES.items():
        (folder / f"config/profiles/{name}.yaml").write_text(profile(name, *keys))
    settings = folder / "config/draftmill.yaml"
    settings.write_text(settings.read_text().replace("    schema_says: form", "    schema_says: all"))
    return folder / "config"


@pytest.fixture(scope="module")
def stack(config):
    with Stack(config=str(config / "draftmill.yaml")) as stack:
        stack.start_pg()
        stack.migrate()
        stack.start_broker()
        stack.start_model(**QUICK_MODEL)
        send(stack, *({**job(f"{name}-{case}", case), "profile": name, "batch": name if name == "mended" else "rest"}
                      for name in PROFILES for case in ("clean", "missing")))
        drain(stack, env=QUICK_GROUP)
        yield stack


def schemas(stack, name, case="missing"):
    """(role, schema of the text or None) of each call that wrote a draft of this job."""
    return [(line["role"], line["schema"] and line["schema"]["properties"]["text"]) for line in stack.model.ledger()
            if line["reference"] == f"R-{name}-{case}" and line["role"] != "critic"]


def test_the_model_is_sent_what_can_be_said_of_the_checks(stack):
    assert schemas(stack, "plain") == [("generator", None), ("refiner", None)]
    assert [(role, said is not None) for role, said in schemas(stack, "mended")] == [("generator", False), ("refiner", True)]
    assert [(role, said is not None) for role, said in schemas(stack, "drafted")] == [("generator", True), ("refiner", True)]
    (_, said), = schemas(stack, "control")
    assert set(said) == {"type", "pattern", "minLength", "maxLength"}
    assert (said["type"], said["minLength"], said["maxLength"]) == ("string", 120, 2400)
    text = "Dear Baker,\n" + "x" * 120 + "\nTeam \"R-control-missing\""
    jsonschema.validate(text, said)
    for bad in (text.replace("Team", "Time"), text.replace("Baker", ""), text.replace("x", ""), text + "x" * 2400):
        with pytest.raises(jsonschema.ValidationError):
            jsonschema.validate(bad, said)


def test_what_comes_back_is_a_text_and_ends_as_ever(stack):
    for name in ("plain", "mended", "drafted"):
        assert ends(stack, name) == {f"{name}-clean": ("passed", "no_issues"), f"{name}-missing": ("passed", "no_issues")}
    assert ends(stack, "control") == {"control-clean": ("direct", "oneshot"), "control-missing": ("escalated", "checks_failed")}
    texts = stack.sql("SELECT body FROM draftmill.draft")
    assert texts and all(re.match(r"\w", body) for body, in texts)
    bodies = [dict(stack.sql("SELECT draft_no, body FROM draftmill.draft JOIN draftmill.job USING (job_no) WHERE id = %s", [f"{name}-missing"]))
              for name in ("plain", "mended", "drafted")]
    assert all(len(one) == 2 and one[0] != one[1] for one in bodies)  # a refiner's JSON is merged, too


def test_a_report_sets_the_control_beside_the_loop(stack):
    told = json.loads(stack.draftmill("report", "--json", "--batch", "rest").stdout)["profiles"]
    assert {row["profile"]: (row["mode"], row["draft_schema"], row["n_jobs"], row["n_before"], row["n_after"], row["uncontrolled"]) for row in told} == {
        "plain": ("critic_refiner", "off", 2, 1, 0, None),
        "drafted": ("critic_refiner", "always", 2, 1, 0, None),
        "control": ("oneshot", "always", 2, 1, 1, None)}
    assert "control is missing" not in stack.draftmill("report", "--batch", "rest").stdout
    alone = stack.draftmill("report", "--batch", "mended").stdout
    assert re.search(r"^  mended +2 .* critic_refiner, draft_schema refine$", alone, re.M)
    assert re.search(r"^  mended: its control is missing", alone, re.M)


def test_a_schema_that_no_model_follows_is_refused(stack, config, tmp_path):
    shutil.copytree(config, tmp_path / "config")
    settings = tmp_path / "config/draftmill.yaml"
    settings.write_text(settings.read_text().replace("    schema_says: all", "    schema_says: form"))
    told = stack.draftmill("check", "config", "--offline", "--config", str(settings), check=False)
    assert told.returncode == 78
    for name in ("mended", "drafted", "control"):
        assert re.search(rf"profiles/{name}\.yaml:\d+: draft_schema: no model that writes here follows such a schema; give schema_says", told.stdout + told.stderr)
