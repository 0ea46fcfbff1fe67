// A judge that answers by the text that it is asked about, seals what it decides, and fails as it is told.
import { createHash } from 'node:crypto'
import { createServer } from 'node:http'
import { Rng } from '../../dist/util/rng.js'

const SEAL = /^seal ([0-9a-f]{16}) (true|false)$/

/** What an explanation says that the judge decided; null where it is none of the judge's. */
export const readSeal = explanation => {
  const found = SEAL.exec(explanation ?? '')
  return found && { id: found[1], met: found[2] === 'true' }
}

/** Ways to fail that a client may try again after. */
export const PASSING = ['server-error', 'rate-limit', 'retry-later', 'cut', 'cut-body', 'broken-body', 'hang']
/** Ways to fail that leave a question without a verdict. */
export const LASTING = [...PASSING, 'unreadable', 'wrong-type', 'two-verdicts', 'empty', 'forbidden', 'moved']

const STRAY = ['forbidden', 'moved']
const SOUND_BEFORE_STRAYS = 10

/**
 * @typedef {object} JudgeFaults
 * @property {number} share of the questions that meet faults
 * @property {number} times that each of them fails before it is answered; Infinity: it never is
 * @property {readonly string[]} ways
 */

const SOUND = { share: 0, times: 0, ways: [] }

/** An OpenAI-compatible server; `stop` and `start` keep its address. */
export class ChaosJudge {
  /** @type {JudgeFaults} */
  faults = SOUND
  latencyMs = 0
  /** What it decided and sent whole, by question. */
  given = new Map()
  /** Questions that met a fault. */
  failed = new Set()
  #attempts = new Map()
  #port = 0
  #server = null

  constructor(seed) {
    this.seed = seed
  }

  get url() {
    return `http://127.0.0.1:${this.#port}/v1`
  }

  async start() {
    const server = createServer((request, response) => this.#receive(request, response))
    await new Promise((resolve, reject) => {
      server.once('error', reject)
      server.listen(this.#port, '127.0.0.1', resolve)
    })
    this.#port = server.address().port
    this.#server = server
  }

  /** As if killed: connections are cut. */
  async stop() {
    const server = this.#server
    this.#server = null
    server?.closeAllConnections()
    await new Promise(resolve => (server ? server.close(resolve) : resolve()))
  }

  #receive(request, response) {
    const chunks = []
    request.on('error', () => {})
    response.on('error', () => {})
    request.on('data', chunk => chunks.push(chunk))
    request.on('end', () => {
      const answer = () => this.#answer(Buffer.concat(chunks).toString(), response)
      if (this.latencyMs > 0) setTimeout(answer, this.latencyMs)
      else answer()
    })
  }

  #answer(body, response) {
    if (response.destroyed) return
    const id = createHash('sha256')
      .update(JSON.stringify(JSON.parse(body).messages))
      .digest('hex')
      .slice(0, 16)
    const met = Number.parseInt(id[0], 16) % 2 === 0
    const way = this.#way(id)
    if (way === null) {
      this.given.set(id, met)
      sendAnswer(response, `{"explanation": "seal ${id} ${met}", "criteria_met": ${met}}`)
      return
    }
    this.failed.add(id)
    fail(response, way, id, met)
  }

  /** How this attempt fails; null when it does not. The same for the same seed, question and number of the attempt. */
  #way(id) {
    const { share, times, ways } = this.faults
    const rng = new Rng(`${this.seed}/${id}`)
    if (ways.length === 0 || rng.next() >= share) return null
    const attempt = this.#attempts.get(id) ?? 0
    this.#attempts.set(id, attempt + 1)
    if (attempt >= times) return null
    const way = rng.fork(attempt).pick(ways)
    // Before anything was answered they mean a wrong address or key, and may end a job.
    return STRAY.includes(way) && this.given.size < SOUND_BEFORE_STRAYS ? 'server-error' : way
  }
}

const send = (response, status, body, headers = {}) => {
  response.writeHead(status, { 'content-type': 'application/json', ...headers })
  response.end(body)
}

const completion = content =>
  JSON.stringify({
    ...{ id: 'chaos', object: 'chat.completion', model: 'chaos' },
    choices: [{ index: 0, finish_reason: 'stop', message: { role: 'assistant', content } }],
    usage: { prompt_tokens: 1, completion_tokens: 1, total_tokens: 2 },
  })

const sendAnswer = (response, content) => send(response, 200, completion(content))

/** Every text here hints at the opposite of the truth, so that whoever guesses is caught. */
const fail = (response, way, id, met) => {
  const wrong = !met
  const lie = `{"explanation": "seal ${id} guessed", "criteria_met": ${wrong}}`
  const text = completion(lie)
  switch (way) {
    case 'server-error':
      return send(response, 500, '<html>Internal Server Error</html>', { 'content-type': 'text/html' })
    case 'rate-limit':
      return send(response, 429, '{"error":{"message":"slow down"}}', { 'retry-after': '0' })
    case 'retry-later':
      return send(response, 429, '{"error":{"message":"come back in an hour"}}', { 'retry-after': '3600' })
    case 'forbidden':
      return send(response, 403, '{"error":{"message":"not you"}}')
    case 'moved':
      return send(response, 301, '', { location: 'http://127.0.0.1:9/elsewhere' })
    case 'hang':
      return
    case 'cut':
      return response.socket?.destroy()
    case 'cut-body':
      response.writeHead(200, {
        'content-type': 'application/json',
        'content-length': Buffer.byteLength(text),
      })
      return response.write(text.slice(0, -20), () => response.socket?.destroy())
    case 'broken-body':
      return send(response, 200, text.slice(0, -20))
    case 'unreadable':
      return sendAnswer(response, `The criterion is ${wrong ? '' : 'not '}met, I would say.`)
    case 'wrong-type':
      return sendAnswer(response, `{"explanation": "as text", "criteria_met": "${wrong}"}`)
    case 'two-verdicts':
      return sendAnswer(response, `${lie} {"explanation": "again", "criteria_met": ${met}}`)
    case 'empty':
      return sendAnswer(response, '')
    default:
      throw new Error(`${way}: no such way to fail`)
  }
}
