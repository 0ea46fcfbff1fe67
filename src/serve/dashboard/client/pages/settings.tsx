/** @file The configuration of a run as it was resolved, and where it ran. */

import { Heading } from '../parts.tsx'
import type { RunTabProps } from '../tab.ts'

const flatten = (value: unknown, path = ''): [string, string | null][] => {
  if (value !== null && typeof value === 'object' && !Array.isArray(value)) {
    const entries = Object.entries(value)
    if (entries.length > 0)
      return entries.flatMap(([key, item]) => flatten(item, path === '' ? key : `${path}.${key}`))
  }
  return [[path, value === null ? null : typeof value === 'string' ? value : JSON.stringify(value)]]
}

const Pairs = ({ value }: { value: unknown }) => (
  <dl class="pairs">
    {flatten(value).map(([key, text]) => (
      <>
        <dt>{key}</dt>
        <dd class={text === null ? 'unset' : ''}>{text ?? 'none'}</dd>
      </>
    ))}
  </dl>
)

export const SettingsTab = ({ view }: RunTabProps) => (
  <section>
    <Heading title="Configuration as resolved" />
    <div class="panel">
      <Pairs value={view.config} />
    </div>
    <Heading title="Environment" />
    <div class="panel">
      <Pairs value={{ gradus: view.version, ...view.environment }} />
    </div>
  </section>
)
