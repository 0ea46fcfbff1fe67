/** @file Learning both roles on the logic task: a reasoner's vocabulary grows, and it learns to write rubrics beside its own proofs. */

import { existsSync } from 'node:fs'
import { join } from 'node:path'
import type { z } from 'zod'
import { gradeLogicBatch } from '../../grade/logic/criteria.ts'
import { LogicSolver } from '../../grade/logic/solver.ts'
import { follow } from '../../model/automaton.ts'
import { loadConfig } from '../../model/checkpoint.ts'
import { growCheckpoint } from '../../model/grow.ts'
import { isModel } from '../../model/model-files.ts'
import type { Policy } from '../../policy/policy.ts'
import type { LogicTaskExample } from '../../tasks/logic/example.ts'
import {
  goldResponses,
  LOGIC_PIECES,
  LOGIC_RUBRIC_VOCABULARY,
  logicRubricator,
  logicRubricsStart,
  type logicRubricsStartSchema,
  logicRubricTokenizer,
  type StartResponse,
  startResponseSchema,
} from '../../tasks/logic/thinking/index.ts'
import { LOGIC_TOKENS, LOGIC_VOCABULARY } from '../../tasks/logic/vocabulary.ts'
import type { Task } from '../../tasks/task.ts'
import type { ThoughtResponse } from '../../tasks/thinking.ts'
import { writeFileAtomic } from '../../util/atomic.ts'
import { CheckpointError, ConfigError, DataError } from '../../util/errors.ts'
import { readJsonl } from '../../util/jsonl.ts'
import { parseWith } from '../../util/schema.ts'
import { MADE_ONCE } from '../common/deciding.ts'
import { assertLogicVocabulary, logicTokensOf } from '../common/starting-model.ts'
import type { ConfigOf, LearntTask, Room } from './learnt.ts'
import { learnRoles } from './roles.ts'

type Config = ConfigOf<z.output<typeof logicRubricsStartSchema>>
type Start = ReturnType<typeof logicRubricsStart>

/** Test problems that are looked at for their lengths, and proofs that a plan looks at. */
const FITTED = 64

/** @throws CheckpointError, ConfigError for a model that cannot grow */
const assertGrows = (folder: string, maxPositions: number): void => {
  assertLogicVocabulary(folder)
  if (logicTokensOf(folder) > LOGIC_VOCABULARY.length)
    throw new CheckpointError(
      `model.folder: expected a model of the logic task's ${LOGIC_VOCABULARY.length} tokens, got one of ${logicTokensOf(folder)} in ${folder}`,
      {
        hint: 'the words of rubrics come after those of the first vocabulary; start from a model without the long one',
      },
    )
  if (!isModel(folder))
    throw new CheckpointError(`model.folder: expected a whole model in ${folder}, got an adapter`, {
      hint: 'the vocabulary of a whole model can grow; give the folder of the base model',
    })
  const { maxPositions: before } = loadConfig(folder)
  if (maxPositions < before)
    throw new ConfigError(
      `model.shape.maxPositions: expected at least the start's ${before}, got ${maxPositions}`,
    )
}

/** Responses of the start to the first problems, graded with a solver. */
const drawResponses = async (
  policy: Policy,
  { task, problem }: Start,
  { task: { reasoners }, seed }: Config,
) => {
  const problems = Array.from({ length: reasoners.problems }, (_, i) => problem(i))
  const { samples: samplesPerPrompt, temperature, maxTokens } = reasoners
  const samples = await policy.sample({
    prompts: problems.map(own => task.prompt(own)),
    samplesPerPrompt,
    ...{ temperature, maxTokens, seed: `rubric start/${seed}`, stopTokens: task.stopTokens },
  })
  const items = samples.map(({ prompt, tokens }) => ({
    problem: problems[prompt],
    response: LOGIC_PIECES.decode(tokens),
  }))
  const solver = await LogicSolver.start({ backend: 'ground' })
  try {
    const grades = await gradeLogicBatch(items, solver, { truth: true })
    return samples.map(
      ({ prompt }, i): StartResponse => ({
        index: prompt,
        text: items[i].response,
        right: grades[i].answerCorrect,
        proved: grades[i].correctAndProved === true,
      }),
    )
  } finally {
    await solver.close()
  }
}

/** The responses of a run: those in its file, or new ones, which are put there. @throws DataError for a broken file */
const responsesIn = async (file: string, draw: () => Promise<StartResponse[]>): Promise<StartResponse[]> => {
  if (existsSync(file)) return readJsonl(file, row => parseWith(startResponseSchema, row, '', DataError))
  const responses = await draw()
  writeFileAtomic(file, responses.map(row => `${JSON.stringify(row)}\n`).join(''))
  return responses
}

/** Right answers on the plain prompt, and rubrics about those of each problem's responses that came first. */
const testedRoles = ({ task }: Start, { rubric: { criteria } }: Config['task']) => {
  const shown = new Map<LogicTaskExample, ThoughtResponse>()
  const automaton = task.rubricator.automaton!({ min: criteria.min, max: 15 })
  const unseen: Task<LogicTaskExample> = {
    ...task,
    grade: items => {
      for (const { problem, tokens } of items.toReversed())
        shown.set(problem, task.rubricator.masked(problem, task.thinking.read(tokens)))
      return task.grade(items)
    },
  }
  const rubrics: Task<LogicTaskExample> = {
    ...task,
    tests: { rubrics: task.tests.unseen },
    prompt: problem => task.rubricator.prompt(problem, shown.get(problem)!),
    rubric: () => ({
      id: 'rubrics',
      criteria: [{ id: 'grammar', text: 'A rubric of the grammar', points: 1 }],
    }),
    grade: async items =>
      items.map(({ tokens }) => {
        const ids = Array.from(tokens)
        const met =
          follow(automaton, ids.at(-1) === LOGIC_TOKENS.eos ? ids : [...ids, LOGIC_TOKENS.eos]) !== null
        return { verdicts: [{ criterionId: 'grammar', met, source: 'rule' }], wellFormed: met }
      }),
  }
  return { unseen, rubrics }
}

/** What reasoners learn is chosen among the start's own responses; evaluated by right answers, hints that are met, and rubrics of the grammar. */
export const learnLogicRubrics = (config: Config): LearntTask => {
  const { seed, batch, evaluation } = config
  const { reasoners, rubric, rubricTokens } = config.task
  const { maxPositions } = config.model.shape
  const start = logicRubricsStart(config.task, { seed, batch, tested: evaluation.problems })
  const { task, hinted } = start
  const { unseen, rubrics } = testedRoles(start, config.task)
  const thinking = Math.max(evaluation.maxTokens, reasoners.maxTokens)
  const tokens = LOGIC_RUBRIC_VOCABULARY
  return {
    ...learnRoles(config, {
      task,
      draw: (problem, rng) => logicRubricator.propose(problem, rubric, rng).text,
      tested: [{ task: unseen }, { task: hinted }, { task: rubrics, maxTokens: rubricTokens }],
      words: {
        evaluation: 'unseen problems, hints that are to be followed, rubrics of the grammar',
        more: [
          `grown        to ${tokens.length} tokens, and a context of ${maxPositions} places`,
          `own work     ${reasoners.samples} responses to each of ${reasoners.problems} problems; kept: ${reasoners.keep}`,
        ],
      },
    }),
    // Of a plan: as if the start proved all that it is asked.
    draw: start.demonstrations(goldResponses(start.problem, Math.min(FITTED, reasoners.problems))),
    fresh: () => {
      throw new ConfigError(
        'model.folder: expected a model of the logic task whose vocabulary grows, got nothing',
        {
          hint: 'name one, such as package:models/logic-start',
        },
      )
    },
    assertModel: folder => assertGrows(folder, maxPositions),
    rooms: () =>
      task.tests.unseen.slice(0, FITTED).flatMap((problem): Room[] => [
        {
          what: `problem ${problem.id} with hints`,
          promptTokens: hinted.prompt(problem).length,
          newTokens: evaluation.maxTokens,
        },
        {
          what: `problem ${problem.id} with its thinking, for a rubric`,
          promptTokens: task.prompt(problem).length + thinking,
          newTokens: rubricTokens,
        },
      ]),
    grown: {
      shape: own => ({ ...own, vocabSize: tokens.length, maxPositions }),
      sampledTokens: reasoners.problems * reasoners.samples * reasoners.maxTokens,
      make: async (dir, from, open) => {
        const responses = await responsesIn(join(dir, MADE_ONCE.responses), async () => {
          const policy = await open({ folder: from, seed })
          try {
            return await drawResponses(policy, start, config)
          } finally {
            await policy.close()
          }
        })
        const folder = join(dir, MADE_ONCE.grownModel)
        const files = logicRubricTokenizer(maxPositions)
        if (!existsSync(folder)) growCheckpoint(from, folder, { tokens, files, maxPositions }, seed)
        return { folder, draw: start.demonstrations(responses) }
      },
    },
  }
}
