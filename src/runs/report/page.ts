/** @file A page as one file: style, charts and script inside, and nothing from elsewhere. */

import { createHash } from 'node:crypto'
import { existsSync, readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { h, type VNode } from 'preact'
import { renderToStaticMarkup } from 'preact-render-to-string'
import { escapeMarkup } from '../../util/format.ts'
import { workerUrl } from '../../util/worker-url.ts'
import { RunError } from '../errors.ts'
import { FilePage } from './parts/page.tsx'
import { chartsOf, type PageView } from './view.ts'

/**
 * The script of pages that are files, and the style of all pages.
 * @param from the module beside whose folder `page` they were built
 * @throws RunError when they were not built
 */
export const pageFile = (name: 'app.js' | 'app.css', from = import.meta.url): string => {
  const url = workerUrl(from, `./page/${name}`)
  if (!existsSync(url))
    throw new RunError(
      `${fileURLToPath(url)}: expected a file of the pages, found none; run \`npm run build\``,
    )
  return readFileSync(url, 'utf8')
}

/** A component as HTML: the markup that it makes in a browser. */
export const part = <Props extends object>(component: (props: Props) => VNode | null, props: Props): string =>
  renderToStaticMarkup(h(component, props))

/** JSON for a script element: nothing in it can close the element or open a comment. */
export const jsonForScript = (value: unknown): string =>
  JSON.stringify(value)
    .replace(/</g, '\\u003c')
    .replace(/\u2028/g, '\\u2028')
    .replace(/\u2029/g, '\\u2029')

/** @param policy what may run besides style */
const frame = (title: string, body: string, style: string, policy = ''): string =>
  `<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">
<meta http-equiv="Content-Security-Policy" content="${escapeMarkup(`default-src 'none'; style-src 'unsafe-inline';${policy} img-src data:`)}"><title>${escapeMarkup(title)}</title>
<style>${pageFile('app.css')}${style}</style></head>
<body class="file">${body}</body></html>
`

/** A whole page of nothing but text and style; it runs no script. @param body as `part` makes it, all text in it escaped */
export const plainPage = (title: string, body: string, style = ''): string => frame(title, body, style)

/** A page as a file, which may run no script but its own: that draws the charts, of which the page has the places. */
export const renderPage = (page: PageView, title: string): string => {
  const script = pageFile('app.js').replaceAll('</script', '<\\/script')
  const hash = createHash('sha256').update(script).digest('base64')
  const data = `<script type="application/json" id="chart-data">${jsonForScript(chartsOf(page))}</script>`
  const all = `${part(FilePage, { page })}\n${data}\n<script type="module">${script}</script>`
  return frame(title, all, '', ` script-src 'sha256-${hash}';`)
}
