"""Logits of a small Gemma 3 model by the transformers library, which src/model/gemma3.test.ts compares with.

    venv/bin/pip install torch transformers==5.8.0
    venv/bin/python scripts/peers/gemma3_golden.py > src/model/gemma3.golden.json

The sequence is longer than the window, and the two rotary bases are far apart: a model without the one or the other gives
other numbers. Weights come from a generator of whole numbers that a test can repeat, tensors in the order of their names.
"""

import json

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


def main() -> None:
    model = Gemma3ForCausalLM(Gemma3TextConfig(**SHAPE, attn_implementation="eager")).eval()
    tokens = [(7 * i * i + 3 * i + 4) % SHAPE["vocab_size"] for i in range(20)]
    with torch.no_grad():
        fill(model)
        logits = model(torch.tensor([tokens])).logits[0]
    rows = [[round(value, 5) for value in row] for row in logits.tolist()]
    config = {"model_type": "gemma3_text", **SHAPE}
    print(json.dumps({"config": config, "tokens": tokens, "logits": rows}))


main()
