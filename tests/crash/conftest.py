"""One stack a module, with a lease that runs out soon."""
import pytest
from crashes import crash_stack


@pytest.fixture(scope="module")
def stack():
    with crash_stack() as started:
        yield started
