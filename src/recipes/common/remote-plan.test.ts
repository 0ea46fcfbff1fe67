import { describe, expect, it } from 'vitest'
import { tinkerSchema } from '../../policy/tinker/settings.ts'
import { resolveLoss } from '../../rl/loss-presets.ts'
import { RECIPES } from '../index.ts'
import { reinforcementWork, remoteLines, supervisedWork } from './remote-plan.ts'

const policy = (model: string, more: object = {}) => ({
  ...{ kind: 'tinker', url: 'http://127.0.0.1:9', model: `package:models/${model}` },
  ...more,
})
const PRICES = { prefill: 1, sample: 3, train: 2 }

const loss = (kl = 0) =>
  resolveLoss({ policy: { kind: 'clip' }, kl: { kind: 'k3', coef: kl }, aggregation: { mode: 'token-mean' } })
const learning = (kl = 0) => ({ loss: loss(kl), minibatches: 2, epochs: 1 })

describe('what a run asks of a server', () => {
  it('counts tokens, requests and cost of one role by hand', () => {
    // A step: 4 prompts of 10 tokens read once each, 32 samples of at most 20; learnt from with their prompts.
    const role = { groups: 4, samples: 8, promptTokens: 10, newTokens: 20 }
    const none = { every: 0, problems: 5, samples: 2 }
    const work = reinforcementWork({ prices: PRICES }, 100, [role], learning(), none)
    expect(work).toEqual({
      sampledTokens: 100 * 32 * 20 + 2 * 10 * 20,
      trainedTokens: 100 * 32 * 30,
      prefillTokens: 100 * 4 * 10 + 2 * 5 * 10,
      // 4 groups, a snapshot, and twice a batch with its step; the evaluations' groups.
      requests: 100 * (4 + 1 + 2 * 2) + 2 * 5,
      cost: (64_400 * 3 + 96_000 * 2 + 4100) / 1e6,
    })
    expect(remoteLines(work, loss())).toEqual([
      'server       at most 64.4 thousand tokens sampled, 96.0 thousand trained, its loss as ppo, 4.10 thousand read besides, evaluations included; 910 requests or more',
      'cost         at most about 0.39, in the currency of policy.prices',
    ])
  })

  it('counts a second pass and the reference where the loss needs them, turns, and evaluations between', () => {
    const role = { groups: 4, samples: 8, promptTokens: 10, newTokens: 20 }
    const none = { every: 0, problems: 1 }
    const [plain, withKl] = [0, 0.1].map(kl =>
      reinforcementWork({ prices: null }, 1, [role], learning(kl), none),
    )
    expect(withKl.prefillTokens - plain.prefillTokens).toBe(2 * 32 * 30)
    // Forward for either mini-batch, and the reference's log-probs of every rollout.
    expect(withKl.requests - plain.requests).toBe(2 + 32)
    expect(withKl.cost).toBeNull()
    expect(remoteLines(withKl, loss(0.1)).join('\n')).toMatch(
      /its loss in two passes.*\n.*set policy\.prices/,
    )
    const talking = reinforcementWork({ prices: null }, 1, [{ ...role, turns: 3 }], learning(), none)
    expect(talking.requests - plain.requests).toBe(32 * 2 + 2 * 2)
    // A critic reads every rollout, in a request, and learns from it, in two with a step each.
    const critic = reinforcementWork({ prices: null }, 1, [role], { ...learning(), critic: {} }, none)
    expect(critic.prefillTokens - plain.prefillTokens).toBe(32 * 30)
    expect(critic.trainedTokens).toBe(2 * plain.trainedTokens)
    expect(critic.requests - plain.requests).toBe(1 + 2 * 2)
    const between = { every: 10, problems: 5, problemsAtStart: 2, problemsBetween: 3, samplesBetween: 4 }
    const work = reinforcementWork({ prices: null }, 25, [role], learning(), between)
    // After 10 and 20, and at both ends.
    expect(work.sampledTokens).toBe(25 * 32 * 20 + (5 + 2 + 2 * 3 * 4) * 20)
  })

  it('counts no samples where an inference server draws them, but the scores that they are corrected by', () => {
    const role = { groups: 4, samples: 8, promptTokens: 10, newTokens: 20 }
    const { sampler } = tinkerSchema.parse(
      policy('tiny', { sampler: { url: 'http://127.0.0.1:9', adapters: 'adapters' } }),
    )
    const none = { every: 0, problems: 1 }
    const work = reinforcementWork({ prices: PRICES, sampler }, 2, [role], learning(), none)
    expect(work).toMatchObject({ sampledTokens: 0, trainedTokens: 2 * 32 * 30, prefillTokens: 2 * 32 * 30 })
    const plain = { ...sampler!, correction: null }
    expect(
      reinforcementWork({ prices: PRICES, sampler: plain }, 2, [role], learning(), none).prefillTokens,
    ).toBe(0)
  })

  it('counts demonstrations', () => {
    const work = supervisedWork({ prices: PRICES }, { steps: 10, batch: 4, rowTokens: 50, scoredRows: 6 })
    expect(work).toEqual({
      ...{ sampledTokens: 0, trainedTokens: 2000, prefillTokens: 300, requests: 20 },
      cost: (2000 * 2 + 300) / 1e6,
    })
  })

  it.each<[string, Record<string, unknown>, Record<string, number>]>([
    ['rit', { policy: policy('packing-thinking-start') }, { sampledTokens: 2, trainedTokens: 2 }],
    ['rlcer', { policy: policy('arithmetic-start'), critic: null }, { sampledTokens: 2, trainedTokens: 2 }],
    [
      'rubricem',
      { policy: policy('records-start'), reflection: { temperature: 1 } },
      { sampledTokens: 1.5, trainedTokens: 1.5 },
    ],
  ])('stands in the plan of %s, and grows with its samples', (name, settings, factors) => {
    const { schema, plan } = RECIPES[name]
    const evaluation = { problems: 1, every: 0 }
    const remote = (samples: number) => {
      const config = schema.parse({
        ...settings,
        steps: 50,
        rollout: { prompts: 4, samples, maxTokens: 48 },
        evaluation,
      })
      const { lines, json } = plan(config)
      expect(lines.filter(line => /^(server|cost) /.test(line))).toHaveLength(2)
      expect(lines.join('\n')).not.toMatch(/on two cores|NaN/)
      return json.remote as Record<string, number>
    }
    const [few, many] = [remote(4), remote(8)]
    for (const [key, factor] of Object.entries(factors))
      expect(many[key] / few[key]).toBeGreaterThan(0.95 * factor)
  })
})
