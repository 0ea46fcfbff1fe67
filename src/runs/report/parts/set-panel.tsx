/** @file A test set: the model before and after, baselines, and what there is beside the headline. */

import type { SetView } from '../view.ts'
import { TextTable } from './table.tsx'

export const SetPanel = ({ view: { set, about, tables } }: { view: SetView }) => (
  <div class="panel set">
    <h3>{set}</h3>
    <p class="about">{about}</p>
    {tables.map(({ title, tables: own }) => {
      const inside = own.map(table => <TextTable table={table} key={table.head.join()} />)
      if (title === null) return inside
      return (
        <details key={title}>
          <summary>{title}</summary>
          {inside}
        </details>
      )
    })}
  </div>
)
