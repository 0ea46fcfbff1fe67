// What both commands ask before anything of ours is loaded: another Node fails there, with words that help nobody.

/** As `engines` of every package.json says. From 21 to 22.11 ES modules cannot be loaded by require(), which dependencies need. */
export const isSupported = version => {
  const [major, minor] = version.split('.').map(Number)
  return (major === 20 && minor >= 19) || (major === 22 && minor >= 12) || major > 22
}

/** Ends the process where a command does not work with this Node. */
export const requireNode = (command, packageName) => {
  const { node } = process.versions
  if (isSupported(node)) return
  console.error(
    `${command}: expected Node.js 20 from 20.19 on, or 22.12 or newer, got ${node}; install one of these, or name it: npx -p node@22 -p ${packageName} ${command}`,
  )
  process.exit(1)
}
