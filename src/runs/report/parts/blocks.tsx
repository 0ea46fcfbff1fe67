/** @file Whatever stands on a page, by what it is: text, tables, charts, cards, panels. All that runs say is text, never HTML. */

import { type ComponentChildren, Fragment, type VNode } from 'preact'
import { number } from '../../../util/format.ts'
import type { EventRow, RolloutRow } from '../../rows.ts'
import { type ChartSpec, chartPlace } from '../chart-spec.ts'
import type {
  Block,
  BlockList,
  ChartTools,
  HeadlineCard,
  PageChoice,
  PageFact,
  PagePair,
  Panel,
} from '../view.ts'
import { ChartFrame } from './chart-frame.tsx'
import { ColorKey, Lines } from './lines.tsx'
import { Radar } from './radar.tsx'
import { RolloutCard } from './rollout.tsx'
import { TextTable } from './table.tsx'
import { ChipOf } from './words.tsx'

/** What a page that goes on has in place of what a file has: a file is read, its script draws charts and no more. */
export interface LiveParts {
  draw(spec: ChartSpec): VNode
  choose(choice: PageChoice): VNode
  load(path: string, what: string): VNode
  response(row: RolloutRow): ComponentChildren
  tools(tools: ChartTools): VNode
}

/** A place in the page by its heading: `Where the time went` -> `where-the-time-went`. */
export const anchorOf = (title: string): string =>
  title
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{N}]+/gu, '-')
    .replaceAll(/^-|-$/g, '')

/** Those of which nothing is known are left out; some say by themselves what they are. */
export const Facts = ({ facts }: { facts: readonly PageFact[] }) => (
  <div class="row facts">
    {facts.map(
      ([name, value]) =>
        value !== null &&
        value !== '' && (
          <span key={name === '' ? value : name}>
            {name !== '' && <b>{name}</b>}
            {typeof value === 'object' ? <ChipOf chip={value} /> : value}
          </span>
        ),
    )}
  </div>
)

const Cards = ({ cards }: { cards: readonly HeadlineCard[] }) => (
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

const Events = ({ events }: { events: readonly EventRow[] }) => (
  <ul class="plain">
    {events.map((event, i) => (
      <li class="row" key={`${event.at ?? ''}-${i}`}>
        <span class="when">{event.step === undefined ? '' : `step ${event.step}`}</span>
        <span class={`chip ${event.level}`}>{event.action ?? event.control ?? event.level}</span>
        <span>{event.message}</span>
      </li>
    ))}
  </ul>
)

const Pairs = ({ pairs }: { pairs: readonly PagePair[] }) => (
  <dl class="pairs">
    {pairs.map(({ name, text, note }) => (
      <Fragment key={name}>
        <dt>{name}</dt>
        <dd class={text === null ? 'unset' : undefined}>
          {text ?? 'none'}
          {note !== undefined && <span class="quiet"> {note}</span>}
        </dd>
      </Fragment>
    ))}
  </dl>
)

/** Links to the sections; none for fewer than three. */
const Contents = ({ titles }: { titles: readonly string[] }) =>
  titles.length < 3 ? null : (
    <nav class="row contents" aria-label="Contents">
      {titles.map(title => (
        <a href={`#${anchorOf(title)}`} key={title}>
          {title}
        </a>
      ))}
    </nav>
  )

/** The place of a chart in a file, which the file's script draws into. */
const chartPlaced = (spec: ChartSpec) => (
  <figure class="panel" id={chartPlace(spec.id)} key={spec.id}>
    <ChartFrame spec={spec} />
  </figure>
)

/** With a chip or a note it has a head of its own, and is an article. */
const PanelOf = ({ panel, live }: { panel: Panel; live?: LiveParts }) => {
  const { id, class: own = '', title, href, chip, note, blocks } = panel
  const head = title !== undefined && <h3>{href === undefined ? title : <a href={href}>{title}</a>}</h3>
  const inside = <Blocks blocks={blocks} live={live} />
  if (chip === undefined)
    return (
      <div class={`panel ${own}`} id={id}>
        {head}
        {inside}
      </div>
    )
  return (
    <article class={`panel ${own}`} id={id}>
      <header class="row">
        {head}
        <ChipOf chip={chip} />
        {note && <span class="quiet">{note}</span>}
      </header>
      {inside}
    </article>
  )
}

type BlockOf<Kind> = Extract<Block, { kind: Kind }>

const Rollouts = ({
  block: { rows, criteria, of, isBeside },
  live,
}: {
  block: BlockOf<'rollouts'>
  live?: LiveParts
}) => (
  <div class={isBeside ? 'stack beside' : 'stack'}>
    {rows.map((row, i) => (
      <RolloutCard key={`${i}-${row.step}`} {...{ row, criteria, of }} response={live?.response(row)} />
    ))}
  </div>
)

const Fold = ({
  block: { title, isOpen, class: own, blocks },
  live,
}: {
  block: BlockOf<'fold'>
  live?: LiveParts
}) => (
  <details open={isOpen} class={own}>
    <summary>{title}</summary>
    <Blocks blocks={blocks} live={live} />
  </details>
)

/** What is a line or two of HTML. */
const Small = ({ block }: { block: Block }) => {
  switch (block.kind) {
    case 'text':
      return block.text === '' ? null : <p class={block.class}>{block.text}</p>
    case 'heading':
      return (
        <h3>
          {block.text} {block.about !== undefined && <span class="quiet">{block.about}</span>}
        </h3>
      )
    case 'metrics':
      return (
        <p class="row">
          {Object.entries(block.metrics).map(([name, value]) => (
            <span class="part" key={name}>
              <b>{name}</b> {number(value)}
            </span>
          ))}
        </p>
      )
    case 'chips':
      return (
        <div class="row">
          {block.chips.map(chip => (
            <ChipOf chip={chip} key={chip.text} />
          ))}
        </div>
      )
    case 'links':
      return (
        <div class="row tools">
          {block.links.map(({ text, href, key }) => (
            <a href={href} title={key} aria-keyshortcuts={key} key={text}>
              {text}
            </a>
          ))}
        </div>
      )
    case 'list':
      return (
        <ul>
          {block.lines.map(line => (
            <li key={line}>{line}</li>
          ))}
        </ul>
      )
    case 'document':
      return <pre class="document">{block.text}</pre>
    default:
      return null
  }
}

const BlockOfPage = ({ block, live }: { block: Block; live?: LiveParts }) => {
  switch (block.kind) {
    case 'facts':
      return <Facts facts={block.facts} />
    case 'pairs':
      return <Pairs pairs={block.pairs} />
    case 'contents':
      return <Contents titles={block.titles} />
    case 'cards':
      return <Cards cards={block.cards} />
    case 'events':
      return <Events events={block.events} />
    case 'table':
      return <TextTable table={block.table} />
    case 'charts':
      return <div class={`stack charts ${block.size}`}>{block.charts.map(live?.draw ?? chartPlaced)}</div>
    case 'radar':
      return <Radar rows={block.rows} />
    case 'lines':
      return <Lines lines={block.lines} ends={block.ends} />
    case 'key':
      return <ColorKey colors={block.colors} />
    case 'rollouts':
      return <Rollouts block={block} live={live} />
    case 'panel':
      return <PanelOf panel={block} live={live} />
    case 'fold':
      return <Fold block={block} live={live} />
    case 'stack':
      return (
        <div class={`stack ${block.class ?? ''}`}>
          <Blocks blocks={block.blocks} live={live} />
        </div>
      )
    case 'choices':
      return <div class="row tools">{block.choices.map(choice => live?.choose(choice))}</div>
    case 'load':
      return <>{live?.load(block.path, block.what)}</>
    default:
      return <Small block={block} />
  }
}

export const Blocks = ({ blocks, live }: { blocks: BlockList; live?: LiveParts }) => (
  <>{blocks.map((block, i) => block && <BlockOfPage block={block} live={live} key={i} />)}</>
)
