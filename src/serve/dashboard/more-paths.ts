/** @file Paths of the dashboard that tell of evaluations, rubrics, judges, comparisons and experiments. */

import type { Hono } from 'hono'
import { MOST_COMPARED } from '../../runs/compare/charts.ts'
import { DataError } from '../../util/errors.ts'
import { liveComparison } from './compare.ts'
import { type DashboardContext, type DashboardEnv, NotFound, openRun, queryOf } from './context.ts'
import { evaluationQuery, evaluationView, itemQuery, itemView } from './evaluation.ts'
import { experimentLine, experimentPage, shownExperiments } from './experiments.ts'
import { judgesView } from './judges.ts'
import { rubricView } from './rubric-view.ts'

export const addMorePaths = (app: Hono<DashboardEnv>, context: DashboardContext): void => {
  app.get('/api/runs/:id/evaluation', async c =>
    c.json(evaluationView(await openRun(context, c.req.param('id')), queryOf(c, evaluationQuery))),
  )
  app.get('/api/runs/:id/evaluation/item', async c =>
    c.json(itemView(await openRun(context, c.req.param('id')), queryOf(c, itemQuery))),
  )
  app.get('/api/runs/:id/rubric', async c => {
    const run = await openRun(context, c.req.param('id'))
    await run.rollouts.advance()
    return c.json(rubricView(run))
  })
  app.get('/api/runs/:id/judges', async c => c.json(judgesView(await openRun(context, c.req.param('id')))))
  app.get('/api/compare', async c => {
    const ids = [...new Set(c.req.queries('run') ?? [])]
    if (ids.length < 2 || ids.length > MOST_COMPARED)
      throw new DataError(`run: expected 2 to ${MOST_COMPARED} runs to compare, got ${ids.length}`)
    const runs = await Promise.all(ids.map(id => openRun(context, id)))
    return c.json(liveComparison(runs))
  })
  app.get('/api/experiments', c => {
    context.library.look()
    return c.json(shownExperiments(context.library.experiments).map(experimentLine))
  })
  const foundExperiment = (id: string) => {
    const found = context.library.experiment(id)
    if (found === null) throw new NotFound('there is no such experiment here')
    return found
  }
  app.get('/api/experiments/:id', async c =>
    c.json(await experimentPage(foundExperiment(c.req.param('id')), context.readExperiment)),
  )
  app.get('/api/experiments/:id/curves', async c =>
    c.json(await context.armCurves.of(context.library, foundExperiment(c.req.param('id')))),
  )
}
