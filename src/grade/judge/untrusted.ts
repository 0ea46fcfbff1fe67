/** @file Quoting of what a judge must read but never obey; it is the house's, because others show untrusted text too. */

export * from '../../util/untrusted.ts'
