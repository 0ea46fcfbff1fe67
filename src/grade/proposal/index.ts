/** @file Rubrics that a policy proposes: reading them, and the format that they are paid for. */

export {
  formatProblems,
  PROPOSAL_CATEGORIES,
  type ProposalSettings,
  plainCategory,
  proposalSettingsSchema,
} from './format.ts'
export { MOST_CRITERIA, type Proposal, readProposal } from './proposal.ts'
