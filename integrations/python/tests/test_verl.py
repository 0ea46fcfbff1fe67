"""The reward function as verl calls it."""

import asyncio
import unittest

from gradus_reward.verl import compute_score, compute_score_async, compute_scores

from .fake_service import GOOD, FakeService


class VerlTest(unittest.TestCase):
    def setUp(self):
        self.service = FakeService()
        self.addCleanup(self.service.close)

    def test_a_sample_with_the_parts_that_are_columns(self):
        sample = compute_score(
            data_source="gsm8k",
            solution_str="4",
            ground_truth={"a": 1},
            extra_info={"question": "2 + 2?", "num_turns": None},
            reward_router_address="unused",
            url=self.service.url,
            criteria=["right", "elsewhere"],
        )
        expected = {"score": 0.7, "rubric_score": 0.7, "null_share": 0.25, "criteria/right": 0.5, "criteria/elsewhere": 0.0}
        self.assertEqual(sample, expected)
        item = {"response": "4", "metadata": {"data_source": "gsm8k"}, "prompt": "2 + 2?", "reference": '{"a": 1}'}
        self.assertEqual(self.service.bodies, [{"items": [item]}])

    def test_what_a_sample_without_a_reward_gets(self):
        without = {**GOOD, "reward": None, "score": None}
        self.service.script = [lambda handler, _body: handler.answer(200, {"results": [without]})]
        self.assertEqual(compute_score("a", "b", "c", url=self.service.url, null_score=-1)["score"], -1.0)

    def test_a_coroutine_function_and_lists(self):
        one = asyncio.run(compute_score_async("a", "b", 1, None, url=self.service.url))
        self.assertEqual(one["score"], 0.7)
        many = compute_scores(["a", "b"], ["x", "y"], [None, 2], [{}, {}], url=self.service.url, rubric="r")
        self.assertEqual([each["score"] for each in many], [0.7, 0.7])
        self.assertEqual(self.service.bodies[-1]["rubric"], "r")
        self.assertNotIn("reference", self.service.bodies[-1]["items"][0])
