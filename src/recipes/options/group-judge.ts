/** @file Relative judging as a reward: a group's responses scored together, by a chat model, or by script in a miniature. */

import { z } from 'zod'
import type { ChatMessage, ChatModel } from '../../chat/chat-model.ts'
import {
  type GroupJudgeConfig,
  type GroupScores,
  type GroupSettings,
  groupJudgeShape,
  openGroupJudge,
  scoreGroup,
} from '../../grade/group/index.ts'
import { judgeOf } from '../../grade/judge/judge-config.ts'
import type { Rollout } from '../../rl/rollout.ts'
import type { Rubric, Verdict } from '../../rubric/criterion.ts'
import { withoutCriteria } from '../../rubric/dropout.ts'
import type { MetricGroup } from '../../runs/rows.ts'
import type { LeftOut, ScoredResponse, ScoredTask } from '../../tasks/scored-response.ts'
import type { Verdicts } from '../../tasks/task.ts'
import { choice, orAbsent } from '../../train/config.ts'
import { formatInteger } from '../../util/format.ts'
import { Rng } from '../../util/rng.ts'
import { amount, fraction } from '../../util/setting-shapes.ts'
import { mean } from '../../util/statistics.ts'
import { checkFleet, judgeMetrics } from '../common/judging.ts'
import { refuse } from '../common/refuse.ts'
import type { RewardFacts, RewardOption } from './option.ts'

/** A relative judge by script: it sees what another grader says, with errors of its own. */
const scriptedSchema = z.strictObject({
  kind: z.literal('scripted').describe('A script that sees scores, for the task packing.'),
  sees: choice(
    ['training', 'truth'],
    'training',
    "Which scores the script sees: those of training's judge with its faults (`training`), or the true ones (`truth`).",
  ),
  noise: amount.default(0.1).describe('Standard deviation of the random error that is added to every score.'),
  placeBias: fraction
    .default(0)
    .describe(
      'Added to the score of the response in the first place and subtracted in the last; linear in between.',
    ),
})

const chatSchema = z
  .strictObject({
    kind: z.literal('chat').describe('A language model that compares responses.'),
    ...groupJudgeShape,
  })
  .transform(judgeOf('thinking'))

/** A judge of groups in a recipe: `chat` asks a language model, `scripted` is for miniatures. */
const groupJudgeSchema = z.discriminatedUnion('kind', [scriptedSchema, chatSchema])
type GroupJudge = z.output<typeof groupJudgeSchema>
type ScriptedGroupJudge = Extract<GroupJudge, { kind: 'scripted' }>

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
const scriptedGroups = <Problem>(
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
): GroupScorer<Problem> & Required<Pick<GroupScorer<Problem>, 'metrics' | 'close'>> => {
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

/**
 * A task whose responses are scored together, by a judge of groups: what it says of each is paid.
 * @param leftOut what a problem's score leaves out in a step
 */
export const withGroupJudge = <Problem, Said extends Verdicts = Verdicts>(
  task: ScoredTask<Problem, Said>,
  groups: GroupScorer<Problem>,
  leftOut: (problem: Problem, step: number) => LeftOut | undefined,
): ScoredTask<Problem, Said> => ({
  ...task,
  grade: items =>
    task.grade(
      groups.alone ? items.map(item => ({ ...item, leftOut: nothingAsked(task, item.problem) })) : items,
    ),
  async gradeGroup(problem, rollouts, step) {
    const rubric = task.rubric(problem)
    const left = leftOut(problem, step)
    const judged = await groups.score(
      problem,
      rollouts.map(({ tokens }) => tokens),
      {
        rubric: left === undefined ? rubric : withoutCriteria(rubric, left.ids),
        ...(left && { leftOut: left }),
        key: rollouts[0].group,
      },
    )
    type Relative = Partial<Said & ScoredResponse>
    return rollouts.map((own, g) => ({ relative: relativeOf(judged, own, g), leftOut: left }) as Relative)
  },
})

const nothingAsked = <Problem>(task: Pick<ScoredTask<Problem>, 'rubric'>, problem: Problem): LeftOut => ({
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

/** What a judge of the whole group said, as readers find it among the verdicts. */
export const relativeVerdict = ({
  score,
  explanation,
  call,
}: NonNullable<ScoredResponse['relative']>): Verdict => ({
  criterionId: 'relative to the group',
  met: score === null ? null : score > 0.5,
  ...(score !== null && { credit: score }),
  ...(explanation !== null && { explanation }),
  ...(call ? { call, source: 'llm' } : { source: 'rule' }),
})

/** @throws ConfigError for a group that is not one call of its judge */
export const refuseGroupSize = (
  { maxResponses }: Pick<GroupSettings, 'maxResponses'>,
  samples: number | undefined,
  path: string,
): void => {
  if (samples !== undefined && samples > maxResponses)
    refuse(
      `${path}.maxResponses: expected at least the ${samples} samples of a problem, got ${maxResponses}`,
      'raise it, or lower rollout.samples: a group is one call',
    )
}

const check = (judge: GroupJudge, samples: number | undefined, facts: RewardFacts): void => {
  const { groupsBy } = facts
  if (groupsBy !== undefined && judge.kind !== groupsBy)
    refuse(`groupJudge.kind: expected "${groupsBy}" with this task, got "${judge.kind}"`, 'change it')
  const beside = facts.noise ?? facts.unscored
  if (beside) refuse(`groupJudge: expected nothing beside ${beside}`, 'leave it out, or set that back')
  if (samples === 1)
    refuse('rollout.samples: expected at least 2 with groupJudge, which compares responses', 'raise it')
  if (judge.kind === 'scripted') return
  refuseGroupSize(judge, samples, 'groupJudge')
  checkFleet(judge.fleet, 'groupJudge.fleet')
}

/**
 * The judge of groups that settings name; null for none.
 * @param truth the task for the truth
 * @param heard as training's graders score it alone
 * @param chat what a chat model is shown, and one in place of the configured endpoints
 * @throws ConfigError for endpoints that cannot be used
 */
export const openGroups = <Problem>(
  { groupJudge: own, seed }: { groupJudge?: GroupJudge; seed: number | string },
  truth: Pick<ScoredTask<Problem>, 'grade'>,
  heard: Pick<ScoredTask<Problem>, 'grade'>,
  chat?: { shown: GroupText<Problem>; model?: ChatModel },
): GroupScorer<Problem> | null => {
  if (own?.kind === 'scripted') return scriptedGroups(own, own.sees === 'truth' ? truth : heard)
  return own && chat ? chatGroups(own, seed, chat.shown, chat.model) : null
}

const shape = {
  groupJudge: orAbsent(
    groupJudgeSchema,
    "Rewards by a judge that sees all responses to a prompt at once, in place of the rubric's scores; absent: the rubric's.",
  ),
}

export const groupJudge: RewardOption<typeof shape> = {
  shape,
  refuse: ({ groupJudge: own, rollout }, facts) => own && check(own, rollout?.samples, facts),
  plan({ groupJudge: own, steps, rollout }) {
    if (own?.kind !== 'chat' || steps === undefined || rollout === undefined) return []
    const { looks } = own
    const calls = rollout.prompts * looks
    return [
      `group judge  ${formatInteger(calls)} calls a step, one a prompt${looks > 1 ? ` and look (${looks})` : ''}; ${formatInteger(steps * calls)} in training`,
    ]
  },
  /** Share of the responses without a relative score. */
  metrics(groups) {
    const judged = groups.flat().flatMap(({ grade: { relative } }) => (relative ? [relative] : []))
    return judged.length > 0 ? { groupNullRate: mean(judged.map(({ score }) => Number(score === null))) } : {}
  },
  facts({ groupJudge: own }) {
    if (own?.kind !== 'chat') return {}
    const unjudged = 'groupJudge.kind "chat"'
    const unpaid = own.criterion ? 'groupJudge.criterion, which stands in place of the rubric' : null
    return { unjudged, unkept: unjudged, unpaid }
  },
  spoils: ({ groupJudge: own }) => own !== undefined,
}
