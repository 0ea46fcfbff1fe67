"""An environment of SkyRL-gym (0.4.0) whose reward a Gradus reward service gives, and its registration.

    from gradus_reward.skyrl import register
    register("gradus", url="http://127.0.0.1:8700/v1/grade")      # in the process that makes environments

A row's `env_class` is then `gradus`; its `reward_spec.ground_truth`, if there is one, is the reference answer.
"""

from skyrl_gym.envs.base_text_env import BaseTextEnv, BaseTextEnvStepOutput

from .client import DEFAULT_URL, GradusClient, missing, null_share, reference_text

_clients = {}


class GradusEnv(BaseTextEnv):
    """One turn: the response is graded, and the episode is over.

    url: of a route of kind `grade`. rubric: a name of the service, or a rubric; its route chooses when None. null_reward: what a response
    without a reward gets. extras: the row: `reward_spec`, and `extra_info`, which the service sees as metadata. env_config: SkyRL's
    section of that name, which has none for environments of others. Raises ServiceUnavailable.
    """

    def __init__(self, url=DEFAULT_URL, rubric=None, null_reward=0.0, env_config=None, extras=None):
        super().__init__()
        row = extras or {}
        self.client = _clients.setdefault(url, GradusClient(url))
        self.rubric, self.null_reward = rubric, float(null_reward)
        self.reference = (row.get("reward_spec") or {}).get("ground_truth")
        self.metadata = row.get("extra_info") or {}
        self.prompt, self.metrics = [], {}

    def init(self, prompt):
        self.prompt = prompt
        return prompt, {}

    def step(self, action):
        item = {"prompt": self.prompt, "response": action}
        if not missing(self.reference):
            item["reference"] = reference_text(self.reference)
        if self.metadata:
            item["metadata"] = {name: value for name, value in dict(self.metadata).items() if not missing(value)}
        [result] = self.client.grade([item], self.rubric)
        reward = self.null_reward if result["reward"] is None else result["reward"]
        credits = {f"criteria/{name}": credit for name, credit in result["parts"].items()}
        self.metrics = {**credits, "null_share": null_share(result)}
        return BaseTextEnvStepOutput(observations=[], reward=reward, done=True, metadata={"parts": result["parts"]})

    def get_metrics(self):
        return self.metrics


def register(name="gradus", **settings):
    """Makes the environment known to SkyRL-gym under a name. settings: url, rubric, null_reward of GradusEnv."""
    import skyrl_gym.envs.registration

    skyrl_gym.envs.registration.register(id=name, entry_point="gradus_reward.skyrl:GradusEnv", kwargs=settings)
