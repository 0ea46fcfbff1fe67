/** @file What sft learns from, whatever it is: rows of a file, or the demonstrations of a task. */

import type { ModelConfig } from '../../model/config.ts'
import type { ModelSource } from '../../policy/local/model-source.ts'
import type { Policy } from '../../policy/policy.ts'
import { scored } from '../../tasks/scored-response.ts'
import type { Task } from '../../tasks/task.ts'
import type { DrawStep } from '../../train/supervised.ts'
import { type Evaluate, evaluation } from '../common/evaluation.ts'
import type { SftConfig } from './config.ts'

/** A prompt with what follows it, which has to fit the model's context. */
export interface Room {
  what: string
  promptTokens: number
  newTokens: number
}

export interface LearntTaskData {
  draw: DrawStep
  /** Set that a run is judged by. */
  primarySet: string
  criterionNames?: Readonly<Record<string, string>>
  /** @param dir of the run, where an evaluation may leave more than its rows */
  evaluate(policy: Policy, dir: string): Evaluate
  /** What a person should know before the training. */
  notes?: readonly string[]
}

/** A start that learns from what it writes itself, and grows for it. */
export interface Growth {
  shape(start: ModelConfig): ModelConfig
  /** Tokens that it writes, at most. */
  sampledTokens: number
  /** Makes model and demonstrations in the run's folder, or finds them there. */
  make(
    dir: string,
    start: string,
    open: (source: ModelSource) => Promise<Policy>,
  ): Promise<{ folder: string; draw: DrawStep }>
}

/** A task as sft learns it. */
export interface LearntTask extends LearntTaskData {
  /** Fresh weights. @throws ConfigError for a shape that cannot be */
  fresh(): ModelSource
  /** Refuses a model that cannot read the task's words. @throws CheckpointError */
  assertModel(folder: string): void
  /** Its evaluation has one answer to each problem. */
  isSampledOnce?: boolean
  /** What has to fit a context of so many places; what does not may be refused in words of the task's own. */
  rooms(maxPositions: number): Iterable<Room>
  /** In a run it makes what is drawn from, which `draw` only is like. */
  grown?: Growth
  /** Of a plan. */
  words: { training: string; evaluation: string; more?: readonly string[] }
  /** When the run is finished. */
  finish?(dir: string): void
}

/** Settings of sft with a task of its own. */
export type ConfigOf<TaskSettings> = Omit<SftConfig, 'task'> & { task: TaskSettings }

/** Tasks whose answers are one turn are evaluated as methods do; `full`: also with the whole rubric shown. */
export const taskEvaluation =
  <Problem>(
    { steps, evaluation: { problems, samples, maxTokens: most } }: Pick<SftConfig, 'steps' | 'evaluation'>,
    policy: Policy,
    tasks: readonly { task: Task<Problem>; full?: boolean; maxTokens?: number }[],
  ): Evaluate =>
  async (step, last) => {
    const sampled = { problems, problemsBetween: problems, samples, temperature: 1, topK: 0, topP: 1 }
    const rows = []
    for (const { task, full = false, maxTokens = most } of tasks) {
      const truth = scored(task)
      const config = { steps, rollout: { maxTokens }, evaluation: { ...sampled, scaffolded: full } }
      const graded = { reward: truth, truth, close: async () => {} }
      rows.push(...(await evaluation(config, policy, graded)(step, last)))
    }
    return rows
  }
