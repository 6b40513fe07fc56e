"""CSV as it comes from the field: encodings, quotes, numbers that are names; and what submit says while it works."""
import json
import os
import pty
import re
import shutil
import subprocess

import pytest
import verify
from jobs import drain, ends, job
from stack import DRAFTMILL, ROOT

PROFILE = ["--profile", "customer-letter"]
HENKIN = "返金を希望します"


@pytest.fixture(scope="module")
def lenient(tmp_path_factory):
    """The shipped configuration, with a check for the variables that is soft: rows may be short. For submit alone; workers have the shipped one."""
    config = tmp_path_factory.mktemp("lenient") / "config"
    shutil.copytree(f"{ROOT}/config", config)
    profile = config / "profiles/customer-letter.yaml"
    profile.write_text(profile.read_text().replace("    variables: [customer, plan, reference]\n", "    variables: [customer, plan, reference]\n    hard: false\n"))
    return config / "draftmill.yaml"


@pytest.fixture
def submit(stack, tmp_path, lenient):
    """Submits bytes under a name; gives counts (read, sent, duplicates, invalid), what stderr told of lines, and what came to the topic."""
    def submit(data, *words, name="jobs.csv", status=0, batch="b", config=lenient):
        path = tmp_path / name
        if data is not None:
            path.write_bytes(data if isinstance(data, bytes) else data.encode())
        before = len(stack.consume("draftmill.jobs"))
        done = stack.draftmill("submit", *PROFILE, "--batch", batch, "--config", str(config), *words, str(path), check=False)
        assert done.returncode == status, f"{done.returncode}\n{done.stdout}\n{done.stderr}"
        assert "Sanitizer" not in done.stderr
        records = stack.consume("draftmill.jobs")
        counts = [int(number) for number in re.findall(r"read (\d+), sent (\d+), duplicates (\d+), invalid (\d+)", done.stdout)[0]]
        assert counts[0] == sum(counts[1:]) and counts[1] == len(records) - before
        told = {int(number): text for number, text in re.findall(rf"^{re.escape(str(path))}:(\d+): (.*)$", done.stderr, re.M)}
        return counts, told, [json.loads(record.value) for record in sorted(records, key=lambda one: one.offset)]

    return submit


def by_id(jobs, prefix):
    return {one["id"]: one.get("variables") for one in jobs if one["id"].startswith(prefix)}


# --- encodings


CP932 = b'id,name,message\r\n"A-1","' + "テスト機構".encode("cp932") + b'","' + HENKIN.encode("cp932") + b'"\r\n'


def test_text_in_cp932_is_decoded_before_it_is_split(submit):
    assert "機構".encode("cp932").endswith(b"\x8d\x5c")  # a backslash, to who splits first
    counts, told, jobs = submit(CP932, "--encoding", "CP932", name="r01.csv")
    assert counts == [1, 1, 0, 0] and told == {}
    assert by_id(jobs, "A-1") == {"A-1": {"name": "テスト機構", "message": HENKIN}}


def test_text_in_an_encoding_that_was_not_named_gives_no_job(submit):
    half_width = "id,name\r\nH-1,plain\r\nH-2,ﾃｱ\r\nH-3,表\r\n".encode("cp932")
    assert half_width[24:26].decode() == "ñ"  # the second row is UTF-8 by accident
    for data, line, byte in ((CP932, 2, 24), (half_width, 4, half_width.index("表".encode("cp932")))):
        counts, told, _ = submit(data, name="r01.csv", status=65)
        assert counts == [1, 0, 0, 1]
        assert list(told) == [line] and f"byte {byte} " in told[line] and "not UTF-8" in told[line]


@pytest.mark.parametrize("encoding, data", [
    ("EUC-JP", f"id,name\nE-1,{HENKIN}\n".encode("euc-jp")),
    ("UTF-16", f"id,name\r\nE-2,{HENKIN}\r\n".encode("utf-16")),
    ("UTF-16BE", f"\ufeffid,name\r\nE-3,{HENKIN}\r\n".encode("utf-16-be")),
    ("windows-1252", "id,name\nE-4,é€\n".encode("cp1252")),
    ("UTF-8", f"\ufeffid,name\nE-5,{HENKIN}\n".encode()),
], ids=["EUC-JP", "UTF-16", "UTF-16BE", "windows-1252", "UTF-8"])
def test_encodings_by_name(submit, encoding, data):
    counts, _, jobs = submit(data, "--encoding", encoding)
    assert counts == [1, 1, 0, 0]
    id, name = data.decode(encoding).splitlines()[1].split(",")
    assert by_id(jobs, id) == {id: {"name": name}}


def test_utf_16_that_was_not_named_is_not_taken_for_text(submit):
    counts, told, _ = submit("id,name\nx,y\n".encode("utf-16-le"), status=65)
    assert counts == [1, 0, 0, 1] and "UTF-16" in told[1]


def test_a_byte_order_mark_changes_no_job(stack, submit):
    rows = 'id,reference,message,customer,plan\nB-1,R-1,x,Baker,Team\nB-2,R-2,"y\ufeffz",Baker,Team\n'
    assert submit(rows, name="without.csv")[0] == [2, 2, 0, 0]
    drain(stack)
    counts, told, jobs = submit("\ufeff" + rows, name="with.csv")
    assert counts == [2, 0, 2, 0] and told == {}
    assert by_id(jobs, "B-") == {f"B-{n}": {"reference": f"R-{n}", "message": text, "customer": "Baker", "plan": "Team"}
                                 for n, text in ((1, "x"), (2, "y\ufeffz"))}
    lines = "".join('{"id":"L-%d","task":"%s","variables":{"customer":"Baker","plan":"Team","reference":"R-%d"}}\n' % (n, text, n)
                    for n, text in ((1, "x"), (2, "y\ufeffz")))
    assert submit("\ufeff" + lines, name="with.jsonl")[0] == [2, 2, 0, 0]
    drain(stack)
    assert submit(lines, name="without.jsonl")[0] == [2, 0, 2, 0]


# --- quotes and rows


def test_a_quote_that_never_closes_makes_no_job(submit):
    rows = [f"Q-{number},text {number}" for number in range(2, 1001)]
    rows[1] = 'Q-3,"I said hello'
    counts, told, jobs = submit("id,message\n" + "\n".join(rows), status=65)
    assert counts == [1, 0, 0, 1]
    assert list(told) == [3] and "quote" in told[3] and "never closed" in told[3]
    assert by_id(jobs, "Q-") == {}
    rows[499] = 'Q-501,"another"'  # closes the quote of line 3, and shows it
    counts, told, jobs = submit("id,message\n" + "\n".join(rows), status=65)
    assert counts == [1, 0, 0, 1] and list(told) == [3] and "line 501" in told[3]
    assert by_id(jobs, "Q-") == {}


def test_a_row_at_fault_is_named_and_the_others_are_sent(submit):
    rows = ["id,message", 'S-2,"two\r\nlines, ""quoted"""', 'S-4,ensemble". End', "S-5", "S-6,a,b", "", "S-8,fine", "S-9," + "x" * (1 << 20), "S-10,last"]
    counts, told, jobs = submit("\r\n".join(rows), status=65)
    assert counts == [7, 3, 0, 4]
    assert {line: text.split(":")[0] for line, text in told.items()} == {4: "stray_quote", 5: "ragged", 6: "ragged", 9: "too_large"}
    assert by_id(jobs, "S-") == {"S-2": {"message": 'two\r\nlines, "quoted"'}, "S-8": {"message": "fine"}, "S-10": {"message": "last"}}


@pytest.mark.parametrize("data, line, said", [
    ("", 1, "a header is missing"),
    ("id,id\n1,2\n", 1, '"id" twice'),
    ("id,\n1,2\n", 1, "column 2"),
    ("id,sources\n1,2\n", 1, "sources"),
    ("id,x\nN-1,a\0b\n", 2, "NUL"),
    ("id,x\rN-1,a\r", 1, "carriage return"),
])
def test_a_file_that_cannot_be_what_it_seems_is_refused(submit, data, line, said):
    counts, told, _ = submit(data, status=65)
    assert counts == [1, 0, 0, 1] and said in told[line]


# --- columns


def test_numbers_that_are_names_stay_as_written(stack, submit):
    """The profile wants the reference in the text: 00042 is, 42 would not be."""
    columns = "id,reference,phone,code,date,customer,plan,case,task"
    row = '{},"00042",+81312345678,1E5,2024-03-01,Baker,Team,{},Confirm the change.'
    counts, _, jobs = submit("\n".join([columns, row.format("N-clean", "clean"), row.format("N-missing", "missing")]))
    assert counts == [2, 2, 0, 0]
    written = {"reference": "00042", "phone": "+81312345678", "code": "1E5", "date": "2024-03-01"}
    for variables in by_id(jobs, "N-").values():
        assert {name: variables[name] for name in written} == written
    drain(stack)
    assert ends(stack, "N-") == {"N-clean": ("passed", "no_issues"), "N-missing": ("passed", "no_issues")}
    texts = stack.sql("SELECT id, draft_no, body, n_hard_failed FROM draftmill.draft JOIN draftmill.job USING (job_no) "
                      "WHERE starts_with(id, 'N-') ORDER BY id, draft_no")
    assert [("00042" in text, failed) for _, _, text, failed in texts] == [(True, 0), (False, 1), (True, 0)]
    payloads = stack.sql("SELECT convert_from(payload, 'UTF8') FROM draftmill.job WHERE starts_with(id, 'N-')")
    assert all('"reference":"00042","phone":"+81312345678","code":"1E5","date":"2024-03-01"' in payload for payload, in payloads)
    verify.everything(stack)


def test_columns_are_found_by_name_and_by_map(stack, submit):
    counts, _, jobs = submit("Nr\tsubject\tlanguage\tstakes\trevision\nM-1\tHello\tja\t\t2\n", "--map", "id=Nr", "--map", "topic=subject",
                             "--map", "number=Nr", name="jobs.tsv")
    assert counts == [1, 1, 0, 0]
    (one,) = [one for one in jobs if one["id"] == "M-1"]
    assert one == {"profile": "customer-letter", "batch": "b", "id": "M-1", "language": "ja", "revision": 2,
                   "variables": {"topic": "Hello", "number": "M-1"}}
    counts, told, _ = submit("id;x\nM-2;a,b\n", "--map", "y=X", "--delimiter", ";", status=65)
    assert counts == [1, 0, 0, 1] and 'did you mean "x"' in told[1]


def test_the_columns_are_told(stack, lenient):
    done = stack.draftmill("submit", *PROFILE, "--config", str(lenient), "--format", "csv", "-", input="id,langauge\nC-1,ja\n")
    assert done.stderr == "stdin: of the job: id; variables: langauge\n"


@pytest.mark.parametrize("words, said", [
    (["--format", "xlsx"], "--format"),
    (["--delimiter", "::"], "--delimiter"),
    (["--encoding", "CP932//IGNORE"], "--encoding"),
    (["--map", "id"], "--map"),
    (["--format", "jsonl", "--encoding", "CP932"], "--format csv"),
])
def test_wrong_words_are_refused(stack, tmp_path, words, said):
    path = tmp_path / "x.csv"
    path.write_text("id\n1\n")
    done = stack.draftmill("submit", *PROFILE, "--config", stack.config, *words, str(path), check=False)
    assert done.returncode == 64 and said in done.stderr


# --- ids made of content


@pytest.mark.parametrize("name, rows", [
    ("ids.csv", ["task,customer,plan,reference", "Write.,Baker,Team,R-1", "Write.,Smith,Team,R-1", "Write.,Baker,Team,R-1"]),
    ("ids.jsonl", ['{"task":"W.","variables":{"customer":"%s","plan":"Team","reference":"R-1"}}' % name for name in ("Baker", "Smith", "Baker")]),
])
def test_the_same_file_makes_the_same_ids(stack, submit, name, rows):
    data = "\n".join(rows)
    first, last = (2, 4) if name.endswith("csv") else (1, 3)
    counts, told, jobs = submit(data, name=name)
    assert counts == [3, 2, 1, 0]
    assert list(told) == [last] and told[last].startswith("duplicate: ") and f":{first} is the same" in told[last]
    assert len(by_id(jobs, "content-")) >= 2
    drain(stack)
    counts, told, _ = submit("\ufeff" + data.replace("\n", "\r\n"), name=name)
    assert counts == [3, 0, 3, 0] and list(told) == [last]
    counts, told, _ = submit(data, name=name, batch="another", status=65)
    assert counts == [3, 0, 1, 2] and "batch b" in told[first] and "--source" in told[first]
    assert submit(data, "--source", "again", name=name, batch="another")[0] == [3, 2, 1, 0]


# --- what it says meanwhile


def test_dead_letters_of_the_batch_are_listed(stack, submit, tmp_path):
    """A profile that submit knows and the workers do not."""
    shutil.copytree(f"{ROOT}/config", tmp_path / "config")
    shipped = (tmp_path / "config/profiles/customer-letter.yaml").read_text()
    (tmp_path / "config/profiles/later.yaml").write_text(shipped.replace("name: customer-letter", "name: later"))
    worker = stack.start_worker()
    counts, told, _ = submit("id,profile,customer,plan,reference,case\nD-1,,Baker,Team,R-1,clean\nD-2,later,Baker,Team,R-2,clean\n",
                             "--wait", "--timeout", "60", config=tmp_path / "config/draftmill.yaml", status=65)
    assert counts == [2, 2, 0, 0]
    assert list(told) == [3] and told[3].startswith("dead letter: unknown_profile: ")
    assert worker.terminate() == 0


def test_how_far_it_is(stack, tmp_path):
    """Nobody works: after three seconds it gives up waiting."""
    path = tmp_path / "far.jsonl"
    path.write_text(json.dumps(job("far-1")) + "\n")
    words = [DRAFTMILL, "submit", *PROFILE, "--config", stack.config, "--wait", "--timeout", "3", str(path)]
    plain = subprocess.run(words, cwd=ROOT, env=stack.environment(), text=True, capture_output=True)
    assert plain.returncode == 75 and set(plain.stderr.splitlines()) == {"0 of 1 ended"}
    terminal, its_end = pty.openpty()
    with subprocess.Popen(words, cwd=ROOT, env=stack.environment(), stdout=subprocess.PIPE, stderr=its_end, text=True) as child:
        os.close(its_end)
        assert "still open 1" in child.stdout.read()
    said = os.read(terminal, 65536).decode()
    os.close(terminal)
    assert "[.........................]   0 %  0 of 1 ended" in said and said.endswith("\r\033[K")
