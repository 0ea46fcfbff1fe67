/** @file A comparison of runs: what sets groups apart, their scores, curves over one another. The same in a file and in the dashboard. */

import type { ComponentChildren } from 'preact'
import type { CompareView } from '../view.ts'
import { Charts, type DrawChart, PageHead, Sections } from './section.tsx'
import { TextTable } from './table.tsx'

interface ComparisonProps {
  view: CompareView
  draw?: DrawChart
  /** What stands over the curves. */
  tools?: ComponentChildren
}

export const Comparison = ({ view, draw, tools }: ComparisonProps) => (
  <Sections
    sections={[
      {
        title: 'Groups',
        about: 'Runs of a group differ in nothing but the seed.',
        inside: <TextTable table={view.groups} />,
      },
      view.scores.rows.length > 0
        ? {
            title: 'Evaluations',
            about:
              'The latest of each run: means over runs with 95% intervals over runs (Student’s t). Differences are in points, paired by seed, or by problem where a group is one run, with their 95% intervals.',
            inside: <TextTable table={view.scores} />,
          }
        : null,
      view.charts.length > 0
        ? {
            title: 'Curves',
            about: view.curvesAbout,
            inside: [tools, <Charts charts={view.charts} draw={draw} />],
          }
        : null,
      {
        title: 'Settings that differ',
        inside:
          view.settings.rows.length > 0 ? <TextTable table={view.settings} /> : <p class="empty">None.</p>,
      },
      { title: 'Runs', inside: <TextTable table={view.runs} /> },
    ]}
  />
)

/** The page as a file. */
export const ComparisonReport = ({ title, view }: { title: string; view: CompareView }) => (
  <main>
    <PageHead title={title} facts={[['', view.about]]} />
    <Comparison view={view} />
  </main>
)
