"""What each role may do with the database, and what migrate does to it."""
import threading

import psycopg2
import pytest
from stack import Stack

TRAIL = "job_key profile critic_baseline job step attempt draft critique issue outcome outbox outbox_sent decision dead_letter".split()
BOOKKEEPING = "worker worker_lease todo strike intake_mark".split()


@pytest.fixture(scope="module")
def stack():
    """Only the database; all tables have a row."""
    with Stack() as started:
        started.start_pg()
        started.migrate()
        started.sql("INSERT INTO draftmill.job SELECT draftmill.draw_block(), '', 'j', 0, NULL, NULL, NULL, NULL, NULL, NULL, 'p', '', "
                    "NULL, 'normal', NULL, 'salt', '', '', 0, 0, 1, now(), '', ''")
        yield started


def refused(stack, role, statement):
    with pytest.raises(psycopg2.errors.InsufficientPrivilege):
        stack.sql(statement, role=role)


def column_of(stack, table):
    """Its last one: the first may be made by the database alone."""
    return stack.sql("SELECT column_name FROM information_schema.columns WHERE table_schema = 'draftmill' AND table_name = %s "
                     "ORDER BY ordinal_position DESC", [table])[0][0]


@pytest.mark.parametrize("table", TRAIL)
def test_the_worker_cannot_change_the_trail(stack, table):
    column = column_of(stack, table)
    stack.sql(f"SELECT * FROM draftmill.{table}", role="draftmill_worker")
    refused(stack, "draftmill_worker", f"UPDATE draftmill.{table} SET {column} = {column}")
    refused(stack, "draftmill_worker", f"DELETE FROM draftmill.{table}")
    refused(stack, "draftmill_worker", f"TRUNCATE draftmill.{table}")


def test_the_worker_cannot_change_a_month_of_the_trail_either(stack):
    months = stack.sql("SELECT inhrelid::regclass::text FROM pg_inherits JOIN pg_class ON oid = inhrelid WHERE relkind = 'r'")
    assert len(months) >= 10
    for (month,) in months:
        name = month if month.startswith("draftmill.") else f"draftmill.{month}"
        refused(stack, "draftmill_worker", f"DELETE FROM {name}")
        refused(stack, "draftmill_worker", f"UPDATE {name} SET job_no = job_no")


@pytest.mark.parametrize("role", ["draftmill_worker", "draftmill_reader", "draftmill_reviewer"])
def test_nobody_but_the_owner_makes_or_drops(stack, role):
    for statement in ("CREATE TABLE draftmill.mine (x int)", "DROP TABLE draftmill.job", "ALTER TABLE draftmill.step ADD x int",
                      "SET ROLE draftmill_owner", "TRUNCATE draftmill.todo",
                      "CREATE TRIGGER t BEFORE INSERT ON draftmill.step EXECUTE FUNCTION suppress_redundant_updates_trigger()"):
        refused(stack, role, statement)
    assert stack.sql("SELECT rolsuper OR rolbypassrls OR rolcreaterole OR rolcreatedb FROM pg_roles WHERE rolname = %s", [role]) == [(False,)]


@pytest.mark.parametrize("table", TRAIL + BOOKKEEPING)
def test_the_reader_reads_only(stack, table):
    column = column_of(stack, table)
    stack.sql(f"SELECT {column} FROM draftmill.{table}", role="draftmill_reader")
    refused(stack, "draftmill_reader", f"INSERT INTO draftmill.{table} DEFAULT VALUES")
    refused(stack, "draftmill_reader", f"UPDATE draftmill.{table} SET {column} = {column}")
    refused(stack, "draftmill_reader", f"DELETE FROM draftmill.{table}")


@pytest.mark.parametrize("role", ["draftmill_reader", "draftmill_reviewer"])
def test_the_salt_is_the_workers(stack, role):
    assert stack.sql("SELECT id, payload FROM draftmill.job", role=role)
    refused(stack, role, "SELECT salt FROM draftmill.job")
    refused(stack, role, "SELECT * FROM draftmill.job")
    assert len(stack.sql("SELECT salt FROM draftmill.job", role="draftmill_worker")) == 1


def test_the_reviewer_adds_decisions_and_nothing_else(stack):
    stack.sql("INSERT INTO draftmill.decision (job_no, n, decision_id, reviewer, verdict) "
              "SELECT job_no, 0, gen_random_uuid(), 'ann', 'approve' FROM draftmill.job", role="draftmill_reviewer")
    assert stack.sql("SELECT reviewer FROM draftmill.decision") == [("ann",)]
    refused(stack, "draftmill_reviewer", "UPDATE draftmill.decision SET verdict = 'reject'")
    refused(stack, "draftmill_reviewer", "DELETE FROM draftmill.decision")
    for table in set(TRAIL + BOOKKEEPING) - {"decision"}:
        refused(stack, "draftmill_reviewer", f"INSERT INTO draftmill.{table} DEFAULT VALUES")
        refused(stack, "draftmill_reviewer", f"DELETE FROM draftmill.{table}")


def test_the_reader_sees_every_view(stack):
    for (view,) in stack.sql("SELECT viewname FROM pg_views WHERE schemaname = 'draftmill'"):
        stack.sql(f"SELECT * FROM draftmill.{view} LIMIT 1", role="draftmill_reader")


def schema(stack):
    return (stack.sql("SELECT version, at, sha FROM draftmill.migration ORDER BY 1"),
            stack.sql("SELECT table_name, column_name FROM information_schema.columns WHERE table_schema = 'draftmill' ORDER BY 1, 2"))


def test_migrate_again_changes_nothing(stack):
    before = schema(stack)
    assert before[0]
    stack.migrate()
    assert schema(stack) == before


def test_two_migrations_at_once_make_one_schema():
    with Stack() as fresh:
        fresh.start_pg()
        faults = []

        def migrate():
            try:
                fresh.migrate()
            except AssertionError as fault:
                faults.append(fault)

        threads = [threading.Thread(target=migrate) for _ in range(2)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert not faults
        versions = fresh.sql("SELECT version FROM draftmill.migration ORDER BY 1")
        assert versions == [(number,) for number in range(1, len(versions) + 1)]


def test_stop_reasons_are_in_the_database(stack):
    found = dict(stack.sql("SELECT name, outcome FROM draftmill.stop_reason"))
    assert found["no_issues"] == "passed" and found["max_iterations"] == "escalated" and found["poison"] == "failed"
    assert len(found) == 23
