/** @file Several graders judge the same criteria; their votes become one verdict. */

import type { Criterion, Verdict } from '../../rubric/criterion.ts'
import { creditOf } from '../../rubric/score.ts'
import { ConfigError, GradusError } from '../../util/errors.ts'
import type { GradeItem, Grader } from '../grader.ts'

/**
 * How votes become a verdict. `majority`: what more than half of the votes say. `mean`: mean credit of the votes.
 * `unanimous`: met when every member says so, not met as soon as one says no.
 */
export type PanelRule = 'majority' | 'mean' | 'unanimous'

export interface PanelOptions {
  /** Default `majority`. */
  rule?: PanelRule
  /** Fewer votes than this make no verdict under `majority` and `mean`. Default: more than half of the panel. */
  minVotes?: number
  /** Receives every member's verdict on each criterion: for agreement statistics (`fleissKappa`). */
  onVotes?: (item: GradeItem, criterion: Criterion, votes: readonly Verdict[]) => void
}

/**
 * A grader of several. A member's null is no vote: it neither agrees nor disagrees. Too few votes, a tie, or (under
 * `unanimous`) a missing vote that could have tipped it give null with the tally as reason.
 * @throws ConfigError for an empty panel or a quorum that it cannot reach
 * @example
 * const grader = panel([constantGrader(true), constantGrader(false), constantGrader(true)])
 * const [verdict] = await grader.grade({ prompt: [], response: '' }, [{ id: 'a', text: 'A.', points: 1 }])
 * verdict.met // true
 * verdict.explanation // 'votes: true, false, true'
 */
export const panel = (members: readonly Grader[], options: PanelOptions | PanelRule = {}): Grader => {
  const { rule = 'majority', minVotes, onVotes } = typeof options === 'string' ? { rule: options } : options
  const quorum = minVotes ?? Math.floor(members.length / 2) + 1
  if (!(members.length > 0 && quorum >= 1 && quorum <= members.length))
    throw new ConfigError(
      `panel: expected members and a quorum between 1 and their number, got ${members.length} and ${quorum}; add judges or lower minVotes`,
    )
  return {
    async grade(item, criteria, gradeOptions) {
      const verdicts_M_C = await Promise.all(
        members.map(member => member.grade(item, criteria, gradeOptions)),
      )
      return criteria.map((criterion, index) => {
        const votes = verdicts_M_C.map(verdicts => voteOn(criterion, verdicts[index]))
        onVotes?.(item, criterion, votes)
        return RULES[rule](criterion, votes, quorum)
      })
    },
    async close() {
      await Promise.all(members.map(member => member.close?.()))
    },
  }
}

const voteOn = (criterion: Criterion, verdict: Verdict | undefined): Verdict => {
  if (verdict?.criterionId === criterion.id) return verdict
  throw new GradusError(
    `panel: expected a verdict on ${criterion.id}, got ${verdict ? `one on ${verdict.criterionId}` : 'none'}; a grader gives one a criterion, in order`,
  )
}

type Decide = (criterion: Criterion, votes: readonly Verdict[], quorum: number) => Verdict

const cast = (votes: readonly Verdict[]): Verdict[] => votes.filter(vote => creditOf(vote) !== null)

const attemptsOf = (votes: readonly Verdict[]): number =>
  votes.reduce((sum, { attempts = 0 }) => sum + attempts, 0)

const tally = (votes: readonly Verdict[]): string => {
  const words = votes.map(vote => {
    const credit = creditOf(vote)
    if (credit === null) return 'none'
    return vote.credit === undefined ? String(vote.met) : String(credit)
  })
  return `votes: ${words.join(', ')}`
}

const undecided = (criterion: Criterion, votes: readonly Verdict[], why: string): Verdict => ({
  criterionId: criterion.id,
  met: null,
  explanation: `panel undecided: ${why} (${tally(votes)})`,
  source: votes[0].source,
  attempts: attemptsOf(votes),
})

/** The verdict of a member who thinks as the panel decided, as the panel's own. */
const decided = (vote: Verdict, votes: readonly Verdict[]): Verdict => {
  const { criterionId, met, credit, level, explanation, source } = vote
  return {
    criterionId,
    met,
    ...(credit === undefined ? {} : { credit }),
    ...(level === undefined ? {} : { level }),
    explanation: [tally(votes), explanation].filter(Boolean).join('; '),
    source,
    attempts: attemptsOf(votes),
  }
}

const majority: Decide = (criterion, votes, quorum) => {
  const given = cast(votes)
  if (given.length < quorum) return undecided(criterion, votes, `${given.length} of ${votes.length} voted`)
  for (const vote of given) {
    const same = given.filter(other => creditOf(other) === creditOf(vote))
    if (same.length > given.length / 2) return decided(vote, votes)
  }
  return undecided(criterion, votes, 'no majority')
}

const meanOfVotes: Decide = (criterion, votes, quorum) => {
  const credits = votes.flatMap(vote => creditOf(vote) ?? [])
  if (credits.length < quorum)
    return undecided(criterion, votes, `${credits.length} of ${votes.length} voted`)
  const credit = credits.reduce((sum, each) => sum + each, 0) / credits.length
  return {
    criterionId: criterion.id,
    met: credit > 0.5,
    credit,
    explanation: tally(votes),
    source: votes[0].source,
    attempts: attemptsOf(votes),
  }
}

const unanimous: Decide = (criterion, votes) => {
  const given = cast(votes)
  const lowest = given.reduce<Verdict | null>(
    (low, vote) => (low === null || (creditOf(vote) ?? 0) < (creditOf(low) ?? 0) ? vote : low),
    null,
  )
  // One vote against decides, whatever those who did not vote would have said.
  if (lowest?.met === false) return decided(lowest, votes)
  return lowest === null || given.length < votes.length
    ? undecided(criterion, votes, `${votes.length - given.length} of ${votes.length} did not vote`)
    : decided(lowest, votes)
}

const RULES: Readonly<Record<PanelRule, Decide>> = { majority, mean: meanOfVotes, unanimous }
