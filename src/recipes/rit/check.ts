/** @file What a run of rit refuses before it trains; its plan refuses the same. */

import { groupSettingsSchema } from '../../grade/group/index.ts'
import { chatFormatOf } from '../../model/chat-format.ts'
import { assertRoom } from '../../policy/local/sample-request.ts'
import { checkTrainingSeed } from '../../tasks/logic/testsets.ts'
import { checkFleet } from '../common/judging.ts'
import { checkMethod, refuseColdStart } from '../common/method-check.ts'
import { startShape } from '../common/plan.ts'
import { mayBeMissing, type RunMode, refuse } from '../common/refuse.ts'
import { checkScaffold } from '../common/scaffold.ts'
import { assertWords } from '../common/word-models.ts'
import { refuseGroupSize } from '../options/group-judge.ts'
import { checkOptions } from '../options/options.ts'
import { type RitConfig, ritSchema } from './config.ts'
import { checkFileRubrics, checkRubricSource } from './rubric.ts'
import { freshShape, knownOf, taskSizes } from './tasks.ts'

/**
 * The checkpoint to start from; null when a cold start makes one, and in a plan when it comes later.
 * @throws ConfigError, DataError, CheckpointError for settings, files and models that a run cannot use
 */
export const checkRit = (config: RitConfig, purpose: RunMode): string | null => {
  const { task, rubric, judge } = config
  const words = task.kind === 'arithmetic' ? task.kind : 'packing-thinking'
  const given = checkMethod(config, purpose, {
    starts: task.kind === 'arithmetic' ? 'arithmetic-cold-start' : 'checklist-cold-start',
    settings() {
      checkRitSettings(config)
      const known = knownOf(config)
      checkRubricSource(config, known)
      if (rubric.file !== null && !mayBeMissing(rubric.file, purpose))
        checkFileRubrics(rubric.file, config, known)
      if (judge !== null) checkFleet(judge.fleet, 'judge.fleet')
      else if (task.kind === 'questions' && taskSizes(config).judged > 0)
        refuse(
          'judge: expected one for open questions with criteria that no rule decides',
          'set judge.fleet.endpoints, or give every criterion a rule (verifier: {kind: rule, fn, params})',
        )
    },
    assertReads: folder =>
      task.kind === 'questions' ? chatFormatOf(folder, 'task "questions"') : assertWords(words)(folder),
  })
  const shape = task.kind === 'questions' ? null : startShape(config, freshShape(config))
  if (shape === null || (given === null && config.coldStart === null)) return given
  // Prompts, with all that a scaffold shows, leave room for a response.
  assertRoom(
    'the longest prompt',
    taskSizes(config).longestPrompt,
    config.rollout.maxTokens,
    shape.maxPositions,
  )
  return given
}

/** Refuses settings of which one would silently be ignored. @throws ConfigError naming the setting and what to do */
export const checkRitSettings = (config: RitConfig): void => {
  checkTask(config)
  checkReward(config)
  checkCredit(config)
  const { rubric, thinkingBy, task, reward } = config
  const unjudged = thinkingBy === 'rubric' ? null : `thinkingBy "${thinkingBy}"`
  const none = rubric.source === 'none' ? 'rubric.source "none"' : null
  const ignored = reward === 'response' ? 'reward "response", which thinking cannot change' : null
  checkScaffold(config)
  checkOptions(config, {
    ...{ unpaid: unpaid(config), unjudged, control: { of: 'scores', ignored } },
    // Of an answer that is right or wrong there is no criterion to miss.
    unkept: task.kind === 'arithmetic' ? (unjudged ?? none) : null,
    unshown: task.kind === 'packing' ? null : `task "${task.kind}", whose answers have no rubric to show`,
  })
  checkGroup(config)
}

const checkTask = (config: RitConfig): void => {
  const { task, seed, judge, rubric, thinkingBy } = config
  const isRuled = thinkingBy === 'rubric' && (rubric.source === 'file' || rubric.source === 'none')
  if (task.kind === 'questions' && judge === null && !isRuled)
    refuse(
      'judge: expected one with task "questions", whose thinking only a rubric of rules (rubric.file) can do without',
      'set judge.fleet.endpoints',
    )
  if (task.kind === 'packing') return
  checkTrainingSeed(seed)
  refuseColdStart(config, 'packing')
}

const checkReward = ({ reward, fusion, thinkingBy, rubric, normalise }: RitConfig): void => {
  const usual = ritSchema.parse({})
  if (reward === 'thinking' && thinkingBy === 'rubric' && rubric.source === 'none')
    refuse(
      'rubric.source: expected one with criteria with reward "thinking", which would pay for the answer without any',
      'choose another source',
    )
  if (reward !== 'fused') {
    const hint = 'set reward to "fused", or leave this out'
    if (fusion.adaptive !== null)
      refuse(`fusion.adaptive: expected null with reward "${reward}", which mixes nothing`, hint)
    if (fusion.gate !== usual.fusion.gate)
      refuse(`fusion.gate: expected nothing set with reward "${reward}", which has no gate`, hint)
    if (normalise === 'part')
      refuse(`normalise: expected "reward" with reward "${reward}", which has one part`, hint)
  }
  if (thinkingBy !== 'rubric' && fusion.nulls !== usual.fusion.nulls)
    refuse(
      `fusion.nulls: expected nothing set with thinkingBy "${thinkingBy}", which judges no criterion by itself`,
      'leave it out',
    )
  const { adaptive } = fusion
  if (adaptive !== null && adaptive.floor > adaptive.ceiling)
    refuse(
      `fusion.adaptive.floor: expected at most the ceiling ${adaptive.ceiling}, got ${adaptive.floor}`,
      'lower it',
    )
}

/** Why no criterion of thinking has a part in what is paid. */
const unpaid = ({ reward, rubric, thinkingBy, group }: RitConfig): string | null => {
  if (reward === 'response') return 'reward "response", which no criterion of thinking can change'
  if (thinkingBy === 'steps') return 'thinkingBy "steps", which has no criteria'
  if (rubric.source === 'none') return 'rubric.source "none", which has no criteria'
  return group?.criterion ? 'group.criterion, which stands in place of the rubric' : null
}

const checkGroup = ({ thinkingBy, group, judge, rubric, reward, rollout }: RitConfig): void => {
  if (thinkingBy !== 'group') {
    if (group !== undefined)
      refuse(
        `group: expected nothing with thinkingBy "${thinkingBy}"`,
        'set thinkingBy to "group", or leave it out',
      )
    return
  }
  const own = group ?? groupSettingsSchema.parse({})
  if (judge === null) refuse('judge: expected one with thinkingBy "group"', 'set judge.fleet.endpoints')
  if (reward === 'response')
    refuse(
      'thinkingBy: expected "rubric" with reward "response", which thinking cannot change',
      'leave it out',
    )
  if (rubric.source === 'none' && own.criterion === null)
    refuse(
      'group.criterion: expected what to go by, without a rubric',
      'say it, or choose another rubric.source',
    )
  refuseGroupSize(own, rollout.samples, 'group')
}

const checkCredit = ({ critic, rollout: { samples } }: RitConfig): void => {
  if (critic === null && samples < 2)
    refuse(
      `rollout.samples: expected at least 2 without a critic, where the rollouts of a group are compared, got ${samples}`,
      'raise it, or set critic',
    )
}
