import { readdirSync, readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import { settingsPages } from '../scripts/settings/pages.js'
import { RECIPES } from '../src/recipes/index.ts'
import { schemaKeys } from '../src/util/schema-keys.ts'

const folder = new URL('../docs/settings/', import.meta.url)
const pages = settingsPages(RECIPES, schemaKeys)
const rowsIn = (text: string) => text.split('\n').filter(line => line.startsWith('| `'))

/** A page, its rows that say what keys are, and those that say what is another default here. */
const parts = (name: string) => {
  const [said, differences = ''] = pages.get(name)!.split('## Where it differs')
  return { said: rowsIn(said), differences: rowsIn(differences) }
}
const inTable = (text: string) =>
  text.replaceAll('|', '\\|').replace(/(`[^`]*`)|</g, (_, code) => code ?? '&lt;')
const defaultOf = (value: unknown, required: boolean) => {
  if (value === undefined) return required ? 'required' : ''
  if (value === '') return ''
  return `\`${inTable(typeof value === 'string' && value !== 'required' ? value : JSON.stringify(value))}\``
}

describe('pages of settings', () => {
  it('are as the schemas have it', () => {
    const kept = readdirSync(folder, { recursive: true, encoding: 'utf8' })
      .filter(name => name.endsWith('.md'))
      .map(name => name.replaceAll('\\', '/').slice(0, -3))
    expect(kept.toSorted(), 'npm run build && npm run settings-docs').toEqual([...pages.keys()].toSorted())
    for (const [name, text] of pages)
      expect(readFileSync(new URL(`${name}.md`, folder), 'utf8'), `${name}: npm run settings-docs`).toBe(text)
  })

  const shared = [...pages.keys()].filter(name => name.includes('/'))
  const linked = (name: string) =>
    [...pages.keys()].filter(page => pages.get(name)!.includes(`](${page}.md)`))

  it.each(Object.keys(RECIPES))('%s: every key is one row, on its page or one that it links to', name => {
    const own = parts(name)
    const rows = [own, ...linked(name).map(parts)].flatMap(({ said }) => said)
    const keys = schemaKeys(RECIPES[name].schema)
    const wrong = keys.flatMap(({ path, about, unit, required, default: value }) => {
      const here = rows.filter(row => row.includes(`\`${path}\``) && row.includes(inTable(about)))
      const fitting = here.filter(row => unit === null || row.includes(`(${unit})`))
      const found = defaultOf(value, required)
      const isLogged =
        own.differences.some(row => row.startsWith(`| \`${path}\` `) && row.endsWith(`| ${found} |`)) ||
        fitting.some(row => {
          // Behind another section's name of the same shape its own type or default stands in brackets.
          const [, bracket] = row.split(`\`${path}\` (`)
          const isFirst = row.startsWith(`| \`${path}\` |`)
          if (isFirst || bracket === undefined) return row.includes(`| ${found} |`)
          return bracket.includes(`${found || 'no default'})`) || row.includes(`| ${found} |`)
        })
      // What a recipe has twice, with other conditions, may have a row for each.
      const isTwice = keys.filter(key => key.path === path).length > 1
      return (fitting.length === 1 || (isTwice && fitting.length > 1)) && isLogged
        ? []
        : [`${path}: ${found} in ${here.length} rows`]
    })
    expect(wrong).toEqual([])
  })

  it('say each thing once', () => {
    const rows = [...pages.keys()].flatMap(name => parts(name).said)
    const repeated = rows.filter((row, at) => rows.indexOf(row) !== at)
    expect(repeated).toEqual([])
    const where = (path: string) =>
      [...pages.keys()].filter(name => parts(name).said.some(row => row.includes(`\`${path}\``)))
    expect(where('judge.fleet.endpoints[].url')).toEqual(['shared/judge'])
    expect(where('verifier.judge.fleet.retries')).toEqual(['shared/judge'])
    expect(where('coldStart.optimizer.beta1')).toEqual(['shared/optimizer'])
    expect(where('task.carelessJudge')).toEqual(['tasks/packing'])
    expect(where('exploration.curriculum')).toEqual(['ruscarl'])
    expect(shared).toContain('tasks/several')
  })

  it('say of a path alone which recipes and kinds have it, before other paths of the same words', () => {
    const row = (page: string, start: string) => rowsIn(pages.get(page)!).find(text => text.startsWith(start))
    expect(row('shared/judge', '| `judge.fleet.retries` |')).toMatch(/Not of rlcer\. Also .*`verifier\.judge/)
    expect(row('tasks/questions', '| `task.openReward` |')).toContain('Of rit.')
    expect(row('tasks/several', '| `task.tools[].command` |')).toContain('Of `research`, `tools`.')
    expect(row('rubricem', '| `task.tools[].name` ')).toBe(
      '| `task.tools[].name` with `task.tools[].kind: http` | text | `web_search` |',
    )
  })

  it('have angle brackets as they are within code, where Markdown knows no entities', () => {
    expect(pages.get('shared/run')).toContain('`runs/<recipe>-<preset>-seed<seed>` when null')
    const schema = z.strictObject({ a: z.string().describe('Of <b>, as `<b>`.') })
    const entry = { name: 'one', summary: 'one', schema, presets: {} }
    expect(settingsPages({ one: entry }, schemaKeys).get('one')).toContain('Of &lt;b>, as `<b>`.')
  })
})
