/** @file Small pieces that several pages have: states, metrics, headings, what stands where there is nothing. */

import type { ComponentChildren } from 'preact'
import { useEffect } from 'preact/hooks'
import type { PageChoice } from '../../../runs/report/view.ts'
import type { LiveRun, RunView } from '../wire.ts'
import type { Loaded } from './api.ts'
import { type PageAddress, setQuery } from './route.tsx'

/** What every part of a run's page is given. */
export interface RunTabProps {
  view: RunView
  place: PageAddress
  /** Changes when files of the run have grown. */
  news: LiveRun | null
}

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

interface ChoiceProps extends PageChoice {
  /** In place of a change of the address. */
  onChoose?(value: string): void
}

/** The first option is what there is where the address says nothing. */
export const Choice = ({ name, label, value, options, resets = [], onChoose }: ChoiceProps) => {
  const inAddress = (chosen: string) =>
    setQuery({ [name]: chosen, ...Object.fromEntries(resets.map(other => [other, null])) })
  const choose = onChoose ?? inAddress
  return (
    <label>
      {label}{' '}
      <select value={value} onChange={event => choose(event.currentTarget.value)}>
        {options.map(option => {
          const [own, words] = typeof option === 'string' ? [option, option] : option
          return (
            <option key={own} value={own}>
              {words}
            </option>
          )
        })}
      </select>
    </label>
  )
}

interface CheckProps {
  label: string
  checked: boolean
  onChange(checked: boolean): void
}

export const Check = ({ label, checked, onChange }: CheckProps) => (
  <label>
    <input type="checkbox" checked={checked} onChange={event => onChange(event.currentTarget.checked)} />{' '}
    {label}
  </label>
)

interface BoundProps {
  label: string
  value: string
  onInput(value: string): void
}

/** A number that may be typed. */
export const Bound = ({ label, value, onInput }: BoundProps) => (
  <label>
    {label}{' '}
    <input
      type="number"
      step="any"
      class="bound"
      value={value}
      onInput={event => onInput(event.currentTarget.value)}
    />
  </label>
)
