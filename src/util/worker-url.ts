/** @file Where JavaScript that is started or read as a file lies, also when the caller runs from TypeScript sources (tests). */

/**
 * Resolves a module beside its caller that a worker, another process or a page runs. None of them takes TypeScript on Node
 * 20, so when the caller itself is a `.ts` file under src/ the built file under dist/ is used (the test command builds first).
 */
export const workerUrl = (callerUrl: string, relative: string): URL => {
  const url = new URL(relative, callerUrl)
  if (callerUrl.endsWith('.ts')) url.pathname = url.pathname.replace(/\/src\/(?!.*\/src\/)/, '/dist/')
  return url
}
