/** @file What all paths of the dashboard share: the runs that there are, and those that somebody looks at. */

import type { Context } from 'hono'
import type { z } from 'zod'
import { DataError, GradusError } from '../../util/errors.ts'
import { parseWith } from '../../util/schema.ts'
import type { FrontBindings } from '../http/exchange.ts'
import { ArmCurvesCache, type ReadSlimCharts } from './arm-curves.ts'
import type { ReadExperiment } from './experiments.ts'
import type { FoundRun, Library } from './library.ts'
import { type OpenRun, OpenRuns } from './open-run.ts'
import { Summaries } from './summary.ts'
import type { RunSummary } from './wire.ts'

export type DashboardEnv = { Bindings: Partial<FrontBindings> }

export interface DashboardContext {
  library: Library
  /** Open streams of events, which end with the server. */
  streams: Set<{ abort(): void }>
  summaries: Summaries
  runs: OpenRuns
  armCurves: ArmCurvesCache
  readExperiment?: ReadExperiment
}

export class NotFound extends GradusError {}

/** What reads results of experiments: the curves of the runs beside them, and their page. */
export interface ResultReaders {
  slimCharts?: ReadSlimCharts
  readExperiment?: ReadExperiment
}

export const newContext = (
  library: Library,
  { slimCharts, readExperiment }: ResultReaders = {},
): DashboardContext => ({
  library,
  streams: new Set(),
  summaries: new Summaries(),
  runs: new OpenRuns(),
  armCurves: new ArmCurvesCache(slimCharts),
  readExperiment,
})

export const foundRun = ({ library }: DashboardContext, id: string): FoundRun => {
  const found = library.run(id)
  if (found === null) throw new NotFound(`${id.slice(0, 200)}: there is no such run here`)
  return found
}

/** A run by its name, with what its files have gained; a long one is read as soon as somebody asks for it. */
export const openRun = async (context: DashboardContext, id: string): Promise<OpenRun> => {
  const run = context.runs.get(foundRun(context, id))
  await run.advance()
  return run
}

export const summaryOf = async (context: DashboardContext, run: OpenRun): Promise<RunSummary> => {
  const [summary] = await context.summaries.all([run.found])
  return { ...summary, status: run.status, problem: summary.problem ?? run.problem }
}

/** Query of a request, checked. @throws DataError */
export const queryOf = <S extends z.ZodType>(c: Context<DashboardEnv>, schema: S): z.output<S> =>
  parseWith(schema, c.req.query(), 'query', DataError)
