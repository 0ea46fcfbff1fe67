/** @file Criteria of a proposed rubric that repeat each other, and rubrics as training pays them: copies make none of several criteria. */

import type { Criterion } from '../../rubric/criterion.ts'
import type { ProposalSettings } from './format.ts'
import { type Proposal, readProposal } from './proposal.ts'

/** A criterion's statement as duplicates are recognised: case, punctuation and spacing say nothing, signs of arithmetic do. */
export const plainStatement = (text: string): string =>
  text
    .normalize('NFKC')
    .toLowerCase()
    .replace(/[^\p{L}\p{N}\p{Sm}*/%^-]+/gu, ' ')
    .replace(/(?<=\p{L})-(?=\p{L})/gu, ' ')
    .replace(/\s+/g, ' ')
    .trim()

/** How many criteria of a rubric repeat another one of it. */
export const repeatsAmong = (criteria: readonly Criterion[]): number =>
  criteria.length - new Set(criteria.map(({ text }) => plainStatement(text))).size

/** A rubric that ran out of tokens is none, however much of it could be mended; copies make no rubric of several criteria. */
export const readRubric = (
  text: string,
  isCut: boolean,
  { format, distinct }: { format: ProposalSettings; distinct: boolean },
): Proposal => {
  if (isCut) return { criteria: [], K: 0, wellFormed: false, problems: ['it was cut off at its token limit'] }
  const read = readProposal(text, format)
  const different = read.K - repeatsAmong(read.criteria)
  if (!distinct || !read.wellFormed || different >= format.minCriteria) return read
  const problem = `rubrics: expected at least ${format.minCriteria} different criteria, got ${different}`
  return { ...read, wellFormed: false, problems: [problem] }
}
