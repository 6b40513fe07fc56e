"""The tests' own tools do what the tests believe of them."""
import contextlib
import http.client
import json
import os
import re
import socket
import subprocess
import threading
import time

import psycopg2
import pytest
from stack import Process, Stack, tool, wait_until

FIRST_LINES = {
    "en": {"generator": "You are the generator.", "critic": "You are the critic.", "refiner": "You are the refiner."},
    "ja": {"generator": "あなたは起草者です。", "critic": "あなたは批評者です。", "refiner": "あなたは推敲者です。"},
}
CUSTOMERS = {"en": "Ann Lee", "ja": "佐藤花子"}
SCHEMA = {"type": "json_schema", "json_schema": {"name": "critique", "strict": True, "schema": {"type": "object"}}}


@pytest.fixture(scope="module")
def stack():
    with Stack() as started:
        started.start_model(generator_ms=1, critic_ms=1, refiner_ms=1, key="secret")
        yield started


@pytest.fixture
def model(stack):
    stack.model.reset()
    return stack.model


def post(model, body, key="secret", connection=None):
    """Status, headers and body of an answer."""
    connection = connection or http.client.HTTPConnection("127.0.0.1", model.port, timeout=10)
    connection.request("POST", "/v1/chat/completions", json.dumps(body), {"Authorization": f"Bearer {key}"})
    answer = connection.getresponse()
    return answer.status, dict(answer.getheaders()), answer.read()


def request(role, case, draft=None, language="en", segment="new", more="", **fields):
    user = f"customer: {CUSTOMERS[language]}\nplan: Pro\nreference: DM-1001\nsegment: {segment}\ncase: {case}\n"
    if draft is not None:
        user += f"<<<0a1b2c\n{draft}\n0a1b2c>>>\n"
    messages = [{"role": "system", "content": FIRST_LINES[language][role] + "\nDo your work."},
                {"role": "user", "content": user + more}]
    return {"model": f"test-{role}", "messages": messages, **fields}


def choice(model, *words, **fields):
    status, _, body = post(model, request(*words, **fields))
    assert status == 200, body
    return json.loads(body)["choices"][0]


def say(model, *words, **fields):
    return choice(model, *words, **fields)["message"]["content"]


def critique(model, case, draft, language="en"):
    reply = json.loads(say(model, "critic", case, draft, language))
    for issue in reply["issues"]:
        assert issue["snippet"] in draft
    return reply


@pytest.mark.parametrize("segment", ["new", "continuing", "churn-risk"])
@pytest.mark.parametrize("language", ["en", "ja"])
def test_a_letter_names_what_it_must(model, language, segment):
    letter = say(model, "generator", "clean", language=language, segment=segment)
    assert all(word in letter for word in (CUSTOMERS[language], "Pro", "DM-1001"))
    if language == "en":
        assert 90 <= len(letter.split()) <= 180
    else:
        assert 200 <= len(letter) <= 400
    assert critique(model, "clean", letter, language)["verdict"] == "pass"


@pytest.mark.parametrize("language", ["en", "ja"])
@pytest.mark.parametrize("case", ["forbidden", "missing", "tone"])
def test_a_fault_is_seen_and_mended(model, case, language):
    letter = say(model, "generator", case, language=language)
    first = critique(model, case, letter, language)
    assert first["verdict"] == "fail" and first["issues"][0]["severity"] >= 4 and first["issues"][0]["snippet"]
    mended = say(model, "refiner", case, letter, language=language)
    assert mended != letter
    second = critique(model, case, mended, language)
    assert (second["verdict"], second["score"], second["issues"]) == ("pass", 92, [])


def test_the_trap_is_the_jobs_own_word(model):
    letter = say(model, "generator", "forbidden", more="trap: risk-free\n")
    assert "risk-free" in letter and "guarantee" not in letter
    reply = json.loads(say(model, "critic", "forbidden", letter, more="trap: risk-free\n"))
    assert "risk-free" in reply["issues"][0]["snippet"]


def test_a_critic_judges_the_text_and_not_the_case(model):
    bad = say(model, "generator", "tone")
    assert critique(model, "clean", bad)["issues"][0]["category"] == "tone"
    assert critique(model, "clean", "Hello!")["issues"][0]["category"] == "format"


@pytest.mark.parametrize("language", ["en", "ja"])
def test_a_stubborn_critic_finds_something_new_each_time(model, language):
    letter, said = say(model, "generator", "stubborn", language=language), set()
    for _ in range(5):
        (issue,) = critique(model, "stubborn", letter, language)["issues"]
        assert issue["severity"] == 4
        said.add(issue["suggestion"])
        after = say(model, "refiner", "stubborn", letter, language=language)
        assert after != letter
        letter = after
    assert len(said) == 5


@pytest.mark.parametrize("language", ["en", "ja"])
def test_loops_that_do_not_converge(model, language):
    def rounds(case):
        before = say(model, "generator", case, language=language)
        after = say(model, "refiner", case, before, language=language)
        return before, critique(model, case, before, language), after, critique(model, case, after, language)

    before, first, after, second = rounds("nagging")
    assert after != before and first["issues"] == second["issues"]
    before, first, after, second = rounds("echo")
    assert after == before and first["verdict"] == "fail"
    before, first, after, second = rounds("loop")
    assert after != before and first["issues"] != second["issues"]
    assert say(model, "refiner", "loop", after, language=language) == before


def test_critics_who_cannot_be_read(model):
    letter = say(model, "generator", "clean")
    minor = critique(model, "minor", letter)
    assert (minor["verdict"], minor["score"], minor["issues"][0]["severity"]) == ("pass", 86, 2)
    contradiction = critique(model, "contradiction", letter)
    assert (contradiction["verdict"], contradiction["score"], contradiction["issues"]) == ("pass", 40, [])
    for case, more in (("nonsense", ""), ("nonsense", "again: 1\n"), ("nonsense_once", "")):
        with pytest.raises(ValueError):
            json.loads(say(model, "critic", case, letter, more=more))
    assert json.loads(say(model, "critic", "nonsense_once", letter, more="again: 1\n"))["verdict"] == "pass"


def test_finish_reasons(model):
    refused = choice(model, "generator", "refused")
    assert (refused["finish_reason"], refused["message"]["content"]) == ("content_filter", "")
    assert choice(model, "generator", "truncated", max_completion_tokens=4000)["finish_reason"] == "length"
    assert choice(model, "generator", "truncated_once", max_completion_tokens=800)["finish_reason"] == "length"
    assert choice(model, "generator", "truncated_once", max_completion_tokens=1600)["finish_reason"] == "stop"
    short = choice(model, "generator", "clean", max_tokens=20)
    assert short["finish_reason"] == "length" and len(short["message"]["content"]) <= 80


def test_slow_takes_three_seconds(model):
    start = time.monotonic()
    say(model, "generator", "slow")
    assert 3 <= time.monotonic() - start < 5


def test_asked_for_json_a_generator_gives_its_confidence(model):
    reply = json.loads(say(model, "generator", "clean", response_format=SCHEMA, more="confidence: 0.97\n"))
    assert reply["confidence"] == 0.97 and reply["text"].startswith("Dear Ann Lee,")


@pytest.mark.parametrize("change, status, code", [
    ({"stream": True}, 400, "unknown_parameter"),
    ({"model": 4}, 400, "missing_required_parameter"),
    ({"messages": []}, 400, "invalid_type"),
    ({"response_format": {"type": "json_schema", "json_schema": {"name": "x"}}}, 400, "invalid_value"),
])
def test_a_request_of_another_shape_is_refused(model, change, status, code):
    answer, _, body = post(model, {**request("generator", "clean"), **change})
    assert (answer, json.loads(body)["error"]["code"]) == (status, code)


def test_a_wrong_key_a_wrong_case_and_a_rejected_one(model):
    assert post(model, request("generator", "clean"), key="other")[0] == 401
    assert post(model, request("generator", "no_such_case"))[0] == 400
    assert post(model, request("generator", "rejected"))[0] == 400
    assert model.ledger() == []


def test_without_a_case_the_shares_decide(model):
    body = request("generator", "x")
    for number in range(60):
        body["messages"][1]["content"] = f"customer: Ann Lee\nreference: DM-{number}\n"
        assert post(model, body)[0] == 200
    cases = [answer["case"] for answer in model.ledger()]
    assert 15 <= cases.count("clean") <= 45 and len(set(cases)) >= 4


def test_the_ledger_is_what_was_received(model):
    connection = http.client.HTTPConnection("127.0.0.1", model.port, timeout=10)
    received = []
    for number in range(10):
        body = request("generator", "clean", more=f"note: {number // 2}\n")  # each comes twice
        received.append(json.loads(post(model, body, connection=connection)[2]))
    ledger = model.ledger()
    assert [line["id"] for line in ledger] == [reply["id"] for reply in received]
    assert [line["seq"] for line in ledger] == list(range(1, 11))
    assert [line["prompt_tokens"] for line in ledger] == [reply["usage"]["prompt_tokens"] for reply in received]
    assert received[0]["choices"] == received[1]["choices"]
    assert len({line["request"] for line in ledger}) == 5
    assert ledger == model.ledger_file()[-10:]
    stats = model.stats()
    assert (stats["answers"], stats["answered_again"]) == (10, 5)


def test_faults_by_control(model):
    model.control("429", count=2, retry_after="7")
    for _ in range(2):
        status, headers, body = post(model, request("generator", "clean"))
        assert (status, headers["Retry-After"]) == (429, "7")
        assert json.loads(body)["error"]["code"] == "rate_limit_exceeded"
    assert post(model, request("generator", "clean"))[0] == 200
    for name in ("500", "503", "401"):
        model.control(name, count=1)
        assert post(model, request("generator", "clean"))[0] == int(name)
    for name, error in (("cut", http.client.IncompleteRead), ("drop", http.client.RemoteDisconnected)):
        model.control(name, count=1)
        with pytest.raises(error):
            post(model, request("generator", "clean"))
    model.control("html", count=1)
    assert post(model, request("generator", "clean"))[2].startswith(b"<html>")
    model.control("garbage", count=1)
    assert "choices" not in json.loads(post(model, request("generator", "clean"))[2])
    model.control("hang", count=1)
    with pytest.raises(TimeoutError):
        post(model, request("generator", "clean"),
             connection=http.client.HTTPConnection("127.0.0.1", model.port, timeout=0.3))
    assert len(model.ledger()) == 1
    assert wait_until(lambda: model.stats()["abandoned"]) == 1


def test_faults_by_chance_end_when_asked_again():
    with Stack() as other:
        model = other.start_model(fail_429=0.3, drop=0.2, generator_ms=0)
        tries = 0
        for number in range(40):
            body = request("generator", "clean", more=f"note: {number}\n")
            for _ in range(30):
                tries += 1
                try:
                    if post(model, body)[0] == 200:
                        break
                except http.client.RemoteDisconnected:
                    pass
            else:
                raise AssertionError("it never answers")
        assert 55 <= tries <= 120 and len(model.ledger()) == 40  # 80 expected


def test_many_at_once(model):
    model.control(latency_ms=300)
    threads = [threading.Thread(target=post, args=(model, request("generator", "clean", more=f"note: {i}\n")))
               for i in range(100)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert model.stats()["max_in_flight"] >= 50 and len(model.ledger()) == 100


@pytest.mark.parametrize("name, words", [
    ("model_sim", ""),
    ("mock_broker", "jobs:1"),
    ("pg_proxy", "--upstream 127.0.0.1:1"),
])
def test_no_tool_outlives_its_parent(name, words):
    parent = subprocess.Popen(["sh", "-c", f"{tool(name)} {words} & wait"], stdout=subprocess.PIPE, text=True)
    port = int(re.search(r"(\d+)\D*$", parent.stdout.readline())[1])
    socket.create_connection(("127.0.0.1", port), timeout=5).close()
    parent.kill()
    assert parent.stdout.read() == ""  # until the last holder of the pipe has ended
    parent.wait()


# --- the broker


def test_the_broker_keeps_nulls_headers_and_order():
    with Stack() as stack:
        stack.start_broker({"letters": 1, "spread": 4})
        stack.produce("letters", b"one", None, b"", key=b"k", headers=[("ce_id", b"7"), ("ce_id", None)])
        stack.produce("spread", *(f"{number}" for number in range(100)))
        records = stack.consume("letters")
        assert [record.value for record in records] == [b"one", None, b""]
        assert {record.key for record in records} == {b"k"}
        assert records[0].headers == [("ce_id", b"7"), ("ce_id", None)]
        assert sorted(int(record.value) for record in stack.consume("spread")) == list(range(100))
        pid = stack.broker.pid
    assert not os.path.exists(f"/proc/{pid}")


# --- the proxy


@pytest.fixture(scope="module")
def database():
    with Stack() as started:
        started.start_pg()
        started.sql("CREATE ROLE draftmill_worker SUPERUSER LOGIN")
        started.sql("CREATE TABLE mark (name text)")
        started.start_proxy()
        yield started


# Neither psycopg2 nor psql 15 uses the extended protocol, so: libpq by ctypes, one statement and one Sync a line.
CHILD = """
import ctypes, sys
pq = ctypes.CDLL("libpq.so.5")
pq.PQconnectdb.restype = pq.PQexecParams.restype = ctypes.c_void_p
pq.PQresultStatus.argtypes = [ctypes.c_void_p]
connection = ctypes.c_void_p(pq.PQconnectdb(sys.argv[1].encode()))
assert pq.PQstatus(connection) == 0
for statement in sys.stdin:
    result = pq.PQexecParams(connection, statement.encode(), 0, None, None, None, None, 0)
    print(pq.PQresultStatus(result), flush=True)
"""


class Writer(Process):
    """A client that ends each statement by one Sync; prints 1 for a statement done, 7 for a failed one."""

    def __init__(self, stack, app="draftmill-trail"):
        conninfo = f"{stack.conninfo_of('postgres', through_proxy=True)} application_name={app}"
        super().__init__(["/usr/bin/python3", "-c", CHILD, conninfo], f"{stack.folder}/writer.log",
                         stdin=subprocess.PIPE, stdout=subprocess.PIPE)

    def ask(self, statement):
        self.child.stdin.write(statement.encode() + b"\n")
        self.child.stdin.flush()

    def hear(self):
        return self.child.stdout.readline().decode().strip()

    def insert(self, name):
        self.ask(f"INSERT INTO mark VALUES ('{name}')")


def stored(stack, name):
    return stack.sql("SELECT count(*) FROM mark WHERE name = %s", [name])[0][0] == 1


def test_the_proxy_forwards_and_counts(database):
    with contextlib.closing(psycopg2.connect(database.conninfo_of("postgres", through_proxy=True))) as connection:
        with connection.cursor() as cursor:
            cursor.execute("SELECT repeat('x', 3000000), %s", ["y" * 3000000])
            assert cursor.fetchone() == ("x" * 3000000, "y" * 3000000)
    assert database.proxy.count() == 0
    writer = Writer(database)
    for number in range(3):
        writer.insert(f"count {number}")
        assert writer.hear() == "1"
    assert database.proxy.count() == 3 and stored(database, "count 2")
    unwatched = Writer(database, "draftmill-control")
    unwatched.insert("unwatched")
    assert unwatched.hear() == "1" and database.proxy.count() == 3
    for process in (writer, unwatched):
        process.end()


@pytest.mark.parametrize("edge, is_stored, is_heard", [
    ("before_sync", False, False),
    ("after_sync", True, False),
    ("before_answer", True, False),
    ("after_answer", True, True),
])
@pytest.mark.parametrize("strike", ["kill", "cut"])
def test_the_proxy_strikes_at_each_edge(database, strike, edge, is_stored, is_heard):
    writer, name = Writer(database), f"{strike} {edge}"
    writer.insert("first, before it is armed")
    assert writer.hear() == "1"
    database.proxy.arm(strike, edge, n=2, pid=writer.pid)
    writer.insert("second")
    assert writer.hear() == "1" and not database.proxy.has_fired()
    writer.insert(name)
    assert database.proxy.wait_fired(10) == {"fired": strike, "edge": edge, "sync": 2}
    if strike == "cut":  # the client lives to tell what it got
        assert writer.hear() == ("1" if is_heard else "7")
        writer.end()
    else:
        assert writer.wait(10) == -9
    wait_until(lambda: not database.sql("SELECT FROM pg_stat_activity WHERE application_name = 'draftmill-trail'"), 10)
    assert stored(database, name) == is_stored


@pytest.mark.parametrize("edge", ["before_sync", "after_sync", "before_answer", "after_answer"])
def test_the_proxy_holds_and_goes_on(database, edge):
    writer, name = Writer(database), f"hold {edge}"
    writer.insert("before")
    assert writer.hear() == "1"
    database.proxy.arm("hold", edge, n=1, ms=1000)
    start = time.monotonic()
    writer.insert(name)
    assert database.proxy.wait_fired(10)["fired"] == "hold"
    if edge == "before_sync":
        time.sleep(0.2)
        assert not stored(database, name)
    else:
        wait_until(lambda: stored(database, name), 0.8)
    assert writer.hear() == "1"
    writer.insert("after")
    assert writer.hear() == "1"
    assert time.monotonic() - start >= 0.95 and stored(database, name)
    writer.end()


def test_the_database_can_be_stopped_and_started_again(database):
    database.stop_pg()
    with pytest.raises(psycopg2.OperationalError):
        database.sql("SELECT 1")
    database.start_pg()
    assert database.sql("SELECT 1") == [(1,)]
