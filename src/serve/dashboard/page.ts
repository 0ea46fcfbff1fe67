/** @file The page of the dashboard and its files: one shell for every address, a script and a style that are built into the package. */

import { pageFile } from '../../runs/report/page.ts'
import { packageVersion } from '../../util/package.ts'

export interface Asset {
  type: string
  body: string
}

/** Files by name. @throws RunError when the page was not built */
export const loadAssets = (): ReadonlyMap<string, Asset> =>
  new Map([
    ['app.js', { type: 'text/javascript; charset=utf-8', body: pageFile('app.js', import.meta.url) }],
    ['app.css', { type: 'text/css; charset=utf-8', body: pageFile('app.css') }],
    ['icon.svg', { type: 'image/svg+xml', body: ICON }],
  ])

const ICON = `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 32 32"><rect width="32" height="32" rx="7" fill="#2b6cc4"/><path d="M6 24h6v-5h6v-5h6V8" fill="none" stroke="#fff" stroke-width="3" stroke-linecap="round" stroke-linejoin="round"/></svg>`

/** Nothing of a run stands in it: all that is shown comes by script, as text. */
export const SHELL = `<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark"><meta name="gradus-version" content="${packageVersion()}"><title>Gradus</title>
<link rel="icon" href="/assets/icon.svg"><link rel="stylesheet" href="/assets/app.css"><script type="module" src="/assets/app.js"></script></head>
<body class="live"><div id="app"><main><p class="empty">Reading…</p></main></div><noscript><main><p>The dashboard needs JavaScript. <code>gradus report RUN</code> writes a page that can be read without.</p></main></noscript></body></html>
`
