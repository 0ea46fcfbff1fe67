"""A tuned PyTorch peer of `gradus bench engine --json`: the same workload, the same fields, on the CPU.

Setup (once, in any folder; only PyTorch is needed, a C++ compiler in PATH lets torch.compile take part):

    python3 -m venv venv && venv/bin/pip install torch numpy

Run:

    venv/bin/python scripts/peers/pytorch_bench.py                    # every variant, best of each kept, about 5 minutes
    venv/bin/python scripts/peers/pytorch_bench.py --quick            # one short pass, to see that it works
    venv/bin/python scripts/peers/pytorch_bench.py --threads 1        # thread count (default: all cores)
    venv/bin/python scripts/peers/pytorch_bench.py --no-compile       # eager variants only

Prints one JSON line on stdout and progress on stderr. Leave the machine alone meanwhile: every figure is a minimum of times.

Workload: decoder transformer in Llama style, float32: vocab 512, d_model 256, 4 layers, 4 heads of 64, SwiGLU 688, context 256,
RoPE, RMSNorm, tied embeddings, no biases. Training: 16 sequences of 256 tokens (full length), mean cross-entropy over all
next-token positions, gradients, clipping by global norm, AdamW. Decoding: prompt of 16 tokens, 128 new tokens by sampling at temperature 1, KV cache,
tokens/s = rows * 128 / (prefill + decode time). Arithmetic is counted as in `gradus bench engine`:
train 3 * (2 * params * tokens + layers * 4 * T * d * tokens), decode 6.6 MFLOP a token.

Variants tried. Training: whole batch or micro-batches of 4 and 8 sequences; eager or torch.compile; attention by
F.scaled_dot_product_attention or by explicit matmuls; fused AdamW, gradients to None. Decoding: eager, eager with oneDNN's linear
on weights stored [in, out], torch.jit.trace with freezing, and torch.compile with and without freezing; attention over the
filled part of the cache, or over the whole cache with a mask (static shapes). All with merged QKV and merged gate/up projections,
because both are faster; `details` in the output says which variant won.

On AMD processors MKL leaves its AVX-512 kernels unused. When a C compiler is in PATH, this script builds a one-line library that
answers MKL's vendor question with yes, and starts itself again with it preloaded (about a tenth faster); --no-shim leaves it out.
"""

import argparse
import json
import math
import os
import resource
import shutil
import subprocess
import sys
import tempfile
import time
import warnings

import torch
import torch.nn as nn
import torch.nn.functional as F

VOCAB, D_MODEL, LAYERS, HEADS, HEAD_DIM, HIDDEN, CONTEXT = 512, 256, 4, 4, 64, 688, 256
TRAIN_BATCH = 16
PROMPT, NEW_TOKENS = 16, 128
DECODE_BATCHES = (1, 8, 32, 128)
DECODE_FLOP_PER_TOKEN = 6.6e6


def log(text):
    print(text, file=sys.stderr, flush=True)


def rope_tables(length):
    """cos and sin [length, HEAD_DIM], the two halves alike (rotate-half convention of Llama checkpoints)."""
    inverse = 1.0 / (10000.0 ** (torch.arange(0, HEAD_DIM, 2).float() / HEAD_DIM))
    angles = torch.outer(torch.arange(length).float(), inverse)
    angles = torch.cat([angles, angles], dim=-1)
    return angles.cos(), angles.sin()


def rotate(x, cos, sin):
    half = HEAD_DIM // 2
    return x * cos + torch.cat([-x[..., half:], x[..., :half]], dim=-1) * sin


class Linear(nn.Linear):
    """Without bias; after pack() the weights lie [in, out] and oneDNN multiplies, which is inference only."""

    packed = False

    def __init__(self, inputs, outputs):
        super().__init__(inputs, outputs, bias=False)

    def pack(self):
        self.weight.data = self.weight.data.t().contiguous().t()
        self.packed = True

    def forward(self, x):
        if self.packed:
            return torch.ops.mkldnn._linear_pointwise(x, self.weight, None, 'none', [], '')
        return F.linear(x, self.weight)


class Block(nn.Module):
    def __init__(self):
        super().__init__()
        self.norm1 = nn.Parameter(torch.ones(D_MODEL))
        self.norm2 = nn.Parameter(torch.ones(D_MODEL))
        self.qkv = Linear(D_MODEL, 3 * D_MODEL)
        self.out = Linear(D_MODEL, D_MODEL)
        self.gate_up = Linear(D_MODEL, 2 * HIDDEN)
        self.down = Linear(HIDDEN, D_MODEL)

    def heads(self, x, cos, sin):
        """q, k, v as [B, HEADS, T, HEAD_DIM]"""
        b, t, _ = x.shape
        qkv = self.qkv(F.rms_norm(x, (D_MODEL,), self.norm1, 1e-5)).view(b, t, 3, HEADS, HEAD_DIM)
        q, k, v = qkv.permute(2, 0, 3, 1, 4).unbind(0)
        return rotate(q, cos, sin), rotate(k, cos, sin), v

    def finish(self, x, attended):
        b, t, _ = x.shape
        x = x + self.out(attended.transpose(1, 2).reshape(b, t, D_MODEL))
        gate, up = self.gate_up(F.rms_norm(x, (D_MODEL,), self.norm2, 1e-5)).chunk(2, dim=-1)
        return x + self.down(F.silu(gate) * up)


class Decoder(nn.Module):
    def __init__(self):
        super().__init__()
        self.embed = nn.Parameter(torch.randn(VOCAB, D_MODEL) * 0.02)
        self.blocks = nn.ModuleList(Block() for _ in range(LAYERS))
        self.norm = nn.Parameter(torch.ones(D_MODEL))
        cos, sin = rope_tables(CONTEXT)
        self.register_buffer('cos', cos)
        self.register_buffer('sin', sin)
        self.register_buffer('hidden_future', torch.ones(CONTEXT, CONTEXT, dtype=torch.bool).triu(1))
        for name, weight in self.named_parameters():
            if weight.dim() == 2 and name != 'embed':
                nn.init.normal_(weight, std=0.02)

    def logits(self, x):
        return F.linear(F.rms_norm(x, (D_MODEL,), self.norm, 1e-5), self.embed)

    def loss(self, tokens, targets, explicit_attention: bool):
        """Sum of cross-entropies of targets [B, T] after tokens [B, T]."""
        t = tokens.shape[1]
        cos, sin = self.cos[:t], self.sin[:t]
        x = F.embedding(tokens, self.embed)
        for block in self.blocks:
            q, k, v = block.heads(x, cos, sin)
            if explicit_attention:
                scores = (q / math.sqrt(HEAD_DIM)) @ k.transpose(-1, -2)
                scores = scores.masked_fill(self.hidden_future[:t, :t], -1e30)
                attended = scores.softmax(-1) @ v
            else:
                attended = F.scaled_dot_product_attention(q, k, v, is_causal=True)
            x = block.finish(x, attended)
        return F.cross_entropy(self.logits(x).view(-1, VOCAB), targets.reshape(-1), reduction='sum')

    def prefill(self, tokens, keys, values):
        """Fills keys/values [LAYERS, B, HEADS, MAX, HEAD_DIM] with the prompt [B, T]; returns the last logits [B, VOCAB]."""
        t = tokens.shape[1]
        x = F.embedding(tokens, self.embed)
        for i, block in enumerate(self.blocks):
            q, k, v = block.heads(x, self.cos[:t], self.sin[:t])
            keys[i, :, :, :t] = k
            values[i, :, :, :t] = v
            x = block.finish(x, F.scaled_dot_product_attention(q, k, v, is_causal=True))
        return self.logits(x[:, -1])

    def step_sliced(self, tokens, position: int, keys, values):
        """One token a row [B]; attends over the filled part of the cache."""
        x = F.embedding(tokens[:, None], self.embed)
        cos, sin = self.cos[position : position + 1], self.sin[position : position + 1]
        for i, block in enumerate(self.blocks):
            q, k, v = block.heads(x, cos, sin)
            keys[i, :, :, position] = k[:, :, 0]
            values[i, :, :, position] = v[:, :, 0]
            upto = position + 1
            attended = F.scaled_dot_product_attention(q, keys[i, :, :, :upto], values[i, :, :, :upto])
            x = block.finish(x, attended)
        return self.logits(x[:, 0])

    def step_masked(self, tokens, position, bias, keys, values):
        """One token a row, static shapes: position is a tensor [1], bias [MAX] is 0 where the cache is filled, else -1e30."""
        x = F.embedding(tokens[:, None], self.embed)
        cos, sin = self.cos.index_select(0, position), self.sin.index_select(0, position)
        for i, block in enumerate(self.blocks):
            q, k, v = block.heads(x, cos, sin)
            keys[i].index_copy_(2, position, k)
            values[i].index_copy_(2, position, v)
            scores = (q / math.sqrt(HEAD_DIM)) @ keys[i].transpose(-1, -2) + bias
            x = block.finish(x, scores.softmax(-1) @ values[i])
        return self.logits(x[:, 0])


class MaskedStep(nn.Module):
    """step_masked as a module's forward, which tracing wants."""

    def __init__(self, model):
        super().__init__()
        self.model = model

    def forward(self, tokens, position, bias, keys, values):
        return self.model.step_masked(tokens, position, bias, keys, values)


def best_time(run, repeats, warmup=1):
    for _ in range(warmup):
        run()
    times = []
    for _ in range(repeats):
        start = time.perf_counter()
        run()
        times.append(time.perf_counter() - start)
    return min(times)


def bench_matmul(repeats):
    a, b = torch.randn(1024, 1024), torch.randn(1024, 1024)
    out = torch.empty(1024, 1024)
    return 2 * 1024**3 / best_time(lambda: torch.matmul(a, b, out=out), repeats, 3) / 1e9


def train_variant(micro, explicit, compiled, repeats):
    """Seconds of one step (forward, backward, clipping, AdamW) over the whole batch, of AdamW, and of clipping before it."""
    torch.manual_seed(0)
    model = Decoder()
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-4, weight_decay=0.1, fused=True)
    loss_of = torch.compile(model.loss) if compiled else model.loss
    data = torch.randint(0, VOCAB, (TRAIN_BATCH, CONTEXT + 1))
    tokens, targets = data[:, :-1].contiguous(), data[:, 1:].contiguous()
    optimizer_seconds, clip_seconds = [], []

    def step():
        optimizer.zero_grad(set_to_none=True)
        for start in range(0, TRAIN_BATCH, micro):
            rows = slice(start, start + micro)
            loss = loss_of(tokens[rows], targets[rows], explicit) / (TRAIN_BATCH * CONTEXT)
            loss.backward()
        start = time.perf_counter()
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        clipped = time.perf_counter()
        optimizer.step()
        clip_seconds.append(clipped - start)
        optimizer_seconds.append(time.perf_counter() - clipped)

    seconds = best_time(step, repeats, 2)
    return seconds, min(optimizer_seconds), min(clip_seconds), sum(p.numel() for p in model.parameters())


def bench_train(repeats, variants):
    best = None
    for micro, explicit, compiled in variants:
        name = f'micro-batch {micro}, {"explicit" if explicit else "sdpa"}, {"compiled" if compiled else "eager"}'
        try:
            result = train_variant(micro, explicit, compiled, repeats)
        except Exception as error:  # a variant that this build cannot compile is no result, and says so
            log(f'train {name}: failed: {str(error).splitlines()[0][:160]}')
            continue
        log(f'train {name}: {result[0]:.3f} s')
        if best is None or result[0] < best[0]:
            best = (*result, name)
    return best


def decode_run(model, batch, step):
    """Seconds for a prompt of PROMPT and NEW_TOKENS sampled tokens in `batch` rows."""
    length = PROMPT + NEW_TOKENS
    prompt = torch.randint(0, VOCAB, (batch, PROMPT))
    keys = torch.zeros(LAYERS, batch, HEADS, length, HEAD_DIM)
    values = torch.zeros_like(keys)
    noise = torch.empty(batch, VOCAB)

    def sample(logits):
        # Gumbel-free exponential race: argmax(p / Exp(1)) is a draw from p, cheaper than torch.multinomial.
        return (logits.softmax(-1) / noise.exponential_()).argmax(-1)

    def run():
        tokens = sample(model.prefill(prompt, keys, values))
        for position in range(PROMPT, length - 1):
            tokens = sample(step(tokens, position, keys, values))

    return run


def decode_steps(batch, use_compile):
    """Name, maker of (model, step) for every way to take one step; step is (tokens, position, keys, values) -> logits."""
    length = PROMPT + NEW_TOKENS
    positions = torch.arange(length)[:, None]
    biases = torch.full((length, length), -1e30).triu(1)

    def masked(call):
        return lambda tokens, position, keys, values: call(tokens, positions[position], biases[position], keys, values)

    def fresh(packed=False):
        torch.manual_seed(0)
        model = Decoder().eval()
        if packed:
            for block in model.blocks:
                for layer in (block.qkv, block.out, block.gate_up, block.down):
                    layer.pack()
        return model

    def filled_part(packed):
        model = fresh(packed)
        return model, model.step_sliced

    def whole_cache(packed):
        model = fresh(packed)
        return model, masked(model.step_masked)

    def traced():
        model = fresh()
        cache = torch.zeros(LAYERS, batch, HEADS, length, HEAD_DIM)
        example = (torch.zeros(batch, dtype=torch.long), positions[PROMPT], biases[PROMPT], cache, cache.clone())
        return model, masked(torch.jit.freeze(torch.jit.trace(MaskedStep(model).eval(), example, check_trace=False)))

    def compiled(freezing):
        torch._dynamo.reset()
        import torch._inductor.config as inductor

        inductor.freezing = freezing
        model = fresh()
        return model, masked(torch.compile(MaskedStep(model).eval(), dynamic=False))

    yield 'eager, filled part', lambda: filled_part(False)
    yield 'eager, filled part, oneDNN', lambda: filled_part(True)
    yield 'eager, masked, oneDNN', lambda: whole_cache(True)
    yield 'traced, masked', traced
    if use_compile:
        yield 'compiled, masked', lambda: compiled(False)
        yield 'compiled and frozen, masked', lambda: compiled(True)


def bench_decode(repeats, use_compile):
    rates, winners = {}, {}
    for batch in DECODE_BATCHES:
        for name, make in decode_steps(batch, use_compile):
            try:
                with torch.no_grad():
                    model, step = make()
                    seconds = best_time(decode_run(model, batch, step), repeats, 1)
            except Exception as error:
                log(f'decode {batch} {name}: failed: {str(error).splitlines()[0][:160]}')
                continue
            rate = batch * NEW_TOKENS / seconds
            log(f'decode {batch} {name}: {rate:.0f} tokens/s')
            if rate > rates.get(str(batch), 0):
                rates[str(batch)], winners[str(batch)] = rate, name
    return rates, winners


def restart_with_shim():
    """On AMD: starts this script again with a library preloaded that lets MKL use its AVX-512 kernels."""
    compiler = shutil.which('cc') or shutil.which('gcc')
    if 'GRADUS_PEER_SHIM' in os.environ:
        os.environ.pop('LD_PRELOAD', None)  # it is loaded now; compilers started from here need not look for it
        shutil.rmtree(os.path.dirname(os.environ['GRADUS_PEER_SHIM']), ignore_errors=True)
        return
    if compiler is None or not os.path.exists('/proc/cpuinfo'):
        return
    with open('/proc/cpuinfo') as cpuinfo:
        if 'AuthenticAMD' not in cpuinfo.read():
            return
    folder = tempfile.mkdtemp(prefix='gradus-peer-')
    source, library = os.path.join(folder, 'shim.c'), os.path.join(folder, 'shim.so')
    with open(source, 'w') as file:
        file.write('int mkl_serv_intel_cpu_true(void) { return 1; }\n')
    if subprocess.run([compiler, '-shared', '-fPIC', '-o', library, source]).returncode == 0:
        environment = {**os.environ, 'GRADUS_PEER_SHIM': library, 'LD_PRELOAD': library}
        os.execve(sys.executable, [sys.executable, *sys.argv], environment)


def main():
    parser = argparse.ArgumentParser(description='PyTorch peer of gradus bench engine')
    parser.add_argument('--threads', type=int, default=torch.get_num_threads())
    parser.add_argument('--quick', action='store_true', help='one short pass over the most promising variants')
    parser.add_argument('--no-compile', action='store_true', help='leave torch.compile out')
    parser.add_argument('--no-shim', action='store_true', help='on AMD, do not preload the shim (see the header)')
    args = parser.parse_args()
    if not args.no_shim:
        restart_with_shim()
    torch.set_num_threads(args.threads)
    warnings.filterwarnings('ignore', category=FutureWarning)  # torch.jit is deprecated, and at times still the fastest
    use_compile = not args.no_compile and not args.quick and shutil.which('g++') is not None

    repeats = 2 if args.quick else 6
    matmul = [bench_matmul(10 if args.quick else 40)]
    log(f'matmul {matmul[0]:.0f} GFLOP/s')
    if args.quick:
        variants = [(8, False, False)]
    else:
        variants = [(m, explicit, False) for m in (16, 8, 4) for explicit in (False, True)]
        if use_compile:
            variants += [(m, explicit, True) for m in (16, 8, 4) for explicit in (False, True)]
    seconds, optimizer_seconds, clip_seconds, params, train_name = bench_train(repeats, variants)
    rates, winners = bench_decode(1 if args.quick else 4, use_compile)
    matmul.append(bench_matmul(10 if args.quick else 40))

    tokens = TRAIN_BATCH * CONTEXT
    train_flops = 3 * (2 * params * tokens + LAYERS * 4 * CONTEXT * D_MODEL * tokens)
    print(
        json.dumps(
            {
                'threads': args.threads,
                'matmulGflops': round(max(matmul), 1),
                'trainStepSeconds': round(seconds, 4),
                'trainGflops': round(train_flops / seconds / 1e9, 1),
                'decodeTokensPerSecond': {batch: round(rate) for batch, rate in rates.items()},
                'optimizerMsPerMillionParams': round(optimizer_seconds * 1e3 / (params / 1e6), 3),
                'clipMsPerMillionParams': round(clip_seconds * 1e3 / (params / 1e6), 3),
                'peakRssMb': round(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024),
                'details': {
                    'torch': torch.__version__,
                    'mklShim': 'GRADUS_PEER_SHIM' in os.environ,
                    'params': params,
                    'trainGflopPerStep': round(train_flops / 1e9, 1),
                    'trainVariant': train_name,
                    'decodeVariant': winners,
                    'decodeGflops': {b: round(r * DECODE_FLOP_PER_TOKEN / 1e9, 1) for b, r in rates.items()},
                },
            }
        )
    )


if __name__ == '__main__':
    main()
