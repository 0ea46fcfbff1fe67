/** @file What an evaluation's grades come to: shares, criteria, scores by label and by source; with intervals. */

import { labelBalance } from '../../eval/balance.ts'
import type { LogicGrade } from '../../grade/logic/grade.ts'
import { LOGIC_LABELS } from '../../grade/logic/problem.ts'
import { LOGIC_CRITERIA, type LogicCriterion } from '../../grade/logic/rubric.ts'
import type { EvalItem, EvalRow, Interval, MetricGroup, Scores, SourceScore } from '../../runs/rows.ts'
import { greedyName } from '../../runs/scores.ts'
import type { LogicTaskExample } from '../../tasks/logic/example.ts'
import { bootstrapInterval, mean } from '../../util/statistics.ts'

/** What evaluations score; the first is the primary score: a right answer is worth little without its proof. */
export const SCORES = {
  correctAndProved: { words: 'correct and proved', holds: grade => grade.correctAndProved },
  accuracy: { words: 'answers right', holds: grade => grade.answerCorrect },
  correctAndValid: { words: 'correct and valid', holds: grade => grade.correctAndValid },
  validProofs: { words: 'valid proofs', holds: grade => grade.validProof },
} satisfies Record<string, { words: string; holds: (grade: LogicGrade) => boolean | null }>

export type LogicScore = keyof typeof SCORES

export const LOGIC_SCORES = Object.keys(SCORES) as LogicScore[]

export const PRIMARY: LogicScore = 'correctAndProved'

/** Share of the responses of which it is known for which each score holds; null where it is known of none. */
const sharesOf = (grades: readonly LogicGrade[]): Record<LogicScore, number | null> =>
  Object.fromEntries(
    LOGIC_SCORES.map(name => {
      const known = grades.map(SCORES[name].holds).filter(holds => holds !== null)
      return [name, known.length > 0 ? mean(known.map(Number)) : null]
    }),
  ) as Record<LogicScore, number | null>

/** Bootstrap over problems: samples of one problem are not independent. */
const interval = (perProblem: readonly number[]): Interval => {
  const { low, high } = bootstrapInterval(perProblem, { resamples: 2000, seed: 'evaluation' })
  return [low, high]
}

/** Mean of each criterion, C4 and C5 as they really are; null where no response has a value. */
export const criteriaOf = (grades: readonly LogicGrade[]): Record<LogicCriterion, number | null> =>
  Object.fromEntries(
    LOGIC_CRITERIA.map(id => {
      const values = grades.flatMap(({ criteria, truth }) => {
        const value = truth && (id === 'C4' || id === 'C5') ? truth[id] : criteria[id]
        return value === null ? [] : [value]
      })
      return [id, values.length > 0 ? mean(values) : null]
    }),
  ) as Record<LogicCriterion, number | null>

/** 95% interval of each criterion over the problems that have a value. */
export const criteriaIntervals = (items: readonly EvalItem[]): Record<string, Interval> =>
  Object.fromEntries(
    LOGIC_CRITERIA.flatMap(id => {
      const values = items.flatMap(({ criteria }) => criteria?.[id] ?? [])
      return values.length > 0 ? [[id, interval(values)]] : []
    }),
  )

export const itemOf = (
  problem: LogicTaskExample,
  grades: LogicGrade[],
  greedy: LogicGrade[] = [],
): EvalItem => ({
  id: problem.id,
  scores: { ...sharesOf(grades), ...(greedy.length > 0 && greedyShares(greedy)) },
  criteria: criteriaOf(grades),
})

const greedyShares = (grades: readonly LogicGrade[]): MetricGroup =>
  Object.fromEntries(Object.entries(sharesOf(grades)).map(([name, value]) => [greedyName(name), value]))

/** Means over the problems that have the score, which a problem lacks whose greedy response could not be graded. */
export const scoresOver = (items: readonly EvalItem[], names: readonly string[]): Scores =>
  Object.fromEntries(
    names.flatMap(name => {
      const values = items.flatMap(({ scores }) => scores[name] ?? [])
      return values.length > 0 ? [[name, { value: mean(values), interval: interval(values) }]] : []
    }),
  )

/** A problem with the grades of its responses. */
export interface GradedProblem {
  problem: LogicTaskExample
  grades: LogicGrade[]
}

/** Scores by label with its number of problems, and the balance over labels. */
export const labelScores = (rows: readonly GradedProblem[]): Pick<EvalRow, 'byLabel' | 'balance'> => {
  const answers = rows.flatMap(({ problem, grades }) =>
    grades.map(({ answer }) => ({ gold: problem.label, predicted: answer })),
  )
  const { byLabel, macroRecall, minClassRecall, predicted, trueBias } = labelBalance(answers, LOGIC_LABELS)
  return {
    byLabel: Object.fromEntries(
      LOGIC_LABELS.flatMap(label => {
        if (byLabel[label].accuracy === null) return []
        const own = rows.filter(({ problem }) => problem.label === label)
        return [[label, { n: own.length, scores: sharesOf(own.flatMap(row => row.grades)) }]]
      }),
    ),
    balance: { macroRecall, minClassRecall, predicted, trueBias },
  }
}

/**
 * Scores, criteria and scores by label of the problems from each source, where there are several.
 * @param items one a problem, in the same order
 */
export const sourceScores = (
  rows: readonly GradedProblem[],
  items: readonly EvalItem[],
  names: readonly string[],
): Pick<EvalRow, 'bySource'> => {
  const sources = [...new Set(rows.map(({ problem }) => problem.source))]
  if (sources.length < 2) return {}
  const figures = (source: string): SourceScore => {
    const own = rows.filter(({ problem }) => problem.source === source)
    const ownItems = items.filter((_, i) => rows[i].problem.source === source)
    return {
      n: own.length,
      scores: scoresOver(ownItems, names),
      criteria: criteriaOf(own.flatMap(({ grades }) => grades)),
      byLabel: labelScores(own).byLabel,
    }
  }
  return { bySource: Object.fromEntries(sources.map(source => [source, figures(source)])) }
}
