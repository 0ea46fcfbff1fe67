import { spawnSync } from 'node:child_process'
import { expect, it } from 'vitest'
import { workerUrl } from '../../util/worker-url.ts'

const GUARDS = workerUrl(import.meta.url, './guards.js').href

const SCRIPT = `
  import { EventEmitter } from 'node:events'
  import { errorFields, keepGoing } from ${JSON.stringify(GUARDS)}
  const stop = keepGoing((kind, error) => console.log(kind, errorFields(error).message))
  Promise.reject(new Error('nobody asked'))
  Promise.reject('a text')
  setTimeout(() => new EventEmitter().emit('error', new Error('nobody listens')))
  setTimeout(() => { console.log('still here'); stop(); Promise.reject(new Error('the end')) }, 50)
  setTimeout(() => console.log('never'), 500)
`

it('what nobody caught ends nothing, until the guard is taken away', () => {
  const { stdout, status } = spawnSync(process.execPath, ['--input-type=module', '-e', SCRIPT], {
    encoding: 'utf8',
  })
  expect(stdout.trim().split('\n')).toEqual([
    'rejection nobody asked',
    'rejection a text',
    'exception nobody listens',
    'still here',
  ])
  expect(status).toBe(1)
})
