/** @file Formulas of Markdown pages, as GitHub writes them too: `$...$` in a line, and fences of the language `math`. */

import katexPlugin from '@vscode/markdown-it-katex'

/**
 * What KaTeX takes: no more than MathJax does too, which is what GitHub shows formulas by.
 * @type {{ throwOnError: true, strict: 'error' }}
 */
export const KATEX_OPTIONS = { throwOnError: true, strict: 'error' }

/** KaTeX for a markdown-it parser. A formula that it cannot read ends the build, so that no page shows its source. */
export const withFormulas = parser =>
  parser.use(katexPlugin.default, { enableFencedBlocks: true, ...KATEX_OPTIONS })
