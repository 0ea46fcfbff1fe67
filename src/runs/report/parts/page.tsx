/** @file A page: its head, what it shows in sections under headings, and who wrote it. The same in a file and in the dashboard. */

import { type ComponentChildren, Fragment } from 'preact'
import { type Chip, type PageFact, type PageView, shownSections } from '../view.ts'
import { anchorOf, Blocks, Facts, type LiveParts } from './blocks.tsx'
import { ChipOf } from './words.tsx'

interface PageHeadProps {
  title: string
  status?: Chip
  note?: string
  facts?: readonly PageFact[]
  children?: ComponentChildren
}

/** The head of a page, with what is to be known of it in a line. */
export const PageHead = ({ title, status, note, facts = [], children }: PageHeadProps) => (
  <header>
    <div class="row">
      <h1>{title}</h1>
      {status && <ChipOf chip={status} />}
      {note && <span class="quiet">{note}</span>}
    </div>
    {facts.length > 0 && <Facts facts={facts} />}
    {children}
  </header>
)

interface SectionProps {
  title: string
  about?: string | null
  children: ComponentChildren
}

export const Section = ({ title, about, children }: SectionProps) => (
  <section>
    <span class="place" id={anchorOf(title)} />
    <h2>{title}</h2>
    {about && <p class="about">{about}</p>}
    {children}
  </section>
)

/** A page below its head. */
export const PageBody = ({ page, live }: { page: PageView; live?: LiveParts }) => (
  <>
    <Blocks blocks={page.intro ?? []} live={live} />
    {shownSections(page).map(({ title, about, tools, blocks }) => (
      <Fragment key={title}>
        {tools && live?.tools(tools)}
        <Section title={title} about={about}>
          <Blocks blocks={blocks} live={live} />
        </Section>
      </Fragment>
    ))}
    <Blocks blocks={page.end ?? []} live={live} />
  </>
)

/** The page as a file. */
export const FilePage = ({ page }: { page: PageView }) => (
  <main>
    <PageHead {...page} />
    <PageBody page={page} />
    {page.footer && <footer>{page.footer}</footer>}
  </main>
)
