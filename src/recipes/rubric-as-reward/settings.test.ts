import { describe, expect, it } from 'vitest'
import { LOSS_PRESETS } from '../../rl/loss-presets.ts'
import { parseWith } from '../../util/schema.ts'
import { phaseOf } from '../common/training.ts'
import { normalisedAdvantages } from '../options/normalise.ts'
import { checkRubricAsRewardSettings } from './check.ts'
import { CONDITIONS, rubricAsRewardSchema } from './config.ts'
import { rubricAsRewardEntry, rubricAsRewardPresets } from './entry.ts'

const parse = (settings: Parameters<typeof rubricAsRewardSchema.parse>[0]) =>
  rubricAsRewardSchema.parse(settings)

describe('settings that would be ignored are refused', () => {
  it.each(['batch', 'none'])('advantage.scale %s under rubric_norm', scale => {
    const config = parse({ condition: 'rubric_norm', advantage: { scale } })
    expect(() => checkRubricAsRewardSettings(config)).toThrow(
      /advantage\.scale: expected "group".*got "(batch|none)"/,
    )
    expect(() => rubricAsRewardEntry.plan(config)).toThrow(/advantage\.scale/)
  })

  it("a critic's loss, for a policy that is opened without a value head", () => {
    const config = parse({ loss: { preset: 'trl:dapo', value: { coef: 0.5 } } })
    expect(() => rubricAsRewardEntry.plan(config)).toThrow(
      /^loss\.value: expected null with a model that has no value head/,
    )
  })

  it.each(CONDITIONS.filter(condition => condition !== 'rubric_norm'))(
    'advantage.redistribute under %s',
    condition => {
      const config = parse({ condition, advantage: { redistribute: true } })
      expect(() => checkRubricAsRewardSettings(config)).toThrow(/advantage\.redistribute: expected false/)
    },
  )

  it.each([
    [{ condition: 'proof', weights: { C1: 1 } }, /^weights: expected null with condition "proof"/],
    [{ condition: 'baseline', weights: { C1: 1 } }, /^weights: expected null with condition "baseline"/],
    [{ method: 'rejection' }, /^condition: expected "proof" with method "rejection".*got "rubric"/],
    [{ method: 'rejection', condition: 'proof', credit: 'per-step' }, /^credit: expected "scalar"/],
    [
      { method: 'rejection', condition: 'proof', advantage: { scale: 'none' } },
      /^advantage: .*"scale":"none"/,
    ],
    [
      { method: 'rejection', condition: 'proof', dropZero: false },
      /^dropZero: expected true with method "rejection".*got false/,
    ],
    [{ softCriteria: 'exact' }, /^softCriteria: .*got "exact" with condition "rubric"/],
    [{ softCriteria: 'exact', condition: 'hybrid', weights: { C1: 1, C4: 0 } }, /^softCriteria: /],
    [
      { softCriteria: 'exact', condition: 'hybrid', grader: { proxies: { fullWords: 60 } } },
      /^grader\.proxies\.fullWords: expected nothing set with softCriteria "exact".*got 60/,
    ],
    [
      { softCriteria: 'learned', condition: 'hybrid', grader: { proxies: { fullWords: 60 } } },
      /^grader\.proxies\.fullWords: expected nothing set with softCriteria "learned".*got 60/,
    ],
    [{ softCriteria: 'learned' }, /^softCriteria: .*got "learned" with condition "rubric"/],
    [{ verifier: { steps: 5 } }, /^verifier: expected nothing set with softCriteria "heuristic"/],
    [{ accepted: {} }, /^accepted: expected nothing set with method "grpo"/],
    [{ method: 'supervised' }, /^demonstrations: expected what is learnt/],
    [{ demonstrations: {} }, /^demonstrations: expected nothing set with method "grpo"/],
    [
      { method: 'supervised', demonstrations: {}, control: 'random' },
      /^control: expected nothing with method "supervised", which has no reward, got "random"/,
    ],
    [
      { evaluation: { hops: [3, 4], hopsBetween: [5] } },
      /^evaluation\.hopsBetween: expected lengths of evaluation\.hops, got 5/,
    ],
    [
      { credit: 'per-step', control: 'flipped' },
      /^control: expected nothing with credit "per-step".*got "flipped"/,
    ],
    [
      { condition: 'rubric_norm', scoringRule: { name: 'mean' } },
      /^scoringRule: expected nothing with condition "rubric_norm"/,
    ],
    [{ condition: 'proof', flipRate: 0.1 }, /^flipRate: expected 0 with condition "proof"/],
    [
      { condition: 'rubric', criterionGroups: [{ criteria: ['C5'] }] },
      /^criterionGroups\[0\]\.criteria: expected ids of criteria of the rubrics, got "C5"/,
    ],
    [{ stepWeight: 0.5 }, /^stepWeight: expected 1 with credit "scalar".*got 0.5/],
  ] as const)('%j', (settings, message) => {
    expect(() => checkRubricAsRewardSettings(parse(settings))).toThrow(message)
  })

  it('what has an effect is taken', () => {
    for (const settings of [
      {},
      { method: 'rejection', condition: 'proof' },
      { method: 'rejection', condition: 'proof', control: 'random' },
      { softCriteria: 'exact', condition: 'hybrid' },
      { softCriteria: 'learned', condition: 'hybrid', verifier: { steps: 5 } },
      { method: 'rejection', condition: 'proof', accepted: { atMost: 2 } },
      { method: 'supervised', demonstrations: {} },
      { evaluation: { hops: [3, 4], hopsBetween: [4] } },
      { softCriteria: 'exact', weights: { C1: 1, C5: 1 } },
      { softCriteria: 'exact', condition: 'hybrid', grader: { solver: { timeoutMs: 500 } } },
      { condition: 'hybrid', grader: { proxies: { fullWords: 60 } } },
      { credit: 'per-step', stepWeight: 0.5 },
      { control: 'flipped' },
      {
        scoringRule: { name: 'soft-min' },
        criterionGroups: [{ criteria: ['C2'], voidedBy: ['C1'] }],
        flipRate: 0.1,
      },
      ...Object.values(rubricAsRewardPresets).map(({ config }) => config),
      { condition: 'rubric_norm', advantage: { redistribute: true } },
      { condition: 'rubric', advantage: { scale: 'none' } },
    ])
      expect(() => checkRubricAsRewardSettings(parse(settings))).not.toThrow()
  })
})

describe('settings of the grader', () => {
  it('are absent unless set, and complete where one is', () => {
    expect(parse({}).grader).toBeUndefined()
    expect(parse({ grader: { proxies: { termShare: 0.75 } } }).grader).toEqual({
      solver: { timeoutMs: 200, groundWork: 5_000_000, uniqueNames: false, memory: 200_000 },
      proxies: { termShare: 0.75, stepShare: 0.6, fullSteps: 3, fullWords: 80 },
    })
  })

  it.each([
    [{ solver: { timeoutMs: 0 } }, /grader\.solver\.timeoutMs: expected a number of at least 1, got 0/],
    [{ solver: { uniqueName: true } }, /grader\.solver\.uniqueName: .*did you mean uniqueNames/],
    [{ solver: { labelTimeoutMs: 9 } }, /grader\.solver\.labelTimeoutMs: .*unknown key/],
    [{ proxies: { stepShare: -1 } }, /grader\.proxies\.stepShare: expected a number of at least 0, got -1/],
    [{ solverTimeoutMs: 5 }, /grader\.solverTimeoutMs: .*unknown key/],
  ])('%j is refused by name', (grader, message) => {
    expect(() => parseWith(rubricAsRewardSchema, { grader }, 'run.yaml')).toThrow(message)
  })
})

describe('advantage.redistribute', () => {
  /** Two groups: in the first all three criteria vary, in the second C1 alone. */
  const groups = [
    [1, 0].map(s => ({ C1: s, C2: s, C3: s, C4: 0, C5: 0 })),
    [1, 0].map(s => ({ C1: s, C2: 1, C3: 1, C4: 0, C5: 0 })),
  ].map(group => group.map(parts => ({ reward: 0, parts })))
  const weights = { C1: 0.5, C2: 0.25, C3: 0.25 }
  const best = (redistribute: boolean) => {
    const { advantage } = parse({ condition: 'rubric_norm', advantage: { redistribute, epsilon: 0 } })
    const { advantages_P_G } = normalisedAdvantages({ condition: 'rubric_norm', advantage }, groups, {
      weights,
    })
    return advantages_P_G.map(([first]) => first)
  }

  it('off, a group with half of the weight at work has half of the advantage', () => {
    const [all, one] = best(false)
    expect(one / all).toBeCloseTo(0.5, 9)
  })

  it('on, the criteria at work take over the weight of the others', () => {
    const [all, one] = best(true)
    expect(one / all).toBeCloseTo(1, 9)
  })
})

describe('losses that divide by the longest allowed response', () => {
  const scaleOf = (loss: unknown) => {
    const config = parse({ loss, rollout: { maxTokens: 77 } })
    return phaseOf(config, []).loss.aggregation.scale
  }

  it.each(['trl:dr_grpo', 'verl:dr_grpo'])('%s gets it from rollout.maxTokens', preset => {
    expect(LOSS_PRESETS[preset as 'trl:dr_grpo'].aggregation.scale).toBeNull()
    expect(scaleOf(preset)).toBe(77)
    expect(scaleOf({ preset, aggregation: { scale: 50 } })).toBe(50)
  })

  it('others are left alone', () => {
    expect(scaleOf('gradus:rar5')).toBeNull()
  })
})
