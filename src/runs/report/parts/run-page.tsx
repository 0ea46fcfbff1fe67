/** @file A run's page: the headline, what monitors said, curves, tables, rollouts. The same in its report and in the dashboard. */

import type { ComponentChildren } from 'preact'
import { number, plural } from '../../../util/format.ts'
import type { RolloutRow } from '../../rows.ts'
import { rubricStage } from '../rubrics.ts'
import { describeSpan } from '../signs.ts'
import type {
  ChartSection,
  HeadlineCard,
  RolloutGroups,
  RubricLifetime,
  RunPage,
  ShownLessons,
  ShownSign,
} from '../view.ts'
import { Events } from './events.tsx'
import { barPlace, Meter } from './meter.tsx'
import { Pairs } from './pairs.tsx'
import { ProfilePanel } from './profile.tsx'
import { RolloutCard } from './rollout.tsx'
import { Charts, Contents, type DrawChart, PageHead, type PageSection, Sections } from './section.tsx'
import { SetPanel } from './set-panel.tsx'
import { SignCard } from './sign.tsx'
import { noted, Table } from './table.tsx'
import { Lines } from './tracks.tsx'
import type { Criteria } from './verdicts.tsx'

const Cards = ({ cards }: { cards: readonly HeadlineCard[] }) =>
  cards.length === 0 ? null : (
    <section class="stack cards">
      {cards.map(({ title, before, after, gain, notes }) => (
        <div class="panel card" key={title}>
          <h3>{title}</h3>
          <div class="big">
            {before !== null && <span class="from">{before}</span>}
            {before !== null && <span class="arrow">→</span>}
            {after}
          </div>
          {gain && <div class={`gain ${gain.direction}`}>{gain.text}</div>}
          {notes.map(note => (
            <div class="sub" key={note}>
              {note}
            </div>
          ))}
        </div>
      ))}
    </section>
  )

const EventsPanel = ({ events: { isSerious, shown, more } }: Pick<RunPage, 'events'>) =>
  shown.length === 0 ? null : (
    <section class="panel events">
      <h3>{isSerious ? 'Worth knowing' : 'Events'}</h3>
      <Events events={shown} />
      {more.length > 0 && (
        <details>
          <summary>{more.length} more</summary>
          <Events events={more} />
        </details>
      )}
    </section>
  )

/** One line a monitor, a bar from sign to end. */
const Timeline = ({ signs, lastStep }: Pick<RunPage, 'signs' | 'lastStep'>) => {
  const share = (step: number) => step / Math.max(1, lastStep)
  return (
    <div class="panel">
      <Lines
        lines={[...new Set(signs.map(({ title }) => title))].map(name => ({
          name,
          track: signs
            .filter(({ title }) => title === name)
            .map(sign => (
              <a
                href={`#warning-${sign.monitor}-${sign.step}`}
                style={{
                  left: barPlace(share(sign.step)),
                  width: barPlace(share((sign.until ?? lastStep) - sign.step)),
                }}
                title={`${name}, ${describeSpan(sign)}`}
                aria-label={`${name}, ${describeSpan(sign)}`}
                key={sign.step}
              >
                <i />
              </a>
            )),
        }))}
        ends={['step 0', number(lastStep)]}
      />
    </div>
  )
}

interface RolloutsProps {
  rows: readonly RolloutRow[]
  criteria: Criteria
  of?: 'score'
}

export const Rollouts = ({ rows, criteria, of }: RolloutsProps) => (
  <div class={of === 'score' ? 'stack beside' : 'stack'}>
    {rows.map((row, i) => (
      <RolloutCard key={`${i}-${row.step}`} row={row} criteria={criteria} of={of} />
    ))}
  </div>
)

/** Rollouts that were kept to show a sign, folded away. */
const ShownBy = ({ sign: { rows, step }, criteria }: { sign: ShownSign; criteria: Criteria }) =>
  rows.length === 0 ? null : (
    <details>
      <summary>
        {plural(rows.length, 'rollout')} of step {step} that {rows.length === 1 ? 'shows' : 'show'} it best
      </summary>
      <Rollouts criteria={criteria} rows={rows} />
    </details>
  )

interface RunBodyProps {
  page: RunPage
  sections: readonly ChartSection[]
  /** Draws a chart; in a file its place is left for the file's script. */
  draw?: DrawChart
  /** Where to go on from a sign. */
  signMore?(sign: ShownSign): ComponentChildren
  /** What stands over the curves. */
  tools?: ComponentChildren
}

const warnings = ({ page, signMore }: RunBodyProps): PageSection | null =>
  page.signs.length === 0
    ? null
    : {
        title: 'Warnings',
        about:
          'Signs that the monitors saw while training: a bar reaches from the step of the warning to the step where the sign was gone. A sign is a reason to look, not a verdict.',
        class: 'section-warnings',
        inside: (
          <>
            <Timeline signs={page.signs} lastStep={page.lastStep} />
            <div class="stack">
              {page.signs.map(sign => (
                <SignCard sign={sign} key={`${sign.monitor}-${sign.step}`}>
                  <ShownBy sign={sign} criteria={page.criteria} />
                  {signMore?.(sign)}
                </SignCard>
              ))}
            </div>
          </>
        ),
      }

const reward = ({ page: { reward: own } }: RunBodyProps): PageSection | null =>
  own && {
    title: 'What is rewarded',
    about: own.formula,
    inside: (own.criteria.length > 0 || own.others !== null) && (
      <div class="panel">
        <dl class="pairs">
          {own.criteria.map(({ name, about, worth }) => (
            <>
              <dt>{name}</dt>
              <dd>
                {about} <span class="quiet">{worth}</span>
              </dd>
            </>
          ))}
        </dl>
        {own.others !== null && <p class="quiet">{own.others}</p>}
      </div>
    ),
  }

const OF = { within: 'of the same question', cross: 'of a similar question' } as const

const twoDigits = (value: number | null): string => (value === null ? '–' : value.toFixed(2))

const LessonPanel = ({ lessons: { uses, about } }: { lessons: ShownLessons }) => (
  <div class="panel set">
    <h3>Lessons that attempts were shown</h3>
    <Table
      rows={uses}
      columns={[
        [
          'Lesson',
          ({ how, question, text }) =>
            noted(
              <span class="lesson">{text}</span>,
              how === 'cross' ? `${OF.cross}: ${question}` : OF.within,
            ),
        ],
        ['Asked', ({ asked }) => asked],
        ['Step', ({ step }) => step, 'num'],
        ['Reward of the attempt', ({ reward: own }) => twoDigits(own), 'num'],
      ]}
    />
    <p class="about">{about}</p>
  </div>
)

const FATES = { kept: 'in use', pruned: 'dropped', inactive: 'set aside' } as const

/** The rubrics that lived longest, with what rollouts earned on them and how well they discriminate. */
const LifetimePanel = ({ lifetimes }: { lifetimes: readonly RubricLifetime[] }) => (
  <div class="panel set">
    <h3>Longest lived</h3>
    <Table
      rows={lifetimes}
      columns={[
        ['Rubric', ({ title, description, question }) => noted(title, description, question)],
        ['Stage', ({ stage, sign }) => noted(rubricStage(stage), sign === 'positive' ? 'merit' : 'flaw')],
        ['Weight', ({ weight }) => weight, 'num'],
        ['Steps', ({ since, last }) => `${since} – ${last}`, 'num'],
        ['Times scored', ({ times }) => times, 'num'],
        ['Mean score', ({ score }) => <Meter value={score} text={twoDigits(score)} />, 'meter'],
        ['Mean variance', ({ variance }) => twoDigits(variance), 'num'],
        ['Now', ({ fate }) => FATES[fate]],
      ]}
    />
  </div>
)

const chartSection = ({ page, draw }: RunBodyProps, section: ChartSection): PageSection => ({
  title: section.title,
  about: section.about,
  inside: (
    <>
      <Charts charts={section.charts} size={section.size} draw={draw} />
      {section.title === 'Memory' && page.lessons && <LessonPanel lessons={page.lessons} />}
    </>
  ),
})

const evaluation = ({ page: { sets } }: RunBodyProps): PageSection | null =>
  sets.length === 0
    ? null
    : {
        title: 'Test sets',
        about:
          'Problems that training never saw. Bars carry 95% intervals; what shallow cues or published models reach stands in the same table.',
        inside: (
          <div class="stack">
            {sets.map(view => (
              <SetPanel view={view} key={view.set} />
            ))}
          </div>
        ),
      }

const rubrics = ({ page: { rubrics: own }, draw }: RunBodyProps): PageSection | null =>
  own && {
    title: 'Rubrics that evolve',
    about: own.about,
    class: 'section-rubrics',
    inside: (
      <>
        <Charts charts={own.charts} draw={draw} />
        {own.lifetimes.length > 0 && <LifetimePanel lifetimes={own.lifetimes} />}
      </>
    ),
  }

/** Groups of rollouts, those of a group one below the other; or of answers, one beside the other. */
const groupSection = (
  { page: { criteria } }: RunBodyProps,
  title: string,
  own: RolloutGroups | null,
  of?: 'score',
): PageSection | null =>
  own && {
    title,
    about: own.about,
    class: 'section-rollouts',
    inside: own.groups.map(group => (
      <>
        <h3>
          {group.title} <span class="quiet">{group.about}</span>
        </h3>
        <Rollouts criteria={criteria} rows={group.rows} of={of} />
      </>
    )),
  }

const profile = ({ page: { profile: own } }: RunBodyProps): PageSection | null =>
  own && { title: 'Rubric profile', about: own.about, inside: <ProfilePanel profile={own} /> }

/** @param settings of a page on which they have no place of their own */
export const RunBody = ({ settings, ...props }: RunBodyProps & { settings?: PageSection }) => {
  const { page } = props
  const [learning, ...later] = props.sections.map(section => chartSection(props, section))
  const before = [warnings(props), reward(props), profile(props)]
  const after = [
    ...[learning ?? null, evaluation(props), groupSection(props, 'Held-out answers', page.answers, 'score')],
    ...[...later, rubrics(props), groupSection(props, 'Rollouts', page.rollouts), settings ?? null],
  ]
  return (
    <>
      <Cards cards={page.cards} />
      <Contents sections={[...before, ...after]} />
      <EventsPanel events={page.events} />
      <Sections sections={before} />
      {props.sections.length === 0 && <p class="empty">No step has been recorded yet.</p>}
      {props.tools}
      <Sections sections={after} />
    </>
  )
}

/** What the run was told to do, and where; printed in full. */
export const SettingsPanel = ({ page, open = false }: { page: RunPage; open?: boolean }) => (
  <div class="panel">
    <details open={open}>
      <summary>Configuration as resolved</summary>
      <Pairs value={page.config} />
    </details>
    <details open={open} class="print">
      <summary>Environment</summary>
      <Pairs value={{ gradus: page.version, ...page.environment }} />
    </details>
  </div>
)

/** The page of a run as a file. */
export const RunReport = ({ status, ...props }: RunBodyProps & { status: string }) => {
  const { page } = props
  return (
    <main>
      <PageHead title={page.title} status={status} facts={page.facts} />
      <RunBody {...props} settings={{ title: 'Settings', inside: <SettingsPanel page={page} /> }} />
      <footer>
        Written by Gradus {page.version} from the files of the run {page.facts[0][1]}. Charts by uPlot (MIT).
      </footer>
    </main>
  )
}
