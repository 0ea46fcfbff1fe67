/**
 * The rows of tiny runs, as digests: a change that is none of what runs do leaves all of them as they are, and another one says in its
 * commit which it meant. Numbers differ in their last bits between kinds of processors, so digests are kept for each kind that they
 * were recorded on: `GRADUS_GOLDEN=write npx vitest run test/golden.test.ts` records those of this one.
 */

import { createHash } from 'node:crypto'
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { afterAll, describe, expect, it } from 'vitest'
import { cli, Sandbox, SLOW_MS } from '../src/cli/cli.fixture.ts'
import { createEngine } from '../src/policy/local/engine.ts'
import { rolloutDatums } from '../src/policy/local/rollout-datums.ts'
import { TINY } from '../src/policy/local/tiny-model.fixture.ts'
import { updateOnce } from '../src/policy/update.ts'
import { LOSS_PRESETS } from '../src/rl/loss-presets.ts'
import { type GoldenRun, goldenRuns, startGoldenWorld } from './golden.fixture.ts'

type Digests = Record<string, Record<string, string>>

const PATH = fileURLToPath(new URL('golden.json', import.meta.url))
const known = JSON.parse(readFileSync(PATH, 'utf8')) as Record<string, Digests>
const isRecording = process.env.GRADUS_GOLDEN === 'write'

const digest = (text: string) => createHash('sha256').update(text).digest('hex').slice(0, 12)

/** What this machine's arithmetic makes of a few updates, in bits. */
const arithmetic = async (): Promise<string> => {
  const config = { ...TINY, hiddenSize: 64, intermediateSize: 96, headDim: 32 }
  const engine = createEngine({ init: { config, seed: 1 } }, { threads: 1, spinning: false })
  const prompts = [
    [1, 2, 3],
    [3, 2, 1, 0],
  ]
  const samples = await engine.sample({ prompts, samplesPerPrompt: 4, maxTokens: 12, seed: 'golden' })
  const datums = rolloutDatums(prompts, samples, 'golden')
  const learnt = { loss: LOSS_PRESETS['trl:grpo'], optimizer: { learningRate: 1e-2 }, microBatchTokens: 64 }
  const stats = [await updateOnce(engine, datums, learnt), await updateOnce(engine, datums, learnt)]
  return digest(
    JSON.stringify([samples.flat().map(({ tokens, logprobs }) => [[...tokens], [...logprobs]]), stats]),
  )
}

const sandbox = new Sandbox()
const world = await startGoldenWorld(sandbox.dir)
const machine = await arithmetic()
const found: Digests = {}
afterAll(async () => {
  await world.judge.close()
  await world.stageJudge.close()
  await world.environment.close()
  sandbox.remove()
  if (!isRecording) return
  const sorted = Object.fromEntries(
    Object.entries({ ...known, [machine]: { ...known[machine], ...found } }).sort(),
  )
  writeFileSync(PATH, `${JSON.stringify(sorted, null, 2)}\n`)
})

/**
 * Rows without what they took, and without how a repeated question to a judge came by its answer: whether it was asked while the
 * first was under way or after it hangs on the moment.
 */
const rowsIn = (path: string) =>
  readFileSync(path, 'utf8')
    .trim()
    .split('\n')
    .map(line => JSON.parse(line, (key, value) => (key === 'time' || key === 'reused' ? undefined : value)))

const train = async (name: string, { settings, further }: GoldenRun) => {
  const dir = sandbox.path('runs', name)
  const run = async (...args: string[]) => {
    const { code, err } = await cli(['train', ...args, '--out', dir, '--quiet', '--no-dashboard'])
    if (code !== 0) throw new Error(err)
  }
  await run(sandbox.write(`${name}.yaml`, settings))
  if (further !== undefined) await run('--resume', '--set', `steps=${further}`)
  const files = ['metrics', 'evals', 'rollouts'].filter(file => existsSync(`${dir}/${file}.jsonl`))
  return Object.fromEntries(files.map(file => [file, digest(JSON.stringify(rowsIn(`${dir}/${file}.jsonl`)))]))
}

describe('golden runs', { timeout: SLOW_MS }, () => {
  for (const [name, golden] of Object.entries(goldenRuns(world)))
    it(name, async context => {
      const own = known[machine]?.[name]
      if (own === undefined && !isRecording)
        context.skip(`no digest of it on a machine whose arithmetic is ${machine}`)
      found[name] = await train(name, golden)
      if (!isRecording) expect(found[name]).toEqual(own)
    })
})
