/**
 * Splits a workspace path into names. Throws an Error for an invalid path, one that could leave the workspace, and one that begins with a
 * dot, except for the names in `hidden`, such as `.dreams`.
 */
export function splitWorkspacePath(path: string, hidden: readonly string[] = []): string[] {
  const names = path.split('/');
  const isName = (name: string): boolean => name !== '' && (!name.startsWith('.') || hidden.includes(name)) && !/[\\:\0]/.test(name);
  if (!names.every(isName)) throw new Error(`Invalid workspace path ${JSON.stringify(path)}.`);
  return names;
}
