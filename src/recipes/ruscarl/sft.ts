/** @file Supervised learning on demonstrations that a teacher writes under the whole scaffold, filtered by score (spec 4.5). */

import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { LocalPolicy } from '../../policy/local/local-policy.ts'
import type { Policy } from '../../policy/policy.ts'
import { readRunInfo } from '../../runs/run-folder.ts'
import { rewardOf } from '../../tasks/scored-response.ts'
import type { SupervisedDatum } from '../../train/supervised.ts'
import { writeFileAtomic } from '../../util/atomic.ts'
import { DataError } from '../../util/errors.ts'
import { readJsonl } from '../../util/jsonl.ts'
import { Rng } from '../../util/rng.ts'
import { mean } from '../../util/statistics.ts'
import { shuffledPasses } from '../problem-order.ts'
import type { RunOptions, RunResult } from '../recipe.ts'
import { withRun } from '../session.ts'
import { existingModel } from '../starting-model.ts'
import { runSupervised } from '../supervised.ts'
import { type Answer, answersTo } from './answers.ts'
import type { RuscarlConfig, SftConfig } from './config.ts'
import { evaluation } from './evaluation.ts'
import { runHash } from './run-hash.ts'
import type { TrainingTask } from './task.ts'

/** One line of demonstrations.jsonl. */
interface Demonstration {
  problemId: string
  score: number
  tokens: number[]
}

const FILE = 'demonstrations.jsonl'

/** Responses to problems that are shown the whole rubric. */
const write = <Problem>(
  { rollout: { maxTokens }, seed }: RuscarlConfig,
  { problems: count, samples, temperature, topK, topP }: SftConfig,
  teacher: Policy,
  task: TrainingTask<Problem>,
): Promise<Answer<Problem>[]> => {
  const { train, reward } = task
  return answersTo(new Rng(`sft problems/${seed}`).sample(train, count), teacher, task, {
    promptOf: problem => reward.scaffolded(problem, reward.rubric(problem).criteria),
    samples,
    sampling: { maxTokens, temperature, topK, topP },
    label: `${seed}/sft`,
  })
}

/**
 * The best responses of each problem among those that ended, score enough, and do not speak of the scaffold; the earlier one
 * where scores are equal.
 */
export const selectDemonstrations = <Problem>(
  written: readonly Answer<Problem>[],
  { best, minScore }: Pick<SftConfig, 'best' | 'minScore'>,
  leaks: (tokens: Int32Array) => boolean = () => false,
): Answer<Problem>[] => {
  const byProblem = new Map<Problem, Answer<Problem>[]>()
  for (const each of written) {
    const { sample, grade } = each
    if (sample.finishReason !== 'stop' || grade.score === null || grade.score < minScore) continue
    if (leaks(sample.tokens)) continue
    byProblem.set(each.problem, [...(byProblem.get(each.problem) ?? []), each])
  }
  const scoreOf = ({ grade }: Answer<Problem>) => grade.score ?? 0
  return [...byProblem.values()].flatMap(own =>
    own.toSorted((a, b) => scoreOf(b) - scoreOf(a)).slice(0, best),
  )
}

/** Whether a phase of these settings has left demonstrations, which cost sampling and perhaps a judge. */
export const hasDemonstrations = (config: RuscarlConfig, dir: string): boolean =>
  existsSync(join(dir, FILE)) && runHash(readRunInfo(dir).config as RuscarlConfig) === runHash(config)

/** Demonstrations from the run folder, or written now by the teacher. @throws DataError when none is good enough */
const demonstrations = async <Problem>(
  config: RuscarlConfig,
  sft: SftConfig,
  student: Policy,
  task: TrainingTask<Problem>,
  dir: string,
  tell: (message: string) => void,
): Promise<Demonstration[]> => {
  const path = join(dir, FILE)
  if (existsSync(path)) return readJsonl(path, row => row as Demonstration)
  const teacher =
    sft.teacher === null
      ? student
      : await LocalPolicy.start({ folder: existingModel(sft.teacher, 'sft.teacher') }, config.engine)
  try {
    const written = await write(config, sft, teacher, task)
    const kept = selectDemonstrations(written, sft, task.reward.leaks)
    const rewards = written.flatMap(({ grade }) => rewardOf(grade) ?? [])
    const score = rewards.length > 0 ? mean(rewards).toFixed(3) : 'unknown, because graders failed'
    const message = `${kept.length} demonstrations kept of ${written.length} that the teacher wrote under the whole scaffold, whose mean score was ${score}`
    tell(message)
    if (kept.length === 0)
      throw new DataError(
        `sft: expected demonstrations that score ${sft.minScore} or more, got none; ${message}`,
        {
          hint: 'lower sft.minScore, raise sft.samples, or name a stronger sft.teacher',
        },
      )
    const rows = kept.map(
      ({ problem, sample, grade }): Demonstration => ({
        problemId: task.reward.name(problem),
        score: grade.score ?? 0,
        tokens: [...sample.tokens],
      }),
    )
    writeFileAtomic(path, rows.map(row => `${JSON.stringify(row)}\n`).join(''))
    return rows
  } finally {
    if (teacher !== student) await teacher.close()
  }
}

/** What the student learns: the response after the plain prompt. */
const drawFrom = <Problem>(
  rows: readonly Demonstration[],
  { train, reward }: TrainingTask<Problem>,
  { seed }: RuscarlConfig,
  batch: number,
): ((step: number) => SupervisedDatum[]) => {
  const byName = new Map(train.map(problem => [reward.name(problem), problem]))
  const data = rows.map(({ problemId, tokens }) => ({
    promptTokens: reward.prompt(byName.get(problemId)!),
    responseTokens: tokens,
  }))
  const stream = shuffledPasses(data, `sft demonstrations/${seed}`)
  return step => Array.from({ length: batch }, (_, i) => stream((step - 1) * batch + i))
}

/**
 * The phase in a run folder of its own, from the start or from its checkpoint.
 * @param folder the starting policy
 */
export const runSft = <Problem>(
  config: RuscarlConfig,
  sft: SftConfig,
  task: TrainingTask<Problem>,
  folder: string,
  options: RunOptions,
): Promise<RunResult> => {
  const { events = {} } = options
  const { seed, steps } = { seed: config.seed, steps: sft.steps }
  if (sft.teacher !== null) task.checkTeacher(existingModel(sft.teacher, 'sft.teacher'))
  const hash = runHash(config)
  const info = { config, recipe: 'ruscarl sft', model: folder, seed, steps, primarySet: task.testName }
  const mayLackCheckpoint = (dir: string) => hasDemonstrations(config, dir)
  return withRun({ ...options, info, configHash: hash, mayLackCheckpoint }, async ({ run, from, use }) => {
    const lora = config.model.lora ?? undefined
    const policy = await use(LocalPolicy.start({ folder, lora, seed }, config.engine))
    const tell = (message: string) => {
      run.appendEvent({ level: 'info', message })
      events.onMessage?.(message)
    }
    const rows = await demonstrations(config, sft, policy, task, run.dir, tell)
    const { checkpoint, monitors } = config
    const phase = {
      name: 'supervised on scaffolded demonstrations',
      policy,
      draw: drawFrom(rows, task, config, sft.batch),
      evaluate: evaluation(config, policy, task),
      configHash: hash,
      config: { ...sft, checkpoint, monitors, maxMinutes: null, evaluation: { every: 0 } },
    }
    return runSupervised({ run, from }, phase, events)
  })
}
