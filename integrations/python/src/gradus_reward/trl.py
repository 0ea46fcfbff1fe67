"""Rewards of a Gradus reward service as a reward function of TRL's trainers (GRPO, RLOO, ...).

    from gradus_reward.trl import gradus_reward
    trainer = GRPOTrainer(..., reward_funcs=[gradus_reward(rubric="short-answer", reference_column="answer")])

`async_gradus_reward` is the same as a coroutine function: TRL runs those side by side. Signature as TRL 1.16.0 calls it
(trl/trainer/grpo_trainer.py): f(prompts=, completions=, completion_ids=, trainer_state=, log_extra=, log_metric=, environments=,
**columns of the data set) -> list[float | None]. None where there is no reward; TRL leaves it out.
"""

import asyncio

from .client import DEFAULT_URL, GradusClient, missing, null_share, reference_text

_ROLES = {"system": "system", "developer": "system", "user": "user", "assistant": "assistant"}
# More columns than this make TRL's table of completions unreadable; the means are logged all the same.
_COLUMNS = 16


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


def _log(results, log_metric, log_extra):
    """Each criterion's mean credit and the share without a verdict as metrics, each response's credits in TRL's table."""
    if not results:
        return
    ids = list(dict.fromkeys(name for result in results for name in result["parts"]))
    credits = {name: [result["parts"].get(name) for result in results] for name in ids}
    if log_metric:
        log_metric("gradus/null_share", sum(map(null_share, results)) / len(results))
        for name, values in credits.items():
            judged = [value for value in values if value is not None]
            log_metric(f"gradus/{name}", sum(judged) / len(judged))
    if log_extra and len(ids) <= _COLUMNS:
        for name, values in credits.items():
            log_extra(f"gradus/{name}", values)


class _Rewards:
    """Makes requests of a batch, and rewards of the answers."""

    def __init__(self, url, rubric, rubric_column, reference_column, metadata_columns, batch, check, client_options):
        self.client = GradusClient(url, **client_options)
        if check:
            self.client.check()
        self.rubric, self.rubric_column = rubric, rubric_column
        self.reference_column, self.metadata_columns, self.batch = reference_column, tuple(metadata_columns), batch

    def _item(self, prompt, completion, row):
        item = {"prompt": _prompt(prompt), "response": _response(completion)}
        reference = row.get(self.reference_column)
        more = {
            "rubric": row.get(self.rubric_column),
            "reference": None if missing(reference) else reference_text(reference),
            "metadata": {name: row[name] for name in self.metadata_columns if not missing(row.get(name))} or None,
        }
        return {**item, **{key: value for key, value in more.items() if not missing(value)}}

    def items(self, prompts, completions, columns):
        wanted = {self.rubric_column, self.reference_column, *self.metadata_columns}
        kept = {name: values for name, values in columns.items() if name in wanted and values is not None}
        rows = [{name: values[i] for name, values in kept.items()} for i in range(len(completions))]
        return [self._item(*each) for each in zip(prompts, completions, rows)]

    def grade(self, items):
        return self.client.grade(items, self.rubric, self.batch)


def gradus_reward(
    url=DEFAULT_URL,
    rubric=None,
    rubric_column="rubric",
    reference_column="answer",
    metadata_columns=(),
    batch=256,
    name="gradus_reward",
    check=True,
    **client_options,
):
    """A reward function. `rubric` names one of the service, or is one; a column of that name goes before it.

    reference_column: column with the reference answer. metadata_columns: columns that the service may choose a rubric by. batch: items in
    a request. check: ask at once whether the service can grade. client_options: token_env, timeout_s, attempts, ready_s of GradusClient.
    Raises ServiceUnavailable.
    """
    make = _Rewards(url, rubric, rubric_column, reference_column, metadata_columns, batch, check, client_options)

    def reward(prompts, completions, completion_ids=None, trainer_state=None, log_extra=None, log_metric=None, **columns):
        results = make.grade(make.items(prompts, completions, columns))
        _log(results, log_metric, log_extra)
        return [result["reward"] for result in results]

    reward.__name__ = name
    return reward


def async_gradus_reward(
    url=DEFAULT_URL,
    rubric=None,
    rubric_column="rubric",
    reference_column="answer",
    metadata_columns=(),
    batch=64,
    name="gradus_reward",
    check=True,
    **client_options,
):
    """`gradus_reward` as a coroutine function; its requests go out together."""
    make = _Rewards(url, rubric, rubric_column, reference_column, metadata_columns, batch, check, client_options)

    async def reward(
        prompts, completions, completion_ids=None, trainer_state=None, log_extra=None, log_metric=None, **columns
    ):
        items = make.items(prompts, completions, columns)
        parts = [items[i : i + batch] for i in range(0, len(items), batch)]
        answers = await asyncio.gather(*(asyncio.to_thread(make.grade, part) for part in parts))
        results = [result for answer in answers for result in answer]
        _log(results, log_metric, log_extra)
        return [result["reward"] for result in results]

    reward.__name__ = name
    return reward
