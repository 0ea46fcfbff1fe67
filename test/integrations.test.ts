import { execFile, execFileSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type RewardProcess, startReward } from '../src/cli/serve/reward.fixture.ts'

const root = fileURLToPath(new URL('..', import.meta.url))
const folder = `${root}integrations/python`
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

const runPython = (...args: string[]) =>
  promisify(execFile)('python3', args, {
    cwd: folder,
    env: { ...process.env, PYTHONPATH: `${folder}/src`, PYTHONDONTWRITEBYTECODE: '1' },
  })

/** Runs the script with a module of the package as `shim`, reads what it prints as JSON. */
const run = async (name: 'trl' | 'verl', script: string): Promise<unknown> => {
  const program = ['import asyncio, json', `import gradus_reward.${name} as shim`, script].join('\n')
  return JSON.parse((await runPython('-c', program)).stdout)
}

describe('the Python package', () => {
  it('has the version of this package', () => {
    const { version } = JSON.parse(readFileSync(`${root}package.json`, 'utf8'))
    expect(readFileSync(`${folder}/pyproject.toml`, 'utf8')).toContain(`version = "${version}"`)
  })

  it.skipIf(python === null)(
    'passes its own tests (skipped without python3)',
    { timeout: TIMEOUT_MS },
    async () => {
      const { stderr } = await runPython('-m', 'unittest', 'discover', '-s', 'tests', '-t', '.')
      expect(stderr).toMatch(/Ran [1-9]\d* tests[\s\S]*\nOK\n/)
    },
  )
})

describe.skipIf(python === null)(
  'the Python package against the reward server (skipped without python3)',
  {
    timeout: TIMEOUT_MS,
  },
  () => {
    let server: RewardProcess
    let url = ''
    beforeAll(async () => {
      server = await startReward(`${root}examples/reward/reward.yaml`, ['--quiet'])
      url = `${server.url}/v1/grade`
    }, TIMEOUT_MS)
    afterAll(async () => {
      await server?.stop()
    })

    // What GRPOTrainer._calculate_rewards passes (TRL 1.16.0).
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
print(json.dumps({"texts": plain(**texts, **columns), "logged": dict(logged), "chat": plain(**chat, **columns),
                  "async": asyncio.run(later(**texts, **columns))}))`
      // Of 10 points: right 5 and brief 2; brief 2 and rude -4. Without a reference the criterion "right" has no verdict: 2 of 5.
      expect(await run('trl', script)).toEqual({
        texts: [0.7, -0.2],
        logged: {
          'gradus/null_share': 0,
          'gradus/right': 0.5,
          'gradus/brief': 1,
          'gradus/explains': 0,
          'gradus/rude': 0.5,
        },
        chat: [0.7, 0.4],
        async: [0.7, -0.2],
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

    it('verl: a sample with columns of its criteria, a coroutine, a batch', async () => {
      const script = `
options = dict(url=${JSON.stringify(url)}, criteria=["right", "rude"])
one = shim.compute_score(data_source="gsm8k", solution_str="The answer is 85.", ground_truth="85",
                         extra_info={"question": "How many?", "num_turns": None}, reward_router_address="unused", **options)
later = asyncio.run(shim.compute_score_async("gsm8k", "You idiot.", "85", None, **options))
many = shim.compute_scores(data_sources=["a", "b"], solution_strs=["The answer is 85.", "x"], ground_truths=[85, {"answer": 1}],
                           extra_infos=[{}, {}], **options)
print(json.dumps([one, later, many]))`
      const sample = (score: number, right: number, rude: number) => ({
        score,
        rubric_score: score,
        null_share: 0,
        'criteria/right': right,
        'criteria/rude': rude,
      })
      expect(await run('verl', script)).toEqual([
        sample(0.7, 0.5, 0),
        sample(-0.2, 0, -0.4),
        [sample(0.7, 0.5, 0), sample(0.2, 0, 0)],
      ])
    })

    it('verl: what a sample without a reward gets is a setting', async () => {
      const rubric = '{"criteria": [{"id": "x", "text": "nothing that the script knows", "points": 1}]}'
      const script = `print(json.dumps(shim.compute_score("a", "b", "c", url=${JSON.stringify(url)}, rubric=${rubric}, null_score=-1)))`
      expect(await run('verl', script)).toEqual({ score: -1, rubric_score: -1, null_share: 1 })
    })
  },
)
