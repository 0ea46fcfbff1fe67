/**
 * @file C4 and C5 by a learned verifier: outputs of the start, labelled by proof; a small classifier trained on them; its credit in
 * training (RAR-5). As training goes on, outputs are others than those that it learnt from, as with real ones.
 */

import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { LOGIC_RUBRIC } from '../../grade/logic/rubric.ts'
import { openPolicy } from '../../policy/open.ts'
import type { Policy } from '../../policy/policy.ts'
import type { LogicTaskExample } from '../../tasks/logic/example.ts'
import type { LogicTask, TrainedLogicTask } from '../../tasks/logic/task.ts'
import { scored } from '../../tasks/scored-response.ts'
import { writeFileAtomic } from '../../util/atomic.ts'
import { DataError } from '../../util/errors.ts'
import { answersTo } from '../common/answers.ts'
import { MADE_ONCE } from '../common/deciding.ts'
import { runPhase } from '../common/method-run.ts'
import type { RunOptions } from '../common/recipe.ts'
import { samplingOf } from '../common/training.ts'
import { learnedVerifierSchema } from '../learned-verifier/config.ts'
import { LearnedVerifier } from '../learned-verifier/grader.ts'
import type { VerifierQuestion } from '../learned-verifier/reading.ts'
import { runLearnedVerifier } from '../learned-verifier/run.ts'
import { labelledVerifierSchema, type RubricAsRewardConfig, type VerifierSettings } from './config.ts'

/** How far away in the stream of problems those lie that the verifier learns from. */
const ELSEWHERE = 3_000_017

/** The labels that it learns from. */
const labelsFile = (dir: string): string => join(dir, MADE_ONCE.verifierLabels)

/** Whether a run has begun with its verifier. */
export const hasVerifier = (dir: string): boolean => existsSync(labelsFile(dir))

const SOFT = ['C4', 'C5'] as const
const TEXTS = Object.fromEntries(LOGIC_RUBRIC.criteria.map(({ id, text }) => [id, text]))

/** What the verifier is shown of a response, for each of the two criteria. */
const judgedOf = (
  task: Pick<LogicTask, 'question'>,
  problem: LogicTaskExample,
  response: string,
): VerifierQuestion[] => SOFT.map(id => ({ criterion: TEXTS[id], prompt: task.question(problem), response }))

/**
 * Outputs of the start with whether C4 and C5 are full by proof, two rows each; nothing of what cannot be judged.
 * @param task whose graders judge them by proof alone
 */
export const labelledOutputs = async (
  config: Pick<RubricAsRewardConfig, 'rollout' | 'seed'> & { verifier: VerifierSettings },
  policy: Policy,
  task: TrainedLogicTask,
): Promise<(VerifierQuestion & { met: boolean })[]> => {
  const { verifier, seed } = config
  const asked = Array.from({ length: verifier.problems }, (_, i) => task.stream(ELSEWHERE + i))
  const draws = { label: `verifier labels/${seed}`, samples: verifier.samples, sampling: samplingOf(config) }
  const answers_P = await answersTo(asked, policy, scored(task), draws)
  return answers_P.flat().flatMap(({ problem, tokens, said: { unjudged, verdicts } }) => {
    if (unjudged) return []
    const judged = judgedOf(task, problem, task.show(tokens))
    return SOFT.flatMap((id, c) => {
      const { met } = verdicts.find(({ criterionId }) => criterionId === id)!
      return met === null ? [] : [{ ...judged[c], met }]
    })
  })
}

/**
 * The run's verifier: its labels are written once, its training lies in a folder of its own and goes on where it was stopped.
 * @param folder checkpoint of the start
 * @returns the verifier's checkpoint; null when it was asked to stop
 * @throws DataError where the start's outputs have one label only
 */
export const trainVerifier = async (
  config: RubricAsRewardConfig,
  folder: string,
  dir: string,
  task: TrainedLogicTask,
  options: Pick<RunOptions, 'events' | 'acceptRows'>,
): Promise<string | null> => {
  const verifier = config.verifier ?? labelledVerifierSchema.parse({})
  const file = labelsFile(dir)
  if (!existsSync(file)) {
    const policy = await openPolicy(config.policy, { folder })
    try {
      const rows = await labelledOutputs({ ...config, verifier }, policy, task)
      assertBothLabels(rows)
      writeFileAtomic(file, rows.map(row => `${JSON.stringify(row)}\n`).join(''))
    } finally {
      await policy.close()
    }
  }
  const { problems: _problems, samples: _samples, ...phase } = verifier
  const own = learnedVerifierSchema.parse({
    ...phase,
    seed: config.seed,
    policy: config.policy,
    monitors: config.monitors,
    data: { file },
  })
  return runPhase(join(dir, MADE_ONCE.verifier), options, run => runLearnedVerifier(own, run))
}

const assertBothLabels = (rows: readonly { met: boolean }[]): void => {
  const met = rows.filter(row => row.met).length
  if (met === 0 || met === rows.length)
    throw new DataError(
      `softCriteria "learned": expected outputs of the start of both labels to learn from, got ${met} met of ${rows.length}`,
      { hint: 'start from a model that sometimes leaves something out, and sometimes nothing' },
    )
}

/** C4 and C5 of responses, in their order. */
export type SoftJudge = (
  items: readonly { problem: LogicTaskExample; response: string }[],
) => Promise<{ C4: number; C5: number }[]>

/** Digits of a credit that are kept: the last ones depend on how many responses were scored together. */
const CREDIT_DIGITS = 1e4

/** The verifier's probabilities that C4 and C5 are full, as their credits. */
export const learnedJudge =
  (verifier: Pick<LearnedVerifier, 'probabilities'>, task: Pick<LogicTask, 'question'>): SoftJudge =>
  async items => {
    const judged = items.flatMap(({ problem, response }) => judgedOf(task, problem, response))
    const found = await verifier.probabilities(judged)
    const credit = (i: number) => Math.round(found[i] * CREDIT_DIGITS) / CREDIT_DIGITS
    return items.map((_, i) => ({ C4: credit(2 * i), C5: credit(2 * i + 1) }))
  }

export const openLearnedVerifier = (folder: string): Promise<LearnedVerifier> =>
  LearnedVerifier.open(folder, { threads: 1 })
