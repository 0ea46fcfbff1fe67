/** @file A judge by rule, and settings of a run on few conversations. */

import { scriptedModel } from '../../chat/scripted-model.ts'

/** A judge whose verdicts depend on the text that it is shown. An unsteady one cannot be read every tenth call. */
export const tinyJudge = (steady = false) =>
  scriptedModel(({ messages }, call) => {
    if (!steady && call % 10 === 9) return 'no idea'
    const text = messages.map(({ content }) => content).join('')
    return JSON.stringify({ explanation: 'by rule', criteria_met: text.length % 2 === 0 })
  })

/** Settings of a run on them, as a configuration file has them. */
export const tinyConversations = (folder: string, file: string, more: Record<string, unknown> = {}) => ({
  model: { folder },
  task: { kind: 'conversations', file, holdOut: 2 },
  judge: {
    fleet: { endpoints: [{ url: 'http://127.0.0.1:9', model: 'nobody', sendTopK: true }] },
    ask: { retries: 0 },
  },
  steps: 3,
  policy: { threads: 1 },
  rollout: { prompts: 2, samples: 3, maxTokens: 12 },
  optimizer: { learningRate: { kind: 'constant', peak: 1e-3 } },
  evaluation: { problems: 2 },
  scaffold: { decay: { kind: 'linear' } },
  ...more,
})
