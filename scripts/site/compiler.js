/** @file A hook of Node's loader: TypeDoc reads sources with TypeScript's compiler as a library, which it is up to version 6. */

export const resolve = (specifier, context, next) =>
  next(specifier === 'typescript' ? 'typescript-6' : specifier, context)
