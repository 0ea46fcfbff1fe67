/** @file Opens a relative judge. */

import type { ChatModel } from '../../chat/chat-model.ts'
import type { JudgeConfig } from '../judge/judge-config.ts'
import { type OpenJudge, openJudge } from '../judge/open-judge.ts'
import { recentVerdicts } from '../judge/recent-verdicts.ts'
import { GROUP_JUDGE } from './template.ts'

/**
 * Opens a judge of groups for `scoreGroup`. The same group is asked about once while the process runs, also without a cache folder.
 * @param model in place of the configured endpoints
 * @throws ConfigError for an endpoint, a key or a folder that cannot be used
 */
export const openGroupJudge = ({ fleet, ask, cache }: JudgeConfig, model?: ChatModel): OpenJudge =>
  openJudge(
    { fleet, cache, ask: { ...ask, shape: 'rubric' } },
    { form: GROUP_JUDGE, model, store: recentVerdicts(), tellsCalls: true },
  )
