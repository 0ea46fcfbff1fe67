/** @file The thread that reads bodies of the chat server. */

import { serveBodies } from '../http/body-thread.ts'
import { CHAT_READERS } from './readers.ts'

serveBodies(CHAT_READERS)
