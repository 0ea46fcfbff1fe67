/** @file The thread that reads bodies of the training service. */

import { serveBodies } from '../http/body-thread.ts'
import { READERS } from './readers.ts'

serveBodies(READERS)
