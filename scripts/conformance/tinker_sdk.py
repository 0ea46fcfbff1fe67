"""Asks a Tinker server everything that the official SDK can ask, and checks the answers. Setup: README.md beside this file.

usage: tinker_sdk.py URL [MODEL]     MODEL: as the server names it; by default its first. Key: TINKER_API_KEY.

Works with the SDK 0.24 (JSON), 0.25 and later (protobuf). Checks that need torch are skipped where it is not installed. What a
loss has to be is worked out here, from the log-probs of the answer. Exit code 1 when a check fails.
"""
import json, math, os, sys, time, traceback, urllib.error, urllib.request, warnings

os.environ.setdefault("TINKER_API_KEY", "tml-none")
os.environ.setdefault("HF_HUB_OFFLINE", "1")
os.environ.setdefault("TINKER_TELEMETRY", "0")
warnings.filterwarnings("ignore", category=FutureWarning)
import tinker
from tinker import types

URL = sys.argv[1].rstrip("/")
service = tinker.ServiceClient(base_url=URL)
rest = service.create_rest_client()
CHECKS = []


def check(function):
    CHECKS.append(function)
    return function


def now(value):
    """Later SDKs give a future where earlier ones give the client itself."""
    return value.result() if hasattr(value, "result") else value


models = service.get_server_capabilities().supported_models
BASE = sys.argv[2] if len(sys.argv) > 2 else models[0].model_name
IS_JSON = tuple(int(part) for part in tinker.__version__.split(".")[:2]) < (0, 25)
TOKENS = [3, 5, 8, 13, 21, 34, 55, 3, 5]
OTHER = [4, 7, 11, 18, 29, 47]


def model(rank=8, seed=1):
    return now(service.create_lora_training_client(base_model=BASE, rank=rank, seed=seed))


def supervised(tokens, weights=None):
    inputs = {"target_tokens": tokens[1:], "weights": weights or [1.0] * (len(tokens) - 1)}
    return types.Datum(model_input=types.ModelInput.from_ints(tokens[:-1]), loss_fn_inputs=inputs)


def policy_datum(tokens, logprobs, advantages):
    inputs = {"target_tokens": tokens[1:], "logprobs": logprobs, "advantages": advantages}
    return types.Datum(model_input=types.ModelInput.from_ints(tokens[:-1]), loss_fn_inputs=inputs)


def logprobs(client, data):
    out = client.forward(data, "cross_entropy").result()
    return [list(one["logprobs"].data) for one in out.loss_fn_outputs]


def step(client, data, rate=0.0, loss="cross_entropy", config=None):
    """One update, its two requests posted before either is awaited. Returns the answer and the norm of the gradient."""
    computed = client.forward_backward(data, loss, loss_fn_config=config)
    stepped = client.optim_step(types.AdamParams(learning_rate=rate))
    return computed.result(), stepped.result().metrics["grad_norm"]


def close(got, wanted, tolerance=1e-4, what=""):
    pairs = zip(got, wanted) if hasattr(got, "__len__") else [(got, wanted)]
    for one, other in pairs:
        assert abs(one - other) <= tolerance * max(1.0, abs(other)), f"{what}: expected {other}, got {one}"


def refused(call, *words):
    try:
        call()
    except Exception as error:
        assert all(word in str(error) for word in words), f"expected {words} in: {error}"
        return
    raise AssertionError(f"expected a refusal with {words}")


@check
def models_and_what_is_said_of_one():
    assert all(one.max_context_length > 0 for one in models)
    info = model().get_info()
    assert info.is_lora and info.lora_rank == 8 and info.model_data.model_name == BASE, info
    full = model(rank=0).get_info()
    assert not full.is_lora, full


@check
def losses_are_sums():
    client, data = model(), [supervised(TOKENS), supervised(OTHER, [0.0, 0.5, 1.0, -2.0, 1.0])]
    out, norm = step(client, data)
    total = 0.0
    for one, datum in zip(out.loss_fn_outputs, data):
        weights = datum.loss_fn_inputs["weights"].data
        assert len(one["logprobs"].data) == len(weights)
        total -= sum(w * lp for w, lp in zip(weights, one["logprobs"].data))
    close(out.metrics["loss:sum"], total, what="loss:sum")
    twice = [supervised(TOKENS, [2.0] * 8), supervised(OTHER, [0.0, 1.0, 2.0, -4.0, 2.0])]
    close(step(client, twice)[1], 2 * norm, what="gradient of doubled weights")
    close(step(client, data + data)[1], 2 * norm, what="gradient of a doubled batch")
    client.forward_backward(data, "cross_entropy").result()
    close(step(client, data)[1], 2 * norm, what="gradient of two passes before a step")


@check
def policy_losses_are_what_their_formulas_say():
    client = model()
    lps = logprobs(client, [supervised(TOKENS)])[0]
    old = [lp + 0.3 * math.sin(3 * i) for i, lp in enumerate(lps)]
    adv = [0.0, 0.0, 1.0, -1.0, 2.0, -0.5, 1.5, -2.0]
    clip = lambda r, low, high: min(max(r, low), high)

    def wanted(name, low=0.0, high=0.0, beta=0.0):
        total = 0.0
        for lp, q, a in zip(lps, old, adv):
            r = math.exp(lp - q)
            if name == "importance_sampling": total -= r * a
            if name == "ppo": total -= min(r * a, clip(r, low, high) * a)
            if name == "cispo": total -= clip(r, low, high) * lp * a
            if name == "dro": total -= lp * a - beta / 2 * (lp - q) ** 2
        return total

    cases = [("importance_sampling", None, {}), ("ppo", None, {"low": 0.8, "high": 1.2}), ("dro", {"beta": 0.2}, {"beta": 0.2}),
             ("ppo", {"clip_low_threshold": 0.9, "clip_high_threshold": 1.1}, {"low": 0.9, "high": 1.1}),
             ("cispo", None, {"low": 0.0, "high": 4.0}),
             ("cispo", {"clip_low_threshold": 0.8, "clip_high_threshold": 1.2}, {"low": 0.8, "high": 1.2})]
    for name, config, numbers in cases:
        out, norm = step(client, [policy_datum(TOKENS, old, adv)], loss=name, config=config)
        close(out.metrics["loss:sum"], wanted(name, **numbers), 1e-3, f"{name} {config}")
        close(out.loss_fn_outputs[0]["logprobs"].data, lps, what=f"log-probs of {name}")
        assert norm > 0, name
    refused(lambda: client.forward_backward([supervised(TOKENS)], "no_such_loss").result(), "no_such_loss")
    refused(lambda: client.forward_backward([supervised(TOKENS)], "ppo").result(), "logprobs")


@check
def a_policy_gradient_at_ratio_one_is_that_of_the_weighted_likelihood():
    client = model()
    lps = logprobs(client, [supervised(TOKENS)])[0]
    adv = [0.0, 0.0, 1.0, -1.0, 2.0, -0.5, 1.5, -2.0]
    likelihood = step(client, [supervised(TOKENS, adv)])[1]
    for name in ("importance_sampling", "ppo", "cispo"):
        close(step(client, [policy_datum(TOKENS, lps, adv)], loss=name)[1], likelihood, 1e-3, name)


@check
def updates_learn():
    for rank in (8, 0):
        client, data = model(rank=rank), [supervised(TOKENS), supervised(OTHER)]
        sums = [step(client, data, 5e-3)[0].metrics["loss:sum"] for _ in range(10)]
        assert sums[-1] < 0.7 * sums[0], sums


@check
def a_snapshot_stays_what_it_was():
    client, data = model(), [supervised(TOKENS)]
    step(client, data, 5e-3)
    sampler, prompt = now(client.save_weights_and_get_sampling_client()), types.ModelInput.from_ints(TOKENS)
    trained = logprobs(client, data)[0]
    before = sampler.compute_logprobs(prompt).result()
    assert before[0] is None
    close(before[1:], trained, 1e-4, "sampler against trainer")
    step(client, data, 5e-2)
    assert abs(logprobs(client, data)[0][0] - trained[0]) > 1e-3
    close(sampler.compute_logprobs(prompt).result()[1:], trained, 1e-4, "the snapshot after another step")


@check
def samples():
    client = now(service.create_sampling_client(base_model=BASE))
    prompt = types.ModelInput.from_ints(TOKENS)
    ask = lambda n=1, **params: client.sample(prompt, num_samples=n, sampling_params=types.SamplingParams(**params)).result().sequences
    one, again = ask(4, max_tokens=6, seed=7), ask(4, max_tokens=6, seed=7)
    assert len(one) == 4 and [list(s.tokens) for s in one] == [list(s.tokens) for s in again]
    other = ask(4, max_tokens=6, seed=8)
    assert [list(s.tokens) for s in one] != [list(s.tokens) for s in other]
    for sequence in one:
        assert 1 <= len(sequence.tokens) <= 6 and len(sequence.logprobs) == len(sequence.tokens)
        whole = types.ModelInput.from_ints(TOKENS + list(sequence.tokens))
        scored = client.compute_logprobs(whole).result()[len(TOKENS):]
        close(sequence.logprobs, scored, 1e-4, "log-probs of a sample against those of the same text as a prompt")
    greedy = ask(2, max_tokens=4, temperature=0.0)
    assert list(greedy[0].tokens) == list(greedy[1].tokens)
    assert list(ask(1, max_tokens=4, top_k=1)[0].tokens) == list(greedy[0].tokens)
    stopped = ask(1, max_tokens=4, temperature=0.0, stop=[int(greedy[0].tokens[1])])[0]
    assert stopped.stop_reason == "stop" and len(stopped.tokens) <= 2, stopped
    told = client.sample(prompt, num_samples=1, sampling_params=types.SamplingParams(max_tokens=1, temperature=0.0),
                         include_prompt_logprobs=True, topk_prompt_logprobs=3).result()
    assert len(told.prompt_logprobs) == len(TOKENS) == len(told.topk_prompt_logprobs)
    for place, own, token in list(zip(told.topk_prompt_logprobs, told.prompt_logprobs, TOKENS))[1:]:
        likeliest = dict((int(t), lp) for t, lp in place)
        assert len(likeliest) == 3 and all(own <= lp + 1e-4 for t, lp in likeliest.items()) or token in likeliest


@check
def state_comes_back():
    client, data = model(), [supervised(TOKENS)]
    step(client, data, 5e-3)
    path = client.save_state("kept").result().path
    saved = logprobs(client, data)[0]
    step(client, data, 5e-3)
    learnt = logprobs(client, data)[0]
    whole = now(service.create_training_client_from_state_with_optimizer(path))
    close(logprobs(whole, data)[0], saved, 1e-6, "log-probs of the loaded model")
    step(whole, data, 5e-3)
    close(logprobs(whole, data)[0], learnt, 1e-6, "the same step after loading")
    fresh = now(service.create_training_client_from_state(path))
    step(fresh, data, 5e-3)
    assert abs(logprobs(fresh, data)[0][0] - learnt[0]) > 1e-6, "a step without the optimiser's state should differ"
    refused(lambda: client.save_state("kept").result(), "already exists")
    refused(lambda: now(service.create_training_client_from_state("tinker://none/weights/none")), "not found")


@check
def what_is_kept_is_listed():
    client = model()
    weights, sampler = client.save_state("one").result().path, client.save_weights_for_sampler("two").result().path
    run = weights.split("/")[2]
    assert sampler == f"tinker://{run}/sampler_weights/two", sampler
    assert run in [one.training_run_id for one in rest.list_training_runs().result().training_runs]
    kept = rest.list_checkpoints(run).result().checkpoints
    assert sorted(one.tinker_path for one in kept) == sorted([weights, sampler]), kept
    assert now(rest.get_weights_info_by_tinker_path(weights)).lora_rank == 8
    rest.publish_checkpoint_from_tinker_path(sampler).result()
    rest.set_checkpoint_ttl_from_tinker_path(sampler, 3600).result()
    two = next(one for one in rest.list_checkpoints(run).result().checkpoints if one.tinker_path == sampler)
    assert two.public and two.expires_at is not None, two
    if hasattr(rest, "get_checkpoint_archive_url_from_tinker_path"):
        address = rest.get_checkpoint_archive_url_from_tinker_path(sampler).result().url
        with urllib.request.urlopen(address) as answer:
            assert b"adapter_config.json" in answer.read()
    tokens = types.SamplingParams(max_tokens=2, seed=1)
    named = now(service.create_sampling_client(model_path=sampler))
    assert named.sample(types.ModelInput.from_ints(TOKENS), num_samples=1, sampling_params=tokens).result().sequences
    rest.delete_checkpoint_from_tinker_path(sampler).result()
    assert [one.tinker_path for one in rest.list_checkpoints(run).result().checkpoints] == [weights]


@check
def what_cannot_be_is_refused():
    refused(lambda: now(service.create_lora_training_client(base_model="no/such", rank=4)).get_info(), "no/such")
    refused(lambda: model(rank=100_000).get_info(), "rank")
    client = model()
    refused(lambda: client.forward([supervised([10**6, 5, 8])], "cross_entropy").result(), "vocabulary")
    if not IS_JSON:  # which has no NaN
        refused(lambda: client.forward([supervised(TOKENS, [math.nan] * 8)], "cross_entropy").result(), "finite")
    close(step(client, [supervised(TOKENS)])[0].metrics["loss:sum"], -sum(logprobs(client, [supervised(TOKENS)])[0]), what="afterwards")


def post(path, body):
    headers = {"content-type": "application/json", "x-api-key": os.environ["TINKER_API_KEY"]}
    request = urllib.request.Request(f"{URL}/api/v1/{path}", json.dumps(body).encode(), headers)
    try:
        with urllib.request.urlopen(request, timeout=60) as answer:
            return answer.status, json.load(answer)
    except urllib.error.HTTPError as error:
        return error.code, json.load(error)


def outcome(request_id):
    while True:
        answer = post("retrieve_future", {"request_id": request_id})[1]
        if answer.get("type") != "try_again":
            return answer


@check
def a_request_posted_twice_is_carried_out_once():
    session = post("create_session", {"tags": [], "sdk_version": tinker.__version__})[1]["session_id"]
    create = {"session_id": session, "model_seq_id": 0, "base_model": BASE, "lora_config": {"rank": 4}}
    assert post("create_model", create)[1]["request_id"] == post("create_model", create)[1]["request_id"]
    model_id = outcome(post("create_model", create)[1]["request_id"])["model_id"]
    tensor = lambda data, dtype: {"data": data, "dtype": dtype, "shape": [len(data)]}

    def body(number, weight=1.0):
        inputs = {"target_tokens": tensor(TOKENS[1:], "int64"), "weights": tensor([weight] * 8, "float32")}
        datum = {"model_input": {"chunks": [{"type": "encoded_text", "tokens": TOKENS[:-1]}]}, "loss_fn_inputs": inputs}
        return {"model_id": model_id, "seq_id": number, "forward_backward_input": {"data": [datum], "loss_fn": "cross_entropy"}}

    def norm(number):
        adam = {"model_id": model_id, "seq_id": number, "adam_params": {"learning_rate": 0.0}}
        return outcome(post("optim_step", adam)[1]["request_id"])["metrics"]["grad_norm"]

    first = post("forward_backward", body(1))
    once = norm(2)
    second, again = post("forward_backward", body(3)), post("forward_backward", body(3))
    assert first[1]["request_id"] != second[1]["request_id"] == again[1]["request_id"]
    close(norm(4), once, 1e-6, "gradient of a request that was posted twice")
    assert post("forward_backward", body(3, 2.0))[0] == 409


@check
def custom_losses():
    try:
        import torch
    except ImportError:
        return "skipped: needs torch"
    client, data = model(), [supervised(TOKENS)]
    plain = [types.Datum(model_input=data[0].model_input, loss_fn_inputs={"target_tokens": TOKENS[1:], "weights": [1.0] * 8})]
    lps = logprobs(client, data)[0]

    def loss(_, all_logprobs):
        total = sum((lp ** 2).sum() for lp in all_logprobs)
        return total, {"squares": float(total)}

    out = client.forward_backward_custom(plain, loss).result()
    close(out.metrics["squares"], sum(lp * lp for lp in lps), 1e-3, "loss")
    custom = client.optim_step(types.AdamParams(learning_rate=0.0)).result().metrics["grad_norm"]
    # d(lp^2) = 2 lp d(lp): the same gradient as of the likelihood with weights -2 lp.
    close(custom, step(client, [supervised(TOKENS, [-2 * lp for lp in lps])])[1], 1e-3, "gradient")


def main():
    print(f"tinker {tinker.__version__}, {BASE} at {URL}", flush=True)
    failed = skipped = 0
    for one in CHECKS:
        start, name = time.time(), one.__name__.replace("_", " ")
        try:
            said = one()
            skipped += said is not None
            print(f"{'ok  ' if said is None else 'skip'} {name} ({time.time() - start:.1f} s) {said or ''}".rstrip(), flush=True)
        except Exception:
            failed += 1
            print(f"FAIL {name}", flush=True)
            traceback.print_exc()
    print(f"{len(CHECKS)} checks: {len(CHECKS) - failed - skipped} passed, {failed} failed, {skipped} skipped", flush=True)
    # The SDK's threads would keep the process for a while.
    os._exit(1 if failed else 0)


main()
