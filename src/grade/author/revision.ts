/** @file Reads a revised rubric: which criteria are old, which new, what changed, and whether it is a rubric at all. */

import { z } from 'zod'
import type { Criterion, Rubric } from '../../rubric/criterion.ts'
import { DataError } from '../../util/errors.ts'
import { parseWith } from '../../util/schema.ts'
import type { Parsed } from '../judge/parse.ts'
import { type DraftCriterion, type DraftLimits, draftProblems, readDraft } from './draft.ts'

/** Kinds of faults that a round looks for. */
export const DRAFT_FAULTS = ['missing', 'redundant', 'ambiguous'] as const

/** What a round found, and what it did about it. */
export interface RefineRound {
  missing: string[]
  redundant: string[]
  ambiguous: string[]
  addedIds: string[]
  removedIds: string[]
  changedIds: string[]
}

export interface Revision {
  rubric: Rubric
  round: RefineRound
  changed: boolean
}

/** The rubric, unless something keeps it from being accepted. */
export const accept = (rubric: Rubric, limits: DraftLimits, touched?: readonly string[]): Parsed<Rubric> => {
  const problems = draftProblems(rubric, limits, touched)
  return problems.length > 0 ? { problem: problems.join('\n') } : { value: rubric }
}

const findingsSchema = z.looseObject({
  missing: z.array(z.string()),
  redundant: z.array(z.string()),
  ambiguous: z.array(z.string()),
})

/** Reads the answer of a round about the rubric `before`. */
export const readRevision = (json: unknown, before: Rubric, limits: DraftLimits): Parsed<Revision> => {
  const draft = readDraft(json)
  if (draft.problem !== undefined) return draft
  let found: z.output<typeof findingsSchema>
  try {
    found = parseWith(findingsSchema, json, 'answer', DataError)
  } catch (error) {
    if (!(error instanceof DataError)) throw error
    return { problem: error.message }
  }
  const findings = { missing: found.missing, redundant: found.redundant, ambiguous: found.ambiguous }
  const criteria = merge(draft.value, before)
  const round = { ...findings, ...difference(before.criteria, criteria) }
  const nothingFound = DRAFT_FAULTS.every(name => findings[name].length === 0)
  const unchanged = [round.addedIds, round.removedIds, round.changedIds].every(ids => ids.length === 0)
  // Without a fault there is nothing to mend: a list that differs all the same is a slip, not a revision.
  if (nothingFound || unchanged)
    return {
      value: {
        rubric: before,
        round: { ...findings, addedIds: [], removedIds: [], changedIds: [] },
        changed: false,
      },
    }
  const rubric = { ...before, criteria }
  const accepted = accept(rubric, limits, [...round.addedIds, ...round.changedIds])
  return accepted.problem === undefined ? { value: { rubric, round, changed: true } } : accepted
}

/** Criteria of the revised list: known ones keep id, category and tags, new ones get an id of their own. */
const merge = (draft: readonly DraftCriterion[], before: Rubric): Criterion[] => {
  const known = new Map(before.criteria.map(criterion => [criterion.id, criterion]))
  const taken = new Set(known.keys())
  const used = new Set<string>()
  return draft.map(({ id = '', criterion: text, points }) => {
    const old = known.get(id) ?? before.criteria.find(c => c.text === text)
    if (!old || used.has(old.id)) return { id: nextId(taken), text, points }
    used.add(old.id)
    if (old.text === text) return { ...old, points }
    // What checked the old wording need not fit the new one.
    const { verifier: _, levels: __, ...rest } = old
    return { ...rest, text, points }
  })
}

const nextId = (taken: Set<string>): string => {
  let n = taken.size + 1
  while (taken.has(`c${n}`)) n++
  taken.add(`c${n}`)
  return `c${n}`
}

const difference = (before: readonly Criterion[], after: readonly Criterion[]) => {
  const old = new Map(before.map(criterion => [criterion.id, criterion]))
  const now = new Set(after.map(({ id }) => id))
  return {
    addedIds: after.filter(({ id }) => !old.has(id)).map(({ id }) => id),
    removedIds: before.filter(({ id }) => !now.has(id)).map(({ id }) => id),
    changedIds: after
      .filter(({ id, text, points }) => {
        const was = old.get(id)
        return was !== undefined && (was.text !== text || was.points !== points)
      })
      .map(({ id }) => id),
  }
}
