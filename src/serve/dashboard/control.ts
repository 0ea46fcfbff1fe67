/** @file Lets somebody who has the token ask something of a run that goes on; the run itself says what became of it. */

import { randomBytes, randomUUID } from 'node:crypto'
import type { Context, Hono } from 'hono'
import { z } from 'zod'
import { appendControl, controlSchema } from '../../runs/control.ts'
import { checkThresholds } from '../../train/control.ts'
import { DataError } from '../../util/errors.ts'
import { parseWith } from '../../util/schema.ts'
import { sameSecret } from '../reward/token.ts'
import { type DashboardContext, type DashboardEnv, openRun } from './context.ts'

/** A token that nobody guesses: 128 bits. */
export const newToken = (): string => randomBytes(16).toString('base64url')

const asked = z.looseObject({ action: z.string() })

/** JSON of a request. @throws DataError */
export const bodyOf = ({ env }: Context<DashboardEnv>): unknown => {
  try {
    return JSON.parse(new TextDecoder().decode(env?.body ?? new Uint8Array()))
  } catch {
    throw new DataError('body: expected JSON')
  }
}

export const TOKEN_NEEDED = 'the token that was printed when the dashboard started is needed'

/** Whether a request has the token that changes things. @param token null: nobody has it */
export const mayControl = (c: Context<DashboardEnv>, token: string | null): boolean =>
  token !== null && sameSecret(c.req.header('x-gradus-token'), token)

/** @param token what must be sent in `x-gradus-token`; null: nothing can be asked for */
export const addControlPath = (
  app: Hono<DashboardEnv>,
  context: DashboardContext,
  token: string | null,
): void => {
  app.post('/api/runs/:id/control', async c => {
    if (!mayControl(c, token)) return c.json({ error: TOKEN_NEEDED }, 403)
    const run = await openRun(context, c.req.param('id'))
    if (run.status !== 'running' && run.status !== 'paused')
      return c.json({ error: `the run is ${run.status}: nobody would read the request` }, 409)
    const body = parseWith(asked, bodyOf(c), 'body', DataError)
    const stamped = { ...body, id: randomUUID(), at: new Date().toISOString() }
    const request = parseWith(controlSchema, stamped, 'body', DataError)
    if (request.action === 'threshold') checkThresholds(request.monitor, request.thresholds)
    appendControl(run.found.dir, request)
    return c.json({ id: request.id }, 202)
  })
}
