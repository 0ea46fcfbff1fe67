/** @file How things are done, in steps; tips; lines for short notes. */

import data from './guides.json' with { type: 'json' }

/** What is done, after "how do I", and its steps. */
export const GUIDES = Object.entries(data.guides).map(([doing, steps]) => ({ doing, steps }))
/** What somebody may be sorry for, after "for". */
export const FAULTS: readonly string[] = data.faults
/** What somebody may be invited to, after "to". */
export const INVITATION_OCCASIONS: readonly string[] = data.invitations
/** Orders that can be put politely: what is to be done. */
export const ORDERS: readonly string[] = data.orders
/** Long sentences with what they come to. */
export const WORDY = Object.entries(data.wordy)
