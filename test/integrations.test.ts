import { execFile, execFileSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type RewardProcess, startReward } from '../src/cli/serve/reward.fixture.ts'

const root = fileURLToPath(new URL('..', import.meta.url))
const TIMEOUT_MS = 120_000

const pythonVersion = (): string | null => {
  try {
    return execFileSync('python3', ['--version'], {
      encoding: 'utf8',
      stdio: ['ignore', 'pipe', 'ignore'],
    }).trim()
  } catch {
    return null
  }
}
const python = pythonVersion()

/** Loads a shim as `shim`, runs the script, reads what it prints as JSON. */
const run = async (
  name: 'trl' | 'verl',
  script: string,
  env: Record<string, string> = {},
): Promise<unknown> => {
  const program = [
    'import asyncio, importlib.util, inspect, json, pickle, sys',
    `spec = importlib.util.spec_from_file_location("gradus_reward", ${JSON.stringify(`${root}integrations/${name}/gradus_reward.py`)})`,
    'shim = importlib.util.module_from_spec(spec)',
    'sys.modules["gradus_reward"] = shim',
    'spec.loader.exec_module(shim)',
    script,
  ].join('\n')
  const { stdout } = await promisify(execFile)('python3', ['-c', program], {
    env: { ...process.env, ...env },
  })
  return JSON.parse(stdout)
}

const clientPart = (name: string): string => {
  const text = readFileSync(`${root}integrations/${name}/gradus_reward.py`, 'utf8')
  return text.slice(text.indexOf('# --- client'), text.indexOf('# --- end of client'))
}

describe('shims for Python trainers', () => {
  it('have the same client, so that each file can be copied alone', () => {
    expect(clientPart('trl').length).toBeGreaterThan(2000)
    expect(clientPart('trl')).toBe(clientPart('verl'))
  })
})

describe.skipIf(python === null)('shims at work (skipped without python3)', { timeout: TIMEOUT_MS }, () => {
  let server: RewardProcess
  let url = ''
  beforeAll(async () => {
    server = await startReward(`${root}examples/reward/reward.yaml`, ['--quiet'])
    url = `${server.url}/v1/grade`
  }, TIMEOUT_MS)
  afterAll(async () => {
    await server?.stop()
  })

  // What GRPOTrainer._calculate_rewards passes (f2cd57710).
  const TRL_CALL = `
logged = []
columns = dict(completion_ids=[[1], [2]], trainer_state=object(), log_extra=lambda *_: None,
               log_metric=lambda *each: logged.append(each), environments=None)
texts = dict(prompts=["How many?", "How many?"], completions=["The answer is 85.", "You idiot."], answer=["85", "85"])
chat = dict(prompts=[[{"role": "user", "content": "How many?"}]] * 2, answer=[85, float("nan")],
            completions=[[{"role": "assistant", "content": [{"type": "text", "text": "The answer is 85."}]}]] * 2)
`

  it('TRL: texts and conversations, as a function and as a coroutine function', async () => {
    const script = `${TRL_CALL}
plain = shim.gradus_reward(${JSON.stringify(url)})
later = shim.async_gradus_reward(${JSON.stringify(url)}, batch=1, name="later")
print(json.dumps({"texts": plain(**texts, **columns), "chat": plain(**chat, **columns), "logged": logged[0],
                  "async": asyncio.run(later(**texts, **columns)), "names": [plain.__name__, later.__name__],
                  "coroutine": [inspect.iscoroutinefunction(plain), inspect.iscoroutinefunction(later)]}))`
    // Of 10 points: right 5 and brief 2; brief 2 and rude -4. Without a reference the criterion "right" has no verdict: 2 of 5.
    expect(await run('trl', script)).toEqual({
      texts: [0.7, -0.2],
      chat: [0.7, 0.4],
      logged: ['gradus/null_share', 0],
      async: [0.7, -0.2],
      names: ['gradus_reward', 'later'],
      coroutine: [false, true],
    })
  })

  it('TRL: an empty response of the data set, a rubric of its own, metadata', async () => {
    const script = `
rubric = {"criteria": [{"id": "x", "text": "y", "points": 1, "verifier": {"kind": "rule", "fn": "contains", "params": {"any": ["yes"]}}}]}
judged = {"criteria": [{"id": "x", "text": "nothing that the script knows", "points": 1}]}
plain = shim.gradus_reward(${JSON.stringify(url)}, metadata_columns=["topic"])
print(json.dumps(plain(prompts=["p"] * 3, completions=["yes", "", "yes"], rubric=[rubric, rubric, judged], topic=["a", None, "c"])))`
    expect(await run('trl', script)).toEqual([1, 0, null])
  })

  it('verl: a sample, a coroutine, a batch', async () => {
    const script = `
options = dict(url=${JSON.stringify(url)})
one = shim.compute_score(data_source="gsm8k", solution_str="The answer is 85.", ground_truth="85",
                         extra_info={"question": "How many?", "num_turns": None}, reward_router_address="unused", **options)
later = asyncio.run(shim.compute_score_async("gsm8k", "You idiot.", "85", None, **options))
many = shim.compute_scores(data_sources=["a", "b"], solution_strs=["The answer is 85.", "x"], ground_truths=[85, {"a": 1}],
                           extra_infos=[{}, {}], **options)
print(json.dumps([one, later, many, len(pickle.dumps(shim.GradusClient(options["url"]))) > 0]))`
    const sample = (score: number) => ({ score, rubric_score: score, null_share: 0 })
    expect(await run('verl', script)).toEqual([sample(0.7), sample(-0.2), [sample(0.7), sample(0.2)], true])
  })

  it('verl: what a sample without a reward gets is a setting', async () => {
    const rubric = '{"criteria": [{"id": "x", "text": "nothing that the script knows", "points": 1}]}'
    const script = `print(json.dumps(shim.compute_score("a", "b", "c", url=${JSON.stringify(url)}, rubric=${rubric}, null_score=-1)))`
    expect(await run('verl', script)).toEqual({ score: -1, rubric_score: -1, null_share: 1 })
  })

  describe('a service that does not always answer', () => {
    const seen: { connection: number; authorization?: string; atMs: number }[] = []
    let script: ((response: ServerResponse) => void)[] = []
    let connections = 0
    const good = (response: ServerResponse) =>
      response.end('{"results": [{"reward": 1, "score": 1, "nulls": {}, "counts": {}}]}')
    const status =
      (code: number, headers: Record<string, string> = {}) =>
      (response: ServerResponse) =>
        response.writeHead(code, headers).end('{"error": "busy"}')
    const ids = new WeakMap<object, number>()
    const receive = ({ socket, headers }: IncomingMessage, response: ServerResponse) => {
      seen.push({
        connection: ids.get(socket) ?? 0,
        authorization: headers.authorization,
        atMs: performance.now(),
      })
      ;(script.shift() ?? good)(response)
    }
    const flaky = createServer((request, response) => {
      request.resume().once('end', () => receive(request, response))
    }).on('connection', socket => ids.set(socket, ++connections))
    beforeAll(async () => {
      await new Promise<void>(resolve => flaky.listen(0, '127.0.0.1', resolve))
    })
    afterAll(() => {
      flaky.closeAllConnections()
      flaky.close()
    })
    const ask = (times: number, ...more: ((response: ServerResponse) => void)[]) => {
      script = more
      seen.length = 0
      const { port } = flaky.address() as AddressInfo
      return run(
        'verl',
        `scores = [shim.compute_score("a", "b", "c", url="http://127.0.0.1:${port}/v1/grade", timeout_s=1, attempts=4)["score"] for _ in range(${times})]
print(json.dumps(scores))`,
        { GRADUS_TOKEN: 'tok' },
      )
    }

    it('is asked over one connection, with the token', async () => {
      expect(await ask(3)).toEqual([1, 1, 1])
      expect(new Set(seen.map(({ connection }) => connection)).size).toBe(1)
      expect(seen[0].authorization).toBe(`Basic ${Buffer.from('gradus:tok').toString('base64')}`)
    })

    it('is asked again: after the time that it wants, after a cut connection, after silence', async () => {
      const cut = (response: ServerResponse) => response.destroy()
      expect(await ask(1, status(429, { 'retry-after': '1' }), cut, () => {})).toEqual([1])
      expect(seen).toHaveLength(4)
      expect(seen[1].atMs - seen[0].atMs).toBeGreaterThanOrEqual(1000)
    })

    it('is not asked again when it refuses, and given up after all attempts', async () => {
      await expect(ask(1, status(400))).rejects.toThrow('the reward service refused: HTTP 400')
      expect(seen).toHaveLength(1)
      await expect(ask(1, ...Array.from({ length: 4 }, () => status(503)))).rejects.toThrow(
        'no reward after 4 attempts; the last one: HTTP 503',
      )
      expect(seen).toHaveLength(4)
    })
  })
})
