/** @file Evaluation after the cold start: answers that are right, and verdicts that are. */

import type { ChatFormat } from '../../model/chat-format.ts'
import type { Policy } from '../../policy/policy.ts'
import type { EvalRow } from '../../runs/rows.ts'
import type { ChatPhase } from './config.ts'

export const evaluateChat = async (
  _policy: Policy,
  _format: ChatFormat,
  _config: Pick<ChatPhase, 'evaluation'>,
  _step: number,
): Promise<EvalRow[]> => []
