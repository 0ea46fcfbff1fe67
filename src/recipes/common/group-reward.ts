/** @file Relative judging as a reward: a group's responses scored together, by a chat model, or by script in a miniature. */

import type { ChatMessage, ChatModel } from '../../chat/chat-model.ts'
import {
  type GroupJudgeConfig,
  type GroupScores,
  openGroupJudge,
  scoreGroup,
} from '../../grade/group/index.ts'
import type { Groups, Rollout } from '../../rl/rollout.ts'
import type { Rubric } from '../../rubric/criterion.ts'
import { withoutCriteria } from '../../rubric/dropout.ts'
import type { MetricGroup, MetricsRow } from '../../runs/rows.ts'
import type { LeftOut, ScoredResponse, ScoredTask } from '../../tasks/scored-response.ts'
import { Rng } from '../../util/rng.ts'
import { mean } from '../../util/statistics.ts'
import type { ScriptedGroupJudge } from './group-reward-config.ts'
import { judgeMetrics } from './judging.ts'
import { type DropoutRun, leftOutOf } from './rubric-dropout.ts'

/** What is asked about a group. */
export interface GroupAsked {
  /** What to go by: the rubric that counts in this step. */
  rubric: Rubric
  /** What of the problem's rubric does not count. */
  leftOut?: LeftOut
  /** Names what is drawn for it. */
  key: string
}

/** Scores the responses to a problem together, in their order. */
export interface GroupScorer<Problem> {
  /** Responses get these scores alone: graders are not asked about criteria besides. */
  readonly alone: boolean
  score(problem: Problem, responses: readonly Int32Array[], asked: GroupAsked): Promise<GroupScores>
  /** What it took since it was last asked. */
  metrics?(): MetricGroup
  close?(): Promise<void>
}

/**
 * A relative judge by script: of each response what a grader scores, with noise and a liking for places, moved so that the
 * group's mean is one half. Half as much better is half as much more; nothing leaves [0, 1].
 * @param grades scores as the judge sees them
 */
export const scriptedGroups = <Problem>(
  { noise, placeBias }: ScriptedGroupJudge,
  grades: Pick<ScoredTask<Problem>, 'grade'>,
): GroupScorer<Problem> => ({
  alone: false,
  async score(problem, responses, { leftOut, key }) {
    const graded = await grades.grade(
      responses.map((tokens, i) => ({ problem, tokens, key: `${key}/${i}`, ...(leftOut && { leftOut }) })),
    )
    const rng = new Rng(`group judge/${key}`)
    const place = new Map(rng.shuffle(responses.map((_, i) => i)).map((i, at) => [i, at]))
    const last = Math.max(1, responses.length - 1)
    const seen = graded.map(({ score }, i) => {
      const drawn = noise * rng.normal()
      return score === null ? null : score + drawn + placeBias * (1 - (2 * place.get(i)!) / last)
    })
    const known = seen.filter(value => value !== null)
    const centre = known.length > 0 ? mean(known) : 0
    const scores = seen.map(value =>
      value === null ? null : Math.min(1, Math.max(0, 0.5 + (value - centre) / 2)),
    )
    return {
      scores,
      explanations: scores.map(() => null),
      problem: known.length < seen.length ? 'the grader that it sees by gave no score' : null,
      shown: responses.length,
      cut: 0,
    }
  },
})

/** What a chat model is shown of a problem's responses. */
export interface GroupText<Problem> {
  messages(problem: Problem): readonly ChatMessage[]
  text(tokens: Int32Array): string
}

/**
 * A chat model that scores groups.
 * @param model in place of the configured endpoints
 * @throws ConfigError for endpoints that cannot be used
 */
export const chatGroups = <Problem>(
  config: GroupJudgeConfig,
  seed: number | string,
  { messages, text }: GroupText<Problem>,
  model?: ChatModel,
): GroupScorer<Problem> => {
  const judge = openGroupJudge(config, model)
  const { criterion, looks, maxResponses, maxCharacters } = config
  return {
    alone: true,
    score: (problem, responses, { rubric }) =>
      scoreGroup(
        judge.grader,
        {
          responses: responses.map(tokens => ({ prompt: messages(problem), response: text(tokens) })),
          by: criterion ?? rubric,
        },
        { seed, looks, maxResponses, maxCharacters },
      ),
    metrics: judgeMetrics('groupJudge', judge),
    close: () => judge.close(),
  }
}

/** A task whose responses are scored together, by a judge of groups: what it says of each is paid. */
export const withGroupJudge = <Problem>(
  run: DropoutRun,
  task: ScoredTask<Problem>,
  groups: GroupScorer<Problem>,
): ScoredTask<Problem> => ({
  ...task,
  grade: items =>
    task.grade(
      groups.alone ? items.map(item => ({ ...item, leftOut: nothingAsked(task, item.problem) })) : items,
    ),
  async gradeGroup(problem, rollouts, step) {
    const rubric = task.rubric(problem)
    const leftOut = leftOutOf(run, rubric.criteria, step, task.id(problem))
    const judged = await groups.score(
      problem,
      rollouts.map(({ tokens }) => tokens),
      {
        rubric: leftOut === undefined ? rubric : withoutCriteria(rubric, leftOut.ids),
        ...(leftOut && { leftOut }),
        key: rollouts[0].group,
      },
    )
    return rollouts.map((rollout, g) => ({ relative: relativeOf(judged, rollout, g), leftOut }))
  },
})

const nothingAsked = <Problem>(task: ScoredTask<Problem>, problem: Problem): LeftOut => ({
  ids: new Set(task.rubric(problem).criteria.map(({ id }) => id)),
  asked: false,
})

const relativeOf = (
  { scores, explanations, calls, problem }: GroupScores,
  { end }: Rollout,
  g: number,
): ScoredResponse['relative'] => {
  const score = end === 'failed' ? null : scores[g]
  const explanation = explanations[g] ?? (score === null ? problem : null)
  return { score, explanation, ...(calls?.[g] && { call: calls[g] }) }
}

/** Share of the responses without a relative score; nothing where there is no judge of groups. */
export const groupMetrics = (groups: Groups<{ grade: ScoredResponse }>): Omit<MetricsRow, 'step'> => {
  const judged = groups.flat().flatMap(({ grade: { relative } }) => (relative ? [relative] : []))
  return judged.length > 0 ? { groupNullRate: mean(judged.map(({ score }) => Number(score === null))) } : {}
}
