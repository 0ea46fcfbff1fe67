"""A judge for verifiers (0.4.0), and so for prime-rl: the reward of a Gradus reward service, each criterion a metric.

    [[taskset.task.judges]]
    id = "gradus-judge"
    url = "http://127.0.0.1:8700/v1/grade"

verifiers imports a judge by its id with `_` for `-`, so it is a module of its own.
"""

import asyncio

from verifiers.v1.configs.judge import JudgeConfig
from verifiers.v1.judge import Judge, JudgeView, judge_question, judge_response

from gradus_reward.client import DEFAULT_URL, GradusClient, missing, null_share, reference_text

_clients = {}


class GradusJudgeConfig(JudgeConfig):
    id: str = "gradus-judge"
    url: str = DEFAULT_URL
    """Of a route of kind `grade`."""
    rubric: str | None = None
    """A rubric of the service by name; else its route chooses."""
    question_field: str = ""
    """Field of the task that is the prompt; empty = the task's own prompt."""
    answer_field: str = ""
    """Field of the task with the reference answer; empty = none."""
    view: JudgeView = "last_reply"
    """What is graded: the last reply or the whole transcript."""


class GradusJudge(Judge[None, GradusJudgeConfig]):
    """A response without a reward is an error of its rollout, as verifiers has it for its own judges."""

    async def score(self, task, trace):
        config = self.config
        item = {"prompt": judge_question(task, config.question_field), "response": judge_response(trace, config.view)}
        answer = getattr(task, config.answer_field, None) if config.answer_field else None
        if not missing(answer):
            item["reference"] = reference_text(answer)
        client = _clients.setdefault(config.url, GradusClient(config.url))
        [result] = await asyncio.to_thread(client.grade, [item], config.rubric)
        trace.record_metric(f"{self.reward_name}/null_share", null_share(result))
        for name, credit in result["parts"].items():
            trace.record_metric(f"{self.reward_name}/{name}", credit)
        if result["reward"] is None:
            raise ValueError(f"the reward service gave no reward: {result.get('reason', 'no reason')}")
        return result["reward"]


__all__ = ["GradusJudge", "GradusJudgeConfig"]
