/** @file The packing task for recipes: prompts, scaffolds, and grading by the rules of each trip's rubric. */

import { RuleGrader } from '../../grade/rules/index.ts'
import type { ModelSource } from '../../policy/local/parameters.ts'
import type { TokenIds } from '../../rl/datum.ts'
import type { Criterion, Rubric, Verdict } from '../../rubric/criterion.ts'
import { signedScore } from '../../rubric/index.ts'
import {
  CHECKLIST_TOKENS,
  CHECKLIST_VOCABULARY,
  checklistText,
  checklistTokenizer,
  hintsOf,
  isList,
  type PackingWorld,
  splitTrips,
  type Trip,
  tripName,
  tripPrompt,
} from '../../tasks/checklist/index.ts'
import type { ModelShape } from '../../train/config.ts'
import { Rng } from '../../util/rng.ts'
import { miniatureShape } from '../miniature.ts'
import type { ScoredResponse, ScoreTask } from './evaluate.ts'

/** Fresh weights over the words of packing, with the tokenizer that makes the saved checkpoint complete. */
export const freshPackingModel = (shape: ModelShape, seed: number | string): ModelSource => ({
  init: {
    config: miniatureShape(shape, {
      vocabSize: CHECKLIST_VOCABULARY.length,
      bosTokenId: CHECKLIST_TOKENS.bos,
      eosTokenIds: [CHECKLIST_TOKENS.eos],
    }),
    seed,
    embeddingStd: shape.embeddingStd,
    files: checklistTokenizer(shape.maxPositions),
  },
})

/** How training's graders differ from the truth; nothing by default. */
export interface PackingTaskOptions {
  /** Another rubric than the true one. */
  rubricOf?: (trip: Trip) => Rubric
  /** Chance that a verdict is turned round before it is scored. */
  flipRate?: number
  /** A score in place of the rubric's. */
  scoreOf?: () => number | null
  rng?: Rng
}

/** Trips with a rubric each. */
export class PackingTask implements ScoreTask<Trip> {
  readonly world: PackingWorld
  readonly #options: PackingTaskOptions
  readonly #grader = new RuleGrader()

  constructor(world: PackingWorld, options: PackingTaskOptions = {}) {
    this.world = world
    this.#options = options
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

  async grade(items: readonly { problem: Trip; tokens: Int32Array }[]): Promise<ScoredResponse[]> {
    return Promise.all(
      items.map(async ({ problem, tokens }) => {
        const rubric = this.rubric(problem)
        const given = await this.#grader.grade(
          { prompt: [], response: checklistText(tokens) },
          rubric.criteria,
        )
        const verdicts = this.#flip(given)
        const { scoreOf } = this.#options
        const score = scoreOf ? scoreOf() : signedScore(rubric, verdicts).score
        return { score, verdicts, wellFormed: isList(tokens) }
      }),
    )
  }

  #flip(verdicts: Verdict[]): Verdict[] {
    const { flipRate = 0, rng } = this.#options
    if (flipRate === 0 || !rng) return verdicts
    return verdicts.map(verdict =>
      verdict.met !== null && rng.next() < flipRate ? { ...verdict, met: !verdict.met } : verdict,
    )
  }
}

/** Training trip i of a seed, every pass in another order; and the test trips, always in the same. */
export const packingTrips = (seed: number | string) => {
  const { train, test } = splitTrips()
  const passes = new Map<number, Trip[]>()
  const passOf = (pass: number): Trip[] => {
    const known = passes.get(pass) ?? new Rng(`packing trips/${seed}/${pass}`).shuffle(train)
    passes.set(pass, known)
    return known
  }
  const at = (index: number): Trip => passOf(Math.floor(index / train.length))[index % train.length]
  return { at, test }
}
