"""An environment of SkyRL-gym (0.4.0) whose reward a Gradus reward service gives, and its registration.

    from gradus_reward.skyrl import register
    register("gradus")        # in the entry point of a training, in the process that makes environments

A row's `env_class` is then `gradus`; its `reward_spec.ground_truth`, if there is one, is the reference answer.
"""

from skyrl_gym.envs.base_text_env import BaseTextEnv, BaseTextEnvStepOutput

from .client import DEFAULT_URL, GradusClient, missing, null_share, reference_text

_clients = {}


def _setting(config, name, default):
    """A setting of a dict, of OmegaConf or of a dataclass."""
    value = config.get(name) if hasattr(config, "get") else getattr(config, name, None)
    return default if value is None else value


class GradusEnv(BaseTextEnv):
    """One turn: the response is graded, and the episode is over.

    env_config: url, rubric (a name of the service, or a rubric), null_reward (0.0: what a response without a reward gets). extras: the
    row: `reward_spec`, and `extra_info`, which the service sees as metadata. Raises ServiceUnavailable.
    """

    def __init__(self, env_config=None, extras=None):
        super().__init__()
        config, row = env_config if env_config is not None else {}, extras or {}
        url = _setting(config, "url", DEFAULT_URL)
        self.client = _clients.setdefault(url, GradusClient(url))
        self.rubric = _setting(config, "rubric", None)
        self.null_reward = float(_setting(config, "null_reward", 0.0))
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
            item["metadata"] = dict(self.metadata)
        [result] = self.client.grade([item], self.rubric)
        reward = self.null_reward if result["reward"] is None else result["reward"]
        credits = {f"criteria/{name}": credit for name, credit in result["parts"].items()}
        self.metrics = {**credits, "null_share": null_share(result)}
        return BaseTextEnvStepOutput(observations=[], reward=reward, done=True, metadata={"parts": result["parts"]})

    def get_metrics(self):
        return self.metrics


def register(name="gradus"):
    """Makes the environment known to SkyRL-gym under a name."""
    import skyrl_gym.envs

    skyrl_gym.envs.register(id=name, entry_point="gradus_reward.skyrl:GradusEnv")
