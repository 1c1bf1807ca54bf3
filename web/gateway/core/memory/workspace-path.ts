/** The names in a path of a workspace. Throws an Error for what is none, could lead out of it, or begins with a dot, but for the names in `hidden`, such as `.dreams`. */
export function namesOf(path: string, hidden: readonly string[] = []): string[] {
  const names = path.split('/');
  const isName = (name: string): boolean => name !== '' && (!name.startsWith('.') || hidden.includes(name)) && !/[\\:\0]/.test(name);
  if (!names.every(isName)) throw new Error(`Invalid workspace path ${JSON.stringify(path)}.`);
  return names;
}
