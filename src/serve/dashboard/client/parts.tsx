/** @file Small pieces that several pages have: fields, and what stands where there is nothing. */

import type { ComponentChildren } from 'preact'
import { useEffect, useRef } from 'preact/hooks'
import type { PageChoice } from '../../../runs/report/view.ts'
import type { LiveRun, RunView } from '../wire.ts'
import type { Loaded } from './api.ts'
import { type PageAddress, setQuery, useKey } from './route.tsx'

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
  /** What it is in the address, and what it says there. */
  name: string
  on?: string
  label: string
  query: URLSearchParams
}

export const Check = ({ name, label, on = '1', query }: CheckProps) => (
  <label>
    <input
      type="checkbox"
      checked={query.get(name) === on}
      onChange={event => setQuery({ [name]: event.currentTarget.checked ? on : null })}
    />{' '}
    {label}
  </label>
)

interface FieldProps {
  label: string
  value: string
  onInput(value: string): void
  type?: 'number' | 'password'
  step?: 'any'
  class?: string
  autocomplete?: string
  maxLength?: number
}

/** (Preact's types would have each kind of field by itself.) */
export const InputField = ({ label, onInput, ...own }: FieldProps) => (
  <label>
    {label} <input {...(own as object)} onInput={event => onInput(event.currentTarget.value)} />
  </label>
)

/** A number that may be typed. */
export const Bound = (field: FieldProps) => <InputField type="number" step="any" class="bound" {...field} />

interface SearchProps {
  label: string
  placeholder: string
  value: string
  onInput(value: string): void
}

/** `/` leads to it, from wherever the page has the keyboard. */
export const Search = ({ label, placeholder, value, onInput }: SearchProps) => {
  const field = useRef<HTMLInputElement>(null)
  useKey(key => {
    if (key === '/') field.current?.focus()
    return key === '/'
  })
  return (
    <input
      ref={field}
      type="search"
      aria-label={label}
      {...{ placeholder, value }}
      onInput={event => onInput(event.currentTarget.value)}
    />
  )
}
