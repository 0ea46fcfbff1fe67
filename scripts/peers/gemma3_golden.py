"""Numbers of Gemma 3 models by the transformers library, which tests compare with.

    venv/bin/pip install torch transformers==5.8.0
    venv/bin/python scripts/peers/gemma3_golden.py > src/model/gemma3.golden.json
    venv/bin/python scripts/peers/gemma3_golden.py FOLDER > src/policy/local/gemma3.golden.json

Alone: logits of a small model. The sequence is longer than the window, and the two rotary bases are far apart: a model without the
one or the other gives other numbers. Weights come from a generator of whole numbers that a test can repeat, tensors in the order of
their names. With the folder of Gemma 3 270M (of its GGUF file gemma-3-270m-q4_k_m.gguf, as float32): log-probs of tokens of which
the second half repeats the first, beyond a window of 512, and what follows them greedily.
"""

import json
import sys

import torch
from transformers import Gemma3ForCausalLM, Gemma3TextConfig

SHAPE = {
    "vocab_size": 19,
    "hidden_size": 16,
    "intermediate_size": 24,
    "num_hidden_layers": 4,
    "num_attention_heads": 4,
    "num_key_value_heads": 2,
    "head_dim": 6,
    "max_position_embeddings": 64,
    "query_pre_attn_scalar": 10,
    "sliding_window": 5,
    "layer_types": ["sliding_attention", "sliding_attention", "full_attention", "sliding_attention"],
    "rope_theta": 1000.0,
    "rope_local_base_freq": 10.0,
    "rope_scaling": {"rope_type": "linear", "factor": 2.0},
    "eos_token_id": [1, 3],
    "bos_token_id": 2,
    "pad_token_id": 0,
}


def fill(model: torch.nn.Module) -> None:
    """Numbers in [-.5, .5): 32 bits of a linear congruential generator (Numerical Recipes), one stream for all."""
    state = 1
    for name, tensor in sorted(model.state_dict().items()):
        if name == "lm_head.weight":
            continue
        values = []
        for _ in range(tensor.numel()):
            state = (state * 1664525 + 1013904223) % 2**32
            values.append(state / 2**32 - 0.5)
        tensor.copy_(torch.tensor(values, dtype=torch.float64).reshape(tensor.shape).float())


def published(folder: str) -> None:
    model = Gemma3ForCausalLM.from_pretrained(folder, dtype=torch.float32, attn_implementation="eager").eval()
    state, tokens = 12345, [2]
    while len(tokens) < 340:
        state = (state * 1664525 + 1013904223) % 2**32
        tokens.append(state % 50000 + 300)
    tokens += tokens[20:320]
    ids = torch.tensor([tokens])
    with torch.no_grad():
        every = torch.log_softmax(model(ids).logits[0].double(), -1)
        greedy = model.generate(ids, max_new_tokens=12, do_sample=False)[0, len(tokens) :].tolist()
    logprobs = [round(every[i, tokens[i + 1]].item(), 4) for i in range(len(tokens) - 1)]
    print(json.dumps({"tokens": tokens, "logprobs": logprobs, "greedy": greedy}))


def small() -> None:
    model = Gemma3ForCausalLM(Gemma3TextConfig(**SHAPE, attn_implementation="eager")).eval()
    tokens = [(7 * i * i + 3 * i + 4) % SHAPE["vocab_size"] for i in range(20)]
    with torch.no_grad():
        fill(model)
        logits = model(torch.tensor([tokens])).logits[0]
    rows = [[round(value, 5) for value in row] for row in logits.tolist()]
    config = {"model_type": "gemma3_text", **SHAPE}
    print(json.dumps({"config": config, "tokens": tokens, "logits": rows}))


if len(sys.argv) > 1:
    published(sys.argv[1])
else:
    small()
