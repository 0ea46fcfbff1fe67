/** @file One rollout: what was asked, what was thought and said, and every verdict on it. All of it is text, never HTML. */

import { useState } from 'preact/hooks'
import { callOf, callTotals, callWords, judgeName } from '../../../runs/report/judge-words.ts'
import { answerWords, rolloutFacts, STATUS_MARKS, verdictWord } from '../../../runs/report/rollout-words.ts'
import type { RolloutRow, RolloutStep, RolloutVerdict } from '../../../runs/rows.ts'
import { number } from '../../../util/format.ts'
import { type Segment, segmentsOf } from './segments.ts'
import { type TokenColour, TokenColours, Tokens } from './tokens.tsx'

const TITLES: Record<Segment['kind'], string> = {
  thinking: 'Thinking',
  call: 'Tool call',
  output: 'Tool output',
  element: '',
  text: '',
}

const Piece = ({ segment }: { segment: Segment }) => {
  const { kind, tag, text, open } = segment
  if (kind === 'text') return <pre class="piece text">{text}</pre>
  return (
    <div class={`piece ${kind}`}>
      <span class="piece-name">
        {TITLES[kind] || tag.replaceAll('_', ' ')}
        {open && ' (cut off)'}
      </span>
      <pre>{text}</pre>
    </div>
  )
}

const Pieces = ({ text }: { text: string }) => {
  const segments = segmentsOf(text)
  const told = segments.some(({ kind }) => kind === 'thinking')
  return (
    <>
      {segments.map((segment, i) => (
        <>
          {told && segment.kind === 'text' && segments[i - 1]?.kind === 'thinking' && (
            <span class="piece-name">Response</span>
          )}
          <Piece key={`${i}-${segment.tag}`} segment={segment} />
        </>
      ))}
    </>
  )
}

/** What the policy wrote, and what an environment answered where there were several turns. */
const Said = ({ row }: { row: RolloutRow }) =>
  row.turns === undefined ? (
    <Pieces text={row.response} />
  ) : (
    <div>
      {row.turns.map((turn, i) => (
        <div class={`turn ${turn.by}`} key={`${i}-${turn.by}`}>
          <span class="quiet">{turn.by === 'policy' ? `Turn ${1 + Math.floor(i / 2)}` : 'Environment'}</span>
          <Pieces text={turn.text} />
        </div>
      ))}
    </div>
  )

/** The response, in its parts or with its tokens coloured. */
const Response = ({ row }: { row: RolloutRow }) => {
  const [colour, setColour] = useState<TokenColour | null>(null)
  if (row.perToken === undefined) return <Said row={row} />
  return (
    <>
      <TokenColours chosen={colour} choose={setColour} />
      {colour === null ? (
        <Said row={row} />
      ) : (
        <Tokens text={row.response} values={row.perToken} colour={colour} />
      )}
    </>
  )
}

/** With a mark: nothing is told by colour alone. */
const StepStatus = ({ status }: { status: string }) => (
  <span class={`chip ${STATUS_MARKS[status] === undefined ? 'plain' : status}`}>
    {STATUS_MARKS[status] !== undefined && <span aria-hidden="true">{STATUS_MARKS[status]} </span>}
    {status}
  </span>
)

const Steps = ({ steps }: { steps: readonly RolloutStep[] }) => (
  <ol class="steps">
    {steps.map((step, i) => (
      <li key={`${i}-${step.status}`}>
        <span class="step-text">{step.text}</span>
        <span class="step-verdict">
          <StepStatus status={step.status} />
          {step.flags?.map(flag => (
            <span class="flag" key={flag}>
              {flag}
            </span>
          ))}
        </span>
        {step.note !== undefined && <small class="step-note">{step.note}</small>}
      </li>
    ))}
  </ol>
)

const lookOf = ({ met }: RolloutVerdict): string => (met === null ? 'none' : met ? 'met' : 'unmet')

/** Who gave it, whether they had to be asked, what that took, and their very words. */
const Judge = ({ verdict, row }: { verdict: RolloutVerdict; row: RolloutRow }) => {
  const call = callOf(verdict, row)
  const words = call === null ? '' : callWords(call)
  return (
    <>
      {judgeName(verdict, row) ?? '–'}
      {words !== '' && <small>{words}</small>}
      {call?.raw !== undefined && (
        <details class="raw">
          <summary>Raw answer</summary>
          <pre>{call.raw}</pre>
        </details>
      )}
    </>
  )
}

interface VerdictsProps {
  row: RolloutRow
  verdicts: readonly RolloutVerdict[]
  names: Record<string, string>
}

const Verdicts = ({ row, verdicts, names }: VerdictsProps) => (
  <table class="verdict-table">
    <thead>
      <tr>
        <th scope="col">Criterion</th>
        <th scope="col">Verdict</th>
        <th scope="col" class="num">
          Credit
        </th>
        <th scope="col">Judge</th>
        <th scope="col">Reason</th>
      </tr>
    </thead>
    <tbody>
      {verdicts.map((verdict, i) => {
        return (
          <tr key={`${i}-${verdict.criterionId}`}>
            <th scope="row">
              {verdict.criterionId}
              {names[verdict.criterionId] !== undefined && <small>{names[verdict.criterionId]}</small>}
            </th>
            <td>
              <span class={`verdict ${lookOf(verdict)}`}>{verdictWord(verdict, row)}</span>
              {verdict.leftOut && <small>not counted in this step</small>}
            </td>
            <td class="num">{verdict.credit === undefined ? '' : number(verdict.credit)}</td>
            <td class="judge">
              <Judge verdict={verdict} row={row} />
            </td>
            <td class="reason">{verdict.explanation ?? ''}</td>
          </tr>
        )
      })}
    </tbody>
  </table>
)

const Numbers = ({ row }: { row: RolloutRow }) => {
  const flags = Object.entries(row.flags ?? {}).filter(([, value]) => value > 0)
  return (
    <div class="parts">
      {Object.entries(row.parts ?? {}).map(([name, value]) => (
        <span class="part" key={name}>
          <b>{name}</b> {number(value)}
        </span>
      ))}
      {flags.map(([name, value]) => (
        <span class="flag" key={name}>
          {name}
          {value !== 1 && ` ${number(value)}`}
        </span>
      ))}
    </div>
  )
}

const Answer = ({ row }: { row: RolloutRow }) => {
  const words = answerWords(row)
  if (words === null) return null
  const { text, right, gold, proof } = words
  return (
    <p class="answer">
      answer{' '}
      <span class={right === null ? '' : right ? 'right' : 'wrong'}>
        {right !== null && <span aria-hidden="true">{right ? '✓ ' : '✗ '}</span>}
        {text}
      </span>
      {gold !== null && <span class="quiet"> · expected {gold}</span>}
      {proof !== null && <span class="quiet"> · {proof}</span>}
    </p>
  )
}

export const Rollout = ({ row, names }: { row: RolloutRow; names: Record<string, string> }) => (
  <article class="panel rollout">
    <header>
      <span class="reward">{number(row.reward)}</span>
      <span class="quiet">{rolloutFacts(row).join(' · ')}</span>
      {row.monitor !== undefined && <span class="chip warning">{row.monitor}</span>}
    </header>
    <div class="rollout-cols">
      <section>
        <h3>Prompt</h3>
        {row.lessons?.map((lesson, i) => (
          <div class="piece element" key={`${i}-${lesson.how}`}>
            <span class="piece-name">
              {lesson.how === 'within' ? 'Lesson of this question' : `Lesson of: ${lesson.question}`}
            </span>
            <pre>{lesson.text}</pre>
          </div>
        ))}
        <pre class="prompt">{row.prompt}</pre>
        <h3>Response</h3>
        <Response row={row} />
        <Answer row={row} />
        {row.heldOut !== undefined && <p class="quiet">held-out grader {number(row.heldOut)}</p>}
        <Numbers row={row} />
      </section>
      <section>
        {row.steps !== undefined && row.steps.length > 0 && (
          <>
            <h3>Steps</h3>
            <Steps steps={row.steps} />
          </>
        )}
        <h3>Verdicts</h3>
        {row.verdicts === undefined || row.verdicts.length === 0 ? (
          <p class="quiet">No verdicts were recorded with it; the parts of its reward stand beside.</p>
        ) : (
          <>
            <div class="verdicts-place">
              <Verdicts row={row} verdicts={row.verdicts} names={names} />
            </div>
            {row.judgeCalls !== undefined && <p class="quiet asked">{callTotals(row.judgeCalls)}</p>}
          </>
        )}
      </section>
    </div>
  </article>
)
