/** @file What checks JSON against schemas of strangers: by the draft that a schema names, within time and memory. */

import type { Ajv, Options } from 'ajv'
import { lazily } from '../../util/lazily.ts'
import { BoundedRegex } from './bounded-regex.ts'
import { UNIQUE_ITEMS } from './unique-items.ts'

const older = lazily<typeof import('ajv')>('ajv')
const draft2020 = lazily<typeof import('ajv/dist/2020.js')>('ajv/dist/2020.js')

const GUARDED: Options = {
  logger: false,
  // What many references point to would be compiled anew for each.
  inlineRefs: false,
  // Patterns in schemas are as untrusted as others: they run under the same time limit.
  code: {
    regExp: Object.assign((source: string, flags: string) => new BoundedRegex(source, flags), {
      code: 'boundedPatterns',
    }),
  },
}

/** A compiler for draft 2020-12, or for an older draft where `$schema` names one. */
export const schemaCompiler = ($schema: unknown, strictness: Options): Ajv => {
  const options = { ...GUARDED, ...strictness }
  const ajv = /draft-0[4-7]/.test(String($schema ?? ''))
    ? new (older().Ajv)(options)
    : new (draft2020().Ajv2020)(options)
  ajv.removeKeyword('uniqueItems')
  ajv.addKeyword(UNIQUE_ITEMS)
  return ajv
}
