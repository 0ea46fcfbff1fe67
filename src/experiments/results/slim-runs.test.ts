import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, expect, it } from 'vitest'
import { fakeRegistration, fakeRuns } from '../fake-paper.fixture.ts'
import { paperCharts } from '../report/curves.ts'
import type { PaperContext } from './paper.ts'
import { slimCharts, slimRunsPath, writeSlimRuns } from './slim-runs.ts'

const folder = mkdtempSync(join(tmpdir(), 'gradus-slim-charts-'))
afterAll(() => rmSync(folder, { recursive: true }))

it('curves of the runs beside results are those of the report; none, or a word, where there are none', async () => {
  expect(await slimCharts(folder)).toBeNull()
  const registration = fakeRegistration()
  const runs = fakeRuns(registration)
  writeSlimRuns(folder, registration, {} as PaperContext, runs)
  const charts = await slimCharts(folder)
  expect(charts!.length).toBeGreaterThan(0)
  expect(charts).toEqual(paperCharts(registration, runs))
  const path = slimRunsPath(folder)
  writeFileSync(path, readFileSync(path).subarray(0, -20))
  await expect(slimCharts(folder)).rejects.toThrow(/cut short or changed/)
})

it('a file that cannot be read is an error of who asked, and not the end of the process', async () => {
  const unreadable = join(folder, 'unreadable')
  mkdirSync(slimRunsPath(unreadable), { recursive: true })
  await expect(slimCharts(unreadable)).rejects.toThrow(/cut short or changed/)
})
