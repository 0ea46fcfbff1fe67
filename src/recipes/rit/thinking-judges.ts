/** @file A language model as the judge of thinking: as a whole, step by step, or all of a problem's together. */

import type { ChatModel } from '../../chat/chat-model.ts'
import { groupSettingsSchema } from '../../grade/group/index.ts'
import { judgeSteps, STEP_JUDGE, THINKING_JUDGE } from '../../grade/thinking/index.ts'
import { JudgeVerifier } from '../../tasks/judge-verifier.ts'
import type { Task } from '../../tasks/task.ts'
import { ConfigError } from '../../util/errors.ts'
import { openThinkingJudging } from '../common/judging.ts'
import { chatGroups } from '../options/group-judge.ts'
import type { RitConfig } from './config.ts'
import type { RitTask } from './task.ts'

/** A language model in place of a task's own judge of thinking. */
export interface ThinkingJudges<Problem>
  extends Required<Pick<RitTask<Problem>, 'verifier' | 'stepVerdicts' | 'metrics' | 'close'>>,
    Pick<RitTask<Problem>, 'groups'> {}

/**
 * Opens the configured judge for thinking as a whole and for its steps.
 * @param model in place of the configured endpoints
 * @throws ConfigError for a judge that cannot be used
 */
export const thinkingJudges = <Problem>(
  config: Pick<RitConfig, 'judge' | 'thinkingBy' | 'group' | 'seed'>,
  task: Pick<Task<Problem>, 'question' | 'thinking'>,
  model?: ChatModel,
): ThinkingJudges<Problem> => {
  const { judge, thinkingBy } = config
  if (judge === null)
    throw new ConfigError('judge: expected one, got nothing', { hint: 'set judge.fleet.endpoints' })
  const form = thinkingBy === 'steps' ? STEP_JUDGE : THINKING_JUDGE
  const { grader, metrics, close } = openThinkingJudging(judge, form, model)
  const together = thinkingBy === 'group' ? groupJudging(judge, config, task, model) : null
  return {
    ...(together && { groups: together }),
    verifier: new JudgeVerifier(grader, task, { part: 'thinking' }),
    stepVerdicts: items =>
      Promise.all(
        items.map(async ({ problem, response: { thinking } }) => {
          const { verdicts } = await judgeSteps(grader, { question: task.question(problem), thinking })
          return verdicts.map(({ met }) => met)
        }),
      ),
    metrics: together ? () => ({ ...metrics(), ...together.metrics() }) : metrics,
    async close() {
      await close()
      await together?.close()
    },
  }
}

/** The same judge, asked about all thinking on a problem at once; of no thinking the score is 0, and nobody is asked. */
const groupJudging = <Problem>(
  judge: NonNullable<RitConfig['judge']>,
  { group, seed }: Pick<RitConfig, 'group' | 'seed'>,
  task: Pick<Task<Problem>, 'question' | 'thinking'>,
  model?: ChatModel,
) => {
  const textOf = (tokens: Int32Array) => task.thinking!.read(tokens).thinking
  const messages = (problem: Problem) => [{ role: 'user' as const, content: task.question(problem) }]
  const settings = { ...judge, ...(group ?? groupSettingsSchema.parse({})) }
  const groups = chatGroups<Problem>(settings, seed, { messages, text: textOf }, model)
  const score: typeof groups.score = async (problem, responses, asked) => {
    const some = responses.flatMap((tokens, i) => (textOf(tokens) === '' ? [] : [i]))
    const said = await groups.score(
      problem,
      some.map(i => responses[i]),
      asked,
    )
    const among = <Value>(none: Value, values: readonly Value[]) =>
      responses.map((_, i) => (some.includes(i) ? values[some.indexOf(i)] : none))
    return {
      ...said,
      scores: among<number | null>(0, said.scores),
      explanations: among<string | null>('nothing was thought', said.explanations),
      ...(said.calls && { calls: among(undefined, said.calls) }),
    }
  }
  return { ...groups, score }
}
