/** @file Who a judge is, as far as it decides what a run computes: not where it runs. */

import type { JudgeConfig } from '../../grade/judge/judge-config.ts'

/** How it is asked, and which models answer. Judges that agree in this may go on with each other's runs. */
export const judgeIdentity = ({ ask, fleet: { endpoints } }: JudgeConfig) => {
  const bodies = endpoints.map(({ extraBody }) => extraBody)
  return {
    ask,
    models: endpoints.map(({ model }) => model),
    // Absent where there are none, as in runs from before it was part of the hash.
    ...(bodies.some(body => Object.keys(body).length > 0) && { bodies }),
  }
}
