/** @file The rubric of a run's rows as its folder keeps it: what criteria say and weigh, and what decides them. */

import { createHash } from 'node:crypto'
import type { Criterion, Rubric } from '../../rubric/criterion.ts'
import type { RewardedCriterion, RewardedRubric } from '../../runs/rows.ts'
import { canonicalJson } from '../../util/canonical.ts'
import { valuesByName } from '../../util/descriptive.ts'

/** Characters of a rule's settings that are shown. */
const MOST_SETTINGS = 300

/** A rule in a line: `rule length (max: 15)`. */
const describeCheck = ({ verifier }: Pick<Criterion, 'verifier'>): string | null => {
  if (!verifier) return null
  const { kind, fn, params = {} } = verifier
  const settings = Object.entries(params)
    .map(([name, value]) => `${name}: ${JSON.stringify(value)}`)
    .join(', ')
  const shown = settings.length > MOST_SETTINGS ? `${settings.slice(0, MOST_SETTINGS)} ...` : settings
  return `${kind} ${fn}${shown === '' ? '' : ` (${shown})`}`
}

/** What all of them have in common; null where they differ. */
const common = <Value>(values: readonly Value[]): Value | null =>
  values.every(value => value === values[0]) ? values[0] : null

/** What decides a criterion wherever it stands. */
const commonCheck = (all: readonly Criterion[]): string | null => {
  const checks = all.map(describeCheck)
  return checks.every(check => check === checks[0]) ? checks[0] : 'rules that differ by row'
}

const together = (id: string, all: readonly Criterion[], rows: number): RewardedCriterion => ({
  id,
  text: common(all.map(({ text }) => text)),
  points: common(all.map(({ points }) => points)),
  check: commonCheck(all),
  ...(all.length < rows && { rows: all.length }),
})

/** Of every criterion that there is and every tree, whichever row has it. */
const digestOf = (rows: readonly RubricRow[]): string => {
  const texts = new Set(
    rows.flatMap(({ rubric: { criteria, tree } }) =>
      [...criteria, ...(tree ? [tree] : [])].map(canonicalJson),
    ),
  )
  return createHash('sha256')
    .update([...texts].sort().join('\n'))
    .digest('hex')
}

type RubricRow = { rubric: Rubric }

export interface RubricRows {
  train: readonly RubricRow[]
  test: readonly RubricRow[]
  /** Ids of criteria that statistics tell apart. */
  named: ReadonlySet<string>
}

/** The criteria of rows: those that go by their ids one by one, others as a number. */
export const rewardedRubric = ({ train, test, named }: RubricRows): RewardedRubric => {
  const rows = [...train, ...test]
  const entries = valuesByName(
    rows.flatMap(({ rubric }) => rubric.criteria.map(criterion => [criterion.id, criterion] as const)),
  )
  return {
    criteria: entries.flatMap(([id, all]) => (named.has(id) ? [together(id, all, rows.length)] : [])),
    ofRows: entries.reduce((sum, [id, all]) => sum + (named.has(id) ? 0 : all.length), 0),
    sha256: digestOf(test),
  }
}

/** Ids of criteria that a run's rubric tells in words: verdicts on them need none of their own. */
export const loggedCriteria = ({ criteria }: RewardedRubric): ReadonlySet<string> =>
  new Set(criteria.flatMap(({ id, text, points }) => (text === null || points === null ? [] : [id])))
