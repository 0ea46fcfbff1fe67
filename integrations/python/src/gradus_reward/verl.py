"""Rewards of a Gradus reward service as verl's custom reward function.

    reward.custom_reward_function.path=pkg://gradus_reward.verl
    reward.custom_reward_function.name=compute_score_async          # or compute_score
    +reward.custom_reward_function.reward_kwargs.url=http://127.0.0.1:8700/v1/grade

Signatures as verl 0.9.1 calls them (verl/experimental/reward_loop/reward_manager/naive.py): compute_score(data_source=,
solution_str=, ground_truth=, extra_info=, **reward_kwargs) -> {"score": float, ...}; older managers (`batch`) call compute_scores
with lists. The service sees data_source as metadata.data_source, so that a route may choose its rubric by it.
"""

import asyncio

from .client import DEFAULT_URL, GradusClient, missing, null_share, reference_text

_clients = {}


def _client(*settings):
    if settings not in _clients:
        _clients[settings] = GradusClient(*settings)
    return _clients[settings]


def _item(data_source, solution_str, ground_truth, extra_info, prompt_key):
    extra = extra_info if isinstance(extra_info, dict) else {}
    prompt = extra.get(prompt_key)
    item = {"response": solution_str, "metadata": {"data_source": str(data_source)}}
    if not missing(prompt):
        item["prompt"] = prompt if isinstance(prompt, str) else list(prompt)
    if not missing(ground_truth):
        item["reference"] = reference_text(ground_truth)
    return item


def _score(result, null_score, criteria):
    """The same keys for every sample: verl gathers them into columns."""
    reward, score = result["reward"], result["score"]
    return {
        "score": float(null_score if reward is None else reward),
        "rubric_score": float(null_score if score is None else score),
        "null_share": null_share(result),
        **{f"criteria/{name}": float(result["components"].get(name, 0.0)) for name in criteria},
    }


def compute_scores(
    data_sources,
    solution_strs,
    ground_truths,
    extra_infos=None,
    url=DEFAULT_URL,
    rubric=None,
    prompt_key="question",
    null_score=0.0,
    criteria=(),
    batch=256,
    token_env="GRADUS_TOKEN",
    timeout_s=150.0,
    attempts=8,
    ready_s=60.0,
    **_others,
):
    """Scores of many samples, in their order.

    rubric: a name of the service, or a rubric; its route chooses when None. prompt_key: where extra_info has the question, as text
    or messages. null_score: what a sample without a reward gets. criteria: ids whose signed part of the score is a column
    `criteria/ID` of its own (for verl's log, and as algorithm.gdpo_reward_keys). ready_s: see GradusClient. Raises ServiceUnavailable.
    """
    client = _client(url, token_env, timeout_s, attempts, ready_s)
    extras = extra_infos if extra_infos is not None else [None] * len(solution_strs)
    samples = zip(data_sources, solution_strs, ground_truths, extras)
    results = client.grade([_item(*sample, prompt_key) for sample in samples], rubric, batch)
    return [_score(result, null_score, criteria) for result in results]


def compute_score(data_source, solution_str, ground_truth, extra_info=None, **options):
    """Score of a sample; options are those of `compute_scores`."""
    return compute_scores([data_source], [solution_str], [ground_truth], [extra_info], **options)[0]


async def compute_score_async(data_source, solution_str, ground_truth, extra_info=None, **options):
    """`compute_score` as a coroutine function; verl waits for many at a time."""
    return await asyncio.to_thread(compute_score, data_source, solution_str, ground_truth, extra_info, **options)
