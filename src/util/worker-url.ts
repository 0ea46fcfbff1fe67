/** @file Where a worker thread's JavaScript lies, also when the caller runs from TypeScript sources (tests). */

/**
 * Resolves a worker module beside its caller. Node 20 cannot start a worker from TypeScript, so when the caller itself is
 * a `.ts` file under src/ the built file under dist/ is used (the test command builds first).
 */
export const workerUrl = (callerUrl: string, relative: string): URL => {
  const url = new URL(relative, callerUrl)
  if (callerUrl.endsWith('.ts')) url.pathname = url.pathname.replace(/\/src\/(?!.*\/src\/)/, '/dist/')
  return url
}
