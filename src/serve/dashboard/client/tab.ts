/** @file What every part of a run's page is given. */

import type { LiveRun, RunView } from '../wire.ts'
import type { PageAddress } from './route.tsx'

export interface RunTabProps {
  view: RunView
  place: PageAddress
  /** Changes when files of the run have grown. */
  news: LiveRun | null
}
