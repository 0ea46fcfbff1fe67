/** @file What pages ask the dashboard for: runs, their pages and rollouts, comparisons and experiments. */

import { statSync } from 'node:fs'
import type { Context, Hono } from 'hono'
import { z } from 'zod'
import { MOST_COMPARED } from '../../runs/compare/charts.ts'
import { describeCriteria } from '../../runs/criterion-words.ts'
import { settingsPanel } from '../../runs/report/run-page.ts'
import type { PageView } from '../../runs/report/view.ts'
import { DataError } from '../../util/errors.ts'
import { liveComparison } from './compare.ts'
import {
  type DashboardContext,
  type DashboardEnv,
  foundRun,
  NotFound,
  openRun,
  queryOf,
  summaryOf,
} from './context.ts'
import { livePage, MOST_CURVE_POINTS, runView } from './curves.ts'
import { evaluationPage, evaluationQuery } from './evaluation.ts'
import { experimentList, experimentPage } from './experiments.ts'
import { judgesPage } from './judges.ts'
import { fileOf } from './library.ts'
import type { OpenRun } from './open-run.ts'
import { listRollouts, rolloutPage, rolloutQuery, rolloutsQuery } from './rollout-query.ts'
import { rubricPage } from './rubric-view.ts'

/** Rollouts of so many bytes are read in some tens of milliseconds; longer files are read beside the answer. */
const SHORT_BYTES = 8e6

/** Reads on in a run's rollouts; only a short file is read before the answer. @returns bytes of the file */
const readRollouts = async ({ found, rollouts }: OpenRun): Promise<number> => {
  const path = fileOf(found.dir, 'rollouts.jsonl')
  const bytes = path === null ? 0 : statSync(path).size
  const reading = rollouts.advance().catch(() => false)
  if (bytes - rollouts.bytes < SHORT_BYTES) await reading
  return bytes
}

const step = z.coerce.number().min(0).optional()
const curvesQuery = z.object({
  from: step,
  to: step,
  points: z.coerce.number().int().min(10).max(MOST_CURVE_POINTS).optional(),
})

/** Pages of a run by their paths, of its files as they are now. */
const RUN_PAGES: Record<string, (run: OpenRun, c: Context<DashboardEnv>) => PageView | Promise<PageView>> = {
  curves: async (run, c) => {
    await readRollouts(run)
    return livePage(run, queryOf(c, curvesQuery))
  },
  rubric: async run => {
    await run.rollouts.advance()
    return rubricPage(run)
  },
  evaluation: (run, c) => evaluationPage(run, queryOf(c, evaluationQuery)),
  judges: judgesPage,
  settings: run => ({ title: 'Settings', intro: [settingsPanel(run, true)] }),
}

export const addRunPaths = (app: Hono<DashboardEnv>, context: DashboardContext): void => {
  app.get('/api/runs', async c => {
    context.library.look()
    return c.json(await context.summaries.all(context.library.runs))
  })
  app.get('/api/runs/:id', async c => {
    const run = await openRun(context, c.req.param('id'))
    return c.json(runView(run, await summaryOf(context, run)))
  })
  for (const [path, page] of Object.entries(RUN_PAGES))
    app.get(`/api/runs/:id/${path}`, async c =>
      c.json(await page(await openRun(context, c.req.param('id')), c)),
    )
  app.get('/api/runs/:id/rollouts', async c => {
    const run = context.runs.get(foundRun(context, c.req.param('id')))
    const bytes = await readRollouts(run)
    return c.json(listRollouts(run.found, run.rollouts, queryOf(c, rolloutsQuery), bytes))
  })
  app.get('/api/runs/:id/rollouts/:nth', async c => {
    const run = context.runs.get(foundRun(context, c.req.param('id')))
    await readRollouts(run)
    const [nth, query] = [Number(c.req.param('nth')), queryOf(c, rolloutQuery)]
    return c.json(rolloutPage(run.found, run.rollouts, nth, query, describeCriteria(run.info)))
  })
}

export const addOtherPaths = (app: Hono<DashboardEnv>, context: DashboardContext): void => {
  app.get('/api/compare', async c => {
    const ids = [...new Set(c.req.queries('run') ?? [])]
    if (ids.length < 2 || ids.length > MOST_COMPARED)
      throw new DataError(`run: expected 2 to ${MOST_COMPARED} runs to compare, got ${ids.length}`)
    return c.json(liveComparison(await Promise.all(ids.map(id => openRun(context, id)))))
  })
  app.get('/api/experiments', c => {
    context.library.look()
    return c.json(experimentList(context.library.experiments))
  })
  const foundExperiment = (id: string) => {
    const found = context.library.experiment(id)
    if (found === null) throw new NotFound('there is no such experiment here')
    return found
  }
  app.get('/api/experiments/:id', async c => {
    const found = foundExperiment(c.req.param('id'))
    const curves = context.armCurves.section(context.library, found)
    return c.json(await experimentPage(found, context.readExperiment, [curves]))
  })
  app.get('/api/experiments/:id/curves', async c =>
    c.json(await context.armCurves.of(context.library, foundExperiment(c.req.param('id')))),
  )
}
