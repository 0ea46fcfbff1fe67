import { describe, expect, it } from 'vitest'
import { ConfigError } from '../util/errors.ts'
import { parseWith } from '../util/schema.ts'
import { engineAsPolicy, rolloutSchema } from './config.ts'

describe('the section policy under its earlier name, engine', () => {
  it('is moved, also in a cold start inside, and nothing else is touched', () => {
    expect(
      engineAsPolicy({ steps: 3, engine: { threads: 1 }, coldStart: { engine: { maxRows: 4 } } }),
    ).toEqual({
      steps: 3,
      policy: { threads: 1 },
      coldStart: { policy: { maxRows: 4 } },
    })
    const others = {
      steps: 3,
      coldStart: null,
      judge: { extraBody: { engine: 'x' } },
      policy: { threads: 2 },
    }
    expect(engineAsPolicy(others)).toEqual(others)
  })

  it('leaves a section that is null as it is, for the schema to refuse', () => {
    for (const name of ['policy', 'engine'])
      expect(engineAsPolicy({ [name]: null })).toEqual({ policy: null })
  })

  it('goes together with policy where the two agree', () => {
    const both = {
      policy: { kind: 'local', threads: 1, sampler: { threads: 2 } },
      engine: { threads: 1, spinning: false, sampler: { threads: 2 } },
    }
    expect(engineAsPolicy(both)).toEqual({
      policy: { kind: 'local', threads: 1, sampler: { threads: 2 }, spinning: false },
    })
  })

  it.each([
    [
      { engine: { threads: 1 }, policy: { threads: 2 } },
      /^my\.yaml: engine\.threads: expected 2 as in policy\.threads, got 1; .*leave it out/,
    ],
    [{ engine: { sampler: {} }, policy: { sampler: null } }, /^my\.yaml: engine\.sampler: expected null/],
    [
      { coldStart: { engine: { threads: 1 }, policy: { threads: 2 } } },
      /^my\.yaml: coldStart: engine\.threads: expected 2/,
    ],
  ])('is refused where the two disagree: %j', (settings, message) => {
    expect(() => engineAsPolicy(settings, 'my.yaml')).toThrow(ConfigError)
    expect(() => engineAsPolicy(settings, 'my.yaml')).toThrow(message)
  })
})

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
