/** @file Hints that a demonstration follows. */

import type { Criterion } from '../../rubric/criterion.ts'
import { type CriterionGrammar, isMet } from '../../tasks/thinking-grammar/grammar.ts'
import type { Rng } from '../../util/rng.ts'

const MOST_HINTS = 5
/** Draws for one hint that tells two chains of thought apart; most sentences hold of both, or of neither. */
const HINT_DRAWS = 12

/**
 * A few hints that a demonstration follows: what it does is to be done, what it does not is to be avoided. They are what it
 * does otherwise than another chain of thought, as far as such sentences are found: a hint that is met anyway teaches nobody
 * to follow hints.
 * @param draw a sentence of the grammar
 */
export const tellingHints = <Evidence>(
  grammar: CriterionGrammar<Evidence, string>,
  draw: (rng: Rng) => string,
  [evidence, other]: readonly [Evidence, Evidence],
  rng: Rng,
): Criterion[] =>
  Array.from({ length: 1 + rng.int(MOST_HINTS) }, (_, i) => {
    const texts = Array.from({ length: HINT_DRAWS }, () => draw(rng))
    const holds = (text: string, of: Evidence) => isMet(grammar.read(text)!, of)
    const text = texts.find(each => holds(each, evidence) !== holds(each, other)) ?? texts[0]
    return { id: String(i), text, points: holds(text, evidence) ? 1 : -1 }
  })
