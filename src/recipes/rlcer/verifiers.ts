/** @file Who decides criteria in place of execution: a noisy hand, a model that learnt to. */

import type { ChatModel } from '../../chat/chat-model.ts'
import { RUBRIC_VERIFIER } from '../../grade/thinking/index.ts'
import type { Verdict } from '../../rubric/criterion.ts'
import type { MetricGroup } from '../../runs/rows.ts'
import { JudgeVerifier } from '../../tasks/judge-verifier.ts'
import type { TaskWith } from '../../tasks/task.ts'
import type { ThinkingVerifier } from '../../tasks/thinking.ts'
import { Rng } from '../../util/rng.ts'
import { checkFleet, openThinkingJudging } from '../common/judging.ts'
import { modelMayBeMissing, type RunMode } from '../common/run-mode.ts'
import { wholeModel } from '../common/starting-model.ts'
import { LearnedVerifier } from '../learned-verifier/grader.ts'
import { LearnedThinkingVerifier } from '../reasoning/learned.ts'
import type { RlcerConfig } from './config.ts'

/** Parts of a run in place of the configured ones. */
export interface RlcerRunParts {
  /** In place of the verifier's endpoints. */
  verifierModel?: ChatModel
}

/** A verifier that is closed when the run ends. */
export interface OpenVerifier<Problem> {
  verifier: ThinkingVerifier<Problem>
  /** Execution, where another one decides. */
  truth?: ThinkingVerifier<Problem>
  /** What it did since it was last asked. */
  metrics?(): MetricGroup
  close(): Promise<void>
}

/**
 * The verifier that the configuration names.
 * @throws CheckpointError for a folder without a learned verifier
 */
export const openRubricVerifier = async <Problem>(
  { verifier }: Pick<RlcerConfig, 'verifier'>,
  task: Pick<TaskWith<Problem, 'thinking'>, 'question' | 'thinking'>,
  { verifierModel }: RlcerRunParts = {},
): Promise<OpenVerifier<Problem>> => {
  const { exact } = task.thinking
  const close = async () => {}
  switch (verifier.kind) {
    case 'exact':
      return { verifier: exact!, close }
    case 'noisy':
      return { verifier: noisyVerifier(exact!, verifier.flipRate), truth: exact, close }
    case 'judge': {
      const judging = openThinkingJudging(verifier.judge, RUBRIC_VERIFIER, verifierModel)
      return {
        verifier: new JudgeVerifier(judging.grader, task),
        truth: exact,
        metrics: () => judging.metrics(),
        close: () => judging.close(),
      }
    }
    case 'learned': {
      const learned = await LearnedVerifier.open(verifier.folder, { threshold: verifier.threshold })
      return {
        verifier: new LearnedThinkingVerifier(learned, task),
        truth: exact,
        close: () => learned.close(),
      }
    }
  }
}

/**
 * Calls nothing.
 * @throws CheckpointError for a folder without a model, where it need not come later; ConfigError for endpoints that cannot be used
 */
export const checkVerifier = (
  { verifier }: Pick<RlcerConfig, 'verifier'>,
  purpose: RunMode,
  { verifierModel }: RlcerRunParts = {},
): void => {
  if (verifier.kind === 'judge' && !verifierModel) checkFleet(verifier.judge.fleet, 'verifier.judge.fleet')
  if (verifier.kind === 'learned' && !modelMayBeMissing(verifier.folder, purpose))
    wholeModel(verifier.folder, 'verifier.folder')
}

/** Verdicts with some inverted. Which ones depends on the items' keys alone; those that were not given stay as they are. */
export const noisyVerifier = <Problem>(
  exact: ThinkingVerifier<Problem>,
  flipRate: number,
): ThinkingVerifier<Problem> => ({
  verify: async items => {
    const verdicts = await exact.verify(items)
    return verdicts.map((own, i) => {
      const rng = new Rng(`flipped verdicts/${items[i].key ?? i}`)
      return own.map((verdict): Verdict => {
        const flips = rng.next() < flipRate
        return flips && verdict.met !== null ? { ...verdict, met: !verdict.met } : verdict
      })
    })
  },
})
