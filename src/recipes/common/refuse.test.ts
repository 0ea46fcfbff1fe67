import { expect, it } from 'vitest'
import { environmentSchema } from '../environment/config.ts'
import { sftEntry } from '../sft/entry.ts'
import { assertActions, assertLoss } from './refuse.ts'

it('a loss that a server cannot compute is refused by its key', () => {
  const policy = { kind: 'tinker', url: 'http://127.0.0.1:9', model: 'a' }
  const { policy: remote, loss } = environmentSchema.parse({
    task: { kind: 'tools', file: 'rows.jsonl' },
    policy,
    loss: { preset: 'gradus:ruscarl', entropyCoef: 0.1 },
  })
  expect(() => assertLoss(remote, loss)).toThrow(/^loss\.entropyCoef: expected 0 with policy\.kind tinker/)
})

it('supervised learning neither goes back nor raises a coefficient', () => {
  for (const action of ['rollback', 'raise-kl']) {
    const config = sftEntry.schema.parse({ data: 'rows.jsonl', monitors: { truncation: { action } } })
    expect(() => sftEntry.plan(config)).toThrow(
      /^monitors\.truncation\.action: expected warn, pause or stop in supervised learning/,
    )
  }
})

it('monitors raise no coefficient that is none, and go back to no checkpoint that is not saved', () => {
  const parsed = (settings: object) =>
    environmentSchema.parse({ task: { kind: 'tools', file: 'rows.jsonl' }, ...settings })
  const raising = { monitors: { truncation: { action: 'raise-kl' } } }
  const none = { loss: { preset: 'gradus:ruscarl', kl: { kind: 'none', coef: 0 } } }
  expect(() => assertActions(parsed({ ...raising, ...none }))).toThrow(
    /^monitors\.truncation\.action: .* no KL term/,
  )
  expect(() => assertActions(parsed({ ...raising, loss: 'gradus:ruscarl' }))).not.toThrow()
  const back = { monitors: { lengthDrift: { action: 'rollback' } } }
  expect(() => assertActions(parsed({ ...back, checkpoint: { every: 0 } }))).toThrow(
    /^checkpoint\.every: expected above 0 with monitors\.lengthDrift/,
  )
  expect(() => assertActions(parsed(back))).not.toThrow()
  expect(() => assertActions(parsed({ monitors: null, ...none }))).not.toThrow()
})
