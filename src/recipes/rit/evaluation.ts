/** @file Evaluation of thinking and answers: pass@k or max@k, thinking by the true rubric, judges that training never hears. */

import { bestOfN, judgeGap, passAtK } from '../../eval/index.ts'
import type { Policy } from '../../policy/policy.ts'
import type { Rubric, Verdict } from '../../rubric/criterion.ts'
import { signedScore } from '../../rubric/index.ts'
import { creditOf } from '../../rubric/score.ts'
import type { EvalRow, EvalSample } from '../../runs/rows.ts'
import type { ScoredResponse } from '../../tasks/scored-response.ts'
import { mainTest, type Task } from '../../tasks/task.ts'
import type { ThoughtResponse } from '../../tasks/thinking.ts'
import { Rng } from '../../util/rng.ts'
import { mean, meanKnown } from '../../util/statistics.ts'
import { type Answer, type Answers, answersBy, drawAnswers, drawsOf } from '../common/answers.ts'
import { satisfaction } from '../common/criterion-metrics.ts'
import { answerShare, meanTokens, namesIn, type SetItem, setRow } from '../common/evaluated-set.ts'
import type { Evaluate } from '../common/evaluation.ts'
import { testProblems } from '../common/evaluation-config.ts'
import { refuseUndecided } from '../common/undecided.ts'
import type { RitConfig } from './config.ts'
import { ritVerdictFields, spacedWords } from './metrics.ts'
import type { RitTask } from './tasks.ts'
import { thinkingScore, verifyThinking } from './thinking.ts'

interface RitScriptedJudge {
  name: string
  /** Spread of the logarithm of a criterion's weight: 0 weighs as the rubric does. */
  taste: number
  /** Chance that a verdict is inverted. */
  errs: number
}

/** Judges as training does. */
const TRAINING_JUDGE: RitScriptedJudge = { name: 'judge.train', taste: 0, errs: 0 }

/** The judge of training, and four that it never hears, as RiT Table 4 has five. */
const JUDGES: readonly RitScriptedJudge[] = [
  TRAINING_JUDGE,
  { name: 'judge.held-1', taste: 0.7, errs: 0 },
  { name: 'judge.held-2', taste: 0.7, errs: 0.05 },
  { name: 'judge.held-3', taste: 0, errs: 0.1 },
  { name: 'judge.held-4', taste: 1.2, errs: 0.1 },
]

/**
 * What a judge makes of an answer, in [0, 1]; null where nothing is known of it. It depends on the judge, the criteria and the
 * answer's key alone, so that the same answer gets the same score.
 */
const judgedBy = (
  { name, taste, errs }: RitScriptedJudge,
  { criteria }: Rubric,
  verdicts: readonly Verdict[],
  key: string,
): number | null => {
  const known = new Set(verdicts.map(({ criterionId }) => criterionId))
  const own: Rubric = {
    criteria: criteria
      .filter(({ id }) => known.has(id))
      .map(criterion => ({
        ...criterion,
        points: criterion.points * Math.exp(taste * new Rng(`${name}/taste/${criterion.id}`).normal()),
      })),
  }
  const ids = new Set(own.criteria.map(({ id }) => id))
  const rng = new Rng(`${name}/errs/${key}`)
  const seen = verdicts
    .filter(({ criterionId }) => ids.has(criterionId))
    .map(verdict => {
      const flips = rng.next() < errs
      const credit = creditOf(verdict)
      return flips && credit !== null ? { ...verdict, met: !verdict.met, credit: 1 - credit } : verdict
    })
  const { score } = signedScore(own, seen)
  return score === null ? null : Math.max(0, score)
}

/** What is asked of the last answers of k. */
const MOST_DRAWS = 8

type Scores = Record<string, number | null>

interface Parts<Problem> {
  policy: Policy
  ritTask: RitTask<Problem>
  /** The rubric of training, used for thinking where nobody knows a true one. */
  rubricOf(problem: Problem): Rubric
}

/** What is said of an answer and of the thinking before it. */
interface Said extends ScoredResponse {
  response: ThoughtResponse
  key: string
  /** On thinking, by the rubric of `oracleOf`. */
  thought: readonly Verdict[]
}

/** What thinking is judged by. */
const oracleOf = <Problem>({ ritTask, rubricOf }: Parts<Problem>, problem: Problem): Rubric =>
  ritTask.task.thinking.oracle ?? rubricOf(problem)

/**
 * The start and the end on more problems, with more samples, and with all judges.
 * @param earlier rows that the run has written
 */
export const ritEvaluation =
  <Problem>(config: RitConfig, parts: Parts<Problem>, earlier: () => readonly EvalRow[]): Evaluate =>
  async (step, last) => {
    const { task } = parts.ritTask
    const between = step > 0 && !last
    const [set, test] = mainTest(task)
    const { samplesBetween, samples: most, temperature } = config.evaluation
    const samples = between ? samplesBetween : most
    const problems = test.slice(0, testProblems(config, step, last))
    const answers_P = await judgedAnswers(config, parts, problems, samples)
    const said = answers_P.flat().map(own => own.said)
    if (step === 0) {
      refuseUndecided(said)
      refuseUndecided(said.map(({ thought }) => ({ verdicts: thought })))
    }
    const items = answers_P.flatMap(answers => itemOf(parts, answers, between))
    const row = setRow({ step, set, samples, temperature }, items, {
      // What is about single traces stands in the items alone.
      names: namesIn(items).filter(name => !OF_A_TRACE.has(name)),
      scores: {
        thinkingClosed: answerShare([said], ({ response }) => response.closed),
        wellFormed: answerShare([said], ({ wellFormed }) => wellFormed),
      },
      primary: task.isBinary ? 'accuracy' : 'rubric',
      scoreNames: SCORE_NAMES,
      responseTokens: meanTokens(answers_P),
      criteria: satisfaction(said),
    })
    return [last ? withGap(row, earlier()) : row]
  }

const judgedAnswers = async <Problem>(
  config: RitConfig,
  parts: Parts<Problem>,
  problems: readonly Problem[],
  samples: number,
): Promise<Answers<Problem, Said>> => {
  const { task, truth } = parts.ritTask
  const draws = { ...drawsOf(config, task), samples }
  const drawn = await drawAnswers(parts.policy, problems, draws, own => task.prompt(own))
  const items = drawn.map(({ prompt, tokens }, i) => ({
    ...{ problem: problems[prompt], tokens, response: task.thinking.read(tokens) },
    key: `evaluation/${prompt}/${i % samples}`,
  }))
  const [answers, verdicts] = await Promise.all([
    task.grade(items),
    verifyThinking(truth, items, problem => oracleOf(parts, problem)),
  ])
  const said = items.map(({ response, key }, i) => ({ ...answers[i], response, key, thought: verdicts[i] }))
  return answersBy(problems, drawn, said)
}

/** Scores of a problem's answers and thinking; none where nothing is known of any answer. */
const itemOf = <Problem>(
  parts: Parts<Problem>,
  answers: readonly Answer<Problem, Said>[],
  between: boolean,
): SetItem[] => {
  const { task } = parts.ritTask
  const [first] = answers
  const { problem } = first
  const known = answers.flatMap(({ said }) => (said.score === null ? [] : [{ ...said, score: said.score }]))
  if (known.length === 0) return []
  const thinkingOf = ({ said: { response, thought } }: Answer<Problem, Said>) =>
    thinkingScore(oracleOf(parts, problem), response, thought)
  const judged = JUDGES.map(judge => {
    // Training's looks at what training pays for.
    const own = judge === TRAINING_JUDGE ? undefined : task.thinking.heldOutRubric
    const rubric = own ?? task.rubric(problem)
    const scores = known.flatMap(({ verdicts, key }) => judgedBy(judge, rubric, verdicts, key) ?? [])
    return [judge.name, meanKnown(scores)] as const
  })
  const scores: Scores = {
    ...answerScores(
      task,
      known.map(({ score }) => score),
      Math.min(MOST_DRAWS, answers.length),
    ),
    thinking: meanKnown(answers.map(thinkingOf)),
    // Of one trace, so that traces of several policies can be set against each other, also of like length.
    thinkingFirst: thinkingOf(first),
    thinkingWords: spacedWords(first.said.response.thinking),
    ...(!between && task.thinking.exact && Object.fromEntries(judged)),
  }
  const present = Object.fromEntries(Object.entries(scores).filter(([, value]) => value !== null))
  return [{ id: task.id(problem), scores: present, first: () => readable(parts, first) }]
}

/** An answer with all that was said of it, for reading. */
const readable = <Problem>(
  parts: Parts<Problem>,
  { problem, said: { score, verdicts, response, thought } }: Answer<Problem, Said>,
): EvalSample => {
  const { task } = parts.ritTask
  return {
    ...{ prompt: task.show(task.prompt(problem)), response: response.text, reward: score },
    answer: response.answer,
    ...(task.isBinary && { correct: score === 1 }),
    ...ritVerdictFields(
      { rubric: oracleOf(parts, problem), verdicts: thought },
      { rubric: task.rubric(problem), verdicts },
    ),
  }
}

const SCORE_NAMES = {
  rubric: 'rubric score',
  wellFormed: 'well formed',
  thinking: 'thinking, by the true rubric',
  thinkingClosed: 'thinking ended',
}

/**
 * Scores of a problem's answers: pass@k of right ones, the best of k of open ones, by unbiased estimators; what is about k answers
 * is null where fewer are known.
 * @param scores of the answers that are known
 */
const answerScores = (
  { isBinary }: Pick<Task<never>, 'isBinary'>,
  scores: readonly number[],
  k: number,
): Scores => {
  const isKnown = scores.length >= k
  const average = mean(scores)
  const means = { 'pass@1': average, [`avg@${k}`]: isKnown ? average : null }
  if (!isBinary) return { rubric: average, ...means, [`max@${k}`]: isKnown ? bestOfN(scores, k) : null }
  const right = scores.filter(score => score === 1).length
  return { accuracy: average, ...means, [`pass@${k}`]: isKnown ? passAtK(scores.length, right, k) : null }
}

const OF_A_TRACE: ReadonlySet<string> = new Set(['thinkingFirst', 'thinkingWords'])

/** At the end: what training's judge gained beyond judges that it never heard. */
const withGap = (row: EvalRow, earlier: readonly EvalRow[]): EvalRow => {
  const start = earlier.find(({ step, set }) => step === 0 && set === row.set)
  const change = (name: string): readonly [number, number] | null => {
    const [before, after] = [start?.scores[name]?.value, row.scores[name]?.value]
    return typeof before === 'number' && typeof after === 'number' ? [before, after] : null
  }
  const [train, ...heldOut] = JUDGES.map(({ name }) => change(name))
  const others = heldOut.filter(pair => pair !== null)
  if (!train || others.length === 0) return row
  const { gap, reversals } = judgeGap(train, others)
  return {
    ...row,
    scores: { ...row.scores, 'judge.gap': { value: gap }, 'judge.reversals': { value: reversals } },
  }
}
