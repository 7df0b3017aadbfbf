"""How many requests a caller may send in a minute."""

from __future__ import annotations

from collections.abc import Generator
from typing import TYPE_CHECKING

import pytest
from starlette.requests import Request

from fakes.clock import ManualClock
from servers.accounts import add_users, key_of, logged_in
from servers.service import served
from steelyard.api.client_address import client_address
from steelyard.api.request_limits import RequestLimiter
from steelyard.project import Project, open_project

if TYPE_CHECKING:
    import httpx

LIMIT = 5


def test_a_caller_has_so_many_requests_a_minute() -> None:
    clock = ManualClock()
    limiter = RequestLimiter(clock.monotonic)
    left = [limiter.count("a", 2) for _ in range(3)]
    clock.move(45)
    later = limiter.count("a", 2)
    clock.move(15)
    fresh = limiter.count("a", 2)

    assert [one.remaining for one in left] == [1, 0, 0]
    assert [one.is_exceeded for one in left] == [False, False, True]
    assert (later.is_exceeded, later.reset_s) == (True, 15)
    assert (fresh.is_exceeded, fresh.remaining) == (False, 1)
    assert not limiter.count("b", 2).is_exceeded


def test_a_flood_of_callers_does_not_fill_the_memory() -> None:
    limiter = RequestLimiter(ManualClock().monotonic)
    for number in range(25_000):
        limiter.count(str(number), 1)

    assert len(limiter._windows) <= 10_000  # pyright: ignore[reportPrivateUsage]


@pytest.mark.parametrize(
    ("peer", "forwarded", "address"),
    [
        ("10.0.0.1", [], "10.0.0.1"),
        ("192.0.2.7", ["198.51.100.1"], "192.0.2.7"),
        ("10.0.0.1", ["198.51.100.1"], "198.51.100.1"),
        ("10.0.0.1", ["203.0.113.9, 198.51.100.1"], "198.51.100.1"),
        ("10.0.0.1", ["203.0.113.9", "198.51.100.1, 10.0.0.2"], "198.51.100.1"),
        ("10.0.0.1", ["invented, 10.0.0.3"], "10.0.0.3"),
        ("10.0.0.1", ["", " , "], "10.0.0.1"),
        ("10.0.0.1", ["203.0.113.9, 198.51.100.1:5123"], "10.0.0.1"),
        ("10.0.0.1", ["203.0.113.9, unknown"], "10.0.0.1"),
        ("10.0.0.1", ["2001:db8:1:2:3:4:5:6"], "2001:db8:1:2::/64"),
        ("10.0.0.1", ["::ffff:198.51.100.1"], "198.51.100.1"),
        ("::ffff:10.0.0.1", ["198.51.100.1"], "198.51.100.1"),
        ("unix", ["198.51.100.1"], "unknown"),
    ],
)
def test_the_address_is_the_right_most_that_no_trusted_proxy_has(
    peer: str, forwarded: list[str], address: str
) -> None:
    headers = [(b"x-forwarded-for", value.encode()) for value in forwarded]
    request = Request({"type": "http", "client": (peer, 1), "headers": headers})

    assert client_address(request, ["10.0.0.0/24"]) == address


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Generator[Project]:
    """A project with one user a role."""
    with open_project(tmp_path_factory.mktemp("project")) as made:
        add_users(made)
        yield made


@pytest.fixture
def client(project: Project) -> Generator[httpx.Client]:
    """A server with login and a low limit, behind a trusted proxy."""
    with served(
        project, has_login=True, requests_per_minute=LIMIT, trusted_proxies=("127.0.0.1",)
    ) as made:
        yield made


def test_each_key_has_its_own_limit_and_every_answer_says_what_is_left(
    client: httpx.Client, project: Project
) -> None:
    one, other = key_of(project, "viewer"), key_of(project, "viewer")
    answers = [client.get("/v1/runs", headers=one) for _ in range(LIMIT + 1)]

    refused = answers[-1]
    assert [int(each.headers["x-ratelimit-remaining"]) for each in answers] == [4, 3, 2, 1, 0, 0]
    assert [each.status_code for each in answers] == [200] * LIMIT + [429]
    assert refused.json()["error"]["code"] == "rate_limited"
    assert refused.headers["x-ratelimit-limit"] == str(LIMIT)
    assert 1 <= int(refused.headers["retry-after"]) <= 60
    assert refused.headers["retry-after"] == refused.headers["x-ratelimit-reset"]
    assert client.get("/v1/runs", headers=other).status_code == 200


def test_errors_say_what_is_left_too(client: httpx.Client, project: Project) -> None:
    headers = key_of(project, "viewer")

    assert client.get("/v1/users", headers=headers).headers["x-ratelimit-remaining"] == "4"
    assert client.get("/v1/runs/none", headers=headers).headers["x-ratelimit-remaining"] == "3"


def test_guesses_count_against_their_address(client: httpx.Client, project: Project) -> None:
    def guess(address: str) -> int:
        headers = {"x-forwarded-for": address, "x-api-key": "steelyard_guess"}
        return client.get("/v1/runs", headers=headers).status_code

    assert [guess("198.51.100.1") for _ in range(LIMIT + 1)] == [401] * LIMIT + [429]
    assert guess("198.51.100.2") == 401
    known = {"x-forwarded-for": "198.51.100.1", **key_of(project, "viewer")}
    assert client.get("/v1/runs", headers=known).status_code == 200


def test_sessions_have_their_own_limits(client: httpx.Client) -> None:
    one, other = (logged_in(client, "viewer") for _ in range(2))
    statuses = [client.get("/v1/me", headers=one.cookie).status_code for _ in range(LIMIT + 1)]

    assert statuses == [200] * LIMIT + [429]
    assert client.get("/v1/me", headers=other.cookie).status_code == 200


def test_a_server_without_login_has_no_limit(project: Project) -> None:
    with served(project, requests_per_minute=LIMIT) as client:
        answers = [client.get("/v1/runs") for _ in range(LIMIT + 5)]

    assert {one.status_code for one in answers} == {200}
    assert "x-ratelimit-limit" not in answers[0].headers
