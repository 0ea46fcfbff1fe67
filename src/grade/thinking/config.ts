/** @file Settings of a judge of thinking, and how it is opened. */

import type { ChatModel } from '../../chat/chat-model.ts'
import { type JudgeConfig, judgeSchema } from '../judge/judge-config.ts'
import { type OpenJudge, openJudge } from '../judge/open-judge.ts'
import { recentVerdicts } from '../judge/recent-verdicts.ts'
import type { JudgeForm } from '../judge/templates/form.ts'

/** A judge of thinking: its endpoints, how it is asked (preset `thinking`), what it remembers. */
export const thinkingJudgeSchema = judgeSchema('thinking')

/**
 * Opens a judge of one form. The same question is asked once while the process runs, also without a cache folder.
 * @param model in place of the configured endpoints
 * @throws ConfigError for an endpoint, a key or a folder that cannot be used
 */
export const openThinkingJudge = (config: JudgeConfig, form: JudgeForm, model?: ChatModel): OpenJudge =>
  openJudge(config, { form, model, store: recentVerdicts(), tellsCalls: true })
