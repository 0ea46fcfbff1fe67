/** @file What a rubricator wrote, read with what this recipe asks for beside the format. */

import { type Proposal, readProposal } from '../../grade/proposal/index.ts'
import type { RlcerConfig } from './config.ts'
import { repeatsAmong } from './validity.ts'

/** A rubric that ran out of tokens is none, however much of it could be mended; copies make no rubric of several criteria. */
export const readRubric = (
  text: string,
  isCut: boolean,
  { format, distinct }: Pick<RlcerConfig['rubricator'], 'format' | 'distinct'>,
): Proposal => {
  if (isCut) return { criteria: [], K: 0, wellFormed: false, problems: ['it was cut off at its token limit'] }
  const read = readProposal(text, format)
  const different = read.K - repeatsAmong(read.criteria)
  if (!distinct || !read.wellFormed || different >= format.minCriteria) return read
  const problem = `rubrics: expected at least ${format.minCriteria} different criteria, got ${different}`
  return { ...read, wellFormed: false, problems: [problem] }
}
