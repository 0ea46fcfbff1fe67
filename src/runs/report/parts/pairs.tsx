/** @file Settings, nested as they may be, as names and values. */

import { Fragment } from 'preact'

/** Dotted names with what stands there; null where nothing does. */
const flatten = (value: unknown, path = ''): [string, string | null][] => {
  if (value !== null && typeof value === 'object' && !Array.isArray(value)) {
    const entries = Object.entries(value)
    if (entries.length > 0)
      return entries.flatMap(([key, item]) => flatten(item, path === '' ? key : `${path}.${key}`))
  }
  return [[path, value === null ? null : typeof value === 'string' ? value : JSON.stringify(value)]]
}

export const Pairs = ({ value }: { value: unknown }) => (
  <dl class="pairs">
    {flatten(value).map(([key, text]) => (
      <Fragment key={key}>
        <dt>{key}</dt>
        <dd class={text === null ? 'unset' : undefined}>{text ?? 'none'}</dd>
      </Fragment>
    ))}
  </dl>
)
