"""The same weights and data through `gradus serve tinker` and another Tinker server: log-probs, losses, gradients, updates, samples.

usage: tinker_compare.py THEIR_URL MODEL_DIR [GRADUS]     GRADUS: the command, by default `node bin/gradus.js` of this clone

Written for SkyRL 0.3.0 with its JAX backend, which serves MODEL_DIR under that name and whose adapter begins at random: it is fetched
and given to ours as a checkpoint. SkyRL divides: by the weights of a sequence (policy losses: by its length), and by the number of
sequences. The inputs that ours gets are divided so beforehand. The model has to be a Llama: SkyRL's Qwen3 has one A for the three
maps of attention. Prints the largest difference of each kind (losses above one: relative); exit code 1 when one is above 1e-3.
"""
import io, json, os, pathlib, random, re, subprocess, sys, tarfile, tempfile, urllib.request

os.environ.setdefault("TINKER_API_KEY", "tml-none")
os.environ.setdefault("TINKER_TELEMETRY", "0")
import tinker
from safetensors.numpy import load, save_file
from tinker import types

THEIRS, MODEL = sys.argv[1].rstrip("/"), str(pathlib.Path(sys.argv[2]).resolve())
HERE = pathlib.Path(__file__).resolve().parents[2]
GRADUS = sys.argv[3].split() if len(sys.argv) > 3 else ["node", str(HERE / "bin" / "gradus.js")]
RANK, ALPHA, LIMIT = 8, 32, 1e-3
MODULES = ["q_proj", "k_proj", "v_proj", "o_proj", "gate_proj", "up_proj", "down_proj"]
# With a smaller eps Adam turns gradients that are rounding alone into whole steps, and two right servers part by and by.
ADAM = {"learning_rate": 2e-4, "beta1": 0.9, "beta2": 0.95, "eps": 1e-5}
worst = {}


def note(kind, difference):
    worst[kind] = max(worst.get(kind, 0.0), difference)


def adapter_of(service, client, name):
    """Tensors of their adapter as it is now, by PEFT's names."""
    client.save_weights_for_sampler(name).result()
    run = client.get_info().model_id
    with urllib.request.urlopen(f"{THEIRS}/api/v1/training_runs/{run}/checkpoints/{name}/archive") as answer:
        packed = answer.read()
    with tarfile.open(fileobj=io.BytesIO(packed)) as archive:
        member = next(one for one in archive.getnames() if one.endswith("adapter_model.safetensors"))
        tensors = load(archive.extractfile(member).read())
    named = lambda key: re.sub(r"lora_([AB])(\.default)?(\.weight)?$", r"lora_\1.weight", key)
    return {named(key): value[:RANK] if "lora_A" in key else value[:, :RANK] for key, value in tensors.items()
            if not key.startswith("base_model.model.model.embed_tokens") and "lm_head" not in key}


def write_state(state, tensors):
    """A state folder with one model, `theirs`, and its checkpoint `begin`."""
    folder = state / "models" / "theirs" / "weights" / "begin"
    folder.mkdir(parents=True)
    at = "2026-01-01T00:00:00.000Z"
    lora = {"rank": RANK, "alpha": ALPHA, "targetModules": MODULES}
    entry = {"createdAt": at, "bytes": 0, "isPublic": False, "expiresAt": None}
    (state / "models" / "theirs" / "model.json").write_text(json.dumps({"id": "theirs", "baseModel": MODEL, "lora": lora, "createdAt": at}))
    (folder.parent / "begin.json").write_text(json.dumps(entry))
    config = {"peft_type": "LORA", "task_type": "CAUSAL_LM", "r": RANK, "lora_alpha": ALPHA, "target_modules": MODULES,
              "base_model_name_or_path": MODEL, "bias": "none", "lora_dropout": 0.0}
    (folder / "adapter_config.json").write_text(json.dumps(config))
    save_file({key: value.copy() for key, value in tensors.items()}, folder / "adapter_model.safetensors")


def start_ours(state):
    command = [*GRADUS, "serve", "tinker", "--model", MODEL, "--state", str(state), "--port", "0"]
    server = subprocess.Popen(command, stderr=subprocess.PIPE, text=True)
    for line in server.stderr:
        if found := re.search(r" at (http://\S+)", line):
            return server, found.group(1)
    raise SystemExit("our server did not start")


def datum(tokens, **inputs):
    return types.Datum(model_input=types.ModelInput.from_ints(tokens[:-1]), loss_fn_inputs={"target_tokens": tokens[1:], **inputs})


def batches(rows, old):
    """Name of a loss, its settings, inputs of each row by name, and what SkyRL divides a row by."""
    draw = random.Random(1)
    weights = [[float(draw.random() < 0.7) * (1 + draw.random()) for _ in row[1:]] for row in rows]
    advantages = [[draw.gauss(0, 1) for _ in row[1:]] for row in rows]
    policy = [{"logprobs": q, "advantages": a} for q, a in zip(old, advantages)]
    lengths = [len(row) - 1 for row in rows]
    yield "cross_entropy", None, [{"weights": w} for w in weights], [sum(w) for w in weights]
    yield "importance_sampling", None, policy, lengths
    yield "ppo", None, policy, lengths
    yield "ppo", {"clip_low_threshold": 0.9, "clip_high_threshold": 1.1}, policy, lengths
    yield "cispo", {"clip_low_threshold": 0.8, "clip_high_threshold": 1.2}, policy, lengths


SCALED = ("weights", "advantages")


def compare_update(ours, theirs, rows, loss, config, inputs, divisors):
    scaled = [{name: [v / (d * len(rows)) for v in values] if name in SCALED else values for name, values in one.items()}
              for one, d in zip(inputs, divisors)]
    asked = [(ours, scaled), (theirs, inputs)]
    # One after the other: SkyRL 0.3.0 takes requests in the order of their arrival, whatever their numbers.
    mine, other = [client.forward_backward([datum(row, **one) for row, one in zip(rows, data)], loss, loss_fn_config=config).result()
                   for client, data in asked]
    my_step, their_step = [client.optim_step(types.AdamParams(**ADAM)).result().metrics for client, _ in asked]
    for one, two, divisor in zip(mine.loss_fn_outputs, other.loss_fn_outputs, divisors):
        for a, b in zip(one["logprobs"].data, two["logprobs"].data):
            note("log-probs", abs(a - b))
        for a, b in zip(one["elementwise_loss"].data, two["elementwise_loss"].data):
            note(f"losses: {loss}", abs(a * divisor * len(rows) - b) / max(1, abs(b)))
    norm, wanted = my_step["grad_norm"], their_step["skyrl.ai/grad_norm"]
    note("norm of the gradient, relative", abs(norm - wanted) / wanted)
    print(f"{loss:20s} {json.dumps(config) if config else '':62s} |g| ours {norm:.6f} theirs {wanted:.6f}", flush=True)


def main():
    words = random.Random(0)
    rows = [[words.randrange(3, 96) for _ in range(length)] for length in (24, 17, 30, 9)]
    their_service = tinker.ServiceClient(base_url=THEIRS)
    theirs = their_service.create_lora_training_client(base_model=MODEL, rank=RANK, seed=5, train_unembed=False)
    state = pathlib.Path(tempfile.mkdtemp(prefix="tinker-compare-"))
    write_state(state, adapter_of(their_service, theirs, "begin"))
    server, url = start_ours(state)
    try:
        our_service = tinker.ServiceClient(base_url=url)
        ours = our_service.create_training_client_from_state("tinker://theirs/weights/begin")
        plain = [datum(row, weights=[1.0] * (len(row) - 1)) for row in rows]
        first = theirs.forward(plain, "cross_entropy").result()
        draw = random.Random(2)
        old = [[lp + draw.gauss(0, 0.2) for lp in one["logprobs"].data] for one in first.loss_fn_outputs]
        for round_ in range(3):
            for batch in batches(rows, old):
                compare_update(ours, theirs, rows, *batch)
        scored = [client.forward(plain, "cross_entropy").result().loss_fn_outputs for client in (ours, theirs)]
        for one, two, before in zip(*scored, first.loss_fn_outputs):
            for a, b, start in zip(one["logprobs"].data, two["logprobs"].data, before["logprobs"].data):
                note("log-probs after 15 updates", abs(a - b))
                note("(what the updates changed, for scale)", abs(b - start))
        samplers = [client.save_weights_and_get_sampling_client() for client in (ours, theirs)]
        params = types.SamplingParams(max_tokens=16, temperature=0.0)
        for row in rows[:2]:
            prompt = types.ModelInput.from_ints(row)
            a, b = [one.sample(prompt, num_samples=1, sampling_params=params).result().sequences[0] for one in samplers]
            count = min(len(a.tokens), len(b.tokens))  # theirs goes on after the end token
            assert list(a.tokens)[:count] == list(b.tokens)[:count], (a.tokens, b.tokens)
            for x, y in zip(a.logprobs, b.logprobs):
                note("log-probs of the likeliest continuation", abs(x - y))
    finally:
        server.terminate()
    for kind, difference in worst.items():
        print(f"{difference:10.2e}  {kind}")
    bad = [kind for kind, difference in worst.items() if not kind.startswith("(") and not difference <= LIMIT]
    print("differs: " + ", ".join(bad) if bad else f"all within {LIMIT}", flush=True)
    os._exit(1 if bad else 0)


main()
