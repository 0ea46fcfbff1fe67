/** @file What a run of rit would do and need. Nothing is run or called. */

import { describeQuestionFiles } from '../../tasks/questions/index.ts'
import { formatCount, formatInteger } from '../../util/format.ts'
import { evaluationLine } from '../common/evaluation-config.ts'
import { judgingOf, NO_JUDGE, responseCharacters } from '../common/judge-plan.ts'
import { methodPlan, stepTokens } from '../common/plan.ts'
import type { RunPlan } from '../common/recipe.ts'
import { mayBeMissing } from '../common/refuse.ts'
import { evaluatedSamples } from '../common/remote-plan.ts'
import { scaffoldLine } from '../common/scaffold.ts'
import { optionLines } from '../options/options.ts'
import { checkRit } from './check.ts'
import type { RitConfig } from './config.ts'
import { freshShape, type TaskSizes, taskSizes } from './tasks.ts'

/** How both rewards become one. */
const describeReward = ({ reward, fusion, thinkingBy }: RitConfig): string => {
  const weight = fusion.adaptive ? `alpha from ${fusion.alpha}, adaptive` : `alpha ${fusion.alpha}`
  const what = {
    fused: `thinking and response fused, ${weight}, gate ${fusion.gate}`,
    response: 'the response alone (ORM)',
    thinking: 'thinking alone (w/o RR)',
  }[reward]
  return [
    what,
    ...(thinkingBy === 'steps' ? ['thinking judged step by step (PRM)'] : []),
    ...(thinkingBy === 'group' ? ['thinking of a group judged in one call'] : []),
  ].join('; ')
}

/** What there is to train on; of own rows that are not there yet nothing is published. */
const describeData = ({ task }: RitConfig, assumed: boolean): string => {
  if (task.kind === 'packing') return 'packing lists with thinking'
  if (task.kind === 'arithmetic') return 'chains of arithmetic with thinking'
  const sizes = task.format === 'plain' ? 'made up' : 'as published'
  return `${describeQuestionFiles(task)}${assumed ? ` (not there yet: sizes ${sizes})` : ''}`
}

/** Of the judge's instructions and a rubric, roughly. */
const JUDGE_CHARACTERS = 4000

/** Calls of the language model that judges, one on each thinking and one on each open answer; null without one. */
const judgingIn = (config: RitConfig, { judged, questionCharacters, test }: TaskSizes) => {
  const { judge, rollout, steps, evaluation } = config
  if (judge === null) return { json: null, lines: [NO_JUDGE], judges: [] }
  const perResponse = 1 + Number(judged > 0)
  const looks = config.group?.looks ?? 1
  const responses = rollout.prompts * rollout.samples
  const callsPerStep =
    config.thinkingBy === 'group'
      ? rollout.prompts * looks + responses * (perResponse - 1)
      : responses * perResponse
  const { samples: evaluated } = evaluatedSamples(steps, {
    ...evaluation,
    problems: Math.min(evaluation.problems, test),
    problemsBetween: Math.min(evaluation.problemsBetween, test),
  })
  const calls = callsPerStep * steps + evaluated * perResponse
  const { json, line, judges } = judgingOf([
    {
      ...{ name: 'judge', fleet: judge.fleet, callsPerStep, calls },
      characters: {
        // The rubric of thinking is the same in every call.
        ...{ instructions: JUDGE_CHARACTERS, own: 0, shared: questionCharacters },
        responses: responseCharacters(rollout.maxTokens),
      },
      // Thinking and answer are parts of a sample, each shown once; a group is shown whole.
      shown: { role: 'policy', samples: responses / callsPerStep },
    },
  ])
  return {
    json: { callsPerStep, calls, ...json },
    lines: [
      `judging      about ${formatInteger(callsPerStep)} calls a step, ${formatInteger(calls)} in all`,
      line,
    ],
    judges,
  }
}

/** @throws ConfigError, DataError, CheckpointError for what a run would refuse, but for a model and data that come later */
export const planRit = (config: RitConfig): RunPlan => {
  checkRit(config, 'plan')
  const { rollout, steps, rubric, scaffold, critic } = config
  const data = taskSizes(config)
  const { train, test, promptTokens, longestPrompt } = data
  const judging = judgingIn(config, data)
  const tokensPerStep = stepTokens(rollout)
  const updates = config.minibatches * config.epochs
  return methodPlan(
    config,
    freshShape(config),
    {
      tokens: promptTokens,
      longest: longestPrompt,
      together: rollout.prompts * (scaffold ? rollout.samples : 1),
      critic: critic !== null,
      scorings: Number(scaffold != null && config.ratio === 'plain'),
    },
    {
      lines: [
        `data         ${describeData(config, data.assumed)}, ${formatInteger(train)} to train on, ${formatInteger(test)} to test on; prompts of ${formatInteger(promptTokens)} tokens`,
        `training     ${steps} steps of ${rollout.prompts} prompts x ${rollout.samples} samples, at most ${rollout.maxTokens} tokens each: up to ${formatInteger(tokensPerStep)} new tokens a step, ${formatCount(tokensPerStep * steps)} in all`,
        `rubric       ${rubric.source}${rubric.file === null ? '' : ` (${rubric.file}${mayBeMissing(rubric.file, 'plan') ? ', not there yet' : ''})`}`,
        `reward       ${describeReward(config)}`,
        ...optionLines(config),
        ...(scaffold ? [scaffoldLine(scaffold, config.ratio)] : []),
        ...judging.lines,
      ],
      algorithm: critic === null ? 'GRPO, ' : 'PPO with a critic, ',
      learning: `${updates === 1 ? '1 update' : `${updates} updates`} a step, `,
      evaluation: [evaluationLine(config, { test, noun: 'problems' })],
      json: { judge: judging.json },
      work: { judges: judging.judges },
    },
  )
}
