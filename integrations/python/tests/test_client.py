"""The client against a service that does not always answer."""

import os
import pickle
import socket
import unittest
from unittest import mock

from gradus_reward import GradusClient, ServiceUnavailable
from gradus_reward.client import reference_text

from .fake_service import GOOD, FakeService, cut, status

ITEM = {"response": "4"}


class ReferenceTest(unittest.TestCase):
    def test_several_right_answers_are_a_list_of_texts(self):
        # {"target": [...]} as verl's preprocess_search_r1_dataset.py writes it.
        for given, text in (
            ("4", "4"),
            (4, "4"),
            (["Paris"], "Paris"),
            (["Paris", "City of Light"], '["Paris", "City of Light"]'),
            ({"target": ["Paris", "City of Light"]}, '["Paris", "City of Light"]'),
            ({"golden_answers": ["Paris"]}, "Paris"),
            ([4, 5], '["4", "5"]'),
            ({"a": 1}, '{"a": 1}'),
        ):
            self.assertEqual(reference_text(given), text)


class ClientTest(unittest.TestCase):
    def setUp(self):
        self.service = FakeService()
        self.addCleanup(self.service.close)
        self.client = GradusClient(self.service.url, timeout_s=2, attempts=3)

    def test_results_in_order_by_batches(self):
        def echo(handler, body):
            results = [{**GOOD, "id": item["response"]} for item in body["items"]]
            handler.answer(200, {"results": results})

        self.service.script = [echo, echo, echo]
        results = self.client.grade([{"response": str(i)} for i in range(5)], "short-answer", batch=2)
        self.assertEqual([result["id"] for result in results], ["0", "1", "2", "3", "4"])
        self.assertEqual([len(body["items"]) for body in self.service.bodies], [2, 2, 1])
        self.assertEqual({body["rubric"] for body in self.service.bodies}, {"short-answer"})

    def test_says_at_once_that_nobody_is_there(self):
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            port = free.getsockname()[1]
        client = GradusClient(f"http://any:secret@127.0.0.1:{port}/v1/grade", attempts=100)
        with mock.patch("time.sleep") as sleep, self.assertRaises(ServiceUnavailable) as caught:
            client.grade([ITEM])
        sleep.assert_not_called()
        self.assertIn(f"no Gradus reward service at http://127.0.0.1:{port}", str(caught.exception))
        self.assertIn("gradus serve reward", str(caught.exception))
        self.assertNotIn("secret", str(caught.exception))

    def test_waits_for_a_service_that_is_not_ready_yet(self):
        self.service.unready, self.service.problem = 3, "no answer yet"
        with mock.patch("time.sleep") as sleep:
            self.assertEqual(self.client.grade([ITEM]), [GOOD])
        self.assertEqual(self.service.checks, 4)
        self.assertEqual(sleep.call_count, 3)

    def test_says_what_was_not_ready_within_the_limit_of_the_caller(self):
        self.service.ready = 503
        for ready_s, looks in ((0, 1), (0.7, 3)):
            with self.subTest(ready_s=ready_s):
                self.service.checks = 0
                client = GradusClient(self.service.url, ready_s=ready_s)
                with self.assertRaisesRegex(ServiceUnavailable, f"not ready within {ready_s} s: HTTP 503.*no such host"):
                    client.grade([ITEM])
                self.assertLessEqual(self.service.checks, looks)
                self.assertEqual(pickle.loads(pickle.dumps(client)).ready_s, ready_s)
        self.assertEqual(self.service.bodies, [])

    def test_asks_readyz_of_a_service_behind_a_path(self):
        for prefix, route in (("/rewards", "/v1/grade"), ("", "/team/v1/grade"), ("", "/short"), ("/a/b", "/short")):
            with self.subTest(prefix=prefix, route=route):
                self.service.prefix, self.service.checks = prefix, 0
                client = GradusClient(self.service.url.replace("/v1/grade", prefix + route))
                self.assertEqual(client.grade([ITEM]), [GOOD])
                self.assertEqual(self.service.checks, 1)

    def test_says_that_no_path_has_readyz(self):
        self.service.prefix = "/elsewhere"
        with self.assertRaisesRegex(ServiceUnavailable, "cannot grade now: HTTP 404"):
            self.client.grade([ITEM])

    def test_checks_once(self):
        self.client.grade([ITEM])
        self.client.grade([ITEM])
        self.assertEqual(self.service.checks, 1)

    def test_asks_again_after_a_cut_connection_and_after_refusals_that_pass(self):
        self.service.script = [cut, status(429, [("retry-after", "1")])]
        with mock.patch("time.sleep") as sleep:
            self.assertEqual(self.client.grade([ITEM]), [GOOD])
        self.assertEqual(len(self.service.bodies), 3)
        self.assertGreaterEqual(sleep.call_args[0][0], 1)

    def test_gives_up_after_all_attempts(self):
        self.service.script = [status(503)] * 3
        with mock.patch("time.sleep"), self.assertRaisesRegex(ServiceUnavailable, "no reward after 3 attempts.*HTTP 503"):
            self.client.grade([ITEM])

    def test_does_not_repeat_what_is_refused(self):
        self.service.script = [status(400)]
        with self.assertRaisesRegex(ServiceUnavailable, "the reward service refused: HTTP 400"):
            self.client.grade([ITEM])
        self.assertEqual(len(self.service.bodies), 1)

    def test_waits_no_longer_than_minutes_whatever_the_service_wants(self):
        self.service.script = [status(429, [("retry-after", "99999999")]), status(429, [("retry-after", "\u00b2")])]
        with mock.patch("time.sleep") as sleep:
            self.assertEqual(self.client.grade([ITEM]), [GOOD])
        self.assertLessEqual(max(call[0][0] for call in sleep.call_args_list), 301)

    def test_does_not_hand_on_what_are_no_rewards_of_these_items(self):
        for results, problem in (
            ([GOOD], "expected 2 results .*, got 1 of them"),
            ([GOOD] * 3, "expected 2 results .*, got 3 of them"),
            (None, "expected 2 results"),
            ([GOOD, {**GOOD, "reward": float("nan")}], "expected a finite number or null as reward, got 'nan'"),
            ([GOOD, {**GOOD, "reward": "1"}], "expected a finite number"),
            ([GOOD, {}], "expected a finite number .* got 'nothing'"),
            ([GOOD, "text"], "expected a finite number"),
        ):
            self.service.script = [lambda handler, _body, results=results: handler.answer(200, {"results": results})]
            with self.subTest(problem), self.assertRaisesRegex(ServiceUnavailable, problem):
                self.client.grade([ITEM, ITEM])

    def test_says_what_came_in_place_of_json(self):
        def page(handler, _body):
            handler.send_response(200)
            handler.send_header("content-length", "6")
            handler.end_headers()
            handler.wfile.write(b"<html>")

        self.service.script = [page]
        with self.assertRaisesRegex(ServiceUnavailable, "expected JSON of the reward service, got '<html>'"):
            self.client.grade([ITEM])

    def test_takes_the_token_from_the_environment_and_keeps_it_out_of_a_pickle(self):
        with mock.patch.dict(os.environ, {"GRADUS_TOKEN": "tok"}):
            client = GradusClient(self.service.url)
        client.grade([ITEM])
        self.assertEqual(self.service.authorizations, ["Basic Z3JhZHVzOnRvaw=="])
        self.assertNotIn(b"Z3JhZHVzOnRvaw", pickle.dumps(client))

    def test_refuses_an_address_that_is_none(self):
        with self.assertRaisesRegex(ValueError, "expected something like http://"):
            GradusClient("localhost:8700")
        with self.assertRaises(ValueError) as caught:
            GradusClient("htp://any:secret@localhost:8700")
        self.assertNotIn("secret", str(caught.exception))
