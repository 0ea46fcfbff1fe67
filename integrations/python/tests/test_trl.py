"""The reward function as TRL calls it."""

import asyncio
import inspect
import unittest

from gradus_reward import ServiceUnavailable
from gradus_reward.trl import async_gradus_reward, gradus_reward

from .fake_service import GOOD, FakeService


class TrlTest(unittest.TestCase):
    def setUp(self):
        self.service = FakeService()
        self.addCleanup(self.service.close)
        self.metrics, self.columns = [], {}
        self.call = {
            "completion_ids": [[1], [2]],
            "trainer_state": object(),
            "environments": None,
            "log_metric": lambda name, value: self.metrics.append((name, value)),
            "log_extra": lambda column, values: self.columns.setdefault(column, values),
        }

    def test_logs_each_criterion_and_each_response_s_credits(self):
        without = {**GOOD, "reward": None, "parts": {"right": 0.0}}
        self.service.script = [lambda handler, _body: handler.answer(200, {"results": [GOOD, without]})]
        reward = gradus_reward(self.service.url)
        self.assertEqual(reward(prompts=["p", "p"], completions=["a", "b"], **self.call), [0.7, None])
        self.assertEqual(dict(self.metrics), {"gradus/null_share": 0.25, "gradus/right": 0.5, "gradus/rude": 0.0})
        self.assertEqual(self.columns, {"gradus/right": [1.0, 0.0], "gradus/rude": [0.0, None]})

    def test_coroutine_function_sends_its_requests_together(self):
        reward = async_gradus_reward(self.service.url, batch=1, name="mine")
        self.assertTrue(inspect.iscoroutinefunction(reward))
        self.assertEqual(reward.__name__, "mine")
        self.assertEqual(asyncio.run(reward(prompts=["p", "p"], completions=["a", "b"], **self.call)), [0.7, 0.7])
        self.assertEqual(len(self.service.bodies), 2)

    def test_conversations_references_rubrics_and_metadata_of_the_row(self):
        reward = gradus_reward(self.service.url, rubric="all", metadata_columns=["topic"])
        reward(
            prompts=[[{"role": "developer", "content": "be brief"}, {"role": "tool", "content": "x"}]] * 2,
            completions=[[{"role": "assistant", "content": [{"type": "text", "text": "4"}]}]] * 2,
            answer=[["4", "four"], float("nan")],
            rubric=["mine", None],
            topic=["maths", None],
            unknown=[1, 2],
        )
        prompt = [{"role": "system", "content": "be brief"}]
        first = {"prompt": prompt, "response": "4", "rubric": "mine", "reference": '["4", "four"]', "metadata": {"topic": "maths"}}
        self.assertEqual(self.service.bodies, [{"rubric": "all", "items": [first, {"prompt": prompt, "response": "4"}]}])

    def test_says_when_it_is_made_that_the_service_is_away(self):
        url = self.service.url
        self.service.close()
        with self.assertRaises(ServiceUnavailable):
            gradus_reward(url)
        gradus_reward(url, check=False)
        self.service = FakeService()  # for the cleanup
