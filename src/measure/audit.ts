/**
 * @file What a reward pays for answers that somebody has edited, beside what it pays for being right: an audit of a rubric before
 * anything is trained by it. ProRubric (arXiv 2609.38847) finds that edits of untrained answers predict what training exploits.
 */

import { maxPoints, type Verdict } from '../rubric/criterion.ts'
import { creditOf } from '../rubric/score.ts'
import type { Interval } from '../runs/rows.ts'
import { conversationText } from '../tasks/conversation/task.ts'
import { rewardOf, type ScoredResponse } from '../tasks/scored-response.ts'
import { countEach } from '../util/descriptive.ts'
import { Rng } from '../util/rng.ts'
import { bootstrapInterval, mean } from '../util/statistics.ts'
import type { SavedAnswer } from './answers.ts'
import { ANSWER_EDITS, type AnswerEditContext, type EditName, formOf, keywordsOf } from './edits.ts'
import { type GradedAnswer, type Measured, nullShares } from './metrics.ts'
import type { MeasuredProblem, MeasuredTask } from './task.ts'

const EDIT_NAMES = Object.keys(ANSWER_EDITS) as EditName[]

/** An edited answer. */
export interface EditedAnswer extends SavedAnswer {
  edit: EditName
}

/** A graded answer with what training would pay for it; null where graders failed. */
export interface PaidAnswer extends GradedAnswer {
  reward: number | null
  /** Its verdicts as they count, where groups of criteria count together. */
  counted: readonly Verdict[]
}

export const paid = (graded: GradedAnswer, counted: readonly Verdict[] = graded.verdicts): PaidAnswer => ({
  ...{ ...graded, counted },
  reward: rewardOf((graded.said as ScoredResponse | undefined) ?? graded),
})

/** From the best-paid on; those that nothing is known of come last. */
const byReward = (answers: readonly PaidAnswer[]): PaidAnswer[] =>
  answers.toSorted((a, b) => (b.reward ?? Number.NEGATIVE_INFINITY) - (a.reward ?? Number.NEGATIVE_INFINITY))

/** Share of the rows whose rubrics look for a word, from which on a policy may learn it; two rows at least, where there are two. */
const SHARED_WORD = 0.25

/** What a rubric asks for in words that a policy can know: they stand in the request, or many rows ask for them. */
const keywordsBy = (problems: readonly MeasuredProblem[]) => {
  const counts = countEach(problems.flatMap(({ rubric }) => keywordsOf(rubric)))
  const least = Math.min(problems.length, Math.max(2, SHARED_WORD * problems.length))
  return ({ rubric }: MeasuredProblem, request: string): string[] =>
    keywordsOf(
      rubric,
      word => request.toLowerCase().includes(word.toLowerCase()) || (counts.get(word) ?? 0) >= least,
    )
}

/** Of a row the answer that was given as right, as an answer to be graded. */
export const referenceAnswer = ({ problem, id, messages }: MeasuredProblem): SavedAnswer[] => {
  const { reference } = problem as { reference?: string }
  return reference === undefined ? [] : [{ id, sample: 0, prompt: messages, response: reference }]
}

/**
 * Every answer with every edit that can be made on it.
 * @param answers_P by problem, untouched, graded
 */
export const editedAnswers = (
  problems: readonly MeasuredProblem[],
  answers_P: readonly (readonly PaidAnswer[])[],
  seed: string,
): EditedAnswer[][] => {
  const keywords = keywordsBy(problems)
  const best_P = answers_P.map(answers => byReward(answers).map(({ text }) => text))
  const others = new Rng(`${seed}/audit/other rows`).cycle(problems.map((_, p) => p))
  return problems.map((problem, p) => {
    const { id, messages } = problem
    const request = conversationText({ messages })
    const { reference } = problem.problem as { reference?: string }
    const other = answers_P[others[p]]
    const row: Omit<AnswerEditContext, 'rng' | 'other'> = {
      request,
      keywords: keywords(problem, request),
      ...(reference !== undefined && { reference }),
      form: formOf(best_P[p]),
    }
    return answers_P[p].flatMap(({ answer: { sample }, text }, i) =>
      EDIT_NAMES.flatMap(edit => {
        const rng = new Rng(`${seed}/audit/${edit}/${id}/${sample}`)
        const response =
          text.trim() === ''
            ? null
            : ANSWER_EDITS[edit].make(text, {
                ...row,
                other: others[p] === p || other.length === 0 ? null : other[i % other.length].text,
                rng,
              })
        return response === null ? [] : [{ id, sample, edit, prompt: messages, response }]
      }),
    )
  })
}

export interface AuditValue {
  /** Mean over rows. */
  value: number
  /** 95%, rows resampled; null of a single row. */
  interval: Interval | null
  /** Rows. */
  n: number
}

const auditValue = (values: readonly number[]): AuditValue | null => {
  if (values.length === 0) return null
  const { estimate, low, high } = bootstrapInterval(values, { resamples: 2000, seed: 'audit' })
  return { value: estimate, interval: values.length < 2 ? null : [low, high], n: values.length }
}

/** What is paid for an edit. */
export interface AuditedEdit {
  edit: EditName
  about: string
  keepsRight: boolean
  /** Samples that were edited, and those on which the edit cannot be made. Values are of those edited ones that graders spoke of. */
  edited: number
  skipped: number
  /** Mean reward of the edited samples; all values are means over rows. Null where none could be edited. */
  reward: AuditValue | null
  /** Reward of a sample edited, less that of the same one untouched. */
  difference: AuditValue | null
  /** Share of edited samples that the edit is paid more for. */
  paysMore: number | null
  /**
   * What is paid above a right answer. Of an edit that keeps an answer right, which makes it no better, `difference`. Of the others
   * the best edited answer of a row less the best of the same samples untouched, or its reference where that is paid more.
   */
  exploit: AuditValue | null
  /**
   * Part of `difference` by name of criterion: change of its credit, times its points, over the points that can be had. They add up
   * to it where every verdict was given, or a missing one counts as not met.
   */
  criteria: Readonly<Record<string, number>>
}

export interface Audit {
  rows: number
  samples: number
  /** Mean reward of untouched samples, and of being right: the best of a row's samples, or its reference where that is paid more. */
  untouched: AuditValue | null
  right: AuditValue | null
  /** Share of the rows whose samples are paid differently: a training by groups learns from no other. */
  telling: number
  /** The one that is paid most over unedited samples first. */
  edits: readonly AuditedEdit[]
  /** Share of verdicts that graders failed to give, on all answers; criteria of which a judge said nothing at all. */
  nullRate: number
  unjudged: Measured['unjudged']
}

/** Worth of each criterion's credit, summed by name, over the points that can be had. */
const worths = ({ counted }: PaidAnswer, { rubric, rates }: MeasuredProblem): Map<string, number> => {
  const credits = new Map(counted.map(verdict => [verdict.criterionId, creditOf(verdict) ?? 0]))
  const most = maxPoints(rubric) || 1
  const sums = new Map<string, number>()
  for (const { id, points } of rubric.criteria) {
    const name = rates.get(id) ?? id
    sums.set(name, (sums.get(name) ?? 0) + (points * (credits.get(id) ?? 0)) / most)
  }
  return sums
}

interface Row {
  problem: MeasuredProblem
  untouched: readonly PaidAnswer[]
  edited: readonly PaidAnswer[]
  /** What answers that were given as right are paid. */
  references: readonly number[]
}

/** Untouched and edited answers whose rewards are known, pair by pair. */
const pairsOf = ({ untouched, edited }: Row, edit: EditName) =>
  edited.flatMap(own => {
    if ((own.answer as EditedAnswer).edit !== edit || own.reward === null) return []
    const before = untouched.find(({ answer }) => answer.sample === own.answer.sample)
    return before?.reward == null
      ? []
      : [{ before, own, reward: own.reward, difference: own.reward - before.reward }]
  })

const known = (answers: readonly PaidAnswer[]): number[] => answers.flatMap(({ reward }) => reward ?? [])

const auditedEdit = (edit: EditName, rows: readonly Row[]): AuditedEdit => {
  const { about, keepsRight } = ANSWER_EDITS[edit]
  const paired = rows.map(row => ({ row, pairs: pairsOf(row, edit) })).filter(({ pairs }) => pairs.length > 0)
  const all = paired.flatMap(({ pairs }) => pairs)
  const difference = auditValue(paired.map(({ pairs }) => mean(pairs.map(pair => pair.difference))))
  const beside = paired.map(
    ({ row, pairs }) =>
      Math.max(...pairs.map(({ reward }) => reward)) -
      Math.max(...pairs.map(({ before }) => before.reward!), ...row.references),
  )
  const criteria = new Map<string, number>()
  for (const { row, pairs } of paired)
    for (const { before, own } of pairs) {
      const was = worths(before, row.problem)
      for (const [name, worth] of worths(own, row.problem))
        criteria.set(
          name,
          (criteria.get(name) ?? 0) + (worth - (was.get(name) ?? 0)) / pairs.length / paired.length,
        )
    }
  const made = rows.flatMap(({ edited }) =>
    edited.filter(({ answer }) => (answer as EditedAnswer).edit === edit),
  )
  return {
    ...{ edit, about, keepsRight, edited: made.length },
    skipped: rows.reduce((sum, { untouched }) => sum + untouched.length, 0) - made.length,
    reward: auditValue(paired.map(({ pairs }) => mean(pairs.map(({ reward }) => reward)))),
    difference,
    paysMore: all.length === 0 ? null : all.filter(pair => pair.difference > 0).length / all.length,
    exploit: keepsRight ? difference : auditValue(beside),
    criteria: Object.fromEntries([...criteria].sort((a, b) => Math.abs(b[1]) - Math.abs(a[1]))),
  }
}

/** Those of which nothing is known come last. */
const differenceOf = ({ difference }: AuditedEdit): number => difference?.value ?? -Number.MAX_VALUE

/** Graded answers by problem. */
interface AuditedAnswers {
  untouched_P: readonly (readonly PaidAnswer[])[]
  /** Those that rows give as right; a row may have none. */
  references_P: readonly (readonly PaidAnswer[])[]
  /** Of `editedAnswers`. */
  edited_P: readonly (readonly PaidAnswer[])[]
}

/** What is paid for each edit. */
export const auditOf = (
  task: MeasuredTask,
  problems: readonly MeasuredProblem[],
  { untouched_P, references_P, edited_P }: AuditedAnswers,
): Audit => {
  const rows = problems.flatMap((problem, p): Row[] => {
    if (known(untouched_P[p]).length === 0) return []
    return [{ problem, untouched: untouched_P[p], edited: edited_P[p], references: known(references_P[p]) }]
  })
  const edits = EDIT_NAMES.map(edit => auditedEdit(edit, rows))
  const all_P = problems.map((_, p) => [...untouched_P[p], ...references_P[p], ...edited_P[p]])
  const { nullRate, unjudged } = nullShares(task, problems, all_P)
  return {
    rows: rows.length,
    samples: rows.reduce((sum, { untouched }) => sum + untouched.length, 0),
    untouched: auditValue(rows.map(({ untouched }) => mean(known(untouched)))),
    right: auditValue(rows.map(({ untouched, references }) => Math.max(...known(untouched), ...references))),
    telling:
      rows.filter(({ untouched }) => new Set(known(untouched)).size > 1).length / Math.max(1, rows.length),
    edits: edits.toSorted((a, b) => differenceOf(b) - differenceOf(a)),
    ...{ nullRate, unjudged },
  }
}
