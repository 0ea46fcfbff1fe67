/** @file What an evaluation's grades come to: shares, criteria, scores by label and by source; with intervals. */

import { labelBalance } from '../../eval/balance.ts'
import type { LogicGrade } from '../../grade/logic/grade.ts'
import { LOGIC_LABELS } from '../../grade/logic/problem.ts'
import { LOGIC_CRITERIA } from '../../grade/logic/rubric.ts'
import type { EvalItem, EvalRow, MetricGroup, Scores, SourceScore } from '../../runs/rows.ts'
import { greedyName } from '../../runs/scores.ts'
import type { LogicTaskExample } from '../../tasks/logic/example.ts'
import type { LogicVerdicts } from '../../tasks/logic/task.ts'
import { meanKnown } from '../../util/statistics.ts'
import { satisfaction } from '../common/criterion-metrics.ts'
import { scoresOf } from '../common/evaluated-set.ts'
import type { TaskScores } from '../common/task-kind.ts'

/** What evaluations score; the first is the primary score: a right answer is worth little without its proof. */
const SCORES = {
  correctAndProved: { words: 'correct and proved', holds: grade => grade.correctAndProved },
  accuracy: { words: 'answers right', holds: grade => grade.answerCorrect },
  correctAndValid: { words: 'correct and valid', holds: grade => grade.correctAndValid },
  validProofs: { words: 'valid proofs', holds: grade => grade.validProof },
} satisfies Record<string, { words: string; holds: (grade: LogicGrade) => boolean | null }>

type LogicScore = keyof typeof SCORES

const SCORE_NAMES = Object.keys(SCORES) as LogicScore[]

/** The same of one answer; nothing is known of one that its problem says nothing about. */
export const LOGIC_SCORES: TaskScores = Object.fromEntries(
  SCORE_NAMES.map(name => [
    name,
    {
      words: SCORES[name].words,
      count({ said }) {
        const { grade, excluded } = said as LogicVerdicts
        const holds = excluded === null ? SCORES[name].holds(grade) : null
        return { value: holds === null ? null : Number(holds) }
      },
    },
  ]),
)

const PRIMARY: LogicScore = 'correctAndProved'

/** A problem with what was said of its answers. */
export interface AnsweredProblem<Said extends LogicVerdicts = LogicVerdicts> {
  problem: LogicTaskExample
  said: readonly Said[]
  greedy?: readonly Said[]
}

/** Share of the responses of which it is known for which each score holds; null where it is known of none. */
const sharesOf = (said: readonly LogicVerdicts[]): Record<LogicScore, number | null> =>
  Object.fromEntries(
    SCORE_NAMES.map(name => {
      const known = said.map(({ grade }) => SCORES[name].holds(grade)).filter(holds => holds !== null)
      return [name, meanKnown(known.map(Number))]
    }),
  ) as Record<LogicScore, number | null>

const NO_CRITERIA: MetricGroup = Object.fromEntries(LOGIC_CRITERIA.map(id => [id, null]))

/** Mean of each criterion; null where no response has a value. */
const criteriaOf = (said: readonly LogicVerdicts[]): MetricGroup => ({
  ...NO_CRITERIA,
  ...satisfaction(said),
})

const itemOf = ({ problem, said, greedy = [] }: AnsweredProblem): EvalItem => ({
  id: problem.id,
  scores: { ...sharesOf(said), ...(greedy.length > 0 && greedyShares(greedy)) },
  criteria: criteriaOf(said),
})

const greedyShares = (said: readonly LogicVerdicts[]): MetricGroup =>
  Object.fromEntries(Object.entries(sharesOf(said)).map(([name, value]) => [greedyName(name), value]))

/** Of these names those that some problem has a score of. */
const knownNames = (items: readonly EvalItem[], names: readonly string[]): string[] =>
  names.filter(name => items.some(({ scores }) => typeof scores[name] === 'number'))

const NAMES = [...SCORE_NAMES, ...SCORE_NAMES.map(greedyName)]

/** Means over the problems that have the score, which a problem lacks whose greedy response could not be graded. */
const scoresOver = (items: readonly EvalItem[], names: readonly string[] = NAMES): Scores =>
  scoresOf(items, knownNames(items, names))

/** 95% interval of each criterion over the problems that have a value. */
const criteriaIntervals = (items: readonly EvalItem[]): EvalRow['criteriaIntervals'] => {
  const own = items.map(({ id, criteria = {} }) => ({ id, scores: criteria }))
  const scores = Object.entries(scoresOver(own, LOGIC_CRITERIA))
  return Object.fromEntries(scores.map(([id, { interval }]) => [id, interval!]))
}

/** Scores by label with its number of problems, and the balance over labels. */
const labelScores = (rows: readonly AnsweredProblem[]): Required<Pick<EvalRow, 'byLabel' | 'balance'>> => {
  const answers = rows.flatMap(({ problem, said }) =>
    said.map(({ grade }) => ({ gold: problem.label, predicted: grade.answer })),
  )
  const { byLabel, macroRecall, minClassRecall, predicted, trueBias } = labelBalance(answers, LOGIC_LABELS)
  return {
    byLabel: Object.fromEntries(
      LOGIC_LABELS.flatMap(label => {
        if (byLabel[label].accuracy === null) return []
        const own = rows.filter(({ problem }) => problem.label === label)
        return [[label, { n: own.length, scores: sharesOf(own.flatMap(({ said }) => said)) }]]
      }),
    ),
    balance: { macroRecall, minClassRecall, predicted, trueBias },
  }
}

/** Scores, criteria and scores by label of the problems from each source, where there are several. */
const sourceScores = (rows: readonly AnsweredProblem[]): Pick<EvalRow, 'bySource'> => {
  const sources = [...new Set(rows.map(({ problem }) => problem.source))]
  if (sources.length < 2) return {}
  const metrics = (source: string): SourceScore => {
    const own = rows.filter(({ problem }) => problem.source === source)
    return {
      n: own.length,
      scores: scoresOver(own.map(itemOf)),
      criteria: criteriaOf(own.flatMap(({ said }) => said)),
      byLabel: labelScores(own).byLabel,
    }
  }
  return { bySource: Object.fromEntries(sources.map(source => [source, metrics(source)])) }
}

/** Scores in words. */
export const LOGIC_SCORE_NAMES = Object.fromEntries(SCORE_NAMES.map(name => [name, SCORES[name].words]))

/** What is said of such answers by label and by source. */
export const breakdownScores = (rows: readonly AnsweredProblem[]) => ({
  ...labelScores(rows),
  ...sourceScores(rows),
})

/** What a row says of answers to problems, each of which has one at least. */
export const rowMetrics = (rows: readonly AnsweredProblem[]) => {
  const items = rows.map(itemOf)
  const names = knownNames(items, NAMES)
  return {
    names,
    // Nothing is proved where no conclusion has a formula.
    primary: names.includes(PRIMARY) ? PRIMARY : 'accuracy',
    scoreNames: LOGIC_SCORE_NAMES,
    criteria: criteriaOf(rows.flatMap(({ said }) => said)),
    criteriaIntervals: criteriaIntervals(items),
    ...breakdownScores(rows),
    items,
  }
}
