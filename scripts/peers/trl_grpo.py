"""The step of `gradus bench grpo` in TRL on the CPU; and TRL trained by a Gradus reward service.

Setup (once, in any folder):

    python3 -m venv venv && venv/bin/pip install trl==1.16.0 peft torch numpy
    venv/bin/pip install --no-deps ./integrations/python        # for --reward-url

The same step, side by side (leave the machine alone meanwhile):

    gradus bench grpo --write-prompts prompts.jsonl --json
    venv/bin/python scripts/peers/trl_grpo.py --prompts prompts.jsonl --model models/logic-start

A chat model with an adapter, in float32 or bfloat16; the reward is 1 for an answer without a comma, as good as any to time a step:

    gradus bench grpo --model FOLDER --write-prompts prompts.jsonl --json
    venv/bin/python scripts/peers/trl_grpo.py --prompts prompts.jsonl --model FOLDER --groups 8 --lora 32 --micro-batch 16 --steps 2

Rewards of a service, two steps; `rewardSeconds` is the time that a step waits for it:

    gradus serve reward --config reward.yaml
    venv/bin/python scripts/peers/trl_grpo.py --prompts prompts.jsonl --model models/logic-start --steps 2 \\
        --reward-url http://127.0.0.1:8700/v1/grade

32 prompts x 8 samples of up to 96 tokens, float32, generation by transformers with its KV cache, loss `dapo` (TRL's default: mean
over tokens), beta 0, one pass, AdamW. Without --reward-url the reward is 1 where the label between the answer's tags is right. The
first step is not counted. Generation and update are timed apart: by the trainer's own hooks, so they are what a user of TRL waits.
Prints one JSON line on stdout.
"""

import argparse
import json
import re
import resource
import statistics
import sys
import tempfile
import time

import torch
from datasets import Dataset
from peft import LoraConfig
from transformers import AutoModelForCausalLM, AutoTokenizer, TrainerCallback
from trl import GRPOConfig, GRPOTrainer

ANSWER = re.compile(r"<answer>\s*(true|false|unknown)", re.IGNORECASE)


def arguments():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--prompts", required=True, help="JSON Lines of `gradus bench grpo --write-prompts`")
    parser.add_argument("--model", required=True, help="folder with the model")
    parser.add_argument("--groups", type=int, default=32)
    parser.add_argument("--samples", type=int, default=8)
    parser.add_argument("--max-tokens", type=int, default=96)
    parser.add_argument("--steps", type=int, default=5, help="measured steps, after one that is not")
    parser.add_argument("--micro-batch", type=int, default=0, help="sequences of a forward pass; 0: all")
    parser.add_argument("--threads", type=int, default=0, help="0: all cores")
    parser.add_argument("--lora", type=int, default=0, help="rank of an adapter; 0: all weights are trained")
    parser.add_argument("--dtype", choices=["float32", "bfloat16"], default="float32")
    parser.add_argument("--reward-url", default="", help="of a Gradus reward service")
    return parser.parse_args()


class Stopwatch:
    """Seconds of named parts of a step."""

    def __init__(self):
        self.parts, self.steps = {}, []

    def around(self, name, function):
        def timed(*args, **kwargs):
            start = time.perf_counter()
            try:
                return function(*args, **kwargs)
            finally:
                self.parts[name] = self.parts.get(name, 0.0) + time.perf_counter() - start

        timed.__name__ = getattr(function, "__name__", name)
        return timed

    def end_step(self):
        self.steps.append(self.parts)
        self.parts = {}

    def median(self, name):
        return statistics.median(step.get(name, 0.0) for step in self.steps[1:])


class StepTimes(TrainerCallback):
    def __init__(self, watch):
        self.watch, self.start = watch, 0.0

    def on_step_begin(self, *_args, **_kwargs):
        self.start = time.perf_counter()

    def on_step_end(self, *_args, **_kwargs):
        self.watch.parts["step"] = time.perf_counter() - self.start
        self.watch.end_step()


def right_answer(prompts, completions, answer, **_columns):
    """1 where the label between the tags is the right one."""
    found = [ANSWER.search(completion) for completion in completions]
    return [float(bool(match) and match.group(1).lower() == right.lower()) for match, right in zip(found, answer)]


def no_comma(prompts, completions, **_columns):
    return [float("," not in completion[0]["content"]) for completion in completions]


def reward_function(url, is_chat):
    if not url:
        return no_comma if is_chat else right_answer
    from gradus_reward.trl import gradus_reward

    return gradus_reward(url)


def messages_of(row):
    return [{"role": "user", "content": row["prompt"]}]


def tokens_of(tokenizer, row, is_chat):
    if not is_chat:
        return tokenizer(row["prompt"])["input_ids"]
    text = tokenizer.apply_chat_template(messages_of(row), add_generation_prompt=True, tokenize=False)
    return tokenizer(text, add_special_tokens=False)["input_ids"]


def check_tokens(tokenizer, rows, is_chat):
    """The text of a prompt must be the tokens that Gradus trains on, or the comparison is of different work."""
    for row in rows[:20]:
        tokens = tokens_of(tokenizer, row, is_chat)
        if tokens != row["promptTokens"]:
            sys.exit(f"other tokens than Gradus has: {tokens} instead of {row['promptTokens']}")


def main():
    options = arguments()
    if options.threads:
        torch.set_num_threads(options.threads)
    tokenizer = AutoTokenizer.from_pretrained(options.model)
    with open(options.prompts, encoding="utf-8") as file:
        rows = [json.loads(line) for line in file]
    is_chat = "answer" not in rows[0]
    if not is_chat:
        for row in rows:
            row["prompt"] = row["prompt"].removeprefix(tokenizer.bos_token)
    check_tokens(tokenizer, rows, is_chat)
    model = AutoModelForCausalLM.from_pretrained(options.model, dtype=getattr(torch, options.dtype))
    watch = Stopwatch()
    batch = options.groups * options.samples
    micro = options.micro_batch or batch
    with tempfile.TemporaryDirectory() as folder:
        config = GRPOConfig(
            output_dir=folder,
            use_cpu=True,
            bf16=options.dtype == "bfloat16",
            gradient_checkpointing=False,
            per_device_train_batch_size=micro,
            gradient_accumulation_steps=batch // micro,
            num_generations=options.samples,
            max_completion_length=options.max_tokens,
            max_steps=options.steps + 1,
            learning_rate=1e-9,
            lr_scheduler_type="constant",
            logging_steps=1,
            save_strategy="no",
            report_to=[],
            seed=1,
            disable_tqdm=True,
        )
        trainer = GRPOTrainer(
            model=model,
            reward_funcs=[watch.around("reward", reward_function(options.reward_url, is_chat))],
            args=config,
            train_dataset=Dataset.from_list(
                [{"prompt": messages_of(row)} if is_chat else {"prompt": row["prompt"], "answer": row["answer"]} for row in rows]
            ),
            peft_config=LoraConfig(
                r=options.lora, lora_alpha=2 * options.lora, target_modules="all-linear", task_type="CAUSAL_LM"
            )
            if options.lora
            else None,
            processing_class=tokenizer,
            callbacks=[StepTimes(watch)],
        )
        trainer._generate = watch.around("generate", trainer._generate)
        trainer._generate_and_score_completions = watch.around("prepare", trainer._generate_and_score_completions)
        trainer.train()
    logs = [log for log in trainer.state.log_history if "reward" in log][1:]
    tokens = statistics.mean(log["completions/mean_length"] for log in logs) * batch
    generate = watch.median("generate")
    logged = {name: value for name, value in logs[-1].items() if name.startswith("gradus/") or name == "reward"}
    result = {
        "peer": "trl",
        "threads": torch.get_num_threads(),
        "prompts": options.groups,
        "samples": options.samples,
        "maxTokens": options.max_tokens,
        "responseTokens": tokens,
        "stepSeconds": watch.median("step"),
        "sampleSeconds": generate,
        "rewardSeconds": watch.median("reward"),
        "updateSeconds": statistics.median(step["step"] - step["prepare"] for step in watch.steps[1:]),
        "sampledTokensPerSecond": tokens / generate,
        "dtype": options.dtype,
        "peakRssMb": round(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024),
        "lastLog": logged,
    }
    print(json.dumps(result))


if __name__ == "__main__":
    main()
