/** @file The paths of the dashboard. What a run's files say goes out as JSON, never as a page. */

import { type Context, Hono } from 'hono'
import { streamSSE } from 'hono/streaming'
import { pageFile } from '../../runs/report/page.ts'
import { GradusError } from '../../util/errors.ts'
import { packageVersion } from '../../util/package.ts'
import {
  type DashboardContext,
  type DashboardEnv,
  foundRun,
  NotFound,
  openRun,
  summaryOf,
} from './context.ts'
import { addControlPath } from './control.ts'
import { addPairPaths } from './pairs.ts'
import { addOtherPaths, addRunPaths } from './paths.ts'
import type { LiveRun } from './wire.ts'

/** How often a page is told what files have gained. */
const LIVE_MS = 1_000
/** A line that says nothing, so that a proxy does not take a quiet stream for a dead one. */
const BEAT_TICKS = 15
/** How often runs are looked for anew. */
const LOOK_MS = 3_000
/** What a page listens to: how things stand now. */
type LiveTopic = () => Promise<object>

/** Tells of the table of runs. */
const runsTopic = (context: DashboardContext): LiveTopic => {
  let lookedMs = 0
  return async () => {
    if (performance.now() - lookedMs > LOOK_MS) {
      context.library.look()
      lookedMs = performance.now()
    }
    return context.summaries.all(context.library.runs)
  }
}

/** Tells of one run: how far it is, and how many rows its files have. */
const runTopic =
  (context: DashboardContext, id: string): LiveTopic =>
  async () => {
    const run = await openRun(context, id)
    // In the background: an index may take as long as its file is large.
    void run.rollouts.advance().catch(() => {})
    const { rollouts, evals, events } = run
    const counts = { rollouts: rollouts.count, evals: evals.length, events: events.length }
    return { run: await summaryOf(context, run), ...counts } satisfies LiveRun
  }

/** Server-sent events until the page goes: how things stand, and again whenever that is something else. */
const addStreams = (app: Hono<DashboardEnv>, context: DashboardContext): void => {
  const stream = (c: Context<DashboardEnv>, topic: LiveTopic) =>
    streamSSE(c, async out => {
      context.streams.add(out)
      c.env?.signal?.addEventListener('abort', () => out.abort(), { once: true })
      await out.write('retry: 2000\n\n')
      let sent = ''
      for (let tick = 1; !out.aborted; tick++) {
        // A run may be gone, or be made anew this moment: the next look tells.
        const data = await topic().then(JSON.stringify, () => sent)
        if (data !== sent) await out.writeSSE({ data })
        else if (tick % BEAT_TICKS === 0) await out.write(': still here\n\n')
        sent = data
        await out.sleep(LIVE_MS)
      }
      context.streams.delete(out)
    })
  app.get('/api/live', c => stream(c, runsTopic(context)))
  app.get('/api/runs/:id/live', c => {
    const { id } = foundRun(context, c.req.param('id'))
    return stream(c, runTopic(context, id))
  })
}

/** The files of the page by name, built into the package. @throws RunError when they were not built */
const loadAssets = (): ReadonlyMap<string, { type: string; body: string }> =>
  new Map([
    ['app.js', { type: 'text/javascript; charset=utf-8', body: pageFile('app.js', import.meta.url) }],
    ['app.css', { type: 'text/css; charset=utf-8', body: pageFile('app.css') }],
    ['icon.svg', { type: 'image/svg+xml', body: ICON }],
  ])

const ICON = `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 32 32"><rect width="32" height="32" rx="7" fill="#2b6cc4"/><path d="M6 24h6v-5h6v-5h6V8" fill="none" stroke="#fff" stroke-width="3" stroke-linecap="round" stroke-linejoin="round"/></svg>`

/** The page at every address. Nothing of a run stands in it: all that is shown comes by script, as text. */
const SHELL = `<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark"><meta name="gradus-version" content="${packageVersion()}"><title>Gradus</title>
<link rel="icon" href="/assets/icon.svg"><link rel="stylesheet" href="/assets/app.css"><script type="module" src="/assets/app.js"></script></head>
<body class="live"><div id="app"><main><p class="empty">Reading…</p></main></div><noscript><main><p>The dashboard needs JavaScript. <code>gradus report RUN</code> writes a page that can be read without.</p></main></noscript></body></html>
`

/**
 * The page, its files, and what it asks for.
 * @param controlToken lets who sends it control runs; null: nobody can
 */
export const createApp = (
  context: DashboardContext,
  controlToken: string | null = null,
): Hono<DashboardEnv> => {
  const app = new Hono<DashboardEnv>()
  const assets = loadAssets()
  app.onError((error, c) => {
    if (error instanceof NotFound) return c.json({ error: error.message }, 404)
    if (error instanceof GradusError) return c.json({ error: error.message }, 422)
    throw error
  })
  app.use('/api/*', async (c, next) => {
    await next()
    c.res.headers.set('cache-control', 'no-store')
  })
  addRunPaths(app, context)
  addOtherPaths(app, context)
  addStreams(app, context)
  addControlPath(app, context, controlToken)
  addPairPaths(app, context, controlToken)
  app.all('/api/*', c => c.json({ error: `no such path: ${c.req.path.slice(0, 200)}` }, 404))
  app.get('/assets/:name', c => {
    const asset = assets.get(c.req.param('name'))
    if (asset === undefined) return c.json({ error: 'no such file' }, 404)
    return c.body(asset.body, 200, { 'content-type': asset.type, 'cache-control': 'no-cache' })
  })
  app.get('*', c => c.html(SHELL))
  return app
}
