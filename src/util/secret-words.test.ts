import { describe, expect, it } from 'vitest'
import { writtenOut, writtenOutArgument } from './secret-words.ts'

describe('secrets that are written out', () => {
  it.each<[unknown, string | undefined]>([
    [{ q: '{query}', auth: { apiKey: 'x' } }, 'auth.apiKey'],
    [{ filters: [{ value: 'sk-0123456789' }] }, 'filters.0.value'],
    [{ tokens: ['a'], token: ['b'] }, 'token.0'],
    ['Basic eDp5', ''],
    ['bearer x', ''],
    [{ key: '{query}', token: '', max_tokens: 5, sort: 'key', basic: 'basic' }, undefined],
    [{ api_key: { env: 'HF_ACCESS_TOKEN', prefix: 'Bearer ' } }, undefined],
    [{ authorization: { env: 'KEY', prefix: 'Bearer abc' } }, 'authorization.prefix'],
    [null, undefined],
    [{ a: 'postgresql://me:pass-word@host/db' }, 'a'],
    [{ a: ['https://ghp_0123456789@github.com/x'] }, 'a.0'],
    [{ a: 'https://host/?x=1&tavilyApiKey=abc' }, 'a'],
    [{ a: 'https://host/?x=1&q=hf_abcdefghIJ' }, 'a'],
    [{ a: 'https://me@host/?api_key={query}&token=&next=%zz' }, undefined],
    [{ a: `AIza${'x'.repeat(35)}` }, 'a'],
    [{ a: 'github_pat_0123456789' }, 'a'],
    [{ a: `eyJ${'x'.repeat(9)}.${'y'.repeat(9)}.z` }, 'a'],
    [{ a: 'sk-learn-contrib', b: 'pk_created_at', c: 'Basic research', d: 'basic facts' }, undefined],
    [{ stop_token: '</s>', eosToken: '</s>', 'pad-token': '0', BOS_TOKEN: '<s>' }, undefined],
    [{ backendtoken: 'abc' }, 'backendtoken'],
    [{ send_token: 'abc' }, 'send_token'],
    [{ auth: 'none', token: 'false' }, undefined],
    [{ max_tokens: '5', token_limit: '5', passage: 'a', key_points: 'b', keyboard: 'c' }, undefined],
    [{ must: [{ key: 'metadata.city', match: { value: 'London' } }] }, undefined],
    [{ filter: { key: 'cities[].name', operator: '=', value: 'x' } }, undefined],
    [{ must: [{ key: 'AbC0123', match: {} }] }, 'must.0.key'],
    [{ auth: { key: 'abc' } }, 'auth.key'],
    [{ key: `${'a[].'.repeat(99)}!`, value: 'x' }, 'key'],
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
    [['run', '-e', 'OPENAI_KEY=abc'], 'OPENAI_KEY'],
    [['run', '-e', 'OPENAI_KEY', 'KEYBOARD=x', 'sort_key=x'], undefined],
    [['run', '-e', 'HF_ACCESS_TOKEN', 'image'], undefined],
    [['token', 'abc'], undefined],
    [['https://host/?token'], undefined],
    [['-y', '@scope/server', '--root=/data', '--max-tokens=5'], undefined],
    [['mcp-remote', 'https://host/mcp', '--header', 'Authorization: Bearer abc'], 'Authorization'],
    [['--header', 'Authorization:Bearer abc'], 'Authorization'],
    [['--header=X-Api-Key: abc'], 'X-Api-Key'],
    [['--header', 'Authorization: Bearer \u0024{KEY}', '--header', 'Authorization:\u0024{KEY}'], undefined],
    [['run', 'server/auth:latest', 'auth:latest'], undefined],
    [['-y', 'mcp-remote', 'https://mcp.tavily.com/mcp/?tavilyApiKey=abc'], 'argument 3'],
    [['https://mcp.tavily.com/mcp/?tavilyApiKey=\u0024{KEY}'], undefined],
    [['server-postgres', 'postgresql://me:pass-word@localhost/db'], 'argument 2'],
    [
      ['server-postgres', 'postgresql://me@localhost/db', 'postgresql://me:$PASSWORD@localhost/db'],
      undefined,
    ],
    [['-c', 'exec server --api-key abc'], 'argument 2'],
    [['-c', 'API_KEY=$OTHER exec server --token "$TOKEN"'], undefined],
    [['--auth', 'none', '--key', './server.key', '--key=/etc/key.pem', '--stop-token', 'x'], undefined],
    [['--key', 'abc'], '--key'],
  ])('among the arguments %j are at %s', (args, where) => {
    expect(writtenOutArgument(args)).toBe(where)
  })
})
