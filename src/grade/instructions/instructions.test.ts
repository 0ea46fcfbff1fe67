import { describe, expect, it } from 'vitest'
import { IFBENCH_CASES, IFEVAL_CASES, type InstructionCases } from './cases.fixture.ts'
import { checkInstruction } from './check.ts'
import { INSTRUCTION_IDS } from './registry.ts'

const ALL = [...IFEVAL_CASES, ...IFBENCH_CASES]

const responses = ({ id, kwargs, follows, breaks }: InstructionCases) => [
  ...follows.map(response => ({ id, kwargs, response, expected: true })),
  ...breaks.map(response => ({ id, kwargs, response, expected: false })),
]

describe('instructions', () => {
  it.each(ALL.flatMap(responses))(
    '$id $kwargs: $response: $expected',
    ({ id, kwargs, response, expected }) => {
      expect(checkInstruction(id, kwargs, response)).toBe(expected)
    },
  )

  it('are all tried, followed and broken', () => {
    const ids = (cases: readonly InstructionCases[]) => [...new Set(cases.map(({ id }) => id))].sort()
    expect(ids(ALL.filter(({ follows }) => follows.length > 0))).toEqual(INSTRUCTION_IDS)
    expect(ids(ALL.filter(({ breaks }) => breaks.length > 0))).toEqual(INSTRUCTION_IDS)
    expect(ids(IFEVAL_CASES)).toHaveLength(25 + 4)
    expect(ids(IFBENCH_CASES)).toHaveLength(58)
  })

  it.each(ALL)('$id is total: strange responses get a verdict', ({ id, kwargs }) => {
    for (const strange of [
      '',
      ' \n\t',
      '\u0000',
      '"',
      '*',
      '\ud800',
      '(((',
      '\u2028',
      '```',
      'ﬀ',
      '. . .',
      ',\t,',
    ])
      expect(checkInstruction(id, kwargs, strange, { mode: 'loose' })).toBeTypeOf('boolean')
  })

  it.each(ALL)('$id: a blank response follows nothing', ({ id, kwargs }) => {
    expect(checkInstruction(id, kwargs, ' \n ', { mode: 'loose' })).toBe(false)
  })
})
