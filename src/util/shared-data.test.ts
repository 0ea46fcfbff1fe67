import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { realModel } from './shared-data.fixture.ts'

it('finds a public model by the name of its file, in the folder named or in one of its folders', () => {
  const models = mkdtempSync(join(tmpdir(), 'gradus-models-'))
  try {
    mkdirSync(join(models, 'fetched'))
    writeFileSync(join(models, 'fetched', 'a.gguf'), '')
    writeFileSync(join(models, 'b.gguf'), '')
    const env = { GRADUS_MODELS: models }
    expect(realModel('a.gguf', env)).toBe(join(models, 'fetched', 'a.gguf'))
    expect(realModel('b.gguf', env)).toBe(join(models, 'b.gguf'))
    expect(realModel('fetched', env)).toBe(join(models, 'fetched'))
    expect(realModel('c.gguf', env)).toBeNull()
    expect(realModel('b.gguf', {})).toBeNull()
    expect(realModel('b.gguf', { GRADUS_MODELS: join(models, 'absent') })).toBeNull()
  } finally {
    rmSync(models, { recursive: true })
  }
})
