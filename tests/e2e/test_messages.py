"""What may stand on a job topic: jobs in three envelopes, and everything else."""
import hashlib
import json
import shutil
import subprocess

import pytest
import verify
from jobs import drain, ends, events, job
from stack import ROOT

PARENT = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"


def body(**fields):
    """A clean job's bytes."""
    return json.dumps({**job(fields.get("id", "x")), **fields}).encode()


def without(*names, **fields):
    return json.dumps({key: value for key, value in {**job("x"), **fields}.items() if key not in names}).encode()


# Each is sent alone between two good neighbours.
BAD = {
    "null": (None, "null"),
    "no bytes": (b"", "empty"),
    "white space": (b" \r\n\t", "empty"),
    "2 MiB": (body(id="bad-large", task="x" * (2 << 20)), "too_large"),
    "one byte over the cap": (body(id="bad-over").ljust((1 << 20) + 1), "too_large"),
    "bad UTF-8": (b'{"id":"bad-\xff","profile":"customer-letter"}', "not_utf8"),
    "overlong UTF-8": (b'{"id":"bad-\xc0\xaf","profile":"customer-letter"}', "not_utf8"),
    "words": (b"hello", "not_json"),
    "half an object": (b'{"id":"bad-half"', "not_json"),
    "two objects": (b'{"id":"a"}{"id":"b"}', "not_json"),
    "NaN": (b'{"id":"bad-nan","profile":"customer-letter","revision":NaN}', "not_json"),
    "single quotes": (b"{'id':'a'}", "not_json"),
    "a NUL in a text": (b'{"id":"a\\u0000b","profile":"customer-letter"}', "not_json"),
    "half a surrogate": (b'{"id":"a\\ud800b","profile":"customer-letter"}', "not_json"),
    "a NUL byte behind": (body(id="bad-nul") + b"\0", "not_json"),
    "a key twice": (b'{"id":"a","id":"b","profile":"customer-letter"}', "duplicate_key"),
    "a list": (b"[1]", "wrong_type"),
    "a number": (b"42", "wrong_type"),
    "a number as id": (body(id=42), "wrong_type"),
    "a number as variable": (body(id="bad-var", variables={"n": 1}), "wrong_type"),
    "no id": (without("id"), "missing_field"),
    "no profile": (without("profile"), "missing_field"),
    "no variable that a hard check wants": (body(id="bad-none", variables={"customer": "Baker", "plan": "Team"}), "missing_field"),
    "an unknown field": (body(id="bad-field", prioritiy=1), "unknown_field"),
    "an empty id": (body(id=""), "out_of_range"),
    "an id of 1 MB": (body(id="i" * 1_000_000, variables={}), "out_of_range"),
    "an unknown stake": (body(id="bad-stakes", stakes="huge"), "out_of_range"),
    "no time": (body(id="bad-time", not_after="tomorrow"), "out_of_range"),
    "a pattern that does not compile": (body(id="bad-regex", checks=[{"name": "r", "type": "regex", "pattern": "("}]), "out_of_range"),
    "more tokens than the profile": (body(id="bad-limits", limits={"tokens": 50001}), "limits_loosened"),
    "more time than the profile": (body(id="bad-limits-2", limits={"active_ms": 30001}), "limits_loosened"),
    "an event of another version": (b'{"specversion":"0.3","id":"a","source":"s","type":"t","data":{}}', "out_of_range"),
    "an event without data": (b'{"specversion":"1.0","id":"a","source":"s","type":"t"}', "missing_field"),
    "an unknown profile": (body(id="late-profile", profile="mended"), "unknown_profile"),
}
RECORD_BYTES_MAX = 1_000_000  # the limit that brokers have by default; the mock has none
HEADERS = [("trace", b"\xff\x00bytes"), ("reason", b"mine"), ("none", None), ("trace", b"again")]


def place_of(name):
    """Partition and offset of a bad message: good, bad, good, bad .. in partition 0."""
    return 0, 2 * list(BAD).index(name) + 1


@pytest.fixture(scope="module")
def sent(stack):
    """All of BAD with neighbours in partition 0; envelopes, doubles and conflicts in partition 1; taken in by one worker."""
    def at(partition, value, **more):
        stack.produce("draftmill.jobs", value, partition=partition, **more)

    for number, (value, _) in enumerate(BAD.values()):
        at(0, body(id=f"neighbour-{number}"), key=b"k")
        at(0, value, key=b"as received", headers=HEADERS)
    at(0, body(id="neighbour-last"))

    subprocess.run(["kcat", "-b", stack.brokers, "-t", "draftmill.jobs", "-P", "-p", "1", "-k", "key"], input=body(id="by-kcat"), check=True)
    event = {"specversion": "1.0", "id": "structured-1", "source": "/crm", "type": "com.example.draft", "subject": "s-1", "datacontenttype":
             "application/json", "traceparent": PARENT, "data": json.loads(without("id"))}
    at(1, json.dumps(event).encode(), headers=[("content-type", b"application/cloudevents+json")])
    at(1, without("id"), headers=[("ce_specversion", b"1.0"), ("ce_id", b"binary-1"), ("ce_source", b"/shop"), ("ce_type", b"com.example.draft"),
                                  ("ce_region", b"eu"), ("traceparent", PARENT.encode())])
    at(1, body(id="own-id"), headers=[("ce_id", b"not-this"), ("ce_source", b"/shop")])

    at(1, body(id="revised"))
    at(1, body(id="revised", revision=3, task="Say it more warmly."))
    at(1, body(id="double"))
    at(1, body(id="double"))
    at(2, body(id="double"))  # the same again, by another partition
    at(1, body(id="conflict"))
    at(1, body(id="conflict", task="Something else."))
    at(1, body(id="double", source="other"))  # another source: another job
    (worker,) = drain(stack, f"--kafka.options.message.max.bytes={RECORD_BYTES_MAX}")
    return worker


@pytest.fixture(scope="module")
def trail(stack, sent):
    """Everything verified, before the tests below change anything."""
    found = verify.everything(stack)
    found.dlq = {record.headers[-1][0] and next(value for name, value in record.headers if name == "event_id"): record
                 for record in stack.consume("draftmill.jobs.dlq")}
    return found


def letter_at(trail, partition, offset):
    letters = [letter for letter in trail.letters if (letter["part"], letter["offset"]) == (partition, offset)]
    assert len(letters) == 1
    return letters[0]


def published(stack, trail, topic, id, revision=0):
    (job_no,) = [one["job_no"] for one in trail.jobs if (one["id"], one["revision"]) == (id, revision) and one["source"] != "other"]
    (record,) = [record for record in stack.consume(topic) if json.loads(record.value)["job_no"] == str(job_no)]
    return json.loads(record.value), verify.headers_of(record)


@pytest.mark.parametrize("name", BAD)
def test_a_bad_message_becomes_a_dead_letter(trail, name):
    value, reason = BAD[name]
    letter = letter_at(trail, *place_of(name))
    assert (letter["reason"], letter["value"], letter["key"]) == (reason, value, b"as received")
    assert letter["detail"]
    event_id = next(row["event_id"] for row in trail.outbox if row["job_no"] == letter["letter_no"])
    record = trail.dlq[event_id.encode()]
    omitted = value is not None and len(value) >= RECORD_BYTES_MAX
    assert record.value == (None if omitted else value) and record.key == b"as received"
    assert record.headers[:len(HEADERS)] == HEADERS
    assert verify.headers_of(record)["reason"] == reason
    assert (verify.headers_of(record).get("value_omitted") == "true") == omitted


def test_no_neighbour_is_affected(stack, trail):
    assert set(ends(stack, "neighbour-").values()) == {("passed", "no_issues")}
    assert len(ends(stack, "neighbour-")) == len(BAD) + 1
    assert len(trail.letters) == len(BAD) + 1  # and the conflict


def test_the_detail_names_the_place(trail):
    assert "#/id" in letter_at(trail, *place_of("a number as id"))["detail"]
    assert "prioritiy" in letter_at(trail, *place_of("an unknown field"))["detail"]
    assert "50000" in letter_at(trail, *place_of("more tokens than the profile"))["detail"]
    assert "mended" in letter_at(trail, *place_of("an unknown profile"))["detail"]


def test_plain_json_by_kcat_is_a_job(stack, trail):
    assert ends(stack, "by-kcat") == {"by-kcat": ("passed", "no_issues")}
    event, headers = published(stack, trail, "draftmill.results", "by-kcat")
    assert event["job"] == {"source": "", "id": "by-kcat", "revision": 0}
    assert "traceparent" not in headers


def test_a_structured_event_is_carried_through(stack, trail):
    event, headers = published(stack, trail, "draftmill.results", "structured-1")
    assert event["job"]["source"] == "/crm"
    assert {"type": "com.example.draft", "subject": "s-1"}.items() <= event["job"]["attributes"].items()
    assert headers["traceparent"] == PARENT


def test_a_binary_event_is_carried_through(stack, trail):
    event, headers = published(stack, trail, "draftmill.results", "binary-1")
    assert event["job"]["source"] == "/shop"
    assert {"type": "com.example.draft", "region": "eu"}.items() <= event["job"]["attributes"].items()
    assert headers["traceparent"] == PARENT


def test_the_id_of_the_body_goes_before_the_header(stack, trail):
    assert ends(stack, "own-id") == {"own-id": ("passed", "no_issues")} and not ends(stack, "not-this")


def test_a_higher_revision_is_a_new_job(stack, trail):
    first, _ = published(stack, trail, "draftmill.results", "revised")
    second, _ = published(stack, trail, "draftmill.results", "revised", 3)
    assert "supersedes" not in first and second["supersedes"]["revision"] < 3
    assert first["event_id"] != second["event_id"]


def test_the_same_again_is_counted_and_nothing_else(trail, sent):
    assert len([one for one in trail.jobs if one["id"] == "double" and one["source"] == ""]) == 1
    assert events(sent, "worker_ended")[0]["n_duplicate"] == 2


def test_another_source_is_another_job(trail):
    assert len([one for one in trail.jobs if one["id"] == "double" and one["source"] == "other"]) == 1


def test_a_conflict_names_both_hashes(trail):
    (first,) = [one for one in trail.jobs if one["id"] == "conflict"]
    (letter,) = [letter for letter in trail.letters if letter["reason"] == "conflict"]
    second = body(id="conflict", task="Something else.")
    assert first["payload_sha"] == hashlib.sha256(body(id="conflict")).digest() == letter["first_sha"]
    assert (letter["value"], letter["value_sha"]) == (second, hashlib.sha256(second).digest())
    assert letter["first_job_no"] == first["job_no"]
    headers = next(verify.headers_of(record) for record in trail.dlq.values() if record.value == second)
    assert headers["first_sha256"] == first["payload_sha"].hex() and headers["value_sha256"] == hashlib.sha256(second).hexdigest()


def test_all_again_makes_nothing_new_but_the_job_whose_profile_is_mended(stack, trail, tmp_path):
    """A new group reads every record from the start, and a drain waits for that, though all marks are at the ends already."""
    profiles = shutil.copytree(f"{ROOT}/config/profiles", tmp_path / "profiles")
    text = (profiles / "customer-letter.yaml").read_text()
    (profiles / "mended.yaml").write_text(text.replace("name: customer-letter", "name: mended"))
    (worker,) = drain(stack, "--kafka.group=again", f"--profiles.dir={profiles}")
    after = verify.everything(stack)
    assert ends(stack, "late-profile") == {"late-profile": ("passed", "no_issues")}
    assert len(after.jobs) == len(trail.jobs) + 1
    assert [letter["letter_no"] for letter in after.letters] == [letter["letter_no"] for letter in trail.letters]
    assert len(stack.consume("draftmill.jobs.dlq")) == len(trail.dlq)
    assert events(worker, "worker_ended")[0]["n_duplicate"] == len(trail.jobs) + 2


def test_a_header_name_that_is_no_text_does_no_harm(stack, trail):
    """Names of headers are bytes in Kafka; the record is kept, and what comes after it goes on."""
    for value, name in ((b"no job", b"\xff\xfe"), (body(id="odd-header"), b"ce_\xff"), (b"no job either", b"\"quoted\"\n")):
        subprocess.run([b"kcat", b"-b", stack.brokers.encode(), b"-t", b"draftmill.jobs", b"-P", b"-p", b"3", b"-H", name + b"=v"],
                       input=value, check=True)
    drain(stack, timeout_s=40)
    assert ends(stack, "odd-header") == {"odd-header": ("passed", "no_issues")}
    letters = stack.sql("SELECT value FROM draftmill.dead_letter WHERE part = 3 ORDER BY \"offset\"")
    assert [bytes(value) for (value,) in letters] == [b"no job", b"no job either"]


def test_a_dead_letter_can_be_found_by_its_id(trail):
    assert letter_at(trail, *place_of("an unknown field"))["id"] == "bad-field"
    assert letter_at(trail, *place_of("an unknown profile"))["id"] == "late-profile"
    assert letter_at(trail, *place_of("a number as id"))["id"] is None


def test_several_job_topics_may_be_named(stack, trail):
    stack.produce("draftmill.urgent", body(id="urgent-1"))
    drain(stack, "--kafka.job_topics=urgent,jobs")
    assert ends(stack, "urgent-") == {"urgent-1": ("passed", "no_issues")}


def test_a_broker_that_takes_large_records_gets_them_whole(stack, trail):
    value = body(id="large-again", task="y" * (2 << 20))
    stack.produce("draftmill.jobs", value)
    drain(stack)
    assert value in [record.value for record in stack.consume("draftmill.jobs.dlq")]
    verify.everything(stack)
