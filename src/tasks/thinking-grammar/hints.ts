/** @file Hints that a demonstration follows, and the task of doing as they say. */

import type { Criterion, Verdict } from '../../rubric/criterion.ts'
import type { Rng } from '../../util/rng.ts'
import { mean } from '../../util/statistics.ts'
import type { Task, TaskWith } from '../task.ts'
import { type CriterionGrammar, isMet, plainSentence } from './grammar.ts'
import type { PieceText } from './piece-text.ts'
import { HINT_PIECES } from './rubric-pieces.ts'

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

/** A line a hint: what to do for points, what to avoid for penalties. Sentences outside the grammar cannot be said. */
export const grammarHintTokens = (
  grammar: CriterionGrammar<never, string>,
  pieces: PieceText,
  hints: readonly Criterion[],
): number[] =>
  hints.flatMap(({ text, points }) => {
    if (grammar.read(text) === null) return []
    const { do: wanted, avoid } = HINT_PIECES
    return [pieces.token(points > 0 ? wanted : avoid), ...pieces.encode(plainSentence(text))]
  })

/** Thinking as hints say: they are the rubric, executed; a score is the share that was followed. */
export const hintsTask = <Problem>(
  { thinking, ...task }: TaskWith<Problem, 'thinking'>,
  hintsOf: (problem: Problem) => Criterion[],
): Task<Problem> => ({
  ...task,
  isBinary: false,
  rubric: problem => ({ id: 'hints', criteria: hintsOf(problem) }),
  kind: ({ points }) => (points > 0 ? 'done as told' : 'avoided as told'),
  grade: async items => {
    const responses = items.map(({ tokens }) => thinking.read(tokens))
    const executed = await thinking.exact!.verify(
      items.map(({ problem, criteria }, i) => ({
        problem,
        response: responses[i],
        rubric: { criteria: [...criteria] },
      })),
    )
    return items.map(({ criteria }, i) => {
      const verdicts = criteria.map(({ points }, k): Verdict => {
        const verdict = executed[i][k]
        return { ...verdict, met: verdict.met === points > 0 }
      })
      return {
        verdicts,
        score: mean(verdicts.map(({ met }) => Number(met))),
        wellFormed: responses[i].closed,
      }
    })
  },
})
