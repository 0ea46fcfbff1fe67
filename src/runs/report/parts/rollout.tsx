/** @file One rollout: what was asked, what was thought and said, and every verdict on it. All of it is text, never HTML. */

import type { ComponentChildren } from 'preact'
import { joinKnown, number, plural } from '../../../util/format.ts'
import { ownValue } from '../../../util/own-value.ts'
import type { RolloutRow, RolloutStep } from '../../rows.ts'
import type { Criteria } from '../view.ts'
import { ResponseText } from './response.tsx'
import { VerdictTable } from './verdicts.tsx'

/** Marks of the states of steps that have a colour: nothing is told by colour alone. Others are grey. */
const STATUS_MARKS: Readonly<Record<string, string>> = {
  entailed: '✓',
  consistent: '≈',
  contradicted: '✗',
  unverifiable: '?',
  unparsed: '¶',
}

const StepStatus = ({ status }: { status: string }) => (
  <span class={`chip ${STATUS_MARKS[status] === undefined ? 'plain' : status}`}>
    {STATUS_MARKS[status] !== undefined && <span aria-hidden="true">{STATUS_MARKS[status]} </span>}
    {status}
  </span>
)

const ENDINGS = { length: 'truncated', failed: 'its world failed', turns: 'out of turns' }

/** Where it comes from and how it ended: `step 3`, `sample 1`, `212 tokens`, `truncated`. */
const factsOf = ({ step, problemId, role, sample, tokens, finishReason = '', advantage }: RolloutRow) => {
  const facts = [
    `step ${step}`,
    problemId,
    role !== 'policy' && role,
    sample !== undefined && `sample ${sample}`,
    tokens !== undefined && plural(tokens, 'token'),
    ownValue(ENDINGS, finishReason),
    advantage !== undefined && `advantage ${number(advantage)}`,
  ]
  return joinKnown(facts, ' · ')
}

const Steps = ({ steps }: { steps: readonly RolloutStep[] }) => (
  <ol class="plain steps">
    {steps.map((step, i) => (
      <li key={`${i}-${step.status}`}>
        <span>{step.text}</span>
        <span class="row">
          {step.flags?.map(flag => (
            <span class="flag" key={flag}>
              {flag}
            </span>
          ))}
          <StepStatus status={step.status} />
        </span>
        {step.note !== undefined && <small>{step.note}</small>}
      </li>
    ))}
  </ol>
)

const Prompt = ({ row }: { row: RolloutRow }) => (
  <>
    {row.lessons?.map((lesson, i) => (
      <div class="piece element" key={`${i}-${lesson.how}`}>
        <span class="piece-name">
          {lesson.how === 'within' ? 'Lesson of this question' : `Lesson of: ${lesson.question}`}
        </span>
        <pre>{lesson.text}</pre>
      </div>
    ))}
    <pre class="prompt">{row.prompt}</pre>
  </>
)

const proofText = ({ valid, proved }: RolloutRow): string | null => {
  if (valid === undefined) return null
  if (proved) return 'proved'
  if (!valid) return 'not proved'
  return proved === undefined ? 'whole proof valid' : 'every step valid, not proved: one leaps'
}

/** The answer beside what was expected; nothing of a rollout that has none to give. */
const Answer = ({ row }: { row: RolloutRow }) => {
  const { answer, gold, correct } = row
  if (answer === undefined && gold === undefined) return null
  const isRight = correct ?? (gold === undefined ? null : answer === gold)
  const proof = proofText(row)
  return (
    <p class="answer">
      answer{' '}
      <span class={isRight === null ? undefined : isRight ? 'right' : 'wrong'}>
        {isRight !== null && <span aria-hidden="true">{isRight ? '✓ ' : '✗ '}</span>}
        {answer || 'no answer'}
      </span>
      {gold != null && <span class="quiet"> · expected {gold}</span>}
      {proof !== null && <span class="quiet"> · {proof}</span>}
    </p>
  )
}

const Numbers = ({ row, criteria }: { row: RolloutRow; criteria: Criteria }) => (
  <div class="row">
    {Object.entries(row.parts ?? {}).map(([name, value]) => (
      <span class="part" title={ownValue(criteria, name)?.text ?? ownValue(criteria, name)?.name} key={name}>
        <b>{name}</b> {number(value)}
      </span>
    ))}
    {Object.entries(row.flags ?? {}).map(
      ([name, value]) =>
        value !== 0 && (
          <span class="flag" key={name}>
            {name}
            {value !== 1 && ` ${number(value)}`}
          </span>
        ),
    )}
  </div>
)

interface RolloutCardProps {
  row: RolloutRow
  criteria: Criteria
  /** What its number is: of an evaluation a score. */
  of?: 'reward' | 'score'
  /** How the response is shown, where that is not simply in its parts. */
  response?: ComponentChildren
}

/** Steps are verdicts too: where they stand, nothing is missing. */
const Judged = ({ row, criteria, of }: Pick<RolloutCardProps, 'row' | 'criteria' | 'of'>) => {
  const hasSteps = row.steps !== undefined && row.steps.length > 0
  const hasVerdicts = row.verdicts !== undefined && row.verdicts.length > 0
  // Of an answer of an evaluation there may be no more to say than its score.
  if (of === 'score' && !hasSteps && !hasVerdicts) return null
  return (
    <section>
      {hasSteps && (
        <>
          <h3>Steps</h3>
          <Steps steps={row.steps!} />
        </>
      )}
      {(hasVerdicts || !hasSteps) && <h3>Verdicts</h3>}
      {hasVerdicts && <VerdictTable row={row} criteria={criteria} />}
      {!hasVerdicts && !hasSteps && (
        <p class="quiet">No verdicts were recorded with it; the parts of its reward stand beside.</p>
      )}
    </section>
  )
}

export const RolloutCard = ({ row, criteria, of = 'reward', response }: RolloutCardProps) => (
  <article class="panel rollout">
    <header class="row">
      {(row.reward !== null || of === 'reward') && (
        <span class="reward">
          <small>{of}</small> {number(row.reward)}
        </span>
      )}
      <span class="quiet">{factsOf(row)}</span>
      {row.monitor !== undefined && <span class="chip warning">{row.monitor}</span>}
    </header>
    <div class="rollout-cols">
      <section>
        <h3>Prompt</h3>
        <Prompt row={row} />
        <h3>Response</h3>
        {response ?? <ResponseText row={row} />}
        <Answer row={row} />
        {row.heldOut !== undefined && <p class="quiet">held-out grader {number(row.heldOut)}</p>}
        <Numbers row={row} criteria={criteria} />
      </section>
      <Judged row={row} criteria={criteria} of={of} />
    </div>
  </article>
)
