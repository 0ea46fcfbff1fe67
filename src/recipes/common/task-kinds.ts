/** @file Every task by its name: the one place that knows them all. Methods and evaluations open tasks here. */

import { z } from 'zod'
import { readConversations, sharedRubric } from '../../tasks/conversation/rows.ts'
import { questionTask, questionTaskShape, readQuestions } from '../../tasks/questions/index.ts'
import { recordsShape } from '../../tasks/records/world.ts'
import { openEnvKindSchema, toolsTaskSchema } from '../environment/config.ts'
import { LOGIC_KIND } from '../logic/kind.ts'
import { RESEARCH_KIND } from '../rubricem/kind.ts'
import { type Draw, LOGIC_THINKING, MINIATURES } from './miniatures.ts'
import type { TaskKind, TaskParts } from './task-kind.ts'
import { assertWords } from './word-models.ts'

const drawOf = ({ tests }: TaskParts): Draw => ({ seed: 'train/evaluation', tests })

const { columns, format, thinkTags, askToThink, prompts } = questionTaskShape
const questionSchema = z.strictObject({ format, columns, thinkTags, askToThink, prompts })
/** A response's own words go into no prompt here. */
const NO_RUBRICATOR = { maxRubricatorTokens: Number.POSITIVE_INFINITY }

/** Kinds of different settings in one table. */
const kind = <Settings, Problem>(own: TaskKind<Settings, Problem>): TaskKind => own as TaskKind

/** Tasks with a vocabulary, problems and graders of their own. */
const IN_TOKENS = { asked: 'tokens', reads: false, judge: 'none' } as const

export const TASK_KINDS = {
  packing: kind({
    settings: MINIATURES.packing.settings,
    ...{ ...IN_TOKENS, maxTokens: 26, assertModel: assertWords('packing') },
    about: 'Lists for trips, each by a hidden rubric of its own.',
    open: settings => MINIATURES.packing.open(settings),
  }),
  'packing-thinking': kind({
    ...MINIATURES['packing-thinking'],
    ...{ ...IN_TOKENS, maxTokens: 56, assertModel: assertWords('packing-thinking') },
    about: 'Lists for trips with thinking before them, each by a hidden rubric of its own; not below 0.',
  }),
  arithmetic: kind({
    ...MINIATURES.arithmetic,
    ...{ ...IN_TOKENS, maxTokens: 96, assertModel: assertWords('arithmetic') },
    about: 'Chains of operations with shown steps; right is the last digit, sound are the steps to it.',
    open: (settings, parts) => MINIATURES.arithmetic.open(settings, drawOf(parts)),
  }),
  'logic-thinking': kind({
    ...LOGIC_THINKING,
    ...{ ...IN_TOKENS, maxTokens: 96, assertModel: assertWords('logic-rubrics') },
    about: "Problems in ProntoQA's style for models with a vocabulary of rubrics; right is the label.",
    open: (settings, parts) => LOGIC_THINKING.open(settings, drawOf(parts)),
  }),
  logic: kind(LOGIC_KIND),
  research: kind(RESEARCH_KIND),
  questions: kind({
    settings: questionSchema,
    ...{ asked: 'words', reads: true, maxTokens: 2048 },
    about: 'Questions as trainings put them, each with one right answer, or with a rubric for open ones.',
    open(settings, { format: spoken, files: [file], grader }) {
      const { questions, notes } = readQuestions(file, settings.format, settings.columns)
      return questionTask(
        spoken,
        { ...settings, ...NO_RUBRICATOR, grader },
        { tests: { [file]: questions }, notes },
      )
    },
  }),
  openenv: kind({
    settings: openEnvKindSchema.omit({ kind: true }),
    ...{ asked: 'turns', reads: false, maxTokens: 256 },
    about:
      "Episodes of an OpenEnv server; the score is the sum of its own rewards, a rubric's stands beside it.",
    async open({ firstSeed, train, ...settings }, { folder, grader }) {
      const { openEnvTask } = await import('../environment/tasks.ts')
      // The seeds that a training with these settings is tested on.
      const seeds = { firstSeed: firstSeed + train, train: 0 }
      const together = { rollout: { prompts: 1, samples: 1 }, evaluation: { problems: 2, samples: 1 } }
      return openEnvTask(together, { kind: 'openenv', ...settings, ...seeds }, folder, grader)
    },
  }),
  records: kind({
    settings: z.strictObject(recordsShape),
    ...{ ...IN_TOKENS, asked: 'turns', maxTokens: 40, assertModel: assertWords('records') },
    about: 'Questions about made-up archives, answered after look-ups; right is the person who is asked for.',
    async open(settings, { tests }) {
      const { RECORDS_TEST_WORLD, recordsQuestion, recordsQuestions } = await import(
        '../../tasks/records/index.ts'
      )
      const unseen = Array.from({ length: tests }, (_, i) => recordsQuestion(RECORDS_TEST_WORLD, i, settings))
      return recordsQuestions({ tests: { unseen } }, settings.calls)
    },
  }),
  tools: kind({
    settings: toolsTaskSchema.omit({ kind: true, file: true, holdOut: true, testFile: true }),
    ...{ asked: 'turns', reads: true, maxTokens: 256 },
    about: 'Rows of prompt and criteria, answered with tools; the score is that of the answer.',
    async open(settings, { folder, files: [file], grader }) {
      const { toolsTask } = await import('../environment/tasks.ts')
      const rows = readConversations(file, sharedRubric(settings), settings.columns)
      const task = { kind: 'tools' as const, ...{ file, holdOut: null, testFile: null }, ...settings }
      return toolsTask(task, folder, grader, undefined, { train: [], test: rows, repeated: 0 })
    },
  }),
}
