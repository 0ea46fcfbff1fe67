/**
 * @file Rows as earlier versions wrote them, read as rows of today: scores under their names, and nothing known as null.
 *
 * Evaluations then had fields of one task (`accuracy`, `correctAndValid`, their greedy kin), and every recipe's main score was
 * called `accuracy`. Rollouts of which nothing was known had a reward and a C2 of 0.
 */

import type {
  Baseline,
  EvalItem,
  EvalRow,
  Interval,
  LabelScore,
  MetricGroup,
  RolloutRow,
  Scores,
} from './rows.ts'
import { greedyName } from './scores.ts'

interface FormerEvalRow {
  scores?: undefined
  /** What `accuracy` was where it was not the share of right answers. */
  scoreName?: string
  byLabel?: Record<string, Pick<LabelScore, 'n'>>
  baselines?: Record<string, object>
  items?: readonly Pick<EvalItem, 'id'>[]
  [name: string]: unknown
}

const NAMES_OF_ACCURACY: Readonly<Record<string, string>> = {
  'rubric score': 'rubric',
  'agreement with labels': 'agreement',
}

/** What the figure called accuracy is called today, by what it was in words. */
const nameOfAccuracy = (scoreName: string | undefined): string =>
  (scoreName === undefined ? undefined : NAMES_OF_ACCURACY[scoreName]) ?? 'accuracy'

const WORDS: Readonly<Record<string, string>> = {
  correctAndProved: 'correct and proved',
  accuracy: 'answers right',
  correctAndValid: 'correct and valid',
  validProofs: 'valid proofs',
  wellFormed: 'well formed',
}

/** Every score's former field with its name of today, in the order of today. */
const namesOf = (accuracy: string): [former: string, name: string][] => [
  ['correctAndProved', 'correctAndProved'],
  ['accuracy', accuracy],
  ['correctAndValid', 'correctAndValid'],
  ['validProofs', 'validProofs'],
  ['wellFormed', 'wellFormed'],
  ['greedyAccuracy', greedyName(accuracy)],
  ['greedyCorrectAndValid', greedyName('correctAndValid')],
]

type Names = ReturnType<typeof namesOf>

const fieldsOf = (row: object): Readonly<Record<string, unknown>> => row as Record<string, unknown>

const numbersOf = (row: object, names: Names): MetricGroup =>
  Object.fromEntries(
    names.flatMap(([former, name]) => {
      const value = fieldsOf(row)[former]
      return typeof value === 'number' ? [[name, value]] : []
    }),
  )

const scoresOf = (row: object, names: Names): Scores =>
  Object.fromEntries(
    names.flatMap(([former, name]) => {
      const [value, interval] = [former, `${former}Interval`].map(field => fieldsOf(row)[field]) as [
        unknown,
        Interval?,
      ]
      return typeof value === 'number' ? [[name, { value, ...(interval && { interval }) }]] : []
    }),
  )

const mapValues = <A, B>(record: Record<string, A>, change: (value: A) => B): Record<string, B> =>
  Object.fromEntries(Object.entries(record).map(([name, value]) => [name, change(value)]))

const withoutScores = <T extends object>(row: T, names: Names): Partial<T> => {
  const former = new Set(['scoreName', ...names.flatMap(([name]) => [name, `${name}Interval`])])
  return Object.fromEntries(Object.entries(row).filter(([key]) => !former.has(key))) as Partial<T>
}

/** An evaluation of today's shape; one that has it already is given back as it is. */
export const upgradeEval = (row: EvalRow | FormerEvalRow): EvalRow => {
  if (row.scores !== undefined) return row as EvalRow
  const { scoreName, byLabel, baselines, items, ...rest } = row as FormerEvalRow
  const accuracy = nameOfAccuracy(scoreName)
  const names = namesOf(accuracy)
  const scores = scoresOf(rest, names)
  const primary = ['correctAndProved', 'correctAndValid'].find(name => name in scores) ?? accuracy
  const words = Object.keys(scores).flatMap(name => (name in WORDS ? [[name, WORDS[name]]] : []))
  return {
    ...(withoutScores(rest, names) as unknown as Pick<EvalRow, 'step' | 'set' | 'n'>),
    scores,
    primary,
    scoreNames: {
      ...Object.fromEntries(words),
      ...(scoreName !== undefined && { [accuracy]: scoreName }),
    },
    ...(byLabel && {
      byLabel: mapValues(byLabel, (label): LabelScore => ({ n: label.n, scores: numbersOf(label, names) })),
    }),
    ...(baselines && {
      baselines: mapValues(
        baselines,
        (own): Baseline => ({ ...withoutScores(own, names), scores: scoresOf(own, names) }),
      ),
    }),
    ...(items && {
      items: items.map(
        (item): EvalItem => ({
          ...(withoutScores(item, names) as Pick<EvalItem, 'id' | 'criteria'>),
          scores: numbersOf(item, names),
        }),
      ),
    }),
  }
}

/** Why a proof could not be judged, as verdicts on it said. */
const EXCLUDED: ReadonlySet<string | undefined> = new Set(['inconsistent-premises', 'solver-failed'])

/** A rollout in which what nobody knows is null; rows of today say so already. */
export const upgradeRollout = (row: RolloutRow): RolloutRow => {
  const silent = (row.verdicts ?? []).filter(({ met, credit }) => met === null && credit === undefined)
  const unknown = row.flags?.unjudged === 1 || silent.some(({ explanation }) => EXCLUDED.has(explanation))
  const without = new Set(silent.map(({ criterionId }) => criterionId))
  const parts = Object.entries(row.parts ?? {}).map(([id, value]) => [id, without.has(id) ? null : value])
  return {
    ...row,
    ...(unknown && { reward: null }),
    ...(row.parts && { parts: Object.fromEntries(parts) as MetricGroup }),
  }
}
