import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { writeTinyChat } from '../../model/tiny-chat.fixture.ts'
import { refusals } from '../common/refusals.fixture.ts'
import { logicColdStart } from './entry.ts'
import { freshLogicModel } from './model.ts'
import { coldStartVocabulary } from './recipe.ts'

let folder: string
const at = (name: string) => join(folder, name)
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'gradus-check-'))
  writeTinyChat(at('chat'))
})
afterAll(() => rmSync(folder, { recursive: true, force: true }))

const SMALL = {
  steps: 1,
  batch: 2,
  model: { shape: { hiddenSize: 32, layers: 1, heads: 2 } },
  policy: { threads: 1 },
  evaluation: { hops: [1], problems: 1, maxTokens: 24 },
}

const custom = (sources: Record<string, unknown>[]) => ({
  curriculum: { kind: 'custom', sources, knots: [{ at: 0, weights: sources.map(() => 1) }] },
})

describe('plan and run refuse the same, before anything is trained', () => {
  it.each<[string, () => Record<string, unknown>, RegExp]>([
    ['a seed of held-out problems', () => ({ seed: 'held-out:test' }), /names held-out problems/],
    [
      'heads that do not divide the width',
      () => ({ model: { shape: { hiddenSize: 32, heads: 5 } } }),
      /model\.shape: expected heads that divide/,
    ],
    ['no model to go on from', () => ({ start: at('nowhere') }), /start: .*nowhere holds no model/],
    ['a model of other words', () => ({ start: at('chat') }), /not the logic task's word list/],
    [
      'a curriculum without sources',
      () => ({ curriculum: { kind: 'custom' } }),
      /curriculum\.sources: expected/,
    ],
    [
      'a curriculum without knots',
      () => ({ curriculum: { kind: 'custom', sources: [{ hops: 1 }] } }),
      /curriculum\.knots: expected at least one/,
    ],
    [
      'weights that are no weight a source',
      () => ({
        curriculum: { kind: 'custom', sources: [{ hops: 1 }], knots: [{ at: 0, weights: [1, 2] }] },
      }),
      /curriculum\.knots\[0\]\.weights: expected 1/,
    ],
    [
      'more hops than kinds',
      () => ({
        curriculum: {
          kind: 'custom',
          sources: [{ hops: 5, nodes: [2, 3] }],
          knots: [{ at: 0, weights: [1] }],
        },
      }),
      /nodes: expected/,
    ],
    [
      'a test file that is not there',
      () => ({ evaluation: { ...SMALL.evaluation, realFile: at('no.jsonl') } }),
      /no\.jsonl: cannot be read/,
    ],
    [
      'answers longer than the context',
      () => ({ evaluation: { ...SMALL.evaluation, maxTokens: 250 } }),
      /250 new ones exceed the context of 256/,
    ],
    [
      'a source that no generator can make, by its place',
      () => custom([{ hops: 2 }, { hops: 3, mentions: 1 }]),
      /curriculum\.sources\[1\]: logic generator: mentions: has no effect without connected/,
    ],
    [
      'problems longer than the context',
      () => custom([{ hops: 2 }, { hops: 12, style: 'shortcut-free' }]),
      /curriculum\.sources\[1\]: expected at most 256 tokens, .* got up to 283/,
    ],
    [
      'a drill longer than the context, by its place',
      () => ({
        ...custom([
          { hops: 1, recite: 2 },
          { hops: 3, kinds: 24, style: 'shortcut-free', sideKinds: [14, 18], recite: 45 },
        ]),
      }),
      /curriculum\.sources\[1\]: expected at most 256 tokens, .* got up to \d+: \d+ of \d+ rules/,
    ],
    [
      'phrases of a model to go on from that lacks them',
      () => ({ start: 'package:models/logic-start', vocabulary: 'long' }),
      /start: expected a model of the 157 tokens that vocabulary "long" names, got one of 96/,
    ],
    [
      'a test proof longer than the answer may be',
      () => ({ evaluation: { ...SMALL.evaluation, hops: [8], maxTokens: 70 } }),
      /maxTokens: expected at least [78]\d, .* with its 8 hops, got 70/,
    ],
    [
      'words that the model to go on from lacks',
      () => ({ start: 'package:models/logic-start', kinds: 24 }),
      /start: expected a model of the 157 tokens .* got one of 96/,
    ],
  ])('%s', async (_, settings, message) => {
    const { plan, run, trained } = await refusals(logicColdStart, { ...SMALL, ...settings() }, folder)
    expect(plan).toMatch(message)
    expect(run).toBe(plan)
    expect(trained).toBe(false)
  })

  it('and problems of both styles by turns, of longer chains than five hops', () => {
    const longer = custom([
      { hops: 12, style: 'shortcut-free', mentions: 1, sideKinds: [1, 2] },
      { hops: 3, order: 'shuffled', distractors: 'none', wording: 'as-given' },
    ])
    const shape = { hiddenSize: 32, layers: 1, heads: 2, maxPositions: 384 }
    const config = logicColdStart.schema.parse({ ...SMALL, ...longer, model: { shape } })
    expect(() => logicColdStart.plan(config)).not.toThrow()
    expect(freshLogicModel(config.model.shape, 1, coldStartVocabulary(config)).init!.config.vocabSize).toBe(
      160,
    )
    const phrases = logicColdStart.schema.parse({ ...SMALL, vocabulary: 'long' })
    expect(coldStartVocabulary(phrases)).toHaveLength(157)
    expect(coldStartVocabulary(logicColdStart.schema.parse(SMALL))).toHaveLength(96)
  })

  it('but no drill of few rules for the length of proofs that it does not have', () => {
    const drill = custom([{ hops: 12, style: 'shortcut-free', recite: 4 }])
    expect(() => logicColdStart.plan(logicColdStart.schema.parse({ ...SMALL, ...drill }))).not.toThrow()
  })

  it('nor what fits in phrases for its length in words', () => {
    const shape = { hiddenSize: 32, layers: 1, heads: 2, maxPositions: 300 }
    const longer = custom([{ hops: 12, style: 'shortcut-free' }])
    const config = logicColdStart.schema.parse({ ...SMALL, ...longer, model: { shape } })
    expect(() => logicColdStart.plan(config)).not.toThrow()
  })

  it('and the shape that a model to go on from makes needless is not looked at', () => {
    const config = { start: 'package:models/logic-start', model: { shape: { hiddenSize: 32, heads: 5 } } }
    expect(logicColdStart.plan(logicColdStart.schema.parse(config)).json.parameters).toBeGreaterThan(800_000)
  })
})
