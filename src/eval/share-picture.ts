/** @file The frame of pictures of shares: from left to right, an SVG that needs nothing else, light or dark. */

import { extname } from 'node:path'
import { escapeMarkup } from '../util/format.ts'

export interface PictureOptions {
  title: string
  /** What was profiled and, in a comparison, what it is compared with. */
  name: string
  against?: string
  /** A line of small print. */
  note?: string
}

const LABEL_WIDTH = 250
export const PLOT_WIDTH = 360
const VALUES_WIDTH = 230
export const MARGIN = 24
export const PLOT_LEFT = MARGIN + LABEL_WIDTH
const WIDTH = PLOT_LEFT + PLOT_WIDTH + VALUES_WIDTH + MARGIN
export const HEADER = 84

const STYLE = `
.page { fill: #ffffff } .ink { fill: #1c1d20 } .quiet { fill: #62656d } .grid { stroke: #e5e3de }
.main { fill: #2b6cc4; stroke: #2b6cc4 } .other { fill: #84878f; stroke: #84878f } .up { fill: #0f6b4f } .down { fill: #a52a2a }
@media (prefers-color-scheme: dark) {
  .page { fill: #131417 } .ink { fill: #ececef } .quiet { fill: #9da0a8 } .grid { stroke: #33363d }
  .main { fill: #6ea8f7; stroke: #6ea8f7 } .other { fill: #8e929a; stroke: #8e929a } .up { fill: #6fdcb4 } .down { fill: #ff9a92 }
}
text { font: 13px system-ui, -apple-system, "Segoe UI", Roboto, "Noto Sans", sans-serif; font-variant-numeric: tabular-nums }
.title { font-size: 17px; font-weight: 650 } .small { font-size: 11.5px } line.interval { stroke-width: 3; stroke-linecap: round; opacity: .55 }`

export const escapeXml = (text: string): string =>
  // Control characters are not allowed in XML, escaped or not.
  // biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is removed
  escapeMarkup(text.replace(/[\u0000-\u0008\u000b\u000c\u000e-\u001f]/g, ''))

export const shorten = (text: string, longest: number): string => {
  const characters = Array.from(text)
  return characters.length <= longest ? text : `${characters.slice(0, longest - 1).join('')}…`
}

/** Where a share stands. */
export const x = (share: number): string => (PLOT_LEFT + PLOT_WIDTH * share).toFixed(1)

const axis = (bottom: number): string =>
  [0, 0.25, 0.5, 0.75, 1]
    .map(
      share =>
        `<line class="grid" x1="${x(share)}" x2="${x(share)}" y1="${HEADER - 10}" y2="${bottom}"/><text class="quiet small" text-anchor="middle" x="${x(share)}" y="${HEADER - 16}">${100 * share}%</text>`,
    )
    .join('\n')

const key = ({ name, against }: PictureOptions): string => {
  const entry = (left: number, kind: string, text: string) =>
    `<circle class="${kind}" cx="${left}" cy="46" r="4.5"/><text class="quiet" x="${left + 10}" y="50">${escapeXml(shorten(text, 44))}</text>`
  const first = entry(MARGIN + 5, 'main', name)
  return against === undefined ? first : `${first}${entry(MARGIN + 345, 'other', against)}`
}

/** A picture of shares from left to right, down to `bottom`. */
export const pictureSvg = (body: string, bottom: number, options: PictureOptions): string => {
  const height = bottom + 40
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${WIDTH} ${height}" width="${WIDTH}" height="${height}" role="img" aria-label="${escapeXml(options.title)}">
<style>${STYLE}</style>
<rect class="page" width="100%" height="100%"/>
<text class="ink title" x="${MARGIN}" y="30">${escapeXml(shorten(options.title, 96))}</text>
${key(options)}
${axis(bottom)}
${body}
<text class="quiet small" x="${MARGIN}" y="${bottom + 24}">${escapeXml(options.note ?? '')}</text>
</svg>
`
}

/** The picture in a page of its own. */
export const pictureHtml = (svg: string, title: string): string =>
  `<!doctype html>
<html lang="en"><meta charset="utf-8"><meta name="viewport" content="width=device-width"><meta name="color-scheme" content="light dark">
<title>${escapeXml(title)}</title>
<style>body { margin: 0 } svg { width: 100%; max-width: ${WIDTH}px; height: auto; display: block; margin: 0 auto } @media (prefers-color-scheme: dark) { body { background: #131417 } }</style>
${svg}</html>
`

/** A picture as a file of that name is to have it: in a page of its own for .html. */
export const pictureFor = (path: string, svg: string, title: string): string =>
  /^\.html?$/.test(extname(path)) ? pictureHtml(svg, title) : svg
