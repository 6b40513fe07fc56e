"""sql_explain.py SCHEMA.sql - compiles each SQL statement of a text against an empty database with this schema; nothing is run.

The database is SQLite's, in memory, so the dialect is SQLite's, too. The statements are those of the blocks fenced as sql, or the whole
text where there are none. What does more than read is a fault.
"""
import sqlite3
import sys

from findings import answer, draft, fenced, finding

READS = {sqlite3.SQLITE_SELECT, sqlite3.SQLITE_READ, sqlite3.SQLITE_FUNCTION, sqlite3.SQLITE_RECURSIVE}


def split(block):
    """At each semicolon that ends a statement."""
    statement = ""
    for piece in block.split(";"):
        statement += piece + ";"
        if sqlite3.complete_statement(statement):
            yield statement.strip()
            statement = ""
    if statement.strip(" \t\r\n;"):
        yield statement.strip()


def fault(database, statement):
    try:
        database.execute("EXPLAIN " + statement.rstrip(";"))
    except sqlite3.Error as error:
        return "it does more than read" if "not authorized" in str(error) else str(error)


database = sqlite3.connect(":memory:")
with open(sys.argv[1], encoding="utf-8") as schema:
    database.executescript(schema.read())
database.set_authorizer(lambda action, *_: sqlite3.SQLITE_OK if action in READS else sqlite3.SQLITE_DENY)
text = draft()
statements = [s for block in fenced(text, "sql") or [text] for s in split(block) if s.strip("; \n")]
found = [finding(5, f"the statement does not compile: {why}", s.rstrip(";"))
         for s in statements if (why := fault(database, s))]
if text.strip() and not statements:
    found = [finding(5, "there is no SQL statement")]
answer(found)
