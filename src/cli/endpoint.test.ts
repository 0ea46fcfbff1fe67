import { describe, expect, it } from 'vitest'
import { FakeInferenceServer } from '../policy/served/fake-server.fixture.ts'
import { cli, Sandbox } from './cli.fixture.ts'
import { endpointOf } from './endpoint.ts'

describe('server and model of a command line', () => {
  it('come as two options, or as one', () => {
    const url = 'http://127.0.0.1:8000/v1'
    expect(endpointOf(url, 'm')).toEqual({ url, model: 'm' })
    expect(endpointOf(`${url}#Qwen/Qwen3-8B:a#b`, undefined)).toEqual({ url, model: 'Qwen/Qwen3-8B:a#b' })
    expect(endpointOf(`${url}#m`, 'm')).toEqual({ url, model: 'm' })
    expect(endpointOf(url, undefined)).toEqual({ url })
  })

  it('are refused where they disagree, and without a name', () => {
    expect(() => endpointOf('http://x#a', 'b')).toThrow('--model: expected a as in --judge http://x#a, got b')
    expect(() => endpointOf('http://x#', undefined)).toThrow('--judge: expected the name of a model after #')
  })

  it('name the judge of a command', async () => {
    const answer = JSON.stringify({ explanation: 'so it is', criteria_met: true })
    const server = new FakeInferenceServer({ chat: () => answer })
    const url = await server.listen()
    const sandbox = new Sandbox()
    const row = { prompt: 'q', response: 'r', criterion: { text: 'is polite', points: 1 }, label: true }
    const labels = sandbox.write('labels.jsonl', JSON.stringify(row))
    const result = await cli(['judge', 'check', '--labels', labels, '--judge', `${url}#polite`, '--json'])
    const none = await cli(['judge', 'check', '--labels', labels, '--judge', url])
    await server.close()
    sandbox.remove()
    expect(result.code).toBe(0)
    expect(server.seen[0].body.model).toBe('polite')
    expect(JSON.parse(result.out).all.judged).toBe(1)
    expect([none.code, none.err]).toEqual([
      2,
      expect.stringContaining('give --model NAME, or --judge URL#NAME'),
    ])
  })
})
