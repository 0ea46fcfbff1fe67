"""A server of the OpenEnv protocol from its own Python package, with a game that a model of 122 words can learn.

The game: an episode is a trip of packing ("beach weekend anna:"). The environment wants one thing in the list that follows, the
same for every trip to the same topic, and tells nobody. A list of at most six things with it earns 1; a longer one earns less;
one without it earns 0, and is answered with the word to add, for half of the reward in the next turn.

Set up, in a folder of its own:
    python3 -m venv venv
    venv/bin/pip install openenv-core==0.3.0
Run, then train against it:
    venv/bin/python scripts/peers/openenv_echo.py --port 8000
    npx gradus train environment --preset packing --set task.url=http://127.0.0.1:8000
"""

import argparse
import random
from typing import Any, Optional

import uvicorn
from openenv.core.env_server import create_app
from openenv.core.env_server.interfaces import Environment
from openenv.core.env_server.types import Action, ConcurrencyConfig, Observation, State

TOPICS = "beach mountain desert forest lake island river cave city farm castle glacier".split()
OCCASIONS = "weekend night winter summer reunion race picnic survey".split()
COMPANIONS = "anna ben cleo dan eva finn gina hugo iris jack kara leo".split()
WANTED = dict(
    zip(TOPICS, "towel rope hat tent water map boots torch camera apples candle gloves".split(), strict=True)
)
ENOUGH = 6


class List(Action):
    message: str


class Said(Observation):
    say: str


class Packing(Environment):
    SUPPORTS_CONCURRENT_SESSIONS = True

    def __init__(self) -> None:
        super().__init__()
        self._state = State()
        self._topic = TOPICS[0]
        self._turns = 0

    def reset(self, seed: Optional[int] = None, episode_id: Optional[str] = None, **kwargs: Any) -> Said:
        rng = random.Random(seed)
        self._topic = rng.choice(TOPICS)
        self._turns = 0
        self._state = State(episode_id=episode_id, step_count=0)
        return Said(say=f" {self._topic} {rng.choice(OCCASIONS)} {rng.choice(COMPANIONS)}:")

    def step(self, action: List, timeout_s: Optional[float] = None, **kwargs: Any) -> Said:
        self._turns += 1
        self._state.step_count = self._turns
        things = action.message.split()
        wanted = WANTED[self._topic]
        if wanted not in things:
            return Said(say=f" include {wanted}:", reward=0.0, done=False)
        length = 1.0 if len(things) <= ENOUGH else ENOUGH / len(things)
        return Said(say=" once:", reward=length / self._turns, done=True)

    @property
    def state(self) -> State:
        return self._state


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--port", type=int, default=8000)
    parser.add_argument("--sessions", type=int, default=128)
    options = parser.parse_args()
    app = create_app(
        Packing,
        List,
        Said,
        env_name="packing",
        concurrency_config=ConcurrencyConfig(max_concurrent_envs=options.sessions),
    )
    uvicorn.run(app, host="127.0.0.1", port=options.port, log_level="warning")


if __name__ == "__main__":
    main()
