/** @file HTTP of more than `fetch`: pools, deadlines, sockets. Loading it takes a tenth of a second, so only who sends something does. */

import { lazily } from './lazily.ts'

export const undici = lazily<typeof import('undici')>('undici')
