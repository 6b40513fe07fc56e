"""One stack a module: PostgreSQL, broker, model, all private, and the schema in it."""
import pytest
from jobs import QUICK_GROUP, QUICK_MODEL
from stack import Stack


@pytest.fixture(scope="module")
def stack():
    with Stack() as started:
        started.settings.update(QUICK_GROUP, DRAFTMILL_WORKER_STATE_DIR=f"{started.folder}/state")
        started.start_pg()
        started.start_broker()
        started.start_model(**QUICK_MODEL)
        started.migrate()
        yield started
