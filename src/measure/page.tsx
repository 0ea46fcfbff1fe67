/** @file Answers for reading, those of two models side by side, as one HTML file: to be filtered by won and lost without a script. */

import { part, plainPage } from '../runs/report/page.ts'
import { PageHead, Section } from '../runs/report/parts/page.tsx'
import { ResponseText } from '../runs/report/parts/response.tsx'
import { TextTable } from '../runs/report/parts/table.tsx'
import { VerdictTable } from '../runs/report/parts/verdicts.tsx'
import type { RolloutRow } from '../runs/rows.ts'
import { joinKnown, number, percent, plural } from '../util/format.ts'
import type { PairedMetric } from './compare.ts'
import type { GradedAnswer, Measured, MeasuredItem } from './metrics.ts'
import type { MeasuredProblem } from './task.ts'
import type { MetricTable } from './words.ts'

const STYLE = `
.answers > input { position: absolute; opacity: 0; } .answers > label { display: inline-block; margin: 14px 6px 0 0; padding: 4px 14px; border: 1px solid var(--line); border-radius: 99px; cursor: pointer; font-size: 13.5px; }
.answers > input:checked + label { background: var(--ink); color: var(--bg); } .answers > input:focus-visible + label { outline: 2px solid var(--c1); outline-offset: 2px; }
#show-won:checked ~ .answer:not(.won), #show-lost:checked ~ .answer:not(.lost), #show-tied:checked ~ .answer:not(.tied) { display: none; }
.answer { margin-top: 16px; } .answer > .prompt { max-height: 18em; overflow: auto; } .answer > header { display: flex; gap: 12px; flex-wrap: wrap; align-items: baseline; }
.sides { display: grid; grid-template-columns: repeat(auto-fit, minmax(min(100%, 400px), 1fr)); gap: 24px; margin-top: 14px; } .sides > section { min-width: 0; }
.sides pre { max-height: 26em; overflow: auto; } .sides details { margin-top: 12px; } .metrics .num { white-space: nowrap; }`

const rowOf = ({ text, verdicts }: GradedAnswer, { id: problemId, rubric }: MeasuredProblem): RolloutRow => ({
  ...{ step: 0, problemId, prompt: '', response: text, reward: null },
  verdicts: verdicts.map(({ criterionId, met, credit, explanation, source }) => {
    // Graders may say more than the rubric asks.
    const { text: says = criterionId, points = 1 } =
      rubric.criteria.find(({ id }) => id === criterionId) ?? {}
    return { criterionId, text: says, points, met, source, credit, explanation }
  }),
})

const factsOf = ({ graded: [{ answer }, ...others], values }: MeasuredItem, primary: string): string => {
  const facts = [
    `score ${number(values[primary]?.value)}`,
    answer.tokens !== undefined && plural(answer.tokens, 'token'),
    answer.finishReason === 'length' && 'cut off',
    others.length > 0 && `the first of ${others.length + 1} answers; the score is their mean`,
  ]
  return joinKnown(facts, ' · ')
}

interface AnsweredProps {
  model: string
  item: MeasuredItem | undefined
  problem: MeasuredProblem
  primary: string
}

const Answered = ({ model, item, problem, primary }: AnsweredProps) => {
  const [first] = item?.graded ?? []
  const row = first && rowOf(first, problem)
  return (
    <section>
      <h4>{model}</h4>
      <p class="quiet">{item && row ? factsOf(item, primary) : 'no answer'}</p>
      {row && <ResponseText row={row} />}
      {row && (
        <details>
          <summary>{plural(row.verdicts!.length, 'verdict')}</summary>
          <VerdictTable row={row} criteria={{}} />
        </details>
      )}
    </section>
  )
}

const outcomeOf = (own: number | null | undefined, other: number | null | undefined): string => {
  if (own == null || other == null) return ''
  return own > other ? 'won' : own < other ? 'lost' : 'tied'
}

const Filters = ({ paired: { won, lost, tied }, all }: { paired: PairedMetric; all: number }) => (
  <>
    {Object.entries({ all, won, lost, tied }).map(([name, count]) => (
      <>
        <input type="radio" name="show" id={`show-${name}`} checked={name === 'all'} />
        <label for={`show-${name}`}>
          {name} {count}
        </label>
      </>
    ))}
  </>
)

export interface AnswerPage {
  title: string
  /** What was asked how, a fact a line. */
  facts: readonly string[]
  table: MetricTable
  problems: readonly MeasuredProblem[]
  /** Name of the score that decides who has won. */
  primary: string
  a: Measured
  b: Measured | null
  /** Of the primary score; null without a second model. */
  paired: PairedMetric | null
}

const promptOf = ({ messages }: MeasuredProblem): string =>
  messages.map(({ role, content }) => (messages.length === 1 ? content : `${role}: ${content}`)).join('\n\n')

interface ArticleProps extends Pick<AnswerPage, 'primary' | 'a' | 'b'> {
  problem: MeasuredProblem
  own: MeasuredItem | undefined
  other: MeasuredItem | undefined
}

const Article = ({ problem, own, other, primary, a, b }: ArticleProps) => {
  const [from, to] = [other?.values[primary]?.value, own?.values[primary]?.value]
  const outcome = b === null ? '' : outcomeOf(to, from)
  return (
    <article class={`panel answer ${outcome}`}>
      <header>
        <h3>{problem.id}</h3>
        <span class="quiet">
          {outcome}
          {b !== null && ` ${percent(to)} against ${percent(from)}`}
        </span>
      </header>
      <pre class="prompt">{promptOf(problem)}</pre>
      <div class="sides">
        <Answered model={a.model} item={own} {...{ problem, primary }} />
        {b && <Answered model={b.model} item={other} {...{ problem, primary }} />}
      </div>
    </article>
  )
}

const Answers = ({ problems, primary, a, b, paired }: AnswerPage) => {
  const itemsOf = (measured: Measured | null) => new Map(measured?.items.map(item => [item.id, item]))
  const [own, other] = [itemsOf(a), itemsOf(b)]
  const answered = problems.filter(({ id }) => own.has(id) || other.has(id))
  return (
    <div class="answers">
      {paired && <Filters paired={paired} all={answered.length} />}
      {answered.map(problem => (
        <Article
          {...{ problem, primary, a, b, own: own.get(problem.id), other: other.get(problem.id) }}
          key={problem.id}
        />
      ))}
    </div>
  )
}

const Page = (page: AnswerPage) => (
  <main>
    <PageHead title={page.title} facts={page.facts.map(fact => ['', fact])} />
    <Section title="Metrics" about="Means over problems with 95% intervals over problems.">
      <TextTable table={page.table} />
    </Section>
    <Section title="Answers">
      <Answers {...page} />
    </Section>
  </main>
)

/** The page. All that models and rows say is text in it, never HTML. */
export const answerPage = (page: AnswerPage): string =>
  plainPage(`${page.title} – Gradus`, part(Page, page), STYLE)
