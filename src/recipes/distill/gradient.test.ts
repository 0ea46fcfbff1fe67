import { expect, it } from 'vitest'
import { gradientsOf, TINY, tinyEngine } from '../../policy/local/tiny-model.fixture.ts'
import type { Graded } from '../../rl/rollout.ts'
import { Rng } from '../../util/rng.ts'
import { distillSchema } from './config.ts'
import { teacherCredit } from './credit.ts'

const PLAIN = [1, 2]
const WITH_RUBRIC = [9, 4, 7, 1, 2]
const TOKENS = Array.from({ length: TINY.vocabSize }, (_, token) => [token])

/** A response of one token. */
const response = ([token]: number[], logprob: number): Graded<string, null> => ({
  ...{ problem: 'p', grade: null, reward: null, parts: {} },
  rollout: {
    ...{ key: `1/1/0/${token}`, role: 'policy', group: '1/1/0', sample: token, prompt: PLAIN, end: 'stop' },
    ...{ turns: [], tokens: Int32Array.of(token), mask: Uint8Array.of(1) },
    logprobs: Float32Array.of(logprob),
  },
})

it.each(['none', 'batch'] as const)(
  'the gradient of a step, over all that could be sampled, is that of KL(policy || teacher) by differences (baseline %s)',
  async baseline => {
    const engine = tinyEngine()
    const scored = async (promptTokens: number[]) =>
      (await engine.score(TOKENS.map(tokens => ({ promptTokens, tokens })))).map(
        ({ logprobs }) => logprobs[0],
      )
    // The teacher stays as it was: it is a constant below.
    const [own, taught] = [await scored(PLAIN), await scored(WITH_RUBRIC)]
    const rollouts = [TOKENS.map((token, i) => response(token, own[i]))]
    const { credited } = teacherCredit(
      rollouts,
      taught.map(logprob => [logprob]),
      baseline,
    )
    // Each token once, by how likely it is, in place of a sample.
    const datums = credited[0].map(({ rollout, advantages }, i) => ({
      ...{ promptTokens: PLAIN, tokens: rollout.tokens, mask: [1], advantages },
      ...{ oldLogprobs: rollout.logprobs, weights: [TINY.vocabSize * Math.exp(own[i])] },
    }))
    await engine.accumulate(datums, { loss: distillSchema.parse({}).loss })
    const gradients = await gradientsOf(engine)
    const kl = async () =>
      (await scored(PLAIN)).reduce((sum, logprob, i) => sum + Math.exp(logprob) * (logprob - taught[i]), 0)
    const total = Math.sqrt(gradients.reduce((sum, g) => sum + g.reduce((s, x) => s + x * x, 0), 0))
    expect(total).toBeGreaterThan(1e-2)
    for (const [i, { param, name }] of engine.parameters.trained.entries()) {
      const rng = new Rng(name)
      const norm = Math.sqrt(gradients[i].reduce((s, x) => s + x * x, 0)) || 1
      const direction = gradients[i].map(x => x / norm + rng.normal() / Math.sqrt(param.length))
      const start = param.view.slice()
      const at = async (distance: number) => {
        for (let j = 0; j < start.length; j++) param.view[j] = start[j] + distance * direction[j]
        engine.parameters.changed()
        return kl()
      }
      const h = 0.004
      const slope =
        (8 * ((await at(h)) - (await at(-h))) - ((await at(2 * h)) - (await at(-2 * h)))) / (12 * h)
      param.view.set(start)
      engine.parameters.changed()
      const dot = gradients[i].reduce((sum, x, j) => sum + x * direction[j], 0)
      expect(Math.abs(slope - dot), `${name}: ${dot} against ${slope}`).toBeLessThan(
        2e-3 * Math.max(total, Math.abs(dot)),
      )
    }
  },
)
