import { describe, expect, it } from 'vitest'
import { parseWith } from '../util/schema.ts'
import { rolloutSchema } from './config.ts'

describe('rollouts of a step', () => {
  it('are refused where no memory holds them, each by itself and together', () => {
    const read = (value: object) => () => parseWith(rolloutSchema, value, 'rollout')
    expect(read({ prompts: 4096, samples: 256 })).not.toThrow()
    expect(read({ prompts: 1e9 })).toThrow(
      'rollout: prompts: expected a number of at most 65536, got 1000000000',
    )
    expect(read({ samples: 1e9 })).toThrow(
      'rollout: samples: expected a number of at most 65536, got 1000000000',
    )
    // One thing is said once.
    expect(read({ samples: 1e9 })).not.toThrow('rollouts a step')
    expect(read({ prompts: 4096, samples: 257 })).toThrow(
      'expected at most 1,048,576 rollouts a step, prompts x samples, got an object; lower one of the two',
    )
  })
})
