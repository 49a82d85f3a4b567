"""Small requests next to large ones, abandoned requests, and clients that send very many."""

import asyncio
import json

import pytest
from tests.web.socket_server import (
    SteppingFinder,
    find_request,
    serving,
    status,
    until,
)

from thresher.web.queue import QueueFullError, ScoringQueue
from thresher.web.schedule import Job, Schedule, client_of_address, job_to_refuse
from thresher.web.scoring_steps import STEP_CHARACTERS, STEP_TOKENS, scoring_steps

LARGE = "Oslo is far. " * 4000  # 52,000 characters


def test_a_small_request_overtakes_large_ones():
    """On real sockets: it waits only for the step that is being processed."""
    finder = SteppingFinder()
    with serving(finder) as server:
        finder.may_go_on.clear()
        large = [server.send(find_request(LARGE)) for _ in range(5)]
        until(lambda: server.waiting_requests() == 5)
        small = server.send(find_request("Larvik"))
        until(lambda: server.waiting_requests() == 6)
        finder.may_go_on.set()
        assert status(small) == 200
        done_before = len(finder.pieces)
        assert [status(each) for each in large] == [200] * 5
        assert done_before < len(finder.pieces) / 4


def test_the_work_of_a_disconnected_client_is_dropped():
    finder = SteppingFinder()
    with serving(finder) as server:
        finder.may_go_on.clear()
        abandoned = [server.send(find_request(LARGE)) for _ in range(3)]
        abandoned.append(server.send(find_request("abandoned")))
        until(lambda: server.waiting_requests() == 4)
        for each in abandoned:
            each.close()
        until(lambda: server.waiting_requests() == 0)
        finder.may_go_on.set()
        assert status(server.send(find_request("Larvik"))) == 200
        assert finder.scored[-1] == "Larvik"
        assert len(finder.scored) + len(finder.pieces) <= 2  # with the step that had begun


def job(text: str, client: str = "a", finder=None) -> Job:
    return Job(finder, [text], client, result=None)


def test_clients_take_turns_whatever_the_number_of_their_requests():
    jobs = [job("x" * STEP_CHARACTERS, "busy") for _ in range(20)]
    jobs += [job("x" * STEP_CHARACTERS, "other") for _ in range(3)]
    schedule = Schedule()
    order = []
    while jobs:
        [chosen] = schedule.next_batch(jobs)
        order.append(chosen.client)
        jobs.remove(chosen)
    assert order[:8].count("other") == 3


def test_a_large_request_is_not_kept_waiting_by_many_small_ones():
    large = job("x" * 10 * STEP_CHARACTERS)
    schedule = Schedule()
    batches = [
        schedule.next_batch([large, *(job("x" * 5000) for _ in range(9))]) for _ in range(40)
    ]
    assert [each[0] for each in batches].count(large) == 10


def test_small_requests_keep_their_order_and_share_a_batch():
    small = [job("x" * size) for size in (300, 200, 100)]
    assert Schedule().next_batch(small) == small


@pytest.mark.parametrize(
    ("waiting", "new", "refused"),
    [
        ([("x", "a"), ("x", "a")], ("x", "a"), "new"),
        ([("x", "a"), ("x", "a")], ("x", "b"), 0),
        ([("x", "a"), (LARGE, "a")], ("x", "a"), 1),
        ([("x", "a"), ("x", "a"), ("x", "a"), (LARGE, "b")], ("x", "c"), 3),
        ([("x", "a"), ("x", "b")], (LARGE, "c"), "new"),
    ],
)
def test_a_full_queue_refuses_the_client_with_the_most_text(waiting, new, refused):
    jobs, last = [job(*each) for each in waiting], job(*new)
    assert job_to_refuse(jobs, last) is (last if refused == "new" else jobs[refused])


def test_a_request_that_has_been_started_is_not_refused_any_more():
    jobs = [job(LARGE), job("x")]
    Schedule().next_batch(jobs[:1])
    new = job("x")
    assert job_to_refuse(jobs, new) is new


def test_a_small_request_takes_the_place_of_a_large_one_in_a_full_queue():
    finder = SteppingFinder()
    finder.may_go_on.clear()

    async def scenario():
        queue = ScoringQueue(max_requests=2)
        large = [asyncio.create_task(queue.score(finder, [LARGE])) for _ in range(2)]
        await asyncio.sleep(0.05)
        small = asyncio.create_task(queue.score(finder, ["Larvik"]))
        await asyncio.sleep(0.05)
        finder.may_go_on.set()
        assert [each.text for each in await small] == ["Larvik"]
        assert [each.text for each in await large[0]] == [LARGE]
        with pytest.raises(QueueFullError):
            await large[1]

    asyncio.run(scenario())


def test_addresses_of_one_ipv6_network_are_one_client():
    assert client_of_address("2001:db8::1") == client_of_address("2001:db8::ffff:2")
    assert client_of_address("2001:db8:0:1::1") != client_of_address("2001:db8::1")
    assert client_of_address("10.0.0.1") != client_of_address("10.0.0.2")


def run_steps(finder, texts):
    steps = scoring_steps(finder, texts)
    count = 0
    while True:
        try:
            next(steps)
        except StopIteration as finished:
            return finished.value, count
        count += 1


@pytest.mark.parametrize("text", [LARGE, "." * 50_000, "漢字" * 9000, "x " * 9000, "\n" * 9000])
def test_each_step_of_a_long_text_is_short(text):
    finder = SteppingFinder()
    [scored], steps = run_steps(finder, [text])
    assert scored.text == text
    words = [word for sentence in scored.sentences for word in sentence.texts]
    assert sum(finder.pieces) == len(words)
    assert max(finder.pieces, default=0) <= STEP_TOKENS
    assert steps >= len(text.split()) // STEP_TOKENS


def test_a_text_in_steps_has_the_result_of_the_whole_text(finder):
    """Also repeated words, which count across the borders of steps."""
    parts = [
        f"Nobody told Magda{n % 7} why {n} ships of Oslo were lost. No one knew."
        for n in range(300)
    ]
    texts = ["Marie Curie moved to Paris.", " ".join(parts), "", "Ole left Larvik."]
    expected = list(finder.score_texts(texts))
    scored, steps = run_steps(finder, texts)
    assert steps > 3
    for found, right in zip(scored, expected, strict=True):
        assert found.sentences == right.sentences
        spans = found.spans(0), right.spans(0)
        assert [(s.start, s.end, s.kind) for s in spans[0]] == [
            (s.start, s.end, s.kind) for s in spans[1]
        ]
        assert [s.score for s in spans[0]] == pytest.approx([s.score for s in spans[1]], abs=1e-5)


def test_rules_apply_to_a_text_in_steps(finder):
    text = "Magda used Yahoo! Answers in Oslo. " * 400
    ruled = finder.with_rules(always=["Yahoo! Answers"], never=["Oslo"])
    [scored], steps = run_steps(ruled, [text])
    assert steps > 3
    spans = scored.spans(0)
    assert sum(span.text == "Yahoo! Answers" for span in spans) == 400
    assert all(span.text != "Oslo" for span in spans)


def test_a_large_request_returns_the_entities_of_the_finder(client, finder):
    text = "Magda left Oslo for Larvik. " * 600
    response = client.post("/find", json={"text": text}).json()
    found = [(each["start"], each["end"]) for each in response["results"][0]["spans"]]
    assert found == [(each.start, each.end) for each in finder.find(text)]
    assert json.dumps(response)
