import { expect, it } from 'vitest'
import { evalRow } from '../eval-row.fixture.ts'
import type { RewardedCriterion, RunInfo } from '../rows.ts'
import { modelCard } from './card.ts'

const card = (criteria: RewardedCriterion[]): string => {
  const info: RunInfo = {
    ...{ id: 'r', createdAt: '2026-01-01', config: {}, environment: {} },
    rubric: { criteria, ofRows: 0, sha256: 'x' },
  }
  const facts = { name: 'ann/proofs', info, step: 1, evals: [evalRow(0.5)], settings: [], command: 'gradus' }
  return modelCard({ ...facts, adapter: false, license: null, baseModel: null })
}

it('a card tells the rubric of its run in a table', () => {
  const text = card([
    { id: 'short', text: 'Is short.', points: 2, check: 'rule length (max: 15)' },
    { id: 'rude', text: 'Is rude.', points: -1.5, check: null },
    { id: 'right', text: null, points: null, check: 'rules that differ by row', rows: 3 },
  ])
  expect(text).toContain(`| criterion | says | points | decided by |
| --- | --- | --- | --- |
| short | Is short. | +2 | rule length (max: 15) |
| rude | Is rude. | −1.5 | a judge |
| right | in words of each row | by row | rules that differ by row |
`)
})

it('names and texts of criteria are no markup, no line of their own, and nothing unseen', () => {
  const id = 'a\u0000\u001b[31m\n| b'
  const text = card([{ id, text: '<script>`x`</script>\r\n# head \u202e', points: 1, check: null }])
  expect(text).toContain(
    '| a\\\\u0000\\\\u001b\\[31m \\| b | \\<script\\>\\`x\\`\\</script\\> \\# head \\\\u202e | +1 | a judge |',
  )
})
