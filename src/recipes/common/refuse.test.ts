import { expect, it } from 'vitest'
import { environmentSchema } from '../environment/config.ts'
import { assertLoss } from './refuse.ts'

it('a loss that a server cannot compute is refused by its key', () => {
  const policy = { kind: 'tinker', url: 'http://127.0.0.1:9', model: 'a' }
  const { policy: remote, loss } = environmentSchema.parse({
    task: { kind: 'tools', file: 'rows.jsonl' },
    policy,
    loss: { preset: 'gradus:ruscarl', entropyCoef: 0.1 },
  })
  expect(() => assertLoss(remote, loss)).toThrow(/^loss\.entropyCoef: expected 0 with policy\.kind tinker/)
})
