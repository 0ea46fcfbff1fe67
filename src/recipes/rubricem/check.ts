/** @file What a run of rubricem refuses before it trains; its plan refuses the same. */

import { checkWindow } from '../../memory/index.ts'
import { chatFormatOf } from '../../model/chat-format.ts'
import type { ModelConfig } from '../../model/config.ts'
import { assertRoom } from '../../policy/local/sample-request.ts'
import {
  ATTEMPT_TOKENS,
  agentPrompt,
  RECORDS_TEST_WORLD,
  recordsQuestion,
} from '../../tasks/records/index.ts'
import {
  type ResearchSettings,
  researchFiles,
  researchQuestions,
  STAGES,
} from '../../tasks/research/index.ts'
import { checkFleet } from '../common/judging.ts'
import { checkMethod, refuseColdStart } from '../common/method-check.ts'
import { startShape } from '../common/plan.ts'
import { mayBeMissing, type RunMode, refuse } from '../common/refuse.ts'
import { assertWords, taskModel } from '../common/word-models.ts'
import { checkOptions } from '../options/options.ts'
import { checkStageAnchors } from './anchored.ts'
import { type ChatJudgeConfig, type RecordsTaskConfig, type RubricemConfig, taskSettings } from './config.ts'
import type { RubricemRunParts } from './tasks.ts'

/**
 * The checkpoint to start from; null when a cold start makes one, and in a plan when it comes later.
 * @param parts in place of what the configuration names
 * @throws ConfigError, DataError, CheckpointError for settings, files and models that a run cannot use
 */
export const checkRubricem = (
  config: RubricemConfig,
  purpose: RunMode,
  parts: RubricemRunParts = {},
): string | null => {
  const { reflection } = config
  const settings = taskSettings(config)
  const given = checkMethod(config, purpose, {
    starts: 'records-cold-start',
    remote: [
      reflection.enabled &&
        reflection.temperature !== 1 && [
          'reflection.temperature',
          `1 with policy.kind tinker, whose server trains and scores at 1 alone, got ${reflection.temperature}`,
          'set it to 1',
        ],
    ],
    settings() {
      checkRubricemSettings(config)
      checkStageAnchors(config, purpose)
      if (settings.kind === 'research') checkResearchSettings(config, settings, purpose, parts)
    },
    assertReads: folder =>
      settings.kind === 'research' ? chatFormatOf(folder, 'task "research"') : assertWords('records')(folder),
  })
  const shape = startShape(config, taskModel('records'))
  if (shape === null) return given
  if (settings.kind === 'research') checkResearchRoom(config, settings.task, shape)
  else checkRecordsRoom(config, settings.task, shape)
  return given
}

const checkRubricemSettings = (config: RubricemConfig): void => {
  const { reflection, window, memory, rollout, pipeline, credit } = config
  const remembers = reflection.enabled && memory.kind === 'bank'
  checkWindow(window, remembers ? Math.max(Number(reflection.deferred), Number(pipeline)) : 0)
  if (memory.kind === 'bank' && memory.retrieval !== 'cross')
    refuse(
      `memory.retrieval: expected nothing, got "${memory.retrieval}": fresh questions are shown lessons of similar ones, repeated ones their own`,
      'leave it out; window.steps says how many batches are fresh before they are repeated',
    )
  if (credit.lambda.length !== STAGES.length)
    refuse(
      `credit.lambda: expected ${STAGES.length} rows, one a stage, got ${credit.lambda.length}`,
      'give plan, research, review and answer a row each, or leave it out',
    )
  if (rollout.samples < 2)
    refuse(
      `rollout.samples: expected at least 2, got ${rollout.samples}`,
      'rollouts of a question are compared with each other',
    )
  checkOptions(config, {
    control: { of: 'scores' },
    evolving: true,
    allAsked: 'which rubrics stay is decided by the levels on all of them',
  })
}

/** An attempt fits behind its question with references, and a reflection behind both. */
const checkRecordsRoom = (
  { reflection }: RubricemConfig,
  task: RecordsTaskConfig,
  { maxPositions }: ModelConfig,
): void => {
  const { length } = agentPrompt(recordsQuestion(RECORDS_TEST_WORLD, 0, task))
  assertRoom('an attempt at a question', length, ATTEMPT_TOKENS, maxPositions)
  if (reflection.enabled)
    assertRoom(
      'an attempt, for a reflection (reflection.maxTokens)',
      length + ATTEMPT_TOKENS,
      reflection.maxTokens,
      maxPositions,
    )
}

/** A turn with its thinking and a call, and two blocks of a reflection, are not written in fewer tokens. */
const LEAST_TURN_TOKENS = 128
const LEAST_REFLECTION_TOKENS = 64

const checkResearchSettings = (
  config: RubricemConfig,
  { task, judge }: { task: ResearchSettings; judge: ChatJudgeConfig },
  purpose: RunMode,
  parts: RubricemRunParts,
): void => {
  const { reflection, rollout } = config
  refuseColdStart(config, 'records')
  if (reflection.placebo)
    refuse(
      'reflection.placebo: expected false with task.kind research, where no lesson is known to be empty',
      'leave it out',
    )
  if (rollout.maxTokens < LEAST_TURN_TOKENS)
    refuse(
      `rollout.maxTokens: expected at least ${LEAST_TURN_TOKENS} tokens a turn with task.kind research, got ${rollout.maxTokens}`,
      'a turn is thinking and a call, or the whole answer: take 2048 or more, or begin with --preset research',
    )
  if (reflection.enabled && reflection.maxTokens < LEAST_REFLECTION_TOKENS)
    refuse(
      `reflection.maxTokens: expected at least ${LEAST_REFLECTION_TOKENS} with task.kind research, got ${reflection.maxTokens}`,
      'a reflection is two blocks of text: take 1024 or more',
    )
  if (task.tools.length === 0 && parts.tools === undefined && purpose === 'run')
    refuse(
      'task.tools: expected at least one tool, got none',
      'name MCP servers, a local search index, or a search over HTTP',
    )
  if (parts.judgeModel === undefined) {
    checkFleet(judge.fleet, 'judge.fleet')
    if (judge.reflections !== null) checkFleet(judge.reflections.fleet, 'judge.reflections.fleet')
  }
  if (!researchFiles(task).some(file => mayBeMissing(file, purpose))) researchQuestions(task)
}

/** There is room for attempts and reflections. */
const checkResearchRoom = (
  { reflection }: RubricemConfig,
  task: ResearchSettings,
  { maxPositions }: ModelConfig,
): void => {
  assertRoom(
    'a prompt (task.maxPromptTokens), with an attempt in all (task.maxTokens)',
    task.maxPromptTokens,
    task.maxTokens,
    maxPositions,
  )
  if (reflection.enabled)
    assertRoom('a reflector (reflection.maxTokens)', 1, reflection.maxTokens, maxPositions)
}
