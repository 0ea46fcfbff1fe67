"""Rewards of a Gradus reward service as verl's custom reward function.

    reward.custom_reward_function.path=gradus_reward.py
    reward.custom_reward_function.name=compute_score          # or compute_score_async
    +reward.custom_reward_function.reward_kwargs.url=http://127.0.0.1:8700/v1/grade

Only the standard library is needed. Signatures as verl calls them at 1dda039b9: compute_score(data_source=, solution_str=,
ground_truth=, extra_info=, **reward_kwargs) -> {"score": float, ...}; the reward manager `batch` calls compute_scores with lists.
The service sees data_source as metadata.data_source, so that a route may choose its rubric by it.
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

_clients = {}


def _client(url, token_env, timeout_s, attempts):
    settings = (url, token_env, timeout_s, attempts)
    if settings not in _clients:
        _clients[settings] = GradusClient(*settings)
    return _clients[settings]


def _reference(ground_truth):
    """The reference answer as text; what is neither text nor number is sent as JSON."""
    value = ground_truth.tolist() if hasattr(ground_truth, "tolist") else ground_truth
    if isinstance(value, (list, dict)):
        return json.dumps(value, default=_plain)
    return str(value)


def _item(data_source, solution_str, ground_truth, extra_info, prompt_key, rubric):
    extra = extra_info if isinstance(extra_info, dict) else {}
    prompt = extra.get(prompt_key)
    item = {"response": solution_str, "metadata": {"data_source": str(data_source)}}
    if not _missing(prompt):
        item["prompt"] = prompt if isinstance(prompt, str) else list(prompt)
    if not _missing(ground_truth):
        item["reference"] = _reference(ground_truth)
    if rubric is not None:
        item["rubric"] = rubric
    return item


def _score(result, null_score):
    """The same keys for every sample: verl gathers them into columns."""
    reward, score = result["reward"], result["score"]
    criteria = sum(result["counts"].values())
    return {
        "score": float(null_score if reward is None else reward),
        "rubric_score": float(null_score if score is None else score),
        "null_share": sum(result["nulls"].values()) / max(1, criteria),
    }


def compute_scores(
    data_sources,
    solution_strs,
    ground_truths,
    extra_infos=None,
    url="http://127.0.0.1:8700/v1/grade",
    rubric=None,
    prompt_key="question",
    null_score=0.0,
    batch=256,
    token_env="GRADUS_TOKEN",
    timeout_s=150.0,
    attempts=8,
    **_others,
):
    """Scores of many samples, in their order; for verl's reward manager `batch`.

    rubric: a name of the service, or a rubric; its route chooses when None. prompt_key: where extra_info has the question, as text
    or messages. null_score: what a sample without a reward gets.
    """
    client = _client(url, token_env, timeout_s, attempts)
    extras = extra_infos if extra_infos is not None else [None] * len(solution_strs)
    samples = zip(data_sources, solution_strs, ground_truths, extras)
    items = [_item(*sample, prompt_key, rubric) for sample in samples]
    answers = [client.post({"items": items[i : i + batch]}) for i in range(0, len(items), batch)]
    return [_score(result, null_score) for answer in answers for result in answer["results"]]


def compute_score(data_source, solution_str, ground_truth, extra_info=None, **options):
    """Score of a sample; options are those of `compute_scores`."""
    return compute_scores([data_source], [solution_str], [ground_truth], [extra_info], **options)[0]


async def compute_score_async(data_source, solution_str, ground_truth, extra_info=None, **options):
    """`compute_score` as a coroutine function; verl waits for many at a time."""
    return await asyncio.to_thread(compute_score, data_source, solution_str, ground_truth, extra_info, **options)
