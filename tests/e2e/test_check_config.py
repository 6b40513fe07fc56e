"""`check config` and `migrate` from an empty server to a whole one: each problem is told in its turn, until there is none."""
import json
import subprocess

import pytest
from stack import Stack

CONFIG = ["--config", "config/draftmill.yaml"]


@pytest.fixture(scope="module")
def stack():
    """Database, broker and model, nothing migrated."""
    with Stack() as stack:
        stack.start_model(key="sk-never-shown")
        stack.start_pg()
        stack.start_broker()
        yield stack


def problems(stack, *words, env=None):
    """What `check config --json` finds; its exit status fits."""
    done = stack.draftmill("check", "config", "--json", *CONFIG, *words, env=env, check=False)
    found = json.loads(done.stdout)["problems"]
    assert done.returncode == (78 if found else 0), done.stderr
    assert "sk-never-shown" not in done.stdout + done.stderr
    return found


def test_problems_are_told_until_there_is_none(stack):
    owner = ("--database.conninfo", stack.conninfo)
    (found,) = problems(stack)
    assert found.startswith("database: no connection") and 'role "draftmill_worker" does not exist' in found
    assert problems(stack, *owner) == ["database: the schema lacks 0001_schema.sql; run `draftmill migrate`"]
    stack.migrate()
    assert problems(stack) == []


def test_a_user_with_other_rights_than_a_worker_is_refused(stack):
    stack.migrate()
    (found,) = problems(stack, "--database.conninfo", stack.conninfo)
    assert "may change the trail" in found and found.endswith("connect as draftmill_worker")
    (found,) = problems(stack, "--database.conninfo", stack.conninfo_of("draftmill_reader"))
    assert "draftmill_reader may not read and add to" in found


def test_broker_and_credential_that_are_not_there_are_named(stack):
    stack.migrate()
    found = problems(stack, "--kafka.brokers=127.0.0.1:1", env={"OPENAI_API_KEY": ""})
    assert [problem.split(":")[0] for problem in found] == ["providers.openai", "broker"]
    assert "OPENAI_API_KEY is not set" in found[0] and "kafka.brokers" in found[1]
    assert problems(stack, "--offline", "--kafka.brokers=127.0.0.1:1", env={"OPENAI_API_KEY": ""}) == found[:1]
    assert problems(stack, "--offline", "--kafka.brokers=127.0.0.1:1", "--providers.openai.base_url=http://127.0.0.1:1/v1") == []


def test_an_option_is_named_with_its_place(stack):
    found = problems(stack, "--offline", "--kafka.options.sesion.timeout.ms=3000", env={"DRAFTMILL_KAFKA_OPTIONS_ACKS": "1"})
    assert found[0].startswith("environment variable DRAFTMILL_KAFKA_OPTIONS_ACKS: kafka.options.acks: draftmill sets it itself")
    assert found[1].startswith("flag --kafka.options.sesion.timeout.ms: ") and found[1].endswith("did you mean session.timeout.ms")


def test_what_this_librdkafka_cannot_do_is_noted(stack):
    """A note: with a broker of Kafka 3 all is well."""
    line, = [line for line in stack.draftmill("--version").stdout.splitlines() if line.startswith("librdkafka ")]
    is_old = [int(part) for part in line.split()[1].split("-")[0].split(".")] < [2, 6, 1]
    done = stack.draftmill("check", "config", "--json", "--offline", *CONFIG, "--kafka.options.sasl.mechanisms=SCRAM-SHA-256")
    notes = json.loads(done.stdout)["notes"]
    assert len(notes) == is_old and all("PLAIN over TLS" in note for note in notes)


def test_the_topics_are_shown(stack):
    done = stack.draftmill("topics", "--json", *CONFIG)
    assert {topic["topic"]: (topic["state"], topic["partitions"]) for topic in json.loads(done.stdout)} == {
        name: ("there", stack.topics[name])
        for name in ("draftmill.jobs", "draftmill.results", "draftmill.review", "draftmill.jobs.dlq")}
    done = stack.draftmill("topics", *CONFIG, "--kafka.brokers=127.0.0.1:1", check=False)
    assert done.returncode == 69 and "Connection refused" in done.stderr and "mend the port in kafka.brokers" in done.stderr


def test_the_price_of_a_call_is_told(stack):
    out = stack.draftmill("check", "config", "--offline", *CONFIG).stdout
    # 1,000 x 2.00 + 200 x 10.00 USD per million tokens
    assert "drafting (gpt-6.2-sol): a call with 1000 tokens in and 200 out costs 0.004000 USD" in out


@pytest.mark.parametrize("words, status, said", [
    ([], 64, "usage: draftmill"),
    (["check"], 64, "did you mean `draftmill check config`"),
    (["migrate", "--config"], 64, "--config: a value is missing"),
    (["migrate", "now"], 64, "it takes no operands"),
    (["migrate", "--worker.in_flight=many"], 78, 'flag --worker.in_flight: worker.in_flight: "many" is no integer'),
    (["migrate", "--database.conninfo=host=/nowhere"], 69, "no connection to PostgreSQL"),
])
def test_exit_statuses(stack, words, status, said):
    done = stack.draftmill(*words, check=False)
    assert (done.returncode, done.stdout) == (status, "")
    assert said in done.stderr


def test_the_printed_script_makes_the_same_schema(stack):
    stack.migrate()
    stack.sql("CREATE DATABASE printed")
    printed = f"{stack.conninfo} dbname=printed"
    script = stack.draftmill("migrate", "--print", *CONFIG).stdout
    subprocess.run(["psql", "-qX", printed], input=script, text=True, check=True, stdout=subprocess.DEVNULL)
    assert stack.draftmill("migrate", *CONFIG, "--database.conninfo", printed).stdout.startswith("0 of ")
