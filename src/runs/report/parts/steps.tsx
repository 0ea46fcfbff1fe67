/** @file Steps of reasoning, each with the verdict on it. */

import type { RolloutStep } from '../../rows.ts'
import { STATUS_MARKS } from '../rollout-words.ts'

/** With a mark: nothing is told by colour alone. A status without a colour of its own is grey. */
const StepStatus = ({ status }: { status: string }) => (
  <span class={`chip ${STATUS_MARKS[status] === undefined ? 'plain' : status}`}>
    {STATUS_MARKS[status] !== undefined && <span aria-hidden="true">{STATUS_MARKS[status]} </span>}
    {status}
  </span>
)

export const Steps = ({ steps }: { steps: readonly RolloutStep[] }) => (
  <ol class="steps">
    {steps.map((step, i) => (
      <li key={`${i}-${step.status}`}>
        <span class="step-text">{step.text}</span>
        <span class="step-verdict">
          {step.flags?.map(flag => (
            <span class="flag" key={flag}>
              {flag}
            </span>
          ))}
          <StepStatus status={step.status} />
        </span>
        {step.note !== undefined && <small class="step-note">{step.note}</small>}
      </li>
    ))}
  </ol>
)
