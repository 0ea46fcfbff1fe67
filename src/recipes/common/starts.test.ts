import { describe, expect, it } from 'vitest'
import { RECIPES } from '../index.ts'
import {
  arithmeticPhaseSchema,
  logicPhaseSchema,
  packingPhaseSchema,
  recordsPhaseSchema,
} from '../sft/config.ts'

const SUPERVISED = {
  'learned-verifier': RECIPES['learned-verifier'].schema,
  // By themselves they may test and save their start; another recipe needs a model that has learnt.
  'a phase of logic': logicPhaseSchema,
  'a phase of packing': packingPhaseSchema,
  'a phase of records': recordsPhaseSchema,
  'a phase of arithmetic': arithmeticPhaseSchema,
}

describe('what learns from demonstrations', () => {
  it.each(Object.entries(SUPERVISED))('%s takes at least one step', (_, schema) => {
    const wrong = (settings: object) =>
      schema.safeParse(settings).error?.issues.map(({ path }) => path.join('.'))
    expect(wrong({ steps: 0 })).toContain('steps')
    // A mean that never moves divides by nothing.
    expect(wrong({ optimizer: { beta1: 1 } })).toContain('optimizer.beta1')
    expect(wrong({ optimizer: { beta2: 1 } })).toContain('optimizer.beta2')
  })
})
