"""One hypothesis profile for all tests: the same examples on every machine, no wall clock."""

from hypothesis import HealthCheck, settings

settings.register_profile(
    "msopt",
    derandomize=True,
    deadline=None,
    max_examples=50,
    database=None,
    suppress_health_check=[HealthCheck.too_slow],
)
settings.load_profile("msopt")
