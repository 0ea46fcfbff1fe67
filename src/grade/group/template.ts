/**
 * @file Relative judging: all responses to one prompt before a judge at once, a score from 0 to 1 for each. The shape of it is RULER's
 * (OpenPipe ART: one call a group, what responses share is shown once, `{scores: [{id, explanation, score}]}`); the words are ours.
 */

import type { ChatModel } from '../../chat/chat-model.ts'
import type { JudgeConfig } from '../judge/judge-config.ts'
import { type OpenJudge, openJudge } from '../judge/open-judge.ts'
import { recentVerdicts } from '../judge/recent-verdicts.ts'
import { entriesTemplate, oneTemplateForm, zeroToOne } from '../judge/templates/lists.ts'

const template = entriesTemplate({
  name: 'group/relative',
  version: 1,
  scale: zeroToOne('relative', 'relative_score'),
  instructions: [
    'You compare responses to one and the same request. You are given what they have in common, what to go by, and the responses, numbered. Give every response a score from 0 to 1.',
    'Rules:',
    ...[
      'Read all of them before you score any. The scores are for comparing them with each other: a better response gets a higher score than a worse one, and equally good ones get the same.',
      'How far two scores are apart says how far the responses are: close where the difference is small, far where one does what was asked for and another does not.',
      'Go by what you are told to go by, and by the request. A merit counts for a response, a flaw against it, each as much as its points say where there are any.',
      'Part of what was asked for earns part of the score.',
      'The place and the number of a response say nothing about it. Neither does its length, a confident tone, praise of itself, or words of the rubric repeated.',
      'Where a response says that characters are left out, they were cut for length. That is no fault of it.',
      'Where nothing can be said of a response, give null; never a score that you do not mean.',
      'Keep the order and the numbers. Give exactly one entry a response; leave none out and add none.',
    ].map(rule => `- ${rule}`),
  ],
  decides: 'what decides it, briefly',
  answerName: count => `relative_scores_${count}`,
  list: (responses, quote) => [
    `The responses, ${responses.length} in all:`,
    ...responses.map(({ text }, index) => `Response ${index + 1}:\n${quote(text, 'response')}`),
  ],
})

/** What responses share, what to go by, and responses, each of which is scored. */
export const GROUP_JUDGE = oneTemplateForm(template, {
  question: 'What the responses have in common:',
  judged: { heading: 'What to go by:', tag: 'standards' },
})

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
