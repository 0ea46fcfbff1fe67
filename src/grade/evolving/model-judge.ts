/** @file A chat model as a judge of stages: one call for new rubrics, one a rollout for levels, with cache, repairs and retries of every judge. */

import { z } from 'zod'
import { type ChatMessage, type ChatModel, fleetSchema } from '../../chat/index.ts'
import type { Grader } from '../grader.ts'
import { type AskConfig, askOf, askSchema } from '../judge/ask-config.ts'
import { type JudgeConfig, verdictCacheSchema } from '../judge/judge-config.ts'
import { type OpenJudge, type OpenJudgeStats, openJudge } from '../judge/open-judge.ts'
import { recentVerdicts } from '../judge/recent-verdicts.ts'
import type { JudgeForm } from '../judge/templates/form.ts'
import { requestCriterion, STAGE_GENERATOR } from './generator.ts'
import { shownParts } from './render.ts'
import type { ScoredLevel, StageJudge, StageRubric } from './rubrics.ts'
import { criterionOf, STAGE_SCORER } from './scorer.ts'
import type { EvolvingSettings } from './settings.ts'

/** Parts of the section of a judge of stages; a schema with more of them ends with `.transform(stageJudgeOf)`. */
export const stageJudgeShape = {
  fleet: fleetSchema.describe("The judge's endpoints, with their limits, retries and prices."),
  score: askSchema
    .prefault({})
    .describe('How the judge is asked to score rollouts (default preset: `stages`).'),
  generate: askSchema
    .prefault({})
    .describe('How the judge is asked for new rubrics (default preset: `proposals`).'),
  cache: verdictCacheSchema
    .nullable()
    .default(null)
    .describe('Cache of verdicts for later runs; null: none.'),
}

type ReadStageJudge = z.output<z.ZodObject<typeof stageJudgeShape>>

/** Fills in what a section leaves out. */
export const stageJudgeOf = <T extends ReadStageJudge>({
  score,
  generate,
  ...judge
}: T): Omit<T, 'score' | 'generate'> & { score: AskConfig; generate: AskConfig } => {
  const topKSent = judge.fleet.endpoints.every(({ sendTopK }) => sendTopK === true)
  return {
    ...judge,
    score: askOf(score, 'stages', topKSent),
    generate: askOf(generate, 'proposals', topKSent),
  }
}

/** A judge of stages as configuration files write it: one fleet and one cache, asked in two ways. */
export const stageJudgeSchema = z.strictObject(stageJudgeShape).transform(stageJudgeOf)
export type StageJudgeConfig = z.output<typeof stageJudgeSchema>
export type StageJudgeInput = z.input<typeof stageJudgeSchema>

export interface ModelJudgeParts<Question> {
  /** A judge of form `STAGE_GENERATOR`. */
  generator: Grader
  /** A judge of form `STAGE_SCORER`. */
  scorer: Grader
  /** The question as its judge is shown it. */
  prompt(question: Question): readonly ChatMessage[]
}

const NO_REASON = 'no reason given'

/** Stages in their order, those of one stage as they stand: the judge reads a rollout from its plan to its answer. */
const inOrder = (rubrics: readonly StageRubric[]): StageRubric[] =>
  rubrics.toSorted((a, b) => a.stage - b.stage)

export const modelStageJudge = <Question>(
  { generator, scorer, prompt }: ModelJudgeParts<Question>,
  { targets, shownCharacters }: Pick<EvolvingSettings, 'targets' | 'shownCharacters'>,
): StageJudge<Question> => ({
  async propose({ question, rollouts, existing, signal }) {
    const shown = rollouts.map(rollout => shownParts(rollout, shownCharacters.generate))
    const item = { prompt: prompt(question), response: JSON.stringify(shown) }
    const asked = inOrder(existing).map(({ stage, sign, title, description }) => ({
      ...{ stage, sign, title, description },
    }))
    const criterion = requestCriterion({ existing: asked, targets })
    const [{ met, explanation = NO_REASON }] = await generator.grade(item, [criterion], { signal })
    return met === null
      ? { drafts: null, problem: explanation }
      : { drafts: JSON.parse(explanation) as unknown[] }
  },

  async score({ question, rollout, rubrics, signal }) {
    const item = {
      prompt: prompt(question),
      response: JSON.stringify(shownParts(rollout, shownCharacters.score)),
    }
    const verdicts = await scorer.grade(item, inOrder(rubrics).map(criterionOf), { signal })
    if (verdicts.every(({ level }) => level === undefined))
      return { scores: null, problem: verdicts[0]?.explanation ?? NO_REASON }
    const scores = verdicts.map(({ criterionId, level = null, explanation, call }): [string, ScoredLevel] => [
      criterionId,
      { level, ...(explanation !== undefined && { justification: explanation }), ...(call && { call }) },
    ])
    return { scores: Object.fromEntries(scores) }
  },

  async close() {
    await generator.close?.()
    await scorer.close?.()
  },
})

export interface OpenStageJudge<Question> {
  judge: StageJudge<Question>
  /** The same model asked in another way, with the same limits and the same memory; closed with the judge. */
  alsoAs(form: JudgeForm, ask: AskConfig): Pick<OpenJudge, 'grader' | 'stats'>
  /** What either way of asking did and took. */
  stats(): { generate: OpenJudgeStats; score: OpenJudgeStats }
  close(): Promise<void>
}

export interface StageJudgeSurroundings<Question> {
  prompt: ModelJudgeParts<Question>['prompt']
  settings: Pick<EvolvingSettings, 'targets' | 'shownCharacters'>
  /** In place of the configured endpoints. */
  model?: ChatModel
  /** What the cache's folder is relative to. */
  folder?: string
  onWarning?: (message: string) => void
}

/**
 * Opens a judge of stages. The same question is asked once while the process runs, also without a cache folder.
 * @throws ConfigError for an endpoint, a key or a folder that cannot be used
 */
export const openStageJudge = <Question>(
  { fleet, score, generate, cache }: StageJudgeConfig,
  { prompt, settings, model, folder, onWarning }: StageJudgeSurroundings<Question>,
): OpenStageJudge<Question> => {
  const configOf = (ask: AskConfig, own: JudgeConfig['cache']): JudgeConfig => ({ fleet, ask, cache: own })
  const store = recentVerdicts()
  const scorer = openJudge(configOf(score, cache), {
    ...{ model, folder, onWarning, store },
    form: STAGE_SCORER,
    tellsCalls: true,
  })
  // Limits of endpoints are for both ways of asking together, and a folder has one writer a process.
  const alsoAs = (form: JudgeForm, ask: AskConfig) =>
    openJudge(configOf(ask, null), { model: model ?? scorer.fleet!, form, store: scorer.cache ?? store })
  const generator = alsoAs(STAGE_GENERATOR, generate)
  return {
    alsoAs,
    judge: modelStageJudge({ generator: generator.grader, scorer: scorer.grader, prompt }, settings),
    stats: () => ({ generate: generator.stats(), score: scorer.stats() }),
    close: () => scorer.close(),
  }
}
