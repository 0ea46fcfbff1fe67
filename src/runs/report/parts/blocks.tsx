/** @file Whatever stands on a page, by what it is: text, tables, charts, cards, panels. All that runs say is text, never HTML. */

import { type ComponentChildren, Fragment, type VNode } from 'preact'
import type { RolloutRow } from '../../rows.ts'
import { type ChartSpec, chartPlace } from '../chart-spec.ts'
import type { Block, BlockList, ChartTools, KindBlock, PageChoice, PageFact } from '../view.ts'
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
      ([name, value], i) =>
        value !== null &&
        value !== '' && (
          <span key={i}>
            {name !== '' && <b>{name}</b>} {typeof value === 'object' ? <ChipOf chip={value} /> : value}
          </span>
        ),
    )}
  </div>
)

type BlockOf<Kind> = Extract<KindBlock, { kind: Kind }>

const Cards = ({ cards }: BlockOf<'cards'>) => (
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

const Events = ({ events }: BlockOf<'events'>) => (
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

const Pairs = ({ pairs }: BlockOf<'pairs'>) => (
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
const Contents = ({ titles }: BlockOf<'contents'>) =>
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

/** With a chip it has a head of its own, and is an article. */
const panel: Shown['panel'] = ({ id, class: own = '', title, href, chip, note, blocks }, inside) => {
  const head = title !== undefined && <h3>{href === undefined ? title : <a href={href}>{title}</a>}</h3>
  const Place = chip === undefined ? 'div' : 'article'
  return (
    <Place class={`panel ${own}`} id={id}>
      {chip === undefined ? (
        head
      ) : (
        <header class="row">
          {head}
          <ChipOf chip={chip} />
          {note && <span class="quiet">{note}</span>}
        </header>
      )}
      {inside(blocks)}
    </Place>
  )
}

/** How each kind is shown. @param inside shows blocks that stand in it */
type Shown = {
  [Kind in KindBlock['kind']]: (
    block: BlockOf<Kind>,
    inside: (blocks: BlockList) => VNode,
    live?: LiveParts,
  ) => ComponentChildren
}

const SHOWN: Shown = {
  text: ({ text, class: own }) => text !== '' && <p class={own}>{text}</p>,
  heading: ({ text, about }) => (
    <h3>
      {text} {about !== undefined && <span class="quiet">{about}</span>}
    </h3>
  ),
  facts: Facts,
  links: ({ links }) => (
    <div class="row tools">
      {links.map(({ text, href, key }) => (
        <a href={href} title={key} aria-keyshortcuts={key} key={text}>
          {text}
        </a>
      ))}
    </div>
  ),
  list: ({ lines }) => (
    <ul>
      {lines.map(line => (
        <li key={line}>{line}</li>
      ))}
    </ul>
  ),
  pairs: Pairs,
  contents: Contents,
  cards: Cards,
  events: Events,
  charts: ({ charts, size = 'wide' }, _, live) => (
    <div class={`stack charts ${size}`}>{charts.map(live?.draw ?? chartPlaced)}</div>
  ),
  radar: Radar,
  lines: Lines,
  key: ColorKey,
  rollouts: ({ rows, criteria, of, isBeside }, _, live) => (
    <div class={isBeside ? 'stack beside' : 'stack'}>
      {rows.map((row, i) => (
        <RolloutCard key={`${i}-${row.step}`} {...{ row, criteria, of }} response={live?.response(row)} />
      ))}
    </div>
  ),
  document: ({ text }) => <pre class="document">{text}</pre>,
  stack: ({ class: own = '', blocks }, inside) => <div class={`stack ${own}`}>{inside(blocks)}</div>,
  fold: ({ title, isOpen, class: own, blocks }, inside) => (
    <details open={isOpen} class={own}>
      <summary>{title}</summary>
      {inside(blocks)}
    </details>
  ),
  panel,
  choices: ({ choices }, _, live) => (
    <div class="row tools">{choices.map(choice => live?.choose(choice))}</div>
  ),
  load: ({ path, what }, _, live) => live?.load(path, what),
}

const BlockOfPage = ({ block, live }: { block: Block; live?: LiveParts }) => {
  if (typeof block === 'string') return block === '' ? null : <p class="about">{block}</p>
  if ('head' in block) return <TextTable table={block} />
  const show = SHOWN[block.kind] as Shown['text' | 'panel']
  const inside = (blocks: BlockList) => <Blocks blocks={blocks} live={live} />
  return <>{show(block as never, inside, live)}</>
}

export const Blocks = ({ blocks, live }: { blocks: BlockList; live?: LiveParts }) => (
  <>{blocks.map((block, i) => block && <BlockOfPage block={block} live={live} key={i} />)}</>
)
