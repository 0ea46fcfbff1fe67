/** @file Parts of a page under headings, the places that lead to them, and the charts of a part. */

import type { ComponentChildren, VNode } from 'preact'
import { type ChartSpec, chartPlace } from '../chart-spec.ts'
import { ChartFrame } from './chart-frame.tsx'
import { Facts, type ReportFact } from './facts.tsx'

/** A place in the page by its heading: `Where the time went` -> `where-the-time-went`. */
const anchorOf = (title: string): string =>
  title
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{N}]+/gu, '-')
    .replaceAll(/^-|-$/g, '')

/** How something stands. @param look the class of its colour */
export const Status = ({ status, look = status }: { status: string; look?: string }) => (
  <span class={`status chip ${look}`}>{status}</span>
)

interface PageHeadProps {
  title: string
  /** How what the page is about stands; empty where that is not known. */
  status?: string
  look?: string
  note?: string
  facts: readonly ReportFact[]
  children?: ComponentChildren
}

/** The head of a page, with what is to be known of it in a line. */
export const PageHead = ({ title, status, look, note, facts, children }: PageHeadProps) => (
  <header>
    <div class="row">
      <h1>{title}</h1>
      {status && <Status status={status} look={look} />}
      {note && <span class="quiet">{note}</span>}
    </div>
    <Facts facts={facts} />
    {children}
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
