/** @file Rubrics that a policy proposes: reading them, and the format that they are paid for. */

export { formatProblems, type ProposalSettings, proposalSettingsSchema } from './format.ts'
export { MOST_CRITERIA, PROPOSAL_CATEGORIES, type Proposal, plainCategory, readProposal } from './proposal.ts'
