/** @file Research opened with questions of files and the tools of a configuration. */

import { chatFormatOf } from '../../model/chat-format.ts'
import { openTools, type Tool } from '../../tools/index.ts'
import { ConfigError } from '../../util/errors.ts'
import type { RowSplit } from '../questions/split.ts'
import type { TaskWith } from '../task.ts'
import { type ResearchQuestion, researchQuestions } from './questions.ts'
import type { ResearchSettings } from './settings.ts'
import { type ResearchParts, researchTask } from './task.ts'
import { ToolBox } from './tool-box.ts'

interface OpenResearchOptions extends Omit<ResearchParts, 'format' | 'tools'> {
  settings: ResearchSettings
  /** Of the model that acts. */
  folder: string
  /** In place of the configured ones. */
  tools?: readonly Tool[]
  /** In place of those of the configured files; to be tested on alone. */
  questions?: RowSplit<ResearchQuestion>
}

/**
 * @throws ConfigError, DataError, CheckpointError, ToolError for files, tools or a model that cannot be used; what was opened is
 * closed then
 */
export const openResearchTask = async ({
  folder,
  tools: given,
  questions,
  ...parts
}: OpenResearchOptions): Promise<TaskWith<ResearchQuestion, 'world' | 'stages' | 'close'>> => {
  const { settings } = parts
  const format = chatFormatOf(folder, 'task "research"')
  const { tools, close } = given ? { tools: given, close: async () => {} } : await openTools(settings.tools)
  try {
    const task = researchTask({ ...parts, format, tools: new ToolBox(tools, settings.toolBox) })
    const tokens = (question: ResearchQuestion) => task.prompt(question).length
    const { train, test, notes } = fittingQuestions(settings, tokens, questions)
    return { ...task, train, tests: { unseen: test }, notes: [...notes, ...task.notes], close }
  } catch (error) {
    await close()
    throw error
  }
}

/** Questions whose prompts leave room for an attempt. @throws ConfigError where none is left on a side */
const fittingQuestions = (
  settings: ResearchSettings,
  tokens: (question: ResearchQuestion) => number,
  given?: RowSplit<ResearchQuestion>,
) => {
  const { maxPromptTokens } = settings
  const { train, test, notes } = given ?? researchQuestions(settings)
  const beside = tokens({ id: '', question: 'x', answers: [], persistent: [] })
  // A token is at least a byte: most questions need not be encoded to see that they fit.
  const fits = (question: ResearchQuestion) =>
    beside + Buffer.byteLength(question.question) <= maxPromptTokens || tokens(question) <= maxPromptTokens
  const [left, tested] = [train.filter(fits), test.filter(fits)]
  if ((left.length === 0 && given === undefined) || tested.length === 0)
    throw new ConfigError(
      `task.maxPromptTokens: expected prompts of at most ${maxPromptTokens} tokens, of which instructions and tools take ${beside}; got ${left.length} such questions to train on and ${tested.length} to test on`,
      { hint: 'raise it, or configure fewer tools' },
    )
  const leftOut = train.length + test.length - left.length - tested.length
  const note = `${leftOut} questions left out: prompts above ${maxPromptTokens} tokens`
  return { train: left, test: tested, notes: leftOut === 0 ? notes : [...notes, note] }
}
