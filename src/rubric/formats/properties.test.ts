import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { DataError } from '../../util/errors.ts'
import { type Criterion, parseRubric } from '../criterion.ts'
import { RUBRIC_FORMATS, readRubricText, rubricRows } from './file.ts'
import type { RubricItem } from './item.ts'

/** Whole code points: half a surrogate pair is no text. */
const text = fc.string({ minLength: 1, maxLength: 20, unit: 'grapheme' })
const points = fc.double({ min: -1e6, max: 1e6, noNaN: true }).filter(value => value !== 0)
/** Without `__proto__`: zod leaves such a key out of records, so that it reaches no prototype. */
const extra = fc.dictionary(
  text.filter(key => key !== '__proto__'),
  fc.jsonValue({ maxDepth: 2 }).filter(value => value !== null),
  { maxKeys: 2 },
)

const criterion: fc.Arbitrary<Criterion> = fc.record(
  {
    id: text,
    text,
    points,
    title: text,
    category: text,
    tags: fc.array(text, { maxLength: 3 }),
    critical: fc.boolean(),
    stage: fc.constantFrom(1, 2, 3, 4),
    verifier: fc.constantFrom(
      { kind: 'rule' as const, fn: 'length', params: { max: 3 } },
      { kind: 'formal' as const, fn: 'valid_proof' },
    ),
    extra,
  },
  { requiredKeys: ['id', 'text', 'points'] },
)

const message = fc.record({ role: fc.constantFrom('user', 'assistant', 'system'), content: text })

const item = fc.record(
  {
    id: text,
    prompt: fc.array(message, { minLength: 1, maxLength: 3 }),
    reference: text,
    rubric: fc.record({
      criteria: fc.uniqueArray(criterion, { minLength: 1, maxLength: 4, selector: ({ id }) => id }),
    }),
  },
  { requiredKeys: ['id', 'rubric', 'prompt'] },
) as fc.Arbitrary<RubricItem>

const items = fc.uniqueArray(item, { minLength: 1, maxLength: 3, selector: ({ id }) => id })

const linesOf = (rows: readonly unknown[]): string => rows.map(row => JSON.stringify(row)).join('\n')

describe('whatever a rubric says', () => {
  it('is the same after it was written and read', () => {
    fc.assert(
      fc.property(items, given => {
        const read = readRubricText(linesOf(rubricRows(given, 'native')), 'ours.jsonl')
        expect(read.items).toEqual(JSON.parse(JSON.stringify(given)))
        for (const { rubric } of read.items) expect(parseRubric(rubric)).toEqual(rubric)
      }),
      { numRuns: 200 },
    )
  })

  it('is the same by way of HealthBench rows, or they cannot hold it and say so', () => {
    fc.assert(
      fc.property(items, given => {
        let rows: unknown[]
        try {
          rows = rubricRows(given, 'healthbench')
        } catch (error) {
          expect(error).toBeInstanceOf(DataError)
          return
        }
        const again = readRubricText(linesOf(rows), 'rows.jsonl', { format: 'healthbench' })
        expect(rubricRows(again.items, 'healthbench')).toEqual(rows)
        const said = (all: readonly RubricItem[]) =>
          all.map(({ rubric }) => rubric.criteria.map(each => [each.text, each.points]))
        expect(said(again.items)).toEqual(said(given))
      }),
      { numRuns: 200 },
    )
  })
})

/** Rows of other shapes: keys of all formats with values that do not belong there. */
const KEYS = [
  ['criteria', 'rubric', 'rubrics', 'prompt', 'points', 'criterion', 'text', 'id', 'weight', 'title'],
  ['sub_tasks', 'requirements', 'task_category', 'checklist', 'initial_annotation', 'tree', 'levels'],
].flat()
const hostile = fc.letrec(tie => ({
  value: fc.oneof(
    { maxDepth: 4 },
    fc.constantFrom(null, true, 0, -1, 1e308, '', 'a', [], {}),
    fc.array(tie('value'), { maxLength: 3 }),
    fc.dictionary(fc.constantFrom(...KEYS, '__proto__', 'constructor'), tie('value'), { maxKeys: 5 }),
  ),
})).value

describe('whatever a row is', () => {
  it.each(RUBRIC_FORMATS.map(({ name }) => name))('%s reads it, or says what is wrong with it', format => {
    fc.assert(
      fc.property(hostile, row => {
        try {
          const { items: read } = readRubricText(JSON.stringify([row]), 'rows.json', { format })
          for (const { rubric } of read) expect(parseRubric(rubric)).toEqual(rubric)
        } catch (error) {
          expect(error).toBeInstanceOf(DataError)
          expect((error as Error).message).toContain('rows.json')
        }
      }),
      { numRuns: 300 },
    )
  })
})
