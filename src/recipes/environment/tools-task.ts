/** @file Questions of a file, answered with tools: of any MCP server, a local index, a search over HTTP. */

import type { Grader } from '../../grade/grader.ts'
import { chatFormatOf } from '../../model/chat-format.ts'
import {
  type ConversationRow,
  type ConversationSplit,
  splitConversations,
} from '../../tasks/conversation/rows.ts'
import {
  answerText,
  chatAgentFormat,
  mostTurns,
  ResearchWorld,
  rolloutStages,
  ToolBox,
} from '../../tasks/research/index.ts'
import type { TaskWith } from '../../tasks/task.ts'
import { openTools, type Tool } from '../../tools/index.ts'
import { largestOf } from '../../util/descriptive.ts'
import { ConfigError } from '../../util/errors.ts'
import type { ToolsTaskConfig } from './config.ts'
import { byEpisode } from './episodes.ts'

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
