/** @file Parts of a page under headings, the places that lead to them, and the charts of a part. */

import type { ComponentChildren, VNode } from 'preact'
import { type ChartSpec, chartPlace } from '../chart-spec.ts'
import { ChartFrame } from './chart-frame.tsx'

/** A place in the page by its heading: `Where the time went` -> `where-the-time-went`. */
const anchorOf = (title: string): string =>
  title
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{N}]+/gu, '-')
    .replaceAll(/^-|-$/g, '')

/** The head of a page, with what is to be known of it in a line. */
export const PageHead = ({ title, lines }: { title: string; lines: readonly string[] }) => (
  <header>
    <h1>{title}</h1>
    <div class="row facts">
      {lines.map(line => (
        <span key={line}>{line}</span>
      ))}
    </div>
  </header>
)

export const Heading = ({ title, about }: { title: string; about?: ComponentChildren }) => (
  <>
    <span class="place" id={anchorOf(title)} />
    <h2>{title}</h2>
    {about !== undefined && about !== null && about !== '' && <p class="about">{about}</p>}
  </>
)

/** A part of a page: its heading, what is said under it, and what is in it. */
export interface PageSection {
  title: string
  about?: ComponentChildren
  class?: string
  inside: ComponentChildren
}

export const Sections = ({ sections }: { sections: readonly (PageSection | null)[] }) => (
  <>
    {sections.map(
      own =>
        own && (
          <section class={own.class} key={own.title}>
            <Heading title={own.title} about={own.about} />
            {own.inside}
          </section>
        ),
    )}
  </>
)

/** Links to the sections; none for fewer than three. */
export const Contents = ({ sections }: { sections: readonly (PageSection | null)[] }) => {
  const titles = sections.flatMap(own => own?.title ?? [])
  if (titles.length < 3) return null
  return (
    <nav class="row contents" aria-label="Contents">
      {titles.map(title => (
        <a href={`#${anchorOf(title)}`} key={title}>
          {title}
        </a>
      ))}
    </nav>
  )
}

/** Draws a chart, or leaves the place for it. */
export type DrawChart = (spec: ChartSpec) => VNode

/** The place of a chart in a file, which the file's script draws into. */
const chartPlaced: DrawChart = spec => (
  <figure class="panel" id={chartPlace(spec.id)} key={spec.id}>
    <ChartFrame spec={spec} />
  </figure>
)

interface ChartsProps {
  charts: readonly ChartSpec[]
  size?: 'wide' | 'narrow'
  draw?: DrawChart
}

export const Charts = ({ charts, size = 'wide', draw = chartPlaced }: ChartsProps) => (
  <div class={`stack charts ${size}`}>{charts.map(draw)}</div>
)
