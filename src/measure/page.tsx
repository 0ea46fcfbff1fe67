/** @file Answers for reading, those of two models side by side, as one HTML file: to be filtered by won and lost without a script. */

import type { Rubric } from '../rubric/criterion.ts'
import { type Html, html, part } from '../runs/report/html.ts'
import { heading, plainPage } from '../runs/report/page.ts'
import { ResponseText } from '../runs/report/parts/response.tsx'
import { VerdictTable } from '../runs/report/parts/verdicts.tsx'
import type { RolloutRow } from '../runs/rows.ts'
import { number, percent, plural } from '../util/format.ts'
import type { PairedFigure } from './compare.ts'
import type { GradedAnswer, Measured, MeasuredItem } from './figures.ts'
import type { MeasuredProblem } from './task.ts'
import type { FigureTable } from './words.ts'

const STYLE = `
.answers > input { position: absolute; opacity: 0; } .answers > label { display: inline-block; margin: 14px 6px 0 0; padding: 4px 14px; border: 1px solid var(--line); border-radius: 99px; cursor: pointer; font-size: 13.5px; }
.answers > input:checked + label { background: var(--ink); color: var(--bg); } .answers > input:focus-visible + label { outline: 2px solid var(--c1); outline-offset: 2px; }
#show-won:checked ~ .answer:not(.won), #show-lost:checked ~ .answer:not(.lost), #show-tied:checked ~ .answer:not(.tied) { display: none; }
.answer { margin-top: 16px; } .answer > .prompt { max-height: 18em; overflow: auto; } .answer > header { display: flex; gap: 12px; flex-wrap: wrap; align-items: baseline; }
.sides { display: grid; grid-template-columns: repeat(auto-fit, minmax(min(100%, 400px), 1fr)); gap: 24px; margin-top: 14px; } .sides > section { min-width: 0; }
.sides pre { max-height: 26em; overflow: auto; } .sides details { margin-top: 12px; } .figures .num { white-space: nowrap; }`

interface Side {
  measured: Measured
  /** Name of the primary score. */
  primary: string
}

/** Graders may say more than the rubric asks. */
const wordsOf = ({ criteria }: Rubric, id: string) => {
  const { text = id, points = 1 } = criteria.find(own => own.id === id) ?? {}
  return { text, points }
}

const rowOf = ({ answer, text, verdicts }: GradedAnswer, { id, rubric }: MeasuredProblem): RolloutRow => ({
  step: 0,
  problemId: id,
  prompt: '',
  response: text,
  reward: null,
  verdicts: verdicts.map(({ criterionId, met, credit, explanation, source }) => ({
    criterionId,
    ...wordsOf(rubric, criterionId),
    met,
    source,
    ...(credit !== undefined && { credit }),
    ...(explanation !== undefined && { explanation }),
  })),
  ...(answer.tokens !== undefined && { tokens: answer.tokens }),
})

const Verdict = ({ row }: { row: RolloutRow }) => (
  <details>
    <summary>{plural(row.verdicts!.length, 'verdict')}</summary>
    <VerdictTable row={row} criteria={{}} />
  </details>
)

const facts = ({ answer }: GradedAnswer, score: number | null, count: number): string =>
  [
    `score ${number(score)}`,
    ...(answer.tokens === undefined ? [] : [plural(answer.tokens, 'token')]),
    ...(answer.finishReason === 'length' ? ['cut off'] : []),
    ...(count > 1 ? [`the first of ${count} answers; the score is their mean`] : []),
  ].join(' · ')

const side = (
  item: MeasuredItem | undefined,
  problem: MeasuredProblem,
  { measured, primary }: Side,
): Html => {
  const first = item?.graded[0]
  if (item === undefined || first === undefined)
    return html`<section><h4>${measured.model}</h4><p class="quiet">no answer</p></section>`
  const row = rowOf(first, problem)
  return html`<section><h4>${measured.model}</h4><p class="quiet">${facts(first, item.values[primary]?.value ?? null, item.graded.length)}</p>${part(ResponseText, { row })}${part(Verdict, { row })}</section>`
}

type Outcome = 'won' | 'lost' | 'tied' | ''

const outcomeOf = (own: number | null | undefined, other: number | null | undefined): Outcome => {
  if (own == null || other == null) return ''
  return own > other ? 'won' : own < other ? 'lost' : 'tied'
}

const filters = ({ won, lost, tied }: PairedFigure, all: number): Html[] =>
  Object.entries({ all, won, lost, tied }).map(
    ([name, count]) =>
      html`<input type="radio" name="show" id="show-${name}" ${name === 'all' && html`checked`}><label for="show-${name}">${name} ${count}</label>`,
  )

const tableOf = ({ head, rows }: FigureTable): Html =>
  html`<div class="panel figures"><div class="scroll"><table><thead><tr>${head.map((name, i) => html`<th class="${i > 0 && 'num'}">${name}</th>`)}</tr></thead><tbody>${rows.map(
    ([name, ...cells]) =>
      html`<tr><th scope="row">${name}</th>${cells.map(cell => html`<td class="num">${cell}</td>`)}</tr>`,
  )}</tbody></table></div></div>`

export interface AnswerPage {
  title: string
  /** What was asked how, a fact a line. */
  facts: readonly string[]
  table: FigureTable
  problems: readonly MeasuredProblem[]
  /** Name of the score that decides who has won. */
  primary: string
  a: Measured
  b: Measured | null
  /** Of the primary score; null without a second model. */
  paired: PairedFigure | null
}

/** The page. All that models and rows say is text in it, never HTML. */
export const answerPage = ({
  title,
  facts: lines,
  table,
  problems,
  primary,
  a,
  b,
  paired,
}: AnswerPage): string => {
  const itemsOf = (measured: Measured | null) => new Map(measured?.items.map(item => [item.id, item]))
  const [own, other] = [itemsOf(a), itemsOf(b)]
  const answered = problems.filter(({ id }) => own.has(id) || other.has(id))
  const articles = answered.map(problem => {
    const [x, y] = [own.get(problem.id), other.get(problem.id)]
    const [from, to] = [y?.values[primary]?.value, x?.values[primary]?.value]
    const outcome = b === null ? '' : outcomeOf(to, from)
    const prompt = problem.messages
      .map(({ role, content }) => (problem.messages.length === 1 ? content : `${role}: ${content}`))
      .join('\n\n')
    return html`<article class="panel answer ${outcome}"><header><h3>${problem.id}</h3><span class="quiet">${outcome}${b !== null && ` ${percent(to)} against ${percent(from)}`}</span></header><pre class="prompt">${prompt}</pre><div class="sides">${side(x, problem, { measured: a, primary })}${b && side(y, problem, { measured: b, primary })}</div></article>`
  })
  const body = html`<main><header><div class="top"><h1>${title}</h1></div><div class="facts">${lines.map(line => html`<span>${line}</span>`)}</div></header>
<section>${heading('Figures', 'Means over problems with 95% intervals over problems.')}${tableOf(table)}</section>
<section>${heading('Answers')}<div class="answers">${paired && filters(paired, answered.length)}${articles}</div></section></main>`
  return plainPage(`${title} – Gradus`, body, STYLE)
}
