/** @file Rubrics that a policy proposes: reading them, and the format that they are paid for. */

export { PROPOSAL_CATEGORIES, plainCategory } from './categories.ts'
export { formatProblems, type ProposalSettings, proposalSettingsSchema } from './format.ts'
export { MOST_CRITERIA, type Proposal, readProposal } from './proposal.ts'
