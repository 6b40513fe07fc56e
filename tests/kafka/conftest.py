"""One stack a module, with a real broker."""
import pytest
from jobs import QUICK_GROUP, QUICK_MODEL
from stack import KAFKA, Stack


@pytest.fixture(scope="module")
def stack():
    with Stack() as started:
        started.settings.update(QUICK_GROUP)
        started.start_pg()
        started.start_broker(version=KAFKA or "4.4.0")
        started.start_model(**QUICK_MODEL)
        started.migrate()
        yield started
