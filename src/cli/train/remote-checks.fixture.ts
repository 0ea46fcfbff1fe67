/** @file What every server of the Tinker protocol must do for us: asked of our own, and of a real one where it is installed. */

import { expect } from 'vitest'
import { LocalPolicy, openPolicy, policySchema } from '../../policy/index.ts'
import { readEvals, readMetrics, readRunInfo } from '../../runs/readers.ts'
import { supervisedStep } from '../../train/supervised.ts'
import { resolveShipped } from '../../util/package.ts'
import { cli } from '../cli.fixture.ts'

export const startFolder = (name: string): string => resolveShipped(`package:models/${name}`)

/** The quick method of each recipe, small: its model, and settings that a server asks for. */
export const METHODS: readonly (readonly [recipe: string, model: string, set: readonly string[]])[] = [
  ['ruscarl', 'packing-start', []],
  ['distill', 'packing-start', []],
  ['rubric-as-reward', 'logic-start', ['evaluation.samples=1']],
  ['rlcer', 'arithmetic-start', ['critic=null', 'evaluation.rubrics=2']],
  ['rit', 'packing-thinking-start', []],
  ['rubricem', 'records-start', ['reflection.temperature=1']],
]
const SMALL = [
  ...['rollout.prompts=2', 'rollout.samples=4', 'evaluation.problems=2', 'evaluation.problemsBetween=2'],
]

/** Settings of a policy there. */
export const remoteSettings = (url: string, model: string): string[] => [
  ...['policy.kind=tinker', `policy.url=${url}`, `policy.model=${model}`, 'policy.lora.rank=4'],
]

/** `gradus train`, with an error for whatever it says on stderr. */
export const train = async (recipe: string, preset: string, set: readonly string[], out: string) => {
  const sets = set.flatMap(setting => ['--set', setting])
  const { code, err } = await cli(['train', recipe, '--preset', preset, ...sets, '--out', out, '--quiet'])
  expect([err, code]).toEqual(['', 0])
}

/** Runs a method there, and looks at its rows. @returns them */
export const checkMethod = async (
  [recipe, model, set]: (typeof METHODS)[number],
  { url, out, steps }: { url: string; out: string; steps: number },
) => {
  const folder = startFolder(model)
  const settings = [...remoteSettings(url, folder), ...SMALL, ...set, `steps=${steps}`]
  await train(recipe, 'quick', settings, out)
  expect(readRunInfo(out).model).toBe(folder)
  const rows = readMetrics(out)
  expect(rows.map(({ step }) => step)).toEqual(Array.from({ length: steps }, (_, i) => i + 1))
  // Groups of four may be equal all: such a step teaches nothing.
  const taught = rows.filter(({ loss }) => loss !== null)
  expect(taught).not.toEqual([])
  for (const row of taught) {
    expect(row.gradNorm).toEqual(expect.any(Number))
    // Sampler and trainer are one model; nothing is said of rollouts that are a step old on purpose.
    expect(row.logprobGapMax ?? 0).toBeLessThan(1e-3)
  }
  expect(readEvals(out).map(({ step }) => step)).toEqual(expect.arrayContaining([0, steps]))
  return rows
}

/** The same run in this process has rows of the same form. */
export const checkForm = async (
  [recipe, model, set]: (typeof METHODS)[number],
  rows: readonly object[],
  out: string,
) => {
  const here = [`model.folder=${startFolder(model)}`, 'policy.threads=1', 'model.lora.rank=4']
  await train(recipe, 'quick', [...here, ...SMALL, ...set, `steps=${rows.length}`], out)
  // What is not known there is null there: the names are the same.
  expect(rows.map(row => Object.keys(row))).toEqual(readMetrics(out).map(row => Object.keys(row)))
}

/** Log-probs there are those of here to 1e-3, and learning from sequences makes them likelier. */
export const checkLearning = async (url: string, model: string): Promise<void> => {
  const folder = startFolder(model)
  const settings = policySchema.parse({ kind: 'tinker', url, model: folder, lora: { rank: 4 } })
  const [there, here] = await Promise.all([
    openPolicy(settings, { folder, seed: 1 }),
    LocalPolicy.start({ folder }, { threads: 1 }),
  ])
  try {
    const prompts = [
      [1, 5],
      [1, 7],
    ]
    const samples = await here.sample({ prompts, samplesPerPrompt: 2, maxTokens: 10, seed: 'checks' })
    const items = samples.map(({ prompt, tokens }) => ({ promptTokens: prompts[prompt], tokens }))
    const [own, theirs] = [await here.score(items), await there.score(items)]
    const gaps = own.flatMap(({ logprobs }, i) =>
      [...logprobs].map((logprob, t) => Math.abs(logprob - theirs[i].logprobs[t])),
    )
    expect(gaps.length).toBeGreaterThan(10)
    expect(Math.max(...gaps)).toBeLessThan(1e-3)
    const optimizer = { learningRate: { kind: 'constant' as const, peak: 0.01, warmup: 0, floor: 0 } }
    const demonstrations = items.map(({ promptTokens, tokens }) => ({ promptTokens, responseTokens: tokens }))
    const step = supervisedStep(there, () => demonstrations, { steps: 6, optimizer })
    const losses: number[] = []
    for (let k = 1; k <= 6; k++) losses.push((await step(k)).loss as number)
    expect(losses.at(-1)).toBeLessThan(0.8 * losses[0])
  } finally {
    await Promise.all([there.close(), here.close()])
  }
}
