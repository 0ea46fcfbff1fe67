/** @file Paths of the dashboard that tell of evaluations, rubrics, judges, comparisons and experiments. */

import type { Hono } from 'hono'
import { MOST_COMPARED } from '../../runs/compare/charts.ts'
import { settingsPanel } from '../../runs/report/run-page.ts'
import type { PageView } from '../../runs/report/view.ts'
import { DataError } from '../../util/errors.ts'
import { liveComparison } from './compare.ts'
import { type DashboardContext, type DashboardEnv, NotFound, openRun, queryOf } from './context.ts'
import { evaluationPage, evaluationQuery } from './evaluation.ts'
import { experimentList, experimentPage } from './experiments.ts'
import { judgesPage } from './judges.ts'
import { rubricPage } from './rubric-view.ts'

export const addMorePaths = (app: Hono<DashboardEnv>, context: DashboardContext): void => {
  app.get('/api/runs/:id/evaluation', async c =>
    c.json(evaluationPage(await openRun(context, c.req.param('id')), queryOf(c, evaluationQuery))),
  )
  app.get('/api/runs/:id/rubric', async c => {
    const run = await openRun(context, c.req.param('id'))
    await run.rollouts.advance()
    return c.json(rubricPage(run))
  })
  app.get('/api/runs/:id/settings', async c => {
    const run = await openRun(context, c.req.param('id'))
    const page: PageView = { title: 'Settings', intro: [settingsPanel(run, true)] }
    return c.json(page)
  })
  app.get('/api/runs/:id/judges', async c => c.json(judgesPage(await openRun(context, c.req.param('id')))))
  app.get('/api/compare', async c => {
    const ids = [...new Set(c.req.queries('run') ?? [])]
    if (ids.length < 2 || ids.length > MOST_COMPARED)
      throw new DataError(`run: expected 2 to ${MOST_COMPARED} runs to compare, got ${ids.length}`)
    const runs = await Promise.all(ids.map(id => openRun(context, id)))
    return c.json(liveComparison(runs))
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
