/** @file Curves of the arms of results, from the slim runs beside them. */

import type { ChartSpec } from '../../runs/report/chart-spec.ts'
import { ArmCurves } from '../report/curves.ts'
import { streamSlimRuns } from './slim-runs.ts'

/**
 * The registered charts over steps, as the report of the results has them; null where no runs lie beside these.
 * @throws DataError for a damaged file
 */
export const slimCharts = async (folder: string): Promise<ChartSpec[] | null> => {
  let curves: ArmCurves | null = null
  const found = await streamSlimRuns(
    folder,
    registration => {
      curves = new ArmCurves(registration)
    },
    run => curves?.add(run),
  )
  return found ? ((curves as ArmCurves | null)?.charts ?? []) : null
}
