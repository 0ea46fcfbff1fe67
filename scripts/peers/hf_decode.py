"""transformers and PEFT on a model that Gradus wrote: its greedy tokens and log-probs beside Gradus's own, or its speed of decoding.

    python3 -m venv venv && venv/bin/pip install torch transformers==5.8.0 peft
    node scripts/peers/greedy.mjs MODEL > greedy.jsonl
    venv/bin/python scripts/peers/hf_decode.py FOLDER [--adapter FOLDER] --compare greedy.jsonl
    venv/bin/python scripts/peers/hf_decode.py FOLDER --rows 1 8 32    # tokens/s, float32 and bfloat16, OMP_NUM_THREADS threads; leave the machine alone meanwhile

The speed is of the work of `gradus bench engine --model FOLDER`: a prompt of 16 tokens, 128 new ones at temperature 1. Prints lines of JSON.
"""

import argparse
import json
import time

import torch
from transformers import AutoModelForCausalLM, AutoTokenizer


def opened(options, dtype):
    model = AutoModelForCausalLM.from_pretrained(options.model, dtype=dtype)
    if options.adapter:
        from peft import PeftModel

        model = PeftModel.from_pretrained(model, options.adapter)
    return model.eval()


def prompt_tokens(tokenizer, prompt):
    if tokenizer.chat_template is None:
        return tokenizer(prompt)["input_ids"]
    messages = [{"role": "user", "content": prompt}]
    text = tokenizer.apply_chat_template(messages, add_generation_prompt=True, tokenize=False)
    return tokenizer(text, add_special_tokens=False)["input_ids"]


def generate(model, prompts, **settings):
    return model.generate(input_ids=prompts, attention_mask=torch.ones_like(prompts), **settings)


def compare(model, tokenizer, rows):
    """Greedy tokens of the same prompts, and log-probs of Gradus's tokens."""
    same, furthest = [], 0.0
    for row in rows:
        start, tokens = row["promptTokens"], row["tokens"]
        greedy = generate(model, torch.tensor([start]), do_sample=False, max_new_tokens=len(tokens))[0, len(start) :].tolist()
        logprobs = torch.log_softmax(model(torch.tensor([start + tokens])).logits[0, len(start) - 1 : -1].double(), -1)
        theirs = logprobs.gather(1, torch.tensor([tokens]).T)[:, 0].tolist()
        furthest = max(furthest, *(abs(a - b) for a, b in zip(theirs, row["logprobs"])))
        same.append(greedy == tokens)
        told = {"samePromptTokens": prompt_tokens(tokenizer, row["prompt"]) == start, "same": same[-1]}
        print(json.dumps({"prompt": row["prompt"], **told, "tokens": greedy, "text": tokenizer.decode(greedy)}))
    print(json.dumps({"same": sum(same), "prompts": len(same), "tokens": sum(len(row["tokens"]) for row in rows), "furthestLogprob": furthest}))


def time_decoding(model, rows):
    """Tokens a second, prompt pass included."""
    prompts = torch.arange(300, 316).repeat(rows, 1)
    settings = {"do_sample": True, "temperature": 1.0, "top_k": 0, "top_p": 1.0, "pad_token_id": 0}
    generate(model, prompts, min_new_tokens=8, max_new_tokens=8, **settings)
    start = time.perf_counter()
    generate(model, prompts, min_new_tokens=128, max_new_tokens=128, **settings)
    return rows * 128 / (time.perf_counter() - start)


parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
parser.add_argument("model", help="folder of the whole model")
parser.add_argument("--adapter", help="folder of an adapter that goes on it")
parser.add_argument("--compare", help="rows that greedy.mjs printed")
parser.add_argument("--rows", type=int, nargs="*", default=[], help="rows that are decoded together")
options = parser.parse_args()
with torch.inference_mode():
    if options.compare:
        with open(options.compare, encoding="utf-8") as file:
            compare(opened(options, torch.float32), AutoTokenizer.from_pretrained(options.model), [json.loads(line) for line in file])
    for dtype in (torch.float32, torch.bfloat16) if options.rows else ():
        model = opened(options, dtype)
        for rows in options.rows:
            print(json.dumps({"dtype": str(dtype), "rows": rows, "tokensPerSecond": round(time_decoding(model, rows), 1)}), flush=True)
