/** @file Every task by its name: the one place that knows them all. Methods and evaluations open tasks here. */

import { z } from 'zod'
import { ARITHMETIC_TEST_SEED, arithmeticProblem, arithmeticTask } from '../../tasks/arithmetic/index.ts'
import { PackingWorld, packingTask, thinkingPackingTask } from '../../tasks/checklist/index.ts'
import { readConversations, sharedRubric } from '../../tasks/conversation/rows.ts'
import type { TaskKind, TaskParts } from '../../tasks/kind.ts'
import { logicThinkingTask } from '../../tasks/logic/thinking/index.ts'
import { questionTask, questionTaskShape, readQuestions } from '../../tasks/questions/index.ts'
import type { Problems } from '../../tasks/task.ts'
import { operationsSchema } from '../arithmetic-cold-start/config.ts'
import { openEnvSchema, toolsTaskSchema } from '../environment/config.ts'
import { logicProblemsSchema } from '../logic-rubric-start/config.ts'
import { LOGIC_RUBRIC_TEST_SEED, logicProblems } from '../logic-rubric-start/problems.ts'
import {
  assertArithmeticVocabulary,
  assertLogicRubricVocabulary,
  assertPackingVocabulary,
  assertThoughtVocabulary,
} from './starting-model.ts'

/** What a task draws its problems by. */
interface Draw {
  /** Begins the names of the streams that training draws from. */
  seed: number | string
  tests: number
}

/** Problem i of training and of a test. */
type Stream<Problem> = (index: number) => Problem

/** A pool of problems that recur, or new ones without end. */
const pooled = <Problem>(
  pool: number | null,
  tests: number,
  train: Stream<Problem>,
  test: Stream<Problem>,
): Problems<Problem> => {
  const first = (count: number, from: Stream<Problem>) => Array.from({ length: count }, (_, i) => from(i))
  return {
    tests: { 'unseen problems': first(tests, test) },
    ...(pool === null ? { stream: train } : { train: first(pool, train) }),
  }
}

const pooledShape = {
  pool: z
    .int()
    .positive()
    .max(1_000_000)
    .nullable()
    .default(null)
    .describe('Questions to train on, which recur; null: new ones without end.'),
  outcomes: z
    .boolean()
    .default(false)
    .describe('Criteria that read the last result count as well (spec 2.4); else nobody can decide them.'),
}

const worldSetting = z
  .union([z.int(), z.string()])
  .default('packing')
  .describe('Seed of the world of packing: its usual things and hidden rubrics.')

const arithmeticSchema = z.strictObject({
  operations: operationsSchema.prefault({}).describe('Operations of a question.'),
  ...pooledShape,
})

const logicSchema = z.strictObject({ ...logicProblemsSchema.shape, ...pooledShape })

/** Tasks that need neither files nor a model. */
export const MINIATURES = {
  packing: {
    settings: z.strictObject({ world: worldSetting }),
    open: ({ world }: { world: number | string }, options: Parameters<typeof packingTask>[1] = {}) =>
      packingTask(new PackingWorld(world), options),
  },
  'packing-thinking': {
    settings: z.strictObject({ world: worldSetting }),
    open: ({ world }: { world: number | string }) => thinkingPackingTask(new PackingWorld(world)),
  },
  arithmetic: {
    settings: arithmeticSchema,
    open: ({ operations, pool, outcomes }: z.output<typeof arithmeticSchema>, { seed, tests }: Draw) => {
      const drawn = (from: number | string) => (index: number) =>
        arithmeticProblem(from, index, { operations })
      return arithmeticTask(pooled(pool, tests, drawn(seed), drawn(ARITHMETIC_TEST_SEED)), outcomes)
    },
  },
  'logic-thinking': {
    settings: logicSchema,
    /** @throws ConfigError for problems that no generator can hold */
    open: (settings: z.output<typeof logicSchema>, { seed, tests }: Draw) => {
      const [train, test] = [seed, LOGIC_RUBRIC_TEST_SEED].map(from => logicProblems(settings, from))
      return logicThinkingTask(pooled(settings.pool, tests, train, test), settings.outcomes)
    },
  },
}

const drawOf = ({ tests }: TaskParts): Draw => ({ seed: 'train/evaluation', tests })

const { columns, format, thinkTags, askToThink } = questionTaskShape
const questionSchema = z.strictObject({ format, columns, thinkTags, askToThink })
/** A response's own words go into no prompt here. */
const NO_RUBRICATOR = { maxRubricatorTokens: Number.POSITIVE_INFINITY }

/** Kinds of different settings in one table. */
const kind = <Settings, Problem>(own: TaskKind<Settings, Problem>): TaskKind => own as TaskKind

export const TASK_KINDS = {
  packing: kind({
    settings: MINIATURES.packing.settings,
    ...{ asked: 'tokens', reads: false, maxTokens: 26, assertModel: assertPackingVocabulary },
    about: 'Lists for trips, each by a hidden rubric of its own.',
    open: settings => MINIATURES.packing.open(settings),
  }),
  'packing-thinking': kind({
    ...MINIATURES['packing-thinking'],
    ...{ asked: 'tokens', reads: false, maxTokens: 56, assertModel: assertThoughtVocabulary },
    about: 'Lists for trips with thinking before them, each by a hidden rubric of its own; not below 0.',
  }),
  arithmetic: kind({
    ...MINIATURES.arithmetic,
    ...{ asked: 'tokens', reads: false, maxTokens: 96, assertModel: assertArithmeticVocabulary },
    about: 'Chains of operations with shown steps; right is the last digit, sound are the steps to it.',
    open: (settings, parts) => MINIATURES.arithmetic.open(settings, drawOf(parts)),
  }),
  'logic-thinking': kind({
    ...MINIATURES['logic-thinking'],
    ...{ asked: 'tokens', reads: false, maxTokens: 96, assertModel: assertLogicRubricVocabulary },
    about: "Problems in ProntoQA's style for models with a vocabulary of rubrics; right is the label.",
    open: (settings, parts) => MINIATURES['logic-thinking'].open(settings, drawOf(parts)),
  }),
  questions: kind({
    settings: questionSchema,
    ...{ asked: 'words', reads: true, maxTokens: 2048 },
    about: 'Questions as trainings put them, each with one right answer, or with a rubric for open ones.',
    open: (settings, { format: spoken, file, grader }) =>
      questionTask(
        spoken,
        { ...settings, ...NO_RUBRICATOR, grader },
        { tests: { [file]: readQuestions(file, settings.format, settings.columns) } },
      ),
  }),
  openenv: kind({
    settings: openEnvSchema.omit({ kind: true }),
    ...{ asked: 'turns', reads: false, maxTokens: 256, pays: true },
    about:
      "Episodes of an OpenEnv server; the score is the sum of its own rewards, a rubric's stands beside it.",
    async open({ firstSeed, train, ...settings }, { folder, grader, tests }) {
      const { openEnvTask } = await import('../environment/openenv-task.ts')
      // The seeds that a training with these settings is tested on.
      const seeds = { firstSeed: firstSeed + train, train: 0 }
      const sizes = { rollout: { prompts: 1, samples: 1 }, evaluation: { problems: tests, samples: 1 } }
      return openEnvTask(sizes, { kind: 'openenv', ...settings, ...seeds }, folder, grader)
    },
  }),
  tools: kind({
    settings: toolsTaskSchema.omit({ kind: true, file: true, holdOut: true, testFile: true }),
    ...{ asked: 'turns', reads: true, maxTokens: 256 },
    about: 'Rows of prompt and criteria, answered with tools; the score is that of the answer.',
    async open(settings, { folder, file, grader }) {
      const { toolsTask } = await import('../environment/tools-task.ts')
      const rows = readConversations(file, sharedRubric(settings), settings.columns)
      const task = { kind: 'tools' as const, ...{ file, holdOut: null, testFile: null }, ...settings }
      return toolsTask(task, folder, grader, undefined, { train: [], test: rows, repeated: 0 })
    },
  }),
}
