"""Writes a folder in which tinker-cookbook's recipes run as they are, without a network. usage: cookbook_folder.py OUT

The recipes look for models and datasets on a hub; its libraries prefer a folder of that name below the current one. So OUT gets
- Qwen/Qwen3-8B-Base/: a random Qwen3 of 90 thousand weights with a vocabulary of characters. The name is one that the cookbook knows.
- HuggingFaceH4/no_robots/: conversations whose answers box a digit at random; openai/gsm8k/: questions that all have the answer 2.
- conversations.jsonl: the same conversations, as the cookbook documents own data.
Trained on the first, a model boxes the right digit now and then, so that there is a reward to learn from in the second.
"""
import json, pathlib, random, sys

import numpy as np
from safetensors.numpy import save_file
from tokenizers import Regex, Tokenizer, decoders, models, pre_tokenizers
from transformers import PreTrainedTokenizerFast

SUFFIX = " Provide a numerical answer without units, written inside \\boxed{}."
HIDDEN, INNER, LAYERS, HEADS, KV_HEADS, HEAD = 64, 128, 2, 4, 2, 16


def write_tokenizer(folder):
    specials = ["<|endoftext|>", "<|im_start|>", "<|im_end|>", "<unk>"]
    tokens = [*specials, "\n", *map(chr, range(32, 127))]
    tokens += [f"<extra_{i}>" for i in range(len(tokens), 128)]
    tokenizer = Tokenizer(models.WordLevel({token: i for i, token in enumerate(tokens)}, unk_token="<unk>"))
    tokenizer.pre_tokenizer = pre_tokenizers.Split(Regex(r"[\s\S]"), "isolated")
    tokenizer.decoder = decoders.Fuse()
    tokenizer.add_special_tokens(specials)
    named = {"eos_token": "<|im_end|>", "pad_token": "<|endoftext|>", "unk_token": "<unk>"}
    PreTrainedTokenizerFast(tokenizer_object=tokenizer, **named).save_pretrained(folder)
    return tokens


def write_model(folder):
    folder.mkdir(parents=True, exist_ok=True)
    tokens = write_tokenizer(folder)
    config = {
        "architectures": ["Qwen3ForCausalLM"], "model_type": "qwen3", "vocab_size": len(tokens), "hidden_size": HIDDEN,
        "intermediate_size": INNER, "num_hidden_layers": LAYERS, "num_attention_heads": HEADS, "num_key_value_heads": KV_HEADS,
        "head_dim": HEAD, "max_position_embeddings": 1024, "rms_norm_eps": 1e-6, "rope_theta": 10000.0, "hidden_act": "silu",
        "attention_bias": False, "attention_dropout": 0.0, "tie_word_embeddings": False, "torch_dtype": "float32",
        "bos_token_id": 0, "eos_token_id": tokens.index("<|im_end|>"), "pad_token_id": 0, "use_cache": True,
    }
    (folder / "config.json").write_text(json.dumps(config, indent=2))
    random_numbers = np.random.default_rng(0)
    normal = lambda *shape, sd=None: random_numbers.normal(0, sd or shape[-1] ** -0.5, shape).astype(np.float32)
    ones = lambda size: np.ones(size, np.float32)
    weights = {"model.embed_tokens.weight": normal(len(tokens), HIDDEN, sd=1.0), "lm_head.weight": normal(len(tokens), HIDDEN),
               "model.norm.weight": ones(HIDDEN)}
    shapes = {"self_attn.q_proj": (HEADS * HEAD, HIDDEN), "self_attn.k_proj": (KV_HEADS * HEAD, HIDDEN),
              "self_attn.v_proj": (KV_HEADS * HEAD, HIDDEN), "self_attn.o_proj": (HIDDEN, HEADS * HEAD),
              "mlp.gate_proj": (INNER, HIDDEN), "mlp.up_proj": (INNER, HIDDEN), "mlp.down_proj": (HIDDEN, INNER)}
    norms = {"self_attn.q_norm": HEAD, "self_attn.k_norm": HEAD, "input_layernorm": HIDDEN, "post_attention_layernorm": HIDDEN}
    for layer in range(LAYERS):
        weights |= {f"model.layers.{layer}.{name}.weight": normal(*shape) for name, shape in shapes.items()}
        weights |= {f"model.layers.{layer}.{name}.weight": ones(size) for name, size in norms.items()}
    save_file(weights, folder / "model.safetensors", metadata={"format": "pt"})


def write_rows(path, rows):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))


def main():
    out = pathlib.Path(sys.argv[1])
    draw = random.Random(0)
    write_model(out / "Qwen" / "Qwen3-8B-Base")
    question = lambda: f"What is {draw.randint(1, 9)} - {draw.randint(1, 9)}?"
    conversation = lambda: {"messages": [{"role": "user", "content": question() + SUFFIX},
                                         {"role": "assistant", "content": f"\\boxed{{{draw.randint(1, 3)}}}"}]}
    conversations = [conversation() for _ in range(640)]
    write_rows(out / "HuggingFaceH4" / "no_robots" / "train.jsonl", conversations)
    write_rows(out / "conversations.jsonl", conversations)
    for split, count in (("train", 320), ("test", 32)):
        rows = [{"question": question(), "answer": "#### 2"} for _ in range(count)]
        write_rows(out / "openai" / "gsm8k" / f"{split}.jsonl", rows)
    files = "".join(f"  - split: {split}\n    path: {split}.jsonl\n" for split in ("train", "test"))
    card = f"---\nconfigs:\n- config_name: main\n  data_files:\n{files}---\n"
    (out / "openai" / "gsm8k" / "README.md").write_text(card)


main()
