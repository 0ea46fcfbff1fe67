/** @file Research opened with questions of files and the tools of a configuration. */

import { chatFormatOf } from '../../model/chat-format.ts'
import { openTools, type Tool } from '../../tools/index.ts'
import { ConfigError } from '../../util/errors.ts'
import type { TaskWith } from '../task.ts'
import { type ResearchQuestion, type ResearchSplit, researchQuestions } from './questions.ts'
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
  questions?: ResearchSplit
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
    const { notes, ...sides } = fittingQuestions(settings, tokens, questions)
    return { ...task, ...sides, notes: [...notes, ...task.notes], close }
  } catch (error) {
    await close()
    throw error
  }
}

const WITHOUT_ARTICLES =
  "DeepResearch Bench without reference articles (articles): the score is the points of its rubric, not RACE's share"

/** Questions whose prompts leave room for an attempt. @throws ConfigError where none is left on a side */
const fittingQuestions = (
  settings: ResearchSettings,
  tokens: (question: ResearchQuestion) => number,
  given?: ResearchSplit,
) => {
  const { maxPromptTokens } = settings
  const { train, test, notes, tests: more } = given ?? researchQuestions(settings)
  const beside = tokens({ id: '', question: 'x', answers: [], persistent: [] })
  // A token is at least a byte: most questions need not be encoded to see that they fit.
  const fits = (question: ResearchQuestion) =>
    beside + Buffer.byteLength(question.question) <= maxPromptTokens || tokens(question) <= maxPromptTokens
  const left = train.filter(fits)
  const sets = Object.entries({ unseen: test, ...more })
  const tests = Object.fromEntries(sets.map(([name, own]) => [name, own.filter(fits)]))
  const none = Object.keys(tests).find(name => tests[name].length === 0)
  if ((left.length === 0 && given === undefined) || none !== undefined)
    throw new ConfigError(
      `task.maxPromptTokens: expected prompts of at most ${maxPromptTokens} tokens, of which instructions and tools take ${beside}; got ${left.length} such questions to train on and ${tests[none ?? 'unseen'].length} to test on${more && none ? ` (${none})` : ''}`,
      { hint: 'raise it, or configure fewer tools' },
    )
  const count = (sides: readonly (readonly unknown[])[]) => sides.flat().length
  const leftOut = count([train, ...sets.map(([, own]) => own)]) - count([left, ...Object.values(tests)])
  const note = `${leftOut} questions left out: prompts above ${maxPromptTokens} tokens`
  const isAlone = Object.values(tests).some(own => own.some(each => each.benchmark?.reference === null))
  return {
    ...{ train: left, tests },
    notes: [...notes, ...(leftOut === 0 ? [] : [note]), ...(isAlone ? [WITHOUT_ARTICLES] : [])],
  }
}
