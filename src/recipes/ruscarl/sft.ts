/** @file Supervised learning on demonstrations that a teacher writes under the whole scaffold, filtered by score (RuscaRL). */

import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { isRemote, openPolicy } from '../../policy/open.ts'
import type { Policy } from '../../policy/policy.ts'
import type { SupervisedDatum } from '../../rl/datum.ts'
import { readRunInfo } from '../../runs/readers.ts'
import { rewardOf } from '../../tasks/scored-response.ts'
import { mainTest } from '../../tasks/task.ts'
import { writeFileAtomic } from '../../util/atomic.ts'
import { DataError } from '../../util/errors.ts'
import { readJsonl } from '../../util/jsonl.ts'
import { Rng } from '../../util/rng.ts'
import { meanKnown } from '../../util/statistics.ts'
import { type Answer, type Answers, answersTo } from '../common/answers.ts'
import { decidingHash } from '../common/deciding.ts'
import { type EvaluationConfig, evaluation } from '../common/evaluation.ts'
import { shuffledPasses } from '../common/problem-order.ts'
import type { RunOptions, RunResult } from '../common/recipe.ts'
import type { RubricTask } from '../common/rubric-task.ts'
import { type RunSession, withRun } from '../common/session.ts'
import { existingModel } from '../common/starting-model.ts'
import { runSupervised, type TrainingConfig } from '../common/training.ts'
import type { SftPhaseConfig } from './config.ts'

/** The phase in a recipe's run. */
export interface SftPhase<Problem> {
  /** The recipe's configuration; its evaluation is the phase's as well. */
  config: EvaluationConfig & Pick<TrainingConfig, 'seed' | 'policy' | 'model' | 'checkpoint' | 'monitors'>
  sft: SftPhaseConfig
  /** What the phase's run is called. */
  recipe: string
  task: RubricTask<Problem>
  /** The starting policy. */
  folder: string
}

/** One line of demonstrations.jsonl. */
interface Demonstration {
  problemId: string
  score: number
  tokens: number[]
}

const FILE = 'demonstrations.jsonl'

/** Responses to problems that are shown the whole rubric. */
const write = <Problem>(
  { config: { rollout, seed }, sft, task }: SftPhase<Problem>,
  teacher: Policy,
): Promise<Answers<Problem>> => {
  const { problems: count, samples, temperature, topK, topP } = sft
  const { maxTokens } = rollout
  const { reward } = task
  const asked = new Rng(`sft problems/${seed}`).sample(reward.train, count)
  const sampling = { maxTokens, temperature, topK, topP }
  const whole = (problem: Problem) => reward.prompt(problem, reward.rubric(problem).criteria)
  return answersTo(asked, teacher, reward, { label: `${seed}/sft`, samples, sampling }, whole)
}

/**
 * The best responses of each problem among those that ended, score enough, and do not speak of the scaffold; the earlier one
 * where scores are equal.
 */
export const selectDemonstrations = <Problem>(
  written: Answers<Problem>,
  { best, minScore }: Pick<SftPhaseConfig, 'best' | 'minScore'>,
  leaks: (tokens: Int32Array) => boolean = () => false,
): Answer<Problem>[] => {
  const scoreOf = ({ said }: Answer<Problem>) => said.score ?? 0
  const isGood = ({ end, tokens, said: { score } }: Answer<Problem>) =>
    end === 'stop' && score !== null && score >= minScore && !leaks(tokens)
  return written.flatMap(own =>
    own
      .filter(isGood)
      .sort((a, b) => scoreOf(b) - scoreOf(a))
      .slice(0, best),
  )
}

/** Whether a phase of the same settings has left demonstrations, which cost sampling and perhaps a judge. */
export const hasDemonstrations = (dir: string, config: object): boolean =>
  existsSync(join(dir, FILE)) && decidingHash(readRunInfo(dir).config as object) === decidingHash(config)

/** Demonstrations from the run folder, or written now by the teacher. @throws DataError when none is good enough */
const demonstrations = async <Problem>(
  phase: SftPhase<Problem>,
  student: Policy,
  { run, note }: Pick<RunSession, 'run' | 'note'>,
): Promise<Demonstration[]> => {
  const path = join(run.dir, FILE)
  const { config, sft, task } = phase
  if (existsSync(path)) return readJsonl(path, row => row as Demonstration)
  const teacher =
    sft.teacher === null
      ? student
      : await openPolicy(besideAnother(inTurns(config)), {
          folder: existingModel(sft.teacher, 'sft.teacher'),
        })
  try {
    const written = await write(phase, teacher)
    const kept = selectDemonstrations(written, sft, task.reward.leaks)
    const all = written.flat()
    const score = meanKnown(all.map(({ said }) => rewardOf(said)))
    const scored = score?.toFixed(3) ?? 'unknown, because graders failed'
    const message = `${kept.length} demonstrations kept of ${all.length} that the teacher wrote under the whole scaffold, whose mean score was ${scored}`
    note([message])
    if (kept.length === 0)
      throw new DataError(
        `sft: expected demonstrations that score ${sft.minScore} or more, got none; ${message}`,
        {
          hint: 'lower sft.minScore, raise sft.samples, or name a stronger sft.teacher',
        },
      )
    const rows = kept.map(
      ({ problem, tokens, said }): Demonstration => ({
        problemId: task.reward.id(problem),
        score: said.score ?? 0,
        tokens: [...tokens],
      }),
    )
    writeFileAtomic(path, rows.map(row => `${JSON.stringify(row)}\n`).join(''))
    return rows
  } finally {
    if (teacher !== student) await teacher.close()
  }
}

/** Nothing is sampled here while something is learnt: a second engine would only take memory. */
const inTurns = ({ policy }: Pick<TrainingConfig, 'policy'>): TrainingConfig['policy'] =>
  isRemote(policy) ? policy : { ...policy, sampler: null }

/** A GPU has one engine at a time, which is the student. */
const besideAnother = (policy: TrainingConfig['policy']): TrainingConfig['policy'] =>
  isRemote(policy) ? policy : { ...policy, provider: 'cpu' }

/** What the student learns: the response after the plain prompt. */
const drawFrom = <Problem>(
  rows: readonly Demonstration[],
  { config: { seed }, sft: { batch }, task: { reward } }: SftPhase<Problem>,
): ((step: number) => SupervisedDatum[]) => {
  const byName = new Map(reward.train.map(problem => [reward.id(problem), problem]))
  const data = rows.map(({ problemId, tokens }) => ({
    promptTokens: reward.prompt(byName.get(problemId)!),
    responseTokens: tokens,
  }))
  const stream = shuffledPasses(data, `sft demonstrations/${seed}`)
  return step => Array.from({ length: batch }, (_, i) => stream((step - 1) * batch + i))
}

/** The phase in a run folder of its own, from the start or from its checkpoint. */
export const runSft = <Problem>(phase: SftPhase<Problem>, options: RunOptions): Promise<RunResult> => {
  const { config, sft, recipe, task, folder } = phase
  const { events = {} } = options
  const { seed } = config
  const info = { config, recipe, model: folder, seed, steps: sft.steps, primarySet: mainTest(task.truth)[0] }
  const mayLackCheckpoint = (dir: string) => hasDemonstrations(dir, config)
  return withRun({ ...options, info, mayLackCheckpoint }, async ({ use, ...session }) => {
    const lora = config.model.lora ?? undefined
    const policy = await use(openPolicy(inTurns(config), { folder, lora, seed }))
    const rows = await demonstrations(phase, policy, session)
    const { checkpoint, monitors } = config
    return runSupervised(
      { ...session, fork: null },
      {
        name: 'supervised on scaffolded demonstrations',
        policy,
        draw: drawFrom(rows, phase),
        evaluate: evaluation(config, policy, task),
        config: { ...sft, checkpoint, monitors, maxMinutes: null, evaluation: { every: 0 } },
      },
      events,
    )
  })
}
