import { expect, it } from 'vitest'
import { formerConfig, settingsOfToday } from './former-starts.ts'

const learnt = (task?: object) => ({
  ...{ recipe: 'sft', seed: 1, out: null, steps: 3, maxMinutes: null, batch: 8, preset: 'any' },
  ...{ policy: {}, optimizer: {}, checkpoint: {}, monitors: {}, trackers: {}, ...(task && { task }) },
  model: { folder: 'runs/start', shape: { layers: 1 } },
  evaluation: { every: 1, problems: 2, samples: 3, maxTokens: 4 },
})

it('a start that was registered as a recipe of its own has the configuration that it had', () => {
  const arithmetic = formerConfig(learnt({ kind: 'arithmetic', hinted: 0.5 }))
  expect(arithmetic).toMatchObject({ recipe: 'arithmetic-cold-start', hinted: 0.5, start: 'runs/start' })
  expect(arithmetic).toMatchObject({ model: { shape: { layers: 1 } }, evaluation: { samples: 3 } })
  expect(arithmetic).not.toHaveProperty('task')
  const records = formerConfig(learnt({ kind: 'records' }))
  expect(records).toMatchObject({ recipe: 'records-cold-start', evaluation: { every: 1, problems: 2 } })
  const greedy = formerConfig(learnt({ kind: 'logic', tests: { greedy: 'only' } }))
  expect(greedy).toMatchObject({ recipe: 'logic-cold-start', evaluation: { samples: 0, greedy: true } })
})

it('what was no recipe of its own stays as it is: rows of a file, other tasks and methods', () => {
  for (const config of [learnt(), learnt({ kind: 'requests' }), { recipe: 'ruscarl', task: {} }])
    expect(formerConfig(config)).toBe(config)
})

it('settings that lay beside the task are in it, those of others stay', () => {
  expect(settingsOfToday('ruscarl', { world: 7, steps: 3, task: { kind: 'packing' } })).toEqual({
    steps: 3,
    task: { kind: 'packing', world: 7 },
  })
  expect(settingsOfToday('rlcer', { world: 7 })).toEqual({ world: 7 })
})

it('keyframes that were registered as knots have their name of today', () => {
  const demonstrations = { curriculum: { kind: 'custom', knots: [{ at: 0, weights: [1] }] } }
  expect(settingsOfToday('rubric-as-reward', { demonstrations })).toEqual({
    demonstrations: { curriculum: { kind: 'custom', keyframes: [{ at: 0, weights: [1] }] } },
  })
})
