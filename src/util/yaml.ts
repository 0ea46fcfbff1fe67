/** @file YAML as people write it: an error says in which line. */

import { LineCounter, parseDocument, type ToJSOptions } from 'yaml'
import { ConfigError } from './errors.ts'

/** The value of a YAML text (JSON is YAML, too). @throws ConfigError naming file and line for what is not YAML */
export const parseYaml = (text: string, path: string, options?: ToJSOptions): unknown => {
  const lineCounter = new LineCounter()
  const document = parseDocument(text, { lineCounter })
  const [problem] = document.errors
  if (problem === undefined) return document.toJS(options)
  const { line } = lineCounter.linePos(problem.pos[0])
  throw new ConfigError(`${path}:${line}: ${problem.message.split('\n')[0].replace(/:$/, '')}`, {
    hint: 'correct the YAML there',
  })
}
