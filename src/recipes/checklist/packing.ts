/** @file The packing task for recipes: prompts, scaffolds, and grading by the rules of each trip's rubric. */

import { RuleGrader } from '../../grade/rules/index.ts'
import type { ModelSource } from '../../policy/local/parameters.ts'
import type { TokenIds } from '../../rl/datum.ts'
import type { Criterion, Rubric } from '../../rubric/criterion.ts'
import { signedScore } from '../../rubric/index.ts'
import {
  CHECKLIST_TOKENS,
  CHECKLIST_VOCABULARY,
  checklistText,
  checklistTokenizer,
  hintOf,
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

/** Trips with a rubric each; `rubricOf` may give another than the true one, for noisy rewards. */
export class PackingTask implements ScoreTask<Trip> {
  readonly world: PackingWorld
  readonly #rubricOf: (trip: Trip) => Rubric
  readonly #grader = new RuleGrader()

  constructor(world: PackingWorld, rubricOf: (trip: Trip) => Rubric = trip => world.rubric(trip)) {
    this.world = world
    this.#rubricOf = rubricOf
  }

  name(trip: Trip): string {
    return tripName(trip)
  }

  rubric(trip: Trip): Rubric {
    return this.#rubricOf(trip)
  }

  prompt(trip: Trip): TokenIds {
    return tripPrompt(trip)
  }

  /** The prompt with these criteria said before the list begins. */
  scaffolded(trip: Trip, shown: readonly Criterion[]): TokenIds {
    return tripPrompt(trip, shown.map(hintOf))
  }

  show(tokens: ArrayLike<number>): string {
    return checklistText(tokens)
  }

  async grade(items: readonly { problem: Trip; tokens: Int32Array }[]): Promise<ScoredResponse[]> {
    return Promise.all(
      items.map(async ({ problem, tokens }) => {
        const rubric = this.rubric(problem)
        const verdicts = await this.#grader.grade(
          { prompt: [], response: checklistText(tokens) },
          rubric.criteria,
        )
        return { score: signedScore(rubric, verdicts).score, verdicts, wellFormed: isList(tokens) }
      }),
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
