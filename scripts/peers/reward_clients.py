"""Has the reward paths of verl, verifiers and SkyRL-gym themselves ask a Gradus reward service, on the CPU.

Setup: a folder for each, with Python 3.12; what is not needed for rewards may be left out.

    python3 -m venv verl && verl/bin/pip install verl==0.9.1 torch
    python3 -m venv verifiers && verifiers/bin/pip install verifiers==0.4.0
    python3 -m venv skyrl && skyrl/bin/pip install skyrl-gym==0.4.0
    for each: .../bin/pip install --no-deps ./integrations/python

Run, with a service that has the rubric of `gradus init reward my-rewards`:

    gradus serve reward --config my-rewards/reward.yaml
    verl/bin/python scripts/peers/reward_clients.py verl --url http://127.0.0.1:8700/v1/grade
    verifiers/bin/python scripts/peers/reward_clients.py verifiers --url http://127.0.0.1:8700/v1/grade
    skyrl/bin/python scripts/peers/reward_clients.py skyrl --url http://127.0.0.1:8700/v1/grade

verl: its configuration names the function, its reward managers `naive` and `gdpo` load and call it with batches of tokens.
verifiers: a task with the plugged judge scores a trace. SkyRL-gym: the registered environment takes a step.
Prints a JSON line of rewards; exits with 1 when they are not 1 for the good response and less for the bad one.
"""

import argparse
import asyncio
import json
import sys

QUESTION = "How many minutes?"
GOOD = "It takes 20 minutes and then 65, so the answer is 85."
BAD = "Any idiot can see that. The answer is 125."


def verl(options):
    """The reward managers of verl, opened from its configuration, on batches of tokens."""
    import numpy as np
    import torch
    from omegaconf import OmegaConf
    from tensordict import TensorDict
    from verl import DataProto
    from verl.experimental.reward_loop.reward_manager import get_reward_manager_cls
    from verl.trainer.ppo.reward import get_custom_reward_fn

    class Words:
        """A tokenizer of exactly these responses: models of this project have no words for them."""

        def decode(self, ids, **_):
            return [GOOD, BAD][int(ids[0])]

    function = {"path": "pkg://gradus_reward.verl", "name": "compute_score_async"}
    kwargs = {"url": options.url, "criteria": ["right", "rude"]}
    config = OmegaConf.create(
        {"reward": {"custom_reward_function": {**function, "reward_kwargs": kwargs}}, "trainer": {"experiment_name": "x"}}
    )
    rewards = {}
    for name in ("naive", "gdpo"):
        manager = get_reward_manager_cls(name)(config, Words(), get_custom_reward_fn(config))

        def sample(i):
            tensors = {"prompts": torch.zeros(1, 2), "responses": torch.tensor([[i, 0]]), "attention_mask": torch.ones(1, 4, dtype=torch.long)}
            columns = {
                "data_source": "gsm8k",
                "reward_model": {"ground_truth": "85"},
                "extra_info": {"question": QUESTION},
            }
            arrays = {key: np.array([value], dtype=object) for key, value in columns.items()}
            return DataProto(batch=TensorDict(tensors, batch_size=1), non_tensor_batch=arrays)

        run = manager.loop.run_until_complete
        rewards[name] = [run(manager.run_single(sample(i))) for i in range(2)]
    scores = [each["reward_score"] for each in rewards["gdpo"]]
    return scores, rewards


def verifiers(options):
    """A task of verifiers whose configuration plugs the judge; it scores a trace of each response."""
    import verifiers.v1 as vf
    from verifiers.v1.configs.task import TaskConfig

    class Data(vf.TaskData):
        answer: str

    class Question(vf.Task[Data, vf.State, TaskConfig]):
        pass

    judge = {"id": "gradus-judge", "url": options.url, "answer_field": "answer"}
    config = TaskConfig.model_validate({"judges": [judge]})
    task = Question(Data(prompt=QUESTION, answer="85"), config)

    def scored(response):
        # Without the agent that produced it, which scoring does not look at.
        described = vf.TraceTask(type=type(task).__name__, data=task.data)
        trace = vf.Trace.model_construct(task=described, root_reply=response)
        asyncio.run(task.score(trace))
        return trace

    traces = [scored(response) for response in (GOOD, BAD)]
    return [trace.reward for trace in traces], [dict(trace.metrics) for trace in traces]


def skyrl(options):
    """The registered environment, made and stepped as SkyRL's generator does."""
    import skyrl_gym
    from gradus_reward.skyrl import register
    from skyrl_gym.metrics import aggregate_for_environment

    register("gradus", url=options.url)
    prompt = [{"role": "user", "content": QUESTION}]
    outputs, metrics = [], []
    for response in (GOOD, BAD):
        extras = {"reward_spec": {"ground_truth": "85"}, "max_turns": 1}
        env = skyrl_gym.make("gradus", env_config={}, extras=extras)
        env.init(prompt)
        outputs.append(env.step(response))
        metrics.append(env.get_metrics())
        env.close()
    return [output["reward"] for output in outputs], aggregate_for_environment("gradus", metrics)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("package", choices=["verl", "verifiers", "skyrl"])
    parser.add_argument("--url", default="http://127.0.0.1:8700/v1/grade")
    options = parser.parse_args()
    scores, detail = globals()[options.package](options)
    print(json.dumps({"package": options.package, "rewards": scores, "detail": detail}))
    if not (scores[0] == 1 and scores[1] < 0):
        sys.exit(1)


if __name__ == "__main__":
    main()
