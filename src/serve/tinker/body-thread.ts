/** @file The thread that reads bodies of the training service. */

import { serveBodies } from '../http/body-thread.ts'
import { TINKER_READERS } from './readers.ts'

serveBodies(TINKER_READERS)
