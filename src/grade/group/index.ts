/** @file Relative judging: all responses to a prompt in one call of a judge, a score from 0 to 1 for each. */

export * from './config.ts'
export {
  type GroupOptions,
  type GroupResponse,
  type GroupScores,
  type ResponseGroup,
  type Standards,
  scoreGroup,
  sharedMessages,
  standardsText,
} from './judge.ts'
export { GROUP_JUDGE, openGroupJudge } from './template.ts'
