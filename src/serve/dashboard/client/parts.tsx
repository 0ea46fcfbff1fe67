/** @file Small pieces that several pages have: states, figures, headings, what stands where there is nothing. */

import type { ComponentChildren } from 'preact'
import { useEffect } from 'preact/hooks'
import { number, points } from '../../../util/format.ts'
import type { RunStatus } from '../wire.ts'
import type { Loaded } from './api.ts'

export const Status = ({ status }: { status: RunStatus }) => <span class={`status ${status}`}>{status}</span>

export const Heading = ({ title, about }: { title: string; about?: ComponentChildren }) => (
  <>
    <h2>{title}</h2>
    {about !== undefined && about !== null && <p class="about">{about}</p>}
  </>
)

/** Says that something is on its way, or why it is not. */
export const Waiting = ({ loaded, what }: { loaded: Loaded<unknown>; what: string }) =>
  loaded.error === null ? (
    <p class="empty" aria-busy="true">
      Reading {what}…
    </p>
  ) : (
    <p class="empty problem" role="alert">
      {loaded.error}
    </p>
  )

export const Empty = ({ children }: { children: ComponentChildren }) => <p class="empty">{children}</p>

export const useTitle = (title: string): void => {
  useEffect(() => {
    document.title = `${title} – Gradus`
  }, [title])
}

/** `12 min ago`. */
export const ago = (iso: string | null): string => {
  if (iso === null) return '–'
  const seconds = Math.max(0, (Date.now() - Date.parse(iso)) / 1000)
  if (seconds < 60) return 'now'
  if (seconds < 3600) return `${Math.floor(seconds / 60)} min ago`
  if (seconds < 86_400) return `${Math.floor(seconds / 3600)} h ago`
  return `${Math.floor(seconds / 86_400)} d ago`
}

/** A difference with its interval, coloured where the interval leaves zero out. */
export const Change = ({
  difference,
  interval,
  unit = 'points',
}: {
  difference: number
  interval?: readonly [number, number] | null
  unit?: 'points' | 'number'
}) => {
  const sure = interval !== undefined && interval !== null && (interval[0] > 0 || interval[1] < 0)
  const signed = (value: number) =>
    unit === 'points' ? points(value) : `${value > 0 ? '+' : ''}${number(value)}`
  return (
    <span class={`change ${sure ? (difference > 0 ? 'up' : 'down') : ''}`}>
      {signed(difference)}
      {interval && (
        <small>
          {signed(interval[0])} to {signed(interval[1])}
        </small>
      )}
    </span>
  )
}

/** Arrow keys scroll what has the focus. */
const FOCUSABLE = { tabIndex: 0 }

/** A word with what it means, for who points at it; `Meanings` says it to everybody. */
export const Explained = ({ text, children }: { text: string; children: ComponentChildren }) => (
  <span class="explained" title={text}>
    {children}
  </span>
)

/** What the words of a table mean, under it. */
export const Meanings = ({ of }: { of: Readonly<Record<string, string>> }) => (
  <details>
    <summary>What the figures mean</summary>
    <dl class="pairs meanings">
      {Object.entries(of).map(([word, text]) => (
        <>
          <dt key={word}>{word}</dt>
          <dd>{text}</dd>
        </>
      ))}
    </dl>
  </details>
)

/** A table that may be wider than the page. */
export const Scroll = ({
  children,
  class: name = 'panel scroll',
}: {
  children: ComponentChildren
  class?: string
}) => (
  <section class={name} aria-label="Table" {...FOCUSABLE}>
    {children}
  </section>
)
