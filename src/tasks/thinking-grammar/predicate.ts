/** @file What a predicate over a chain of thought is: a sentence with places for parameters, and how it is decided. */

/** The five categories of a rubricator's criteria (RLCER Fig. 9). */
export const THINKING_CATEGORIES = ['planning', 'validation', 'clarity', 'efficiency', 'other'] as const
export type ThinkingCategory = (typeof THINKING_CATEGORIES)[number]

/** Values of a sentence's places, in order, as text. */
export type PlaceValues = readonly string[]

/** @typeParam Evidence what it is decided on, made once for a response */
export interface Predicate<Evidence> {
  category: ThinkingCategory
  /** The sentence; a place is the name of what it may hold in braces, as `{count}`. */
  sentence: string
  /** What its author expects of it: to go with right answers, with wrong ones, or with neither. */
  expected: 'good' | 'bad' | 'neutral'
  /** Whether it reads the final result or the answer, and so may stand in for the outcome. */
  outcome?: boolean
  test(evidence: Evidence, values: PlaceValues): boolean
}

/**
 * How predicates of a category are written, by what their author expects of them. A test is told the value of the sentence's one
 * place, as a number and as it stands there.
 */
export const predicatesAbout = <Evidence>(category: ThinkingCategory) => {
  const expecting =
    (expected: Predicate<Evidence>['expected']) =>
    (
      sentence: string,
      test: (evidence: Evidence, value: number, word: string) => boolean,
    ): Predicate<Evidence> => ({
      ...{ category, expected, sentence },
      test: (evidence, [word]) => test(evidence, Number(word), word),
    })
  return { good: expecting('good'), bad: expecting('bad'), neutral: expecting('neutral') }
}
