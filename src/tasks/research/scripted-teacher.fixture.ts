/** @file A teacher by script behind HTTP: an OpenAI-compatible server that answers turn by turn, for tests. */

import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'

interface TeacherTurn {
  /** Turns before this one. */
  turn: number
  question: string
  /** What was said to the turn before; empty at the first. */
  said: string
  /** Requests so far, of all conversations. */
  request: number
  messages: readonly { role: string; content: string }[]
}

/** What is answered; a number is a status of HTTP, null never an answer. */
export type TeacherScript = (turn: TeacherTurn) => string | number | null

export interface TeacherServer {
  url: string
  script: TeacherScript
  requests: number
  close(): Promise<void>
}

export const PLAN =
  '<think>What is asked?</think><structured_plan><deep_analysis>One fact.</deep_analysis><rubric>- names it</rubric><research_plan>1. search</research_plan></structured_plan>'
export const STATE = '<think>What came back?</think><state_evaluation>covered</state_evaluation>'
export const REVIEW =
  '<review><rubric_review>met</rubric_review><writing_plan>one line</writing_plan></review>'

export const call = (query: string, tool = 'search'): string =>
  `<call_tool name="${tool}">${query}</call_tool>`

/** Ids of the passages that were shown. */
export const idsIn = (said: string): string[] =>
  [...said.matchAll(/<snippet id="([^"]+)"/g)].map(([, id]) => id)

/** Plans and searches for the question, then answers with a citation of the first passage. */
export const goodTeacher: TeacherScript = ({ turn, question, said }) =>
  turn === 0
    ? `${PLAN}${call(question)}`
    : `${STATE}${REVIEW}<answer><cite id="${idsIn(said)[0] ?? 'none'}">\\boxed{it}</cite></answer>`

export const teacherServer = async (script: TeacherScript = goodTeacher): Promise<TeacherServer> => {
  const server: Server = createServer(async (request, response) => {
    let body = ''
    for await (const chunk of request) body += chunk
    const { messages } = JSON.parse(body) as { messages: TeacherTurn['messages'] }
    const turn = messages.filter(({ role }) => role === 'assistant').length
    const answer = own.script({
      ...{ turn, messages, question: messages[1].content, request: own.requests++ },
      said: turn === 0 ? '' : messages[messages.length - 1].content,
    })
    if (answer === null) return
    if (typeof answer === 'number') {
      response.writeHead(answer).end('{}')
      return
    }
    response.setHeader('content-type', 'application/json')
    response.end(
      JSON.stringify({
        choices: [{ message: { role: 'assistant', content: answer }, finish_reason: 'stop' }],
        usage: { prompt_tokens: 100, completion_tokens: 10 },
      }),
    )
  })
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  const own: TeacherServer = {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`,
    script,
    requests: 0,
    close: () =>
      new Promise(resolve => {
        server.close(() => resolve())
        server.closeAllConnections()
      }),
  }
  return own
}
