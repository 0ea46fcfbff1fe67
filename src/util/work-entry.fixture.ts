/** @file Workers to test pools with, written in the test itself. */

import { workerUrl } from './worker-url.ts'

/** The address of a worker that runs this code; `serveWork` and `workData` are there. */
export const workEntry = (code: string): URL => {
  const serve = workerUrl(import.meta.url, './work-serve.js').href
  const source = `import { serveWork, workData } from ${JSON.stringify(serve)}\n${code}`
  return new URL(`data:text/javascript,${encodeURIComponent(source)}`)
}
