import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { refusals } from '../common/refusals.fixture.ts'
import { ritEntry } from './entry.ts'

let folder: string
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'gradus-check-'))
})
afterAll(() => rmSync(folder, { recursive: true, force: true }))

const SMALL = {
  model: { folder: 'package:models/packing-thinking-start' },
  policy: { threads: 1 },
  steps: 1,
  rollout: { prompts: 2, samples: 2, maxTokens: 48 },
  evaluation: { problems: 2, samples: 1 },
}
const arithmetic = { model: { folder: 'package:models/arithmetic-start' }, task: { kind: 'arithmetic' } }

/** Settings with a rubric of one criterion, or of none. */
const withRubric = (name: string, text: string | null, more: object = {}) => {
  const file = join(folder, name)
  writeFileSync(file, JSON.stringify({ criteria: text === null ? [] : [{ id: 'k', text, points: 1 }] }))
  return { ...more, rubric: { source: 'file', file } }
}

describe('plan and run refuse the same, before anything is trained', () => {
  it.each<[string, () => Record<string, unknown>, RegExp]>([
    [
      'a group of one',
      () => ({ rollout: { prompts: 2, samples: 1 } }),
      /rollout\.samples: expected at least 2 without a critic/,
    ],
    [
      'an address that is none',
      () => ({ judge: { fleet: { endpoints: [{ url: 'nope', model: 'm' }] } } }),
      /judge\.fleet: judge url: expected an address .*, got nope/,
    ],
    [
      'thinking alone without criteria for it',
      () => ({ reward: 'thinking', rubric: { source: 'none' } }),
      /rubric\.source: expected one with criteria with reward "thinking"/,
    ],
    [
      'dropout of criteria that are not paid',
      () => ({ reward: 'response', rubricDropout: { rate: 0.5 } }),
      /rubricDropout: expected nothing with reward "response"/,
    ],
    [
      'a group without a judge',
      () => ({ thinkingBy: 'group' }),
      /judge: expected one with thinkingBy "group"/,
    ],
    [
      'settings of a group that is not judged',
      () => ({ group: { looks: 2 } }),
      /group: expected nothing with thinkingBy "rubric"/,
    ],
    [
      'a file without criteria',
      () => withRubric('none.json', null),
      /rubric\.file: .*none\.json: expected criteria, got none/,
    ],
    [
      'criteria that nobody can execute on packing',
      () => withRubric('packing.json', 'Names a plan'),
      /rubric\.file: .*packing\.json: criterion "k": expected a verifier packing_thought, got none/,
    ],
    [
      'criteria that are no sentences of arithmetic',
      () => withRubric('sums.json', 'Names a plan', arithmetic),
      /rubric\.file: .*sums\.json: criterion "k": expected a sentence of arithmetic's grammar, got "Names a plan"/,
    ],
  ])('%s', async (_, settings, message) => {
    const { plan, run, trained } = await refusals(ritEntry, { ...SMALL, ...settings() }, folder)
    expect(plan).toMatch(message)
    expect(run).toBe(plan)
    expect(trained).toBe(false)
  })

  it('takes what can be executed, and words that a language model is to judge by', () => {
    const judge = { fleet: { endpoints: [{ url: 'http://127.0.0.1:9/v1', model: 'm' }] } }
    const fine = [
      withRubric('order.json', 'takes the operations in order', arithmetic),
      withRubric('words.json', 'Names a plan', { judge }),
    ]
    for (const settings of fine)
      expect(() => ritEntry.plan(ritEntry.schema.parse({ ...SMALL, ...settings }))).not.toThrow()
  })
})
