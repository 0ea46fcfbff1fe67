/** @file Rubrics spoilt on purpose, to see what a method makes of a bad rubric: the variants of RuscaRL's Table 14. */

import { DataError } from '../util/errors.ts'
import { Rng } from '../util/rng.ts'
import { type Criterion, maxPoints, type Rubric } from './criterion.ts'

/** What is done to a rubric. Evaluate always with the original. */
export const VARIANTS = {
  original: 'nothing changed: the control',
  inverse: 'the highest points go to the criterion that had the lowest, and so on; signs move too',
  negated: 'every sign inverted',
  ambiguous: 'vague criteria added, 3 to every 10, whose verdict is a coin flip a response',
  contradictory: 'the denial of 3 in every 10 criteria added, with the same points',
  removed: 'half of the criteria deleted, at least one that earns points kept',
} as const

export type Variant = keyof typeof VARIANTS

export interface PerturbedRubric {
  rubric: Rubric
  variant: Variant
  /** Criteria whose points changed. */
  changedIds: string[]
  addedIds: string[]
  removedIds: string[]
  /**
   * What a signed score divides by: the sum of positive points, or of all points without sign where none are positive, so
   * that training on a negated rubric has a signal at all (RuscaRL Table 14). Worth logging where the two differ.
   */
  attainablePoints: number
}

export interface PerturbOptions {
  /** How vague criteria get their verdict: by the rule `coin`, or by whatever judges the rest. Default `coin`. */
  vague?: 'coin' | 'judged'
}

/** Share of criteria that ambiguous and contradictory rubrics add. */
const ADDED_SHARE = 0.3

const VAGUE_TEXTS = [
  'The response is of good quality.',
  'The response feels natural.',
  'The response handles the question in a suitable way.',
  'The response is engaging enough.',
  'The response has an appropriate depth.',
  'The response shows good judgement.',
  'The response is reasonably complete.',
  'The response strikes the right tone.',
  'The response is valuable to the reader.',
  'The response is sensibly organised.',
]

/**
 * A spoilt copy of a rubric. Same rubric, variant and seed, same result; the rubric given is left as it is.
 * @throws DataError for a tree, whose worth is in its nodes and not in points.
 */
export const perturbRubric = (
  rubric: Rubric,
  variant: Variant,
  seed: number | string = 0,
  options: PerturbOptions = {},
): PerturbedRubric => {
  if (rubric.tree && variant !== 'original')
    throw new DataError(
      `perturbRubric: expected a flat rubric, got a tree; perturb a copy of its criteria without the tree`,
    )
  const rng = new Rng(`${seed}/perturb/${variant}`)
  const criteria = rubric.criteria.map(criterion => ({ ...criterion }))
  const changed = CHANGES[variant](criteria, rng, options)
  return describeChange(rubric, variant, { ...rubric, criteria: changed })
}

type Change = (criteria: readonly Criterion[], rng: Rng, options: PerturbOptions) => Criterion[]

const inverse: Change = criteria => {
  const ascending = criteria.map((_, i) => i).sort((a, b) => criteria[a].points - criteria[b].points)
  const points = new Map(ascending.map((index, rank) => [index, criteria[ascending.at(-1 - rank)!].points]))
  return criteria.map((criterion, i) => ({ ...criterion, points: points.get(i)! }))
}

const negated: Change = criteria => criteria.map(c => ({ ...c, points: -c.points }))

const added = (criteria: readonly Criterion[]): number => Math.ceil(ADDED_SHARE * criteria.length)

const freeId = (wanted: string, taken: Set<string>): string => {
  let id = wanted
  for (let n = 2; taken.has(id); n++) id = `${wanted}-${n}`
  taken.add(id)
  return id
}

const ambiguous: Change = (criteria, rng, { vague = 'coin' }) => {
  const worths = criteria.map(({ points }) => points).filter(points => points > 0)
  // A rubric of penalties only has no positive points to draw from: the sizes will do.
  const points = worths.length > 0 ? worths : criteria.map(c => Math.abs(c.points))
  const taken = new Set(criteria.map(({ id }) => id))
  const texts = rng.shuffle(VAGUE_TEXTS)
  const more = Array.from({ length: added(criteria) }, (_, i): Criterion => {
    const id = freeId(`vague-${i + 1}`, taken)
    const verifier = { kind: 'rule', fn: 'coin', params: { seed: `${rng.uint32()}` } } as const
    return {
      id,
      text: texts[i % texts.length],
      points: rng.pick(points),
      ...(vague === 'coin' && { verifier }),
    }
  })
  return [...criteria, ...more]
}

const contradictory: Change = (criteria, rng) => {
  const taken = new Set(criteria.map(({ id }) => id))
  const chosen = new Set(rng.sample(criteria, added(criteria)))
  const denials = criteria
    .filter(criterion => chosen.has(criterion))
    .map(criterion => denialOf(criterion, taken))
  return [...criteria, ...denials]
}

/** The criterion that holds exactly where this one does not; checked by the inverted rule where it has one. */
const denialOf = (criterion: Criterion, taken: Set<string>): Criterion => {
  const { verifier } = criterion
  const params = { ...verifier?.params, negate: verifier?.params?.negate !== true }
  if (verifier && verifier.kind !== 'rule')
    throw new DataError(
      `perturbRubric: ${criterion.id}: expected a criterion that a judge or a rule checks, got a ${verifier.kind} check; its denial cannot be checked`,
    )
  return {
    ...criterion,
    id: freeId(`${criterion.id}-denied`, taken),
    text: `The response does not do this: ${criterion.text}`,
    ...(verifier && { verifier: { ...verifier, params } }),
  }
}

const removed: Change = (criteria, rng) => {
  const order = rng.shuffle(criteria)
  const gone = Math.floor(criteria.length / 2)
  const kept = order.slice(gone)
  const rescued = order.slice(0, gone).find(({ points }) => points > 0)
  if (rescued && !kept.some(({ points }) => points > 0)) kept[0] = rescued
  return criteria.filter(criterion => kept.includes(criterion))
}

const CHANGES: Record<Variant, Change> = {
  original: criteria => [...criteria],
  inverse,
  negated,
  ambiguous,
  contradictory,
  removed,
}

const describeChange = (before: Rubric, variant: Variant, rubric: Rubric): PerturbedRubric => {
  const old = new Map(before.criteria.map(({ id, points }) => [id, points]))
  const now = new Set(rubric.criteria.map(({ id }) => id))
  const positive = maxPoints(rubric)
  return {
    rubric,
    variant,
    changedIds: rubric.criteria.flatMap(({ id, points }) =>
      old.has(id) && old.get(id) !== points ? [id] : [],
    ),
    addedIds: rubric.criteria.flatMap(({ id }) => (old.has(id) ? [] : [id])),
    removedIds: before.criteria.flatMap(({ id }) => (now.has(id) ? [] : [id])),
    attainablePoints:
      positive > 0 ? positive : rubric.criteria.reduce((sum, { points }) => sum + Math.abs(points), 0),
  }
}
