/** @file Evaluations with right answers as their one score, for tests that are about something else. */

import type { EvalItem, EvalRow } from './rows.ts'

export const evalItem = (id: string, accuracy: number, more: Partial<EvalItem> = {}): EvalItem => ({
  id,
  scores: { accuracy },
  ...more,
})

export const evalRow = (accuracy: number, more: Partial<EvalRow> = {}): EvalRow => ({
  step: 0,
  set: 'real',
  n: 1,
  scores: { accuracy: { value: accuracy } },
  primary: 'accuracy',
  scoreNames: { accuracy: 'answers right' },
  ...more,
})

/** A row with its items, one a problem: `p0`, `p1`, ... unless named. */
export const evalRowOf = (
  rights: readonly number[],
  more: Partial<EvalRow> = {},
  ids: readonly string[] = rights.map((_, i) => `p${i}`),
): EvalRow =>
  evalRow(rights.reduce((sum, right) => sum + right, 0) / rights.length, {
    n: rights.length,
    items: rights.map((right, i) => evalItem(ids[i], right)),
    ...more,
  })
