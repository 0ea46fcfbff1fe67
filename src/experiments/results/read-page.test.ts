import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect, it } from 'vitest'
import { readExperimentPage } from './read-page.ts'

const RESULTS = fileURLToPath(new URL('../../../results', import.meta.url))

const folders = readdirSync(RESULTS).filter(name => {
  const files = readdirSync(join(RESULTS, name))
  return files.includes('controls.json') && files.includes('summary.md')
})

it.each(folders)('the files of results/%s make the page that their report has', name => {
  const folder = join(RESULTS, name)
  const page = readExperimentPage(folder, { title: name, summary: 'What it is.', document: null })
  const shown = [...page.claims, ...page.apart.claims]
  expect(shown.length).toBeGreaterThan(0)
  const summary = readFileSync(join(folder, 'summary.md'), 'utf8')
  for (const { id, status, plan, comparisons } of shown) {
    expect(summary).toContain(`**${id}**`)
    expect(summary).toContain(`**${status}**`)
    expect(plan).toContain('expected')
    // Effects are the same in either form.
    for (const { effect, track } of comparisons) if (track) expect(summary).toContain(effect)
  }
  expect(page.tables.map(({ title }) => title)).toEqual(expect.arrayContaining(['Negative controls', 'Arms']))
})
