import { describe, expect, it } from 'vitest'
import { writtenOut, writtenOutArgument } from './secret-words.ts'

describe('secrets that are written out', () => {
  it.each<[unknown, string | undefined]>([
    [{ q: '{query}', auth: { apiKey: 'x' } }, 'auth.apiKey'],
    [{ filters: [{ value: 'sk-0123456789' }] }, 'filters.0.value'],
    [{ tokens: ['a'], token: ['b'] }, 'token.0'],
    ['Basic eDp5', ''],
    [{ key: '{query}', token: '', max_tokens: 5, sort: 'key', basic: 'basic' }, undefined],
    [{ api_key: { env: 'HF_ACCESS_TOKEN', prefix: 'Bearer ' } }, undefined],
    [{ authorization: { env: 'KEY', prefix: 'Bearer abc' } }, 'authorization.prefix'],
    [null, undefined],
  ])('in %j are at %s', (value, path) => {
    expect(writtenOut(value)).toBe(path)
  })

  it.each<[string[], string | undefined]>([
    [['--api-key', 'abc'], '--api-key'],
    [['-token=abc'], '-token'],
    [['--header', 'Bearer abc'], '--header'],
    [['run', 'hf_0123456789'], 'argument 2'],
    [['--api-key', '--verbose'], undefined],
    [['--token'], undefined],
    [['run', '-e', 'API_KEY=abc'], 'API_KEY'],
    [['run', '-e', 'HF_ACCESS_TOKEN', 'image'], undefined],
    [['token', 'abc'], undefined],
    [['https://host/?token'], undefined],
    [['-y', '@scope/server', '--root=/data', '--max-tokens=5'], undefined],
  ])('among the arguments %j are at %s', (args, where) => {
    expect(writtenOutArgument(args)).toBe(where)
  })
})
