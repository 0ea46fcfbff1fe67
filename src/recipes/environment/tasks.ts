/** @file What is acted in: episodes of an OpenEnv server, and questions of a file answered with tools. */

import type { GradeItem, Grader } from '../../grade/grader.ts'
import { chatFormatOf } from '../../model/chat-format.ts'
import type { Rollout } from '../../rl/rollout.ts'
import type { Rubric } from '../../rubric/criterion.ts'
import {
  type ConversationRow,
  type ConversationSplit,
  sharedRubric,
  splitConversations,
} from '../../tasks/conversation/rows.ts'
import { type OpenEnvProblem, openOpenEnv, turnFormatOf } from '../../tasks/openenv/index.ts'
import {
  answerText,
  chatAgentFormat,
  mostTurns,
  ResearchWorld,
  rolloutStages,
  ToolBox,
} from '../../tasks/research/index.ts'
import type { Item, Task, TaskWith } from '../../tasks/task.ts'
import { openTools, type Tool } from '../../tools/index.ts'
import { spokenTurns } from '../../train/update-rows.ts'
import { largestOf } from '../../util/descriptive.ts'
import { ConfigError } from '../../util/errors.ts'
import type { EnvironmentConfig, OpenEnvConfig, ToolsTaskConfig } from './config.ts'

type Episode<Problem> = Item<Problem> & Required<Pick<Item<Problem>, 'rollout'>>

/** Has a grader read of each episode what a task makes of it. */
const byEpisode =
  <Problem>(grader: Grader, read: (episode: Episode<Problem>) => GradeItem): Task<Problem>['grade'] =>
  items =>
    Promise.all(
      items.map(async item => ({
        verdicts: await grader.grade(read(item as Episode<Problem>), item.criteria),
        wellFormed: true,
      })),
    )

/** What settles how many episodes there are at a time. */
interface EpisodeCounts {
  rollout: Pick<EnvironmentConfig['rollout'], 'prompts' | 'samples'>
  evaluation: Pick<EnvironmentConfig['evaluation'], 'problems' | 'samples'>
}

const NOTHING: Rubric = { criteria: [] }

/** @throws ConfigError, DataError, ToolError, CheckpointError for a server, or a model, that cannot be used */
export const openEnvTask = async (
  { rollout, evaluation }: EpisodeCounts,
  task: OpenEnvConfig,
  folder: string,
  grader: Grader,
): Promise<TaskWith<OpenEnvProblem, 'world' | 'close'>> => {
  const format = turnFormatOf(folder, task.format, task.maxObservationTokens)
  const rubric = sharedRubric(task) ?? NOTHING
  // Rollouts that are under way together.
  const tested = Math.min(evaluation.problems, task.test) * evaluation.samples
  const together = Math.max(rollout.prompts * rollout.samples, tested)
  const { train, test, world, close } = await openOpenEnv(task, format, together)
  const longest = largestOf([...train, ...test].map(({ prompt }) => prompt.length))
  const room = format.maxPositions - longest
  if (room <= 0) {
    await close()
    throw new ConfigError(
      `task.prompt: expected prompts that leave room in a context of ${format.maxPositions}, got one of ${longest} tokens`,
      { hint: 'show less of an observation' },
    )
  }
  const read = (tokens: ArrayLike<number>) => format.read(tokens)
  return {
    ...{ train, tests: { 'unseen seeds': test }, label: 'environment', close },
    world: {
      environment: world,
      limits: { turns: task.maxTurns, tokens: Math.min(task.maxTokens, room) },
      outcome: key => world.take(key),
      pays: true,
    },
    stopTokens: format.stopTokens,
    id: ({ id }) => id,
    prompt: ({ prompt }) => prompt,
    question: ({ text }) => text,
    rubric: () => rubric,
    grade: byEpisode(grader, ({ problem, rollout }) => ({
      ...{ id: problem.id, prompt: [{ role: 'user', content: problem.text }] },
      response: transcript(rollout, read),
    })),
    show: tokens => format.show(tokens),
    gradeBatch: 1,
    notes:
      room < task.maxTokens
        ? [`episodes have at most ${room} tokens: the model's context is ${format.maxPositions}`]
        : [],
  }
}

/** One turn as it is, several with who spoke. */
const transcript = (rollout: Rollout, read: (tokens: ArrayLike<number>) => string): string => {
  const spoken = spokenTurns(rollout, tokens => read(tokens))
  return spoken.length === 1
    ? spoken[0].text
    : spoken.map(({ by, text }) => `${by}: ${text.trim()}`).join('\n')
}

type ToolRows = Pick<ConversationSplit, 'train' | 'test' | 'repeated'>

/** @throws ConfigError, DataError, CheckpointError for rows, tools or a model that cannot be used */
export const toolsTask = async (
  task: ToolsTaskConfig,
  folder: string,
  grader: Grader,
  given?: readonly Tool[],
  { train, test, repeated }: ToolRows = splitConversations(task),
): Promise<TaskWith<ConversationRow, 'world' | 'close'>> => {
  const format = chatFormatOf(folder, 'task "tools"')
  const opened = given ? { tools: given, close: async () => {} } : await openTools(task.tools)
  try {
    const agent = chatAgentFormat(format, {
      ...{ calls: task.callForm, maxTokens: task.maxOutputTokens },
      prompt: { tools: opened.tools, rules: task.rules, scaffold: false },
    })
    const box = new ToolBox(opened.tools, { timeoutMs: task.toolTimeoutMs })
    // By the row itself: rows without ids are called by their places in a file, and there are two files.
    const prompts = new Map([...train, ...test].map(row => [row, agent.prompt(questionOf(row))]))
    const longest = largestOf([...prompts.values()].map(({ length }) => length))
    if (longest >= format.maxPositions)
      throw new ConfigError(
        `task.file: expected prompts that leave room in a context of ${format.maxPositions}, got one of ${longest} tokens`,
        { hint: 'leave long rows out, or configure fewer tools' },
      )
    const { stopTokens, stopStrings } = agent.sampling
    return {
      ...{ train, tests: { 'held-out rows': test }, label: 'environment', stopTokens },
      world: {
        environment: new ResearchWorld({ format: agent, tools: box, rules: task.rules }),
        limits: {
          turns: mostTurns(task.rules),
          tokens: Math.min(task.maxTokens, format.maxPositions - longest),
        },
        stopStrings,
        outcome: () => null,
      },
      id: ({ id }) => id,
      prompt: row => prompts.get(row)!,
      question: questionOf,
      rubric: ({ rubric }) => rubric,
      grade: byEpisode(grader, ({ problem, rollout }) => {
        const { text, elements, answered } = rolloutStages(rollout, agent, task.rules)
        return {
          ...{ id: problem.id, prompt: [{ role: 'user', content: questionOf(problem) }] },
          response: (answered ? answerText(text, elements) : null) ?? '',
          ...(problem.reference !== undefined && { reference: problem.reference }),
        }
      }),
      show: tokens => format.show(tokens),
      gradeBatch: 1,
      notes: repeated > 0 ? [`${repeated} rows left out of training: they are among those of the test`] : [],
      async close() {
        await box.close()
        await opened.close()
      },
    }
  } catch (error) {
    await opened.close()
    throw error
  }
}

/** Of a single message its text, else with who said it. */
const questionOf = ({ messages }: ConversationRow): string =>
  messages.length === 1
    ? messages[0].content
    : messages.map(({ role, content }) => `${role}: ${content}`).join('\n\n')
