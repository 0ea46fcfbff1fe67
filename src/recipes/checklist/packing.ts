/** @file The packing task for recipes: prompts, scaffolds, and grading by the rules of each trip's rubric. */

import { RuleGrader, type RuleSettings } from '../../grade/rules/index.ts'
import type { ModelConfig } from '../../model/config.ts'
import type { ModelSource } from '../../policy/local/model-source.ts'
import { assertRoom } from '../../policy/local/sample-request.ts'
import type { TokenIds } from '../../rl/datum.ts'
import type { Criterion, Rubric } from '../../rubric/criterion.ts'
import { signedScore } from '../../rubric/index.ts'
import { PENALTY } from '../../runs/criterion-words.ts'
import {
  CHECKLIST_TOKENS,
  CHECKLIST_VOCABULARY,
  checklistText,
  checklistTokenizer,
  hintsOf,
  isHint,
  isList,
  type PackingWorld,
  THOUGHT_VOCABULARY,
  type Trip,
  thoughtTokenizer,
  tripName,
  tripPrompt,
} from '../../tasks/checklist/index.ts'
import {
  type ResponseItem,
  type ScoredResponse,
  type ScoreTask,
  type ScoringRule,
  scoreByRubric,
} from '../../tasks/scored-response.ts'
import type { ModelShape } from '../../train/config.ts'
import { miniatureShape } from '../common/miniature.ts'
import { carelessVerdicts } from './careless.ts'
import type { RewardNoise } from './noise.ts'

/** A Llama of the given shape over the words of packing. @throws ConfigError for heads that do not divide the width. */
export const packingModelConfig = (shape: ModelShape): ModelConfig => modelOver(CHECKLIST_VOCABULARY, shape)

/** The same with the words of thinking. */
export const thoughtModelConfig = (shape: ModelShape): ModelConfig => modelOver(THOUGHT_VOCABULARY, shape)

const modelOver = (vocabulary: readonly string[], shape: ModelShape): ModelConfig =>
  miniatureShape(shape, {
    vocabSize: vocabulary.length,
    bosTokenId: CHECKLIST_TOKENS.bos,
    eosTokenIds: [CHECKLIST_TOKENS.eos],
  })

/** Fresh weights with the tokenizer files that make the saved checkpoint complete. @param thinking with the words of thinking */
export const freshPackingModel = (
  shape: ModelShape,
  seed: number | string,
  thinking = false,
): ModelSource => ({
  init: {
    config: thinking ? thoughtModelConfig(shape) : packingModelConfig(shape),
    seed,
    embeddingStd: shape.embeddingStd,
    files: thinking ? thoughtTokenizer(shape.maxPositions) : checklistTokenizer(shape.maxPositions),
  },
})

/**
 * Refuses trips that, shown with their whole rubrics, leave no room for a list.
 * @param maxTokens most tokens of a list
 * @throws DataError as sampling does
 */
export const assertTripsFit = (
  world: PackingWorld,
  trips: readonly Trip[],
  maxTokens: number,
  { maxPositions }: Pick<ModelShape, 'maxPositions'>,
): void => {
  for (const trip of trips)
    assertRoom(
      `trip ${tripName(trip)}`,
      tripPrompt(trip, hintsOf(world.rubric(trip).criteria)).length,
      maxTokens,
      maxPositions,
    )
}

/** Names for reports: a reader has to see which criteria a response had better not meet. */
export const packingCriterionNames = (world: PackingWorld): Record<string, string> => {
  const { criteria } = world.rubric({ topic: 0, occasion: 0, companion: 0 })
  return Object.fromEntries(criteria.filter(({ points }) => points < 0).map(({ id }) => [id, PENALTY]))
}

/** How training's graders differ from the truth; nothing by default. */
export interface PackingTaskOptions {
  /** Another rubric than the true one. */
  rubricOf?: (trip: Trip) => Rubric
  /** How verdicts are scored; the signed score where absent. */
  score?: ScoringRule
  noise?: RewardNoise
  /** Verdicts are those of a judge that can be gamed. */
  careless?: boolean
  /** What checking a response may take; the schema's defaults where absent. */
  rules?: Partial<RuleSettings>
}

const signed: ScoringRule = (rubric, verdicts) => signedScore(rubric, verdicts).score

/** Trips with a rubric each. */
export class PackingTask implements ScoreTask<Trip> {
  readonly world: PackingWorld
  readonly #options: PackingTaskOptions
  readonly #grader: RuleGrader

  constructor(world: PackingWorld, options: PackingTaskOptions = {}) {
    this.world = world
    this.#options = options
    this.#grader = new RuleGrader(options.rules)
  }

  name(trip: Trip): string {
    return tripName(trip)
  }

  rubric(trip: Trip): Rubric {
    return this.#options.rubricOf?.(trip) ?? this.world.rubric(trip)
  }

  prompt(trip: Trip): TokenIds {
    return tripPrompt(trip)
  }

  /** The prompt with these criteria said before the list begins. */
  scaffolded(trip: Trip, shown: readonly Criterion[]): TokenIds {
    return tripPrompt(trip, hintsOf(shown))
  }

  show(tokens: ArrayLike<number>): string {
    return checklistText(tokens)
  }

  shows(criterion: Criterion): boolean {
    return isHint(criterion)
  }

  grade(items: readonly ResponseItem<Trip>[]): Promise<ScoredResponse[]> {
    const { noise, score = signed, careless = false } = this.#options
    return Promise.all(
      items.map(async ({ problem, tokens, key, leftOut }) => {
        const response = checklistText(tokens)
        const grade = async (criteria: readonly Criterion[]) => {
          const verdicts = await this.#grader.grade({ prompt: [], response }, criteria)
          return careless ? carelessVerdicts(criteria, verdicts, response) : verdicts
        }
        const rubric = this.rubric(problem)
        const scored = await scoreByRubric({ rubric, score, noise, key, leftOut, grade })
        return { ...scored, wellFormed: isList(tokens) }
      }),
    )
  }
}
