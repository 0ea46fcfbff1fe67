/** @file Writes a rubric without a model: picks predicates from a bank by how well they tell good traces from bad. */

import type { Criterion, Rubric } from '../../rubric/criterion.ts'
import { mean, pearson } from '../../util/descriptive.ts'
import { DataError } from '../../util/errors.ts'

/** A predicate that may become a criterion, with what it says of the traces. */
export interface CriterionCandidate {
  id: string
  text: string
  verifier?: Criterion['verifier']
  /** Of each trace, first judgements; null where there was no verdict. */
  met: readonly (boolean | null)[]
  /** Further judgements of the same traces, [repeat][trace]; absent for predicates that cannot waver. */
  repeats?: readonly (readonly (boolean | null)[])[]
}

export interface BankDraftOptions {
  /** Criteria that the first proposal has. Default 4. */
  propose?: number
  /** Most criteria. Default 8 (4 to 8). */
  maxCriteria?: number
  /** Default 3. */
  rounds?: number
  /** Two criteria whose verdicts correlate more than this, in either direction, are one. Default 0.9. */
  maxPhi?: number
  /** A predicate that agrees less than this with its own repeats is ambiguous. Default 0.9. */
  minAgreement?: number
  /** Least |phi| with being a good trace. Default 0: anything that tells at all. */
  minDiscrimination?: number
  /** Turn predicates that bad traces meet more often into penalties. Default true. */
  penalties?: boolean
  /** Points of a predicate that tells good from bad without fault; others have their share, at least 1. Default 5. */
  maxPoints?: number
}

/** What a round did: ids that were added, and dropped for one reason or the other. */
export interface BankRound {
  missing: string[]
  redundant: string[]
  ambiguous: string[]
}

export interface BankRubric {
  rubric: Rubric
  rounds: BankRound[]
  stopped: 'no-change' | 'rounds'
  /** Pairs of a good and a bad trace that the rubric puts in the right order, of all pairs; null without pairs. */
  separated: number | null
}

interface Scored {
  candidate: CriterionCandidate
  /** Correlation of its verdicts with being a good trace (phi). */
  phi: number
}

/** Phi over the traces that both lists say something about; null where one does not vary. */
const phiOf = (a: readonly (boolean | null)[], b: readonly (boolean | null)[]): number | null => {
  const both = a.flatMap((x, i) => (x === null || b[i] === null ? [] : [[Number(x), Number(b[i])]]))
  return pearson(
    both.map(([x]) => x),
    both.map(([, y]) => y),
  )
}

/** Share of repeated judgements that agree with the first; 1 without repeats. */
const agreementOf = ({ met, repeats = [] }: CriterionCandidate): number => {
  const same = repeats.flatMap(repeat =>
    repeat.flatMap((x, i) => (x === null || met[i] === null ? [] : [Number(x === met[i])])),
  )
  return same.length === 0 ? 1 : mean(same)
}

/**
 * A rubric from a bank of predicates and labelled traces, as the miniature's author of thinking rubrics writes it: propose
 * the predicates that discriminate best; then, for up to three rounds, drop what is redundant (the weaker of two) or
 * ambiguous, and add the predicate that separates most pairs which the rubric does not separate yet. A predicate that was
 * dropped does not come back. Pure; ties go to the order of the bank.
 * @param good whether each trace is a good one, in the order of the candidates' verdicts
 * @throws DataError for verdicts of another number of traces.
 */
export const rubricFromBank = (
  bank: readonly CriterionCandidate[],
  good: readonly boolean[],
  options: BankDraftOptions = {},
): BankRubric => {
  const { propose = 4, maxCriteria = 8, rounds: most = 3 } = options
  const ranked = rank(bank, good, options)
  const dropped = new Set<CriterionCandidate>()
  const rounds: BankRound[] = []
  let chosen = ranked.slice(0, Math.min(propose, maxCriteria))
  let changed = true
  while (changed && rounds.length < most) {
    const redundant = redundantIn(chosen, options)
    const ambiguous = chosen.filter(
      one => !redundant.includes(one) && agreementOf(one.candidate) < (options.minAgreement ?? 0.9),
    )
    for (const { candidate } of [...redundant, ...ambiguous]) dropped.add(candidate)
    chosen = chosen.filter(({ candidate }) => !dropped.has(candidate))
    const open = ranked.filter(one => !dropped.has(one.candidate) && !chosen.includes(one))
    const missing = chosen.length < maxCriteria ? bestUncovered(open, chosen, good, options) : null
    if (missing) chosen = [...chosen, missing]
    changed = redundant.length + ambiguous.length > 0 || missing !== null
    rounds.push({
      missing: missing ? idsOf([missing]) : [],
      redundant: idsOf(redundant),
      ambiguous: idsOf(ambiguous),
    })
  }
  const pairs = pairsOf(good)
  const right = pairs.filter(pair => separates(chosen, pair)).length
  return {
    rubric: { criteria: chosen.map(one => toCriterion(one, options)) },
    rounds,
    stopped: changed ? 'rounds' : 'no-change',
    separated: pairs.length === 0 ? null : right / pairs.length,
  }
}

const idsOf = (chosen: readonly Scored[]): string[] => chosen.map(({ candidate }) => candidate.id)

/** Candidates that tell good from bad, the best first. */
const rank = (
  bank: readonly CriterionCandidate[],
  good: readonly boolean[],
  { minDiscrimination = 0, penalties = true }: BankDraftOptions,
): Scored[] => {
  const wrong = bank.find(({ met, repeats = [] }) => [met, ...repeats].some(v => v.length !== good.length))
  if (wrong)
    throw new DataError(
      `rubricFromBank: ${wrong.id}: expected verdicts of ${good.length} traces, got ${wrong.met.length} (or repeats of another length); judge the same traces`,
    )
  return bank
    .map(candidate => ({ candidate, phi: phiOf(candidate.met, good) ?? 0 }))
    .filter(({ phi }) => phi !== 0 && Math.abs(phi) >= minDiscrimination && (penalties || phi > 0))
    .sort((a, b) => Math.abs(b.phi) - Math.abs(a.phi))
}

/** Of every pair that says the same, or the opposite, the one that tells less; `chosen` need not be in order. */
const redundantIn = (chosen: readonly Scored[], { maxPhi = 0.9 }: BankDraftOptions): Scored[] => {
  const kept: Scored[] = []
  const strongestFirst = [...chosen].sort((a, b) => Math.abs(b.phi) - Math.abs(a.phi))
  return strongestFirst.filter(one => {
    const repeats = kept.some(
      ({ candidate }) => Math.abs(phiOf(candidate.met, one.candidate.met) ?? 0) > maxPhi,
    )
    if (!repeats) kept.push(one)
    return repeats
  })
}

type Pair = readonly [goodTrace: number, badTrace: number]

const pairsOf = (good: readonly boolean[]): Pair[] =>
  good.flatMap((isGood, g) => (isGood ? good.flatMap((other, b) => (other ? [] : [[g, b] as const])) : []))

/** Points that a trace gets, one a criterion: the number of merits without the number of flaws. */
const scoreOf = (chosen: readonly Scored[], trace: number): number =>
  chosen.reduce((sum, { candidate, phi }) => sum + (candidate.met[trace] === true ? Math.sign(phi) : 0), 0)

const separates = (chosen: readonly Scored[], [good, bad]: Pair): boolean =>
  scoreOf(chosen, good) > scoreOf(chosen, bad)

/**
 * The clear, new predicate that orders most of the pairs which are not in order yet, less those that it orders the wrong way:
 * a coin orders as many rightly as wrongly. Null where none orders any.
 */
const bestUncovered = (
  open: readonly Scored[],
  chosen: readonly Scored[],
  good: readonly boolean[],
  options: BankDraftOptions,
): Scored | null => {
  const uncovered = pairsOf(good).filter(pair => !separates(chosen, pair))
  let best: { one: Scored; covers: number } | null = null
  for (const one of open) {
    if (agreementOf(one.candidate) < (options.minAgreement ?? 0.9)) continue
    if (redundantIn([...chosen, one], options).length > 0) continue
    const rightly = uncovered.filter(pair => separates([one], pair)).length
    const wrongly = uncovered.filter(([good, bad]) => separates([one], [bad, good])).length
    const covers = rightly - wrongly
    if (covers > (best?.covers ?? 0)) best = { one, covers }
  }
  return best?.one ?? null
}

const toCriterion = ({ candidate, phi }: Scored, { maxPoints = 5 }: BankDraftOptions): Criterion => ({
  id: candidate.id,
  text: candidate.text,
  points: Math.sign(phi) * Math.max(1, Math.round(Math.abs(phi) * maxPoints)),
  ...(candidate.verifier && { verifier: candidate.verifier }),
})
