/** @file Pairs of answers to choose from, by clicks or keys; whoever has the token may, under any name. */

import { useEffect, useRef, useState } from 'preact/hooks'
import { ResponseText } from '../../../../runs/report/parts/response.tsx'
import type { RolloutRow } from '../../../../runs/rows.ts'
import { percent, percentInterval } from '../../../../util/format.ts'
import type { PairAnswer, PairsView } from '../../wire.ts'
import { postJson, token, useJson, useThrottled } from '../api.ts'
import { WithToken } from '../controls.tsx'
import { Empty, InputField, type RunTabProps, Waiting } from '../parts.tsx'
import { useKey } from '../route.tsx'

const CHOICES: readonly [key: string, choice: string, words: string][] = [
  ['1', 'a', 'A is better'],
  ['2', 'b', 'B is better'],
  ['3', 'alike', 'Alike'],
  ['4', 'unsure', 'Cannot say'],
]

const NAME = 'gradus-name'

const Answer = ({ name, answer }: { name: string; answer: PairAnswer }) => (
  <article class="panel rollout" aria-label={`Answer ${name}`}>
    <h3>{name}</h3>
    <ResponseText row={answer as RolloutRow} />
  </article>
)

const SoFar = ({ view: { pairs, labelled, decided, agreement, people, file } }: { view: PairsView }) => (
  <section class="stack">
    <p aria-live="polite">
      {labelled} labelled, of {pairs} pairs.{' '}
      {agreement !== null &&
        `The rubric orders ${percent(agreement.estimate)} of the ${decided} decided ones as people do (95%: ${percentInterval([agreement.low, agreement.high])}); they are those that it is least sure of.`}
    </p>
    {people.length > 0 && (
      <p class="quiet">{people.map(({ who, labels }) => `${who || 'no name'}: ${labels}`).join(' · ')}</p>
    )}
    {labelled > 0 && (
      <p class="quiet">
        To learn from them: <code>gradus rubric refine rubric.yaml --preferences {file}</code>
      </p>
    )}
  </section>
)

/** Choices one after the other: while one is on its way, and until a new pair is there, nothing else is taken. */
const usePairs = (id: string) => {
  const [who, setWho] = useState(localStorage.getItem(NAME) ?? '')
  const [view, setView] = useState<PairsView | null>(null)
  const [error, setError] = useState<string | null>(null)
  const busy = useRef(false)
  const [posted, setPosted] = useState(0)
  const path = `/api/runs/${encodeURIComponent(id)}/pairs`
  const query = new URLSearchParams({ who: useThrottled(who, 500), back: view?.pair?.id ?? '' })
  // What was asked for before a choice must not take its place when it comes later.
  const loaded = useJson<PairsView>(`${path}?${query}`, posted)
  useEffect(() => setView(loaded.value), [loaded.value])
  const post = (body: object) => {
    if (busy.current) return
    busy.current = true
    postJson<PairsView>(path, { who, ...body })
      .then(next => {
        setView(next)
        setError(null)
        scrollTo(0, 0)
      })
      .catch((failure: Error) => setError(failure.message))
      .finally(() => {
        busy.current = false
        setPosted(count => count + 1)
      })
  }
  const named = (name: string) => {
    localStorage.setItem(NAME, name)
    setWho(name)
  }
  return { view, error, loaded, who, named, post }
}

export const PairsTab = ({ view: { run } }: RunTabProps) => {
  const { view, error, loaded, who, named, post } = usePairs(run.id)
  const pair = view?.pair ?? null
  const choose = (choice: string) => pair !== null && post({ pair: pair.id, choice })
  const undo = () => typeof view?.last === 'string' && post({ undo: view.last })
  useKey((key, held) => {
    const chosen = CHOICES.find(([own]) => own === key)
    if (held || token() === null || (chosen === undefined && key !== 'u')) return false
    if (chosen === undefined) undo()
    else choose(chosen[1])
    return true
  })
  if (view === null) return <Waiting loaded={loaded} what="the pairs" />
  return (
    <>
      <div class="row tools">
        <InputField label="Your name" autocomplete="name" maxLength={80} value={who} onInput={named} />
        <WithToken>
          {[...CHOICES, ['u', '', 'Undo'] as const].map(([key, choice, words]) => (
            <button
              type="button"
              key={key}
              aria-keyshortcuts={key}
              disabled={choice === '' ? view.last === null : pair === null}
              onClick={() => (choice === '' ? undo() : choose(choice))}
            >
              {words} <kbd>{key}</kbd>
            </button>
          ))}
        </WithToken>
      </div>
      {error !== null && (
        <p class="problem" role="alert">
          {error}
        </p>
      )}
      {pair === null ? (
        <Empty>
          {view.pairs === 0
            ? 'No two answers to the same prompt have been kept, with verdicts on criteria whose points are known.'
            : 'Every informative pair is labelled.'}
        </Empty>
      ) : (
        <>
          <h2>Which answer is better?</h2>
          <pre class="prompt">{pair.prompt}</pre>
          <div class="stack beside">
            <Answer name="A" answer={pair.a} />
            <Answer name="B" answer={pair.b} />
          </div>
        </>
      )}
      <SoFar view={view} />
    </>
  )
}
