/** @file Trains a verifier: labelled rows, cross-entropy on the verdict's token, agreement on prompts it has not seen. */

import { areaUnderCurve } from '../../eval/calibration.ts'
import { openPolicy } from '../../policy/open.ts'
import type { EvalRow } from '../../runs/rows.ts'
import { Rng } from '../../util/rng.ts'
import { mean } from '../../util/statistics.ts'
import { setRow } from '../common/evaluated-set.ts'
import type { RunOptions, RunResult } from '../common/recipe.ts'
import { withRun } from '../common/session.ts'
import { runSupervised } from '../common/training.ts'
import { checkLearnedVerifier, verifierModel } from './check.ts'
import type { LearnedVerifierConfig } from './config.ts'
import { LearnedVerifier } from './grader.ts'
import type { LabelledData, LabelledRow } from './labels.ts'
import type { VerifierReader } from './reading.ts'

/** The rows of a step; they depend on seed and step alone. */
const drawRows = ({ seed, batch, data }: LearnedVerifierConfig, rows: readonly LabelledRow[]) => {
  const sides = [rows.filter(row => row.met), rows.filter(row => !row.met)]
  return (step: number): LabelledRow[] => {
    const rng = new Rng(`learned verifier/${seed}/${step}`)
    return Array.from({ length: batch }, () => rng.pick(data.balanced ? sides[rng.int(2)] : rows))
  }
}

/** A row as something to learn: its verdict's token after what is judged. */
const demonstrationsOf = (
  config: LearnedVerifierConfig,
  reader: VerifierReader,
  rows: readonly LabelledRow[],
) => {
  const draw = drawRows(config, rows)
  return (step: number) =>
    draw(step).map(row => ({
      promptTokens: reader.read(row),
      responseTokens: [reader.verdictToken(row.met)],
    }))
}

/** Agreement with the labels of rows that training has not seen, beside always giving the more frequent label. */
const evaluate = async (
  verifier: LearnedVerifier,
  rows: readonly LabelledRow[],
  step: number,
): Promise<EvalRow> => {
  const scores = await Promise.all(
    rows.map(async row => ({ ...row, probability: await verifier.probability(row) })),
  )
  const agreement = scores.map(({ probability, met }) => Number(probability >= 0.5 === met))
  // Few rows may be of one label.
  const byLabel = Object.fromEntries(
    (['met', 'not met'] as const).flatMap(label => {
      const own = agreement.filter((_, i) => scores[i].met === (label === 'met'))
      return own.length === 0 ? [] : [[label, { n: own.length, scores: { agreement: mean(own) } }] as const]
    }),
  )
  const majority = Math.max(...Object.values(byLabel).map(({ n }) => n)) / rows.length
  const criteria = [...new Set(rows.map(({ criterion }) => criterion))].slice(0, 12)
  const items = agreement.map((agrees, i) => ({ id: String(i), scores: { agreement: agrees } }))
  return setRow({ step, set: 'held-out' }, items, {
    primary: 'agreement',
    scoreNames: { agreement: 'agreement with labels' },
    criteria: {
      'area under ROC curve': areaUnderCurve(
        scores.map(({ probability }) => probability),
        scores.map(({ met }) => met),
      ),
      ...Object.fromEntries(
        criteria.map(criterion => [
          criterion,
          mean(agreement.filter((_, i) => rows[i].criterion === criterion)),
        ]),
      ),
    },
    byLabel,
    baselines: {
      majority: { scores: { agreement: { value: majority } }, note: 'always the more frequent label' },
    },
  })
}

const runInfo = (config: LearnedVerifierConfig, data: LabelledData) => {
  const { hiddenSize, layers, heads } = config.model.shape
  return {
    config,
    recipe: 'learned-verifier',
    model: `fresh, ${layers} layers of ${hiddenSize}, ${heads} heads, ${data.train.length} labelled rows`,
    seed: config.seed,
    steps: config.steps,
    primarySet: 'held-out',
  }
}

/** Trains, or goes on training, and leaves a run folder whose last checkpoint is a verifier. */
export const runLearnedVerifier = async (
  config: LearnedVerifierConfig,
  options: RunOptions,
): Promise<RunResult> => {
  const data = checkLearnedVerifier(config, 'run')!
  const { source, reader } = verifierModel(config, data.train)
  const { events = {} } = options
  return withRun({ ...options, info: runInfo(config, data) }, async ({ use, ...session }) => {
    const policy = await use(openPolicy(config.policy, source))
    const verifier = new LearnedVerifier(policy, reader)
    const heldOut = new Rng('held-out rows').shuffle(data.heldOut).slice(0, config.evaluation.rows)
    const phase = {
      name: 'verifier',
      policy,
      draw: demonstrationsOf(config, reader, data.train),
      evaluate: async (step: number) => [await evaluate(verifier, heldOut, step)],
      config,
    }
    return runSupervised(session, phase, events)
  })
}
