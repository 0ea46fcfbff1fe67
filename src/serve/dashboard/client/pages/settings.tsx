/** @file The configuration of a run as it was resolved, and where it ran. */

import { Pairs } from '../../../../runs/report/parts/pairs.tsx'
import { Heading } from '../parts.tsx'
import type { RunTabProps } from '../tab.ts'

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
