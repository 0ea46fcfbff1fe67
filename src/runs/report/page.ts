/** @file The frame of a report's page: one HTML file with style, charts and script inside, and nothing from elsewhere. */

import { createHash } from 'node:crypto'
import { existsSync, readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { fileURLToPath } from 'node:url'
import { workerUrl } from '../../util/worker-url.ts'
import { RunError } from '../errors.ts'
import { type ChartSpec, chartPlace } from './chart-spec.ts'
import { anchorOf } from './contents.ts'
import { type Html, html, jsonForScript, part, raw } from './html.ts'
import { ChartFrame } from './parts/chart-frame.tsx'
import { STYLE } from './style.ts'

const require = createRequire(import.meta.url)
const chartLibrary = (file: string): string => readFileSync(require.resolve(`uplot/dist/${file}`), 'utf8')

/** What client/ is compiled to. @throws RunError when it has not been */
const pageScript = (): string => {
  const url = workerUrl(import.meta.url, './page-script.js')
  if (!existsSync(url))
    throw new RunError(
      `${fileURLToPath(url)}: expected the script of reports, found no file; run \`npm run build\``,
    )
  return readFileSync(url, 'utf8')
}

export const heading = (title: string, about?: string): Html =>
  html`<a class="place" id="${anchorOf(title)}"></a><h2>${title}</h2>${about !== undefined && html`<p class="about">${about}</p>`}`

/** The place of a chart; the page's script draws into it. */
export const figure = (spec: ChartSpec, index: number): Html =>
  html`<figure class="panel ${index === 0 && 'first'}" id="${chartPlace(spec.id)}">${part(ChartFrame, { spec })}</figure>`

/** A whole page of nothing but text and style. All text in `body` is escaped by `html`; it runs no script. */
export const plainPage = (title: string, body: Html, style = ''): string =>
  frame(title, body, { policy: '', style })

/**
 * A whole page. All text in `body` is escaped by `html`, and the page may run no script but its own.
 * @param charts all charts that `figure` made a place for
 * @param style CSS beside that of all reports
 */
export const page = (title: string, body: Html, charts: readonly ChartSpec[], style = ''): string => {
  const script = `${chartLibrary('uPlot.iife.min.js')}\n${pageScript()}`
  const hash = createHash('sha256').update(script).digest('base64')
  const end = html`
<script type="application/json" id="chart-data">${jsonForScript(charts)}</script>
<script>${raw(script)}</script>`
  return frame(title, html`${body}${end}`, {
    policy: ` script-src 'sha256-${hash}';`,
    library: chartLibrary('uPlot.min.css'),
    style,
  })
}

/** @param policy what may run besides style */
const frame = (
  title: string,
  body: Html,
  { policy, library = '', style }: { policy: string; library?: string; style: string },
): string =>
  html`<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">
<meta http-equiv="Content-Security-Policy" content="${`default-src 'none'; style-src 'unsafe-inline';${policy} img-src data:`}"><title>${title}</title>
<style>${raw(library)}${raw(STYLE)}${raw(style)}</style></head>
<body>${body}</body></html>
`.text
