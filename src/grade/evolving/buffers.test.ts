import { expect, it } from 'vitest'
import { CheckpointError } from '../../util/errors.ts'
import { EvolvingBuffers, NO_RUBRICS } from './buffers.ts'
import { rubric } from './evolving.fixture.ts'

const filled = () => {
  const buffers = new EvolvingBuffers()
  buffers.keep('a', { active: [rubric('1.1.1', 1), rubric('2.3.1', 3)], inactive: [rubric('1.2.1', 2)] })
  buffers.keep('__proto__', { active: [rubric('1.4.1', 4, { sign: 'negative', weight: 3 })], inactive: [] })
  return buffers
}

it('what is kept comes back through JSON just as it was', () => {
  const first = filled()
  const second = new EvolvingBuffers()
  second.keep('gone', { active: [], inactive: [] })
  second.load(JSON.parse(JSON.stringify(first.save())))
  expect(second.save()).toEqual(first.save())
  expect(second.of('a')).toEqual(first.of('a'))
  expect(second.of('__proto__').active).toHaveLength(1)
  expect(second.of('gone')).toBe(NO_RUBRICS)
  expect([second.size, second.active]).toEqual([2, 3])
  expect(new EvolvingBuffers().of('constructor')).toBe(NO_RUBRICS)
})

it('what was saved does not change with what comes later', () => {
  const buffers = filled()
  const saved = JSON.stringify(buffers.save())
  const before = buffers.save()
  buffers.keep('a', NO_RUBRICS)
  expect(JSON.stringify(before)).toBe(saved)
})

const saved = (changes: object = {}) => [
  {
    question: 'a',
    active: [
      {
        ...{ id: '1.1.1', stage: 1, sign: 'positive', title: 't', description: 'd', weight: 2, since: 1 },
        ...changes,
      },
    ],
    inactive: [],
  },
]

it.each<[string, unknown, RegExp]>([
  ['an object', {}, /expected a list/],
  ['nothing', undefined, /expected a list/],
  ['stage 5', saved({ stage: 5 }), /\[0\]\.active\[0\]\.stage/],
  ['a weight that is none', saved({ weight: 2.5 }), /weight/],
  ['a step below 0', saved({ since: -1 }), /since/],
  ['a rubric that was given', saved({ since: null }), /since: expected/],
  ['a strange key', saved({ level: 1 }), /level/],
  ['no description', saved({ description: '' }), /description/],
  ['a question twice', [...saved(), ...saved()], /question: expected each question once/],
  ['an id twice', [{ ...saved()[0], inactive: saved()[0].active }], /expected each rubric id once/],
])('refuses %s, and changes nothing then', (_, value, message) => {
  const buffers = filled()
  expect(() => buffers.load(value)).toThrow(CheckpointError)
  expect(() => buffers.load(value)).toThrow(message)
  expect(buffers.save()).toEqual(filled().save())
})
