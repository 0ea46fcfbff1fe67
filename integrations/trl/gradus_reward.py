"""Rewards of a Gradus reward service as a reward function of TRL's trainers (GRPO, RLOO, ...).

    from gradus_reward import gradus_reward
    trainer = GRPOTrainer(..., reward_funcs=[gradus_reward(rubric="short-answer", reference_column="answer")])

Only the standard library is needed. `async_gradus_reward` is the same as a coroutine function: TRL runs those side by side.
Signature as TRL calls it at f2cd57710: f(prompts=, completions=, completion_ids=, trainer_state=, log_extra=, log_metric=,
environments=, **columns of the data set) -> list[float | None]. None where there is no reward; TRL leaves it out.
"""

import asyncio

# --- client: the same in integrations/trl and integrations/verl, so that each file can be copied alone ---
import base64
import http.client
import json
import os
import random
import threading
import time
import urllib.parse

_AGAIN = {408, 425, 429, 500, 502, 503, 504}


def _plain(value):
    """What json does not know: arrays and scalars of numpy and torch, else the text of it."""
    return value.tolist() if hasattr(value, "tolist") else str(value)


def _missing(value):
    """None, and the NaN that tables write for nothing."""
    return value is None or (isinstance(value, float) and value != value)


class GradusClient:
    """Posts JSON to a Gradus service: a kept connection a thread, time limits, repeats that honour retry-after."""

    def __init__(self, url, token_env="GRADUS_TOKEN", timeout_s=150.0, attempts=8):
        self.settings = (url, token_env, timeout_s, attempts)
        self.url = urllib.parse.urlsplit(url)
        if self.url.scheme not in ("http", "https") or not self.url.hostname:
            raise ValueError(f"url: expected something like http://127.0.0.1:8700/v1/grade, got {url}")
        self.timeout_s, self.attempts = timeout_s, attempts
        self.headers = {"content-type": "application/json"}
        token = os.environ.get(token_env or "") or self.url.password
        if token:
            pair = base64.b64encode(f"gradus:{urllib.parse.unquote(token)}".encode()).decode()
            self.headers["authorization"] = f"Basic {pair}"
        self._local = threading.local()

    def __reduce__(self):  # a copy in another process has connections of its own
        return (GradusClient, self.settings)

    def _connection(self):
        """The thread's connection, never one from before a fork; and whether it was used before."""
        kept = getattr(self._local, "kept", None)
        if kept and kept[0] == os.getpid():
            return kept[1], True
        kind = http.client.HTTPSConnection if self.url.scheme == "https" else http.client.HTTPConnection
        connection = kind(self.url.hostname, self.url.port, timeout=self.timeout_s)
        self._local.kept = (os.getpid(), connection)
        return connection, False

    def _exchange(self, body):
        connection, _ = self._connection()
        try:
            connection.request("POST", self.url.path or "/v1/grade", body, self.headers)
            response = connection.getresponse()
            return response.status, response.getheader("retry-after"), response.read()
        except BaseException:
            connection.close()  # opens again at the next request
            raise

    def post(self, payload):
        """The answer's JSON. Raises RuntimeError when the service refuses, or does not answer after all attempts."""
        body = json.dumps(payload, default=_plain).encode()
        problem = ""
        for attempt in range(self.attempts):
            used = self._connection()[1]
            wait_s = random.uniform(0, min(30.0, 0.25 * 2**attempt))
            try:
                status, retry_after, data = self._exchange(body)
            except (OSError, http.client.HTTPException) as error:
                problem = f"{type(error).__name__}: {error}"
                if attempt == 0 and used and not isinstance(error, TimeoutError):
                    wait_s = 0.0  # an idle connection was cut; a fresh one will do
            else:
                if status == 200:
                    return json.loads(data)
                problem = f"HTTP {status}: {data[:500].decode(errors='replace')}"
                if status not in _AGAIN:
                    raise RuntimeError(f"the reward service refused: {problem}")
                if retry_after and retry_after.isdigit():
                    wait_s = int(retry_after) + random.uniform(0, 1)
            if attempt + 1 < self.attempts:
                time.sleep(wait_s)
        raise RuntimeError(f"no reward after {self.attempts} attempts; the last one: {problem}")


# --- end of client ---

_ROLES = {"system": "system", "developer": "system", "user": "user", "assistant": "assistant"}


def _text(content):
    """Text of a message's content, which may be a list of blocks."""
    if isinstance(content, list):
        return "".join(block.get("text") or "" for block in content if isinstance(block, dict))
    return content or ""


def _prompt(prompt):
    if isinstance(prompt, str):
        return prompt
    known = [message for message in prompt if message.get("role") in _ROLES]
    messages = [{"role": _ROLES[m["role"]], "content": _text(m.get("content"))} for m in known]
    return messages or ""


def _response(completion):
    """A text, or what the assistant said in a conversation."""
    if isinstance(completion, str):
        return completion
    said = [_text(m.get("content")) for m in completion if m.get("role") == "assistant"]
    return "\n\n".join(text for text in said if text)


class _Rewards:
    """Makes requests of a batch, and rewards of the answers."""

    def __init__(self, url, rubric, rubric_column, reference_column, metadata_columns, batch, client_options):
        self.client = GradusClient(url, **client_options)
        self.rubric, self.rubric_column = rubric, rubric_column
        self.reference_column, self.metadata_columns, self.batch = reference_column, metadata_columns, batch

    def _item(self, prompt, completion, row):
        item = {"prompt": _prompt(prompt), "response": _response(completion)}
        reference = row.get(self.reference_column)
        more = {
            "rubric": row.get(self.rubric_column),
            "reference": None if _missing(reference) else str(_plain(reference)),
            "metadata": {name: row[name] for name in self.metadata_columns if not _missing(row.get(name))} or None,
        }
        return {**item, **{key: value for key, value in more.items() if not _missing(value)}}

    def requests(self, prompts, completions, columns):
        wanted = {self.rubric_column, self.reference_column, *self.metadata_columns}
        kept = {name: values for name, values in columns.items() if name in wanted and values is not None}
        rows = [{name: values[i] for name, values in kept.items()} for i in range(len(completions))]
        items = [self._item(*each) for each in zip(prompts, completions, rows)]
        shared = {} if self.rubric is None else {"rubric": self.rubric}
        return [{**shared, "items": items[i : i + self.batch]} for i in range(0, len(items), self.batch)]

    @staticmethod
    def rewards(answers, log_metric):
        results = [result for answer in answers for result in answer["results"]]
        if log_metric and results:
            nulls = sum(sum(result["nulls"].values()) for result in results)
            criteria = sum(sum(result["counts"].values()) for result in results)
            log_metric("gradus/null_share", nulls / max(1, criteria))
        return [result["reward"] for result in results]


def _make(url, rubric, rubric_column, reference_column, metadata_columns, batch, client_options):
    return _Rewards(url, rubric, rubric_column, reference_column, tuple(metadata_columns), batch, client_options)


def gradus_reward(
    url="http://127.0.0.1:8700/v1/grade",
    rubric=None,
    rubric_column="rubric",
    reference_column="answer",
    metadata_columns=(),
    batch=256,
    name="gradus_reward",
    **client_options,
):
    """A reward function. `rubric` names one of the service, or is one; a column of that name goes before it.

    reference_column: column with the reference answer. metadata_columns: columns that the service may choose a rubric by.
    client_options: token_env, timeout_s, attempts of GradusClient.
    """
    make = _make(url, rubric, rubric_column, reference_column, metadata_columns, batch, client_options)

    def reward(prompts, completions, completion_ids=None, trainer_state=None, log_extra=None, log_metric=None, **columns):
        requests = make.requests(prompts, completions, columns)
        return make.rewards([make.client.post(request) for request in requests], log_metric)

    reward.__name__ = name
    return reward


def async_gradus_reward(
    url="http://127.0.0.1:8700/v1/grade",
    rubric=None,
    rubric_column="rubric",
    reference_column="answer",
    metadata_columns=(),
    batch=64,
    name="gradus_reward",
    **client_options,
):
    """`gradus_reward` as a coroutine function; its requests go out together."""
    make = _make(url, rubric, rubric_column, reference_column, metadata_columns, batch, client_options)

    async def reward(
        prompts, completions, completion_ids=None, trainer_state=None, log_extra=None, log_metric=None, **columns
    ):
        requests = make.requests(prompts, completions, columns)
        posts = [asyncio.to_thread(make.client.post, request) for request in requests]
        return make.rewards(await asyncio.gather(*posts), log_metric)

    reward.__name__ = name
    return reward
