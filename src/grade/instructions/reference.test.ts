import { describe, expect, it } from 'vitest'
import { readJsonl } from '../../util/jsonl.ts'
import { sharedData } from '../../util/shared-data.fixture.ts'
import { checkInstruction, type InstructionKwargs } from './check.ts'

interface Case {
  id: number
  instruction_id: string | null
  test_instruction_id: string
  kwargs: InstructionKwargs
  response: string
  expected: boolean
}

/** Cases of the public checkers' own tests that we answer otherwise; the how-to page explains each. */
const DEVIATIONS: Readonly<Record<string, readonly number[]>> = { ifeval: [], ifbench: [] }

describe.each(['ifeval', 'ifbench'])('cases of %s', name => {
  const path = sharedData(`${name}/checker_cases.jsonl`)
  const cases = path === null ? [] : readJsonl<Case>(path)

  it.skipIf(path === null)('are there (../shared/data)', () => expect(cases.length).toBeGreaterThan(40))

  it.each(cases)('$id $instruction_id $kwargs', ({ id, kwargs, response, expected, ...row }) => {
    const verdict = checkInstruction(row.instruction_id ?? row.test_instruction_id, kwargs, response)
    expect(verdict).toBe(DEVIATIONS[name].includes(id) ? !expected : expected)
  })
})

describe.each(['ifeval', 'ifbench'])('prompts of %s', name => {
  const path = sharedData(`${name}/prompts.jsonl`)

  it.skipIf(path === null)('name instructions and arguments that we take', () => {
    const rows = readJsonl<{ instruction_id_list: string[]; kwargs: InstructionKwargs[] }>(path!)
    for (const { instruction_id_list, kwargs } of rows)
      for (const [index, id] of instruction_id_list.entries())
        expect(checkInstruction(id, kwargs[index], 'Some response.', { prompt: 'p' })).toBeTypeOf('boolean')
  })
})
