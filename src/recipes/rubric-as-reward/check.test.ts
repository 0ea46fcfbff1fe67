import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, truncateSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { writeTinyChat } from '../../model/tiny-chat.fixture.ts'
import { resolveShipped } from '../../util/package.ts'
import { refusals } from '../common/refusals.fixture.ts'
import { rubricAsRewardEntry } from './entry.ts'
import { folioRows, proofWriterRows, writeRows } from './sources.fixture.ts'

const START = 'package:models/logic-start'

/** Places of the files that the table names. */
let folder: string
const at = (name: string) => join(folder, name)
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'gradus-check-'))
  mkdirSync(at('bare'))
  writeFileSync(at('bare/notes.txt'), 'no model here')
  writeTinyChat(at('chat'))
  cpSync(resolveShipped(START), at('cut'), { recursive: true })
  truncateSync(at('cut/model.safetensors'), 5000)
  writeFileSync(at('empty.jsonl'), '')
  writeRows(at('folio.jsonl'), folioRows(2, false))
  writeRows(at('pw.jsonl'), proofWriterRows(2))
  writeFileSync(at('broken.jsonl'), '{"id": 1}\n')
  writeRows(at('gorpus.jsonl'), [prontoRow('short', 'wumpus'), prontoRow('long', 'gorpus')])
  cpSync(resolveShipped(START), at('short'), { recursive: true })
  const shape = JSON.parse(readFileSync(at('short/config.json'), 'utf8'))
  writeFileSync(at('short/config.json'), JSON.stringify({ ...shape, max_position_embeddings: 150 }))
})
afterAll(() => rmSync(folder, { recursive: true, force: true }))

/** A second of work where nothing refuses it. */
const SMALL = {
  model: { folder: START },
  policy: { threads: 1, spinning: false },
  steps: 1,
  rollout: { prompts: 2, samples: 2, maxTokens: 32 },
  evaluation: { problems: 2, samples: 1, greedy: false, sets: ['train-distribution'] },
}
const FRESH = {
  steps: 1,
  batch: 2,
  model: { shape: { hiddenSize: 32, layers: 1, heads: 2 } },
  policy: { threads: 1 },
  task: { tests: { hops: [1] } },
  evaluation: { problems: 1 },
}
/** Problems of eight hops, from a start that has the kinds for them. */
const LONG = {
  ...SMALL,
  model: {},
  coldStart: {
    ...FRESH,
    task: { ...FRESH.task, vocabulary: 'long' },
    model: { shape: { hiddenSize: 32, layers: 1, heads: 2, maxPositions: 320 } },
  },
  task: { style: 'shortcut-free', hops: 8 },
  rollout: { ...SMALL.rollout, maxTokens: 99 },
}
const sourced = (sources: () => object[], task: object = {}, more: object = {}) => ({
  ...SMALL,
  task: { sources: sources(), ...task },
  ...more,
})
const folio = () => [{ kind: 'folio', path: at('folio.jsonl') }]
const rules = () => [{ kind: 'proofwriter', path: at('pw.jsonl') }]
const chat = () => ({ model: { folder: at('chat') }, rollout: { ...SMALL.rollout, maxTokens: 8 } })
const prontoRow = (id: string, kind: string) => ({
  id,
  context: `Every ${kind} is bright. Rex is a ${kind}.`,
  question: 'Is the following statement true or false? Rex is bright.',
  options: ['A) True', 'B) False'],
  answer: 'A',
})
const drills = (sources: Record<string, unknown>[]) => ({
  curriculum: { kind: 'custom', sources, keyframes: [{ at: 0, weights: sources.map(() => 1) }] },
})
const started = (coldStart: object) => ({ ...SMALL, model: {}, coldStart: { ...FRESH, ...coldStart } })

describe('plan and run refuse the same, before anything is trained', () => {
  it.each<[string, () => Record<string, unknown>, RegExp]>([
    ['a seed of held-out problems', () => ({ ...SMALL, seed: 'held-out:test' }), /names held-out problems/],
    ['no model', () => ({ ...SMALL, model: {} }), /ConfigError: model\.folder: expected a checkpoint/],
    [
      'two models',
      () => ({ ...SMALL, coldStart: FRESH }),
      /model\.folder: expected nothing beside coldStart/,
    ],
    ['a folder without a model', () => ({ ...SMALL, model: { folder: at('bare') } }), /bare holds no model/],
    ['weights that are cut short', () => ({ ...SMALL, model: { folder: at('cut') } }), /model\.safetensors/],
    [
      'a model of other words',
      () => ({ ...SMALL, model: { folder: at('chat') } }),
      /not the logic task's word/,
    ],
    [
      'a model without a chat template',
      () => ({ ...SMALL, task: { prompt: 'chat' } }),
      /task\.prompt "chat" needs a chat template/,
    ],
    [
      'chat prompts after a cold start',
      () => ({ ...started({}), task: { prompt: 'chat' } }),
      /task\.prompt: expected "miniature" with coldStart/,
    ],
    [
      'a file that is not there',
      () => ({ ...SMALL, task: { file: at('no.jsonl') } }),
      /no\.jsonl: cannot be read/,
    ],
    [
      'a file without rows',
      () => ({ ...SMALL, task: { file: at('empty.jsonl') } }),
      /holds no usable problems/,
    ],
    ['a file of other rows', () => ({ ...SMALL, task: { file: at('broken.jsonl') } }), /broken\.jsonl:1/],
    [
      "FOLIO rows for the miniature's words",
      () => sourced(folio),
      /task\.sources\[0\]: expected no FOLIO rows with task\.prompt "miniature"/,
    ],
    [
      'FOLIO rows to test it on',
      () => ({ ...SMALL, evaluation: { ...SMALL.evaluation, sources: folio() } }),
      /evaluation\.sources\[0\]: expected no FOLIO rows/,
    ],
    [
      "ProofWriter rows beyond the miniature's words",
      () => sourced(rules),
      /task\.sources\[0\]: expected rows of the words that the miniature reads, got 4 of 4 with words that it lacks, first PW-0: "The otter likes the pike\."/,
    ],
    [
      "rows beyond the words of this model's shorter list",
      () => sourced(() => [{ kind: 'prontoqa', path: at('gorpus.jsonl') }]),
      /task\.sources\[0\]: expected rows of the words that the miniature reads, got 1 of 2 with words that it lacks, first long: "Every gorpus is bright\."/,
    ],
    [
      'a file of such rows',
      () => ({ ...SMALL, task: { file: at('gorpus.jsonl') } }),
      /task\.file: expected rows of the words that the miniature reads, got 1 of 2/,
    ],
    [
      'demonstrations in words that the cold start before them does not learn',
      () => ({ ...started({}), method: 'supervised', demonstrations: { kinds: 24 } }),
      /demonstrations: expected what takes the 96 tokens of the model, got problems or step numbers that take 157/,
    ],
    [
      'demonstrations longer than the context, by their place',
      () => ({
        ...SMALL,
        method: 'supervised',
        demonstrations: drills([
          { hops: 1 },
          { hops: 5, style: 'shortcut-free', sideKinds: [4, 4], recite: 45 },
        ]),
        model: { folder: at('short') },
      }),
      /demonstrations\.curriculum\.sources\[1\]: expected at most 150 tokens, the context of the model, got up to/,
    ],
    [
      'demonstrations that no generator can make, before the cold start',
      () => ({ ...started({}), method: 'supervised', demonstrations: drills([{ hops: 3, mentions: 1 }]) }),
      /demonstrations\.curriculum\.sources\[0\]: logic generator: mentions: has no effect/,
    ],
    [
      'a source without a usable row',
      () => sourced(() => [{ kind: 'prontoqa', path: at('empty.jsonl') }]),
      /task\.sources\[0\]\.path: .*empty\.jsonl holds no usable problems/,
    ],
    [
      'two sources of one name',
      () => sourced(() => [{ kind: 'generated' }, { kind: 'generated', hops: 3 }]),
      /task\.sources\[1\]\.name: expected a name of its own, got "generated"/,
    ],
    [
      'sources beside a file',
      () => sourced(() => [{ kind: 'generated' }], { file: at('pw.jsonl') }),
      /task\.file: expected none with task\.sources/,
    ],
    [
      'sources under a schedule of lengths',
      () => sourced(() => [{ kind: 'generated' }], { hops: { kind: 'steps', from: 1, at: [2] } }),
      /task\.hops: expected no schedule with task\.sources/,
    ],
    [
      'formulas for the miniature',
      () => ({ ...SMALL, task: { formulas: 'shown' } }),
      /task\.formulas: expected "hidden" with the miniature/,
    ],
    [
      'proofs of conclusions without formulas',
      () => sourced(folio, { prompt: 'chat' }, { ...chat(), condition: 'proof' }),
      /task\.sources\[0\]: expected formulas of the conclusions with condition "proof".* got 4 of 4 rows without, first folio-0/,
    ],
    [
      'a test about what is trained on',
      () =>
        sourced(
          rules,
          { prompt: 'chat' },
          { ...chat(), evaluation: { ...SMALL.evaluation, sources: rules(), sets: [] } },
        ),
      /evaluation\.sources: expected rows about other sentences/,
    ],
    ['no hops', () => ({ ...SMALL, task: { hops: {} } }), /hops: expected/],
    [
      'the set "real" without a file',
      () => ({ ...SMALL, evaluation: { ...SMALL.evaluation, sets: ['real'] } }),
      /evaluation\.realFile: expected the path/,
    ],
    [
      'the set "real" of a file that is not there',
      () => ({ ...SMALL, evaluation: { ...SMALL.evaluation, sets: ['real'], realFile: at('no.jsonl') } }),
      /no\.jsonl: cannot be read/,
    ],
    [
      'answers longer than the context',
      () => ({ ...SMALL, rollout: { ...SMALL.rollout, maxTokens: 300 } }),
      /300 new ones exceed the context of 256/,
    ],
    [
      'training without room for a proof of its longest problems',
      () => ({ ...LONG, rollout: { ...SMALL.rollout, maxTokens: 32 } }),
      /rollout\.maxTokens: expected at least \d+, which the proof of problem .* takes with its 8 hops, got 32/,
    ],
    [
      'evaluations with less room than training',
      () => ({ ...LONG, evaluation: { ...SMALL.evaluation, maxTokens: 40 } }),
      /evaluation\.maxTokens: expected at least \d+, which the proof of problem .* takes with its 8 hops, got 40/,
    ],
    [
      'a loss that needs a critic',
      () => ({ ...SMALL, loss: { preset: 'trl:dapo', value: { coef: 0.5 } } }),
      /loss\.value: expected null/,
    ],
    ['a setting without an effect', () => ({ ...SMALL, stepWeight: 0.5 }), /stepWeight: expected 1/],
    ['the seed of a cold start', () => started({ seed: 'held-out:x' }), /names held-out problems/],
    [
      'heads of a cold start',
      () => started({ model: { shape: { hiddenSize: 32, heads: 5 } } }),
      /model\.shape: expected heads/,
    ],
    [
      'a curriculum of nothing',
      () => started({ task: { curriculum: { kind: 'custom' } } }),
      /task\.curriculum\.sources: expected/,
    ],
    [
      'where a cold start goes on',
      () => started({ model: { folder: at('nowhere') } }),
      /model\.folder: .*nowhere holds no model/,
    ],
  ])('%s', async (_, settings, message) => {
    const { plan, run, trained } = await refusals(rubricAsRewardEntry, settings(), folder)
    expect(plan).toMatch(message)
    expect(run).toBe(plan)
    expect(trained).toBe(false)
  })

  it('but a plan may name a model that comes later, and says so', async () => {
    const settings = { ...SMALL, model: { folder: at('Qwen2.5-3B-Instruct') }, task: { prompt: 'chat' } }
    const { plan, run } = await refusals(rubricAsRewardEntry, settings, folder)
    expect(plan).toBeNull()
    expect(run).toMatch(/Qwen2\.5-3B-Instruct holds no model/)
    const { lines } = rubricAsRewardEntry.plan(rubricAsRewardEntry.schema.parse(settings))
    expect(lines.join('\n')).toContain('not there yet')
  })
})
