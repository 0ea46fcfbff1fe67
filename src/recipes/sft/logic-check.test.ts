import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { writeTinyChat } from '../../model/tiny-chat.fixture.ts'
import { startVocabulary } from '../../tasks/logic/demonstrations.ts'
import { logicStartSchema } from '../../tasks/logic/start-settings.ts'
import { refusals } from '../common/refusals.fixture.ts'
import { sftEntry } from './entry.ts'
import { startConfig } from './start.fixture.ts'

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
  evaluation: { problems: 1, maxTokens: 24 },
}

/** Settings of a small start. @param task settings of it */
const start = (task: object, more: object = {}) => ({
  ...SMALL,
  task: { tests: { hops: [1] }, ...task },
  ...more,
})

const custom = (sources: Record<string, unknown>[], more: object = {}) =>
  start(
    { curriculum: { kind: 'custom', sources, keyframes: [{ at: 0, weights: sources.map(() => 1) }] } },
    more,
  )

const PACKAGED = { model: { folder: 'package:models/logic-start' } }

describe('plan and run refuse the same, before anything is trained', () => {
  it.each<[string, () => Record<string, unknown>, RegExp]>([
    ['a seed of held-out problems', () => start({}, { seed: 'held-out:test' }), /names held-out problems/],
    [
      'heads that do not divide the width',
      () => start({}, { model: { shape: { hiddenSize: 32, heads: 5 } } }),
      /model\.shape: expected heads that divide/,
    ],
    [
      'a model of other words',
      () => start({}, { model: { folder: at('chat') } }),
      /not the logic task's word list/,
    ],
    [
      'a curriculum without sources',
      () => start({ curriculum: { kind: 'custom' } }),
      /task\.curriculum\.sources: expected/,
    ],
    [
      'a curriculum without keyframes',
      () => start({ curriculum: { kind: 'custom', sources: [{ hops: 1 }] } }),
      /task\.curriculum\.keyframes: expected at least one/,
    ],
    [
      'weights that are no weight a source',
      () =>
        start({
          curriculum: { kind: 'custom', sources: [{ hops: 1 }], keyframes: [{ at: 0, weights: [1, 2] }] },
        }),
      /task\.curriculum\.keyframes\[0\]\.weights: expected 1/,
    ],
    ['more hops than kinds', () => custom([{ hops: 5, nodes: [2, 3] }]), /nodes: expected/],
    [
      'a test file that is not there',
      () => start({ tests: { hops: [1], realFile: at('no.jsonl') } }),
      /no\.jsonl: cannot be read/,
    ],
    [
      'answers longer than the context',
      () => start({}, { evaluation: { ...SMALL.evaluation, maxTokens: 250 } }),
      /250 new ones exceed the context of 256/,
    ],
    [
      'a source that no generator can make, by its place',
      () => custom([{ hops: 2 }, { hops: 3, mentions: 1 }]),
      /task\.curriculum\.sources\[1\]: logic generator: mentions: has no effect without connected/,
    ],
    [
      'problems longer than the context',
      () => custom([{ hops: 2 }, { hops: 12, style: 'shortcut-free' }]),
      /task\.curriculum\.sources\[1\]: expected at most 256 tokens, .* got up to 283/,
    ],
    [
      'a drill longer than the context, by its place',
      () =>
        custom([
          { hops: 1, recite: 2 },
          { hops: 3, kinds: 24, style: 'shortcut-free', sideKinds: [14, 18], recite: 45 },
        ]),
      /curriculum\.sources\[1\]: expected at most 256 tokens, .* got up to \d+: \d+ of \d+ rules/,
    ],
    [
      'phrases of a model to go on from that lacks them',
      () => start({ vocabulary: 'long' }, PACKAGED),
      /model\.folder: expected a model of the 157 tokens that vocabulary "long" names, got one of 96/,
    ],
    [
      'a test proof longer than the answer may be',
      () => start({ tests: { hops: [8] } }, { evaluation: { ...SMALL.evaluation, maxTokens: 70 } }),
      /evaluation\.maxTokens: expected at least [78]\d, .* with its 8 hops, got 70/,
    ],
    [
      'words that the model to go on from lacks',
      () => start({ kinds: 24 }, PACKAGED),
      /model\.folder: expected a model of the 157 tokens .* got one of 96/,
    ],
  ])('%s', async (_, settings, message) => {
    const { plan, run, trained } = await refusals(
      sftEntry,
      startConfig('logic-cold-start', settings()),
      folder,
    )
    expect(plan).toMatch(message)
    expect(run).toBe(plan)
    expect(trained).toBe(false)
  })

  const planned = (settings: Record<string, unknown>) =>
    sftEntry.plan(startConfig('logic-cold-start', settings))
  const shaped = (maxPositions: number) => ({ model: { shape: { ...SMALL.model.shape, maxPositions } } })

  it('and problems of both styles by turns, of longer chains than five hops', () => {
    const longer = custom(
      [
        { hops: 12, style: 'shortcut-free', mentions: 1, sideKinds: [1, 2] },
        { hops: 3, order: 'shuffled', distractors: 'none', wording: 'as-given' },
      ],
      shaped(384),
    )
    expect(planned(longer).lines[0]).toMatch(/160 tokens$/)
    const tokensOf = (task: object) =>
      startVocabulary(logicStartSchema.parse({ kind: 'logic', tests: { hops: [1] }, ...task }))
    expect(tokensOf({ vocabulary: 'long' })).toHaveLength(157)
    expect(tokensOf({})).toHaveLength(96)
  })

  it('but no drill of few rules for the length of proofs that it does not have', () => {
    planned(custom([{ hops: 12, style: 'shortcut-free', recite: 4 }]))
  })

  it('nor what fits in phrases for its length in words', () => {
    planned(custom([{ hops: 12, style: 'shortcut-free' }], shaped(300)))
  })

  it('and the shape that a model to go on from makes needless is not looked at', () => {
    planned({ ...start({}), model: { ...PACKAGED.model, shape: { hiddenSize: 32, heads: 5 } } })
  })
})
