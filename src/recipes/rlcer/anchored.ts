/** @file Valid criteria tried on anchors: what does not tell good thinking from bad there is valid no more. */

import { z } from 'zod'
import { type AnchorFinding, findOnAnchors } from '../../grade/anchors.ts'
import type { Policy } from '../../policy/policy.ts'
import type { Criterion } from '../../rubric/criterion.ts'
import { creditOf } from '../../rubric/score.ts'
import type { MetricsRow, RubricRow } from '../../runs/rows.ts'
import type { RubricatorTask } from '../../tasks/scored-response.ts'
import { partThinking, type ThinkingVerifier, type ThoughtResponse } from '../../tasks/thinking.ts'
import { mean, meanKnown } from '../../util/statistics.ts'
import { type Anchors, openAnchors, TRIED_TOGETHER } from '../common/anchors.ts'
import { answersTo } from '../common/answers.ts'
import type { ProblemStream } from '../common/problem-order.ts'
import { samplingOf } from '../common/training.ts'
import type { RlcerConfig } from './config.ts'
import { isRight, type JudgedQuestion } from './judging.ts'
import { type JudgedCriterion, statementName, withoutDuplicates } from './validity.ts'
import { seenOf } from './verification.ts'

/** Labelled thinking. */
export type ThoughtAnchors<Problem> = Anchors<Problem, ThoughtResponse>

const thoughtSchema = z.object({
  ...{ text: z.string(), thinking: z.string(), answer: z.string(), closed: z.boolean() },
})

/** Anchors of a run: responses as its verifier sees them. @param dir of the run */
export const openThoughtAnchors = <Problem>(
  config: RlcerConfig,
  dir: string,
  {
    task,
    policy,
    problem,
  }: { task: RubricatorTask<Problem>; policy: Policy; problem: ProblemStream<Problem> },
): Promise<ThoughtAnchors<Problem> | undefined> =>
  openAnchors(config, dir, {
    ...{ task, problem, shown: thoughtSchema },
    read: (own, response) => seenOf(config, task, own, partThinking(response)),
    async answers(problems, round) {
      const draws = { label: `${config.seed}/anchors/${round}`, samples: config.rollout.samples }
      const answers_P = await answersTo(problems, policy, task, { ...draws, sampling: samplingOf(config) })
      return answers_P.map(own =>
        own.map(answer => {
          const response = task.thinking.read(answer.tokens)
          return {
            response: response.text,
            shown: seenOf(config, task, answer.problem, response),
            right: isRight(answer.said),
          }
        }),
      )
    },
  })

/** Findings about criteria by `statementName`; each call is about some criteria and one anchor. */
const findingsOn = async <Problem>(
  criteria: readonly Criterion[],
  { problem, key }: JudgedQuestion<Problem>,
  anchors: ThoughtAnchors<Problem>,
  verifier: ThinkingVerifier<Problem>,
): Promise<ReadonlyMap<string, AnchorFinding>> => {
  const tried = anchors.of(problem)
  const parts = Array.from({ length: Math.ceil(criteria.length / TRIED_TOGETHER) }, (_, i) =>
    criteria
      .slice(i * TRIED_TOGETHER, (i + 1) * TRIED_TOGETHER)
      .map((own, k) => ({ ...own, id: `c${k + 1}` })),
  )
  const items = parts.flatMap((part, i) =>
    tried.map(({ problem: own, shown }, a) => ({
      ...{ problem: own, response: shown, key: `${key}/anchor ${i}/${a}`, rubric: { criteria: part } },
    })),
  )
  const verdicts = await verifier.verify(items)
  return new Map(
    criteria.map((criterion, c) => {
      const [part, k] = [Math.floor(c / TRIED_TOGETHER), c % TRIED_TOGETHER]
      const gains = tried.map(({ good }, a) => {
        const verdict = verdicts[part * tried.length + a]?.[k]
        const credit = verdict === undefined ? null : creditOf(verdict)
        return { good, gain: credit === null || criterion.points > 0 ? credit : 1 - credit }
      })
      return [statementName(criterion), findOnAnchors(gains, anchors.minAgreement)]
    }),
  )
}

/** The same question after its valid criteria were tried on the anchors; those that are kept out say why. */
export const onAnchors = async <Problem>(
  questions: readonly JudgedQuestion<Problem>[],
  { anchors, verifier }: { anchors?: ThoughtAnchors<Problem>; verifier: ThinkingVerifier<Problem> },
): Promise<readonly JudgedQuestion<Problem>[]> =>
  anchors === undefined
    ? questions
    : Promise.all(
        questions.map(async question => {
          const valid = question.rubrics.flatMap(({ criteria }) => criteria.filter(own => own.valid))
          const named = new Map(valid.map(({ criterion }) => [statementName(criterion), criterion]))
          if (named.size === 0) return question
          const found = await findingsOn([...named.values()], question, anchors, verifier)
          const tried = (own: JudgedCriterion): JudgedCriterion => {
            if (!own.valid) return own
            const finding = found.get(statementName(own.criterion))!
            return { ...own, valid: finding.admitted, anchors: finding }
          }
          return {
            ...question,
            rubrics: question.rubrics.map(own => ({ ...own, criteria: own.criteria.map(tried) })),
            valid: question.valid.map(tried).filter(own => own.valid),
          }
        }),
      )

/** Criteria that are kept out in a step, by question, for rubrics.jsonl: each statement once, with the reason. */
export const keptOutRows = <Problem>(
  questions: readonly JudgedQuestion<Problem>[],
  { id }: Pick<RubricatorTask<Problem>, 'id'>,
  step: number,
): RubricRow[] =>
  questions.flatMap(({ problem, reasoners, rubrics }) => {
    const out = rubrics.flatMap(({ criteria }) => criteria.filter(own => own.anchors?.admitted === false))
    if (out.length === 0) return []
    const refused = withoutDuplicates(out).map(({ criterion: { text, points }, anchors }) => ({
      ...{ stage: null, title: text, description: `${points} points` },
      ...{ rule: 'anchors', reason: anchors!.reason },
    }))
    const counts = { rollouts: reasoners.length, failedScorings: 0 }
    return [{ step, question: id(problem), ...counts, rubrics: [], refused }]
  })

/** What became of criteria that were tried; nothing where there are no anchors. */
export const anchorMetrics = (
  questions: readonly JudgedQuestion<unknown>[],
  { anchors }: Pick<RlcerConfig, 'anchors'>,
): Omit<MetricsRow, 'step'> => {
  if (anchors === undefined) return {}
  const tried = questions.flatMap(({ rubrics }) =>
    rubrics.flatMap(({ criteria }) => criteria.flatMap(own => own.anchors ?? [])),
  )
  return {
    anchorsKeptOut: tried.length > 0 ? mean(tried.map(({ admitted }) => Number(!admitted))) : null,
    anchorAgreement: meanKnown(tried.map(({ agreement }) => agreement)),
  }
}
