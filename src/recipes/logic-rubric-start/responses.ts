/** @file The start's own responses, from which demonstrations are chosen; kept in the run's folder, so that a resumed run has the same. */

import { existsSync } from 'node:fs'
import { z } from 'zod'
import { gradeLogicBatch } from '../../grade/logic/criteria.ts'
import { LogicSolver } from '../../grade/logic/solver.ts'
import type { Policy } from '../../policy/policy.ts'
import type { LogicTaskExample } from '../../tasks/logic/example.ts'
import { LOGIC_PIECES, logicThinkingPrompt } from '../../tasks/logic/thinking/index.ts'
import { LOGIC_TOKENS } from '../../tasks/logic/vocabulary.ts'
import { writeFileAtomic } from '../../util/atomic.ts'
import { DataError } from '../../util/errors.ts'
import { readJsonl } from '../../util/jsonl.ts'
import { parseWith } from '../../util/schema.ts'
import type { LogicRubricPhase } from './config.ts'

const responseSchema = z.strictObject({
  index: z.int().min(0).describe('Of the problem in its stream.'),
  text: z.string(),
  right: z.boolean(),
  proved: z.boolean().describe('Right, with steps that prove it.'),
})

export type StartResponse = z.output<typeof responseSchema>

/** Responses of the start to the first problems of the stream, graded with a solver. */
const drawResponses = async (
  policy: Policy,
  problem: (index: number) => LogicTaskExample,
  { reasoners, seed }: Pick<LogicRubricPhase, 'reasoners' | 'seed'>,
): Promise<StartResponse[]> => {
  const problems = Array.from({ length: reasoners.problems }, (_, i) => problem(i))
  const { samples: samplesPerPrompt, temperature, maxTokens } = reasoners
  const samples = await policy.sample({
    prompts: problems.map(own => logicThinkingPrompt(own)),
    samplesPerPrompt,
    ...{ temperature, maxTokens, seed: `rubric start/${seed}`, stopTokens: [LOGIC_TOKENS.eos] },
  })
  const items = samples.map(({ prompt, tokens }) => ({
    problem: problems[prompt],
    response: LOGIC_PIECES.decode(tokens),
  }))
  const solver = await LogicSolver.start({ backend: 'ground' })
  try {
    const grades = await gradeLogicBatch(items, solver, { truth: true })
    return samples.map(({ prompt }, i) => ({
      index: prompt,
      text: items[i].response,
      right: grades[i].answerCorrect,
      proved: grades[i].correctAndProved === true,
    }))
  } finally {
    await solver.close()
  }
}

/** The responses of a run: those in its file, or new ones, which are put there. @throws DataError for a broken file */
export const startResponses = async (
  file: string,
  config: Pick<LogicRubricPhase, 'reasoners' | 'seed'>,
  problem: (index: number) => LogicTaskExample,
  open: () => Promise<Policy>,
): Promise<StartResponse[]> => {
  if (existsSync(file)) return readJsonl(file, row => parseWith(responseSchema, row, '', DataError))
  const policy = await open()
  try {
    const responses = await drawResponses(policy, problem, config)
    writeFileAtomic(file, responses.map(row => `${JSON.stringify(row)}\n`).join(''))
    return responses
  } finally {
    await policy.close()
  }
}
