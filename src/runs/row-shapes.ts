/** @file What those who show rows count on: lists are lists, texts are texts. Whoever edits a file by hand is told of the rest. */

import { DataError } from '../util/errors.ts'
import type { EvalRow, EvalSample, EventRow, RolloutRow } from './rows.ts'

const isList = (value: unknown): boolean =>
  Array.isArray(value) &&
  value.every(item => typeof item === 'object' && item !== null && !Array.isArray(item))
const isText = (value: unknown): boolean => typeof value === 'string'
const isStep = (value: unknown): boolean => Number.isInteger(value)

interface Shape {
  is(value: unknown): boolean
  /** In words. */
  expected: string
  optional?: true
}
type Shapes<Row> = Partial<Record<keyof Row & string, Shape>>

const list: Shape = { is: isList, expected: 'a list of objects', optional: true }
const text: Shape = { is: isText, expected: 'a text' }
const step: Shape = { is: isStep, expected: 'a whole number' }

const LISTS = { turns: list, steps: list, verdicts: list, judgeCalls: list, lessons: list }

const ROLLOUT: Shapes<RolloutRow> = { step, ...LISTS }

const EVENT: Shapes<EventRow> = {
  step: { ...step, optional: true },
  message: text,
  ...{ monitor: { ...text, optional: true }, title: { ...text, optional: true } },
}

const checked =
  <Row extends object>(shapes: Shapes<Row>, of = 'a row') =>
  (path: string) =>
  (row: Row): Row => {
    for (const [name, shape] of Object.entries<Shape | undefined>(shapes)) {
      const value: unknown = row[name as keyof Row]
      if (!shape || (value === undefined && shape.optional) || shape.is(value)) continue
      const got = JSON.stringify(value)?.slice(0, 80) ?? 'nothing'
      throw new DataError(`${path}: ${name} of ${of}: expected ${shape.expected}, got ${got}`, {
        hint: 'correct the row, or delete it',
      })
    }
    return row
  }

/** Gives a row of the file back. @throws DataError for one that cannot be shown */
export const checkedRollout = checked<RolloutRow>(ROLLOUT)

const checkedSample = checked<EvalSample>(LISTS, 'a sample')

/** As `checkedRollout`, of evaluations: what they keep for reading is shown as rollouts are. */
export const checkedEval =
  (path: string) =>
  (row: EvalRow): EvalRow => {
    for (const { sample } of isList(row.items) ? row.items! : [])
      if (sample !== undefined) checkedSample(path)(objectOf(sample, path))
    return row
  }

const objectOf = (sample: EvalSample, path: string): EvalSample => {
  if (isList([sample])) return sample
  throw new DataError(`${path}: sample of an item: expected an object, got ${JSON.stringify(sample)}`, {
    hint: 'correct the row, or delete it',
  })
}

/** Whether a run's rubric can be shown; one that says nothing of it can. */
export const isRubric = (rubric: unknown): boolean =>
  rubric === undefined || (isList([rubric]) && isList((rubric as { criteria?: unknown }).criteria))

/** As `checkedRollout`, of events. */
export const checkedEvent = checked<EventRow>(EVENT)
