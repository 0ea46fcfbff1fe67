/** @file The environment recipe as the command line knows it, and what a run of it would do and need. Nothing is run or called. */

import { judgedCount } from '../../grade/rubric-grader.ts'
import { sharedRubric } from '../../tasks/conversation/rows.ts'
import { conversationSizes } from '../../tasks/conversation/sizes.ts'
import { CHARACTERS_PER_TOKEN } from '../../tasks/prompt-tokens.ts'
import { mostTurns } from '../../tasks/research/index.ts'
import { taskFiles, withDataFiles } from '../common/data-files.ts'
import { trainingJudges } from '../common/judge-plan.ts'
import { methodPlan } from '../common/plan.ts'
import { miniature, type RecipeEntry, type RunPlan } from '../common/recipe.ts'
import { mayBeMissing } from '../common/refuse.ts'
import { shapeFolder } from '../common/remote.ts'
import { checkEnvironment } from './check.ts'
import {
  type EnvironmentConfig,
  environmentSchema,
  type OpenEnvConfig,
  type ToolsTaskConfig,
} from './config.ts'

const NO_COLD_START = (): never => {
  throw new Error('this recipe has no cold start')
}

/** What an episode is made of, as far as it is known before a server is asked. */
interface PlannedEpisodes {
  lines: string[]
  train: number
  test: number
  /** Of the first thing that a policy is shown, on average or at most. */
  promptTokens: number
  /** Turns of the policy, at most. */
  turns: number
  /** Of an episode, with what it is told in between, at most. */
  tokens: number
  /** Criteria that a judge must see, and characters that it is shown beside the episode. */
  judged: number
  conversationCharacters: number
}

const judgedBy = (path: string | null): number => {
  const rubric = path === null || mayBeMissing(path, 'plan') ? null : sharedRubric({ rubric: path })
  return rubric === null ? 0 : judgedCount(rubric)
}

/** Observations are as long as they may be: the server is not asked. */
const openEnvEpisodes = (task: OpenEnvConfig, turnTokens: number): PlannedEpisodes => {
  const { url, train, test, maxTurns: turns, maxTokens, maxObservationTokens } = task
  const observed = (turns - 1) * maxObservationTokens
  return {
    lines: [
      `environment  OpenEnv at ${url}, not asked yet: ${train} seeds to train on, ${test} to test on, at most ${turns} turns`,
      `rubric       ${task.rubric ?? 'none'}`,
    ],
    ...{ train, test, turns, promptTokens: maxObservationTokens, judged: judgedBy(task.rubric) },
    tokens: Math.min(maxTokens, turns * turnTokens + observed),
    conversationCharacters: CHARACTERS_PER_TOKEN * maxObservationTokens,
  }
}

/** Of rows that come later the lengths are those of published conversations. */
const toolEpisodes = (task: ToolsTaskConfig, folder: string | null): PlannedEpisodes => {
  const sizes = conversationSizes({
    // A file that is not named yet is as one that is not there.
    task: { ...task, file: task.file ?? 'rows that come later', maxPromptTokens: task.maxTokens },
    folder,
    scaffold: messages => messages,
  })
  const { train, test, promptTokens, judged, conversationCharacters, assumed } = sizes
  const rows = `${train} rows to train on, ${test} to test on${assumed ? ', as in HealthBench: the file is not there yet' : ''}`
  return {
    lines: [
      `environment  ${task.tools.length} sources of tools, questions of ${task.file ?? 'no file'}: ${rows}`,
    ],
    ...{ train, test, promptTokens, judged, conversationCharacters },
    turns: mostTurns(task.rules),
    tokens: task.maxTokens,
  }
}

/** @throws ConfigError, DataError, CheckpointError for what a run would refuse, but for files that come later */
export const planEnvironment = (config: EnvironmentConfig): RunPlan => {
  checkEnvironment(config, 'plan')
  const { task, rollout, steps, reward } = config
  const episodes =
    task.kind === 'openenv'
      ? openEnvEpisodes(task, rollout.maxTokens)
      : toolEpisodes(task, shapeFolder(config))
  const { promptTokens, turns, tokens } = episodes
  const planned = { ...config, coldStart: null, rollout: { ...rollout, maxTokens: tokens } }
  const role = {
    ...{ name: 'policy', groups: rollout.prompts, samples: rollout.samples },
    ...{ promptTokens, newTokens: tokens, turns },
  }
  const judging = trainingJudges(planned, episodes)
  const prompts = { tokens: promptTokens, longest: promptTokens, together: rollout.prompts, roles: [role] }
  return methodPlan(planned, NO_COLD_START, prompts, {
    lines: [
      ...episodes.lines,
      `reward       ${reward.environment} x environment (${reward.of}) + ${reward.rubric} x rubric`,
      ...(config.judge === null ? [] : judging.lines),
      `training     ${steps} steps of ${rollout.prompts} problems x ${rollout.samples} episodes, at most ${tokens} tokens each`,
    ],
    evaluation: [],
    json: { ...judging.json, model: shapeFolder(config) },
    work: { judges: judging.judges },
  })
}

export const environmentEntry: RecipeEntry<EnvironmentConfig> = withDataFiles(
  {
    name: 'environment',
    summary: 'acting in an OpenEnv server, or with tools of MCP servers, paid by its reward and a rubric',
    schema: environmentSchema,
    presets: {
      chat: {
        summary: 'a chat model in an OpenEnv server on this machine; name yours in model.folder and task.url',
        config: { model: { folder: 'Qwen/Qwen2.5-0.5B-Instruct' } },
      },
      packing: {
        summary:
          'the shipped words of packing in the game of scripts/peers/openenv_echo.py, half a minute on one core',
        config: {
          ...miniature(24),
          loss: { preset: 'gradus:ruscarl', kl: { kind: 'none', coef: 0 } },
          model: { folder: 'package:models/packing-start' },
          task: {
            kind: 'openenv',
            url: 'http://127.0.0.1:8000',
            format: 'plain',
            prompt: '{say}',
            maxTurns: 3,
            maxTokens: 80,
            train: 256,
            test: 64,
          },
          rollout: { prompts: 8, samples: 8, maxTokens: 24, temperature: 1 },
          steps: 120,
          evaluation: { problems: 64, problemsBetween: 64, every: 30 },
        },
      },
    },
    plan: planEnvironment,
    run: async (config, options) => (await import('./run.ts')).runEnvironment(config, options),
  },
  taskFiles,
)
