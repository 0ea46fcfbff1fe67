/** @file What those who show rows count on: lists are lists, texts are texts. Whoever edits a file by hand is told of the rest. */

import { DataError } from '../util/errors.ts'
import { isRecord } from '../util/own-value.ts'
import type {
  EvalItem,
  EvalRow,
  EvalSample,
  EventRow,
  RewardedCriterion,
  RolloutRow,
  RubricRow,
  RunInfo,
} from './rows.ts'

const isList = (value: unknown): boolean => Array.isArray(value) && value.every(isRecord)
const isText = (value: unknown): boolean => typeof value === 'string'
const isStep = (value: unknown): boolean => Number.isInteger(value)

interface Shape {
  is(value: unknown): boolean
  /** In words. */
  expected: string
  optional?: true
}
type Shapes<Row> = Partial<Record<keyof Row & string, Shape>>

const isScores = (value: unknown): boolean =>
  isRecord(value) &&
  Object.values(value as Record<string, { value?: unknown }>).every(
    score => isRecord(score) && (score.value === null || typeof score.value === 'number'),
  )

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

/** @param hint what to do about one that is not so */
const checked =
  <Row extends object>(shapes: Shapes<Row>, of = 'a row', hint = 'correct the row, or delete it') =>
  (path: string) =>
  (row: Row): Row => {
    for (const [name, shape] of Object.entries<Shape | undefined>(shapes)) {
      const value: unknown = row[name as keyof Row]
      if (!shape || (value === undefined && shape.optional) || shape.is(value)) continue
      const got = JSON.stringify(value)?.slice(0, 80) ?? 'nothing'
      throw new DataError(`${path}: ${name} of ${of}: expected ${shape.expected}, got ${got}`, {
        hint,
      })
    }
    return row
  }

/** Gives a row of the file back. @throws DataError for one that cannot be shown */
export const checkedRollout = checked<RolloutRow>(ROLLOUT)

const checkedSample = checked<EvalSample>(LISTS, 'a sample')

const object: Shape = { is: isRecord, expected: 'an object' }

const checkedRow = checked<EvalRow>({
  ...{ step, set: text, primary: text, items: list },
  scores: { is: isScores, expected: 'scores, each an object with a value that is a number or null' },
  criteria: { ...object, optional: true },
})
const checkedItem = checked<EvalItem>(
  { id: text, scores: object, sample: { ...object, optional: true } },
  'an item',
)

/** As `checkedRollout`, of evaluations: what they keep for reading is shown as rollouts are. */
export const checkedEval =
  (path: string) =>
  (row: EvalRow): EvalRow => {
    for (const item of checkedRow(path)(row).items ?? []) {
      const { sample } = checkedItem(path)(item)
      if (sample !== undefined) checkedSample(path)(sample)
    }
    return row
  }

const isTextOrNull = (value: unknown): boolean => value === null || isText(value)

const isCriterion = ({ id, text, points, check }: RewardedCriterion): boolean =>
  isText(id) && isTextOrNull(text) && isTextOrNull(check) && (points === null || typeof points === 'number')

/** Whether a run's rubric can be shown; one that says nothing of it can. */
export const isRubric = (rubric: unknown): boolean => {
  if (rubric === undefined) return true
  const { criteria } = isRecord(rubric) ? (rubric as { criteria?: RewardedCriterion[] }) : {}
  return isList(criteria) && criteria!.every(isCriterion)
}

const maybeText: Shape = { ...text, optional: true }
const maybeObject: Shape = { ...object, optional: true }

/** As `checkedRollout`, of config.json: what lists, reports and pages show of it. */
export const checkedInfo = checked<RunInfo>(
  {
    ...{ id: text, createdAt: text, recipe: maybeText, preset: maybeText, model: maybeText },
    ...{ version: maybeText, primarySet: maybeText, rewardFormula: maybeText },
    seed: {
      is: seed => isText(seed) || typeof seed === 'number',
      expected: 'a number or a text',
      optional: true,
    },
    steps: { is: steps => typeof steps === 'number', expected: 'a number', optional: true },
    ...{ criterionNames: maybeObject, criterionAbout: maybeObject, criterionWeights: maybeObject },
    ...{ extensions: list, data: list, files: list, environment: maybeObject, forkedFrom: maybeObject },
  },
  'a run',
  'put it back from a copy',
)

/** As `checkedRollout`, of rubrics that evolve. */
export const checkedRubricRow = checked<RubricRow>({ step, rubrics: list, refused: list })

/** As `checkedRollout`, of events. */
export const checkedEvent = checked<EventRow>(EVENT)
